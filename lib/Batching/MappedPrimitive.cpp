// SPDX-License-Identifier: Apache-2.0
#include "lib/Batching/MappedPrimitive.h"

#include "dialects/hjx/ComponentSpecs.h"
#include "lib/Batching/HiValues.h"
#include "lib/Rules/Emit.h"

using namespace mlir;

namespace hjx {
namespace {

using Values = SmallVector<Value>;
using Body = llvm::function_ref<LogicalResult(ImplicitLocOpBuilder &, ValueRange, Values &)>;

auto errorsAt(ImplicitLocOpBuilder &b) {
  return [loc = b.getLoc()] { return emitError(loc); };
}

/// The outermost map of a call, and the call under it.
struct Map {
  int64_t size;
  ArrayAttr in, out;
  ir::PrimitiveCall inner;

  /// Fails, with a diagnostic, on parameters of another form.
  static FailureOr<Map> of(DictionaryAttr params, TypeRange operands, ir::EmitError emitError) {
    auto maps = params.getAs<ArrayAttr>(ir::kMappedParam);
    auto last = maps && !maps.empty() ? dyn_cast<DictionaryAttr>(maps.getValue().back()) : DictionaryAttr();
    auto size = last ? last.getAs<IntegerAttr>("size") : IntegerAttr();
    Map map{size ? size.getInt() : 0, last ? last.getAs<ArrayAttr>("in") : ArrayAttr(), last ? last.getAs<ArrayAttr>("out") : ArrayAttr(), {}};
    if (!size || !map.in || !map.out || map.in.size() != operands.size())
      return emitError() << "expected " << ir::kMappedParam << " = [{size, in, out}, ...] with a spec for each of " << operands.size()
                         << " operands, got " << maps;
    NamedAttrList rest(params);
    rest.erase(ir::kMappedParam);
    if (maps.size() > 1)
      rest.set(ir::kMappedParam, ArrayAttr::get(params.getContext(), maps.getValue().drop_back()));
    map.inner.params = rest.getDictionary(params.getContext());
    for (auto [type, spec] : llvm::zip_equal(operands, map.in)) {
      auto element = isa<UnitAttr>(spec) ? FailureOr<Type>(type) : ir::decRank(type, map.size, spec, emitError);
      if (failed(element))
        return failure();
      map.inner.operandTypes.push_back(*element);
    }
    return map;
  }
};

class MappedPrimitive : public ir::PrimitiveDef {
public:
  explicit MappedPrimitive(const ir::PrimitiveDef &primitive) : PrimitiveDef(primitive.name().str()), primitive(primitive) {}

  bool has(Rule rule) const override { return rule != Rule::Batch && primitive.has(rule); }

  FailureOr<SmallVector<Type>> infer(DictionaryAttr params, TypeRange operands, ir::EmitError emitError) const override {
    auto map = Map::of(params, operands, emitError);
    if (failed(map))
      return failure();
    auto results = under(*map).infer(map->inner.params, map->inner.operandTypes, emitError);
    if (failed(results))
      return failure();
    if (results->size() != map->out.size())
      return emitError() << "expected an out spec for each of " << results->size() << " results, got " << map->out.size();
    for (auto [type, spec] : llvm::zip_equal(*results, map->out)) {
      auto mapped = isa<UnitAttr>(spec) ? FailureOr<Type>(type) : ir::incRank(type, map->size, spec, emitError);
      if (failed(mapped))
        return failure();
      type = *mapped;
    }
    return *results;
  }

  FailureOr<Values> expand(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call, ValueRange operands) const override {
    Map map = read(b, call);
    Values results;
    SmallVector<Axis> axes;
    auto body = [&](ImplicitLocOpBuilder &inside, ValueRange arguments, Values &made) -> LogicalResult {
      auto expanded = under(map).expand(inside, map.inner, arguments);
      if (failed(expanded))
        return failure();
      made = std::move(*expanded);
      return success();
    };
    if (failed(run(b, map, map.inner.operandTypes, Values(operands), operandAxes(map), body, results, axes)))
      return failure();
    for (auto [i, result] : llvm::enumerate(results))
      result = mapAs(b, map, result, axes[i], resultAxis(map, i));
    return results;
  }

