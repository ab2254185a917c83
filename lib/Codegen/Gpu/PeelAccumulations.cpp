// SPDX-License-Identifier: Apache-2.0
//
// The first round of a loop that adds to zeros stands before it: see Passes.td.
//
//   %zeros = fill(0)                                  %g0 = gradient(0)
//   %sum = scf.for %i = 0 to 3 iter(%s = %zeros) {    %first = %zeros + %g0
//     %g = gradient(%i)                               %sum = scf.for %i = 1 to 3 iter(%s = %first) {
//     yield %s + %g                            ->       %g = gradient(%i)
//   }                                                   yield %s + %g
//                                                     }
#include "lib/Codegen/Gpu/Accumulations.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Support/SizeBytes.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_PEELACCUMULATIONS
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

/// Sums smaller than this, all together, are not worth a second copy of the body.
constexpr int64_t kMinBytes = 1024 * 1024;

/// Bytes of the zeros that `loop` begins with and only adds to.
int64_t numZeroBytes(scf::ForOp loop) {
  int64_t bytes = 0;
  for (auto [init, argument] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    auto user = argument.hasOneUse() ? dyn_cast<linalg::GenericOp>(*argument.user_begin()) : nullptr;
    if (type && user && onlyAddsTo(user, argument.use_begin()->getOperandNumber()) && isFilledWithZero(init))
      bytes += sizeBytes(type);
  }
  return bytes;
}

void peel(scf::ForOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), loop.getLowerBound());
  mapping.map(loop.getRegionIterArgs(), loop.getInitArgs());
  for (Operation &op : loop.getBody()->without_terminator())
    b.clone(op, mapping);
  for (auto [init, yielded] : llvm::zip(loop.getInitArgsMutable(), loop.getYieldedValues()))
    init.set(mapping.lookupOrDefault(yielded));
  loop.setLowerBound(b.createOrFold<arith::AddIOp>(loop.getLowerBound(), loop.getStep()));
  IRRewriter rewriter(loop);
  (void)loop.promoteIfSingleIteration(rewriter); // Else rounds are left.
}

struct PeelAccumulations : impl::PeelAccumulationsBase<PeelAccumulations> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      std::optional<APInt> count = loop.getStaticTripCount();
      if (count && count->ugt(0) && numZeroBytes(loop) >= kMinBytes)
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      peel(loop);
  }
};

} // namespace
} // namespace hjx
