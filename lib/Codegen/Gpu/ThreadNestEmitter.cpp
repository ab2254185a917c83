// SPDX-License-Identifier: Apache-2.0
//
// Units, tiles and joins: see the header.
#include "lib/Codegen/Gpu/ThreadNestEmitter.h"

#include "lib/Codegen/Structured/FlatBuffers.h"

using namespace mlir;
using namespace hjx;

//===----------------------------------------------------------------------===//
// Values in buffers
//===----------------------------------------------------------------------===//

Type hjx::storedType(Type type) {
  return type.isInteger(1) ? IntegerType::get(type.getContext(), 8) : type;
}

void hjx::storeValue(ImplicitLocOpBuilder &b, Value value, Value buffer, Value at) {
  if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(b, b.getI8Type(), value);
  memref::StoreOp::create(b, value, buffer, at);
}

Value hjx::loadValue(ImplicitLocOpBuilder &b, Type type, Value buffer, Value at) {
  Value value = memref::LoadOp::create(b, buffer, at);
  return value.getType() == type ? value : arith::TruncIOp::create(b, type, value).getResult();
}

//===----------------------------------------------------------------------===//
// TeamReduction
//===----------------------------------------------------------------------===//

TeamReduction::TeamReduction(KernelBuilder &kernel, const ReductionTile &tile,
                             ArrayRef<Combiner> combiners)
    : kernel(kernel), b(kernel.b), tile(tile), combiners(combiners), buffers(combiners.size()) {
  Value number = kernel.blockTeam().thread;
  if (tile.isRow) {
    across = takeDigit(b, number, tile.across, tile.along > 1);
    along = tile.along == 1 ? kernel.index(0) : number;
  } else {
    along = takeDigit(b, number, tile.along, tile.across > 1);
    across = tile.across == 1 ? kernel.index(0) : number;
  }
}

Value TeamReduction::isLeader() {
  if (tile.across == 1)
    return Value();
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, across, kernel.index(0));
}

TeamReduction::Values TeamReduction::join(Values partial) {
  if (tile.across == 1)
    return partial;
  return tile.isRow ? joinWarps(std::move(partial)) : joinStripes(std::move(partial));
}

Value TeamReduction::bufferFor(unsigned output, Type type, int64_t numElements) {
  Value &buffer = buffers[output];
  if (!buffer)
    buffer = kernel.sharedMemory(storedType(type), numElements);
  return buffer;
}

/// Butterflies within warps; then each warp leaves its total in shared memory, and the same again
/// over those.
TeamReduction::Values TeamReduction::joinWarps(Values partial) {
  auto butterfly = [&](int64_t width) {
    for (int32_t mask = width / 2; mask >= 1; mask /= 2)
      for (auto [value, combiner] : llvm::zip(partial, combiners))
        value = combiner.emit(b, value, kernel.shuffleXor(value, mask));
  };
  butterfly(std::min(tile.across, kWarpSize));
  int64_t numWarps = tile.across / kWarpSize;
  if (numWarps <= 1)
    return partial;
  Value thread = kernel.blockTeam().thread;
  Value lane = arith::RemUIOp::create(b, thread, kernel.index(kWarpSize));
  Value warp = arith::DivUIOp::create(b, thread, kernel.index(kWarpSize));
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, kernel.index(0));
  for (unsigned output = 0; output < partial.size(); ++output)
    bufferFor(output, partial[output].getType(), tile.blockSize() / kWarpSize);
  kernel.when(isFirst, [&] {
    for (auto [value, buffer] : llvm::zip(partial, buffers))
      storeValue(b, value, buffer, warp);
  });
  kernel.barrier();
  Value at = arith::RemUIOp::create(b, lane, kernel.index(numWarps));
  if (tile.along > 1)
    at = arith::AddIOp::create(b, at,
                               arith::MulIOp::create(b, along, kernel.index(numWarps)));
  for (auto [value, buffer] : llvm::zip(partial, buffers))
    value = loadValue(b, value.getType(), buffer, at);
  kernel.barrier(); // The buffer may be written again.
  butterfly(numWarps);
  return partial;
}

/// A tree over the stripes of each column, in shared memory.
TeamReduction::Values TeamReduction::joinStripes(Values partial) {
  Value first = arith::MulIOp::create(b, across, kernel.index(tile.along));
  Value mine = arith::AddIOp::create(b, first, along);
  for (auto [output, value] : llvm::enumerate(partial))
    storeValue(b, value, bufferFor(output, value.getType(), tile.blockSize()), mine);
  for (int64_t half = tile.across / 2; half >= 1; half /= 2) {
    kernel.barrier();
    Value isLower =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, across, kernel.index(half));
    kernel.when(isLower, [&] {
      Value other = arith::AddIOp::create(b, mine, kernel.index(half * tile.along));
      for (auto [value, buffer, combiner] : llvm::zip(partial, buffers, combiners)) {
        Value joined = combiner.emit(b, loadValue(b, value.getType(), buffer, mine),
                                     loadValue(b, value.getType(), buffer, other));
        storeValue(b, joined, buffer, mine);
      }
    });
  }
  // What the leader reads it has written itself.
  for (auto [value, buffer] : llvm::zip(partial, buffers))
    value = loadValue(b, value.getType(), buffer, mine);
  kernel.barrier(); // The buffer may be written again.
  return partial;
}