  LogicalResult jvp(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call, ValueRange primals, ArrayRef<Value> tangents,
                    SmallVectorImpl<Value> &results, SmallVectorImpl<Value> &resultTangents) const override {
    Map map = read(b, call);
    Values arguments(primals), all;
    SmallVector<Type> types = map.inner.operandTypes;
    SmallVector<Axis> axes = operandAxes(map), outAxes;
    for (auto [i, tangent] : llvm::enumerate(tangents))
      if (tangent) {
        arguments.push_back(tangent);
        types.push_back(ir::tangentOf(types[i]));
        axes.push_back(tangentAxis(b, map.inner.operandTypes[i], map.in[i]));
      }
    SmallVector<bool> hasTangent;
    auto body = [&](ImplicitLocOpBuilder &inside, ValueRange values, Values &made) {
      Values dots, innerTangents;
      unsigned next = primals.size();
      for (Value tangent : tangents)
        innerTangents.push_back(tangent ? values[next++] : Value());
      if (failed(under(map).jvp(inside, map.inner, values.take_front(primals.size()), innerTangents, made, dots)))
        return failure();
      for (Value dot : dots) {
        hasTangent.push_back(bool(dot));
        if (dot)
          made.push_back(dot);
      }
      return success();
    };
    if (failed(run(b, map, types, arguments, axes, body, all, outAxes)))
      return failure();
    unsigned numResults = call.resultTypes.size(), next = numResults;
    for (unsigned i = 0; i < numResults; ++i)
      results.push_back(mapAs(b, map, all[i], outAxes[i], resultAxis(map, i)));
    for (unsigned i = 0; i < numResults; ++i) {
      resultTangents.push_back(hasTangent[i] ? mapAs(b, map, all[next], outAxes[next], resultTangentAxis(b, map, i)) : Value());
      next += hasTangent[i];
    }
    return success();
  }

  LogicalResult vjpForward(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call, ValueRange primals, ArrayRef<bool> active,
                           SmallVectorImpl<Value> &results, SmallVectorImpl<Value> &residuals) const override {
    Map map = read(b, call);
    Values all;
    SmallVector<Axis> axes;
    SmallVector<Type> ignored;
    if (failed(runForward(b, map, Values(primals), active, all, axes, ignored)))
      return failure();
    unsigned numResults = call.resultTypes.size();
    for (unsigned i = 0; i < numResults; ++i)
      results.push_back(mapAs(b, map, all[i], axes[i], resultAxis(map, i)));
    llvm::append_range(residuals, ArrayRef(all).drop_front(numResults));
    return success();
  }

  LogicalResult vjpBackward(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call, ValueRange residuals, ArrayRef<Value> resultBars,
                            ArrayRef<bool> wanted, SmallVectorImpl<Value> &operandBars) const override {
    Map map = read(b, call);
    // The forward half once more, somewhere else, to know how the residuals are mapped.
    SmallVector<Axis> axes;
    SmallVector<Type> types;
    LogicalResult known = success();
    withScratch(b, call.operandTypes, [&](ImplicitLocOpBuilder &inside, ValueRange arguments) {
      Values all;
      known = runForward(inside, map, Values(arguments), wanted, all, axes, types);
    });
    if (failed(known))
      return failure();
    axes.erase(axes.begin(), axes.begin() + call.resultTypes.size());
    types.erase(types.begin(), types.begin() + call.resultTypes.size());

    unsigned numResiduals = residuals.size();
    Values arguments(residuals);
    addBars(b, map, resultBars, arguments, types, axes);
    auto body = [&](ImplicitLocOpBuilder &inside, ValueRange values, Values &made) {
      return under(map).vjpBackward(inside, map.inner, values.take_front(numResiduals), innerBars(resultBars, values.drop_front(numResiduals)),
                                    wanted, made);
    };
    return runBackward(b, map, types, arguments, axes, body, operandBars);
  }

