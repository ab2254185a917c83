// SPDX-License-Identifier: Apache-2.0
//
// What the rules of primitives return, checked in one place for whoever calls them.
#include "dialects/hjx/HiTypes.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace hjx::ir {

PrimitiveDef::~PrimitiveDef() = default;

namespace {

using Builder = PrimitiveDef::Builder;
using Rule = PrimitiveDef::Rule;

/// The rule being run, and where its errors stand.
struct Check {
  Location loc;
  StringRef primitive;
  const char *rule;

  Check(Builder &b, const PrimitiveDef &def, const char *rule) : loc(b.getLoc()), primitive(def.name()), rule(rule) {}

  InFlightDiagnostic fault() const { return emitError(loc) << "\"" << primitive << "\": " << rule << ": "; }

  LogicalResult count(StringRef what, size_t expected, size_t got) const {
    if (expected == got)
      return success();
    return fault() << "expected " << expected << " " << what << (expected == 1 ? "" : "s") << ", got " << got << "; compare with infer";
  }
  LogicalResult type(StringRef what, unsigned i, Type expected, Type got) const {
    if (expected == got)
      return success();
    if (!expected)
      return fault() << "expected nothing as " << what << " " << i << ", whose value has no tangent, got " << got
                     << "; return an empty value there";
    InFlightDiagnostic diagnostic = fault() << "expected " << what << " " << i << " of type " << expected << ", got ";
    got ? diagnostic << got << "; convert or reshape what the rule returns" : diagnostic << "nothing; return a value there";
    return diagnostic;
  }
  LogicalResult values(StringRef what, ArrayRef<Value> got, TypeRange types) const {
    if (failed(count(what, types.size(), got.size())))
      return failure();
    for (auto [i, value, expected] : llvm::enumerate(got, types))
      if (failed(type(what, i, expected, value ? value.getType() : Type())))
        return failure();
    return success();
  }
  /// Of values of `types`, null allowed.
  LogicalResult tangents(StringRef what, ArrayRef<Value> got, TypeRange types) const {
    if (failed(count(what, types.size(), got.size())))
      return failure();
    for (auto [i, value, primal] : llvm::enumerate(got, types))
      if (value && failed(type(what, i, tangentOf(primal), value.getType())))
        return failure();
    return success();
  }
  /// What a rule keeps for its other half.
  LogicalResult kept(StringRef what, ArrayRef<Value> got) const {
    if (llvm::is_contained(got, Value()))
      return fault() << "expected " << what << "s with values, got nothing for one of them; leave it out";
    return success();
  }
};

} // namespace

FailureOr<SmallVector<Value>> PrimitiveDef::expand(Builder &b, const PrimitiveCall &call, ValueRange operands) const {
  SmallVector<Value> results;
  if (failed(expandRule(b, call, operands, results)) || failed(Check(b, *this, "expand").values("result", results, call.resultTypes)))
    return failure();
  return results;
}

LogicalResult PrimitiveDef::jvp(Builder &b, const PrimitiveCall &call, ValueRange primals, ArrayRef<Value> tangents, Values &results,
                                Values &resultTangents) const {
  Check check(b, *this, "jvp");
  return failure(failed(jvpRule(b, call, primals, tangents, results, resultTangents)) ||
                 failed(check.values("result", results, call.resultTypes)) ||
                 failed(check.tangents("tangent", resultTangents, call.resultTypes)));
}

LogicalResult PrimitiveDef::linearize(Builder &b, const PrimitiveCall &call, ValueRange primals, ArrayRef<bool> active, Values &results,
                                      Values &residuals) const {
  Check check(b, *this, "linearize");
  return failure(failed(linearizeRule(b, call, primals, active, results, residuals)) ||
                 failed(check.values("result", results, call.resultTypes)) || failed(check.kept("residual", residuals)));
}

