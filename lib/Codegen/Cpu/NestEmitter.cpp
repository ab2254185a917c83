// SPDX-License-Identifier: Apache-2.0
//
// Loops around the vector loop: see the header.
#include "lib/Codegen/Cpu/NestEmitter.h"

using namespace mlir;
using namespace hjx;

NestEmitter::NestEmitter(ImplicitLocOpBuilder &b, const LoopNest &nest,
                         const VectorSchedule &schedule, const IRMapping &flatBuffers)
    : b(b), nest(nest), schedule(schedule), flatBuffers(flatBuffers) {}

void NestEmitter::emit(ArrayRef<Value> rowIvs, std::optional<VectorRange> vectorRange) {
  if (nest.isEmpty())
    return;
  range = vectorRange;
  ivs = nest.ivsOfRows(rowIvs);
  emitOuter(0);
}

void NestEmitter::emitOuter(unsigned depth) {
  if (depth == schedule.outer.size()) {
    if (schedule.reductions.empty() || schedule.vectorIsReduction(nest))
      emitSweep();
    else
      emitColumnSums();
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

/// Nests the reduction loops around `body`, which maps carried values to their next ones.
Values NestEmitter::emitReductionLoops(unsigned depth, ValueRange carried,
                                       llvm::function_ref<Values(ValueRange)> loopBody) {
  if (depth == schedule.reductions.size())
    return loopBody(carried);
  unsigned loop = schedule.reductions[depth];
  auto forOp = scf::ForOp::create(b, index(0), index(nest.loops[loop].size), index(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  ivs[loop] = forOp.getInductionVar();
  Values next = emitReductionLoops(depth + 1, forOp.getRegionIterArgs(), loopBody);
  scf::YieldOp::create(b, next);
  ivs[loop] = Value();
  return Values(forOp.getResults());
}

void NestEmitter::emitSweep() {
  SweepEmitter sweep(b, flatBuffers);
  sweep.add(nest, schedule, ivs);
  Values carried = sweep.begin();
  carried = emitReductionLoops(
      0, carried, [&](ValueRange outerCarried) { return sweep.walk(outerCarried, range); });
  sweep.end(carried);
}

/// The vector loop is parallel, or there is none: what it reduces into stays in registers.
void NestEmitter::emitColumnSums() {
  BodyEmitter body(nest, schedule.vectorLoop, flatBuffers);
  body.emitOutputAddresses(b, ivs);
  auto step = [&](Value iv, unsigned lanes) {
    Values accumulators;
    for (unsigned output = 0; output < nest.numOutputs(); ++output)
      accumulators.push_back(body.loadOutput(b, output, iv, lanes));
    Values sums = emitReductionLoops(0, accumulators, [&](ValueRange carried) {
      body.emitUniform(b, ivs);
      body.emitVarying(b, iv, lanes, Values(carried));
      return llvm::map_to_vector<6>(nest.op.getBody()->getTerminator()->getOperands(),
                                    [&](Value value) { return body.result(b, value); });
    });
    for (auto [output, sum] : llvm::enumerate(sums))
      body.storeOutput(b, output, iv, lanes, sum);
  };
  emitVectorLoop(
      b, VectorLoop::of(nest, schedule), range, {},
      [&](Value iv, ValueRange) {
        step(iv, schedule.lanes);
        return Values();
      },
      step);
}
