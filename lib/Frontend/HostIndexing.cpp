// SPDX-License-Identifier: Apache-2.0
//
// Reading parts of arrays that lie in memory of the host, without a program: what is
// read costs what it is, not what it is read from, and no index is compiled. An array
// of 20 GiB in a file gives its first row for the pages of that row.
#include "lib/Frontend/Subscript.h"

#include <cstring>

using namespace mlir;

namespace hjx::detail {

/// One axis of a copy, outermost first.
struct CopyLoop {
  int64_t count, fromStride, toStride; // Strides in bytes.
};

/// Copies runs of `runBytes`, of which each axis of `loops` has `count`.
static void copyParts(std::byte *to, const std::byte *from, ArrayRef<CopyLoop> loops, int64_t runBytes) {
  if (loops.empty()) {
    std::memcpy(to, from, runBytes);
    return;
  }
  for (int64_t i = 0; i < loops[0].count; ++i)
    copyParts(to + i * loops[0].toStride, from + i * loops[0].fromStride, loops.drop_front(), runBytes);
}

bool isReadOnHost(const OpScope &op, const Array &array) {
  const ArrayImpl &impl = *Access::get(array);
  if (!impl.isArray() || !impl.storage || !impl.storage->isOnHost())
    return false;
  // jit refuses arrays that are no arguments, and what it refuses is not for us to read.
  return op.isEager() || Frame::current()->session.constants == Constants::Lift;
}

Array readOnHost(OpScope &op, const Array &array, const Plan &plan, ArrayRef<int64_t> shape) {
  const ArrayImpl &impl = *Access::get(array);
  int64_t itemBytes = item_size(impl.dtype);
  // From the last axis on: whole axes, and the first that is dense, are one run.
  SmallVector<CopyLoop> loops;
  int64_t fromStride = itemBytes, toStride = itemBytes, runBytes = itemBytes, offset = 0;
  bool isRun = true;
  for (size_t axis = plan.axes.size(); axis-- > 0;) {
    const AxisPlan &entry = plan.axes[axis];
    offset += entry.start * fromStride;
    if (isRun && (entry.step == 1 || entry.count == 1))
      runBytes *= entry.count;
    else
      loops.insert(loops.begin(), {entry.count, entry.step * fromStride, toStride});
    isRun &= entry.count == impl.shape[axis] && entry.step == 1;
    fromStride *= impl.shape[axis];
    toStride *= entry.count;
  }
  Aval aval(impl.dtype, Shape(shape.begin(), shape.end()), impl.isWeak);
  Storage part = allocate(aval, impl.storage->device(), op.where());
  if (part->sizeBytes() > 0)
    copyParts(part->as<std::byte>(), impl.storage->as<std::byte>() + offset, loops, runBytes);
  Array result = makeConcrete(aval, std::move(part), op.where(), impl.isCommitted);
  Access::get(result)->serial = impl.serial; // It is as old as what it is a part of.
  Access::get(result)->isFrozen = impl.isFrozen;
  return result;
}

void stayHome(OpScope &op, const Array &array) {
  const ArrayImpl &impl = Access::checked(array, op.name(), op.where());
  if (op.isEager() && impl.storage && impl.storage->isOnHost() && !impl.isCommitted && !impl.literal)
    op.session().home = &impl.storage->device();
}

} // namespace hjx::detail