//===----------------------------------------------------------------------===//
// ThreadNestEmitter
//===----------------------------------------------------------------------===//

ThreadNestEmitter::ThreadNestEmitter(KernelBuilder &kernel, const LoopNest &nest,
                                     const ThreadSchedule &schedule, const IRMapping &flatBuffers,
                                     ArrayRef<Value> rowIvs)
    : kernel(kernel), b(kernel.b), nest(nest), schedule(schedule),
      body(nest, schedule.vectorLoop, flatBuffers), ivs(nest.loops.size()) {
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (info.row >= 0)
      ivs[loop] = rowIvs[info.row];
  if (schedule.splitsReductions)
    for (unsigned output = 0; output < nest.numOutputs(); ++output)
      combiners.push_back(*Combiner::match(nest.op, output));
}

/// Takes `unit` apart into the variables of `loops`; the vector loop's is the first of its lanes.
void ThreadNestEmitter::takeUnit(ArrayRef<unsigned> loops, Value unit) {
  for (auto [position, loop] : llvm::enumerate(llvm::reverse(loops))) {
    bool isVector = static_cast<int>(loop) == schedule.vectorLoop;
    int64_t steps = nest.loops[loop].size / (isVector ? schedule.lanes : 1);
    ivs[loop] = takeDigit(b, unit, steps, position + 1 < loops.size());
    if (isVector && schedule.lanes > 1)
      ivs[loop] = arith::MulIOp::create(b, ivs[loop], kernel.index(schedule.lanes));
  }
}

Value ThreadNestEmitter::vectorIv() const {
  return schedule.vectorLoop < 0 ? Value() : ivs[schedule.vectorLoop];
}

