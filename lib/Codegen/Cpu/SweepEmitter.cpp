// SPDX-License-Identifier: Apache-2.0
//
// Vector loops, their remainders, and the ops that share one: see the header.
#include "lib/Codegen/Cpu/SweepEmitter.h"

using namespace mlir;
using namespace hjx;

VectorLoop VectorLoop::of(const LoopNest &nest, const VectorSchedule &schedule) {
  if (schedule.vectorLoop < 0)
    return {};
  return {nest.loops[schedule.vectorLoop].size, schedule.lanes};
}

std::optional<VectorLoop> VectorLoop::onlyOneOf(const LoopNest &nest,
                                                const VectorSchedule &schedule) {
  auto isRow = [&](unsigned loop) { return nest.loops[loop].row >= 0; };
  if (schedule.vectorLoop < 0 || !schedule.reductions.empty() ||
      !llvm::all_of(schedule.outer, isRow))
    return std::nullopt;
  return of(nest, schedule);
}

static Values emitSteps(ImplicitLocOpBuilder &b, Value begin, Value end, unsigned lanes,
                        ValueRange carried, WholeStep step) {
  auto forOp = scf::ForOp::create(b, begin, end, arith::ConstantIndexOp::create(b, lanes), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  Values next = step(forOp.getInductionVar(), forOp.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(b, next);
  return Values(forOp.getResults());
}

/// The first multiple of `lanes` from `from` on, within [begin, end], which are multiples.
static Value firstStepFrom(ImplicitLocOpBuilder &b, Value from, unsigned lanes, Value begin,
                           Value end) {
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value); };
  from = arith::AddIOp::create(b, arith::MaxSIOp::create(b, from, begin), index(lanes - 1));
  from = arith::AndIOp::create(b, from, index(-int64_t(lanes)));
  return arith::MinSIOp::create(b, from, end);
}

Values hjx::emitVectorLoop(ImplicitLocOpBuilder &b, VectorLoop loop,
                           std::optional<VectorRange> range, ValueRange carried, WholeStep whole,
                           RestStep rest, std::optional<VectorTail> tail) {
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value); };
  int64_t size = loop.size, lanes = loop.lanes, numWhole = size / lanes * lanes;
  auto emitRest = [&] {
    for (int64_t at = numWhole, piece = lanes / 2; piece >= 1; piece /= 2)
      if (size - at >= piece) {
        rest(index(at), piece);
        at += piece;
      }
  };
  if (!range && numWhole == lanes) {
    Values next = whole(index(0), carried);
    emitRest();
    return next;
  }
  Value begin = range ? range->begin : index(0);
  Value end = index(numWhole);
  if (range)
    end = arith::MinSIOp::create(b, range->end, end);
  Values next(carried);
  if (tail) {
    Value middle = firstStepFrom(b, tail->from, lanes, begin, end);
    next = emitSteps(b, begin, middle, lanes, next, whole);
    next = emitSteps(b, middle, end, lanes, next, tail->whole);
  } else {
    next = emitSteps(b, begin, end, lanes, next, whole);
  }
  if (range && numWhole != size) {
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, range->end, index(size));
    auto ifOp = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    emitRest();
  } else {
    emitRest();
  }
  return next;
}

void SweepEmitter::add(const LoopNest &nest, const VectorSchedule &schedule, const Values &ivs) {
  assert((members.empty() ||
          VectorLoop::of(nest, schedule) == VectorLoop::of(members[0].nest, members[0].schedule)) &&
         "one walk has one vector loop");
  Member &member = members.emplace_back(
      Member{nest, schedule, ivs, BodyEmitter(nest, schedule.vectorLoop, flatBuffers), {}});
  if (!schedule.vectorIsReduction(nest))
    return;
  for (unsigned output = 0; output < nest.numOutputs(); ++output)
    member.reductions.emplace_back(*Combiner::match(nest.op, output), schedule.lanes);
}

Values SweepEmitter::begin() {
  Values carried, totals;
  for (Member &member : members) {
    member.body.emitOutputAddresses(b, member.ivs);
    for (auto [output, reduction] : llvm::enumerate(member.reductions)) {
      const Combiner &combiner = reduction.combiner();
      llvm::append_range(carried, reduction.start(b));
      totals.push_back(
          combiner.convert(b, combiner.fromMemory, member.body.loadOutput(b, output, Value(), 1)));
    }
  }
  numInLanes = carried.size();
  carried.append(totals);
  return carried;
}

