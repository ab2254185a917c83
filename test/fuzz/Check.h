// SPDX-License-Identifier: Apache-2.0
//
// A program run in all the ways that must agree, and what is wrong if they do not.
#pragma once

#include "test/fuzz/Evaluator.h"

namespace fuzz {

/// What one run of a program gave: its results, and what its refs hold in the end.
struct Run {
  std::string name; // "cpu jit", "interpreter unrolled"
  std::vector<Leaf> leaves;
};
struct Outcome {
  std::string failure; // An error that was thrown, or a difference that one process sees; empty if none.
  std::vector<Run> runs;
};

struct RunOptions {
  bool isCompiled = false; // Else by the reference interpreter.
  bool isEager = true;     // Step by step, too; compiled, each step is a program.
  bool isSmooth = false;   // The program's derivative against differences.
  bool isInvalid = false;  // It is to be refused.
};

/// Runs the program in this process, whose HJX_BACKEND is what the options say.
Outcome runProgram(const Program &program, const RunOptions &options);

/// The same for several programs, in order, each in a process that may crash or hang without harm.
std::vector<Outcome> runIsolated(const std::vector<Program> &programs, const RunOptions &options, int timeoutSeconds);

/// The first failure, or difference between runs; empty if all is well.
std::string findFailure(const Program &program, const std::vector<Outcome> &outcomes);

/// Interpreter and, if asked for, compiled runs of one program.
std::string failureOf(const Program &program, bool isCompiled, bool isEager, bool isSmooth, int timeoutSeconds);

/// The program's IR, made in a process of its own.
void printIr(const Program &program);

} // namespace fuzz
