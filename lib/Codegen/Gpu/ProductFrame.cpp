// SPDX-License-Identifier: Apache-2.0
//
// Arguments, blocks and outer sums of product kernels: see the header.
#include "lib/Codegen/Gpu/ProductFrame.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace hjx;

ProductFrame::ProductFrame(gpu::GPUFuncOp kernel, const ProductKernelConfig &config)
    : KernelFrame(kernel, config.tile.blockSize()), config(config), tile(config.tile) {
  m = size(0), n = size(1), sum = size(2);
  Value tilesM = size(3), tilesN = size(4);
  Value one = index(1);
  auto stride = [&](unsigned position, bool isUnit) { return isUnit ? one : size(position); };
  bool lhsUnit = config.lhsLanes > 1, rhsUnit = config.rhsLanes > 1;
  lhs = {argument(0), stride(5, lhsUnit && !config.lhsAlongSum),
         stride(6, lhsUnit && config.lhsAlongSum), m};
  rhs = {argument(1), stride(8, rhsUnit && !config.rhsAlongSum),
         stride(7, rhsUnit && config.rhsAlongSum), n};

  Value number = k.block();
  if (config.isSplit) {
    split = number;
    tileNumber = number = takeDigit(split, splitArgument(0));
    Value most = splitArgument(2);
    firstSum = mul(split, most);
    Value left = arith::SubIOp::create(b, sum, firstSum);
    sum = arith::SelectOp::create(b, lessThan(left, most), left, most);
  }
  Value tileM = takeDigit(number, tilesM), tileN = takeDigit(number, tilesN);
  firstRow = mul(tileM, index(tile.m));
  firstCol = mul(tileN, index(tile.n));
  lhs.firstSide = firstRow;
  rhs.firstSide = firstCol;
  lhs.first = mul(firstRow, lhs.sideStride);
  rhs.first = mul(firstCol, rhs.sideStride);
  if (config.isSplit)
    for (ProductFactor *factor : {&lhs, &rhs})
      factor->first = add(factor->first, mul(firstSum, factor->sumStride));
  for (unsigned loop = 0; loop < config.numBatchLoops; ++loop) {
    Value digit = loop + 1 == config.numBatchLoops ? number : takeDigit(number, batchArgument(loop, 0));
    batchDigits.push_back(digit);
    lhs.first = add(lhs.first, mul(digit, batchArgument(loop, 1)));
    rhs.first = add(rhs.first, mul(digit, batchArgument(loop, 2)));
  }
  unsigned position = 9 + 3 * (config.numBatchLoops + config.numSumLoops);
  for (auto [index, config] : llvm::enumerate(config.elements)) {
    Elements &buffer = elements.emplace_back();
    buffer.buffer = argument(numFactors() + index);
    buffer.row = config.alongRows ? size(position) : Value();
    buffer.col = config.alongColumns ? stride(position + 1, config.isVector) : Value();
    buffer.first = this->index(0);
    if (buffer.row)
      buffer.first = mul(firstRow, buffer.row);
    if (buffer.col)
      buffer.first = add(buffer.first, mul(firstCol, buffer.col));
    position += 2;
    for (Value digit : batchDigits)
      buffer.first = add(buffer.first, mul(digit, size(position++)));
  }
  if (config.scales) {
    (config.scales->ofLhs ? lhs : rhs).isScaled = true;
    scales.side = size(position++);
    scales.sum = size(position++);
    scales.first = index(0);
    for (Value digit : batchDigits)
      scales.first = add(scales.first, mul(digit, size(position++)));
    for (unsigned loop = 0; loop < config.numSumLoops; ++loop)
      scales.loops.push_back(size(position++));
  }

  lhs.tileSide = tile.m, lhs.lanes = config.lhsLanes;
  rhs.tileSide = tile.n, rhs.lanes = config.rhsLanes;
  lhs.alongSum = config.lhsAlongSum, lhs.raggedSide = config.raggedM;
  rhs.alongSum = config.rhsAlongSum, rhs.raggedSide = config.raggedN;
  lhs.packing = config.lhsPacking, rhs.packing = config.rhsPacking;
}

Value ProductFrame::loadLanes(const ProductFactor &factor, Value at) {
  auto type = cast<MemRefType>(factor.buffer.getType()).getElementType();
  if (factor.lanes == 1)
    return memref::LoadOp::create(b, factor.buffer, at);
  int64_t bytes = factor.lanes * elementBytes(type);
  return vector::LoadOp::create(b, vectorOf(type, factor.lanes), factor.buffer, at, /*nontemporal=*/false,
                                llvm::MaybeAlign(bytes));
}

