// SPDX-License-Identifier: Apache-2.0
//
// Lifetimes and placement: see the header for the idea.
//
// Time is the pre-order number of an op in the function. A buffer made inside a
// loop body lives within one round; one made outside and used inside lives until
// the loop ends. Both follow from one rule: a use counts as the ancestor of the
// user in the innermost block that also holds the allocation.
#include "lib/Codegen/Structured/MemoryPlan.h"

#include "lib/Support/SizeBytes.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace hjx;

static int64_t alignUp(int64_t value) {
  return llvm::alignTo(value, static_cast<uint64_t>(MemoryPlan::kAlignment));
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

static bool aliveTogether(const MemoryPlan::Entry &a, const MemoryPlan::Entry &b) {
  return a.firstUse <= b.lastUse && b.firstUse <= a.lastUse;
}

/// The offset of the smallest gap between `neighbours` (sorted by offset) that holds `sizeBytes`.
static int64_t bestGap(ArrayRef<const MemoryPlan::Entry *> neighbours, int64_t sizeBytes) {
  int64_t end = 0, bestOffset = -1, bestSize = INT64_MAX;
  for (const MemoryPlan::Entry *neighbour : neighbours) {
    int64_t gap = neighbour->offset - end;
    if (gap >= sizeBytes && gap < bestSize) {
      bestOffset = end;
      bestSize = gap;
    }
    end = std::max(end, neighbour->offset + alignUp(neighbour->sizeBytes));
  }
  return bestOffset >= 0 ? bestOffset : end;
}

static int64_t peak(ArrayRef<MemoryPlan::Entry> entries) {
  // At equal times a buffer begins before another ends: both are alive there.
  SmallVector<std::pair<int64_t, int64_t>> changes;
  for (const MemoryPlan::Entry &entry : entries) {
    changes.emplace_back(2 * entry.firstUse, alignUp(entry.sizeBytes));
    changes.emplace_back(2 * entry.lastUse + 1, -alignUp(entry.sizeBytes));
  }
  llvm::sort(changes);
  int64_t alive = 0, most = 0;
  for (auto [time, bytes] : changes)
    most = std::max(most, alive += bytes);
  return most;
}

/// Gives the entries of `order` their offsets, one after the other; returns the size of the arena.
static int64_t placeInOrder(ArrayRef<MemoryPlan::Entry *> order) {
  SmallVector<const MemoryPlan::Entry *> placed; // Sorted by offset.
  int64_t sizeBytes = 0;
  for (MemoryPlan::Entry *entry : order) {
    SmallVector<const MemoryPlan::Entry *> neighbours;
    llvm::copy_if(placed, std::back_inserter(neighbours),
                  [&](const MemoryPlan::Entry *other) { return aliveTogether(*entry, *other); });
    entry->offset = bestGap(neighbours, alignUp(entry->sizeBytes));
    sizeBytes = std::max(sizeBytes, entry->offset + alignUp(entry->sizeBytes));
    auto position = llvm::upper_bound(placed, entry, [](const MemoryPlan::Entry *a, const MemoryPlan::Entry *b) {
      return a->offset < b->offset;
    });
    placed.insert(position, entry);
  }
  return sizeBytes;
}

void MemoryPlan::place() {
  peakBytes = peak(entries);
  auto life = [](const Entry &entry) { return entry.lastUse - entry.firstUse + 1; };
  using Rank = std::pair<int64_t, int64_t>; // The highest first.
  const std::function<Rank(const Entry &)> ranks[] = {
      [](const Entry &entry) { return Rank(entry.sizeBytes, 0); },
      [&](const Entry &entry) { return Rank(entry.sizeBytes, life(entry)); },
      [&](const Entry &entry) { return Rank(entry.sizeBytes * life(entry), 0); },
  };
  std::vector<Entry> best;
  for (const auto &rank : ranks) {
    SmallVector<Entry *> order = llvm::to_vector(llvm::make_pointer_range(entries));
    llvm::stable_sort(order, [&](Entry *a, Entry *b) { return rank(*a) > rank(*b); });
    int64_t size = placeInOrder(order);
    if (best.empty() || size < sizeBytes) {
      best = entries;
      sizeBytes = size;
    }
    if (sizeBytes == peakBytes)
      break;
  }
  entries = std::move(best);
}

//===----------------------------------------------------------------------===//
// Text and attribute
//===----------------------------------------------------------------------===//

void MemoryPlan::print(llvm::raw_ostream &os) const {
  os << "memory plan: " << entries.size() << " buffers, arena " << sizeBytes << " bytes, peak "
     << peakBytes << " bytes\n";
  if (entries.empty())
    return;
  os << "      offset        bytes   first..last  name\n";
  for (const Entry &entry : entries)
    os << llvm::format("%12lld %12lld %7lld..%-5lld ", static_cast<long long>(entry.offset),
                       static_cast<long long>(entry.sizeBytes),
                       static_cast<long long>(entry.firstUse),
                       static_cast<long long>(entry.lastUse))
       << entry.name << "\n";
}

Attribute MemoryPlan::toAttribute(MLIRContext *context) const {
  Builder b(context);
  SmallVector<Attribute> names;
  SmallVector<int64_t> numbers;
  for (const Entry &entry : entries) {
    names.push_back(b.getStringAttr(entry.name));
    numbers.append({entry.offset, entry.sizeBytes, entry.firstUse, entry.lastUse});
  }
  return b.getDictionaryAttr({
      b.getNamedAttr("arena_bytes", b.getI64IntegerAttr(sizeBytes)),
      b.getNamedAttr("buffers", b.getDenseI64ArrayAttr(numbers)),
      b.getNamedAttr("names", b.getArrayAttr(names)),
      b.getNamedAttr("peak_bytes", b.getI64IntegerAttr(peakBytes)),
  });
}

FailureOr<MemoryPlan> MemoryPlan::fromAttribute(Attribute attribute) {
  auto dictionary = dyn_cast_if_present<DictionaryAttr>(attribute);
  if (!dictionary)
    return failure();
  auto arenaBytes = dictionary.getAs<IntegerAttr>("arena_bytes");
  auto peakBytes = dictionary.getAs<IntegerAttr>("peak_bytes");
  auto numbers = dictionary.getAs<DenseI64ArrayAttr>("buffers");
  auto names = dictionary.getAs<ArrayAttr>("names");
  if (!arenaBytes || arenaBytes.getInt() < 0 || !peakBytes || !numbers || !names ||
      numbers.size() != static_cast<int64_t>(4 * names.size()))
    return failure();
  MemoryPlan plan;
  plan.sizeBytes = arenaBytes.getInt();
  plan.peakBytes = peakBytes.getInt();
  for (auto [index, name] : llvm::enumerate(names)) {
    auto text = dyn_cast<StringAttr>(name);
    if (!text)
      return failure();
    ArrayRef<int64_t> row = numbers.asArrayRef().slice(4 * index, 4);
    plan.entries.push_back({text.str(), row[1], row[0], row[2], row[3]});
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

namespace {

/// First and last op numbers of every op's subtree.
class Clock {
public:
  explicit Clock(func::FuncOp func) { number(func); }
  int64_t begin(Operation *op) const { return times.lookup(op).first; }
  int64_t end(Operation *op) const { return times.lookup(op).second; }

private:
  void number(Operation *op) {
    int64_t begin = now++;
    // The body of a structured op is its arithmetic, not steps of the program.
    if (!isa<linalg::LinalgOp>(op))
      for (Region &region : op->getRegions())
        for (Operation &nested : region.getOps())
          number(&nested);
    times[op] = {begin, now - 1};
  }
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> times;
  int64_t now = 0;
};

} // namespace

/// The ancestor of `user` (or itself) in the innermost block that also encloses `block`.
static Operation *ancestorAt(Block *block, Operation *user) {
  for (; block; block = block->getParentOp() ? block->getParentOp()->getBlock() : nullptr)
    if (Operation *ancestor = block->findAncestorOpInBlock(*user))
      return ancestor;
  return nullptr;
}

/// Whether a loop lies between `block` and the block of `outer`: then a buffer made in `block`
/// would be needed after the round that made it.
static bool leavesLoop(Block *block, Block *outer) {
  for (; block != outer; block = block->getParentOp()->getBlock())
    if (isa<LoopLikeOpInterface>(block->getParentOp()))
      return true;
  return false;
}

/// "model.cpp:42", or the name that the location carries.
static std::string nameOf(Location location) {
  if (auto named = dyn_cast<NameLoc>(location))
    return named.getName().str();
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return nameOf(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(location); fused && !fused.getLocations().empty())
    return nameOf(fused.getLocations().front());
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return (llvm::sys::path::filename(file.getFilename()) + ":" + Twine(file.getLine())).str();
  return "?";
}

FailureOr<MemoryPlan> hjx::planMemory(func::FuncOp func,
                                      SmallVectorImpl<memref::AllocOp> &allocations) {
  Clock clock(func);
  BufferViewFlowAnalysis aliases(func);
  SmallVector<std::pair<MemoryPlan::Entry, memref::AllocOp>> found;
  WalkResult result = func.walk([&](memref::AllocOp allocation) {
    MemRefType type = allocation.getType();
    if (!type.hasStaticShape() || !type.getLayout().isIdentity()) {
      allocation.emitOpError("expected a buffer of static shape and identity layout, got ") << type;
      return WalkResult::interrupt();
    }
    MemoryPlan::Entry entry;
    entry.name = nameOf(allocation.getLoc());
    entry.sizeBytes = sizeBytes(type);
    entry.firstUse = INT64_MAX;
    entry.lastUse = -1;
    for (Value alias : aliases.resolve(allocation)) {
      for (Operation *user : alias.getUsers()) {
        Operation *at = ancestorAt(allocation->getBlock(), user);
        if (leavesLoop(allocation->getBlock(), at->getBlock())) {
          allocation.emitOpError("expected a buffer that lives within one round of its loop");
          return WalkResult::interrupt();
        }
        entry.firstUse = std::min(entry.firstUse, clock.begin(at));
        entry.lastUse = std::max(entry.lastUse, clock.end(at));
      }
    }
    if (entry.lastUse < 0)
      entry.firstUse = entry.lastUse = clock.begin(allocation);
    found.emplace_back(std::move(entry), allocation);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  auto order = [&](const std::pair<MemoryPlan::Entry, memref::AllocOp> &pair) {
    return std::make_pair(pair.first.firstUse, clock.begin(pair.second));
  };
  llvm::sort(found, [&](auto &a, auto &b) { return order(a) < order(b); });
  MemoryPlan plan;
  for (auto &[entry, allocation] : found) {
    plan.entries.push_back(std::move(entry));
    allocations.push_back(allocation);
  }
  plan.place();
  return plan;
}
