// SPDX-License-Identifier: Apache-2.0
//
// Tiles, fragments and masks of attention: see the header. Fragments are those of the PTX manual's
// "matrix fragments for mma"; without tensor cores one is, for each of a lane's two rows or columns, four
// numbers along what is summed.
#include "lib/Codegen/Gpu/AttentionFrame.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <limits>

using namespace mlir;
using namespace hjx;

static constexpr unsigned kGlobal = 1, kShared = 3;
static constexpr int64_t kVectorBytes = 16; // Of a copy, and of a row that ldmatrix reads.

AttentionFrame::AttentionFrame(gpu::GPUFuncOp kernel, const AttentionKernelConfig &config)
    : config(config), kernel(kernel), k(kernel, /*numBlocks=*/0, config.blockSize()), b(k.b),
      bytes(config.elementBytes()), pitch(config.width() * bytes + kVectorBytes) {
  unsigned sizes = config.numMatrices();
  numQueries = kernel.getArgument(sizes);
  numKeys = kernel.getArgument(sizes + 1);
  Value numHeads = kernel.getArgument(sizes + 2), numTiles = kernel.getArgument(sizes + 3);
  scale = kernel.getArgument(kernel.getNumArguments() - 1);
  scaleLog2 = mulF(scale, number(1 / std::log(2.0)));

  // In 32 bits: a division of 64 would take a hundred instructions.
  Value rest = toI32(k.block());
  auto takeDigit = [&](Value radix) -> Value {
    Value divisor = toI32(radix), digit = arith::RemUIOp::create(b, rest, divisor);
    rest = arith::DivUIOp::create(b, rest, divisor);
    return arith::IndexCastUIOp::create(b, b.getIndexType(), digit);
  };
  Value tile = takeDigit(numTiles);
  head = takeDigit(numHeads);
  batch = arith::IndexCastUIOp::create(b, b.getIndexType(), rest);
  if (config.causal && rowsAreQueries()) // The last queries see most: they begin.
    tile = arith::SubIOp::create(b, numTiles, add(tile, index(1)));
  firstRow = mul(tile, index(config.rows));

  Value thread = k.blockTeam().thread;
  lane = remainder(thread, kWarpSize);
  Value warpRow = mul(quotient(thread, kWarpSize), index(16));
  firstLaneRow = add(warpRow, quotient(lane, 4));
  laneColumn = mul(remainder(lane, 4), index(2));

  // ldmatrix takes from lane i the address of row i % 8 of matrix i / 8.
  auto place = [&](Value row, Value atByte) { return toI64(add(mul(row, index(pitch)), atByte)); };
  Value high = mul(quotient(lane, 16), index(kVectorBytes));
  Value middle = mul(remainder(quotient(lane, 8), 2), index(kVectorBytes));
  rowPart = place(add(warpRow, remainder(lane, 16)), high);
  columnPart = place(add(remainder(lane, 8), mul(quotient(lane, 16), index(8))), middle);
  featurePart = isTf32() ? place(laneColumn, mul(quotient(lane, 4), index(4)))
                         : place(remainder(lane, 16), high);
  if (!isTensor()) {
    // The 8 rows, or 4 pairs of columns, that a warp reads at a time lie in different banks.
    rowPart = place(firstLaneRow, index(0));
    columnPart = place(laneColumn, index(0));
    featurePart = toI64(mul(remainder(lane, 4), index(kVectorBytes)));
  }

  int64_t perRow = llvm::PowerOf2Ceil(config.width() * bytes / kVectorBytes);
  copyStep = config.blockSize() / perRow;
  copyRow = quotient(thread, perRow);
  copyColumn = remainder(thread, perRow);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value AttentionFrame::addressOf(Value buffer, unsigned space) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  Value first = add(base, mul(metadata.getOffset(), index(elementBytes(buffer.getType()))));
  auto type = LLVM::LLVMPointerType::get(b.getContext(), space == kShared ? kShared : 0);
  Value address = LLVM::IntToPtrOp::create(b, type, toI64(first));
  if (space == kGlobal)
    address = LLVM::AddrSpaceCastOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), kGlobal),
                                            address);
  return address;
}

Value AttentionFrame::offset(Value address, Value distance) {
  return LLVM::GEPOp::create(b, address.getType(), b.getI8Type(), address, ValueRange{distance});
}

