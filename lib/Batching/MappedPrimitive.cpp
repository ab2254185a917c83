// SPDX-License-Identifier: Apache-2.0
#include "lib/Batching/MappedPrimitive.h"

#include "dialects/hjx/ComponentSpecs.h"
#include "lib/Batching/HiValues.h"
#include "lib/Rules/Emit.h"

using namespace mlir;

namespace hjx {
namespace {

using Values = SmallVector<Value>;
using Results = SmallVectorImpl<Value>;
using Mask = SmallVector<bool>;
using Builder = ImplicitLocOpBuilder;
using ir::BarSink;
using Body = llvm::function_ref<LogicalResult(Builder &, ValueRange, Values &)>;

auto errorsAt(Builder &b) {
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
  using Values = SmallVector<Value>; // as outside; those that rules fill are Results

public:
  explicit MappedPrimitive(const ir::PrimitiveDef &primitive) : PrimitiveDef(primitive.name().str()), primitive(primitive) {}

  /// Of batching there is no rule: one more map does it.
  bool has(Rule rule) const override { return rule != Rule::Batch && rule != Rule::BatchAxes && primitive.has(rule); }

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

protected:
  LogicalResult expandRule(Builder &b, const ir::PrimitiveCall &call, ValueRange operands, Results &results) const override {
    Map map = read(b, call);
    Values all;
    SmallVector<Axis> axes;
    auto body = [&](Builder &inside, ValueRange arguments, Values &made) -> LogicalResult {
      auto expanded = under(map).expand(inside, map.inner, arguments);
      if (failed(expanded))
        return failure();
      made = std::move(*expanded);
      return success();
    };
    if (failed(run(b, map, map.inner.operandTypes, Values(operands), operandAxes(map), body, all, axes)))
      return failure();
    return mapResults(b, map, all, axes, results);
  }

  LogicalResult jvpRule(Builder &b, const ir::PrimitiveCall &call, ValueRange primals, ArrayRef<Value> tangents, Results &results,
                        Results &resultTangents) const override {
    Map map = read(b, call);
    Values arguments(primals), all;
    SmallVector<Type> types = map.inner.operandTypes;
    SmallVector<Axis> axes = operandAxes(map), outAxes;
    addTangents(b, map, tangents, arguments, types, axes);
    Mask hasTangent;
    auto body = [&](Builder &inside, ValueRange values, Values &made) {
      Values dots;
      if (failed(under(map).jvp(inside, map.inner, values.take_front(primals.size()), spread(tangents, values.drop_front(primals.size())),
                                made, dots)))
        return failure();
      hasTangent = appendPresent(dots, made);
      return success();
    };
    if (failed(run(b, map, types, arguments, axes, body, all, outAxes)))
      return failure();
    unsigned numResults = call.resultTypes.size();
    return failure(failed(mapResults(b, map, ArrayRef(all).take_front(numResults), ArrayRef(outAxes).take_front(numResults), results)) ||
                   failed(mapTangents(b, map, ArrayRef(all).drop_front(numResults), ArrayRef(outAxes).drop_front(numResults), hasTangent,
                                      resultTangents)));
  }

  LogicalResult linearizeRule(Builder &b, const ir::PrimitiveCall &call, ValueRange primals, ArrayRef<bool> active, Results &results,
                              Results &residuals) const override {
    Map map = read(b, call);
    return runForward(b, map, primals, linearizeOf(map, active), results, residuals);
  }

  LogicalResult linearizedRule(Builder &b, const ir::PrimitiveCall &call, ValueRange residuals, ArrayRef<Value> tangents,
                               Results &resultTangents) const override {
    Map map = read(b, call);
    Kept kept;
    if (failed(findKept(b, map, call, linearizeOf(map, call.active), kept)))
      return failure();
    Values arguments(residuals), all;
    addTangents(b, map, tangents, arguments, kept.types, kept.axes);
    SmallVector<Axis> outAxes;
    Mask hasTangent;
    auto body = [&](Builder &inside, ValueRange values, Values &made) {
      Values dots;
      if (failed(under(map).linearized(inside, map.inner, values.take_front(residuals.size()),
                                       spread(tangents, values.drop_front(residuals.size())), dots)))
        return failure();
      hasTangent = appendPresent(dots, made);
      return success();
    };
    if (failed(run(b, map, kept.types, arguments, kept.axes, body, all, outAxes)))
      return failure();
    return mapTangents(b, map, all, outAxes, hasTangent, resultTangents);
  }

  LogicalResult vjpForwardRule(Builder &b, const ir::PrimitiveCall &call, ValueRange primals, ArrayRef<bool> active, Results &results,
                               Results &residuals) const override {
    Map map = read(b, call);
    return runForward(b, map, primals, vjpForwardOf(map, active), results, residuals);
  }

  /// What elements add to one cotangent is summed, so that no sink of theirs is a ref.
  LogicalResult vjpBackwardRule(Builder &b, const ir::PrimitiveCall &call, ValueRange residuals, ArrayRef<Value> resultBars,
                                ArrayRef<BarSink> sinks, Results &operandBars) const override {
    Map map = read(b, call);
    Kept kept;
    if (failed(findKept(b, map, call, vjpForwardOf(map, call.active), kept)))
      return failure();
    Values arguments(residuals);
    addBars(b, map, resultBars, arguments, kept.types, kept.axes);
    auto inner = llvm::map_to_vector(sinks, [](const BarSink &sink) {
      return BarSink{sink.kind == BarSink::None ? BarSink::None : BarSink::Sum, {}};
    });
    auto body = [&](Builder &inside, ValueRange values, Values &made) {
      return under(map).vjpBackward(inside, map.inner, values.take_front(residuals.size()),
                                    spread(resultBars, values.drop_front(residuals.size())), inner, made);
    };
    return runBackward(b, map, kept.types, arguments, kept.axes, body, operandBars);
  }

  LogicalResult transposeRule(Builder &b, const ir::PrimitiveCall &call, ArrayRef<Value> operands, ArrayRef<Value> resultBars,
                              Results &operandBars) const override {
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
    auto body = [&](Builder &inside, ValueRange values, Values &made) {
      return under(map).transpose(inside, map.inner, spread(operands, values.take_front(numValues)),
                                  spread(resultBars, values.drop_front(numValues)), made);
    };
    return runBackward(b, map, types, arguments, axes, body, operandBars);
  }

  LogicalResult dceRule(Builder &b, const ir::PrimitiveCall &call, ValueRange operands, ArrayRef<bool> used,
                        Results &results) const override {
    Map map = read(b, call);
    Values all;
    SmallVector<Axis> axes;
    Mask present;
    auto body = [&](Builder &inside, ValueRange arguments, Values &made) {
      Values some;
      if (failed(under(map).dce(inside, map.inner, arguments, used, some)))
        return failure();
      present = appendPresent(some, made);
      return success();
    };
    if (failed(run(b, map, map.inner.operandTypes, Values(operands), operandAxes(map), body, all, axes)))
      return failure();
    unsigned next = 0;
    for (auto [i, isPresent] : llvm::enumerate(present)) {
      results.push_back(isPresent ? mapAs(b, map, all[next], axes[next], resultAxis(map, i)) : Value());
      next += isPresent;
    }
    return success();
  }

  LogicalResult rematRule(Builder &b, const ir::PrimitiveCall &call, ValueRange operands, Results &results, Results &saved) const override {
    Map map = read(b, call);
    return runForward(b, map, operands, rematOf(map), results, saved);
  }

  LogicalResult recomputeRule(Builder &b, const ir::PrimitiveCall &call, ValueRange saved, Results &results) const override {
    Map map = read(b, call);
    Kept kept;
    if (failed(findKept(b, map, call, rematOf(map), kept)))
      return failure();
    Values all;
    SmallVector<Axis> axes;
    auto body = [&](Builder &inside, ValueRange values, Values &made) { return under(map).recompute(inside, map.inner, values, made); };
    if (failed(run(b, map, kept.types, Values(saved), kept.axes, body, all, axes)))
      return failure();
    return mapResults(b, map, all, axes, results);
  }

private:
  /// The definition of the call under the outermost map.
  const ir::PrimitiveDef &under(const Map &map) const {
    return map.inner.params.contains(ir::kMappedParam) ? static_cast<const ir::PrimitiveDef &>(*this) : primitive;
  }

  /// The outermost map of a verified call.
  Map read(Builder &b, const ir::PrimitiveCall &call) const {
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
  static Axis tangentAxis(Builder &b, Type type, Attribute spec) {
    if (isa<UnitAttr>(spec))
      return {};
    auto tangent = ir::tangentSpec(type, spec, errorsAt(b));
    return succeeded(tangent) ? axisOf(ir::tangentOf(type), *tangent) : Axis();
  }
  static Axis resultTangentAxis(Builder &b, const Map &map, unsigned i) {
    return tangentAxis(b, map.inner.resultTypes[i], map.out[i]);
  }

  Value mapAs(Builder &b, const Map &map, Value value, const Axis &from, const Axis &to) const {
    if (to)
      return mapAt(b, value, from, to, map.size);
    if (from)
      emitError(b.getLoc()) << "\"" << name() << "\": batch_axes: a result is mapped that should be the same for all elements; give it a "
                               "place there";
    return value;
  }
  LogicalResult mapResults(Builder &b, const Map &map, ArrayRef<Value> made, ArrayRef<Axis> axes, Results &results) const {
    for (auto [i, value, axis] : llvm::enumerate(made, axes))
      results.push_back(mapAs(b, map, value, axis, resultAxis(map, i)));
    return success();
  }
  /// The next of `made` where there is a tangent.
  LogicalResult mapTangents(Builder &b, const Map &map, ArrayRef<Value> made, ArrayRef<Axis> axes, ArrayRef<bool> hasTangent,
                            Results &tangents) const {
    unsigned next = 0;
    for (auto [i, isPresent] : llvm::enumerate(hasTangent)) {
      tangents.push_back(isPresent ? mapAs(b, map, made[next], axes[next], resultTangentAxis(b, map, i)) : Value());
      next += isPresent;
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Rules, for one element and then batched
  //===--------------------------------------------------------------------===//

  /// A function with arguments of `types`, for as long as `use` runs.
  static void withScratch(Builder &b, TypeRange types, llvm::function_ref<void(Builder &, ValueRange)> use) {
    auto scratch = func::FuncOp::create(b.getLoc(), "mapped.scratch", b.getFunctionType(types, {}));
    scratch.setPrivate();
    Block *entry = scratch.addEntryBlock();
    SymbolTable(ir::moduleAround(b.getInsertionBlock())).insert(scratch); // renames on a clash
    auto inside = Builder::atBlockEnd(b.getLoc(), entry);
    use(inside, entry->getArguments());
    scratch.erase();
  }

  /// What `body` makes of one element, for all: emits at `b`, fills results and how they are mapped.
  static LogicalResult run(Builder &b, const Map &map, TypeRange types, const Values &arguments, ArrayRef<Axis> axes, Body body,
                           Values &results, SmallVector<Axis> &resultAxes, SmallVector<Type> *elementTypes = nullptr) {
    LogicalResult result = success();
    withScratch(b, types, [&](Builder &inside, ValueRange elements) {
      Values made;
      result = body(inside, elements, made);
      if (failed(result))
        return;
      func::ReturnOp::create(inside, made);
      if (elementTypes)
        elementTypes->assign(ValueRange(made).getTypes().begin(), ValueRange(made).getTypes().end());
      Block *block = inside.getInsertionBlock();
      result = Batcher(ir::moduleAround(block), getRuleRegistry()).batchInto(*block, arguments, axes, map.size, b, results, resultAxes);
    });
    return result;
  }

  //===--------------------------------------------------------------------===//
  // Rules in two halves: a first one that keeps values for a second
  //===--------------------------------------------------------------------===//

  /// The first half, for one element: results, then what is kept.
  using FirstHalf = std::function<LogicalResult(Builder &, ValueRange, Values &, Values &)>;
  FirstHalf vjpForwardOf(const Map &map, ArrayRef<bool> active) const {
    return [this, &map, active](Builder &b, ValueRange primals, Values &results, Values &kept) {
      return under(map).vjpForward(b, map.inner, primals, active, results, kept);
    };
  }
  FirstHalf linearizeOf(const Map &map, ArrayRef<bool> active) const {
    return [this, &map, active](Builder &b, ValueRange primals, Values &results, Values &kept) {
      return under(map).linearize(b, map.inner, primals, active, results, kept);
    };
  }
  FirstHalf rematOf(const Map &map) const {
    return [this, &map](Builder &b, ValueRange primals, Values &results, Values &kept) {
      return under(map).remat(b, map.inner, primals, results, kept);
    };
  }

  static LogicalResult runFirst(Builder &b, const Map &map, ValueRange primals, const FirstHalf &half, Values &all,
                                SmallVector<Axis> &axes, SmallVector<Type> *types = nullptr) {
    auto body = [&](Builder &inside, ValueRange arguments, Values &made) {
      Values kept;
      if (failed(half(inside, arguments, made, kept)))
        return failure();
      llvm::append_range(made, kept);
      return success();
    };
    return run(b, map, map.inner.operandTypes, Values(primals), operandAxes(map), body, all, axes, types);
  }
  LogicalResult runForward(Builder &b, const Map &map, ValueRange primals, const FirstHalf &half, Results &results, Results &kept) const {
    Values all;
    SmallVector<Axis> axes;
    if (failed(runFirst(b, map, primals, half, all, axes)))
      return failure();
    unsigned numResults = map.inner.resultTypes.size();
    llvm::append_range(kept, ArrayRef(all).drop_front(numResults));
    return mapResults(b, map, ArrayRef(all).take_front(numResults), ArrayRef(axes).take_front(numResults), results);
  }

  /// What the first half kept: types for one element, and how they are mapped.
  struct Kept {
    SmallVector<Type> types;
    SmallVector<Axis> axes;
  };
  /// Found by the first half once more, somewhere else.
  static LogicalResult findKept(Builder &b, const Map &map, const ir::PrimitiveCall &call, const FirstHalf &half, Kept &kept) {
    LogicalResult known = success();
    withScratch(b, call.operandTypes, [&](Builder &inside, ValueRange arguments) {
      Values all;
      known = runFirst(inside, map, arguments, half, all, kept.axes, &kept.types);
    });
    if (failed(known))
      return failure();
    unsigned numResults = map.inner.resultTypes.size();
    kept.axes.erase(kept.axes.begin(), kept.axes.begin() + numResults);
    kept.types.erase(kept.types.begin(), kept.types.begin() + numResults);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Tangents and cotangents, some of which are there
  //===--------------------------------------------------------------------===//

  /// Adds the tangents of operands that are there to the arguments of a rule.
  static void addTangents(Builder &b, const Map &map, ArrayRef<Value> tangents, Values &arguments, SmallVector<Type> &types,
                          SmallVector<Axis> &axes) {
    for (auto [i, tangent] : llvm::enumerate(tangents))
      if (tangent) {
        arguments.push_back(tangent);
        types.push_back(ir::tangentOf(map.inner.operandTypes[i]));
        axes.push_back(tangentAxis(b, map.inner.operandTypes[i], map.in[i]));
      }
  }
  /// The same of cotangents of results.
  static void addBars(Builder &b, const Map &map, ArrayRef<Value> bars, Values &arguments, SmallVector<Type> &types,
                      SmallVector<Axis> &axes) {
    for (auto [i, bar] : llvm::enumerate(bars))
      if (bar) {
        arguments.push_back(bar);
        types.push_back(ir::tangentOf(map.inner.resultTypes[i]));
        axes.push_back(resultTangentAxis(b, map, i));
      }
  }
  /// The next of `values` where `like` has one.
  static Values spread(ArrayRef<Value> like, ValueRange values) {
    Values all;
    for (Value there : like) {
      all.push_back(there ? values.front() : Value());
      values = values.drop_front(bool(there));
    }
    return all;
  }
  static Mask appendPresent(ArrayRef<Value> values, Values &made) {
    Mask present;
    for (Value value : values) {
      present.push_back(bool(value));
      if (value)
        made.push_back(value);
    }
    return present;
  }

  /// A rule that makes a cotangent, or null, for each operand: those of shared operands are summed.
  static LogicalResult runBackward(Builder &b, const Map &map, TypeRange types, const Values &arguments, ArrayRef<Axis> axes, Body body,
                                   Results &operandBars) {
    Mask present;
    auto onlyPresent = [&](Builder &inside, ValueRange values, Values &made) -> LogicalResult {
      Values all;
      if (failed(body(inside, values, all)))
        return failure();
      present = appendPresent(all, made);
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
