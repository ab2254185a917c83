// SPDX-License-Identifier: Apache-2.0
//
// Products: every one of them is a dot_general between reshapes and transposes. And attention.
#include "lib/Frontend/Operands.h"

#include "dialects/hjx/Attention.h"
#include "dialects/hjx/Shapes.h"

#include <hjx/attention.h>

#include <cmath>

using namespace mlir;
using namespace hjx;
using namespace hjx::detail;

static Operand dotGeneral(OpScope &op, Operand lhs, Operand rhs, ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                          ArrayRef<int64_t> lhsContract, ArrayRef<int64_t> rhsContract, std::optional<DType> accumulate) {
  TypeAttr accumType;
  if (accumulate && *accumulate != lhs.dtype())
    accumType = TypeAttr::get(elementTypeOf(*accumulate, &op.context()));
  return op.emit<ir::DotGeneralOp>({lhs, rhs}, {.accum_type = accumType,
                                                .lhs_batching = dims(op, lhsBatch),
                                                .lhs_contracting = dims(op, lhsContract),
                                                .rhs_batching = dims(op, rhsBatch),
                                                .rhs_contracting = dims(op, rhsContract)});
}

/// Numbers of one type; bools are counted as int32.
static SmallVector<Operand> promoteNumbers(OpScope &op, const Array &lhs, const Array &rhs) {
  SmallVector<Operand> operands = promote(op, {lhs, rhs});
  for (Operand &operand : operands)
    if (operand.dtype() == DType::bool_)
      operand = convert(op, operand, DType::int32);
  return operands;
}

Array hjx::dot_general(ArrayLike lhs, ArrayLike rhs, const DotDims &numbers, std::optional<DType> accumulate) {
  OpScope op("dot_general", lhs.where);
  SmallVector<Operand> xs = promoteNumbers(op, lhs.array, rhs.array);
  auto normalize = [&](const std::vector<int> &list, const Operand &operand) {
    return llvm::map_to_vector(list, [&](int dim) { return normalizeAxis(op, dim, operand.rank(), describe(operand)); });
  };
  return op.finish(dotGeneral(op, xs[0], xs[1], normalize(numbers.lhs_batching, xs[0]), normalize(numbers.rhs_batching, xs[1]),
                              normalize(numbers.lhs_contracting, xs[0]), normalize(numbers.rhs_contracting, xs[1]),
                              accumulate));
}

Array hjx::matmul(ArrayLike lhs, ArrayLike rhs, std::optional<DType> accumulate) {
  OpScope op("matmul", lhs.where);
  SmallVector<Operand> xs = promoteNumbers(op, lhs.array, rhs.array);
  Operand x = xs[0], y = xs[1];
  if (x.rank() == 0 || y.rank() == 0)
    op.fail("expected arrays of at least one dimension, got " + describe(x) + " and " + describe(y),
            "multiply scalars with *");
  bool isRow = x.rank() == 1, isColumn = y.rank() == 1;
  int64_t inner = x.shape().back(), outer = isColumn ? y.shape()[0] : y.shape()[y.rank() - 2];
  if (inner != outer)
    op.fail("contracting dimensions differ: lhs " + describe(x) + " has " + std::to_string(inner) + ", rhs " + describe(y) +
                " has " + std::to_string(outer),
            "transpose an operand, or name the dimensions with dot_general");

  // Leading axes that only one side has are free dimensions; those that both have are batching.
  SmallVector<int64_t> lhsLead(x.shape().drop_back(isRow ? 1 : 2)), rhsLead(y.shape().drop_back(isColumn ? 1 : 2));
  if (rhsLead.empty() || lhsLead.empty()) {
    Operand product = dotGeneral(op, x, y, {}, {}, {x.rank() - 1}, {isColumn ? 0 : y.rank() - 2}, accumulate);
    if (rhsLead.empty())
      return op.finish(product);
    // [m, batch.., n] -> [batch.., m, n]
    SmallVector<int64_t> permutation = ir::iotaDims(product.rank());
    if (!isRow)
      std::rotate(permutation.begin(), permutation.begin() + 1, permutation.begin() + 1 + rhsLead.size());
    return op.finish(transposeBy(op, product, permutation));
  }
  // Both sides have leading axes: broadcast them to each other.
  int64_t numLead = std::max(lhsLead.size(), rhsLead.size());
  SmallVector<int64_t> lead(numLead, 1);
  for (auto *side : {&lhsLead, &rhsLead})
    for (auto [i, size] : llvm::enumerate(*side)) {
      int64_t &common = lead[numLead - side->size() + i];
      if (common != size && common != 1 && size != 1)
        op.fail("leading dimensions do not broadcast: lhs " + describe(x) + ", rhs " + describe(y),
                "make them equal or 1, for example with hjx::expand_dims");
      common = common == 1 ? size : common;
    }
  auto expand = [&](Operand operand, size_t numMatrixDims) {
    SmallVector<int64_t> shape(lead);
    llvm::append_range(shape, operand.shape().take_back(numMatrixDims));
    return broadcastTo(op, operand, shape);
  };
  x = expand(x, isRow ? 1 : 2);
  y = expand(y, isColumn ? 1 : 2);
  SmallVector<int64_t> batch = ir::iotaDims(numLead);
  return op.finish(dotGeneral(op, x, y, batch, batch, {x.rank() - 1}, {numLead}, accumulate));
}