LogicalResult PrimitiveDef::linearized(Builder &b, const PrimitiveCall &call, ValueRange residuals, ArrayRef<Value> tangents,
                                       Values &resultTangents) const {
  return failure(failed(linearizedRule(b, call, residuals, tangents, resultTangents)) ||
                 failed(Check(b, *this, "linearized").tangents("tangent", resultTangents, call.resultTypes)));
}

LogicalResult PrimitiveDef::vjpForward(Builder &b, const PrimitiveCall &call, ValueRange primals, ArrayRef<bool> active, Values &results,
                                       Values &residuals) const {
  Check check(b, *this, "vjp_forward");
  return failure(failed(vjpForwardRule(b, call, primals, active, results, residuals)) ||
                 failed(check.values("result", results, call.resultTypes)) || failed(check.kept("residual", residuals)));
}

LogicalResult PrimitiveDef::vjpBackward(Builder &b, const PrimitiveCall &call, ValueRange residuals, ArrayRef<Value> resultBars,
                                        ArrayRef<BarSink> sinks, Values &operandBars) const {
  Check check(b, *this, "vjp_backward");
  if (failed(vjpBackwardRule(b, call, residuals, resultBars, sinks, operandBars)) ||
      failed(check.count("cotangent", call.operandTypes.size(), operandBars.size())))
    return failure();
  for (auto [bar, sink] : llvm::zip_equal(operandBars, sinks))
    bar = sink.kind == BarSink::None ? Value() : bar;
  return check.tangents("cotangent", operandBars, call.operandTypes);
}

LogicalResult PrimitiveDef::transpose(Builder &b, const PrimitiveCall &call, ArrayRef<Value> operands, ArrayRef<Value> resultBars,
                                      Values &operandBars) const {
  Check check(b, *this, "transpose");
  if (failed(transposeRule(b, call, operands, resultBars, operandBars)) ||
      failed(check.count("cotangent", operands.size(), operandBars.size())))
    return failure();
  for (auto [bar, operand] : llvm::zip_equal(operandBars, operands))
    bar = operand ? Value() : bar;
  return check.tangents("cotangent", operandBars, call.operandTypes);
}

/// Without a spec, null or unit, every element shares the value.
static FailureOr<SmallVector<Type>> mappedTypes(const Check &check, TypeRange types, int64_t size, ArrayRef<Attribute> specs) {
  if (failed(check.count("mapping spec", types.size(), specs.size())))
    return failure();
  SmallVector<Type> mapped;
  for (auto [type, spec] : llvm::zip_equal(types, specs)) {
    bool isMapped = spec && !isa<UnitAttr>(spec);
    auto result = isMapped ? incRank(type, size, spec, [&] { return check.fault(); }) : FailureOr<Type>(type);
    if (failed(result))
      return failure();
    mapped.push_back(*result);
  }
  return mapped;
}

LogicalResult PrimitiveDef::batch(Builder &b, const PrimitiveCall &call, int64_t size, ValueRange operands, ArrayRef<Attribute> specs,
                                  Values &results, SmallVectorImpl<Attribute> &resultSpecs) const {
  Check check(b, *this, "batch");
  if (failed(batchRule(b, call, size, operands, specs, results, resultSpecs)))
    return failure();
  auto types = mappedTypes(check, call.resultTypes, size, resultSpecs);
  return failed(types) ? failure() : check.values("result", results, *types);
}

LogicalResult PrimitiveDef::batchAxes(Builder &b, const PrimitiveCall &call, int64_t size, ArrayRef<Attribute> specs,
                                      SmallVectorImpl<Attribute> &resultSpecs) const {
  if (failed(batchAxesRule(b, call, size, specs, resultSpecs)))
    return failure();
  return failure(failed(mappedTypes(Check(b, *this, "batch_axes"), call.resultTypes, size, resultSpecs)));
}

