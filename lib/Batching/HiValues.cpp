// SPDX-License-Identifier: Apache-2.0
#include "lib/Batching/HiValues.h"

#include "dialects/hjx/ComponentSpecs.h"
#include "lib/Batching/RemapPrimitive.h"
#include "lib/Rules/Emit.h"

using namespace mlir;

namespace hjx {

/// Where these functions report.
static auto at(Location loc) {
  return [loc] { return emitError(loc); };
}

Attribute specOf(Location loc, Type type, const Axis &axis) {
  if (!axis)
    return {};
  if (!isa<ir::HiType>(type))
    return IntegerAttr::get(IntegerType::get(loc.getContext(), 64), *axis);
  if (axis.spec)
    return axis.spec;
  auto leading = ir::leadingAxisSpec(type, at(loc));
  return succeeded(leading) ? *leading : Attribute();
}

Axis axisOf(Type type, Attribute spec) {
  if (!spec || isa<UnitAttr>(spec))
    return {};
  if (isa<ir::HiType>(type)) {
    Axis axis(0);
    axis.spec = spec;
    return axis;
  }
  return Axis(cast<IntegerAttr>(spec).getInt());
}

Type mappedType(Location loc, Type type, const Axis &axis, int64_t size) {
  if (!axis)
    return type;
  Attribute spec = specOf(loc, type, axis);
  auto mapped = spec ? ir::incRank(type, size, spec, at(loc)) : FailureOr<Type>();
  return succeeded(mapped) ? *mapped : type;
}

SmallVector<Axis> componentAxes(Location loc, ir::HiType type, const Axis &axis) {
  auto types = type.getDef()->loTypes(type, at(loc));
  SmallVector<Axis> axes(succeeded(types) ? types->size() : 0);
  Attribute spec = specOf(loc, type, axis);
  if (!spec || failed(types))
    return axes;
  auto specs = ir::componentSpecs(type, spec, at(loc));
  if (succeeded(specs))
    for (auto [componentAxis, component, componentSpec] : llvm::zip_equal(axes, *types, *specs))
      componentAxis = axisOf(component, componentSpec);
  return axes;
}

/// The components of `value`.
static SmallVector<Value> lower(ImplicitLocOpBuilder &b, Value value) {
  auto type = cast<ir::HiType>(value.getType());
  auto types = type.getDef()->loTypes(type, at(b.getLoc()));
  if (failed(types))
    return {};
  return llvm::to_vector_of<Value>(ir::LowerOp::create(b, *types, value).getResults());
}

/// A value of `type` whose components `change` makes of those of `values`, all of one type.
static Value mapComponents(ImplicitLocOpBuilder &b, Type type, ValueRange values,
                           llvm::function_ref<Value(unsigned, ArrayRef<Value>)> change) {
  SmallVector<SmallVector<Value>> lowered = llvm::map_to_vector(values, [&](Value v) { return lower(b, v); });
  SmallVector<Value> components;
  for (unsigned i = 0; i < lowered.front().size(); ++i)
    components.push_back(change(i, llvm::map_to_vector(lowered, [&](auto &list) { return list[i]; })));
  return ir::RaiseOp::create(b, type, components);
}

Value mapAt(ImplicitLocOpBuilder &b, Value value, const Axis &from, const Axis &to, int64_t size) {
  if (!isa<ir::HiType>(value.getType())) {
    if (from)
      return emit::moveAxis(b, value, *from, *to);
    RankedTensorType type = ir::insertAxis(emit::typeOf(value), *to, size);
    return ir::BroadcastInDimOp::create(b, value, type.getShape(), ir::dimsExcept(type.getRank(), {*to}));
  }
  Attribute fromSpec = specOf(b.getLoc(), value.getType(), from);
  auto element = from ? ir::decRank(value.getType(), size, fromSpec, at(b.getLoc())) : FailureOr<Type>(value.getType());
  if (failed(element) || (from && !fromSpec))
    return value;
  Attribute toSpec = specOf(b.getLoc(), *element, to);
  if (fromSpec == toSpec)
    return value;
  return remapAt(b, value, *element, fromSpec, toSpec, size);
}

Value mapComponentsAt(ImplicitLocOpBuilder &b, Value value, ir::HiType type, Attribute fromSpec, Attribute toSpec, int64_t size, bool isBack) {
  Axis from = axisOf(type, fromSpec), to = axisOf(type, toSpec);
  SmallVector<Axis> fromAxes = componentAxes(b.getLoc(), type, from), toAxes = componentAxes(b.getLoc(), type, to);
  return mapComponents(b, mappedType(b.getLoc(), type, to, size), value, [&](unsigned i, ArrayRef<Value> parts) {
    if (toAxes[i])
      return isBack ? mapBackAt(b, parts[0], fromAxes[i], toAxes[i], size) : mapAt(b, parts[0], fromAxes[i], toAxes[i], size);
    if (fromAxes[i] && isBack)
      return sumMapped(b, parts[0], fromAxes[i], size);
    if (fromAxes[i])
      emitError(b.getLoc()) << "component " << i << " of " << type << " is mapped, but the mapping spec " << toSpec << " says that it is not";
    return parts[0];
  });
}

Value mapBackAt(ImplicitLocOpBuilder &b, Value value, const Axis &from, const Axis &to, int64_t size) {
  if (!to)
    return sumMapped(b, value, from, size);
  if (!from || !isa<ir::HiType>(value.getType()))
    return mapAt(b, value, from, to, size);
  Attribute fromSpec = specOf(b.getLoc(), value.getType(), from);
  auto element = ir::decRank(value.getType(), size, fromSpec, at(b.getLoc()));
  Attribute toSpec = succeeded(element) ? specOf(b.getLoc(), *element, to) : Attribute();
  if (!toSpec || fromSpec == toSpec)
    return value;
  return remapBackAt(b, value, *element, fromSpec, toSpec, size);
}

Value sumMapped(ImplicitLocOpBuilder &b, Value value, const Axis &axis, int64_t size) {
  if (!isa<ir::HiType>(value.getType()))
    return emit::reduceSum(b, value, {*axis});
  Value front = mapAt(b, value, axis, Axis(0), size);
  auto element = ir::decLeading(front.getType(), size, at(b.getLoc()));
  if (failed(element))
    return value;
  Value zero = ir::makeZero(b, *element);
  auto scan = ir::ScanOp::create(b, *element, ValueRange(), zero, front, size, /*reverse=*/false);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&scan.getBody(), scan.getBody().end(), {*element, *element}, {b.getLoc(), b.getLoc()});
  ir::YieldOp::create(b, ir::makeSum(b, body->getArgument(0), body->getArgument(1)));
  return scan.getResult(0);
}

