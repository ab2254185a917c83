// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/Check.h"
#include "test/fuzz/Callee.h"

#include <cmath>
#include <cstring>
#include <iostream>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace hjx;

namespace fuzz {

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

template <typename F>
static std::vector<Leaf> leavesOf(const Program &program, const Evaluator &evaluator, bool isLowered, const F &f) {
  Values args = evaluator.sampleArguments(program.seed), results = f(args);
  if (!isLowered)
    for (size_t i = 0; i < args.size(); ++i)
      if (program.main.params[i].type.isRef)
        results.push_back(hjx::detail::refGet("get", args[i].hjxHandle(), {}, Where::current()));
  return evaluator.decoded(evaluator.resultTypes(), results);
}

static bool isClose(double a, double b, double tolerance) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance * (1 + std::min(std::abs(a), std::abs(b)));
}

/// Where two lists of results differ; empty if they agree.
static std::string difference(const Run &expected, const Run &got, double tolerance) {
  if (expected.leaves.size() != got.leaves.size())
    return expected.name + " has " + std::to_string(expected.leaves.size()) + " results, " + got.name + " " + std::to_string(got.leaves.size());
  for (size_t i = 0; i < got.leaves.size(); ++i) {
    const Leaf &a = expected.leaves[i], &b = got.leaves[i];
    std::string what = "result " + std::to_string(i) + ": ";
    if (a.type != b.type)
      return what + expected.name + " " + a.type + ", " + got.name + " " + b.type;
    for (size_t k = 0; k < a.numbers.size(); ++k)
      if (!isClose(a.numbers[k], b.numbers[k], tolerance))
        return what + "element " + std::to_string(k) + ": " + expected.name + " " + std::to_string(a.numbers[k]) + ", " + got.name + " " +
               std::to_string(b.numbers[k]);
  }
  return "";
}

/// The derivative of a program's only result, a scalar, along a direction against a difference, and mapped
/// over a batch against one by one.
static std::string smoothFailure(const Program &program) {
  Evaluator whole(program, Form::Whole), unrolled(program, Form::Unrolled);
  auto loss = [](const Evaluator &evaluator) {
    return [&evaluator](const Values &xs) { return evaluator(xs)[0].as<Array>(); };
  };
  Values x = whole.sampleArguments(program.seed), direction = whole.sampleArguments(program.seed + 1);
  auto value = jit(loss(unrolled));
  auto gradient = jit(grad(loss(whole)));
  auto moved = [&](double by) {
    Values to;
    for (size_t i = 0; i < x.size(); ++i)
      to.push_back(x[i].as<Array>() + by * direction[i].as<Array>());
    return to;
  };
  double slope = 0, expected = (value(moved(1e-5)).item<double>() - value(moved(-1e-5)).item<double>()) / 2e-5;
  Values bars = gradient(x);
  for (size_t i = 0; i < x.size(); ++i)
    slope += sum(bars[i].as<Array>() * direction[i].as<Array>()).item<double>();
  if (!isClose(slope, expected, 1e-6))
    return "the gradient's slope is " + std::to_string(slope) + ", by differences " + std::to_string(expected);
  Values rows, batch = moved(0.5), next = gradient(batch);
  for (size_t i = 0; i < x.size(); ++i)
    rows.push_back(stack({x[i].as<Array>(), batch[i].as<Array>()}));
  Values mapped = jit(vmap(grad(loss(whole))))(rows);
  for (size_t i = 0; i < x.size(); ++i)
    for (int row = 0; row < 2; ++row) {
      std::vector<double> got = mapped[i].as<Array>()[row].to_vector<double>(), one = (row ? next : bars)[i].as<Array>().to_vector<double>();
      for (size_t k = 0; k < got.size(); ++k)
        if (!isClose(got[k], one[k], 1e-8))
          return "the mapped gradient " + std::to_string(i) + " of row " + std::to_string(row) + " is " + std::to_string(got[k]) +
                 ", by itself " + std::to_string(one[k]);
    }
  return "";
}