Value ThreadNestEmitter::startOf(unsigned output, Value iv, unsigned lanes) {
  if (!isFromZero)
    return body.loadOutput(b, output, iv, lanes);
  Type type = getElementTypeOrSelf(nest.outputs()[output].operand.getType());
  if (lanes > 1)
    type = VectorType::get(lanes, type);
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

ThreadNestEmitter::Values ThreadNestEmitter::results() {
  return llvm::map_to_vector(nest.op.getBody()->getTerminator()->getOperands(),
                             [&](Value value) { return body.result(b, value); });
}

void ThreadNestEmitter::emitUnits(const Team &team) {
  kernel.forEachUnit(team, schedule.numUnits(nest), [&](Value unit) { emitUnit(unit); });
}

void ThreadNestEmitter::emitUnit(Value unit) {
  takeUnit(schedule.parallel, unit);
  body.emitOutputAddresses(b, ivs);
  bool reduces = !schedule.reductions.empty();
  Values accumulators(nest.numOutputs());
  for (unsigned output = 0; output < nest.numOutputs(); ++output) {
    Value argument = nest.op.getBody()->getArgument(nest.numInputs() + output);
    if (reduces || !argument.use_empty())
      accumulators[output] = startOf(output, vectorIv(), schedule.lanes);
  }
  Values values;
  if (reduces) {
    values = reduceInThread(0, accumulators);
  } else {
    body.emitUniform(b, ivs);
    body.emitVarying(b, vectorIv(), schedule.lanes, accumulators);
    values = results();
  }
  for (auto [output, value] : llvm::enumerate(values))
    body.storeOutput(b, output, vectorIv(), schedule.lanes, value);
}

/// The reduction loops from `depth` on, around the body as it is.
ThreadNestEmitter::Values ThreadNestEmitter::reduceInThread(unsigned depth, ValueRange carried) {
  if (depth == schedule.reductions.size()) {
    body.emitUniform(b, ivs);
    body.emitVarying(b, vectorIv(), schedule.lanes, Values(carried));
    return results();
  }
  unsigned loop = schedule.reductions[depth];
  auto forOp = scf::ForOp::create(b, kernel.index(0), kernel.index(nest.loops[loop].size),
                                  kernel.index(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  ivs[loop] = forOp.getInductionVar();
  scf::YieldOp::create(b, reduceInThread(depth + 1, forOp.getRegionIterArgs()));
  return Values(forOp.getResults());
}

ThreadNestEmitter::Share ThreadNestEmitter::shareOf(TeamReduction &team, const ReductionTile &tile,
                                                    Value tileIndex, int64_t numTerms,
                                                    Value split) {
  Share share;
  int64_t numResults = schedule.numUnits(nest);
  Value first = arith::MulIOp::create(b, tileIndex, kernel.index(tile.along));
  share.result = arith::AddIOp::create(b, first, team.resultInTile());
  if (numResults % tile.along != 0)
    share.isMine = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, share.result,
                                         kernel.index(numResults));
  share.begin = team.threadOfResult();
  share.end = kernel.index(numTerms);
  if (split) {
    int64_t termsPerSplit = llvm::divideCeil(numTerms, tile.splits);
    Value first = arith::MulIOp::create(b, split, kernel.index(termsPerSplit));
    Value past = arith::AddIOp::create(b, first, kernel.index(termsPerSplit));
    share.begin = arith::AddIOp::create(b, first, share.begin);
    share.end = arith::MinUIOp::create(b, share.end, past);
  }
  if (share.isMine)
    share.end = arith::SelectOp::create(b, share.isMine, share.end, kernel.index(0));
  return share;
}

ThreadNestEmitter::Values
ThreadNestEmitter::reduce(TeamReduction &team, const ReductionTile &tile, const Share &share,
                          unsigned lanes, llvm::function_ref<Values(Value term)> terms) {
  Values carried;
  for (const Combiner &combiner : combiners) {
    TypedAttr identity = combiner.identity();
    if (lanes > 1) {
      auto type = VectorType::get({lanes}, identity.getType());
      identity = DenseElementsAttr::get(type, Attribute(identity));
    }
    carried.push_back(arith::ConstantOp::create(b, identity));
  }
  auto forOp =
      scf::ForOp::create(b, share.begin, share.end, kernel.index(tile.across), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forOp.getBody());
    Values next = terms(forOp.getInductionVar());
    for (auto [combiner, accumulator, term] :
         llvm::zip(combiners, forOp.getRegionIterArgs(), next))
      term = combiner.emit(b, accumulator, term);
    scf::YieldOp::create(b, next);
  }
  Values totals(forOp.getResults());
  for (auto [combiner, total] : llvm::zip(combiners, totals))
    total = combiner.reduceLanes(b, total);
  return team.join(totals);
}

void ThreadNestEmitter::whenWriting(TeamReduction &team, const Share &share,
                                    llvm::function_ref<void()> write) {
  Value writes = team.isLeader();
  if (share.isMine)
    writes = writes ? arith::AndIOp::create(b, writes, share.isMine).getResult() : share.isMine;
  kernel.when(writes, write);
}

/// Adds `totals` to what is in the outputs at the current result.
void ThreadNestEmitter::storeTotals(ArrayRef<Value> totals) {
  for (auto [output, total] : llvm::enumerate(totals)) {
    const Combiner &combiner = combiners[output];
    Value initial =
        combiner.convert(b, combiner.fromMemory, startOf(output, Value(), 1));
    Value sum = combiner.emit(b, initial, total);
    body.storeOutput(b, output, Value(), 1, combiner.convert(b, combiner.toMemory, sum));
  }
}

void ThreadNestEmitter::emitTile(const ReductionTile &tile, Value tileIndex, Value split,
                                 ArrayRef<Value> partials) {
  TeamReduction team(kernel, tile, combiners);
  Share share = shareOf(team, tile, tileIndex, schedule.numTerms(nest), split);
  takeUnit(schedule.parallel, share.result);
  body.emitOutputAddresses(b, ivs);
  Values totals = reduce(team, tile, share, schedule.lanes, [&](Value term) {
    takeUnit(schedule.reductions, term);
    body.emitUniform(b, ivs);
    body.emitVarying(b, vectorIv(), schedule.lanes, Values(nest.numOutputs()));
    return llvm::map_to_vector(
        combiners, [&](const Combiner &combiner) { return body.result(b, combiner.partial()); });
  });
  whenWriting(team, share, [&] {
    if (!split)
      return storeTotals(totals);
    Value row = arith::MulIOp::create(b, split, kernel.index(schedule.numUnits(nest)));
    Value at = arith::AddIOp::create(b, row, share.result);
    for (auto [total, buffer] : llvm::zip(totals, partials))
      storeValue(b, total, buffer, at);
  });
}

void ThreadNestEmitter::emitTiles(const ReductionTile &tile) {
  int64_t numTiles = llvm::divideCeil(schedule.numUnits(nest), tile.along);
  if (numTiles == 1)
    return emitTile(tile, kernel.index(0));
  auto forOp = scf::ForOp::create(b, kernel.index(0), kernel.index(numTiles), kernel.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  emitTile(tile, forOp.getInductionVar());
}

void ThreadNestEmitter::emitJoin(const ReductionTile &tile, Value tileIndex, int64_t numSplits,
                                 ArrayRef<Value> partials) {
  TeamReduction team(kernel, tile, combiners);
  Share share = shareOf(team, tile, tileIndex, numSplits, Value());
  takeUnit(schedule.parallel, share.result);
  body.emitOutputAddresses(b, ivs);
  Values totals = reduce(team, tile, share, /*lanes=*/1, [&](Value term) {
    Value row = arith::MulIOp::create(b, term, kernel.index(schedule.numUnits(nest)));
    Value at = arith::AddIOp::create(b, row, share.result);
    Values values;
    for (auto [combiner, buffer] : llvm::zip(combiners, partials))
      values.push_back(loadValue(b, combiner.identity().getType(), buffer, at));
    return values;
  });
  whenWriting(team, share, [&] { storeTotals(totals); });
}
