// SPDX-License-Identifier: Apache-2.0
//
// When may several structured ops share one loop over rows?
//
// Concept. A group of ops with R rows runs as `for row in 0..R: op1(row); op2(row);
// ..`. Each op gives its slowest parallel loops, R iterations together, to the row
// loop. That is the same program as one op after the other if, for every buffer
// that the group writes, all ops of the group touch in row r the same stretch of
// memory, and the stretches of different rows do not meet. Both are seen from
// strides:
//
//   max[b,t] = maximum over j of x[b,t,j]     rows (b,t): max at 64 b + t = row
//   y[b,t,j] = exp(x[b,t,j] - max[b,t])       rows (b,t): max at 64 b + t = row     same: may share
//   z[t,b]   = max[b,t] * 2                   rows (t,b): max at 64 b + t != row    may not
//
// The row is one number; an op whose row loops do not collapse takes it apart into
// digits (b = row / 64, t = row % 64). Two functions of the row are compared as
// lists of (size, stride) per digit, neighbours merged where they can be.
#pragma once

#include "lib/Codegen/Structured/LoopNest.h"

namespace hjx {

/// An address as a function of the row: digits, slowest first.
struct RowAddress {
  llvm::SmallVector<std::pair<int64_t, int64_t>> digits; // (size, stride in elements)
  bool operator==(const RowAddress &) const = default;
};

/// Marks the slowest parallel loops of `nest` as row loops, `numRows` iterations together; a loop
/// may be split for that. Returns false, and leaves the nest useless, if it cannot be done.
bool splitRows(LoopNest &nest, int64_t numRows);

/// The nests of a group of ops that share `numRows` rows, which are marked in each.
/// Errors: failure, with a diagnostic at the op that has no linear addresses or not those rows.
mlir::FailureOr<llvm::SmallVector<LoopNest>> rowNests(llvm::ArrayRef<mlir::linalg::GenericOp> ops,
                                                     int64_t numRows);

/// Where `access` of `nest` begins in each row.
RowAddress rowAddress(const LoopNest &nest, const Access &access);

/// First and last element that `access` touches, relative to where its row begins.
struct Stretch {
  int64_t first = 0, last = 0;
};
Stretch rowStretch(const LoopNest &nest, const Access &access);

/// Whether stretches that begin at `address` never meet in different rows.
bool rowsAreDisjoint(const RowAddress &address, Stretch stretch);

/// Whether `nests`, run row by row, leave the same in memory as run one after the other: see above.
bool rowsAgree(llvm::ArrayRef<LoopNest> nests);

/// The buffer that `value` is a view of; views of different buffers do not overlap.
mlir::Value rootBuffer(mlir::Value value);

/// Whether `root`, which is no view, overlaps no other such buffer: one that a loop carries may be
/// any.
bool overlapsNoOther(mlir::Value root);

/// `value` without the reshapes that keep the place of the first element.
mlir::Value withoutReshapes(mlir::Value value);

} // namespace hjx