Values SweepEmitter::walk(ValueRange carried, std::optional<VectorRange> range) {
  VectorLoop loop = VectorLoop::of(members[0].nest, members[0].schedule);
  SmallVector<SmallVector<Threshold>> thresholds;
  Value from;
  for (Member &member : members) {
    member.body.emitUniform(b, member.ivs);
    if (loop.size < 2 * loop.lanes)
      continue;
    for (const Threshold &threshold : thresholds.emplace_back(member.body.emitThresholds(b)))
      from = from ? arith::MaxSIOp::create(b, from, threshold.from).getResult() : threshold.from;
  }
  Values totals(carried.drop_front(numInLanes));
  auto whole = [&](Value iv, ValueRange inLanes) { return emitStep(iv, loop.lanes, inLanes); };
  auto rest = [&](Value iv, unsigned lanes) { emitRest(iv, lanes, totals); };
  auto beyond = [&](Value iv, ValueRange inLanes) {
    for (auto [member, known] : llvm::zip(members, thresholds))
      member.body.assumeBeyond(known);
    Values next = emitStep(iv, loop.lanes, inLanes);
    for (Member &member : members)
      member.body.assumeBeyond({});
    return next;
  };
  std::optional<VectorTail> tail;
  if (from)
    tail = VectorTail{from, beyond};
  Values next = emitVectorLoop(b, loop, range, carried.take_front(numInLanes), whole, rest, tail);
  next.append(totals);
  return next;
}

void SweepEmitter::end(ValueRange carried) {
  ValueRange inLanes = carried.take_front(numInLanes), totals = carried.drop_front(numInLanes);
  for (Member &member : members)
    for (auto [output, reduction] : llvm::enumerate(member.reductions)) {
      const Combiner &combiner = reduction.combiner();
      Value joined = reduction.join(b, inLanes.take_front(reduction.numCarried()));
      Value total = combiner.emit(b, totals.front(), joined);
      member.body.storeOutput(b, output, Value(), 1, combiner.convert(b, combiner.toMemory, total));
      inLanes = inLanes.drop_front(reduction.numCarried());
      totals = totals.drop_front();
    }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Value SweepEmitter::storedAt(const Access &access) const {
  for (const Stored &store : llvm::reverse(stored))
    if (store.operand == access.operand)
      return store.value;
  return nullptr;
}

void SweepEmitter::emitBody(Member &member, Value iv, unsigned lanes) {
  const LoopNest &nest = member.nest;
  Values inputs, accumulators(nest.numOutputs());
  for (const Access &input : ArrayRef(nest.accesses).take_front(nest.numInputs()))
    inputs.push_back(storedAt(input));
  for (auto [output, access] : llvm::enumerate(nest.outputs())) {
    bool isUsed = !nest.op.getBody()->getArgument(nest.numInputs() + output).use_empty();
    if (!isUsed || !member.reductions.empty())
      continue;
    accumulators[output] = storedAt(access);
    if (!accumulators[output])
      accumulators[output] = member.body.loadOutput(b, output, iv, lanes);
  }
  member.body.emitVarying(b, iv, lanes, accumulators, inputs);
}

void SweepEmitter::emitStores(Member &member, Value iv, unsigned lanes) {
  Operation *yield = member.nest.op.getBody()->getTerminator();
  for (auto [output, result] : llvm::enumerate(yield->getOperands())) {
    Value value = member.body.result(b, result);
    member.body.storeOutput(b, output, iv, lanes, value);
    stored.push_back({member.nest.outputs()[output].operand, value});
  }
}

Values SweepEmitter::emitStep(Value iv, unsigned lanes, ValueRange inLanes) {
  Values next;
  stored.clear();
  for (Member &member : members) {
    emitBody(member, iv, lanes);
    if (member.reductions.empty())
      emitStores(member, iv, lanes);
    for (const LaneReduction &reduction : member.reductions) {
      Value partial = member.body.result(b, reduction.combiner().partial());
      ValueRange mine = inLanes.slice(next.size(), reduction.numCarried());
      llvm::append_range(next, reduction.add(b, mine, partial));
    }
  }
  return next;
}

void SweepEmitter::emitRest(Value iv, unsigned lanes, MutableArrayRef<Value> totals) {
  stored.clear();
  for (Member &member : members) {
    emitBody(member, iv, lanes);
    if (member.reductions.empty())
      emitStores(member, iv, lanes);
    for (const LaneReduction &reduction : member.reductions) {
      const Combiner &combiner = reduction.combiner();
      Value partial = combiner.reduceLanes(b, member.body.result(b, combiner.partial()));
      totals.front() = combiner.emit(b, totals.front(), partial);
      totals = totals.drop_front();
    }
  }
}
