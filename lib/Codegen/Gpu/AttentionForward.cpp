// SPDX-License-Identifier: Apache-2.0
//
// The forward kernel of attention: see AttentionKernel.h.
#include "lib/Codegen/Gpu/AttentionFrame.h"

#include <limits>

using namespace mlir;
using namespace hjx;

namespace {

class ForwardEmitter : AttentionFrame {
public:
  ForwardEmitter(gpu::GPUFuncOp kernel, const AttentionKernelConfig &config)
      : AttentionFrame(kernel, config) {}
  void emit();

private:
  /// Of the two rows that a lane has a part of.
  using Pair = std::array<Value, 2>;

  /// All four lanes that have parts of a row combine them.
  template <typename F> Value acrossRow(Value value, F combine) {
    for (int32_t mask : {1, 2})
      value = combine(value, k.shuffleXor(value, mask));
    return value;
  }
  Value larger(Value x, Value y) { return arith::MaximumFOp::create(b, x, y); }
  void addTile(Values &sums, Pair &highest, Pair &total, Values scores, const Tile &values,
               Value stage);
  void writeLogsumexp(const Pair &highest, const Pair &total);
};

} // namespace

void ForwardEmitter::emit() {
  Type element = config.elementType;
  Matrix query = matrix(0, element, numQueries), key = matrix(1, element, numKeys),
         value = matrix(2, element, numKeys), out = matrix(4, element, numQueries);
  Tile queries = makeTile(config.rows, 1), keys = makeTile(config.columns, 2),
       values = makeTile(config.columns, 2);
  copy(queries, query, firstRow);

  Values state(config.width() / 2, number(0));
  Value nothing = number(-std::numeric_limits<double>::infinity());
  state.append({nothing, nothing, number(0), number(0)});
  state = forEachColumns(
      state,
      [&](Value first, Value stage) {
        copy(keys, key, first, stage);
        copy(values, value, first, stage);
      },
      [&](Value first, Value stage, Values state) {
        Pair total = {state.end()[-2], state.end()[-1]},
             highest = {state.end()[-4], state.end()[-3]};
        state.truncate(state.size() - 4);
        addTile(state, highest, total, hide(scores(queries, keys, stage), first), values, stage);
        state.append({highest[0], highest[1], total[0], total[1]});
        return state;
      });

  Pair total = {state.end()[-2], state.end()[-1]}, highest = {state.end()[-4], state.end()[-3]},
       inverse;
  for (int64_t half : {0, 1}) {
    total[half] = acrossRow(total[half], [&](Value x, Value y) { return addF(x, y); });
    inverse[half] = arith::DivFOp::create(b, number(1), total[half]);
  }
  write(ArrayRef(state).drop_back(4), inverse, out);
  writeLogsumexp(highest, total);
}

/// The online softmax (Milakov & Gimelshein 2018): what was summed so far is scaled to the new
/// maximum. `total` is a lane's part of the sum; the parts are joined at the end.
void ForwardEmitter::addTile(Values &sums, Pair &highest, Pair &total, Values scores,
                             const Tile &values, Value stage) {
  Pair shift, correction;
  for (int64_t half : {0, 1}) {
    Value top = highest[half], mine;
    for (size_t i = 0; i < scores.size(); ++i)
      if (static_cast<int64_t>(i) / 2 % 2 == half)
        mine = mine ? larger(mine, scores[i]) : scores[i];
    highest[half] = larger(top, acrossRow(mine, [&](Value x, Value y) { return larger(x, y); }));
    shift[half] = arith::NegFOp::create(b, mulF(highest[half], scaleLog2));
    correction[half] = weight(top, scaleLog2, shift[half]);
    total[half] = mulF(total[half], correction[half]);
  }
  for (auto [i, score] : llvm::enumerate(scores)) {
    int64_t half = static_cast<int64_t>(i) / 2 % 2;
    score = weight(score, scaleLog2, shift[half]);
    total[half] = addF(total[half], score);
  }
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = mulF(sum, correction[i / 2 % 2]);
  accumulate(sums, scores, values, stage);
}

/// ln 2 * (highest * scale / ln 2 + log2 total), by the first of a row's lanes.
void ForwardEmitter::writeLogsumexp(const Pair &highest, const Pair &total) {
  Matrix logsumexp = matrix(3, b.getF32Type(), numQueries);
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, laneColumn, index(0));
  for (int64_t half : {0, 1}) {
    Value row = position(laneRow(half));
    k.when(both(isFirst, lessThan(row, numQueries)), [&] {
      Value value = mulF(fma(highest[half], scaleLog2, log2(total[half])), number(std::log(2.0)));
      Value distance = LLVM::MulOp::create(b, toI64(row), logsumexp.rowBytes);
      LLVM::StoreOp::create(b, value, offset(logsumexp.address, distance));
    });
  }
}

void hjx::emitAttentionForward(gpu::GPUFuncOp kernel, const AttentionKernelConfig &config) {
  ForwardEmitter(kernel, config).emit();
}
