// SPDX-License-Identifier: Apache-2.0
//
// Partition specs: how a value of any type is cut up over a mesh of devices. Used by
// the sharding passes to come; now these are questions that types answer.
//
//   hjx::Mesh mesh{{{"i", 4}}};
//   shard(Type(float32, {8, 3}), mesh, {"i", none});   // f32[2,3], what one device holds
//
// The spec of an array has an entry for each dimension: a mesh axis, a list of axes
// (the first is the major one), or none. The spec of a hi-type is what its author
// likes (hjx/hi_type.h). After JAX's partition specs and HiPspec.
#pragma once

#include <hjx/axis_spec.h>
#include <hjx/type.h>

namespace hjx {

/// Names and sizes of the axes of a mesh of devices.
struct Mesh {
  std::vector<std::pair<std::string, int64_t>> axes;
};

/// The type of what one device holds of a value of `type`, and the converse.
///
/// Errors: hjx::Error if the spec does not fit the type, or the components of the part are not the
///         parts of the components.
HJX_API Type shard(const Type &type, const Mesh &mesh, const AxisSpec &spec, Where where = Where::current());
HJX_API Type unshard(const Type &type, const Mesh &mesh, const AxisSpec &spec, Where where = Where::current());
/// The spec where nobody gave one; of an array: whole on every device.
HJX_API AxisSpec no_spec(const Type &type, const Mesh &mesh, Where where = Where::current());
/// The specs of the components of a value of `type`, one for an array, and of its tangent.
HJX_API std::vector<AxisSpec> lo_partitions(const Type &type, const AxisSpec &spec, Where where = Where::current());
HJX_API AxisSpec tangent_partition(const Type &type, const AxisSpec &spec, Where where = Where::current());

} // namespace hjx