/// What lies outside of the matrix has the scale 0, as the number is 0, and reads the first, which is always there.
Value ProductFrame::loadScales(const ProductFactor &factor, Value side, Value position) {
  auto groupOf = [&](Value at, int64_t group) {
    if (group != 1)
      takeDigit(at, index(group));
    return at;
  };
  Value isInside = lessThan(position, sum);
  side = add(factor.firstSide, side);
  if (factor.raggedSide)
    isInside = both(isInside, lessThan(side, factor.sideSize));
  if (firstSum)
    position = add(position, firstSum);
  auto placeOf = [&](int64_t lane) {
    Value ownSide = side, ownPosition = position;
    Value &moved = factor.alongSum ? ownPosition : ownSide;
    if (lane > 0)
      moved = add(moved, index(lane));
    Value at = add(scales.first, add(mul(groupOf(ownSide, config.scales->sideGroup), scales.side),
                                     mul(groupOf(ownPosition, config.scales->sumGroup), scales.sum)));
    return arith::SelectOp::create(b, isInside, at, index(0)).getResult();
  };
  auto insideOr0 = [&](Value loaded) -> Value {
    return arith::SelectOp::create(b, isInside, loaded, zero(loaded.getType()));
  };
  Value buffer = argument(2);
  auto loadOne = [&](int64_t lane) { return insideOr0(memref::LoadOp::create(b, buffer, placeOf(lane))); };
  if (factor.lanes == 1)
    return loadOne(0);
  VectorType type = vectorOf(config.operandType, factor.lanes);
  if (!config.scales->differ)
    return vector::BroadcastOp::create(b, type, loadOne(0));
  if (config.scales->isVector)
    return insideOr0(vector::LoadOp::create(b, type, buffer, placeOf(0), /*nontemporal=*/false,
                                            llvm::MaybeAlign(factor.lanes * operandBytes())));
  Values lanes;
  for (int64_t lane = 0; lane < factor.lanes; ++lane)
    lanes.push_back(loadOne(lane));
  return vector::FromElementsOp::create(b, type, lanes);
}

Value ProductFrame::unpack(const ProductFactor &factor, Value loaded, Value side, Value position) {
  if (factor.packing == Packing::None)
    return loaded;
  Type type = loaded.getType(), to = config.operandType;
  TypedAttr four = b.getI8IntegerAttr(4);
  if (auto vector = dyn_cast<VectorType>(type)) {
    four = DenseElementsAttr::get(vector, four);
    to = vector.clone(to);
  }
  if (factor.packing == Packing::LowNibble)
    loaded = arith::ShLIOp::create(b, loaded, arith::ConstantOp::create(b, four));
  if (factor.packing != Packing::Byte)
    loaded = arith::ShRSIOp::create(b, loaded, arith::ConstantOp::create(b, four));
  Value numbers = arith::SIToFPOp::create(b, to, loaded);
  return factor.isScaled ? arith::MulFOp::create(b, numbers, loadScales(factor, side, position)).getResult() : numbers;
}

