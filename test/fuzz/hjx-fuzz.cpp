// SPDX-License-Identifier: Apache-2.0
//
// Draws programs without end and runs each in all the ways that must agree; see
// docs/debugging.md.
//
//   hjx-fuzz --seeds 1000 --start 0 --jobs 2     failing seeds, made small, and a count
//   hjx-fuzz --invalid --seeds 1000              with a mistake in each: all must be refused
//   hjx-fuzz --print 17                          one program, as text and as IR
#include "test/fuzz/Check.h"
#include "test/fuzz/Generator.h"
#include "test/fuzz/Mutate.h"
#include "test/fuzz/Shrink.h"

#include <algorithm>
#include <cstring>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

using namespace fuzz;

namespace {

struct Options {
  unsigned start = 0, seeds = 100, jobs = 1, timeout = 120;
  unsigned compileEvery = 1; // Compiled runs for one seed of so many; the interpreter always.
  unsigned eagerEvery = 16;  // Compiled step by step, which compiles each.
  size_t steps = 14;
  bool doesShrink = true, isInvalid = false;
  int print = -1;
};

/// Every fourth program is smooth: its derivative is checked as well.
bool isSmooth(unsigned seed) { return seed % 4 == 3; }
Program programOf(unsigned seed, const Options &options) { return draw(seed, {options.steps, isSmooth(seed)}); }

/// What failures have in common while a program shrinks: the runs that differ, or the error without its details.
std::string kindOf(const std::string &failure) {
  std::string kind = failure.substr(0, failure.find(" fails: "));
  if (kind != failure) { // The words of the message.
    std::string message = failure.substr(failure.rfind(": ", failure.find('\n')) + 2, 30);
    return kind + message;
  }
  std::string words;
  for (char c : failure)
    if (!std::isdigit(c) && c != '.' && c != '-')
      words += c;
  return words.find("result") == 0 ? "difference" : words.substr(0, 24);
}

void report(unsigned seed, const Program &program, const std::string &failure, const Options &options) {
  std::string text = "seed " + std::to_string(seed) + ": " + failure + "\n";
  Program small = program;
  if (options.doesShrink) {
    bool isCompiled = failure.find("interpreter") != 0 || failure.find("cpu") != std::string::npos;
    std::string kind = kindOf(failure), last = failure;
    small = shrink(program, [&](const Program &candidate) {
      std::string now = failureOf(candidate, isCompiled, failure.find("cpu eager") != std::string::npos || failure.find("cpu lowered eager") != std::string::npos,
                                  isSmooth(seed), options.timeout);
      if (now.empty() || kindOf(now) != kind)
        return false;
      last = now;
      return true;
    });
    text += "  made small: " + last + "\n";
  }
  std::cout << text << str(small) << std::flush;
  if (options.doesShrink)
    printIr(small);
  std::cout << std::endl;
}

/// Runs programs with a mistake in each.
int runInvalidShard(const Options &options, unsigned shard) {
  int failures = 0;
  std::vector<Program> programs;
  std::vector<std::string> mistakes;
  for (unsigned i = shard; i < options.seeds; i += options.jobs) {
    Program program = draw(options.start + i, {.numSteps = options.steps});
    if (std::string mistake = mutate(program, options.start + i); !mistake.empty()) {
      programs.push_back(std::move(program));
      mistakes.push_back(mistake);
    }
  }
  std::vector<Outcome> outcomes = runIsolated(programs, {.isInvalid = true}, options.timeout);
  for (size_t i = 0; i < programs.size(); ++i)
    if (!outcomes[i].failure.empty()) {
      ++failures;
      std::cout << "seed " << programs[i].seed << ": a program with " << mistakes[i] << " " << outcomes[i].failure << "\n"
                << str(programs[i]) << std::endl;
    }
  return failures;
}

/// Runs the seeds that are `shard` modulo the number of jobs; returns the number of failures.
int runShard(const Options &options, unsigned shard) {
  constexpr size_t kBatch = 16; // Programs for one process: enough to share its start.
  int failures = 0;
  std::vector<unsigned> seeds;
  for (unsigned i = shard; i < options.seeds; i += options.jobs)
    seeds.push_back(options.start + i);
  for (size_t first = 0; first < seeds.size(); first += kBatch) {
    if (first / kBatch % 16 == 15)
      std::cerr << "shard " << shard << ": " << first << " of " << seeds.size() << " programs, " << failures << " failures\n";
    std::vector<unsigned> batch(seeds.begin() + first, seeds.begin() + std::min(first + kBatch, seeds.size()));
    std::vector<std::vector<Outcome>> outcomes(batch.size());
    auto runSome = [&](const RunOptions &run, const auto &isChosen) {
      std::vector<Program> programs;
      std::vector<size_t> places;
      for (size_t i = 0; i < batch.size(); ++i)
        if (isChosen(batch[i])) {
          programs.push_back(programOf(batch[i], options));
          places.push_back(i);
        }
      std::vector<Outcome> results = runIsolated(programs, run, options.timeout);
      for (size_t i = 0; i < places.size(); ++i)
        outcomes[places[i]].push_back(std::move(results[i]));
    };
    runSome({false, true, false}, [&](unsigned seed) { return !isSmooth(seed); });
    runSome({false, true, true}, [&](unsigned seed) { return isSmooth(seed); });
    auto isCompiled = [&](unsigned seed) { return seed % options.compileEvery == 0; };
    auto isEager = [&](unsigned seed) { return seed % options.eagerEvery == 0; };
    runSome({true, false, false}, [&](unsigned seed) { return isCompiled(seed) && !isEager(seed); });
    runSome({true, true, false}, [&](unsigned seed) { return isCompiled(seed) && isEager(seed); });
    for (size_t i = 0; i < batch.size(); ++i) {
      Program program = programOf(batch[i], options);
      if (std::string failure = findFailure(program, outcomes[i]); !failure.empty()) {
        ++failures;
        report(batch[i], program, failure, options);
      }
    }
  }
  return failures;
}

int runShards(const Options &options) {
  auto run = options.isInvalid ? runInvalidShard : runShard;
  std::vector<pid_t> children;
  for (unsigned shard = 1; shard < options.jobs; ++shard)
    if (pid_t child = fork(); child == 0)
      _exit(std::min(run(options, shard), 255));
    else
      children.push_back(child);
  int failures = run(options, 0);
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    failures += WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  std::cout << options.seeds << " programs from seed " << options.start << ": " << failures << " failures" << std::endl;
  return failures != 0;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    if (flag == "--no-shrink" || flag == "--invalid") {
      (flag == "--invalid" ? options.isInvalid : options.doesShrink) = flag == "--invalid";
      continue;
    }
    unsigned *value = flag == "--start"           ? &options.start
                      : flag == "--seeds"         ? &options.seeds
                      : flag == "--jobs"          ? &options.jobs
                      : flag == "--timeout"       ? &options.timeout
                      : flag == "--compile-every" ? &options.compileEvery
                      : flag == "--eager-every"   ? &options.eagerEvery
                      : flag == "--print"         ? reinterpret_cast<unsigned *>(&options.print)
                                                  : nullptr;
    char *end = nullptr;
    if (value && i + 1 < argc)
      *value = static_cast<unsigned>(std::strtoul(argv[++i], &end, 10));
    if (!end || *end || end == argv[i]) {
      std::cerr << "hjx-fuzz: expected --start, --seeds, --jobs, --timeout, --compile-every, --eager-every or --print with a number, or "
                   "--invalid or --no-shrink, got " << argv[i] << "\n";
      return 2;
    }
  }
  if (options.jobs == 0 || options.compileEvery == 0 || options.eagerEvery == 0) {
    std::cerr << "hjx-fuzz: expected positive numbers\n";
    return 2;
  }
  if (options.print >= 0) {
    Program program = programOf(options.print, options);
    std::cout << str(program);
    printIr(program);
    return 0;
  }
  return runShards(options);
}