LogicalResult PrimitiveDef::dce(Builder &b, const PrimitiveCall &call, ValueRange operands, ArrayRef<bool> used, Values &results) const {
  Check check(b, *this, "dce");
  if (failed(dceRule(b, call, operands, used, results)) || failed(check.count("result", call.resultTypes.size(), results.size())))
    return failure();
  if (llvm::none_of(results, [](Value result) { return bool(result); }))
    return success();
  for (auto [i, result, isUsed, type] : llvm::enumerate(results, used, call.resultTypes))
    if ((result || isUsed) && failed(check.type("result", i, type, result ? result.getType() : Type())))
      return failure();
  return success();
}

LogicalResult PrimitiveDef::remat(Builder &b, const PrimitiveCall &call, ValueRange operands, Values &results, Values &saved) const {
  Check check(b, *this, "remat");
  return failure(failed(rematRule(b, call, operands, results, saved)) ||
                 failed(check.values("result", results, call.resultTypes)) || failed(check.kept("saved value", saved)));
}

LogicalResult PrimitiveDef::recompute(Builder &b, const PrimitiveCall &call, ValueRange saved, Values &results) const {
  return failure(failed(recomputeRule(b, call, saved, results)) ||
                 failed(Check(b, *this, "recompute").values("result", results, call.resultTypes)));
}

//===----------------------------------------------------------------------===//
// Rules that an author left out: whoever asks has looked at `has` before.
//===----------------------------------------------------------------------===//

LogicalResult PrimitiveDef::jvpRule(Builder &, const PrimitiveCall &, ValueRange, ArrayRef<Value>, Values &, Values &) const {
  llvm_unreachable("has no jvp rule");
}
LogicalResult PrimitiveDef::linearizeRule(Builder &, const PrimitiveCall &, ValueRange, ArrayRef<bool>, Values &, Values &) const {
  llvm_unreachable("has no linearize rule");
}
LogicalResult PrimitiveDef::linearizedRule(Builder &, const PrimitiveCall &, ValueRange, ArrayRef<Value>, Values &) const {
  llvm_unreachable("has no linearized rule");
}
LogicalResult PrimitiveDef::vjpForwardRule(Builder &, const PrimitiveCall &, ValueRange, ArrayRef<bool>, Values &, Values &) const {
  llvm_unreachable("has no vjp_forward rule");
}
LogicalResult PrimitiveDef::vjpBackwardRule(Builder &, const PrimitiveCall &, ValueRange, ArrayRef<Value>, ArrayRef<BarSink>,
                                            Values &) const {
  llvm_unreachable("has no vjp_backward rule");
}
LogicalResult PrimitiveDef::transposeRule(Builder &, const PrimitiveCall &, ArrayRef<Value>, ArrayRef<Value>, Values &) const {
  llvm_unreachable("has no transpose rule");
}
LogicalResult PrimitiveDef::batchRule(Builder &, const PrimitiveCall &, int64_t, ValueRange, ArrayRef<Attribute>, Values &,
                                      SmallVectorImpl<Attribute> &) const {
  llvm_unreachable("has no batch rule");
}
LogicalResult PrimitiveDef::batchAxesRule(Builder &, const PrimitiveCall &, int64_t, ArrayRef<Attribute>,
                                          SmallVectorImpl<Attribute> &) const {
  llvm_unreachable("has no batch_axes rule");
}
LogicalResult PrimitiveDef::dceRule(Builder &, const PrimitiveCall &, ValueRange, ArrayRef<bool>, Values &) const {
  llvm_unreachable("has no dce rule");
}
LogicalResult PrimitiveDef::rematRule(Builder &, const PrimitiveCall &, ValueRange, Values &, Values &) const {
  llvm_unreachable("has no remat rule");
}
LogicalResult PrimitiveDef::recomputeRule(Builder &, const PrimitiveCall &, ValueRange, Values &) const {
  llvm_unreachable("has no recompute rule");
}

} // namespace hjx::ir
