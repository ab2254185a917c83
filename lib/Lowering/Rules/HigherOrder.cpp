// SPDX-License-Identifier: Apache-2.0
//
// Control flow. Regions of hjx name every value they use; those of scf see what is
// outside, so constants and inputs are simply used there.
//
//   hjx.scan consts(%w) inits(%h) xs(%x) length = 3     scf.for %i = 0 to 3 iter_args(%h, %ys =
//   tensor.empty)
//     ^(%w, %h, %xi): yield %h2, %y                       extract_slice %x[%i, ..]; ..;
//     insert_slice %y into %ys[%i, ..]
#include "lib/Lowering/Nest.h"
#include "lib/Lowering/Scalars.h"

using namespace mlir;
using namespace hjx;

namespace {

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// Slice `i` of a stack, as offsets, sizes and strides.
struct StackSlice {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  StackSlice(LocBuilder &b, RankedTensorType slice, Value i) {
    offsets.push_back(i);
    sizes.push_back(b.getIndexAttr(1));
    for (int64_t size : slice.getShape()) {
      offsets.push_back(b.getIndexAttr(0));
      sizes.push_back(b.getIndexAttr(size));
    }
    strides.assign(sizes.size(), b.getIndexAttr(1));
  }
};

LogicalResult lowerScan(ir::ScanOp op, Lowering &l) {
  LocBuilder &b = l.b;
  SmallVector<Value> inits = l[op.getInits()], xs = l[op.getXs()];
  for (Value ys : op.getYsResults())
    inits.push_back(emitEmpty(b, lowerArrayType(ys.getType())));
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value length = arith::ConstantIndexOp::create(b, op.getLength());
  auto loop = scf::ForOp::create(b, zero, length, one, inits);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value i = loop.getInductionVar();
    if (op.getReverse())
      i = arith::SubIOp::create(b, arith::SubIOp::create(b, length, one).getResult(), i);
    ValueRange carried = loop.getRegionIterArgs();
    SmallVector<Value> arguments = l[op.getConsts()];
    llvm::append_range(arguments, carried.take_front(op.getNumCarries()));
    for (Value stack : xs) {
      auto type = cast<RankedTensorType>(stack.getType());
      RankedTensorType slice = ir::dropAxis(type, 0);
      StackSlice at(b, slice, i);
      arguments.push_back(
          tensor::ExtractSliceOp::create(b, slice, stack, at.offsets, at.sizes, at.strides));
    }
    FailureOr<SmallVector<Value>> yielded = l.emitBlock(*op.getBlock(), arguments);
    if (failed(yielded))
      return failure();
    for (unsigned y = op.getNumCarries(); y < yielded->size(); ++y) {
      StackSlice at(b, cast<RankedTensorType>((*yielded)[y].getType()), i);
      (*yielded)[y] = tensor::InsertSliceOp::create(b, (*yielded)[y], carried[y], at.offsets,
                                                    at.sizes, at.strides);
    }
    if (!yielded->empty()) // Without carried values the loop has its terminator already.
      scf::YieldOp::create(b, *yielded);
  }
  for (auto [result, value] : llvm::zip_equal(op.getResults(), loop.getResults()))
    l.set(result, value);
  return success();
}

//===----------------------------------------------------------------------===//
// While
//===----------------------------------------------------------------------===//

/// With `max_trip`, a count of iterations is carried in front.
LogicalResult lowerWhile(ir::WhileOp op, Lowering &l) {
  LocBuilder &b = l.b;
  bool counts = op.getMaxTrip().has_value();
  SmallVector<Value> inits = l[op.getInits()];
  if (counts)
    inits.insert(inits.begin(), arith::ConstantIndexOp::create(b, 0));
  SmallVector<Type> types(ValueRange(inits).getTypes());
  SmallVector<Location> locs(inits.size(), b.getLoc());
  auto loop = scf::WhileOp::create(b, types, inits);
  OpBuilder::InsertionGuard guard(b);
  {
    Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
    ValueRange carried = before->getArguments();
    SmallVector<Value> arguments = l[op.getCondConsts()];
    llvm::append_range(arguments, carried.drop_front(counts));
    FailureOr<SmallVector<Value>> predicate = l.emitBlock(op.getCond().front(), arguments);
    if (failed(predicate))
      return failure();
    Value goesOn = tensor::ExtractOp::create(b, predicate->front());
    if (counts) {
      Value limit = arith::ConstantIndexOp::create(b, *op.getMaxTrip());
      goesOn = arith::AndIOp::create(
          b, goesOn,
          arith::CmpIOp::create(b, arith::CmpIPredicate::slt, carried[0], limit).getResult());
    }
    scf::ConditionOp::create(b, goesOn, carried);
  }
  {
    Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
    ValueRange carried = after->getArguments();
    SmallVector<Value> arguments = l[op.getBodyConsts()];
    llvm::append_range(arguments, carried.drop_front(counts));
    FailureOr<SmallVector<Value>> next = l.emitBlock(op.getBody().front(), arguments);
    if (failed(next))
      return failure();
    if (counts) {
      Value one = arith::ConstantIndexOp::create(b, 1);
      next->insert(next->begin(), arith::AddIOp::create(b, carried[0], one).getResult());
    }
    scf::YieldOp::create(b, *next);
  }
  for (auto [result, value] :
       llvm::zip_equal(op.getResults(), loop.getResults().drop_front(counts)))
    l.set(result, value);
  return success();
}