//===----------------------------------------------------------------------===//
// Behind a loop's axis
//===----------------------------------------------------------------------===//

/// The type of a slice of `type`.
static Type sliceOf(Location loc, Type type, int64_t length) {
  auto slice = ir::decLeading(type, length, at(loc));
  return succeeded(slice) ? *slice : type;
}

Type typeBehindLoop(Location loc, Type type, int64_t length, int64_t size) {
  auto stacked = ir::incLeading(mappedType(loc, sliceOf(loc, type, length), Axis(0), size), length, at(loc));
  return succeeded(stacked) ? *stacked : type;
}

static SmallVector<Type> loTypes(Location loc, Type type) {
  auto types = cast<ir::HiType>(type).getDef()->loTypes(cast<ir::HiType>(type), at(loc));
  return succeeded(types) ? *types : SmallVector<Type>();
}

Value mapBehindLoop(ImplicitLocOpBuilder &b, Value value, const Axis &from, Type type, int64_t length, int64_t size) {
  if (!isa<ir::HiType>(type))
    return mapAt(b, value, from, Axis(1), size);
  return remapBehindLoop(b, value, from ? specOf(b.getLoc(), type, from) : Attribute(), type, length, size);
}

Value mapComponentsBehindLoop(ImplicitLocOpBuilder &b, Value value, const Axis &from, ir::HiType type, int64_t length, int64_t size) {
  SmallVector<Axis> axes = componentAxes(b.getLoc(), type, from);
  SmallVector<Type> types = loTypes(b.getLoc(), type);
  return mapComponents(b, typeBehindLoop(b.getLoc(), type, length, size), value, [&](unsigned i, ArrayRef<Value> parts) {
    return mapBehindLoop(b, parts[0], axes[i], types[i], length, size);
  });
}

Value mapBeforeLoop(ImplicitLocOpBuilder &b, Value value, Type type, int64_t length, int64_t size) {
  if (!isa<ir::HiType>(type))
    return emit::moveAxis(b, value, 1, 0);
  return remapBeforeLoop(b, value, type, length, size);
}

Value mapComponentsBeforeLoop(ImplicitLocOpBuilder &b, Value value, ir::HiType type, int64_t length, int64_t size) {
  SmallVector<Axis> axes = componentAxes(b.getLoc(), type, Axis(0));
  SmallVector<Type> types = loTypes(b.getLoc(), type);
  return mapComponents(b, mappedType(b.getLoc(), type, Axis(0), size), value, [&](unsigned i, ArrayRef<Value> parts) {
    Value front = mapBeforeLoop(b, parts[0], types[i], length, size);
    return axes[i] ? mapAt(b, front, Axis(0), axes[i], size) : front;
  });
}

Value selectMapped(ImplicitLocOpBuilder &b, Value which, ValueRange values) {
  Type type = values.front().getType();
  if (isa<ir::HiType>(type))
    return remapSelect(b, which, values);
  return ir::SelectNOp::create(b, emit::broadcastInDim(b, which, emit::typeOf(values.front()).getShape(), {0}), values);
}

Value selectComponents(ImplicitLocOpBuilder &b, Value which, ValueRange values) {
  return mapComponents(b, values.front().getType(), values,
                       [&](unsigned, ArrayRef<Value> parts) { return selectMapped(b, which, parts); });
}

} // namespace hjx
