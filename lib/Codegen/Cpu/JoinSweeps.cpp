// SPDX-License-Identifier: Apache-2.0
//
// Ops of a group run one after the other within a row, each with a loop of its own
// along it. This pass lets neighbours share the loop, so that a row is walked over
// once for all of them, and moves ops to where they have such neighbours:
//
//   max    = maximum of x                   sweep 0
//   e[j]   = exp(x[j] - max)                      1
//   sum    = 0                              before both
//   sum    = sum of e[j]                          1: e[j] is at hand
//   y[j]   = e[j] / sum                           2: needs the whole sum
//
// Two ops share a loop if it is the only one in their rows and has the same size
// and lanes in both, and if what one writes the other touches at the same place in
// the same step. An op goes to the first loop that it may share and gains from; one
// that has none goes as far up as its operands allow, out of the way of others.
#include "lib/Codegen/Cpu/Passes.h"
#include "lib/Codegen/Cpu/SweepEmitter.h"
#include "lib/Codegen/Structured/Passes.h"
#include "lib/Codegen/Structured/RowLoops.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_JOINSWEEPS
#include "lib/Codegen/Cpu/Passes.h.inc"

namespace {

/// More partial sums than these do not fit into AVX2's registers.
constexpr unsigned kMaxReductions = 2;

/// An op of a group, and its loop inside the row.
struct Member {
  LoopNest nest;
  VectorSchedule schedule;
  std::optional<VectorLoop> loop; // If there is no other in the row.

  explicit Member(LoopNest rowNest)
      : nest(std::move(rowNest)), schedule(VectorSchedule::choose(nest)),
        loop(VectorLoop::onlyOneOf(nest, schedule)) {}
  int64_t step(const Access &access) const {
    return schedule.vectorLoop < 0 ? 0 : access.strides[schedule.vectorLoop];
  }
  unsigned numReductions() const {
    return schedule.vectorIsReduction(nest) ? nest.numOutputs() : 0;
  }
};

/// How two ops stand to each other within a row.
struct Relation {
  bool shareData = false; // They touch the same row of a buffer.
  bool inOrder = false;   // One writes what the other touches,
  bool stepByStep = true; // and each step only what the same step of the other does.
};

Relation relationOf(const Member &a, const Member &b) {
  Relation relation;
  auto visit = [&](unsigned indexA, unsigned indexB) {
    const Access &x = a.nest.accesses[indexA], &y = b.nest.accesses[indexB];
    if (x.byValue || y.byValue || rootBuffer(x.operand) != rootBuffer(y.operand))
      return;
    bool isSame = x.operand == y.operand && x.offset == y.offset && a.step(x) != 0 &&
                  a.step(x) == b.step(y) && rowAddress(a.nest, x) == rowAddress(b.nest, y);
    relation.shareData |= isSame;
    if (indexA < a.nest.numInputs() && indexB < b.nest.numInputs())
      return;
    relation.inOrder = true;
    relation.stepByStep &= isSame;
  };
  for (unsigned i = 0; i < a.nest.accesses.size(); ++i)
    for (unsigned j = 0; j < b.nest.accesses.size(); ++j)
      visit(i, j);
  return relation;
}

/// Members that share a loop, by their numbers, in program order.
using Sweep = SmallVector<unsigned, 4>;

class SweepPlanner {
public:
  explicit SweepPlanner(ArrayRef<Member> members) : members(members) {}

  SmallVector<Sweep> plan() {
    for (unsigned number = 0; number < members.size(); ++number) {
      size_t first = firstPlace(number);
      auto shared = llvm::find_if(llvm::drop_begin(sweeps, first ? first - 1 : 0),
                                  [&](const Sweep &sweep) { return mayJoin(number, sweep); });
      if (shared != sweeps.end())
        shared->push_back(number);
      else
        sweeps.insert(sweeps.begin() + first, Sweep{number});
    }
    return std::move(sweeps);
  }

private:
  /// The first place for a sweep of its own: behind all that it must follow.
  size_t firstPlace(unsigned number) const {
    for (size_t place = sweeps.size(); place > 0; --place)
      if (llvm::any_of(sweeps[place - 1], [&](unsigned other) {
            return relationOf(members[other], members[number]).inOrder;
          }))
        return place;
    return 0;
  }

  bool mayJoin(unsigned number, const Sweep &sweep) const {
    const Member &member = members[number];
    unsigned numReductions = member.numReductions();
    bool gains = false;
    for (unsigned other : sweep) {
      Relation relation = relationOf(members[other], member);
      if (!member.loop || members[other].loop != member.loop || !relation.stepByStep)
        return false;
      gains |= relation.shareData;
      numReductions += members[other].numReductions();
    }
    return gains && numReductions <= kMaxReductions;
  }

  ArrayRef<Member> members;
  SmallVector<Sweep> sweeps;
};

struct JoinSweeps : impl::JoinSweepsBase<JoinSweeps> {
  void runOnOperation() override {
    llvm::MapVector<Attribute, SmallVector<linalg::GenericOp>> groups;
    getOperation().walk([&](linalg::GenericOp op) {
      if (Attribute group = op->getAttr(kGroupAttr))
        groups[group].push_back(op);
    });
    for (auto &[group, ops] : groups) {
      auto rows = ops.front()->getAttrOfType<IntegerAttr>(kRowsAttr);
      if (!rows) {
        ops.front().emitOpError("in a group: expected attribute '") << kRowsAttr << "'";
        return signalPassFailure();
      }
      FailureOr<SmallVector<LoopNest>> nests = rowNests(ops, rows.getInt());
      if (failed(nests))
        return signalPassFailure();
      if (areNeighbours(ops) && buffersAreKnown(*nests) && rowsAgree(*nests))
        join(ops, *nests);
    }
  }

private:
  static bool areNeighbours(ArrayRef<linalg::GenericOp> ops) {
    for (auto [op, next] : llvm::zip(ops.drop_back(), ops.drop_front()))
      if (op->getNextNode() != next)
        return false;
    return true;
  }

  static bool buffersAreKnown(ArrayRef<LoopNest> nests) {
    return llvm::all_of(nests, [](const LoopNest &nest) {
      return llvm::all_of(nest.accesses, [](const Access &access) {
        return access.byValue || overlapsNoOther(rootBuffer(access.operand));
      });
    });
  }

  /// Moves the ops of a group into the order of their sweeps, and numbers these from 0: equal groups
  /// become one kernel.
  static void join(ArrayRef<linalg::GenericOp> ops, ArrayRef<LoopNest> nests) {
    int64_t numSweeps = 0;
    SmallVector<Member, 0> members(nests.begin(), nests.end());
    Operation *last = ops.back();
    for (const Sweep &sweep : SweepPlanner(members).plan()) {
      for (unsigned number : sweep) {
        Operation *op = ops[number];
        if (op != last)
          op->moveAfter(last);
        last = op;
        if (sweep.size() > 1)
          op->setAttr(kSweepAttr, Builder(op).getI64IntegerAttr(numSweeps));
      }
      numSweeps += sweep.size() > 1;
    }
  }
};

} // namespace
} // namespace hjx