Value AttentionFrame::offset(Value address, int64_t distance) {
  return LLVM::GEPOp::create(b, address.getType(), b.getI8Type(), address,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(distance)});
}

AttentionFrame::Matrix AttentionFrame::matrix(unsigned number, Type elementType, Value size) {
  int64_t bytes = elementBytes(elementType);
  auto stride = [&](unsigned which) {
    return kernel.getArgument(config.numMatrices() + 4 + 3 * number + which);
  };
  Value first = add(mul(batch, stride(0)), mul(head, stride(2)));
  Value address = offset(addressOf(kernel.getArgument(number), kGlobal),
                         toI64(mul(first, index(bytes))));
  return {address, toI64(mul(stride(1), index(bytes))), size};
}

AttentionFrame::Tile AttentionFrame::makeTile(int64_t numRows, int64_t numStages) {
  return {makeBytes(numStages * numRows * pitch), numRows, numRows * pitch};
}

Value AttentionFrame::makeBytes(int64_t size) {
  return addressOf(k.sharedMemory(b.getI8Type(), size), kShared);
}

Value AttentionFrame::stageOf(const Tile &tile, Value stage) {
  if (!stage)
    return tile.address;
  return offset(tile.address,
                LLVM::MulOp::create(b, stage, constant(tile.stageBytes, 64)).getResult());
}

void AttentionFrame::copy(const Tile &to, const Matrix &from, Value first, Value stage) {
  int64_t lanes = kVectorBytes / bytes, perRow = config.width() / lanes;
  Value isMine;
  if (!llvm::isPowerOf2_64(perRow))
    isMine = lessThan(copyColumn, index(perRow));
  if (copyStep > to.numRows)
    isMine = both(isMine, lessThan(copyRow, index(to.numRows)));
  k.when(isMine, [&] {
    Value isFeature;
    if (config.features < config.width())
      isFeature = lessThan(copyColumn, index(config.features / lanes));
    Value position = add(first, copyRow), column = toI64(mul(copyColumn, index(kVectorBytes)));
    Value distance = LLVM::MulOp::create(b, toI64(position), from.rowBytes);
    Value source = offset(offset(from.address, distance), column);
    Value step = LLVM::MulOp::create(b, from.rowBytes, constant(copyStep, 64));
    Value place = offset(offset(stageOf(to, stage), toI64(mul(copyRow, index(pitch)))), column);
    for (int64_t row = 0; row < to.numRows; row += copyStep) {
      Value isThere = both(lessThan(add(position, index(row)), from.size), isFeature);
      Value size = LLVM::SelectOp::create(b, isThere, constant(kVectorBytes), constant(0));
      NVVM::CpAsyncOp::create(b, offset(place, row * pitch), source,
                              static_cast<uint32_t>(kVectorBytes), NVVM::LoadCacheModifierKind::CG,
                              size);
      source = offset(source, step);
    }
  });
}