  LogicalResult transpose(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call, ArrayRef<Value> operands, ArrayRef<Value> resultBars,
                          SmallVectorImpl<Value> &operandBars) const override {
    Map map = read(b, call);
    Values arguments;
    SmallVector<Type> types;
    SmallVector<Axis> axes, all = operandAxes(map);
    for (auto [i, operand] : llvm::enumerate(operands))
      if (operand) {
        arguments.push_back(operand);
        types.push_back(map.inner.operandTypes[i]);
        axes.push_back(all[i]);
      }
    unsigned numValues = arguments.size();
    addBars(b, map, resultBars, arguments, types, axes);
    auto body = [&](ImplicitLocOpBuilder &inside, ValueRange values, Values &made) {
      Values inner;
      unsigned next = 0;
      for (Value operand : operands)
        inner.push_back(operand ? values[next++] : Value());
      return under(map).transpose(inside, map.inner, inner, innerBars(resultBars, values.drop_front(numValues)), made);
    };
    return runBackward(b, map, types, arguments, axes, body, operandBars);
  }

  LogicalResult batch(ImplicitLocOpBuilder &, const ir::PrimitiveCall &, int64_t, ValueRange, ArrayRef<Attribute>,
                      SmallVectorImpl<Value> &, SmallVectorImpl<Attribute> &) const override {
    llvm_unreachable("has no batching rule: one more map does it");
  }

private:
  /// The definition of the call under the outermost map.
  const ir::PrimitiveDef &under(const Map &map) const {
    return map.inner.params.contains(ir::kMappedParam) ? static_cast<const ir::PrimitiveDef &>(*this) : primitive;
  }

  /// The outermost map of a verified call.
  Map read(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call) const {
    Map map = *Map::of(call.params, call.operandTypes, errorsAt(b));
    map.inner.resultTypes = *under(map).infer(map.inner.params, map.inner.operandTypes, errorsAt(b));
    return map;
  }

  //===--------------------------------------------------------------------===//
  // How values are mapped
  //===--------------------------------------------------------------------===//

  static SmallVector<Axis> operandAxes(const Map &map) {
    SmallVector<Axis> axes;
    for (auto [type, spec] : llvm::zip_equal(map.inner.operandTypes, map.in))
      axes.push_back(axisOf(type, spec));
    return axes;
  }
  static Axis resultAxis(const Map &map, unsigned i) { return axisOf(map.inner.resultTypes[i], map.out[i]); }
  static Axis tangentAxis(ImplicitLocOpBuilder &b, Type type, Attribute spec) {
    if (isa<UnitAttr>(spec))
      return {};
    auto tangent = ir::tangentSpec(type, spec, errorsAt(b));
    return succeeded(tangent) ? axisOf(ir::tangentOf(type), *tangent) : Axis();
  }
  static Axis resultTangentAxis(ImplicitLocOpBuilder &b, const Map &map, unsigned i) {
    return tangentAxis(b, map.inner.resultTypes[i], map.out[i]);
  }

  static Value mapAs(ImplicitLocOpBuilder &b, const Map &map, Value value, const Axis &from, const Axis &to) {
    if (to)
      return mapAt(b, value, from, to, map.size);
    if (from)
      emitError(b.getLoc()) << "a value is mapped that should not be";
    return value;
  }

  //===--------------------------------------------------------------------===//
  // Rules, for one element and then batched
  //===--------------------------------------------------------------------===//

  /// A function with arguments of `types`, for as long as `use` runs.
  static void withScratch(ImplicitLocOpBuilder &b, TypeRange types, llvm::function_ref<void(ImplicitLocOpBuilder &, ValueRange)> use) {
    Operation *parent = b.getInsertionBlock()->getParentOp();
    auto module = isa<ModuleOp>(parent) ? cast<ModuleOp>(parent) : parent->getParentOfType<ModuleOp>();
    auto scratch = func::FuncOp::create(b.getLoc(), "mapped.scratch", b.getFunctionType(types, {}));
    scratch.setPrivate();
    Block *entry = scratch.addEntryBlock();
    SymbolTable(module).insert(scratch); // renames on a clash
    auto inside = ImplicitLocOpBuilder::atBlockEnd(b.getLoc(), entry);
    use(inside, entry->getArguments());
    scratch.erase();
  }

