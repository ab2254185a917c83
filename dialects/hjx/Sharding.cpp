// SPDX-License-Identifier: Apache-2.0
#include "dialects/hjx/Sharding.h"

#include "dialects/hjx/Hjx.h"

using namespace mlir;

namespace hjx::ir {

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// How many parts an entry of an array's spec cuts a dimension into.
static FailureOr<int64_t> partsOf(MeshAxes mesh, Attribute entry, llvm::SmallDenseSet<StringRef> &taken, EmitError emitError) {
  auto number = dyn_cast<IntegerAttr>(entry);
  if (isa<UnitAttr>(entry) || (number && number.getInt() == -1))
    return 1;
  if (auto list = dyn_cast<ArrayAttr>(entry)) {
    int64_t product = 1;
    for (Attribute axis : list) {
      auto parts = isa<StringAttr>(axis) ? partsOf(mesh, axis, taken, emitError)
                                         : emitError() << "expected names of mesh axes in a list, got " << axis;
      if (failed(parts))
        return failure();
      product *= *parts;
    }
    return product;
  }
  auto name = dyn_cast<StringAttr>(entry);
  if (!name)
    return emitError() << "expected a mesh axis, a list of them or nothing for a dimension, got " << entry;
  const auto *axis = llvm::find_if(mesh, [&](const auto &axis) { return axis.first == name.getValue(); });
  if (axis == mesh.end()) {
    InFlightDiagnostic diagnostic = emitError() << "expected an axis of the mesh, got " << name << "; its axes are: ";
    llvm::interleaveComma(mesh, diagnostic, [&](const auto &known) { diagnostic << known.first; });
    return failure();
  }
  if (!taken.insert(axis->first).second)
    return emitError() << "mesh axis " << name << " cuts two dimensions; use each axis once";
  return axis->second;
}

/// An array type with each dimension changed as `change(size, parts)` says; it fails by a negative size.
static FailureOr<Type> changeSizes(RankedTensorType type, MeshAxes mesh, Attribute spec, EmitError emitError,
                                   llvm::function_ref<int64_t(int64_t, int64_t)> change) {
  auto entries = dyn_cast_or_null<ArrayAttr>(spec);
  if (!entries || static_cast<int64_t>(entries.size()) != type.getRank())
    return emitError() << "expected a partition spec with an entry for each dimension of " << type << ", got " << spec;
  llvm::SmallDenseSet<StringRef> taken;
  SmallVector<int64_t> shape;
  for (auto [d, entry] : llvm::enumerate(entries)) {
    auto parts = partsOf(mesh, entry, taken, emitError);
    if (failed(parts))
      return failure();
    shape.push_back(change(type.getDimSize(d), *parts));
    if (shape.back() < 0)
      return emitError() << "dimension " << d << " of " << type << " does not divide into " << *parts
                         << " parts; pad it, or leave it whole";
  }
  return Type(type.clone(shape));
}

static FailureOr<Type> changeSizes(RankedTensorType type, MeshAxes mesh, Attribute spec, EmitError emitError, bool isShard) {
  return changeSizes(type, mesh, spec, emitError, [&](int64_t size, int64_t parts) {
    return !isShard ? size * parts : size % parts ? -1 : size / parts;
  });
}

//===----------------------------------------------------------------------===//
// Any type
//===----------------------------------------------------------------------===//

static FailureOr<Type> change(Type type, MeshAxes mesh, Attribute spec, EmitError emitError, bool isShard) {
  auto hi = dyn_cast<HiType>(type);
  if (!hi)
    return changeSizes(cast<RankedTensorType>(type), mesh, spec, emitError, isShard);
  const HiTypeDef &def = *hi.getDef();
  auto changed = isShard ? def.shard(hi, mesh, spec, emitError) : def.unshard(hi, mesh, spec, emitError);
  auto before = def.loTypes(hi, emitError);
  auto specs = loPartitions(hi, spec, emitError);
  if (failed(changed) || failed(before) || failed(specs))
    return failure();
  auto changedHi = dyn_cast<HiType>(*changed);
  auto after = changedHi ? changedHi.getDef()->loTypes(changedHi, emitError) : FailureOr<SmallVector<Type>>(SmallVector<Type>{*changed});
  if (failed(after))
    return failure();
  bool agree = after->size() == before->size();
  for (unsigned i = 0; agree && i < before->size(); ++i) {
    auto component = change((*before)[i], mesh, (*specs)[i], emitError, isShard);
    if (failed(component))
      return failure();
    agree = *component == (*after)[i];
  }
  if (!agree)
    return emitError() << "the components of " << *changed << " are not those of " << type << " cut up by their specs: "
                       << (isShard ? "shard" : "unshard") << ", lo_types and lo_partitions disagree";
  return changed;
}

FailureOr<Type> shard(Type type, MeshAxes mesh, Attribute spec, EmitError emitError) {
  return change(type, mesh, spec, emitError, /*isShard=*/true);
}
FailureOr<Type> unshard(Type type, MeshAxes mesh, Attribute spec, EmitError emitError) {
  return change(type, mesh, spec, emitError, /*isShard=*/false);
}

FailureOr<Attribute> noSpec(Type type, MeshAxes mesh, EmitError emitError) {
  if (auto hi = dyn_cast<HiType>(type))
    return hi.getDef()->noSpec(hi, mesh, emitError);
  SmallVector<Attribute> entries(cast<RankedTensorType>(type).getRank(), IntegerAttr::get(IntegerType::get(type.getContext(), 64), -1));
  return Attribute(ArrayAttr::get(type.getContext(), entries));
}

FailureOr<SmallVector<Attribute>> loPartitions(Type type, Attribute spec, EmitError emitError) {
  auto hi = dyn_cast<HiType>(type);
  if (!hi)
    return SmallVector<Attribute>{spec};
  auto specs = hi.getDef()->loPartitions(hi, spec, emitError);
  auto components = hi.getDef()->loTypes(hi, emitError);
  if (failed(specs) || failed(components))
    return failure();
  if (specs->size() != components->size())
    return emitError() << "expected a partition spec for each of the " << components->size() << " components of " << type << ", got "
                       << specs->size();
  return specs;
}

FailureOr<Attribute> tangentPartition(Type type, Attribute spec, EmitError emitError) {
  auto hi = dyn_cast<HiType>(type);
  return hi ? hi.getDef()->tangentPartition(hi, spec, emitError) : FailureOr<Attribute>(spec);
}

} // namespace hjx::ir
