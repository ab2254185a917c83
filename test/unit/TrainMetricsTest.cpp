// SPDX-License-Identifier: Apache-2.0
//
// The metrics file survives crashes and resumes; charts are well-formed whatever the numbers.
#include "TemporaryFolder.h"

#include "lib/Train/Metrics.h"
#include "lib/Train/RunCharts.h"
#include "lib/Train/RunLog.h"

#include "absl/strings/str_cat.h"

#include <cmath>
#include <limits>

namespace hjx {
namespace {

using test::FailsWith;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class Metrics : public ::testing::Test {
protected:
  void append(int64_t step, double loss, int64_t lastStep = std::numeric_limits<int64_t>::max()) {
    auto log = MetricsLog::open(path, lastStep);
    ASSERT_THAT(log, IsOk());
    ASSERT_THAT(log->append({step, "train", {{"loss", loss}}}), IsOk());
  }
  std::vector<int64_t> steps() {
    auto records = readMetrics(path);
    EXPECT_THAT(records, IsOk());
    std::vector<int64_t> out;
    for (const MetricsRecord &record : *records)
      out.push_back(record.step);
    return out;
  }
  test::TemporaryFolder folder;
  std::string path = folder.path("metrics.jsonl");
};

TEST_F(Metrics, RecordsSurviveARoundTripBitByBit) {
  auto log = MetricsLog::open(path, -1);
  ASSERT_THAT(log, IsOk());
  ASSERT_THAT(log->append({7, "train", {{"loss", 0.1}, {"norm", 1e-310}, {"rate", 1.0 / 3}}}),
              IsOk());
  ASSERT_THAT(log->append({7, "validation", {{"loss", kNan}, {"a", kInf}, {"b", -kInf}}}), IsOk());
  auto records = readMetrics(path);
  ASSERT_THAT(records, IsOk());
  ASSERT_EQ(records->size(), 2u);
  EXPECT_EQ((*records)[0].value("norm"), 1e-310);
  EXPECT_EQ((*records)[0].value("rate"), 1.0 / 3);
  EXPECT_EQ((*records)[0].value("none"), std::nullopt);
  EXPECT_TRUE(std::isnan(*(*records)[1].value("loss")));
  EXPECT_EQ((*records)[1].value("a"), kInf);
  EXPECT_EQ((*records)[1].value("b"), -kInf);
  EXPECT_THAT(folder.read("metrics.jsonl"),
              ::testing::StartsWith(R"({"step":7,"kind":"train","loss":0.1)"));
}

TEST_F(Metrics, EachRecordIsThereAtOnce) {
  auto log = MetricsLog::open(path, -1);
  ASSERT_THAT(log, IsOk());
  for (int64_t step = 0; step < 3; ++step) {
    ASSERT_THAT(log->append({step, "train", {}}), IsOk());
    EXPECT_EQ(steps().size(), static_cast<size_t>(step + 1)); // the writer is still open
  }
}

TEST_F(Metrics, ResumeCutsLaterStepsAndTornLines) {
  for (int64_t step : {1, 2, 3, 4})
    append(step, 1);
  std::ofstream(path, std::ios::app) << R"({"step":5,"ki)";
  EXPECT_THAT(steps(), ElementsAre(1, 2, 3, 4));
  append(3, 2, /*lastStep=*/2);
  EXPECT_THAT(steps(), ElementsAre(1, 2, 3));
  EXPECT_EQ((*readMetrics(path))[2].value("loss"), 2);
  append(1, 1, /*lastStep=*/-1);
  EXPECT_THAT(steps(), ElementsAre(1));
  EXPECT_EQ(folder.size(), 1u);
}

TEST_F(Metrics, MalformedLinesAreErrorsAndTouchNothing) {
  for (const char *bad :
       {"{}", "[]", "{\"step\":1}", "{\"step\":1.5,\"kind\":\"a\"}", "",
        "{\"step\":1,\"kind\":\"a\",\"x\":[1]}", "{\"step\":1,\"kind\":\"a\",\"x\":\"1\"}"}) {
    std::string text = absl::StrCat("{\"step\":0,\"kind\":\"a\"}\n", bad, "\n");
    folder.write("metrics.jsonl", text);
    EXPECT_THAT(MetricsLog::open(path, 0), FailsWith("metrics.jsonl: line 2: expected")) << bad;
    EXPECT_EQ(folder.read("metrics.jsonl"), text);
  }
}

TEST_F(Metrics, Csv) {
  std::vector<MetricsRecord> records = {{1, "train", {{"loss", 2.5}, {"a,b", 1}}},
                                        {1, "validation", {{"loss", kNan}, {"\"", 3}}}};
  EXPECT_EQ(metricsToCsv(records), "step,kind,loss,\"a,b\",\"\"\"\"\n"
                                   "1,train,2.5,1.0,\n"
                                   "1,validation,nan,,3.0\n");
}

TEST_F(Metrics, RunLogKeepsTerminalsSafe) {
  auto log = RunLog::open(folder.path("run.log"));
  ASSERT_THAT(log, IsOk());
  ASSERT_THAT(log->write("caf\xc3\xa9 it's\n  help: \x1b[31mred\xc2\x9b \xff"), IsOk());
  std::string text = folder.read("run.log");
  EXPECT_THAT(text,
              ::testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z caf\xc3\xa9 it's\n"
                                      "      help: \\\\x1b\\[31mred\\\\xc2\\\\x9b \\\\xff\n"));
}

