// SPDX-License-Identifier: Apache-2.0
//
// Random: Threefry-2x32 (Salmon et al. 2011, "Parallel random numbers: as easy
// as 1, 2, 3") and JAX's partitionable layout on top of it.
#include "lib/Interpreter/Evaluate.h"

#include <bit>

using namespace mlir;

namespace hjx {

using Words = std::pair<uint32_t, uint32_t>;

static Words threefry2x32(Words key, Words count) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  uint32_t schedule[3] = {key.first, key.second, 0x1BD11BDA ^ key.first ^ key.second};
  uint32_t x0 = count.first + schedule[0], x1 = count.second + schedule[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : rotations[group % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += schedule[(group + 1) % 3];
    x1 += schedule[(group + 2) % 3] + group + 1;
  }
  return {x0, x1};
}

static Words halves(uint64_t value) { return {uint32_t(value >> 32), uint32_t(value)}; }

static LogicalResult evaluateThreefry(Evaluation &e) {
  auto word = [&](unsigned operand, int64_t i) {
    return uint32_t(e.operand(operand).getInteger(i).getZExtValue());
  };
  for (int64_t i = 0, n = e.results[0].numElements(); i < n; ++i) {
    auto [bits0, bits1] = threefry2x32({word(0, i), word(1, i)}, {word(2, i), word(3, i)});
    e.results[0].setInteger(i, APInt(32, bits0));
    e.results[1].setInteger(i, APInt(32, bits1));
  }
  return success();
}

/// A key's storage is its two words.
static LogicalResult evaluateSameBytes(Evaluation &e) {
  e.results[0] = e.operand(0).withType(e.results[0].type());
  return success();
}

static LogicalResult evaluateSeed(Evaluation &e) {
  for (int64_t i = 0, n = e.operand(0).numElements(); i < n; ++i) {
    llvm::APSInt seed = e.operand(0).getInteger(i);
    uint64_t bits = seed.extOrTrunc(64).getZExtValue();
    e.results[0].setKey(i, halves(seed.getBitWidth() <= 32 ? uint32_t(bits) : bits));
  }
  return success();
}

static LogicalResult evaluateFoldIn(Evaluation &e) {
  for (int64_t i = 0, n = e.operand(0).numElements(); i < n; ++i)
    e.results[0].setKey(i, threefry2x32(e.operand(0).getKey(i),
                                        {0, uint32_t(e.operand(1).getInteger(i).getZExtValue())}));
  return success();
}

/// Calls `store(place, hash of counter i)` for each key and each i of `shape`.
static void hashCounters(const HostArray &keys, ArrayRef<int64_t> shape,
                         function_ref<void(int64_t, Words)> store) {
  int64_t perKey = ShapedType::getNumElements(shape);
  for (int64_t k = 0, n = keys.numElements(); k < n; ++k)
    for (int64_t i = 0; i < perKey; ++i)
      store(k * perKey + i, threefry2x32(keys.getKey(k), halves(i)));
}

static LogicalResult evaluateSplit(Evaluation &e) {
  hashCounters(e.operand(0), cast<ir::RandomSplitOp>(e.op).getShape(),
               [&](int64_t place, Words hash) { e.results[0].setKey(place, hash); });
  return success();
}

static LogicalResult evaluateBits(Evaluation &e) {
  auto op = cast<ir::RandomBitsOp>(e.op);
  hashCounters(e.operand(0), op.getShape(), [&](int64_t place, Words hash) {
    auto [high, low] = hash;
    uint64_t bits = op.getWidth() == 64 ? uint64_t(high) << 32 | low : high ^ low;
    e.results[0].setInteger(place, APInt(64, bits));
  });
  return success();
}

void populateRandomEvaluateRules(EvaluateRules &rules) {
  rules.add<ir::Threefry2x32Op>(evaluateThreefry);
  rules.add<ir::RandomWrapOp>(evaluateSameBytes);
  rules.add<ir::RandomUnwrapOp>(evaluateSameBytes);
  rules.add<ir::RandomSeedOp>(evaluateSeed);
  rules.add<ir::RandomFoldInOp>(evaluateFoldIn);
  rules.add<ir::RandomSplitOp>(evaluateSplit);
  rules.add<ir::RandomBitsOp>(evaluateBits);
}

} // namespace hjx