SmallVector<Value> ProductFrame::emitSum(Values accumulators,
                                         llvm::function_ref<Values(Values)> tiles, unsigned depth) {
  if (depth == config.numSumLoops)
    return tiles(accumulators);
  auto loop = scf::ForOp::create(b, index(0), sumArgument(depth, 0), index(1), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value outerLhs = lhs.first, outerRhs = rhs.first, outerScales = scales.first;
  lhs.first = add(lhs.first, mul(loop.getInductionVar(), sumArgument(depth, 1)));
  rhs.first = add(rhs.first, mul(loop.getInductionVar(), sumArgument(depth, 2)));
  if (config.scales)
    scales.first = add(scales.first, mul(loop.getInductionVar(), scales.loops[depth]));
  scf::YieldOp::create(b, emitSum(Values(loop.getRegionIterArgs()), tiles, depth + 1));
  lhs.first = outerLhs;
  rhs.first = outerRhs;
  scales.first = outerScales;
  return Values(loop.getResults());
}

void ProductFrame::joinSummers() {
  if (tile.numSummers() == k.blockSize)
    return k.barrier();
  NVVM::BarrierOp::create(b, Type(), constant(1), constant(tile.numSummers()), NVVM::BarrierReductionAttr(), Value());
}

/// Each block writes its sums, vector by vector, so that neighbouring threads have neighbouring ones, and then counts
/// itself: barrier, fence and atomic operation, in this order, put the sums of all its threads before the number, and
/// the same backwards lets all threads of the last block see them. Whoever finds that all others are there adds up, in
/// the order of k. The counter goes back to 0 by itself.
void ProductFrame::whenSummed(ArrayRef<Value> sums, llvm::function_ref<void(ArrayRef<Value>)> body) {
  if (!config.isSplit)
    return body(sums);
  constexpr int64_t kLanes = 4;
  VectorType type = vectorOf(config.accumulatorType, kLanes);
  bool areScalars = sums.front().getType() != type;
  Values vectors(sums);
  if (areScalars) {
    vectors.clear();
    for (size_t first = 0; first < sums.size(); first += kLanes)
      vectors.push_back(vector::FromElementsOp::create(b, type, sums.slice(first, kLanes)));
  }
  Value splits = splitArgument(1), buffer = splitArgument(4), thread = k.blockTeam().thread;
  llvm::MaybeAlign alignment(16);
  Value first = add(mul(mul(tileNumber, splits), index(tile.m * tile.n)), mul(thread, index(kLanes)));
  auto firstOf = [&](Value split) { return add(first, mul(split, index(tile.m * tile.n))); };
  auto place = [&](Value first, size_t number) {
    return add(first, index(static_cast<int64_t>(number) * kLanes * tile.numSummers()));
  };
  Value own = firstOf(split);
  for (auto [number, vector] : llvm::enumerate(vectors))
    vector::StoreOp::create(b, vector, buffer, place(own, number), /*nontemporal=*/false, alignment);
  // Each loop over the blocks takes a few vectors: loads of all at once would need as many registers as there are sums.
  constexpr size_t kLoads = 8;
  auto addParts = [&](size_t from, size_t count) -> Values {
    auto loop = scf::ForOp::create(b, index(0), splits, index(1), Values(count, zero(type)));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value here = firstOf(loop.getInductionVar());
    Values totals;
    for (auto [number, total] : llvm::enumerate(loop.getRegionIterArgs())) {
      Value part = vector::LoadOp::create(b, type, buffer, place(here, from + number), /*nontemporal=*/false, alignment);
      totals.push_back(isa<FloatType>(config.accumulatorType) ? arith::AddFOp::create(b, total, part).getResult()
                                                              : arith::AddIOp::create(b, total, part).getResult());
    }
    scf::YieldOp::create(b, totals);
    return Values(loop.getResults());
  };
  auto lanesOf = [&](ArrayRef<Value> vectors) {
    Values lanes;
    for (Value vector : vectors)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        lanes.push_back(vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{lane}));
    return lanes;
  };

  constexpr llvm::StringLiteral kDevice = "device";
  auto fence = [&] { LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, kDevice); };
  Value lastNumber = arith::SubIOp::create(b, toI32(splits), constant(1));
  Value shared = k.sharedMemory(b.getI32Type(), 1);
  joinSummers();
  Value isFirstThread = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, index(0));
  k.when(isFirstThread, [&] {
    fence();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext(), kGlobal);
    Value counters = LLVM::AddressOfOp::create(b, pointer, KernelModule::kCounters);
    Value counter = LLVM::GEPOp::create(b, pointer, b.getI32Type(), counters, ValueRange{toI64(add(splitArgument(3), tileNumber))});
    Value number = LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::uinc_wrap, counter, lastNumber,
                                             LLVM::AtomicOrdering::monotonic, kDevice);
    fence();
    memref::StoreOp::create(b, number, shared, index(0));
  });
  joinSummers();
  Value number = memref::LoadOp::create(b, shared, index(0));
  k.when(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number, lastNumber), [&] {
    Values totals;
    for (size_t from = 0; from < vectors.size(); from += kLoads)
      llvm::append_range(totals, addParts(from, std::min(kLoads, vectors.size() - from)));
    if (areScalars)
      totals = lanesOf(totals);
    body(totals);
  });
}

/// Of an mma's 16x8 sums a lane has two neighbours in row lane / 4, and two 8 rows further on.
void ProductFrame::finishFragments(ArrayRef<Value> sums, Value warpRow, Value warpCol, int64_t numM) {
  int64_t numN = static_cast<int64_t>(sums.size()) / (4 * numM);
  Value lane = remainder(k.blockTeam().thread, kWarpSize);
  Value laneRow = add(warpRow, quotient(lane, 4));
  Value laneCol = add(warpCol, mul(remainder(lane, 4), index(2)));
  for (int64_t mma = 0; mma < numM; ++mma)
    for (int64_t half : {0, 1}) {
      Value row = add(laneRow, index(mma * 16 + half * 8));
      for (int64_t column = 0; column < numN; ++column)
        finish(sums.slice(4 * (mma * numN + column) + 2 * half, 2), row, add(laneCol, index(column * 8)));
    }
}

