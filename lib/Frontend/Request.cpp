// SPDX-License-Identifier: Apache-2.0
#include "lib/Frontend/Request.h"

#include "lib/Frontend/Run.h"

using namespace mlir;

namespace hjx::detail {

static std::string nameOf(const std::vector<std::string> &paths, size_t number) {
  return number < paths.size() ? paths[number] : "argument " + std::to_string(number);
}

static bool isRef(const Array &leaf) { return leaf.has_value() && Access::get(leaf)->isRef; }

void checkDistinctRefs(const Call &call, const ArrayList &args, const std::vector<std::string> &paths) {
  llvm::SmallDenseMap<const void *, size_t> seen;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!isRef(args[i]))
      continue;
    const ArrayImpl *impl = Access::get(args[i]).get();
    auto [known, isNew] = seen.try_emplace(impl->value ? impl->value : impl, i);
    if (!isNew)
      call.fail("expected each ref to be passed once, got the ref " + describe(args[i]) + " as both " +
                    nameOf(paths, known->second) + " and " + nameOf(paths, i),
                "pass it once, or make a copy: hjx::new_ref(ref.get())");
  }
}

[[noreturn]] static void failCaptured(const Call &call, const std::string &type, const std::string &path) {
  call.fail("expected each ref to have one name in a function, got the ref " + type + " both captured and passed as " + path,
            "use the argument inside the function, or do not pass it");
}

void checkCapturedRefs(OpScope &op, ArrayRef<Value> args, ArrayRef<Value> captures, const std::vector<std::string> &paths) {
  for (auto [i, arg] : llvm::enumerate(args))
    if (isa<ir::RefType>(arg.getType()) && llvm::is_contained(captures, arg))
      failCaptured(op, describe(avalOf(arg.getType())), nameOf(paths, i));
}

void checkCapturedRefs(const Call &call, const ArrayList &args, ArrayRef<Array> lifted, const std::vector<std::string> &paths) {
  for (const Array &captured : lifted)
    for (size_t i = 0; isRef(captured) && i < args.size(); ++i)
      if (Access::get(args[i]) == Access::get(captured))
        failCaptured(call, describe(captured), nameOf(paths, i));
}

ArrayList stage(const char *op, Where where, const ArrayList &args, FlatFunction body, const std::vector<std::string> &paths) {
  Call call(op, where);
  checkDistinctRefs(call, args, paths);
  if (Frame::current())
    return body(args);
  Session session(Constants::Lift);
  std::vector<Aval> results = session.recordMain(args, body, call);
  checkCapturedRefs(call, args, session.lifted(), paths);
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
  return llvm::map_to_vector(arrays, [&](const Array &array) { return op.frame().use(array, op); });
}

SmallVector<mlir::Type> typesOf(OpScope &op, ArrayRef<Aval> avals, ArrayRef<Aval> more) {
  SmallVector<mlir::Type> types;
  for (ArrayRef<Aval> list : {avals, more})
    for (const Aval &aval : list)
      types.push_back(typeOf(op, aval));
  return types;
}

//===----------------------------------------------------------------------===//
// Questions that the dialect answers for every type
//===----------------------------------------------------------------------===//

std::optional<Aval> tangentOf(const Aval &aval) {
  if (aval.isArray())
    return aval.isFloatArray() ? std::optional(Aval(aval.dtype, aval.shape)) : std::nullopt;
  mlir::Type tangent = ir::tangentOf(typeOf(aval, &threadContext()));
  return tangent ? std::optional(avalOf(tangent)) : std::nullopt;
}

std::vector<bool> haveTangents(ArrayRef<Aval> avals) {
  std::vector<bool> mask;
  for (const Aval &aval : avals)
    mask.push_back(tangentOf(aval).has_value());
  return mask;
}

std::vector<Aval> tangentsOf(ArrayRef<Aval> avals) {
  std::vector<Aval> tangents;
  for (const Aval &aval : avals)
    if (std::optional<Aval> tangent = tangentOf(aval))
      tangents.push_back(*tangent);
  return tangents;
}

Array zeroOf(OpScope &op, const Aval &tangent) {
  Value zero = ir::makeZero(op.builder(), typeOf(op, tangent));
  op.checkDiagnostics();
  return op.wrap({zero});
}

static Aval changeLeading(OpScope &op, const Aval &aval, int64_t length, decltype(ir::decLeading) &change) {
  auto type = change(typeOf(op, aval), length, [&] { return emitError(op.builder().getLoc()); });
  if (failed(type))
    op.failWithDiagnostics();
  return avalOf(*type, aval.isWeak);
}

Aval dropLeading(OpScope &op, const Aval &aval, int64_t length) { return changeLeading(op, aval, length, ir::decLeading); }
Aval addLeading(OpScope &op, const Aval &aval, int64_t length) { return changeLeading(op, aval, length, ir::incLeading); }

ArrayList wrapAll(OpScope &op, ValueRange values, ArrayRef<Aval> avals) {
  ArrayList arrays;
  for (auto [value, aval] : llvm::zip_equal(values, avals))
    arrays.push_back(op.wrap({value, aval.isWeak}));
  return arrays;
}

SmallVector<Value> operandsOf(OpScope &op, const ArrayList &args, const TracedFunction &traced,
                              const std::vector<std::string> &paths) {
  SmallVector<Value> values = valuesOf(op, args);
  checkCapturedRefs(op, values, traced.captures, paths);
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
