// SPDX-License-Identifier: Apache-2.0
//
// Partition specs: how a value of any type is cut up over a mesh of devices. For
// the sharding passes to come; until there are any, tests ask these questions.
//
// The spec of an array is a list with an entry for each dimension: a mesh axis, a
// list of them (the first is the major one), or nothing (unit, or -1) for a dimension
// that is whole everywhere. The spec of a hi-type is what its author likes; it says
// the spec of each component. After JAX's shard, unshard, nospec and HiPspec.
#pragma once

#include "dialects/hjx/HiTypes.h"

namespace hjx::ir {

/// The type of one device's part of a value of `type`, and the converse.
///
/// For a hi-type it is checked that the components of the part are the parts of the components: an
/// expansion on parts then makes the types that it declares.
mlir::FailureOr<mlir::Type> shard(mlir::Type type, MeshAxes mesh, mlir::Attribute spec, EmitError emitError);
mlir::FailureOr<mlir::Type> unshard(mlir::Type type, MeshAxes mesh, mlir::Attribute spec, EmitError emitError);

/// The spec where nobody gave one (residuals, captures): of an array, whole everywhere.
mlir::FailureOr<mlir::Attribute> noSpec(mlir::Type type, MeshAxes mesh, EmitError emitError);

/// The specs of the components of a value of `type`, and of its tangent.
mlir::FailureOr<llvm::SmallVector<mlir::Attribute>> loPartitions(mlir::Type type, mlir::Attribute spec, EmitError emitError);
mlir::FailureOr<mlir::Attribute> tangentPartition(mlir::Type type, mlir::Attribute spec, EmitError emitError);

} // namespace hjx::ir
