// SPDX-License-Identifier: Apache-2.0
//
// See GemmKernels.h. The micro-kernel and the write-back; the packer is in GemmPack.cpp,
// the kernels that do without it in GemmLight.cpp.
#include "lib/Codegen/Cpu/GemmKernels.h"

using namespace mlir;
namespace hjx::gemm {

LLVM::LLVMFuncOp emitMicroKernel(Emitter &e, ModuleOp module, const Tiling &t, StringRef name) {
  SmallVector<Type> signature{e.i64(), e.ptr(), e.ptr(), e.ptr(), e.i64(), e.getI1Type()};
  return e.function(module, name, signature, [&](ValueRange args) {
    Int k = e.wrap(args[0]), cRow = e.wrap(args[4]);
    Value a = args[1], b = args[2], c = args[3], accumulate = args[5];
    VectorType vector = t.vector();
    unsigned vectorBytes = t.lanes * t.computeBytes();

    SmallVector<Value> rowOfC(t.rows);
    for (int64_t i = 0; i < t.rows; ++i)
      rowOfC[i] = e.at(c, t.compute, cRow * i);
    // The tile of C is asked for row by row while the products begin; all at once would stall.
    auto prefetchRow = [&](Int row) {
      Value address = e.at(c, t.compute, cRow * min(row, e.constant(t.rows - 1)));
      int64_t line = 64 / t.computeBytes();
      for (int64_t j = 0; j < t.cols; j += line)
        e.prefetch(e.at(address, t.compute, j), true);
    };

    Emitter::Carried carried{a, b};
    carried.append(t.rows * t.vectors, e.zero(vector));
    carried = e.loop(e.constant(0), k, Tiling::kUnroll, carried, [&](Int kk, ValueRange now) {
      prefetchRow(kk / e.constant(Tiling::kUnroll));
      Emitter::Carried next(now.begin(), now.end());
      MutableArrayRef<Value> sums = MutableArrayRef<Value>(next).drop_front(2);
      for (int64_t u = 0; u < Tiling::kUnroll; ++u) {
        SmallVector<Value> bVectors;
        for (int64_t v = 0; v < t.vectors; ++v)
          bVectors.push_back(
              e.load(vector, e.at(now[1], t.compute, u * t.cols + v * t.lanes), vectorBytes));
        for (int64_t i = 0; i < t.rows; ++i) {
          Value scalar = e.load(t.compute, e.at(now[0], t.compute, u * t.rows + i));
          Value broadcast = vector::BroadcastOp::create(e, vector, scalar);
          for (int64_t v = 0; v < t.vectors; ++v) {
            Value &sum = sums[i * t.vectors + v];
            sum = e.multiplyAdd(broadcast, bVectors[v], sum, t.fma);
          }
        }
      }
      next[0] = e.at(now[0], t.compute, Tiling::kUnroll * t.rows);
      next[1] = e.at(now[1], t.compute, Tiling::kUnroll * t.cols);
      return next;
    });

    auto storeTile = [&](bool add) {
      for (int64_t i = 0; i < t.rows; ++i)
        for (int64_t v = 0; v < t.vectors; ++v) {
          Value address = e.at(rowOfC[i], t.compute, v * t.lanes);
          Value sum = carried[2 + i * t.vectors + v];
          e.store(add ? e.addElements(e.load(vector, address), sum) : sum, address);
        }
    };
    e.branch(
        accumulate, [&] { storeTile(true); }, [&] { storeTile(false); });
  });
}

LLVM::LLVMFuncOp emitWriteBack(Emitter &e, ModuleOp module, const Tiling &t, StringRef name) {
  SmallVector<Type> signature{e.ptr(), e.i64(), e.ptr(), e.i64(),
                              e.i64(), e.i64(), e.i64(), e.getI1Type()};
  return e.function(module, name, signature, [&](ValueRange args) {
    Int sourceRow = e.wrap(args[1]), cRow = e.wrap(args[3]), cCol = e.wrap(args[4]);
    Int m = e.wrap(args[5]), n = e.wrap(args[6]), zero = e.constant(0);
    Value accumulate = args[7];

    // Moves one element or one vector of elements.
    auto move = [&](Value from, Value to, bool asVector) {
      Type resultType = asVector ? VectorType::get({t.lanes}, t.result) : t.result;
      Value value = e.load(asVector ? Type(t.vector()) : t.compute, from);
      e.branch(
          accumulate,
          [&] {
            Type wider = t.result.getIntOrFloatBitWidth() > t.compute.getIntOrFloatBitWidth()
                             ? t.result
                             : t.compute;
            Value old = e.convert(e.load(resultType, to), wider);
            e.store(e.convert(e.addElements(old, e.convert(value, wider)), t.result), to);
          },
          [&] { e.store(e.convert(value, t.result), to); });
    };
    e.loop(zero, m, 1, [&](Int i) {
      Value from = e.at(args[0], t.compute, i * sourceRow), to = e.at(args[2], t.result, i * cRow);
      Int vectorised = e.select(e.equal(cCol, 1), n - n % e.constant(t.lanes), zero);
      e.loop(zero, vectorised, t.lanes,
             [&](Int j) { move(e.at(from, t.compute, j), e.at(to, t.result, j), true); });
      e.loop(vectorised, n, 1,
             [&](Int j) { move(e.at(from, t.compute, j), e.at(to, t.result, j * cCol), false); });
    });
  });
}

} // namespace hjx::gemm
