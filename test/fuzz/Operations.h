// SPDX-License-Identifier: Apache-2.0
//
// The plain steps of programs: operations on arrays, by name. All are tame: they take
// numbers of [-1, 1] to such numbers, are smooth where they have a derivative, and know
// no ties between floats, so that results computed in another order agree closely.
#pragma once

#include "test/fuzz/Program.h"

#include <hjx/indexing.h>

namespace fuzz {

/// What an operation is given.
struct Operands {
  const Step &step;
  const std::vector<hjx::Array> &args;
  const std::vector<hjx::Array> &indices;

  hjx::Array operator[](size_t i) const { return args[i]; }
  int attr(size_t i) const { return static_cast<int>(step.attrs[i]); }
  const Type &type() const { return step.defs[0].type; }
  std::vector<hjx::Index> index() const;
};
/// The operations by name; a test adds faulty ones.
std::map<std::string, std::function<hjx::Array(const Operands &)>> &operations();

/// True if the step is one of these.
bool isOperation(const std::string &op);
/// What the step computes; `indices` are the values of its index entries of kind At, in order.
hjx::Array compute(const Step &step, const std::vector<hjx::Array> &args, const std::vector<hjx::Array> &indices);

/// The mean, and that of nothing: 0.
hjx::Array meanOf(const hjx::Array &x);
/// A sum of `count` terms as their mean.
inline hjx::Array perTerm(const hjx::Array &sum, int64_t count) { return sum / std::max<int64_t>(count, 1); }

/// An index of the library out of entries.
std::vector<hjx::Index> indexOf(const std::vector<Entry> &entries, const std::vector<hjx::Array> &indices);
/// x[index], and x with the part replaced or added to.
hjx::Array getPart(const hjx::Array &x, const std::vector<hjx::Index> &index);
hjx::Array setPart(const hjx::Array &x, const std::vector<hjx::Index> &index, const hjx::Array &value);
hjx::Array addToPart(const hjx::Array &x, const std::vector<hjx::Index> &index, const hjx::Array &value);

/// A concrete array of the type with numbers of [-1, 1] (integers of [0, 4)) that depend on the seed.
hjx::Array sampleOf(const Type &type, unsigned seed);

} // namespace fuzz
