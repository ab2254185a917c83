// SPDX-License-Identifier: Apache-2.0
//
// Which ops run in the kernel of a product: see ProductEpilogue.h. Greedy, in program order: an
// elementwise op on what the group writes joins if it can be moved up to the group, or the group down to it.
// Not if it would only save a read of what is written anyway and belongs to a reduction, whose kernel
// has its result in registers (a norm's derivative): here it would go through memory.
#include "lib/Codegen/Gpu/ProductEpilogue.h"

#include "lib/Codegen/Structured/BufferEffects.h"
#include "lib/Codegen/Structured/RowLoops.h"

#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace hjx;

static constexpr unsigned kWindow = 64;      ///< Ops behind the group that are looked at.
static constexpr unsigned kMaxBuffers = 12;  ///< Beside the factors: each has an address and strides.
static constexpr unsigned kMaxBodyOps = 160; ///< Of scalars: a thread has a hundred sums.

namespace {

class ProductGroup {
public:
  ProductGroup(linalg::GenericOp op, const Product &product)
      : op(op), product(product), fill(zeroFillBefore(op, op.getDpsInits()[0])) {
    if (fill)
      members.push_back(fill);
    members.push_back(op);
    for (Operation *member : members)
      effects.addAll(BufferEffects::of(member));
  }

  void addFollowers();
  /// The members, behind the buffers that are theirs alone.
  SmallVector<Operation *> ops() const;

private:
  bool tryAdd(linalg::GenericOp op);
  bool moveUp(Operation *op);
  bool moveDownTo(Operation *op);
  bool isMember(Operation *op) const { return llvm::is_contained(members, op); }
  bool isOwn(Value buffer) const;
  bool seesBuffersAsOne();
  bool isWorthIt(linalg::GenericOp candidate) const;

  linalg::GenericOp op;
  const Product &product;
  linalg::GenericOp fill;
  SmallVector<Operation *> members;
  SmallVector<linalg::GenericOp> followers;
  BufferEffects effects, between; // Of the members; of the ops from them to where we look.
};

} // namespace

void ProductGroup::addFollowers() {
  Operation *next = op->getNextNode();
  for (unsigned looked = 0; next && looked < kWindow; ++looked) {
    Operation *here = next;
    next = next->getNextNode();
    auto generic = dyn_cast<linalg::GenericOp>(here);
    if (!generic || !tryAdd(generic))
      between.addAll(BufferEffects::of(here));
  }
}

bool ProductGroup::tryAdd(linalg::GenericOp candidate) {
  members.push_back(candidate);
  followers.push_back(candidate);
  unsigned numBodyOps = 0;
  for (linalg::GenericOp follower : followers)
    numBodyOps += follower.getBody()->getOperations().size();
  if (numBodyOps <= kMaxBodyOps && seesBuffersAsOne()) {
    auto epilogue = ProductEpilogue::match(op, product, /*accumulate=*/!fill, followers,
                                           [&](Value root) { return !isOwn(root); });
    if (epilogue && epilogue->buffers.size() <= kMaxBuffers && isWorthIt(candidate) && (moveUp(candidate) || moveDownTo(candidate))) {
      effects.addAll(BufferEffects::of(candidate));
      return true;
    }
  }
  members.pop_back();
  followers.pop_back();
  return false;
}

/// Moves the last member behind the one before, and what makes its buffers.
bool ProductGroup::moveUp(Operation *candidate) {
  if (BufferEffects::of(candidate).conflictsWith(between))
    return false;
  Operation *last = members[members.size() - 2];
  llvm::SetVector<Operation *> along;
  std::function<bool(Value)> isAvailable = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    if (!maker || maker->getBlock() != last->getBlock() || maker->isBeforeInBlock(last))
      return true;
    if (!isa<memref::AllocOp, ViewLikeOpInterface>(maker) && !matchPattern(value, m_Constant()))
      return false;
    if (!llvm::all_of(maker->getOperands(), isAvailable))
      return false;
    along.insert(maker);
    return true;
  };
  llvm::SetVector<Value> needed(candidate->operand_begin(), candidate->operand_end());
  getUsedValuesDefinedAbove(candidate->getRegions(), needed);
  if (!llvm::all_of(needed, isAvailable))
    return false;
  candidate->moveAfter(last);
  for (Operation *maker : along)
    maker->moveBefore(candidate);
  return true;
}

/// Moves the other members in front of the last one.
bool ProductGroup::moveDownTo(Operation *candidate) {
  if (effects.conflictsWith(between))
    return false;
  for (Operation *member : ArrayRef(members).drop_back())
    member->moveBefore(candidate);
  between = {};
  return true;
}

/// Whether `buffer` is made for the members: nothing else uses it, or a view of it.
bool ProductGroup::isOwn(Value buffer) const {
  Operation *maker = buffer.getDefiningOp();
  return isa_and_present<memref::AllocOp, ViewLikeOpInterface>(maker) &&
         llvm::all_of(buffer.getUsers(), [&](Operation *user) {
           return isMember(user) || (isa<ViewLikeOpInterface>(user) && isOwn(user->getResult(0)));
         });
}

/// Whether C and the followers have one name for each buffer that is not theirs alone: the kernel takes
/// them by name.
bool ProductGroup::seesBuffersAsOne() {
  llvm::SmallDenseMap<Value, Value> names;
  auto isOnlyName = [&](Value operand) {
    if (!isa<MemRefType>(operand.getType()))
      return true;
    Value root = rootBuffer(operand);
    return isOwn(root) || names.try_emplace(root, operand).first->second == operand;
  };
  return isOnlyName(op.getDpsInits()[0]) && llvm::all_of(followers, [&](linalg::GenericOp follower) {
           return llvm::all_of(follower->getOperands(), isOnlyName);
         });
}

/// Whether an op, not a product, sums up or the like what is in `buffer`.
static bool isReduced(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return isReduced(user->getResult(0));
    auto generic = dyn_cast<linalg::GenericOp>(user);
    return generic && generic.getNumReductionLoops() > 0 && llvm::is_contained(generic.getDpsInputs(), buffer) &&
           !Product::match(generic);
  });
}

bool ProductGroup::isWorthIt(linalg::GenericOp candidate) const {
  bool endsItsInputs = llvm::all_of(candidate.getDpsInputs(), [&](Value input) {
    return !isa<MemRefType>(input.getType()) || !effects.writes.contains(rootBuffer(input)) || isOwn(rootBuffer(input));
  });
  return endsItsInputs || llvm::none_of(candidate.getDpsInits(), [](Value output) { return isReduced(rootBuffer(output)); });
}

SmallVector<Operation *> ProductGroup::ops() const {
  llvm::SetVector<Operation *> ops;
  std::function<void(Value)> addMaker = [&](Value buffer) {
    Operation *maker = buffer.getDefiningOp();
    if (!maker || !isOwn(rootBuffer(buffer)))
      return;
    llvm::for_each(maker->getOperands(), addMaker);
    ops.insert(maker);
  };
  for (Operation *member : members)
    for (Value operand : member->getOperands())
      if (isa<MemRefType>(operand.getType()))
        addMaker(operand);
  ops.insert(members.begin(), members.end());
  return ops.takeVector();
}

SmallVector<Operation *> hjx::groupProduct(linalg::GenericOp op, const Product &product) {
  ProductGroup group(op, product);
  group.addFollowers();
  return group.ops();
}
