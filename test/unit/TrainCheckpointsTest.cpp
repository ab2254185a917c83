// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints: whole or absent, links that follow, and nothing deleted that was not created here.
#include "TemporaryFolder.h"

#include "lib/Train/Checkpoints.h"

#include "absl/strings/str_cat.h"

namespace hjx {
namespace {

namespace fs = std::filesystem;
using test::FailsWith;
using test::IsOk;
using ::testing::ElementsAre;

class Checkpoints : public ::testing::Test {
protected:
  CheckpointStore open(CheckpointPolicy policy = {}) {
    auto store = CheckpointStore::open(root, policy);
    EXPECT_THAT(store, IsOk());
    return *std::move(store);
  }
  absl::Status save(CheckpointStore &store, int64_t step, std::optional<double> loss = {},
                    float value = 1) {
    CheckpointMeta meta;
    meta.step = step;
    meta.tokens = static_cast<uint64_t>(step) * 100;
    meta.seconds = 1.5;
    meta.validationLoss = loss;
    meta.config = {{"width", 8}, {"schedule", {{"peak", 0.1}}}};
    meta.state = {{"spikes", {1, 2}}};
    meta.parametersHash = "00000000000000ff";
    std::vector<float> w = {value, value + 1};
    TensorView tensor{"w", StoredType::F32, {2}, bytesOf(w)};
    return store.save(meta, {&tensor, 1});
  }
  std::string link(const std::string &name) {
    return fs::read_symlink(fs::path(root) / name).string();
  }

