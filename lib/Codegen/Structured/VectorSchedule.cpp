// SPDX-License-Identifier: Apache-2.0
//
// Scores for the choice: see the header.
#include "lib/Codegen/Structured/VectorSchedule.h"

#include "lib/Codegen/Structured/BodyEmitter.h"
#include "lib/Codegen/Structured/Combiner.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace hjx;

/// Bytes of a vector of the widest type in the body: four AVX2 or two AVX-512 registers. Fewer
/// leave too few independent chains, more spill.
static constexpr unsigned kVectorBytes = 128;

static unsigned defaultLanes(const LoopNest &nest, bool sumsColumns) {
  unsigned widest = 8;
  auto note = [&](Type type) {
    if (type.isIntOrFloat())
      widest = std::max(widest, type.getIntOrFloatBitWidth());
  };
  for (const Access &access : nest.accesses)
    note(getElementTypeOrSelf(access.operand.getType()));
  for (Operation &op : nest.op.getBody()->without_terminator())
    llvm::for_each(op.getResultTypes(), note);
  // Column sums stride through memory: whole cache lines, several at a time.
  return (sumsColumns ? 2 : 1) * kVectorBytes / (widest / 8);
}

/// Enough terms of a sum that it does not matter how long it takes to load and store what is outside of it.
static constexpr int64_t kManyTerms = 8;

/// How good `loop` is as the vector loop. Strided lanes are loaded and stored one by one.
static int64_t vectorScore(const LoopNest &nest, unsigned loop) {
  int innermost = -1; // Reduction loop, if the sums of the lanes stay in registers.
  for (auto [other, info] : llvm::enumerate(nest.loops))
    if (info.isReduction && !nest.loops[loop].isReduction)
      innermost = static_cast<int>(other);
  int64_t score = 0;
  for (auto [index, access] : llvm::enumerate(nest.accesses)) {
    bool isOutput = index >= nest.numInputs();
    int64_t stride = access.strides[loop];
    bool isOutside = innermost >= 0 && access.strides[innermost] == 0 && nest.loops[innermost].size >= kManyTerms;
    if (stride == 1)
      score += 4;
    else if (stride != 0)
      score -= isOutside ? 1 : isOutput ? 8 : 6;
  }
  if (nest.loops[loop].size < 4)
    score -= 4;
  return score;
}

/// The score from which vectors pay: arithmetic that is worth it may gather its lanes.
static int64_t minVectorScore(const LoopNest &nest) {
  bool worthIt = llvm::any_of(nest.op.getBody()->without_terminator(), [](Operation &op) {
    return isa_and_present<math::MathDialect>(op.getDialect()) || isa<arith::DivFOp>(op);
  });
  return worthIt ? -8 : -2;
}

static bool splitsReductions(const LoopNest &nest) {
  for (unsigned output = 0; output < nest.numOutputs(); ++output)
    if (!Combiner::match(nest.op, output))
      return false;
  return true;
}

VectorSchedule VectorSchedule::choose(const LoopNest &nest) {
  VectorSchedule schedule;
  if (BodyEmitter::canVectorize(nest.op)) {
    bool mayReduce = splitsReductions(nest);
    int64_t best = minVectorScore(nest) - 1;
    for (auto [loop, info] : llvm::enumerate(nest.loops)) {
      if (info.row >= 0 || (info.isReduction && !mayReduce) || info.size < 2)
        continue;
      if (int64_t score = vectorScore(nest, loop); score > best) {
        best = score;
        schedule.vectorLoop = loop;
      }
    }
  }
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (static_cast<int>(loop) != schedule.vectorLoop)
      (info.isReduction ? schedule.reductions : schedule.outer).push_back(loop);
  ArrayRef<int64_t> outputStrides = nest.outputs().front().strides;
  llvm::sort(schedule.outer, [&](unsigned a, unsigned b) {
    return std::make_pair(-outputStrides[a], a) < std::make_pair(-outputStrides[b], b);
  });
  if (schedule.vectorLoop >= 0) {
    bool sumsColumns = !schedule.reductions.empty() && !schedule.vectorIsReduction(nest);
    auto size = static_cast<uint64_t>(nest.loops[schedule.vectorLoop].size);
    schedule.lanes = std::min<uint64_t>(defaultLanes(nest, sumsColumns), llvm::bit_floor(size));
  }
  return schedule;
}