void ProductFrame::finish(ArrayRef<Value> sums, Value row, Value column) {
  Value isRow = config.raggedM ? lessThan(add(firstRow, row), m) : Value();
  // Whoever has a block of neighbours shares what a row adds to addresses. With mma a thread has pairs all
  // over the tile: sharing would take registers that the sums need.
  Values rowFirst;
  if (!tile.onTensorCores())
    for (const Elements &buffer : elements)
      rowFirst.push_back(buffer.row ? add(buffer.first, mul(row, buffer.row)) : buffer.first);
  auto placesAt = [&](Value column) {
    Values places;
    for (auto [index, buffer] : llvm::enumerate(elements)) {
      Value first = rowFirst.empty() ? buffer.first : rowFirst[index];
      Value rows = rowFirst.empty() && buffer.row ? mul(row, buffer.row) : Value();
      Value columns = buffer.col ? mul(column, buffer.col) : Value();
      Value beyond = rows && columns ? add(rows, columns) : rows ? rows : columns;
      places.push_back(beyond ? add(first, beyond) : first);
    }
    return places;
  };
  for (size_t lane = 0; lane < sums.size(); lane += config.resultLanes) {
    Value place = add(column, index(static_cast<int64_t>(lane)));
    Value isColumn = config.raggedN ? lessThan(add(firstCol, place), n) : Value();
    k.when(both(isRow, isColumn), [&] { finishGroup(sums.slice(lane, config.resultLanes), placesAt(place)); });
  }
}

/// All of the group in the matrix: what is read, the body for each, what is written. `places` are those of
/// the first of the group, per buffer.
void ProductFrame::finishGroup(ArrayRef<Value> sums, ArrayRef<Value> places) {
  auto lanes = static_cast<int64_t>(sums.size());
  SmallVector<Values> inputs(lanes), results;
  for (auto [input, sum] : llvm::zip(inputs, sums))
    input.push_back(sum);
  auto laneOf = [&](unsigned buffer, int64_t lane) {
    return add(places[buffer], mul(index(lane), elements[buffer].col));
  };
  auto vectorIn = [&](const ProductElements &config) {
    return std::pair(vectorOf(config.type, lanes),
                     llvm::MaybeAlign(lanes * elementBytes(config.type)));
  };
  for (auto [index, config] : llvm::enumerate(config.elements)) {
    if (!config.isRead)
      continue;
    Value buffer = elements[index].buffer, loaded;
    auto [vector, alignment] = vectorIn(config);
    if (config.isVector)
      loaded = vector::LoadOp::create(b, vector, buffer, places[index], /*nontemporal=*/false, alignment);
    else if (!config.alongColumns)
      loaded = memref::LoadOp::create(b, buffer, places[index]);
    for (int64_t lane = 0; lane < lanes; ++lane)
      inputs[lane].push_back(config.isVector       ? vector::ExtractOp::create(b, loaded, ArrayRef<int64_t>{lane}).getResult()
                             : config.alongColumns ? memref::LoadOp::create(b, buffer, laneOf(index, lane)).getResult()
                                                   : loaded);
  }
  Block &body = config.epilogue.front();
  for (ArrayRef<Value> input : inputs) {
    IRMapping values;
    values.map(body.getArguments(), input);
    for (Operation &op : body.without_terminator())
      b.clone(op, values);
    results.push_back(llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value value) { return values.lookup(value); }));
  }
  unsigned result = 0;
  for (auto [index, config] : llvm::enumerate(config.elements)) {
    if (!config.isWritten)
      continue;
    Values elementsOf = llvm::map_to_vector(results, [&](const Values &ofLane) { return ofLane[result]; });
    ++result;
    Value buffer = elements[index].buffer;
    // A vector of one, too: of a scalar's store LLVM moves the address out of the condition, and a warp's
    // sums leave no registers for a hundred addresses.
    if (config.isVector || (lanes == 1 && tile.onTensorCores())) {
      auto [vector, alignment] = vectorIn(config);
      vector::StoreOp::create(b, vector::FromElementsOp::create(b, vector, elementsOf), buffer, places[index],
                              /*nontemporal=*/false, alignment);
      continue;
    }
    for (auto [lane, value] : llvm::enumerate(elementsOf))
      memref::StoreOp::create(b, value, buffer, laneOf(index, static_cast<int64_t>(lane)));
  }
}