  test::TemporaryFolder folder;
  std::string root = folder.path("checkpoints");
};

TEST_F(Checkpoints, EverythingComesBack) {
  CheckpointStore store = open();
  ASSERT_THAT(save(store, 7, 2.5, 3), IsOk());
  for (std::string which :
       {std::string("latest"), std::string("best"), std::string("7"), root + "/step-00000007"}) {
    auto checkpoint = openCheckpoint(root, which);
    ASSERT_THAT(checkpoint, IsOk()) << which;
    EXPECT_EQ(checkpoint->meta.step, 7);
    EXPECT_EQ(checkpoint->meta.tokens, 700u);
    EXPECT_EQ(checkpoint->meta.seconds, 1.5);
    EXPECT_EQ(checkpoint->meta.validationLoss, 2.5);
    EXPECT_EQ(checkpoint->meta.config["schedule"]["peak"], 0.1);
    EXPECT_EQ(checkpoint->meta.state["spikes"].size(), 2u);
    EXPECT_EQ(checkpoint->meta.parametersHash, "00000000000000ff");
    EXPECT_EQ(checkpoint->meta.time.size(), 20u);
    EXPECT_THAT(checkpoint->tensors.load("w")->as<float>(), ElementsAre(3, 4));
  }
  EXPECT_THAT(openCheckpoint(root, "8"), FailsWith("'8', which is not in"));
  EXPECT_THAT(openCheckpoint(root, "newest"), FailsWith("latest, best, a step or the path"));
}

TEST_F(Checkpoints, LinksFollowSavesAndValidationLoss) {
  CheckpointStore store = open({.keepLast = 0});
  ASSERT_THAT(save(store, 1), IsOk());
  EXPECT_FALSE(fs::exists(fs::symlink_status(fs::path(root) / "best"))) << "nothing was validated";
  ASSERT_THAT(save(store, 2, 3.0), IsOk());
  ASSERT_THAT(save(store, 3, 2.0), IsOk());
  ASSERT_THAT(save(store, 4, 2.5), IsOk());
  ASSERT_THAT(save(store, 5, std::numeric_limits<double>::quiet_NaN()), IsOk());
  EXPECT_EQ(link("latest"), "step-00000005");
  EXPECT_EQ(link("best"), "step-00000003");
  // The best one is replaced by a worse one of the same step: another takes its place.
  ASSERT_THAT(save(store, 3, 4.0), IsOk());
  EXPECT_EQ(link("best"), "step-00000004");
  EXPECT_EQ(link("latest"), "step-00000003");
}

TEST_F(Checkpoints, KeepsTheLastTheBestAndMultiples) {
  CheckpointStore store = open({.keepLast = 2, .keepEvery = 4});
  for (int64_t step = 1; step <= 10; ++step)
    ASSERT_THAT(save(store, step, step == 3 ? 1.0 : 2.0), IsOk());
  EXPECT_THAT(store.steps(), ElementsAre(3, 4, 8, 9, 10));
}

TEST_F(Checkpoints, KeepsRecentSavesAfterAResumeFromAnEarlierStep) {
  CheckpointStore store = open({.keepLast = 2});
  for (int64_t step : {10, 20, 30})
    ASSERT_THAT(save(store, step), IsOk());
  ASSERT_THAT(save(store, 15), IsOk()); // resumed from before 20
  EXPECT_THAT(store.steps(), ElementsAre(15, 30));
  ASSERT_THAT(save(store, 20, {}, 9), IsOk());
  EXPECT_THAT(store.steps(), ElementsAre(15, 20));
  EXPECT_EQ(link("latest"), "step-00000020");
}

TEST_F(Checkpoints, SameStepIsReplaced) {
  CheckpointStore store = open();
  ASSERT_THAT(save(store, 5, {}, 1), IsOk());
  auto before = openCheckpoint(root, "5");
  ASSERT_THAT(save(store, 5, {}, 7), IsOk());
  EXPECT_THAT(openCheckpoint(root, "5")->tensors.load("w")->as<float>(), ElementsAre(7, 8));
  EXPECT_THAT(before->tensors.load("w")->as<float>(), ElementsAre(1, 2))
      << "a reader lost its file";
  size_t entries = static_cast<size_t>(std::distance(fs::directory_iterator(root), {}));
  EXPECT_EQ(entries, 3u) << ".store, step-00000005, latest";
}

TEST_F(Checkpoints, NeverDeletesWhatItDidNotCreate) {
  {
    CheckpointStore store = open({.keepLast = 1});
    ASSERT_THAT(save(store, 1), IsOk());
    ASSERT_THAT(save(store, 2), IsOk());
    EXPECT_THAT(store.steps(), ElementsAre(2));
    // A copy under a name of the user's, and one under the name of another step.
    fs::copy(root + "/step-00000002", root + "/keep-this", fs::copy_options::recursive);
    fs::copy(root + "/step-00000002", root + "/step-00000099", fs::copy_options::recursive);
    // A note beside the files.
    std::ofstream(root + "/step-00000002/note.txt") << "good one";
    // A folder that only looks like a checkpoint, and one of another store.
    fs::create_directory(root + "/step-00000050");
    std::ofstream(root + "/step-00000050/meta.json") << "{}";
    auto other = CheckpointStore::open(folder.path("other"), {});
    ASSERT_THAT(save(*other, 60), IsOk());
    fs::copy(folder.path("other/step-00000060"), root + "/step-00000060",
             fs::copy_options::recursive);
    for (int64_t step : {3, 4, 5})
      ASSERT_THAT(save(store, step), IsOk());
    EXPECT_THAT(store.steps(), ElementsAre(5));
  }
  CheckpointStore again = open({.keepLast = 1});
  ASSERT_THAT(save(again, 6), IsOk());
  for (const char *kept : {"keep-this/state.safetensors", "step-00000099/state.safetensors",
                           "step-00000002/note.txt", "step-00000002/state.safetensors",
                           "step-00000050/meta.json", "step-00000060/state.safetensors"})
    EXPECT_TRUE(fs::exists(fs::path(root) / kept)) << kept;
  EXPECT_THAT(save(again, 50), FailsWith("something that this run did not write"));
  EXPECT_THAT(save(again, 60), FailsWith("something that this run did not write"));
  fs::remove(root + "/latest");
  std::ofstream(root + "/latest") << "mine";
  EXPECT_THAT(save(again, 7), FailsWith("a symbolic link"));
}

TEST_F(Checkpoints, InterruptedSavesAreSweptByTheSameStoreOnly) {
  std::string identity;
  {
    CheckpointStore store = open();
    ASSERT_THAT(save(store, 1), IsOk());
    std::ifstream(root + "/.store") >> identity;
  }
  ASSERT_EQ(identity.size(), 16u);
  std::string mine = root + "/.tmp-" + identity + "-step-00000002";
  std::string foreign = root + "/.tmp-0123456789abcdef-step-00000002";
  for (const std::string &left : {mine, foreign}) {
    fs::create_directory(left);
    std::ofstream(left + "/state.safetensors") << "half";
  }
  std::string noted = root + "/.tmp-" + identity + "-step-00000003";
  fs::create_directory(noted);
  std::ofstream(noted + "/note.txt") << "mine";
  CheckpointStore store = open();
  EXPECT_FALSE(fs::exists(mine));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(fs::exists(noted));
  EXPECT_THAT(store.steps(), ElementsAre(1));
}

TEST_F(Checkpoints, OneWriterAtATime) {
  CheckpointStore store = open();
  EXPECT_THAT(CheckpointStore::open(root, {}), FailsWith("a folder locked by one"));
  ASSERT_THAT(save(store, 1), IsOk());
  EXPECT_THAT(openCheckpoint(root, "latest"), IsOk()) << "readers need no lock";
}

TEST_F(Checkpoints, FailedSaveLeavesNothing) {
  CheckpointStore store = open();
  ASSERT_THAT(save(store, 1), IsOk());
  CheckpointMeta meta;
  meta.step = 2;
  TensorView bad{"w", StoredType::F32, {3}, "abc"};
  EXPECT_THAT(store.save(meta, {&bad, 1}), FailsWith("the bytes of F32[3]"));
  EXPECT_THAT(store.steps(), ElementsAre(1));
  EXPECT_EQ(link("latest"), "step-00000001");
  for (const auto &entry : fs::directory_iterator(root))
    EXPECT_THAT(entry.path().filename().string(), ::testing::Not(::testing::StartsWith(".tmp")));
}

TEST_F(Checkpoints, DamagedMetaIsAnError) {
  CheckpointStore store = open();
  ASSERT_THAT(save(store, 1), IsOk());
  std::string path = root + "/step-00000001/meta.json";
  std::string good = folder.read("checkpoints/step-00000001/meta.json");
  for (size_t n = 0; n + 2 < good.size(); n += 7) {
    std::ofstream(path) << good.substr(0, n);
    EXPECT_THAT(openCheckpoint(root, "1"), FailsWith("meta.json: expected a JSON object")) << n;
  }
  Json json = Json::parse(good);
  for (const auto &[key, value] : json.items()) {
    if (key == "config_hash")
      continue; // for people; recomputed when compared
    Json without = json, odd = json;
    without.erase(key);
    std::ofstream(path) << without;
    EXPECT_THAT(openCheckpoint(root, "1"), FailsWith("meta.json")) << key;
    if (key == "config" || key == "state")
      continue; // any JSON
    odd[key] = Json::array();
    std::ofstream(path) << odd;
    EXPECT_THAT(openCheckpoint(root, "1"), FailsWith("meta.json")) << key;
  }
  json["step"] = uint64_t(1) << 63; // From there to the last step is a long way.
  std::ofstream(path) << json;
  EXPECT_THAT(openCheckpoint(root, "1"), FailsWith("meta.json"));
  std::ofstream(root + "/.store") << "something else";
  EXPECT_THAT(CheckpointStore::open(folder.path("checkpoints"), {}), ::testing::Not(IsOk()));
}

TEST_F(Checkpoints, ResumeWithAnotherConfigurationIsRefused) {
  CheckpointStore store = open();
  ASSERT_THAT(save(store, 1), IsOk());
  auto checkpoint = openCheckpoint(root, "latest");
  Json config = checkpoint->meta.config;
  EXPECT_THAT(checkResume(checkpoint->meta, config, {}), IsOk());
  config["width"] = 16;
  config["schedule"]["peak"] = 0.2;
  absl::Status status = checkResume(checkpoint->meta, config, {});
  EXPECT_THAT(status, FailsWith("with 2 differing:\n    schedule.peak: 0.1 before, 0.2 now\n"
                                "    width: 8 before, 16 now\n"));
  EXPECT_THAT(checkResume(checkpoint->meta, config, {"schedule"}), FailsWith("with 1 differing"));
  EXPECT_THAT(checkResume(checkpoint->meta, config, {"schedule", "width"}), IsOk());
}

TEST_F(Checkpoints, TensorMismatchesAreListed) {
  std::vector<float> v(6, 0);
  std::string path = folder.path("m.safetensors");
  ASSERT_THAT(writeSafetensors(path, {{"a", StoredType::F32, {2, 3}, bytesOf(v)},
                                      {"b", StoredType::F32, {6}, bytesOf(v)}}),
              IsOk());
  auto file = SafetensorsFile::open(path);
  std::vector<TensorView> expected = {{"a", StoredType::F32, {2, 3}, {}},
                                      {"b", StoredType::F32, {6}, {}}};
  EXPECT_THAT(checkTensors(*file, expected), IsOk());
  expected[0].shape = {3, 2};
  expected[1].name = "c";
  EXPECT_THAT(checkTensors(*file, expected),
              FailsWith("got a file that lacks 1: c; differs in 1: a is F32[2,3], not F32[3,2]; has besides 1: b"));
}

} // namespace
} // namespace hjx