void AttentionFrame::write(ArrayRef<Value> sums, std::array<Value, 2> factors, const Matrix &to) {
  int64_t numTogether = isTensor() ? 2 : 4; // Of the features of a lane.
  Value laneFeature = mul(remainder(lane, 4), index(numTogether));
  for (int64_t half : {0, 1}) {
    Value row = position(laneRow(half));
    k.when(lessThan(row, to.size), [&] {
      Value distance = LLVM::MulOp::create(b, toI64(row), to.rowBytes);
      Value address = offset(offset(to.address, distance), toI64(mul(laneFeature, index(bytes))));
      for (int64_t first = 0; first < config.features; first += 4 * numTogether) {
        Values mine;
        for (int64_t i = 0; i < numTogether; ++i)
          mine.push_back(mulF(sums[first / 2 + i / 2 * 4 + 2 * half + i % 2], factors[half]));
        Value together = bytes == 4 ? vector::FromElementsOp::create(
                                          b, VectorType::get({numTogether}, b.getF32Type()), mine)
                                          .getResult()
                                    : packed(mine[0], mine[1]);
        Value isFeature;
        if (first + 4 * numTogether > config.features)
          isFeature = lessThan(laneFeature, index(config.features - first));
        k.when(isFeature, [&] {
          LLVM::StoreOp::create(b, together, offset(address, first * bytes),
                                static_cast<unsigned>(numTogether * bytes));
        });
      }
    });
  }
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

Value AttentionFrame::packed(Value low, Value high) {
  bool isHalf = config.elementType.isF16();
  Value pair = intrinsic(isHalf ? "llvm.nvvm.ff2f16x2.rn" : "llvm.nvvm.ff2bf16x2.rn",
                         VectorType::get({2}, config.elementType), {high, low});
  return LLVM::BitcastOp::create(b, b.getI32Type(), pair);
}

Value AttentionFrame::toTf32(Value value) {
  return NVVM::ConvertFloatToTF32Op::create(b, b.getI32Type(), value, NVVM::FPRoundingMode::RNA);
}

SmallVector<Value> AttentionFrame::loadMatrices(Value address, bool transposed) {
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

SmallVector<Value> AttentionFrame::loadVector(Value address) {
  Value vector = load(VectorType::get({4}, b.getF32Type()), address);
  Values numbers;
  for (int64_t i = 0; i < 4; ++i)
    numbers.push_back(vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{i}));
  return numbers;
}

SmallVector<Value> AttentionFrame::rowFragment(Value rows, int64_t step) {
  Value address = offset(offset(rows, rowPart), step * depth() * bytes);
  if (isTensor())
    return loadMatrices(address, /*transposed=*/false);
  Values numbers = loadVector(address);
  llvm::append_range(numbers, loadVector(offset(address, 8 * pitch)));
  return numbers;
}

SmallVector<Value> AttentionFrame::columnFragment(Value stage, int64_t step, int64_t pair) {
  Value address =
      offset(offset(stage, columnPart), pair * 16 * pitch + step * depth() * bytes);
  if (isTensor())
    return loadMatrices(address, /*transposed=*/false);
  Values numbers;
  for (int64_t column : {0, 1, 8, 9})
    llvm::append_range(numbers, loadVector(offset(address, column * pitch)));
  return numbers;
}

SmallVector<Value> AttentionFrame::featureFragment(Value stage, int64_t step, int64_t pair) {
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

SmallVector<Value> AttentionFrame::scoreFragment(ArrayRef<Value> scores, int64_t step,
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

void AttentionFrame::multiply(ArrayRef<Value> lhs, ArrayRef<Value> rhs,
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

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionFrame::repeat(int64_t count, Values values,
                                          llvm::function_ref<void(Value, Values &)> body) {
  auto loop = scf::ForOp::create(b, index(0), index(count), index(1), values);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  values.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  body(loop.getInductionVar(), values);
  scf::YieldOp::create(b, values);
  return Values(loop.getResults());
}

void AttentionFrame::multiplyTile(Values &sums, ArrayRef<Value> row, int64_t numPairs,
                                  llvm::function_ref<Values(int64_t)> fragment) {
  MutableArrayRef<Value> all(sums);
  for (int64_t pair = 0; pair < numPairs; ++pair) {
    Values both = fragment(pair);
    for (int64_t half : {0, 1})
      multiply(row, ArrayRef(both).slice(half * both.size() / 2, both.size() / 2),
               all.slice(8 * pair + 4 * half, 4));
  }
}

SmallVector<Value> AttentionFrame::scores(const Tile &rows, const Tile &columns, Value stage) {
  Values sums(config.columns / 2, number(0));
  Value base = stageOf(columns, stage);
  int64_t numSteps = config.width() / depth();
  auto add = [&](Values &sums, Value row, Value column, int64_t step) {
    multiplyTile(sums, rowFragment(row, step), config.columns / 16,
                 [&](int64_t pair) { return columnFragment(column, step, pair); });
  };
  if (!isTensor())
    return repeat(numSteps, sums, [&](Value step, Values &sums) {
      Value distance = toI64(mul(step, index(kVectorBytes)));
      add(sums, offset(rows.address, distance), offset(base, distance), 0);
    });
  for (int64_t step = 0; step < numSteps; ++step)
    add(sums, rows.address, base, step);
  return sums;
}

void AttentionFrame::accumulate(Values &sums, ArrayRef<Value> scores, const Tile &columns,
                                Value stage) {
  Value base = stageOf(columns, stage);
  auto add = [&](Values &sums, int64_t numSteps, Value column, Value owner) {
    for (int64_t step = 0; step < numSteps; ++step)
      multiplyTile(sums, scoreFragment(scores, step, owner), config.width() / 16,
                   [&](int64_t pair) { return featureFragment(column, step, pair); });
  };
  if (isTensor())
    return add(sums, config.columns / depth(), base, Value());
  // Each of the four lanes of a row has two of 8 scores, and all need all: one lane's after another.
  sums = repeat(4, sums, [&](Value owner, Values &sums) {
    Value distance = toI64(mul(owner, index(2 * pitch)));
    add(sums, config.columns / 16, offset(base, distance), toI32(owner));
  });
}

Value AttentionFrame::weight(Value score, Value factor, Value shift) {
  return exp2(fma(score, factor, shift));
}

SmallVector<Value> AttentionFrame::hide(Values scores, Value firstColumn) {
  bool hasEnd =
      rowsAreQueries(); // Queries that are not there add nothing to the gradients of keys.
  if (!hasEnd && !config.causal)
    return scores;
  // Most tiles are seen in whole.
  Value end = add(firstColumn, index(config.columns)), isHidden;
  if (hasEnd) {
    isHidden = lessThan(numKeys, end);
    if (config.causal)
      isHidden = arith::OrIOp::create(b, isHidden, lessThan(add(firstRow, index(1)), end));
  } else {
    isHidden = lessThan(add(firstColumn, index(1)), add(firstRow, index(config.rows)));
  }
  SmallVector<Type> types(scores.size(), b.getF32Type());
  auto ifOp = scf::IfOp::create(b, types, isHidden, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(b, scores);
  b.setInsertionPointToStart(ifOp.thenBlock());
  // Of the columns of this lane, counted from its first one: the last that is seen, or the first.
  Value first = add(firstColumn, laneColumn);
  std::array<Value, 2> bounds;
  for (int64_t half : {0, 1}) {
    Value bound = position(laneRow(half));
    if (hasEnd) {
      Value last = arith::SubIOp::create(b, numKeys, index(1));
      bound = config.causal ? arith::MinSIOp::create(b, bound, last).getResult() : last;
    }
    bounds[half] = toI32(arith::SubIOp::create(b, bound, first));
  }
  auto sees = hasEnd ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge;
  Value hidden = number(-std::numeric_limits<double>::infinity());
  for (auto [i, score] : llvm::enumerate(scores)) {
    int64_t column = static_cast<int64_t>(i) / 4 * 8 + static_cast<int64_t>(i) % 2;
    Value isSeen = arith::CmpIOp::create(b, sees, constant(column), bounds[i / 2 % 2]);
    score = arith::SelectOp::create(b, isSeen, score, hidden);
  }
  scf::YieldOp::create(b, scores);
  return Values(ifOp.getResults());
}

SmallVector<Value>
AttentionFrame::forEachColumns(Values values, llvm::function_ref<void(Value, Value)> copyColumns,
                               llvm::function_ref<Values(Value, Value, Values)> body) {
  auto tilesOf = [&](Value size) {
    return quotient(add(size, index(config.columns - 1)), config.columns);
  };
  Value begin = index(0), end = tilesOf(numColumns());
  if (config.causal && rowsAreQueries())
    end = arith::MinSIOp::create(b, end, tilesOf(add(firstRow, index(config.rows))));
  else if (config.causal)
    begin = quotient(firstRow, config.columns);
  auto firstOf = [&](Value tile) { return mul(tile, index(config.columns)); };
  copyColumns(firstOf(begin), constant(0, 64));
  NVVM::CpAsyncCommitGroupOp::create(b);
  values.push_back(constant(0, 64)); // The stage of the tile that is used.
  auto loop = scf::ForOp::create(b, begin, end, index(1), values);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    values.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    Value stage = values.pop_back_val(), tile = loop.getInductionVar(), next = add(tile, index(1));
    Value other = LLVM::XOrOp::create(b, stage, constant(1, 64));
    NVVM::CpAsyncWaitGroupOp::create(b, 0u);
    k.barrier(); // All see this tile, and are done with the one before.
    k.when(lessThan(next, end), [&] { copyColumns(firstOf(next), other); });
    NVVM::CpAsyncCommitGroupOp::create(b);
    values = body(firstOf(tile), stage, values);
    values.push_back(other);
    scf::YieldOp::create(b, values);
  }
  NVVM::CpAsyncWaitGroupOp::create(b, 0u);
  return Values(loop.getResults().drop_back());
}
