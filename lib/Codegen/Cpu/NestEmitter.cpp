// SPDX-License-Identifier: Apache-2.0
//
// Loop order, vector loop and remainders: see the header.
#include "lib/Codegen/Cpu/NestEmitter.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace hjx;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

NestEmitter::NestEmitter(ImplicitLocOpBuilder &b, const LoopNest &nest, const VectorSchedule &schedule,
                         const IRMapping &flatBuffers)
    : b(b), nest(nest), schedule(schedule), body(nest, schedule.vectorLoop, flatBuffers) {}

void NestEmitter::emit(ArrayRef<Value> rowIvs, std::optional<VectorRange> vectorRange) {
  if (nest.isEmpty())
    return;
  range = vectorRange;
  ivs.assign(nest.loops.size(), Value());
  for (auto [loop, info] : llvm::enumerate(nest.loops))
    if (info.row >= 0)
      ivs[loop] = rowIvs[info.row];
  emitOuter(0);
}

void NestEmitter::emitOuter(unsigned depth) {
  if (depth == schedule.outer.size()) {
    if (schedule.vectorIsReduction(nest))
      emitVectorReduction();
    else
      emitElementwise();
    return;
  }
  unsigned loop = schedule.outer[depth];
  if (ivs[loop])
    return emitOuter(depth + 1);
  auto forOp = scf::ForOp::create(b, index(0), index(nest.loops[loop].size), index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  ivs[loop] = forOp.getInductionVar();
  emitOuter(depth + 1);
  ivs[loop] = Value();
}

/// Calls `step` for whole vectors, in a loop, and for the remainder in shrinking powers of two.
void NestEmitter::forEachStep(Step step) {
  if (schedule.vectorLoop < 0)
    return step(Value(), 1);
  int64_t size = nest.loops[schedule.vectorLoop].size, lanes = schedule.lanes;
  int64_t whole = size / lanes * lanes;
  auto remainder = [&] {
    for (int64_t at = whole, piece = lanes / 2; piece >= 1; piece /= 2)
      if (size - at >= piece) {
        step(index(at), piece);
        at += piece;
      }
  };
  if (!range && whole == lanes) {
    step(index(0), lanes);
    return remainder();
  }
  Value begin = range ? range->begin : index(0);
  Value end = index(whole);
  if (range)
    end = arith::MinSIOp::create(b, range->end, end);
  auto forOp = scf::ForOp::create(b, begin, end, index(lanes));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forOp.getBody());
    step(forOp.getInductionVar(), lanes);
  }
  if (whole == size)
    return;
  if (!range)
    return remainder();
  Value isLast =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, range->end, index(size));
  auto ifOp = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  remainder();
}

