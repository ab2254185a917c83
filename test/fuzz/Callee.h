// SPDX-License-Identifier: Apache-2.0
//
// What the two halves of the evaluator share.
#pragma once

#include "test/fuzz/Evaluator.h"

#include <hjx/hjx.h>

namespace fuzz {

/// A block as a function of its parameters. When lowered, refs are values: those among the parameters
/// and those that the block finds outside are results too, behind its own; the latter may follow
/// the arguments, too.
struct Evaluator::Callee {
  const Block *block;
  std::vector<Id> refParams, refArgs, external;
};

inline void append(Values &all, const Values &more) { all.insert(all.end(), more.begin(), more.end()); }
inline Values part(const Values &all, size_t first, size_t count = SIZE_MAX) {
  count = std::min(count, all.size() - first);
  return {all.begin() + first, all.begin() + first + count};
}

/// Each value by itself where the predicate holds, else the other.
Values choose(const hjx::Array &predicate, const Values &yes, const Values &no);
/// Zeros for the components of a value of the type.
Values zerosOf(const Type &type);
/// The axis of a value of the type, with all that it holds.
hjx::AxisTree treeOf(const Type &type, int axis);

/// Refs travel in lists of values as what they are for the library: leaves of trees.
inline hjx::AnyValue handleOfRef(const hjx::Ref &ref) { return hjx::AnyValue(ref.hjxHandle()); }
inline hjx::Ref refOfHandle(const hjx::AnyValue &value) {
  hjx::Ref ref;
  ref.hjxHandle() = value.hjxHandle();
  return ref;
}

} // namespace fuzz
