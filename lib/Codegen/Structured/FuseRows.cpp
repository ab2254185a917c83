// SPDX-License-Identifier: Apache-2.0
//
// Decides which structured ops share a loop over rows (RowLoops.h says when they
// may), moves them together, and marks them with the number of their group and of
// rows; the outliner then makes one kernel of a group.
//
// Greedy, in program order: an op that is in no group yet starts one; later ops of
// the block join if they fit, touch a buffer that the group touches, and can be
// moved up past the ops between. The number of rows is what the row reductions
// nearby suggest (softmax: one row per maximum), or all axes of the first op's
// result but the last; the choice that joins most ops wins.
#include "lib/Codegen/Structured/BodyEmitter.h"
#include "lib/Codegen/Structured/BufferEffects.h"
#include "lib/Codegen/Structured/Motion.h"
#include "lib/Codegen/Structured/Passes.h"
#include "lib/Codegen/Structured/RowLoops.h"
#include "lib/Codegen/Structured/VectorSchedule.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_FUSEROWS
#include "lib/Codegen/Structured/Passes.h.inc"

namespace {

constexpr unsigned kWindow = 96;      // Ops of a block that are looked at from the first of a group.
constexpr unsigned kMaxMembers = 24, kMaxBodyOps = 480;
constexpr int64_t kMinRowSize = 16;   // Below, a row is too short to vectorise.
constexpr double kTinyNs = 20'000;    // Below, there is nothing worth running in parallel.

/// An op that may be a member of a group.
struct Candidate {
  LoopNest nest; // Collapsed; no row loops yet.
  BufferEffects effects;
  llvm::SmallDenseSet<Value> gathered; // Root buffers read at addresses that depend on data.
  llvm::SmallDenseSet<Value> large;    // Root buffers read that are worth reading together.
  bool reducesRows = false;
  int64_t numResults = 1; // Iterations of its parallel loops.
  double ns = 0;
};

std::optional<Candidate> candidateFor(linalg::GenericOp op, int64_t minSharedElements) {
  FailureOr<LoopNest> nest = LoopNest::get(op);
  if (failed(nest) || nest->isEmpty() || !BodyEmitter::canVectorize(op))
    return std::nullopt;
  Candidate candidate;
  candidate.nest = std::move(*nest);
  candidate.nest.collapseAll();
  candidate.effects = BufferEffects::of(op);
  candidate.reducesRows = VectorSchedule::choose(candidate.nest).vectorIsReduction(candidate.nest);
  candidate.ns = estimatedIterationNs(candidate.nest);
  for (const Loop &loop : candidate.nest.loops) {
    candidate.ns *= loop.size;
    if (!loop.isReduction)
      candidate.numResults *= loop.size;
  }
  for (Value root : candidate.effects.reads)
    if (cast<MemRefType>(root.getType()).getNumElements() >= minSharedElements)
      candidate.large.insert(root);
  op.getBody()->walk(
      [&](memref::LoadOp load) { candidate.gathered.insert(rootBuffer(load.getMemRef())); });
  return candidate;
}

/// Ops that share a row loop.
class Group {
public:
  explicit Group(int64_t numRows) : numRows(numRows) {}

  /// Adds the op if it fits; the group is as before if not. An op that shares no buffer with the
  /// group gains nothing, unless it prepares (`isInit`) a buffer for one that does.
  bool tryAdd(const Candidate &candidate, bool isInit = false) {
    LoopNest nest = candidate.nest;
    if (members.size() >= kMaxMembers || numBodyOps + nest.op.getBody()->getOperations().size() > kMaxBodyOps ||
        !splitRows(nest, numRows) ||
        (!members.empty() && !isInit && !sharesBuffer(candidate)))
      return false;
    for (Value root : candidate.effects.writes)
      if (!agrees(root, nest, candidate))
        return false;
    for (Value root : writes)
      if (candidate.effects.reads.contains(root) && !agrees(root, nest, candidate))
        return false;
    writes.insert(candidate.effects.writes.begin(), candidate.effects.writes.end());
    touched.insert(candidate.large.begin(), candidate.large.end());
    gathered.insert(candidate.gathered.begin(), candidate.gathered.end());
    hasRowReduction |= candidate.reducesRows;
    ns += candidate.ns;
    rowSize = std::max(rowSize, candidate.numResults / numRows);
    numBodyOps += nest.op.getBody()->getOperations().size();
    members.push_back(std::move(nest));
    return true;
  }