Array hjx::dot(ArrayLike lhs, ArrayLike rhs) {
  OpScope op("dot", lhs.where);
  SmallVector<Operand> xs = promoteNumbers(op, lhs.array, rhs.array);
  Operand x = xs[0], y = xs[1];
  if (x.rank() == 0 || y.rank() == 0)
    return op.finish(multiply(lhs, rhs));
  int64_t rhsDim = y.rank() == 1 ? 0 : y.rank() - 2;
  if (x.shape().back() != y.shape()[rhsDim])
    op.fail("contracting dimensions differ: lhs " + describe(x) + " has " + std::to_string(x.shape().back()) + ", rhs " +
                describe(y) + " has " + std::to_string(y.shape()[rhsDim]),
            "transpose an operand, or name the dimensions with dot_general");
  return op.finish(dotGeneral(op, x, y, {}, {}, {x.rank() - 1}, {rhsDim}, {}));
}

Array hjx::outer(ArrayLike lhs, ArrayLike rhs) {
  OpScope op("outer", lhs.where);
  return op.finish(expand_dims(ravel(lhs), 1) * expand_dims(ravel(rhs), 0));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

Array hjx::dot_product_attention(ArrayLike query, ArrayLike key, ArrayLike value, const AttentionOptions &options) {
  OpScope op("dot_product_attention", query.where);
  SmallVector<Operand> xs = promote(op, {query.array, key.array, value.array}, /*inexact=*/true);
  auto all = [&] { return "query " + describe(xs[0]) + ", key " + describe(xs[1]) + " and value " + describe(xs[2]); };
  for (const Operand &x : xs)
    if (x.rank() < 3)
      op.fail("expected arrays [..., positions, heads, features], got " + all(), "add an axis of heads with hjx::expand_dims");
  auto features = [&](int i) { return xs[i].shape().back(); };
  auto positions = [&](int i) { return xs[i].shape()[xs[i].rank() - 3]; };
  if (features(0) != features(1))
    op.fail("expected query and key of the same number of features, got " + all(), "project one of them");
  if (positions(1) != positions(2))
    op.fail("expected one value for each key, got " + all(), "axis -3 of both counts positions");

  // All but positions and features broadcast.
  int64_t rank = std::max({xs[0].rank(), xs[1].rank(), xs[2].rank()});
  SmallVector<int64_t> common(rank, 1);
  for (const Operand &x : xs)
    for (int64_t dim = 0; dim < x.rank(); ++dim) {
      int64_t fromEnd = x.rank() - dim, size = x.shape()[dim];
      int64_t &shared = common[rank - fromEnd];
      if (fromEnd == 1 || fromEnd == 3)
        continue;
      if (size != 1 && shared != 1 && size != shared)
        op.fail("leading axes and heads do not broadcast: " + all(), "make them equal or 1");
      shared = shared == 1 ? size : shared;
    }
  for (Operand &x : xs) {
    common[rank - 3] = x.shape()[x.rank() - 3];
    common[rank - 1] = x.shape().back();
    x = broadcastTo(op, x, common);
  }
  double scale = options.scale.value_or(1.0 / std::sqrt(static_cast<double>(features(0))));
  Builder &b = op.builder();
  return op.finish(op.emit<ir::AttentionOp>(
      xs, {.causal = options.causal ? b.getUnitAttr() : UnitAttr(), .scale = b.getF64FloatAttr(scale)}));
}

//===----------------------------------------------------------------------===//
// Einstein summation
//===----------------------------------------------------------------------===//

namespace {

/// "bij,bkj->bik": one letter per axis.
struct EinsumSpec {
  std::vector<std::string> inputs;
  std::string output;

  EinsumSpec(OpScope &op, std::string_view spec, size_t numInputs) {
    std::string text;
    for (char c : spec)
      if (c != ' ')
        text += c;
    size_t arrow = text.find("->");
    std::string left = text.substr(0, arrow);
    for (size_t start = 0; start <= left.size();) {
      size_t comma = std::min(left.find(',', start), left.size());
      inputs.push_back(left.substr(start, comma - start));
      start = comma + 1;
    }
    if (inputs.size() != numInputs)
      op.fail("spec \"" + text + "\" has " + std::to_string(inputs.size()) + " operands, got " + std::to_string(numInputs),
              "separate the operands' letters by commas");
    std::string all;
    for (const std::string &input : inputs)
      all += input;
    if (!llvm::all_of(all, llvm::isAlpha))
      op.fail("expected one letter per axis in \"" + text + "\"", "write for example \"bij,bjk->bik\"");
    if (arrow != std::string::npos) {
      output = text.substr(arrow + 2);
      for (char c : output)
        if (all.find(c) == std::string::npos || llvm::count(output, c) > 1)
          op.fail(std::string("the output letter '") + c + "' of \"" + text + "\" must occur in an operand, and once in the output",
                  "write for example \"bij,bjk->bik\"");
      return;
    }
    // Without an output: the letters that occur once, in alphabetical order.
    llvm::sort(all);
    for (char c : all)
      if (llvm::count(all, c) == 1)
        output += c;
  }
};

/// Sums out letters that `keep` lacks and takes diagonals of repeated ones.
Operand reduceOperand(OpScope &op, Operand x, std::string &letters, const std::string &keep) {
  if (static_cast<int64_t>(letters.size()) != x.rank())
    op.fail("\"" + letters + "\" has " + std::to_string(letters.size()) + " letters, its operand is " + describe(x),
            "write one letter per axis");
  SmallVector<int64_t> summed;
  std::string kept;
  for (auto [i, c] : llvm::enumerate(letters)) {
    if (llvm::count(letters, c) > 1)
      op.fail(std::string("the letter '") + c + "' occurs twice in \"" + letters + "\"",
              "take the diagonal first: multiply by hjx::eye and sum");
    if (keep.find(c) == std::string::npos)
      summed.push_back(i);
    else
      kept += c;
  }
  letters = kept;
  return summed.empty() ? x : op.emit<ir::ReduceSumOp>({x}, {.axes = dims(op, summed)});
}

Operand permuteTo(OpScope &op, Operand x, const std::string &letters, const std::string &output) {
  SmallVector<int64_t> permutation;
  for (char c : output)
    permutation.push_back(letters.find(c));
  return transposeBy(op, x, permutation);
}

} // namespace

Array hjx::einsum(std::string_view spec, ArrayLike x) {
  OpScope op("einsum", x.where);
  EinsumSpec parsed(op, spec, 1);
  Operand reduced = reduceOperand(op, promote(op, {x.array}).front(), parsed.inputs[0], parsed.output);
  return op.finish(permuteTo(op, reduced, parsed.inputs[0], parsed.output));
}

Array hjx::einsum(std::string_view spec, ArrayLike x, ArrayLike y) {
  OpScope op("einsum", x.where);
  EinsumSpec parsed(op, spec, 2);
  std::string &left = parsed.inputs[0], &right = parsed.inputs[1];
  SmallVector<Operand> xs = promoteNumbers(op, x.array, y.array);
  Operand lhs = reduceOperand(op, xs[0], left, right + parsed.output);
  Operand rhs = reduceOperand(op, xs[1], right, left + parsed.output);

  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  std::string letters, lhsFree, rhsFree;
  for (auto [i, c] : llvm::enumerate(left)) {
    size_t other = right.find(c);
    if (other == std::string::npos) {
      lhsFree += c;
      continue;
    }
    if (lhs.shape()[i] != rhs.shape()[other])
      op.fail(std::string("axis '") + c + "' has " + std::to_string(lhs.shape()[i]) + " elements in " + describe(lhs) + ", " +
                  std::to_string(rhs.shape()[other]) + " in " + describe(rhs),
              "give equal letters equal sizes");
    bool isBatch = parsed.output.find(c) != std::string::npos;
    (isBatch ? lhsBatch : lhsContract).push_back(i);
    (isBatch ? rhsBatch : rhsContract).push_back(other);
    if (isBatch)
      letters += c;
  }
  for (char c : right)
    if (left.find(c) == std::string::npos)
      rhsFree += c;
  letters += lhsFree + rhsFree;
  Operand product = dotGeneral(op, lhs, rhs, lhsBatch, rhsBatch, lhsContract, rhsContract, {});
  return op.finish(permuteTo(op, product, letters, parsed.output));
}