/// Returns what is wrong with `xml`, "" when it is well-formed (elements, attributes, text).
std::string malformation(std::string_view xml) {
  std::vector<std::string> open;
  auto badText = [](std::string_view text) {
    for (size_t i = 0; i < text.size(); ++i) {
      auto c = static_cast<unsigned char>(text[i]);
      if (c < 0x20 && c != '\n' && c != '\t')
        return true;
      if (c == '&') {
        size_t semicolon = text.find(';', i);
        std::string_view name = text.substr(i + 1, semicolon - i - 1);
        if (semicolon == std::string_view::npos ||
            (name != "amp" && name != "lt" && name != "gt" && name != "quot"))
          return true;
      }
    }
    return false;
  };
  while (!xml.empty()) {
    size_t begin = xml.find('<');
    if (badText(xml.substr(0, begin)))
      return "bad text";
    if (begin == std::string_view::npos)
      break;
    size_t end = begin + 1;
    for (bool quoted = false; end < xml.size() && (quoted || xml[end] != '>'); ++end) {
      if (xml[end] == '"')
        quoted = !quoted;
      else if (xml[end] == '<')
        return "'<' in a tag";
    }
    if (end == xml.size())
      return "an open tag at the end";
    std::string_view tag = xml.substr(begin + 1, end - begin - 1);
    xml.remove_prefix(end + 1);
    if (badText(tag))
      return "bad text in a tag";
    std::string name(tag.substr(0, tag.find_first_of(" \n/", 1)));
    if (tag.front() == '/') {
      if (open.empty() || "/" + open.back() != name)
        return "unbalanced " + name;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "unclosed " + open.back();
}

void expectGoodSvg(const Chart &chart) {
  std::string svg = renderSvg(chart);
  EXPECT_EQ(malformation(svg), "") << svg;
  EXPECT_THAT(svg, ::testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  for (const char *bad : {"nan", "inf", "-nan"}) // in a coordinate they would drop the element
    EXPECT_THAT(svg, Not(HasSubstr(bad))) << svg;
}

ChartSeries series(std::vector<double> x, std::vector<double> y) {
  ChartSeries out;
  out.name = "s";
  out.x = std::move(x);
  out.y = std::move(y);
  return out;
}

size_t count(const std::string &text, const std::string &part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
    ++n;
  return n;
}

TEST(ChartChecker, FindsMalformedXml) {
  EXPECT_EQ(malformation("<a b=\"c\"><d/></a>"), "");
  for (const char *bad : {"<a>", "<a></b>", "<a>&</a>", "<a b=\"<\"/>", "<a", "<a>\x01</a>"})
    EXPECT_NE(malformation(bad), "") << bad;
}

TEST(Chart, DrawsAnyNumbers) {
  const double huge = std::numeric_limits<double>::max(), tiny = 5e-324;
  for (bool logY : {false, true})
    for (const ChartSeries &s :
         {series({}, {}), series({1}, {2}), series({0}, {0}), series({5}, {kNan}),
          series({kNan}, {1}), series({1, 2, 3}, {kNan, kInf, -kInf}), series({1, 2, 3}, {7, 7, 7}),
          series({1, 2}, {-huge, huge}), series({1, 2}, {tiny, huge}),
          series({-huge, huge}, {1, 2}), series({1, 2, 3}, {1e-300, 0, 1e300}),
          series({1, 2}, {-5, -1}), series({1e15, 1e15 + 1}, {1, 1 + 1e-15}),
          series({1, 1}, {tiny, tiny}), series({1, 2, 3}, {1})}) {
      Chart chart{"t", "x", "y", logY, {s}, {}};
      expectGoodSvg(chart);
      chart.mark = ChartMark{huge, huge, "m"};
      expectGoodSvg(chart);
      chart.series[0].low = chart.series[0].high = chart.series[0].y;
      expectGoodSvg(chart);
    }
}

TEST(Chart, OnePointIsADotAndGapsSplitLines) {
  auto svg = [](ChartSeries s) { return renderSvg({"t", "x", "y", false, {std::move(s)}, {}}); };
  EXPECT_EQ(count(svg(series({1}, {2})), "<circle"), 1u);
  EXPECT_EQ(count(svg(series({1, 2, 3, 4, 5}, {1, 2, kNan, 3, 4})), "<polyline"), 2u);
  EXPECT_EQ(count(svg(series({1, 2, 3, 4}, {1, 2, kNan, 3})), "<circle"), 1u);
  EXPECT_THAT(svg(series({}, {})), HasSubstr("no data"));
  EXPECT_THAT(svg(series({1}, {2})), Not(HasSubstr("no data")));
}

TEST(Chart, TextIsEscaped) {
  Chart chart{
      "<script>&\"\x1b\xff\xef\xbf\xbf", "a<b", "caf\xc3\xa9", false, {series({1}, {2})}, {}};
  expectGoodSvg(chart);
  std::string svg = renderSvg(chart);
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;&quot;\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd<"));
  EXPECT_THAT(svg, HasSubstr("caf\xc3\xa9"));
}

TEST(Chart, PositionsFollowTheScale) {
  // Three points at 1, 10, 100 on a log axis are equally far apart; on a linear one they are not.
  auto heights = [](bool logY) {
    std::string svg = renderSvg({"t", "x", "y", logY, {series({0, 1, 2}, {1, 10, 100})}, {}});
    std::string points = svg.substr(svg.find("<polyline points=\"") + 18);
    double x[3], y[3];
    std::sscanf(points.c_str(), "%lf,%lf %lf,%lf %lf,%lf", x, y, x + 1, y + 1, x + 2, y + 2);
    EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.11);
    return std::pair(y[0] - y[1], y[1] - y[2]);
  };
  auto [low, high] = heights(true);
  EXPECT_NEAR(low, high, 0.21);
  EXPECT_GT(low, 100);
  auto [lowLinear, highLinear] = heights(false);
  EXPECT_NEAR(highLinear / lowLinear, 10, 0.1);
}

TEST(Chart, TicksAreRoundAndInside) {
  EXPECT_THAT(linearTicks(0, 10, 6), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(linearTicks(-1, 1, 6), ElementsAre(-1, -0.5, 0, 0.5, 1));
  EXPECT_THAT(logTicks(1, 100), ElementsAre(1, 2, 5, 10, 20, 50, 100));
  EXPECT_EQ(logTicks(1e-300, 1e300).size(), 11u);
  for (double low : {1e-5, 0.3, 1234.5})
    for (double factor : {1.1, 2.0, 30.0, 1e6})
      for (double tick : logTicks(low, low * factor)) {
        EXPECT_GE(tick, low * (1 - 1e-6));
        EXPECT_LE(tick, low * factor * (1 + 1e-6));
      }
}

TEST(RunCharts, LossIsCondensedToMeanAndRange) {
  std::vector<MetricsRecord> records;
  for (int64_t step = 0; step < 1000; ++step)
    records.push_back({step, "train", {{"loss", step % 2 ? 3.0 : 1.0}, {"learning_rate", 0.1}}});
  records[4].values[0].second = kNan;
  records.push_back({500, "validation", {{"loss", 2.5}}});
  records.push_back({900, "validation", {{"loss", 2.25}}});
  records.push_back({999, "validation", {{"loss", 2.75}}});
  Chart chart = lossChart(records, false, 100);
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[0].y.size(), 100u);
  EXPECT_DOUBLE_EQ(chart.series[0].y[1], 2);
  EXPECT_DOUBLE_EQ(chart.series[0].x[1], 14.5);
  EXPECT_NEAR(chart.series[0].y[0], 19.0 / 9, 1e-12) << "a NaN takes no part in a mean";
  EXPECT_EQ(chart.series[0].low[1], 1);
  EXPECT_EQ(chart.series[0].high[1], 3);
  ASSERT_TRUE(chart.mark);
  EXPECT_EQ(chart.mark->x, 900);
  EXPECT_EQ(chart.mark->text, "best 2.2500 at 900");
  expectGoodSvg(chart);
  EXPECT_EQ(learningRateChart(records).series[0].y.size(), 1000u);
  expectGoodSvg(lossChart({}));
  expectGoodSvg(learningRateChart({}));
}

TEST(RunCharts, AreWrittenToTheRunFolder) {
  test::TemporaryFolder folder;
  ASSERT_THAT(writeRunCharts(folder.path(""), {{1, "train", {{"loss", 2}, {"learning_rate", 1}}}}),
              IsOk());
  for (const char *name : {"loss.svg", "loss-log.svg", "learning-rate.svg"})
    EXPECT_EQ(malformation(folder.read(name)), "") << name;
}

} // namespace
} // namespace hjx
