// SPDX-License-Identifier: Apache-2.0
//
// The backward kernels of attention: see AttentionKernel.h. Both hold a tile of two matrices and
// walk over two others:
//
//              rows             columns          sums
//   QueryBar   query, outBar    key, value       dQ += dS K
//   KeyBar     key, value       query, outBar    dK += dS^T Q, dV += P^T dO
#include "lib/Codegen/Gpu/AttentionFrame.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace hjx;

namespace {

class BackwardEmitter : AttentionFrame {
public:
  BackwardEmitter(gpu::GPUFuncOp kernel, const AttentionKernelConfig &config)
      : AttentionFrame(kernel, config), logsumexp(matrix(3, b.getF32Type(), numQueries)),
        shift(matrix(5, b.getF32Type(), numQueries)) {}
  void emit();

private:
  bool isQueryBar() const { return rowsAreQueries(); }
  /// What a query brings: -logsumexp / ln 2, and shift.
  struct Statistics {
    Value logsumexp, shift;
  };
  Statistics ofRow(int64_t half);
  void copyStatistics(Value first, Value stage);
  /// Of the columns 8 `number` and the two that follow, from this lane's first.
  std::array<Statistics, 2> ofColumns(int64_t number, Value stage);
  Value negatedLog2(Value value) { return mulF(value, number(-1 / std::log(2.0))); }

  Matrix logsumexp, shift;
  Value statistics; ///< If columns are queries: two stages of their logsumexp and shift.
};

} // namespace

/// Rows that are not there have those of the last one; what becomes of them is not written.
BackwardEmitter::Statistics BackwardEmitter::ofRow(int64_t half) {
  Value last = arith::SubIOp::create(b, numQueries, index(1));
  Value row = toI64(arith::MinSIOp::create(b, position(laneRow(half)), last));
  auto read = [&](const Matrix &from) {
    Value distance = LLVM::MulOp::create(b, row, from.rowBytes);
    return load(b.getF32Type(), offset(from.address, distance));
  };
  return {negatedLog2(read(logsumexp)), read(shift)};
}

/// A thread brings one number. Queries that are not there have zeros: their weight is 1, but their
/// rows of query and outBar are zeros, so that they add nothing.
void BackwardEmitter::copyStatistics(Value first, Value stage) {
  Value thread = k.blockTeam().thread;
  int64_t count = config.columns;
  Value isShift = lessThan(index(count - 1), thread);
  Value isMine = 2 * count < k.blockSize ? lessThan(thread, index(2 * count)) : Value();
  k.when(isMine, [&] {
    Value position = add(first, remainder(thread, count));
    auto addressIn = [&](const Matrix &from) {
      return offset(from.address,
                    LLVM::MulOp::create(b, toI64(position), from.rowBytes).getResult());
    };
    Value source = LLVM::SelectOp::create(b, isShift, addressIn(shift), addressIn(logsumexp));
    Value size =
        LLVM::SelectOp::create(b, lessThan(position, numQueries), constant(4), constant(0));
    Value begin = LLVM::MulOp::create(b, stage, constant(8 * count, 64));
    Value place = offset(offset(statistics, begin), toI64(mul(thread, index(4))));
    NVVM::CpAsyncOp::create(b, place, source, 4u, NVVM::LoadCacheModifierKind::CA, size);
  });
}

std::array<BackwardEmitter::Statistics, 2> BackwardEmitter::ofColumns(int64_t number, Value stage) {
  Value begin = LLVM::MulOp::create(b, stage, constant(8 * config.columns, 64));
  Value place = offset(offset(statistics, begin), toI64(mul(laneColumn, index(4))));
  std::array<Statistics, 2> both;
  for (int64_t i : {0, 1}) {
    int64_t at = 4 * (8 * number + i);
    both[i] = {negatedLog2(load(b.getF32Type(), offset(place, at))),
               load(b.getF32Type(), offset(place, at + 4 * config.columns))};
  }
  return both;
}

void BackwardEmitter::emit() {
  Type element = config.elementType;
  Matrix query = matrix(0, element, numQueries), key = matrix(1, element, numKeys),
         value = matrix(2, element, numKeys), outBar = matrix(4, element, numQueries);
  auto [firstRows, secondRows] = isQueryBar() ? std::pair(query, outBar) : std::pair(key, value);
  auto [firstColumns, secondColumns] =
      isQueryBar() ? std::pair(key, value) : std::pair(query, outBar);
  Tile rows = makeTile(config.rows, 1), otherRows = makeTile(config.rows, 1);
  Tile columns = makeTile(config.columns, 2), otherColumns = makeTile(config.columns, 2);
  if (!isQueryBar())
    statistics = makeBytes(2 * 8 * config.columns);
  copy(rows, firstRows, firstRow);
  copy(otherRows, secondRows, firstRow);
  std::array<Statistics, 2> rowStatistics;
  if (isQueryBar())
    rowStatistics = {ofRow(0), ofRow(1)};

  int64_t numSums = config.width() / 2;
  Values sums(isQueryBar() ? numSums : 2 * numSums, number(0));
  sums = forEachColumns(
      sums,
      [&](Value first, Value stage) {
        copy(columns, firstColumns, first, stage);
        copy(otherColumns, secondColumns, first, stage);
        if (!isQueryBar())
          copyStatistics(first, stage);
      },
      [&](Value first, Value stage, Values sums) {
        Values weights = hide(scores(rows, columns, stage), first);
        Values bars = scores(otherRows, otherColumns, stage);
        for (size_t tile = 0; tile < weights.size() / 4; ++tile) {
          std::array<Statistics, 2> ofQueries = rowStatistics;
          if (!isQueryBar())
            ofQueries = ofColumns(static_cast<int64_t>(tile), stage);
          for (size_t i = 0; i < 4; ++i) {
            Value &weight = weights[4 * tile + i], &bar = bars[4 * tile + i];
            const Statistics &mine = ofQueries[isQueryBar() ? i / 2 : i % 2];
            weight = this->weight(weight, scaleLog2, mine.logsumexp);
            bar = mulF(weight, subF(bar, mine.shift));
          }
        }
        Values more(ArrayRef(sums).drop_front(numSums));
        sums.truncate(numSums);
        accumulate(sums, bars, columns, stage);
        if (!isQueryBar())
          accumulate(more, weights, otherColumns, stage);
        sums.append(more);
        return sums;
      });

  write(ArrayRef(sums).take_front(numSums), {scale, scale}, matrix(6, element, numRows()));
  if (!isQueryBar())
    write(ArrayRef(sums).drop_front(numSums), {number(1), number(1)}, matrix(7, element, numKeys));
}

void hjx::emitAttentionBackward(gpu::GPUFuncOp kernel, const AttentionKernelConfig &config) {
  BackwardEmitter(kernel, config).emit();
}