  bool sharesBuffer(const Candidate &candidate) const {
    return llvm::any_of(candidate.large, [&](Value root) { return touched.contains(root); });
  }

  bool isWorthIt(int64_t minRows) const {
    return members.size() > 1 && (numRows >= minRows || ns < kTinyNs) &&
           (hasRowReduction || rowSize >= kMinRowSize || numRows == 1);
  }

  int64_t numRows;
  SmallVector<LoopNest> members;
  size_t numBodyOps = 0;
  double ns = 0;
  int64_t rowSize = 1; // Results per row of the largest member.
  bool hasRowReduction = false;

private:
  /// Whether `nest` and all members touch the same stretch of `root` in each row.
  bool agrees(Value root, const LoopNest &nest, const Candidate &candidate) const {
    if (gathered.contains(root) || candidate.gathered.contains(root))
      return false;
    std::optional<RowAddress> address;
    Value buffer;
    Stretch all{INT64_MAX, INT64_MIN};
    auto accept = [&](const LoopNest &other) {
      for (const Access &access : other.accesses) {
        if (access.byValue || rootBuffer(access.operand) != root)
          continue;
        RowAddress here = rowAddress(other, access);
        Value hereBuffer = withoutReshapes(access.operand);
        if (address && (*address != here || buffer != hereBuffer))
          return false;
        address = here;
        buffer = hereBuffer;
        Stretch stretch = rowStretch(other, access);
        all = {std::min(all.first, stretch.first), std::max(all.last, stretch.last)};
      }
      return true;
    };
    return llvm::all_of(members, accept) && accept(nest) && rowsAreDisjoint(*address, all);
  }

  llvm::SmallDenseSet<Value> writes, touched, gathered;
};

/// Groups the ops of one block.
class BlockFuser {
public:
  BlockFuser(Block &block, int64_t &numGroups, int64_t minRows, int64_t minSharedElements)
      : block(block), numGroups(numGroups), minRows(minRows) {
    for (Operation &op : block)
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        if (std::optional<Candidate> candidate = candidateFor(generic, minSharedElements))
          candidates.try_emplace(&op, std::move(*candidate));
  }

  void run() {
    for (Operation *op = &block.front(); op; op = op->getNextNode()) {
      if (!candidates.contains(op))
        continue;
      std::optional<Group> best;
      for (int64_t numRows : rowCounts(op)) {
        Group group = grow(op, numRows);
        auto rank = [](const Group &g) { return std::make_pair(g.members.size(), g.numRows); };
        if (group.isWorthIt(minRows) && (!best || rank(group) > rank(*best)))
          best.emplace(std::move(group));
      }
      if (best)
        op = gather(*best);
    }
  }

private:
  /// Numbers of rows worth a try for a group that begins at `first`.
  llvm::SmallSetVector<int64_t, 4> rowCounts(Operation *first) {
    llvm::SmallSetVector<int64_t, 4> counts;
    unsigned steps = 0;
    for (Operation *op = first; op && steps < kWindow && counts.size() < 3;
         op = op->getNextNode(), ++steps)
      if (auto it = candidates.find(op); it != candidates.end() && it->second.reducesRows)
        counts.insert(it->second.numResults);
    auto output = cast<linalg::GenericOp>(first).getDpsInits()[0];
    ArrayRef<int64_t> shape = cast<MemRefType>(output.getType()).getShape();
    int64_t rows = 1;
    for (int64_t size : shape.drop_back(shape.empty() ? 0 : 1))
      rows *= size;
    counts.insert(rows);
    if (shape.size() == 1 && shape[0] % 64 == 0)
      counts.insert(shape[0] / 64);
    return counts;
  }

