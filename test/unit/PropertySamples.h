// SPDX-License-Identifier: Apache-2.0
//
// Samples for the property tests: for each op, a few small functions that use
// it, and where its arguments may be drawn from. A new op is tested by adding
// lines to the table in PropertySamples.cpp.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace hjx::test {

/// Where an argument's elements are drawn from.
enum class Domain {
  Any,      ///< floats: normal; integers: -3 .. 9; bools, keys: uniform
  Positive, ///< floats in (0.5, 2)
  Unit,     ///< floats in (-0.9, 0.9)
  Index,    ///< integers in -1 .. 3: inside small arrays and just outside
  Zeros,    ///< normal floats, the first of which is 0
};

struct Sample {
  /// "hjx.sin"
  std::string op;
  /// "%a: tensor<2x3xf64>, %b: tensor<f64>"
  std::string arguments;
  /// Ops; what the last one computes is returned.
  std::string body;
  /// Per argument; arguments beyond the list are Any.
  std::vector<Domain> domains;
  /// Functions that the body names.
  std::string callees;
  /// Words of the error with which a mode of differentiation refuses it.
  std::string noForward, noReverse;
  /// The tangent is zero by decree, though values change.
  bool isStopped = false;

  Sample from(std::vector<Domain> where) const;
  Sample with(std::string functions) const;
  Sample forwardOnly(std::string refusal) const;
  Sample reverseOnly(std::string refusal) const;

  /// "func.func @f(...) { body; return }" and the callees.
  std::string text() const;
};

/// All samples, those of one op together.
const std::vector<Sample> &allSamples();
std::vector<Sample> samplesOf(llvm::StringRef op);

/// The parts of the table in PropertyProgramSamples.cpp.
void addHigherOrderSamples(std::vector<Sample> &samples);
void addRequestSamples(std::vector<Sample> &samples);
/// In PropertyRefSamples.cpp.
void addRefSamples(std::vector<Sample> &samples);

} // namespace hjx::test
