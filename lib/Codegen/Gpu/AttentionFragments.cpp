// SPDX-License-Identifier: Apache-2.0
//
// Fragments, from shared memory and from scores, and their products: see the header.
#include "lib/Codegen/Gpu/AttentionFragments.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace hjx;

AttentionFragments::AttentionFragments(gpu::GPUFuncOp kernel, const AttentionKernelConfig &config)
    : KernelFrame(kernel, config.blockSize()), config(config), bytes(config.elementBytes()),
      pitch(config.width() * bytes + kVectorBytes) {
  Value thread = k.blockTeam().thread;
  lane = remainder(thread, kWarpSize);
  Value warpRow = mul(quotient(thread, kWarpSize), index(16));
  firstLaneRow = add(warpRow, quotient(lane, 4));
  laneColumn = mul(remainder(lane, 4), index(2));

  auto place = [&](Value row, Value atByte) { return toI64(add(mul(row, index(pitch)), atByte)); };
  if (!isTensor()) {
    // The 8 rows, or 4 pairs of columns, that a warp reads at a time lie in different banks.
    rowPart = place(firstLaneRow, index(0));
    columnPart = place(laneColumn, index(0));
    featurePart = toI64(mul(remainder(lane, 4), index(kVectorBytes)));
    return;
  }
  // ldmatrix takes from lane i the address of row i % 8 of matrix i / 8.
  Value high = mul(quotient(lane, 16), index(kVectorBytes));
  Value middle = mul(remainder(quotient(lane, 8), 2), index(kVectorBytes));
  rowPart = place(add(warpRow, remainder(lane, 16)), high);
  columnPart = place(add(remainder(lane, 8), mul(quotient(lane, 16), index(8))), middle);
  featurePart = isTf32() ? place(laneColumn, mul(quotient(lane, 4), index(4)))
                         : place(remainder(lane, 16), high);
}

Value AttentionFragments::packed(Value low, Value high) {
  bool isHalf = config.elementType.isF16();
  Value pair = intrinsic(isHalf ? "llvm.nvvm.ff2f16x2.rn" : "llvm.nvvm.ff2bf16x2.rn",
                         VectorType::get({2}, config.elementType), {high, low});
  return LLVM::BitcastOp::create(b, b.getI32Type(), pair);
}

Value AttentionFragments::toTf32(Value value) {
  return NVVM::ConvertFloatToTF32Op::create(b, b.getI32Type(), value, NVVM::FPRoundingMode::RNA);
}

SmallVector<Value> AttentionFragments::loadMatrices(Value address, bool transposed) {
  Type i32 = b.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), {i32, i32, i32, i32});
  Value loaded = NVVM::LdMatrixOp::create(
      b, type, address, /*num=*/4, transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
  Values registers;
  for (int64_t i = 0; i < 4; ++i) {
    Value value = LLVM::ExtractValueOp::create(b, loaded, ArrayRef<int64_t>{i});
    registers.push_back(isTf32() ? toTf32(LLVM::BitcastOp::create(b, b.getF32Type(), value))
                                 : value);
  }
  return registers;
}

SmallVector<Value> AttentionFragments::loadVector(Value address) {
  Value vector = load(VectorType::get({4}, b.getF32Type()), address);
  Values numbers;
  for (int64_t i = 0; i < 4; ++i)
    numbers.push_back(vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{i}));
  return numbers;
}

SmallVector<Value> AttentionFragments::rowFragment(Value rows, int64_t step) {
  Value address = offset(offset(rows, rowPart), step * depth() * bytes);
  if (isTensor())
    return loadMatrices(address, /*transposed=*/false);
  Values numbers = loadVector(address);
  llvm::append_range(numbers, loadVector(offset(address, 8 * pitch)));
  return numbers;
}

