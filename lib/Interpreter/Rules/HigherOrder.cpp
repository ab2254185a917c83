// SPDX-License-Identifier: Apache-2.0
//
// Control flow and calls: a loop is a loop.
#include "lib/Interpreter/Evaluate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace hjx {

using Arrays = SmallVector<HostArray>;
using Data = SmallVector<Datum>;

static Data concat(ArrayRef<Datum> a, ArrayRef<Datum> b) {
  Data all(a);
  llvm::append_range(all, b);
  return all;
}

static LogicalResult evaluateCall(Evaluation &e) {
  auto call = cast<func::CallOp>(e.op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || !callee.getBody().hasOneBlock())
    return call.emitOpError("expected @") << call.getCallee() << " to have a body of one block";
  FailureOr<Arrays> results = e.run(callee.getBody(), e.pass(0, e.data.size()));
  if (failed(results))
    return failure();
  e.results = std::move(*results);
  return success();
}

/// Slice `i` of the leading dimension.
static HostArray leadingSlice(const HostArray &stack, int64_t i) {
  HostArray slice(ir::dropAxis(stack.type(), 0));
  size_t size = slice.bytes().size();
  llvm::copy(stack.bytes().slice(i * size, size), slice.bytes().begin());
  return slice;
}
static void setLeadingSlice(HostArray &stack, int64_t i, const HostArray &slice) {
  llvm::copy(slice.bytes(), stack.bytes().begin() + i * slice.bytes().size());
}
/// The same of a ref, in the same memory.
static Datum leadingSlice(const Datum &stack, int64_t i) {
  if (const auto *array = std::get_if<HostArray>(&stack))
    return leadingSlice(*array, i);
  Cell slice = std::get<Cell>(stack);
  slice.type = ir::dropAxis(slice.type, 0);
  slice.first += i * slice.type.getNumElements();
  return slice;
}

static LogicalResult evaluateScan(Evaluation &e) {
  auto scan = cast<ir::ScanOp>(e.op);
  unsigned numConsts = scan.getNumConsts(), numCarries = scan.getNumCarries();
  Data consts = e.pass(0, numConsts), carries = e.pass(numConsts, numCarries);
  int64_t length = scan.getLength();
  for (int64_t step = 0; step < length; ++step) {
    int64_t i = scan.getReverse() ? length - 1 - step : step;
    Data arguments = concat(consts, carries);
    for (unsigned x = 0; x < scan.getNumXs(); ++x)
      arguments.push_back(leadingSlice(*e.data[numConsts + numCarries + x], i));
    FailureOr<Arrays> yielded = e.run(scan.getBody(), arguments);
    if (failed(yielded))
      return failure();
    for (unsigned y = 0; y < scan.getNumYs(); ++y)
      setLeadingSlice(e.results[numCarries + y], i, (*yielded)[numCarries + y]);
    carries.assign(yielded->begin(), yielded->begin() + numCarries);
  }
  for (auto [result, carry] : llvm::zip(e.results, carries))
    result = std::get<HostArray>(carry);
  return success();
}

static LogicalResult evaluateWhile(Evaluation &e) {
  auto loop = cast<ir::WhileOp>(e.op);
  unsigned numCondConsts = loop.getCondConsts().size(), numBodyConsts = loop.getBodyConsts().size();
  Data condConsts = e.pass(0, numCondConsts), bodyConsts = e.pass(numCondConsts, numBodyConsts);
  Data carries = e.pass(numCondConsts + numBodyConsts, loop.getInits().size());
  for (uint64_t trip = 0; !loop.getMaxTrip() || trip < *loop.getMaxTrip(); ++trip) {
    FailureOr<Arrays> predicate = e.run(loop.getCond(), concat(condConsts, carries));
    if (failed(predicate))
      return failure();
    if (predicate->front().getInteger(0).isZero())
      break;
    FailureOr<Arrays> next = e.run(loop.getBody(), concat(bodyConsts, carries));
    if (failed(next))
      return failure();
    carries.assign(next->begin(), next->end());
  }
  for (auto [result, carry] : llvm::zip_equal(e.results, carries))
    result = std::get<HostArray>(carry);
  return success();
}

static LogicalResult evaluateCond(Evaluation &e) {
  auto cond = cast<ir::CondOp>(e.op);
  int64_t last = cond.getBranches().size() - 1;
  Region &branch = cond.getBranches()[std::clamp<int64_t>(e.operand(0).getIndex(0), 0, last)];
  FailureOr<Arrays> results = e.run(branch, e.pass(1, e.data.size() - 1));
  if (failed(results))
    return failure();
  e.results = std::move(*results);
  return success();
}

static LogicalResult evaluateOptBarrier(Evaluation &e) {
  for (auto [result, operand] : llvm::zip_equal(e.results, e.operands))
    result = *operand;
  return success();
}

void populateHigherOrderEvaluateRules(EvaluateRules &rules) {
  rules.add<func::CallOp>(evaluateCall);
  rules.add<ir::ScanOp>(evaluateScan);
  rules.add<ir::WhileOp>(evaluateWhile);
  rules.add<ir::CondOp>(evaluateCond);
  rules.add<ir::OptBarrierOp>(evaluateOptBarrier);
}

} // namespace hjx
