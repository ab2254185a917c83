// SPDX-License-Identifier: Apache-2.0
//
// Lifetimes that follow launches: see the header. Time is the number of an op among those of the block that do
// something; what moves takes the time of an op that is there.
#include "lib/Codegen/Gpu/LaunchMemory.h"

#include "lib/Codegen/Structured/Motion.h"
#include "lib/Support/SizeBytes.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace hjx;

/// The ops of `block` that use `buffer` or a view of it, or that have such ops inside.
static void collectUsers(Value buffer, Block &block, llvm::SmallSetVector<Operation *, 8> &users) {
  for (Operation *user : buffer.getUsers()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(user))
      collectUsers(view->getResult(0), block, users);
    else
      users.insert(block.findAncestorOpInBlock(*user));
  }
}

LaunchMemory::LaunchMemory(Block &block, int64_t minBytes) {
  for (Operation &op : block)
    if (!isMovable(&op))
      times.try_emplace(&op, times.size());
  live.assign(times.size(), 0);
  for (auto alloc : block.getOps<memref::AllocOp>()) {
    MemRefType type = alloc.getType();
    int64_t bytes = type.hasStaticShape() ? sizeBytes(type) : 0;
    llvm::SmallSetVector<Operation *, 8> users;
    collectUsers(alloc, block, users);
    users.remove_if([&](Operation *user) { return !times.contains(user); });
    if (bytes < minBytes || users.empty())
      continue;
    for (Operation *user : users)
      buffersOf[user].push_back(buffers.size());
    auto [first, last] = std::minmax_element(users.begin(), users.end(), [&](Operation *a, Operation *b) { return times.at(a) < times.at(b); });
    for (unsigned time = times.at(*first); time <= times.at(*last); ++time)
      live[time] += bytes;
    buffers.push_back({bytes, llvm::to_vector(users)});
  }
  if (!live.empty())
    limit = *llvm::max_element(live) / 8 * 7;
}

LaunchMemory::Change LaunchMemory::changeOf(Operation *launch, unsigned to) const {
  struct Life {
    unsigned first, last;
  };
  auto lifeOf = [&](const Buffer &buffer, unsigned time) {
    Life life{time, time};
    for (Operation *user : buffer.users)
      if (user != launch)
        life = {std::min(life.first, times.at(user)), std::max(life.last, times.at(user))};
    return life;
  };
  unsigned from = times.at(launch);
  // All that changes lies between the two.
  Change change{std::min(from, to), {}};
  change.bytes.assign(std::max(from, to) - change.first + 1, 0);
  auto it = buffersOf.find(launch);
  for (unsigned number : it == buffersOf.end() ? ArrayRef<unsigned>() : ArrayRef<unsigned>(it->second)) {
    const Buffer &buffer = buffers[number];
    Life before = lifeOf(buffer, from), after = lifeOf(buffer, to);
    for (auto [index, bytes] : llvm::enumerate(change.bytes)) {
      unsigned time = change.first + index;
      bytes += ((after.first <= time && time <= after.last) - (before.first <= time && time <= before.last)) * buffer.bytes;
    }
  }
  return change;
}

bool LaunchMemory::mayMove(Operation *launch, Operation *position) const {
  Change change = changeOf(launch, times.at(position));
  return llvm::all_of(llvm::enumerate(change.bytes), [&](auto each) {
    return each.value() <= 0 || live[change.first + each.index()] + each.value() <= limit;
  });
}

void LaunchMemory::move(Operation *launch, Operation *position) {
  Change change = changeOf(launch, times.at(position));
  for (auto [index, bytes] : llvm::enumerate(change.bytes))
    live[change.first + index] += bytes;
  times[launch] = times.at(position);
}