/// Nests the reduction loops around `body`, which maps carried values to their next ones.
NestEmitter::Values
NestEmitter::emitReductionLoops(unsigned depth, ValueRange carried,
                                llvm::function_ref<Values(ValueRange)> loopBody) {
  if (depth == schedule.reductions.size())
    return loopBody(carried);
  unsigned loop = schedule.reductions[depth];
  auto forOp =
      scf::ForOp::create(b, index(0), index(nest.loops[loop].size), index(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  ivs[loop] = forOp.getInductionVar();
  Values next = emitReductionLoops(depth + 1, forOp.getRegionIterArgs(), loopBody);
  scf::YieldOp::create(b, next);
  ivs[loop] = Value();
  return Values(forOp.getResults());
}

NestEmitter::Values NestEmitter::results() {
  return llvm::map_to_vector(nest.op.getBody()->getTerminator()->getOperands(),
                             [&](Value value) { return body.result(b, value); });
}

/// The vector loop is parallel, or there is none.
void NestEmitter::emitElementwise() {
  body.emitOutputAddresses(b, ivs);
  bool reduces = !schedule.reductions.empty();
  if (!reduces)
    body.emitUniform(b, ivs);
  forEachStep([&](Value iv, unsigned lanes) {
    Values accumulators(nest.numOutputs());
    for (unsigned output = 0; output < nest.numOutputs(); ++output) {
      Value argument = nest.op.getBody()->getArgument(nest.numInputs() + output);
      if (reduces || !argument.use_empty())
        accumulators[output] = body.loadOutput(b, output, iv, lanes);
    }
    Values values;
    if (reduces) {
      values = emitReductionLoops(0, accumulators, [&](ValueRange carried) {
        body.emitUniform(b, ivs);
        body.emitVarying(b, iv, lanes, Values(carried));
        return results();
      });
    } else {
      body.emitVarying(b, iv, lanes, accumulators);
      values = results();
    }
    for (auto [output, value] : llvm::enumerate(values))
      body.storeOutput(b, output, iv, lanes, value);
  });
}

/// The vector loop is a reduction: lanes hold partial results.
void NestEmitter::emitVectorReduction() {
  unsigned numOutputs = nest.numOutputs();
  SmallVector<Combiner> combiners;
  Values carried; // Per output its partial results in lanes; then per output what is joined already.
  body.emitOutputAddresses(b, ivs);
  for (unsigned output = 0; output < numOutputs; ++output) {
    combiners.push_back(*Combiner::match(nest.op, output));
    TypedAttr identity = combiners.back().identity();
    auto type = VectorType::get({static_cast<int64_t>(schedule.lanes)}, identity.getType());
    carried.push_back(
        arith::ConstantOp::create(b, DenseElementsAttr::get(type, Attribute(identity))));
  }
  for (unsigned output = 0; output < numOutputs; ++output) {
    Value initial = body.loadOutput(b, output, Value(), 1);
    carried.push_back(combiners[output].convert(b, combiners[output].fromMemory, initial));
  }

  carried = emitReductionLoops(0, carried, [&](ValueRange outerCarried) {
    Values values(outerCarried);
    body.emitUniform(b, ivs);
    int64_t size = nest.loops[schedule.vectorLoop].size, lanes = schedule.lanes;
    auto lanesBody = [&](Value iv, ValueRange accumulators) {
      Values none(numOutputs), next;
      body.emitVarying(b, iv, lanes, none);
      for (auto [combiner, accumulator] : llvm::zip(combiners, accumulators))
        next.push_back(combiner.emit(b, accumulator, body.result(b, combiner.partial())));
      return next;
    };
    ValueRange lanesCarried = ValueRange(values).take_front(numOutputs);
    int64_t whole = size / lanes * lanes;
    Values joined;
    if (whole == lanes) {
      joined = lanesBody(index(0), lanesCarried);
    } else {
      auto forOp = scf::ForOp::create(b, index(0), index(whole), index(lanes), lanesCarried);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(forOp.getBody());
      Values next = lanesBody(forOp.getInductionVar(), forOp.getRegionIterArgs());
      scf::YieldOp::create(b, next);
      joined = Values(forOp.getResults());
    }
    llvm::copy(joined, values.begin());
    for (int64_t at = whole, piece = lanes / 2; piece >= 1; piece /= 2) {
      if (size - at < piece)
        continue;
      body.emitVarying(b, index(at), piece, Values(numOutputs));
      for (unsigned output = 0; output < numOutputs; ++output) {
        const Combiner &combiner = combiners[output];
        Value partial = combiner.reduceLanes(b, body.result(b, combiner.partial()));
        Value &total = values[numOutputs + output];
        total = combiner.emit(b, total, partial);
      }
      at += piece;
    }
    return values;
  });

  for (unsigned output = 0; output < numOutputs; ++output) {
    const Combiner &combiner = combiners[output];
    Value total =
        combiner.emit(b, carried[numOutputs + output], combiner.reduceLanes(b, carried[output]));
    body.storeOutput(b, output, Value(), 1, combiner.convert(b, combiner.toMemory, total));
  }
}