  Group grow(Operation *first, int64_t numRows) {
    Group group(numRows);
    if (!group.tryAdd(candidates.find(first)->second))
      return group;
    BufferEffects between;
    llvm::MapVector<Value, const Candidate *> inits; // Skipped fills, by the buffer they fill.
    unsigned steps = 0;
    for (Operation *op = first->getNextNode(); op && steps < kWindow;
         op = op->getNextNode(), ++steps) {
      auto it = candidates.find(op);
      if (it != candidates.end() && !between.conflictsWith(it->second.effects) &&
          operandsCanMove(op, first) && tryAddWithInits(group, it->second, inits, between))
        continue;
      if (isMemoryEffectFree(op) || isa<memref::AllocOp>(op))
        continue;
      if (it != candidates.end() && isFill(op)) {
        const Candidate *&init = inits[rootBuffer(cast<linalg::GenericOp>(op).getDpsInits()[0])];
        if (init) // Two fills of one buffer, or of parts of it, stay in order.
          between.addAll(init->effects);
        init = &it->second;
        continue;
      }
      BufferEffects effects = BufferEffects::of(op);
      for (auto &[root, init] : llvm::make_early_inc_range(inits))
        if (effects.reads.contains(root) || effects.writes.contains(root))
          between.addAll(init->effects);
      between.addAll(effects);
      if (between.unknown)
        break;
    }
    return group;
  }

  static bool isFill(Operation *op) {
    auto generic = cast<linalg::GenericOp>(op);
    return generic.getNumDpsInits() == 1 && llvm::none_of(generic.getDpsInputs(), [](Value input) {
      return isa<MemRefType>(input.getType());
    });
  }

  /// Adds the op, and before it the fills that were skipped and that it builds on.
  static bool tryAddWithInits(Group &group, const Candidate &candidate,
                              llvm::MapVector<Value, const Candidate *> &inits,
                              const BufferEffects &between) {
    SmallVector<Value> needed;
    for (Value root : candidate.effects.reads)
      if (inits.contains(root))
        needed.push_back(root);
    if (needed.empty())
      return group.tryAdd(candidate);
    Group extended = group;
    for (Value root : needed)
      if (between.conflictsWith(inits[root]->effects) ||
          !extended.tryAdd(*inits[root], /*isInit=*/true))
        return false;
    if (!group.sharesBuffer(candidate) || !extended.tryAdd(candidate))
      return false;
    for (Value root : needed)
      inits.erase(root);
    group = std::move(extended);
    return true;
  }

  /// Whether what `op` takes can be had at `position`.
  static bool operandsCanMove(Operation *op, Operation *position) {
    llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
    op->walk([&](Operation *nested) {
      values.insert(nested->operand_begin(), nested->operand_end());
    });
    return llvm::all_of(values, [&](Value value) { return canMoveBefore(value, position); });
  }

  /// Moves the members behind the first one; returns the last.
  Operation *gather(const Group &group) {
    Operation *first = group.members.front().op, *last = first;
    Builder b(first->getContext());
    for (const LoopNest &member : group.members) {
      Operation *op = member.op;
      if (op != first) {
        for (Value operand : op->getOperands())
          moveBefore(operand, first);
        op->walk([&](Operation *nested) {
          for (Value operand : nested->getOperands())
            if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
              moveBefore(operand, first);
        });
        op->moveAfter(last);
        last = op;
      }
      op->setAttr(kGroupAttr, b.getI64IntegerAttr(numGroups));
      op->setAttr(kRowsAttr, b.getI64IntegerAttr(group.numRows));
      candidates.erase(op);
    }
    ++numGroups;
    return last;
  }

  Block &block;
  int64_t &numGroups;
  int64_t minRows;
  llvm::DenseMap<Operation *, Candidate> candidates;
};

struct FuseRows : impl::FuseRowsBase<FuseRows> {
  using FuseRowsBase::FuseRowsBase;

  void runOnOperation() override {
    int64_t numGroups = 0;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isPrivate() || func.isExternal())
        continue;
      SmallVector<Block *> blocks;
      func.walk([&](Block *block) {
        if (!isa<linalg::LinalgOp>(block->getParentOp()))
          blocks.push_back(block);
      });
      for (Block *block : blocks)
        BlockFuser(*block, numGroups, minRows, minSharedElements).run();
    }
  }
};

} // namespace
} // namespace hjx
