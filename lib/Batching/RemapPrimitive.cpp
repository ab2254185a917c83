// SPDX-License-Identifier: Apache-2.0
#include "lib/Batching/RemapPrimitive.h"

#include "dialects/hjx/ComponentSpecs.h"
#include "lib/Batching/HiValues.h"

using namespace mlir;

namespace hjx {
namespace {

using Values = SmallVector<Value>;

constexpr StringRef kName = "hjx.remap";

/// What a call does: `at`, `back` (its transpose), `behind`, `before` or `select`.
struct Remap {
  StringRef kind;
  Type type;          // Of one element; around loops, of the unmapped whole.
  Attribute from, to; // Null for a shared value.
  int64_t length = 0, size = 0;

  static Remap of(DictionaryAttr params) {
    auto spec = [&](StringRef name) {
      Attribute spec = params.get(name);
      return isa<UnitAttr>(spec) ? Attribute() : spec;
    };
    return {params.getAs<StringAttr>("kind").getValue(), params.getAs<TypeAttr>("type").getValue(), spec("from"), spec("to"),
            params.getAs<IntegerAttr>("length").getInt(), params.getAs<IntegerAttr>("size").getInt()};
  }

  DictionaryAttr params(Builder &b) const {
    auto named = [&](StringRef name, Attribute value) { return b.getNamedAttr(name, value ? value : b.getUnitAttr()); };
    return b.getDictionaryAttr({named("kind", b.getStringAttr(kind)), named("type", TypeAttr::get(type)), named("from", from),
                                named("to", to), named("length", b.getI64IntegerAttr(length)), named("size", b.getI64IntegerAttr(size))});
  }

  Type resultType(Location loc) const {
    if (kind == "at" || kind == "back")
      return mappedType(loc, type, axisOf(type, to), size);
    if (kind == "behind")
      return typeBehindLoop(loc, type, length, size);
    return kind == "before" ? mappedType(loc, type, Axis(0), size) : type;
  }

  /// The same of tangents.
  FailureOr<Remap> ofTangents(ImplicitLocOpBuilder &b) const {
    Remap remap = *this;
    remap.type = ir::tangentOf(type);
    for (Attribute *spec : {&remap.from, &remap.to})
      if (*spec) {
        auto tangent = ir::tangentSpec(type, *spec, [loc = b.getLoc()] { return emitError(loc); });
        if (failed(tangent))
          return failure();
        *spec = *tangent;
      }
    return remap;
  }

  /// Emits it, for arrays too.
  Value emit(ImplicitLocOpBuilder &b, ValueRange operands) const {
    if (kind == "at")
      return mapAt(b, operands[0], axisOf(type, from), axisOf(type, to), size);
    if (kind == "back")
      return mapBackAt(b, operands[0], axisOf(type, from), axisOf(type, to), size);
    if (kind == "behind")
      return mapBehindLoop(b, operands[0], axisOf(type, from), type, length, size);
    if (kind == "before")
      return mapBeforeLoop(b, operands[0], type, length, size);
    return selectMapped(b, operands[0], operands.drop_front());
  }
  Value expand(ImplicitLocOpBuilder &b, ValueRange operands) const {
    if (kind == "at" || kind == "back")
      return mapComponentsAt(b, operands[0], cast<ir::HiType>(type), from, to, size, /*isBack=*/kind == "back");
    if (kind == "behind")
      return mapComponentsBehindLoop(b, operands[0], axisOf(type, from), cast<ir::HiType>(type), length, size);
    if (kind == "before")
      return mapComponentsBeforeLoop(b, operands[0], cast<ir::HiType>(type), length, size);
    return selectComponents(b, operands[0], operands.drop_front());
  }
};

Value call(ImplicitLocOpBuilder &b, const Remap &remap, ValueRange operands) {
  return ir::CallPrimitiveOp::create(b, remap.resultType(b.getLoc()), kName, operands, remap.params(b)).getResult(0);
}

class RemapPrimitive : public ir::PrimitiveDef {
  using Values = SmallVector<Value>; // as outside; those that rules fill are Results
  using Results = SmallVectorImpl<Value>;

public:
  RemapPrimitive() : PrimitiveDef(kName.str()) {}

  bool has(Rule rule) const override { return rule == Rule::Expand || rule == Rule::Jvp || rule == Rule::Transpose; }