/// A program with a mistake: an error that names a line is what it must end in.
static Outcome runInvalid(const Program &program) {
  try {
    Evaluator evaluator(program, Form::Whole);
    jit([&](const Values &args) { return evaluator(args); })(evaluator.sampleArguments(program.seed));
  } catch (const Error &error) {
    bool isLocated = error.where().line() > 0 && std::string(error.what()).find(".cpp:") != std::string::npos;
    return {isLocated && !error.help().empty() ? "" : std::string("is refused without a line or a remedy: ") + error.what(), {}};
  } catch (const std::exception &error) {
    return {std::string("is refused by an exception that is not hjx's: ") + error.what(), {}};
  }
  return {"is accepted", {}};
}

Outcome runProgram(const Program &program, const RunOptions &options) {
  if (options.isInvalid)
    return runInvalid(program);
  Outcome outcome;
  const std::string backend = options.isCompiled ? "cpu " : "interpreter ";
  std::string now;
  try {
    for (Form form : {Form::Whole, Form::Lowered, Form::Unrolled}) {
      if (options.isCompiled && form == Form::Unrolled)
        continue; // As good as the interpreter's, and slow to compile.
      Evaluator evaluator(program, form);
      const bool isLowered = form != Form::Whole;
      const std::string name = form == Form::Whole ? "" : isLowered && form == Form::Lowered ? "lowered " : "unrolled ";
      auto run = [&](std::string how, const auto &f) {
        now = backend + name + how;
        outcome.runs.push_back({now, leavesOf(program, evaluator, isLowered, f)});
      };
      auto compiled = jit([&](const Values &args) { return evaluator(args); });
      run("jit", compiled);
      if (form == Form::Whole) { // The same program again, from the same state: the same bits.
        run("jit again", compiled);
        if (std::string text = difference(outcome.runs[0], outcome.runs[1], 0); !text.empty())
          outcome.failure = text;
        outcome.runs.pop_back();
      }
      if (options.isEager && form != Form::Unrolled)
        run("eager", evaluator);
    }
    now = backend + "derivative";
    if (options.isSmooth && outcome.failure.empty())
      outcome.failure = smoothFailure(program);
  } catch (const Error &error) {
    outcome.failure = now + " fails: " + error.what();
  } catch (const std::exception &error) {
    outcome.failure = now + " throws: " + error.what();
  }
  return outcome;
}

std::string findFailure(const Program &program, const std::vector<Outcome> &outcomes) {
  for (const Outcome &outcome : outcomes)
    if (!outcome.failure.empty())
      return outcome.failure;
  double tolerance = 1e-8;
  for (const auto &[id, type] : typesOf(program))
    if (str(type).find("f32") != std::string::npos || str(type).find("r1[") != std::string::npos)
      tolerance = 1e-3;
  // The unrolled program of plain arrays says what is right.
  const Run *expected = &outcomes[0].runs[0];
  for (const Run &run : outcomes[0].runs)
    if (run.name.find("unrolled") != std::string::npos)
      expected = &run;
  for (const Outcome &outcome : outcomes)
    for (const Run &run : outcome.runs)
      if (std::string text = difference(*expected, run, tolerance); !text.empty())
        return text;
  return "";
}

