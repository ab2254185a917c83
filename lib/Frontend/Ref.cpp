// SPDX-License-Identifier: Apache-2.0
//
// Refs: each access is one operation of the dialect, with an index that a subscript
// was read into. A concrete ref is a leaf whose one part is the value that it holds;
// programs write into that value's memory.
#include "lib/Frontend/Request.h"
#include "lib/Frontend/Run.h"
#include "lib/Frontend/Subscript.h"
#include "lib/Refs/Parts.h"

#include <hjx/detail/rule_trees.h>
#include <hjx/ref.h>

using namespace mlir;

namespace hjx::detail {
namespace {

void checkHasRef(const Array &leaf, const char *op, Where where) {
  if (!leaf.has_value())
    fail(where, op, "expected a ref, got one without value (default-constructed)", "make one: hjx::new_ref(x)");
}

/// A part of a value, as the IR names it.
struct PartAccess {
  Aval held;
  SmallVector<Value> indices;
  SmallVector<int64_t> starts, sizes, strides;
  mlir::Type part;

  PartAccess(OpScope &op, const Aval &held, const std::string &what, const IndexList &subscript) : held(held) {
    mlir::Type type = typeOf(op, held);
    if (!subscript.empty()) {
      Shape dimensions = dimensionsOf(op, type);
      readIndex(op, dimensions, readSubscript(op, dimensions, what, subscript));
    }
    auto partType = index().partOf(type, [&] { return emitError(op.builder().getLoc()) << "'hjx.ref_get' op "; });
    if (failed(partType))
      op.failWithDiagnostics();
    part = *partType;
  }

  ir::RefIndex index() const { return {indices, starts, sizes, strides}; }
  Aval partAval() const { return avalOf(part); }

private:
  /// That an index has: of an array, or as the author of a hi-type says.
  Shape dimensionsOf(OpScope &op, mlir::Type type) const {
    auto hi = dyn_cast<ir::HiType>(type);
    if (!hi)
      return held.shape;
    ScopedDiagnosticHandler quiet(&op.context(), [](Diagnostic &) { return success(); });
    auto shape = hi.getDef()->indexShape(hi, [&] { return emitError(op.builder().getLoc()); });
    if (failed(shape))
      op.fail("expected an access of all of the ref of " + describe(held) + ", got an index",
              "leave the index out, or write index_shape, part_type, get_part and set_part in the class of the type");
    return Shape(shape->begin(), shape->end());
  }
  void readIndex(OpScope &op, const Shape &dimensions, const Plan &plan) {
    if (llvm::is_contained(plan.layout, Plan::kNewAxis))
      op.fail("expected no new axis in an index of a ref", "reshape what is read or written");
    for (auto [axis, entry] : llvm::enumerate(plan.axes)) {
      if (entry.positions) {
        Operand positions = *entry.positions;
        addAt(positions.rank() == 0 ? positions : broadcastTo(op, positions, plan.arrayShape));
      } else if (entry.dropped && op.isEager()) { // One program for all positions.
        addAt(op.use(hjx::array(static_cast<int32_t>(entry.start), DType::int32, op.where())));
      } else if (entry.dropped) {
        add(entry.start, ir::RefIndex::kDropped, 1);
      } else if (entry.step < 0) {
        op.fail("expected slices of a ref with a step of at least 1, got " + std::to_string(entry.step),
                "reverse what is read or written: hjx::flip");
      } else {
        bool isWhole = entry.count == dimensions[axis];
        add(isWhole ? 0 : entry.start, isWhole ? ir::RefIndex::kAll : entry.count, isWhole ? 1 : entry.step);
      }
    }
  }
  void add(int64_t start, int64_t size, int64_t stride) {
    starts.push_back(start);
    sizes.push_back(size);
    strides.push_back(stride);
  }
  void addAt(const Operand &position) {
    indices.push_back(position.value);
    add(ir::RefIndex::kDynamic, ir::RefIndex::kDropped, 1);
  }
};

/// A ref in the current frame, and what the accessed part is.
struct RefAccess : PartAccess {
  Value ref;