//===----------------------------------------------------------------------===//
// Cond
//===----------------------------------------------------------------------===//

/// Emits branch `branch` at the insertion point, yield included.
LogicalResult emitBranch(ir::CondOp op, Lowering &l, unsigned branch) {
  FailureOr<SmallVector<Value>> yielded =
      l.emitBlock(op.getBranches()[branch].front(), l[op.getInputs()]);
  if (succeeded(yielded))
    scf::YieldOp::create(l.b, *yielded);
  return yielded;
}

/// Two branches become scf.if, more become a switch on the clamped index.
LogicalResult lowerCond(ir::CondOp op, Lowering &l) {
  LocBuilder &b = l.b;
  unsigned numBranches = op.getBranches().size();
  if (numBranches == 1) {
    FailureOr<SmallVector<Value>> yielded =
        l.emitBlock(op.getBranches()[0].front(), l[op.getInputs()]);
    if (failed(yielded))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op.getResults(), *yielded))
      l.set(result, value);
    return success();
  }
  SmallVector<Type> types = llvm::map_to_vector(op.getResultTypes(), lowerType);
  Value index = tensor::ExtractOp::create(b, l[op.getIndex()]);
  OpBuilder::InsertionGuard guard(b);
  Operation *choice;
  if (numBranches == 2) {
    Value second = index.getType().isInteger(1)
                       ? index
                       : arith::CmpIOp::create(b, arith::CmpIPredicate::sge, index,
                                               emitNumber(b, index.getType(), 1))
                             .getResult();
    auto branches = scf::IfOp::create(b, types, second, /*withElseRegion=*/true);
    choice = branches;
    for (unsigned branch : {1, 0}) {
      Region &region = branch ? branches.getThenRegion() : branches.getElseRegion();
      region.front().clear();
      b.setInsertionPointToStart(&region.front());
      if (failed(emitBranch(op, l, branch)))
        return failure();
    }
  } else {
    Value clamped =
        emitClampedIndex(b, index, op.getIndex().getType().getElementType(), numBranches - 1);
    // The last branch is the default.
    SmallVector<int64_t> cases = llvm::to_vector(llvm::seq<int64_t>(0, numBranches - 1));
    auto branches = scf::IndexSwitchOp::create(b, types, clamped, cases, cases.size());
    choice = branches;
    for (unsigned branch = 0; branch < numBranches; ++branch) {
      Region &region = branch + 1 < numBranches ? branches.getCaseRegions()[branch]
                                                : branches.getDefaultRegion();
      b.createBlock(&region);
      if (failed(emitBranch(op, l, branch)))
        return failure();
    }
  }
  for (auto [result, value] : llvm::zip_equal(op.getResults(), choice->getResults()))
    l.set(result, value);
  return success();
}

/// Stays, until there are buffers: else the clean-up of the tensor stage would merge what it holds
/// apart.
LogicalResult lowerOptBarrier(ir::OptBarrierOp op, Lowering &l) {
  auto barrier = ir::OptBarrierOp::create(l.b, l[op.getOperands()]);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), barrier.getResults()))
    l.set(result, value);
  return success();
}

} // namespace

void hjx::registerHigherOrderLowering(LoweringRules &rules) {
  rules.add<ir::ScanOp>(lowerScan);
  rules.add<ir::WhileOp>(lowerWhile);
  rules.add<ir::CondOp>(lowerCond);
  rules.add<ir::OptBarrierOp>(lowerOptBarrier);
}