SmallVector<Value> AttentionFragments::columnFragment(Value stage, int64_t step, int64_t pair) {
  Value address =
      offset(offset(stage, columnPart), pair * 16 * pitch + step * depth() * bytes);
  if (isTensor())
    return loadMatrices(address, /*transposed=*/false);
  Values numbers;
  for (int64_t column : {0, 1, 8, 9})
    llvm::append_range(numbers, loadVector(offset(address, column * pitch)));
  return numbers;
}

SmallVector<Value> AttentionFragments::featureFragment(Value stage, int64_t step, int64_t pair) {
  if (!isTensor()) {
    SmallVector<Values> columns;
    for (int64_t column : {0, 1, 8, 9})
      columns.push_back(loadVector(offset(
          offset(stage, featurePart), (16 * step + column) * pitch + pair * 16 * bytes)));
    Values numbers;
    for (int64_t feature = 0; feature < 4; ++feature)
      for (const Values &column : columns)
        numbers.push_back(column[feature]);
    return numbers;
  }
  Value address = offset(offset(stage, featurePart), step * depth() * pitch + pair * 16 * bytes);
  if (!isTf32())
    return loadMatrices(address, /*transposed=*/true);
  // Nothing transposes 32 bits. Columns 2 i and 2 i + 1 stand for i and i + 4, as in scoreFragment.
  Values registers;
  for (int64_t half : {0, 1})
    for (int64_t row : {0, 1})
      registers.push_back(
          toTf32(load(b.getF32Type(), offset(address, row * pitch + half * 8 * bytes))));
  return registers;
}

SmallVector<Value> AttentionFragments::scoreFragment(ArrayRef<Value> scores, int64_t step,
                                                  Value owner) {
  if (!isTensor()) {
    ArrayRef<Value> mine = scores.slice(8 * step, 8);
    Value all = constant(-1), fourLanes = constant(0x1c1f);
    Values numbers;
    for (int64_t half : {0, 1})
      for (int64_t column : {0, 1, 4, 5})
        numbers.push_back(NVVM::ShflOp::create(b, b.getF32Type(), all, mine[2 * half + column],
                                               owner, fourLanes, NVVM::ShflKind::idx, UnitAttr()));
    return numbers;
  }
  if (isTf32()) {
    ArrayRef<Value> mine = scores.slice(4 * step, 4);
    return {toTf32(mine[0]), toTf32(mine[2]), toTf32(mine[1]), toTf32(mine[3])};
  }
  ArrayRef<Value> mine = scores.slice(8 * step, 8);
  return {packed(mine[0], mine[1]), packed(mine[2], mine[3]), packed(mine[4], mine[5]),
          packed(mine[6], mine[7])};
}

void AttentionFragments::multiply(ArrayRef<Value> lhs, ArrayRef<Value> rhs,
                              MutableArrayRef<Value> sums) {
  if (!isTensor()) {
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t at = 0; at < depth(); ++at)
        sums[i] = fma(lhs[i / 2 * depth() + at], rhs[i % 2 * depth() + at], sums[i]);
    return;
  }
  bool isHalf = config.elementType.isF16();
  NVVM::MMATypes type = isHalf     ? NVVM::MMATypes::f16
                        : isTf32() ? NVVM::MMATypes::tf32
                                   : NVVM::MMATypes::bf16;
  auto registers = [&](ArrayRef<Value> values) {
    Values result(values);
    if (isHalf)
      for (Value &value : result)
        value = LLVM::BitcastOp::create(b, VectorType::get({2}, b.getF16Type()), value);
    return result;
  };
  Type f32 = b.getF32Type();
  auto resultType = LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32});
  Value result = NVVM::MmaOp::create(
      b, resultType, registers(lhs), registers(rhs), ValueRange(sums),
      ArrayRef<int64_t>{16, 8, depth()}, /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
      std::array{type, type}, std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (int64_t i = 0; i < 4; ++i)
    sums[i] = LLVM::ExtractValueOp::create(b, result, ArrayRef<int64_t>{i});
}