  FailureOr<SmallVector<Type>> infer(DictionaryAttr params, TypeRange operands, ir::EmitError emitError) const override {
    for (StringRef name : {"kind", "type", "from", "to", "length", "size"})
      if (!params || !params.contains(name))
        return emitError() << "expected the parameters kind, type, from, to, length and size, got no " << name;
    if (!params.getAs<StringAttr>("kind") || !params.getAs<TypeAttr>("type") || !params.getAs<IntegerAttr>("length") ||
        !params.getAs<IntegerAttr>("size") || !isa<ir::HiType>(params.getAs<TypeAttr>("type").getValue()) || operands.empty())
      return emitError() << "expected parameters as the compiler writes them, got " << params;
    return SmallVector<Type>{Remap::of(params).resultType(UnknownLoc::get(params.getContext()))};
  }

protected:
  LogicalResult expandRule(Builder &b, const ir::PrimitiveCall &call, ValueRange operands, Results &results) const override {
    results.push_back(Remap::of(call.params).expand(b, operands));
    return success();
  }

  LogicalResult jvpRule(Builder &b, const ir::PrimitiveCall &call, ValueRange primals, ArrayRef<Value> tangents, Results &results,
                        Results &resultTangents) const override {
    Remap remap = Remap::of(call.params);
    auto ofTangents = remap.ofTangents(b);
    if (failed(ofTangents))
      return failure();
    results.push_back(hjx::call(b, remap, primals));
    Values operands(tangents);
    for (auto [operand, type, primal] : llvm::zip_equal(operands, call.operandTypes, primals))
      if (!ir::isDifferentiable(type))
        operand = primal; // Which one is selected.
      else if (!operand)
        operand = ir::makeZero(b, ir::tangentOf(type));
    resultTangents.push_back(ofTangents->emit(b, operands));
    return success();
  }

  // In a linear program types are those of tangents, each its own tangent type.
  LogicalResult transposeRule(Builder &b, const ir::PrimitiveCall &call, ArrayRef<Value> operands, ArrayRef<Value> resultBars,
                              Results &operandBars) const override {
    Remap remap = Remap::of(call.params);
    Value bar = resultBars[0];
    if (!bar) {
      operandBars.assign(operands.size(), Value());
      return success();
    }
    if (remap.kind == "select") {
      Value zero = ir::makeZero(b, bar.getType());
      operandBars.push_back({});
      for (unsigned i = 1; i < operands.size(); ++i) {
        Values cases(operands.size() - 1, zero);
        cases[i - 1] = bar;
        operandBars.push_back(operands[i] ? Value() : selectMapped(b, operands[0], cases));
      }
      return success();
    }
    if (remap.kind == "before") {
      operandBars.push_back(mapBehindLoop(b, bar, Axis(0), remap.type, remap.length, remap.size));
      return success();
    }
    // Back to where it was; what was repeated is summed.
    Axis axis = axisOf(remap.type, remap.to), from = axisOf(remap.type, remap.from);
    if (remap.kind == "behind") {
      bar = mapBeforeLoop(b, bar, remap.type, remap.length, remap.size);
      axis = Axis(0);
    }
    operandBars.push_back(remap.kind == "back" ? mapAt(b, bar, axis, from, remap.size) : mapBackAt(b, bar, axis, from, remap.size));
    return success();
  }
};

} // namespace

Value remapAt(ImplicitLocOpBuilder &b, Value value, Type element, Attribute from, Attribute to, int64_t size) {
  return call(b, {"at", element, from, to, 0, size}, value);
}
Value remapBackAt(ImplicitLocOpBuilder &b, Value value, Type element, Attribute from, Attribute to, int64_t size) {
  return call(b, {"back", element, from, to, 0, size}, value);
}
Value remapBehindLoop(ImplicitLocOpBuilder &b, Value value, Attribute from, Type type, int64_t length, int64_t size) {
  return call(b, {"behind", type, from, {}, length, size}, value);
}
Value remapBeforeLoop(ImplicitLocOpBuilder &b, Value value, Type type, int64_t length, int64_t size) {
  return call(b, {"before", type, {}, {}, length, size}, value);
}
Value remapSelect(ImplicitLocOpBuilder &b, Value which, ValueRange values) {
  Values operands{which};
  llvm::append_range(operands, values);
  return call(b, {"select", values.front().getType(), {}, {}, 0, 0}, operands);
}

void registerRemapPrimitive() { ir::HiRegistry::get().add(std::make_unique<RemapPrimitive>()); }

} // namespace hjx
