// SPDX-License-Identifier: Apache-2.0
#include "lib/Frontend/Request.h"

#include "lib/Frontend/Run.h"

using namespace mlir;

namespace hjx::detail {

ArrayList stage(const char *op, Where where, const ArrayList &args, FlatFunction body) {
  if (Frame::current())
    return body(args);
  Call call(op, where);
  Session session(Constants::Lift);
  std::vector<Aval> results = session.recordMain(args, body, call);
  return compileAndRun(session, args, results, call);
}

Array compositeFlat(const char *name, Where where, FlatFunction body) {
  OpScope op(name, where);
  return op.finish(body({}).front());
}

std::vector<Aval> avalsOf(const ArrayList &arrays, const Call &call) {
  std::vector<Aval> avals;
  for (const Array &array : arrays)
    avals.push_back(avalOf(array, call.name(), call.where()));
  return avals;
}

SmallVector<Value> valuesOf(OpScope &op, const ArrayList &arrays) {
  return llvm::map_to_vector(arrays, [&](const Array &array) { return op.use(array).value; });
}

std::vector<bool> areFloats(ArrayRef<Aval> avals) {
  std::vector<bool> mask;
  for (const Aval &aval : avals)
    mask.push_back(is_floating(aval.dtype));
  return mask;
}

ArrayList wrapAll(OpScope &op, ValueRange values, ArrayRef<Aval> avals) {
  ArrayList arrays;
  for (auto [value, aval] : llvm::zip_equal(values, avals))
    arrays.push_back(op.wrap({value, aval.isWeak}));
  return arrays;
}

SmallVector<Value> operandsOf(OpScope &op, const ArrayList &args, const TracedFunction &traced) {
  SmallVector<Value> values = valuesOf(op, args);
  llvm::append_range(values, traced.captures);
  return values;
}

DenseBoolArrayAttr activeAttr(OpScope &op, const std::vector<bool> &mask, size_t numOperands) {
  SmallVector<bool> active(mask.begin(), mask.end());
  active.resize(numOperands, false);
  return op.builder().getDenseBoolArrayAttr(active);
}

FlatSymbolRefAttr symbolOf(func::FuncOp function) { return FlatSymbolRefAttr::get(function.getSymNameAttr()); }

} // namespace hjx::detail
