// SPDX-License-Identifier: Apache-2.0
//
// See GemmTiling.h. Tile sizes follow from the register count: with R registers, a tile
// of (R-4)/2 rows of two vectors leaves two registers for B and two for broadcasts.
#include "lib/Codegen/Cpu/GemmTiling.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
namespace hjx {

VectorUnit VectorUnit::fromFeatures(const llvm::StringMap<bool> &features) {
  if (features.lookup("avx512f"))
    return {64, 32, true};
  if (features.lookup("avx2") && features.lookup("fma"))
    return {32, 16, true};
  if (features.lookup("neon"))
    return {16, 32, true};
  return {16, 16, false};
}

VectorUnit VectorUnit::host() {
#if defined(__aarch64__)
  return {16, 32, true};
#else
  return fromFeatures(llvm::sys::getHostCPUFeatures());
#endif
}

namespace gemm {

FailureOr<Tiling> Tiling::of(const GemmConfig &config, Location loc) {
  auto isOneOf = [](Type type, std::initializer_list<unsigned> widths) {
    return llvm::is_contained(widths, type.getIntOrFloatBitWidth());
  };
  Type in = config.operandType, acc = config.accumulatorType, out = config.resultType;
  bool isFloat = isa<FloatType>(in) && isa<FloatType>(acc) && isa<FloatType>(out);
  bool isInteger = in.isSignlessInteger() && acc.isSignlessInteger() && out.isSignlessInteger();
  bool ok = isFloat ? isOneOf(in, {16, 32, 64}) && isOneOf(acc, {32, 64}) &&
                          (isOneOf(out, {32, 64}) || (isOneOf(out, {16}) && acc.isF32()))
                    : isInteger && isOneOf(in, {8, 16, 32, 64}) && isOneOf(acc, {8, 16, 32, 64}) &&
                          isOneOf(out, {8, 16, 32, 64});
  if (!ok || in.getIntOrFloatBitWidth() > acc.getIntOrFloatBitWidth())
    return emitError(loc) << "matrix product: expected float operands with an f32 or f64 "
                             "accumulator, or i8 to i64 operands with an integer accumulator at "
                             "least as wide, got operands "
                          << in << ", accumulator " << acc << ", result " << out;

  if (config.isPacked() && !(in.isF32() && acc.isF32()))
    return emitError(loc) << "matrix product: expected packed factors to stand for f32 with an f32 accumulator, got " << in << " and " << acc;

  Tiling t;
  auto stored = [&](Packing packing) { return packing == Packing::None ? in : IntegerType::get(in.getContext(), 8); };
  t.lhs = stored(config.lhsPacking);
  t.rhs = stored(config.rhsPacking);
  t.lhsPacking = config.lhsPacking;
  t.rhsPacking = config.rhsPacking;
  t.lhsIsScaled = config.lhsIsScaled;
  t.rhsIsScaled = config.rhsIsScaled;
  t.result = out;
  t.isUnsigned = config.unsignedOperands;
  // There is no vector multiply for bytes, and wrapping sums may be computed wider.
  t.compute =
      isInteger && acc.getIntOrFloatBitWidth() < 32 ? IntegerType::get(acc.getContext(), 32) : acc;
  const VectorUnit &unit = config.vectorUnit;
  t.lanes = unit.bytes / t.computeBytes();
  t.vectors = 2;
  t.cols = t.lanes * t.vectors;
  t.fma = isFloat && unit.fma;
  // Without a fused multiply-add the product needs registers of its own.
  t.rows = (unit.registers == 32 ? 12 : 6) - (t.fma ? 0 : 2);
  t.lightRows = unit.registers == 32 ? 8 : 4;
  t.rowTilesPerBlock = std::max<int64_t>(1, (unit.registers == 32 ? 288 : 168) / t.rows);
  t.colTilesPerBlock = std::max<int64_t>(1, (t.throughScratch() ? 512 : 1024) / t.cols);
  return t;
}

int64_t Tiling::tileOffset() const {
  // One vector of slack: the packer stores whole vectors over the end of a panel.
  return roundUp((rowTilesPerBlock * rows * kBlock + lanes) * computeBytes(), 64);
}
int64_t Tiling::scratchOffset() const {
  return tileOffset() + roundUp(rows * cols * computeBytes(), 64);
}
int64_t Tiling::privateBytes() const {
  int64_t scratch =
      throughScratch() ? rowTilesPerBlock * rows * scratchStride() * computeBytes() : 0;
  return roundUp(scratchOffset() + scratch, 64);
}

} // namespace gemm

int64_t gemmWorkspaceBytes(const GemmConfig &config, const ProductSizes &sizes, int64_t parts) {
  FailureOr<gemm::Tiling> tiling =
      gemm::Tiling::of(config, UnknownLoc::get(config.operandType.getContext()));
  if (failed(tiling) || sizes.m == 0 || sizes.n == 0)
    return 0;
  using gemm::Tiling;
  // The kernel may exchange the roles of A and B, and with them m and n.
  auto bytes = [&](int64_t n) {
    int64_t packed =
        gemm::packedBytes<int64_t>(*tiling, n, sizes.k, Tiling::kChunk, Tiling::nChunk);
    bool batched = sizes.batch0 * sizes.batch1 > 1 && packed <= gemm::maxBatchedBytes;
    return packed * (batched ? parts : 1) + tiling->privateBytes() * parts;
  };
  return std::max(bytes(sizes.n), bytes(sizes.m));
}

} // namespace hjx