std::string failureOf(const Program &program, bool isCompiled, bool isEager, bool isSmooth, int timeoutSeconds) {
  std::vector<Outcome> outcomes = runIsolated({program}, {false, true, isSmooth}, timeoutSeconds);
  if (isCompiled && outcomes[0].failure.empty())
    outcomes.push_back(runIsolated({program}, {true, isEager, false}, timeoutSeconds)[0]);
  return findFailure(program, outcomes);
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

namespace {
/// Outcomes as bytes in a pipe.
struct Writer {
  std::string bytes;
  void number(uint64_t value) { bytes.append(reinterpret_cast<const char *>(&value), sizeof(value)); }
  void text(const std::string &value) {
    number(value.size());
    bytes += value;
  }
  void outcome(const Outcome &outcome) {
    text(outcome.failure);
    number(outcome.runs.size());
    for (const Run &run : outcome.runs) {
      text(run.name);
      number(run.leaves.size());
      for (const Leaf &leaf : run.leaves) {
        text(leaf.type);
        text(std::string(reinterpret_cast<const char *>(leaf.numbers.data()), leaf.numbers.size() * sizeof(double)));
      }
    }
  }
};
struct Reader {
  const std::string &bytes;
  size_t at = 0;
  uint64_t number() {
    uint64_t value;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    at += sizeof(value);
    return value;
  }
  std::string text() {
    size_t size = number();
    at += size;
    return bytes.substr(at - size, size);
  }
  Outcome outcome() {
    Outcome outcome{text(), {}};
    for (size_t runs = number(); runs > 0; --runs) {
      Run run{text(), {}};
      for (size_t leaves = number(); leaves > 0; --leaves) {
        Leaf leaf{text(), {}};
        std::string numbers = text();
        leaf.numbers.resize(numbers.size() / sizeof(double));
        std::memcpy(leaf.numbers.data(), numbers.data(), numbers.size());
        run.leaves.push_back(std::move(leaf));
      }
      outcome.runs.push_back(std::move(run));
    }
    return outcome;
  }
};

/// Reads exactly `size` bytes; false at the end of the pipe or when time is over.
bool readAll(int pipe, void *to, size_t size, int timeoutSeconds, bool &isLate) {
  for (size_t done = 0; done < size;) {
    pollfd waiting{pipe, POLLIN, 0};
    if (poll(&waiting, 1, timeoutSeconds * 1000) == 0) {
      isLate = true;
      return false;
    }
    ssize_t got = read(pipe, static_cast<char *>(to) + done, size - done);
    if (got <= 0)
      return false;
    done += got;
  }
  return true;
}

void writeAll(int pipe, const std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t put = write(pipe, bytes.data() + done, bytes.size() - done);
    if (put <= 0)
      _exit(1);
    done += put;
  }
}
} // namespace

std::vector<Outcome> runIsolated(const std::vector<Program> &programs, const RunOptions &options, int timeoutSeconds) {
  std::vector<Outcome> outcomes;
  while (outcomes.size() < programs.size()) {
    int pipes[2];
    if (pipe(pipes) != 0)
      throw std::runtime_error("no pipe");
    std::cout.flush();
    pid_t child = fork();
    if (child == 0) {
      close(pipes[0]);
      setenv("HJX_BACKEND", options.isCompiled ? "cpu" : "interpreter", 1);
      if (!options.isCompiled)
        unsetenv("HJX_DEVICE"); // The interpreter is the processor's.
      setenv("HJX_NUM_THREADS", "1", 0);
      for (size_t i = outcomes.size(); i < programs.size(); ++i) {
        Writer body, whole;
        body.outcome(runProgram(programs[i], options));
        whole.text(body.bytes);
        writeAll(pipes[1], whole.bytes);
      }
      _exit(0);
    }
    close(pipes[1]);
    bool isLate = false, isAlive = true;
    while (isAlive && outcomes.size() < programs.size()) {
      uint64_t size = 0;
      std::string bytes;
      isAlive = readAll(pipes[0], &size, sizeof(size), timeoutSeconds, isLate);
      if (isAlive) {
        bytes.resize(size);
        isAlive = readAll(pipes[0], bytes.data(), size, timeoutSeconds, isLate);
      }
      if (isAlive)
        outcomes.push_back(Reader{bytes}.outcome());
    }
    close(pipes[0]);
    if (isLate)
      kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (!isAlive) { // The program that it was at.
      std::string backend = options.isCompiled ? "cpu" : "interpreter";
      std::string what = isLate ? "hangs" : WIFSIGNALED(status) ? "crashes: " + std::string(strsignal(WTERMSIG(status))) : "ends the process";
      outcomes.push_back({backend + " " + what, {}});
    }
  }
  return outcomes;
}

void printIr(const Program &program) {
  std::cout.flush();
  if (pid_t child = fork(); child != 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  setenv("HJX_BACKEND", "interpreter", 1);
  try {
    Evaluator evaluator(program, Form::Whole);
    std::cout << make_ir([&](const Values &args) { return evaluator(args); })(evaluator.sampleArguments(program.seed)) << std::endl;
  } catch (const std::exception &error) {
    std::cout << "no IR: " << error.what() << std::endl;
  }
  _exit(0);
}

} // namespace fuzz