  /// What `body` makes of one element, for all: emits at `b`, fills results and how they are mapped.
  static LogicalResult run(ImplicitLocOpBuilder &b, const Map &map, TypeRange types, const Values &arguments, ArrayRef<Axis> axes,
                           Body body, Values &results, SmallVector<Axis> &resultAxes, SmallVector<Type> *elementTypes = nullptr) {
    LogicalResult result = success();
    withScratch(b, types, [&](ImplicitLocOpBuilder &inside, ValueRange elements) {
      Values made;
      result = body(inside, elements, made);
      if (failed(result))
        return;
      func::ReturnOp::create(inside, made);
      if (elementTypes)
        elementTypes->assign(ValueRange(made).getTypes().begin(), ValueRange(made).getTypes().end());
      Block *block = inside.getInsertionBlock();
      auto module = block->getParentOp()->getParentOfType<ModuleOp>();
      result = Batcher(module, getRuleRegistry()).batchInto(*block, arguments, axes, map.size, b, results, resultAxes);
    });
    return result;
  }

  LogicalResult runForward(ImplicitLocOpBuilder &b, const Map &map, const Values &primals, ArrayRef<bool> active, Values &all,
                           SmallVector<Axis> &axes, SmallVector<Type> &types) const {
    auto body = [&](ImplicitLocOpBuilder &inside, ValueRange arguments, Values &made) {
      Values residuals;
      if (failed(under(map).vjpForward(inside, map.inner, arguments, active, made, residuals)))
        return failure();
      llvm::append_range(made, residuals);
      return success();
    };
    return run(b, map, map.inner.operandTypes, primals, operandAxes(map), body, all, axes, &types);
  }

  /// Adds the cotangents that are there to the arguments of a rule.
  static void addBars(ImplicitLocOpBuilder &b, const Map &map, ArrayRef<Value> bars, Values &arguments, SmallVector<Type> &types,
                      SmallVector<Axis> &axes) {
    for (auto [i, bar] : llvm::enumerate(bars))
      if (bar) {
        arguments.push_back(bar);
        types.push_back(ir::tangentOf(map.inner.resultTypes[i]));
        axes.push_back(resultTangentAxis(b, map, i));
      }
  }
  static Values innerBars(ArrayRef<Value> bars, ValueRange values) {
    Values inner;
    for (Value bar : bars) {
      inner.push_back(bar ? values.front() : Value());
      values = values.drop_front(bool(bar));
    }
    return inner;
  }

  /// A rule that makes a cotangent, or null, for each operand: those of shared operands are summed.
  static LogicalResult runBackward(ImplicitLocOpBuilder &b, const Map &map, TypeRange types, const Values &arguments,
                                   ArrayRef<Axis> axes, Body body, SmallVectorImpl<Value> &operandBars) {
    SmallVector<bool> present;
    auto onlyPresent = [&](ImplicitLocOpBuilder &inside, ValueRange values, Values &made) -> LogicalResult {
      Values all;
      if (failed(body(inside, values, all)))
        return failure();
      for (Value bar : all) {
        present.push_back(bool(bar));
        if (bar)
          made.push_back(bar);
      }
      return success();
    };
    Values made;
    SmallVector<Axis> madeAxes;
    if (failed(run(b, map, types, arguments, axes, onlyPresent, made, madeAxes)))
      return failure();
    unsigned next = 0;
    for (auto [i, isPresent] : llvm::enumerate(present)) {
      if (!isPresent) {
        operandBars.push_back({});
        continue;
      }
      Value bar = made[next];
      const Axis &axis = madeAxes[next++];
      Axis wanted = tangentAxis(b, map.inner.operandTypes[i], map.in[i]);
      if (wanted)
        operandBars.push_back(mapAt(b, bar, axis, wanted, map.size));
      else // every element adds the same, where the bar is shared, too
        operandBars.push_back(sumMapped(b, axis ? bar : mapAt(b, bar, axis, Axis(0), map.size), axis ? axis : Axis(0), map.size));
    }
    return success();
  }

  const ir::PrimitiveDef &primitive;
};

} // namespace

std::unique_ptr<ir::PrimitiveDef> makeMappedPrimitive(const ir::PrimitiveDef &primitive) {
  return std::make_unique<MappedPrimitive>(primitive);
}

} // namespace hjx