  RefAccess(OpScope &op, const Array &leaf, const IndexList &subscript)
      : PartAccess(op, heldBy(op, leaf), describe(leaf), subscript), ref(op.frame().use(leaf, op)) {}

private:
  static Aval heldBy(OpScope &op, const Array &leaf) {
    checkHasRef(leaf, op.name(), op.where());
    Aval held = avalOf(leaf, op.name(), op.where());
    if (!held.isRef)
      op.fail("expected a ref, got " + describe(leaf), "make one: hjx::new_ref(x)");
    held.isRef = false;
    return held;
  }
};

/// `value` in the type of the part: numbers take its element type and fill it.
Value prepare(OpScope &op, const PartAccess &access, const Array &value) {
  Aval expected = access.partAval(), got = avalOf(value, op.name(), op.where());
  if (got.isRef)
    op.fail("expected a value to store, got the ref " + describe(value) + "; refs do not nest", "store what it holds: ref.get()");
  if (expected.isArray() && got.isArray() && got.isWeak) {
    Operand operand = op.use(value);
    bool gives = is_floating(expected.dtype) ? is_floating(got.dtype) || is_integer(got.dtype) || got.dtype == expected.dtype
                 : is_integer(expected.dtype) ? is_integer(got.dtype)
                                              : got.dtype == expected.dtype;
    if (gives) {
      operand = convert(op, operand, expected.dtype);
      if (operand.rank() == 0)
        operand = broadcastTo(op, operand, expected.shape.vec());
      got = Aval(expected.dtype, Shape(operand.shape().begin(), operand.shape().end()));
      if (got.sameType(expected))
        return operand.value;
    }
  }
  if (!got.sameType(expected))
    op.fail("expected a value of type " + describe(expected) + ", that of the part, got " + describe(got),
            got.isArray() && expected.isArray() && got.shape == expected.shape
                ? "convert it: x.astype(hjx::" + std::string(hjx::name(expected.dtype)) + ")"
                : "reshape or broadcast it to the part's shape");
  return op.frame().use(value, op);
}

/// A concrete copy, in memory of its own where a computation on the leaf would run. What a cell
/// holds is committed to its device.
Array copyOf(const Array &leaf, const Call &call) {
  SmallVector<Storage> copies = copyTo(leaf, *choosePlace(ArrayRef(leaf), call).device, call);
  size_t next = 0;
  Aval aval = avalOf(leaf, call.name(), call.where());
  aval.isWeak = false;
  return assemble(layoutOf(aval, call), [&](const Aval &) { return copies[next++]; }, call.where(), /*isCommitted=*/true);
}

Aval refOf(Aval aval) {
  aval.isRef = true;
  aval.isWeak = false;
  return aval;
}

} // namespace

Array newRefFlat(const Array &init, Where where) {
  Call call("new_ref", where);
  Aval aval = avalOf(init, call.name(), where);
  if (aval.isRef)
    call.fail("expected a value to store, got the ref " + describe(init) + "; refs do not nest", "store what it holds: ref.get()");
  if (!Frame::current())
    return makeConcrete(refOf(aval), std::vector<Array>{copyOf(init, call)}, where);
  OpScope op("new_ref", where);
  Value value = op.frame().use(init, op);
  return op.wrap({ir::RefNewOp::create(op.builder(), ir::RefType::get(value.getType()), value)});
}

Array emptyRefFlat(const Type &type, Where where) {
  Call call("empty_ref", where);
  Aval aval(type);
  if (aval.isArray())
    checkShape(aval.shape, call.name(), where);
  if (!Frame::current()) {
    auto zeroed = [&](const Aval &part) {
      Storage storage = allocate(part, defaultDevice(call), where);
      if (absl::Status status = storage->device().fill(storage->data(), 0, storage->sizeBytes()); !status.ok())
        failWith(status, call);
      return storage;
    };
    return makeConcrete(refOf(aval), std::vector<Array>{assemble(layoutOf(aval, call), zeroed, where, /*isCommitted=*/true)}, where);
  }
  OpScope op("empty_ref", where);
  return op.wrap({ir::RefEmptyOp::create(op.builder(), ir::RefType::get(typeOf(op, aval)))});
}

Array refGet(const char *name, const Array &ref, const IndexList &indices, Where where) {
  OpScope op(name, where);
  RefAccess a(op, ref, indices);
  return op.finish(op.wrap({ir::RefGetOp::create(op.builder(), a.part, a.ref, a.indices, a.starts, a.sizes, a.strides)}));
}

Array refSwap(const char *name, const Array &ref, const IndexList &indices, const Array &value, Where where) {
  OpScope op(name, where);
  RefAccess a(op, ref, indices);
  Value stored = prepare(op, a, value);
  auto swap = ir::RefSwapOp::create(op.builder(), a.part, a.ref, a.indices, stored, a.starts, a.sizes, a.strides);
  return op.finish(op.wrap({swap}));
}

void refAdd(const Array &ref, const IndexList &indices, const Array &value, Where where) {
  OpScope op("add", where);
  RefAccess a(op, ref, indices);
  if (a.held.isArray() && (a.held.dtype == DType::bool_ || a.held.dtype == DType::key))
    op.fail("expected a ref of numbers, got " + describe(ref), "set the part instead");
  Value added = prepare(op, a, value);
  ir::RefAddOp::create(op.builder(), a.ref, a.indices, added, a.starts, a.sizes, a.strides);
  op.finish(std::vector<Array>{});
}

void accumulate(AccumSlot &slot, const IndexList &part, const Array &bar, Where where) {
  if (slot.kind == AccumSlot::Unwanted || !bar.has_value())
    return;
  if (slot.kind == AccumSlot::Cell)
    return refAdd(slot.cell, part, bar, where);
  OpScope op("add", where);
  PartAccess a(op, Aval(slot.type), "the cotangent " + describe(Aval(slot.type)), part);
  Value added = prepare(op, a, bar);
  if (part.empty() && !slot.sum.has_value()) {
    slot.sum = op.wrap({added});
    return;
  }
  Array whole = slot.sum.has_value() ? slot.sum : zeroOf(op, Aval(slot.type));
  auto sum = addPart(op.builder(), op.frame().use(whole, op), a.index(), added);
  op.checkDiagnostics();
  if (failed(sum))
    op.fail("cannot add to the cotangent " + describe(Aval(slot.type)), "add to all of it");
  slot.sum = op.wrap({*sum});
}

Array freezeFlat(const Array &ref, Where where) {
  if (!Frame::current())
    return refGet("freeze", ref, {}, where);
  OpScope op("freeze", where);
  RefAccess a(op, ref, {});
  bool isOwn = op.frame().owns(ref) && isa_and_nonnull<ir::RefNewOp, ir::RefEmptyOp>(a.ref.getDefiningOp());
  if (!isOwn)
    op.fail("expected a ref that was made by the same function, got " + describe(ref) + " from outside", "read it: ref.get()");
  Access::get(ref)->frozenAt = where;
  return op.wrap({ir::RefFreezeOp::create(op.builder(), a.part, a.ref)});
}

} // namespace hjx::detail

