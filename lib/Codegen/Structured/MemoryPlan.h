// SPDX-License-Identifier: Apache-2.0
//
// The memory plan: where in one arena each buffer of a program lies.
//
// Concept. All shapes are static, so every buffer's size and the first and last
// op that touches it are known before the program runs. Two buffers whose
// lifetimes are disjoint may share bytes. Placing them well is an offline bin
// packing problem; the greedy rule used here takes buffers from the largest down
// and puts each into the smallest gap that fits between those placed already that
// live at the same time. Where that leaves holes, those of long life come first among
// the same sizes, or size times lifetime counts, if that is better. On training
// steps this comes within a few percent of the lower bound, `peakBytes`.
//
// Example, times are op numbers, sizes in bytes:
//
//   a: 256, [0, 2]    b: 128, [1, 3]    c: 192, [3, 4]
//   a at 0; c is never alive with a: at 0; b is alive with both: at 256
//   total 384, peak max(256+128, 128+192) = 384
//
// Choices not taken: a pool allocator at run time (the plan would not be
// printable before the first step); colouring by size classes (wastes more).
// Source: Pisarchyk and Lee 2020, "Efficient Memory Management for Deep Neural
// Net Inference", greedy by size.
#pragma once

#include "lib/Support/Pch.h"

#include <string>

namespace hjx {

struct MemoryPlan {
  struct Entry {
    std::string name; // Location of the op that asked for the buffer.
    int64_t sizeBytes = 0;
    int64_t offset = 0;
    // Numbers of the first and the last op of the program that touch the buffer.
    int64_t firstUse = 0, lastUse = 0;
  };
  static constexpr int64_t kAlignment = 64;

  std::vector<Entry> entries; // In order of first use.
  int64_t sizeBytes = 0;      // Of the arena.
  int64_t peakBytes = 0;      // The most that is alive at one time: no plan can do with less.

  /// Chooses offset of each entry, and sizeBytes and peakBytes. The other fields are given.
  void place();

  /// One line per buffer and a total.
  void print(llvm::raw_ostream &os) const;

  /// The plan as an attribute of a function, so that it lives in dumps, and back.
  mlir::Attribute toAttribute(mlir::MLIRContext *context) const;
  static mlir::FailureOr<MemoryPlan> fromAttribute(mlir::Attribute attribute);
};

/// The name of the attribute of `@main` that holds the plan.
constexpr llvm::StringLiteral kMemoryPlanAttr = "hjx.memory_plan";

/// Returns the plan for the allocations in `func`, with the allocations in the order of its
/// entries.
///
/// Errors: a diagnostic if a buffer leaves the loop iteration that allocates it, or has a type
///         without a static size.
mlir::FailureOr<MemoryPlan> planMemory(mlir::func::FuncOp func,
                                       llvm::SmallVectorImpl<mlir::memref::AllocOp> &allocations);

} // namespace hjx
