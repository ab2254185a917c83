// SPDX-License-Identifier: Apache-2.0
//
// Tiles, products and masks of attention: see the header.
#include "lib/Codegen/Gpu/AttentionFrame.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <limits>

using namespace mlir;
using namespace hjx;

AttentionFrame::AttentionFrame(gpu::GPUFuncOp kernel, const AttentionKernelConfig &config)
    : AttentionFragments(kernel, config) {
  unsigned sizes = config.numMatrices();
  numQueries = kernel.getArgument(sizes);
  numKeys = kernel.getArgument(sizes + 1);
  Value numHeads = kernel.getArgument(sizes + 2), numTiles = kernel.getArgument(sizes + 3);
  scale = kernel.getArgument(kernel.getNumArguments() - 1);
  scaleLog2 = mulF(scale, number(1 / std::log(2.0)));

  batch = k.block();
  Value tile = takeDigit(batch, numTiles);
  head = takeDigit(batch, numHeads);
  if (config.causal && rowsAreQueries()) // The last queries see most: they begin.
    tile = arith::SubIOp::create(b, numTiles, add(tile, index(1)));
  firstRow = mul(tile, index(config.rows));

  Value thread = k.blockTeam().thread;
  int64_t perRow = llvm::PowerOf2Ceil(config.width() * bytes / kVectorBytes);
  copyStep = config.blockSize() / perRow;
  copyRow = quotient(thread, perRow);
  copyColumn = remainder(thread, perRow);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

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