hjx::ArrayLike::ArrayLike(const RefPart &part, Where where) : array(part.get()), where(where) {}

std::string hjx::to_string(const Ref &ref) {
  const Array &handle = ref.hjxHandle();
  if (!handle.has_value())
    return "Ref()";
  bool isConcrete = detail::Access::get(handle)->parts && !detail::Access::get(handle)->isDonated;
  return isConcrete ? "Ref(" + to_string(detail::Access::get(handle)->parts->front()) + ")" : to_string(handle);
}
std::ostream &hjx::operator<<(std::ostream &os, const Ref &ref) { return os << to_string(ref); }

namespace hjx::detail {

const Shape &refShape(const Array &ref, Where where) {
  checkHasRef(ref, "shape", where);
  Aval aval = avalOf(ref, "shape", where);
  if (!aval.isRef || aval.hi)
    fail(where, "shape", "expected a ref of an array, got " + describe(ref), "ask for its type()");
  return Access::get(ref)->shape;
}

Type refType(const Array &ref, Where where) {
  checkHasRef(ref, "type", where);
  Aval aval = avalOf(ref, "type", where);
  if (!aval.isRef)
    fail(where, "type", "expected a ref, got " + describe(ref), "make one: hjx::new_ref(x)");
  return aval.type();
}

} // namespace hjx::detail
