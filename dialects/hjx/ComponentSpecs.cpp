// SPDX-License-Identifier: Apache-2.0
#include "dialects/hjx/ComponentSpecs.h"

#include "dialects/hjx/Hjx.h"

using namespace mlir;

namespace hjx::ir {

constexpr int64_t kUnusualSize = 1000003;

static FailureOr<Attribute> specOf(Type inner, Type outer, Attribute hint);

/// The list of how each component of a container became that of another; null if they are not alike. The
/// components of a tangent may be mapped in other words than those of the value: an array where that has a hi value.
static Attribute listOfSpecs(Type inner, Type outer, Attribute hint, EmitError emitError) {
  auto from = dyn_cast<HiType>(inner), to = dyn_cast<HiType>(outer);
  if (!from || !to)
    return {};
  auto inners = from.getDef()->loTypes(from, emitError), outers = to.getDef()->loTypes(to, emitError);
  if (failed(inners) || failed(outers) || inners->size() != outers->size())
    return {};
  auto hints = dyn_cast_or_null<ArrayAttr>(hint);
  SmallVector<Attribute> specs;
  for (unsigned i = 0; i < inners->size(); ++i) {
    auto spec = specOf((*inners)[i], (*outers)[i], hints && i < hints.size() ? hints[i] : hint);
    if (failed(spec))
      return {};
    specs.push_back(*spec ? *spec : UnitAttr::get(inner.getContext()));
  }
  return ArrayAttr::get(inner.getContext(), specs);
}

/// How `inner` became `outer`; failure when it is not by one more axis. `hint` may be it.
static FailureOr<Attribute> specOf(Type inner, Type outer, Attribute hint) {
  if (inner == outer)
    return Attribute();
  if (auto array = dyn_cast<RankedTensorType>(outer)) {
    auto place = llvm::find(array.getShape(), kUnusualSize);
    if (place == array.getShape().end() || dropAxis(array, place - array.getShape().begin()) != inner)
      return failure();
    return Attribute(IntegerAttr::get(IntegerType::get(inner.getContext(), 64), place - array.getShape().begin()));
  }
  ScopedDiagnosticHandler quiet(inner.getContext(), [](Diagnostic &) { return success(); });
  auto ignore = [&] { return emitError(UnknownLoc::get(inner.getContext())); };
  auto leading = leadingAxisSpec(inner, ignore);
  for (Attribute spec : {hint, succeeded(leading) ? *leading : Attribute(), listOfSpecs(inner, outer, hint, ignore)})
    if (auto mapped = spec ? incRank(inner, kUnusualSize, spec, ignore) : FailureOr<Type>(); succeeded(mapped) && *mapped == outer)
      return spec;
  return failure();
}

FailureOr<SmallVector<Attribute>> componentSpecs(HiType element, Attribute spec, EmitError emitError) {
  auto mapped = incRank(element, kUnusualSize, spec, emitError);
  if (failed(mapped))
    return failure();
  auto hi = dyn_cast<HiType>(*mapped);
  auto inner = element.getDef()->loTypes(element, emitError);
  auto outer = hi ? hi.getDef()->loTypes(hi, emitError) : FailureOr<SmallVector<Type>>();
  if (failed(inner) || (hi && failed(outer)))
    return failure();
  bool areAlike = hi && inner->size() == outer->size();
  // A container's spec often is the list of its components' specs.
  auto hints = dyn_cast<ArrayAttr>(spec);
  if (!areAlike || (hints && hints.size() != inner->size()))
    hints = {};
  SmallVector<Attribute> specs;
  for (unsigned i = 0; areAlike && i < inner->size(); ++i) {
    auto component = specOf((*inner)[i], (*outer)[i], hints ? hints[i] : spec);
    areAlike = succeeded(component);
    specs.push_back(areAlike ? *component : Attribute());
  }
  if (!areAlike)
    return emitError() << "the components of " << *mapped << " are not those of " << element
                       << " with one more axis each: lo_types and inc_rank disagree";
  return specs;
}

FailureOr<Attribute> tangentSpec(Type element, Attribute spec, EmitError emitError) {
  auto mapped = incRank(element, kUnusualSize, spec, emitError);
  if (failed(mapped))
    return failure();
  Type inner = tangentOf(element), outer = tangentOf(*mapped);
  auto tangent = inner && outer ? specOf(inner, outer, spec) : FailureOr<Attribute>();
  if (failed(tangent) || !*tangent)
    return emitError() << "the tangent type of " << *mapped << " is not that of " << element << " with one more axis";
  return tangent;
}

} // namespace hjx::ir
