// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a value that was sliced apart is a sum of padded parts:
//
//   q, k, v = slices of x           x_bar = pad(q_bar) + pad(k_bar) + pad(v_bar)
//
// which reads and writes the whole of x_bar once per part. Where the parts lie side
// by side along one dimension, the sum is their concatenation. Exact: what was added
// to each element is +0, and still is (it turns -0 into +0).
#include "lib/Lowering/Passes.h"
#include "lib/Rules/Emit.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_JOINPADS
#include "lib/Lowering/Passes.h.inc"

namespace {

/// `value` as padded with +0 at the ends of one dimension.
struct Part {
  Value value;
  int64_t dim, begin, end; ///< of the sum, along `dim`
};

std::optional<Part> matchPart(Value value) {
  auto pad = value.getDefiningOp<ir::PadOp>();
  if (!pad)
    return std::nullopt;
  std::optional<double> padding = ir::getSplat(pad.getPaddingValue());
  auto isNegative = [](int64_t n) { return n < 0; };
  if (!padding || *padding != 0 || std::signbit(*padding) ||
      llvm::any_of(pad.getLow(), isNegative) || llvm::any_of(pad.getHigh(), isNegative) ||
      llvm::any_of(pad.getInterior(), [](int64_t n) { return n != 0; }))
    return std::nullopt;
  SmallVector<int64_t> padded;
  for (auto [dim, low, high] : llvm::enumerate(pad.getLow(), pad.getHigh()))
    if (low + high > 0)
      padded.push_back(dim);
  if (padded.size() != 1)
    return std::nullopt;
  int64_t dim = padded[0], begin = pad.getLow()[dim];
  return Part{pad.getOperand(), dim, begin, begin + pad.getOperand().getType().getDimSize(dim)};
}

/// The terms of the sum `root`, whose partial sums nobody else needs.
SmallVector<Value> termsOf(ir::AddOp root) {
  SmallVector<Value> terms, pending = {root.getRhs(), root.getLhs()};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    auto sum = value.getDefiningOp<ir::AddOp>();
    if (sum && sum->hasOneUse())
      pending.append({sum.getRhs(), sum.getLhs()});
    else
      terms.push_back(value);
  }
  return terms;
}

/// The terms as parts in order, none overlapping another; empty if they are anything else.
SmallVector<Part> partsOf(ir::AddOp root) {
  SmallVector<Part> parts;
  for (Value term : termsOf(root)) {
    std::optional<Part> part = matchPart(term);
    if (!part || (!parts.empty() && part->dim != parts.front().dim))
      return {};
    parts.push_back(*part);
  }
  llvm::sort(parts, [](const Part &a, const Part &b) { return a.begin < b.begin; });
  for (auto [part, next] : llvm::zip(parts, llvm::drop_begin(parts)))
    if (part.end > next.begin)
      return {};
  return parts;
}

void join(ir::AddOp root, ArrayRef<Part> parts) {
  emit::Builder b(root.getLoc(), root);
  RankedTensorType type = root.getType();
  int64_t dim = parts.front().dim, filled = 0;
  SmallVector<Value> pieces;
  auto fillTo = [&](int64_t begin) {
    if (begin == filled)
      return;
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = begin - filled;
    pieces.push_back(emit::zeros(b, type.clone(shape)));
  };
  for (const Part &part : parts) {
    fillTo(part.begin);
    pieces.push_back(b.createOrFold<ir::AddOp>(part.value, emit::fullLike(b, part.value, 0)));
    filled = part.end;
  }
  fillTo(type.getDimSize(dim));
  root.replaceAllUsesWith(ir::ConcatenateOp::create(b, pieces, dim).getResult());
}

/// Erases `ops`, which nobody uses any more, and what only they used.
void eraseUnused(SmallVector<Operation *> ops) {
  while (!ops.empty()) {
    Operation *op = ops.pop_back_val();
    SetVector<Operation *> makers;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp())
        makers.insert(maker);
    op->erase();
    llvm::copy_if(makers, std::back_inserter(ops),
                  [](Operation *maker) { return isOpTriviallyDead(maker); });
  }
}

struct JoinPads : impl::JoinPadsBase<JoinPads> {
  void runOnOperation() override {
    SmallVector<ir::AddOp> sums;
    getOperation().walk([&](ir::AddOp op) { sums.push_back(op); });
    SmallVector<Operation *> unused;
    // From the last: a whole sum before its partial sums.
    for (ir::AddOp op : llvm::reverse(sums)) {
      if (op.use_empty())
        continue;
      SmallVector<Part> parts = partsOf(op);
      if (parts.empty())
        continue;
      join(op, parts);
      unused.push_back(op);
    }
    eraseUnused(std::move(unused));
  }
};

} // namespace
} // namespace hjx
