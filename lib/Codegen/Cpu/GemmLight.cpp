// SPDX-License-Identifier: Apache-2.0
//
// Products for which packing does not pay, because each packed element would be used too few
// times: narrow or small ones (A read in place), few rows (B read in place, too), one row.
#include "lib/Codegen/Cpu/GemmGenerator.h"

using namespace mlir;
namespace hjx::gemm {

LLVM::LLVMFuncOp emitInPlaceKernel(Emitter &e, ModuleOp module, const Tiling &t, int64_t rows,
                                   int64_t vectors, StringRef name) {
  SmallVector<Type> signature{e.i64(), e.ptr(), e.i64(), e.i64(), e.ptr(),      e.i64(),
                              e.ptr(), e.i64(), e.i64(), e.i64(), e.getI1Type()};
  return e.function(module, name, signature, [&](ValueRange args) {
    Int k = e.wrap(args[0]), aRow = e.wrap(args[2]), aCol = e.wrap(args[3]);
    Int bRow = e.wrap(args[5]), cRow = e.wrap(args[7]), m = e.wrap(args[8]), n = e.wrap(args[9]);
    Value a = args[1], b = args[4], c = args[6], accumulate = args[10];
    VectorType vector = t.vector();

    // Rows from m on repeat the last one and are not stored.
    SmallVector<Value> rowOfA{a};
    for (int64_t i = 1; i < rows; ++i)
      rowOfA.push_back(e.at(a, t.compute, min(e.constant(i), m - 1) * aRow));

    auto tile = [&](bool whole) {
      SmallVector<Value> masks;
      if (!whole)
        for (int64_t v = 0; v < vectors; ++v)
          masks.push_back(e.maskOf(n - v * t.lanes, t.lanes));
      auto load = [&](Value base, int64_t v) {
        Value address = e.at(base, t.compute, v * t.lanes);
        return whole ? e.load(vector, address) : e.loadMasked(vector, address, masks[v]);
      };

      Emitter::Carried carried{b};
      carried.append(rows * vectors, e.zero(vector));
      carried = e.loop(e.constant(0), k, 1, carried, [&](Int kk, ValueRange now) {
        Emitter::Carried next(now.begin(), now.end());
        MutableArrayRef<Value> sums = MutableArrayRef<Value>(next).drop_front();
        // One row alone waits for memory: ask for B some rows ahead.
        for (int64_t v = 0; rows == 1 && v < vectors; ++v)
          e.prefetch(e.at(e.at(now[0], t.compute, bRow * 8), t.compute, v * t.lanes), false);
        SmallVector<Value> bVectors;
        for (int64_t v = 0; v < vectors; ++v)
          bVectors.push_back(load(now[0], v));
        for (int64_t i = 0; i < rows; ++i) {
          Value scalar = e.load(t.compute, e.at(rowOfA[i], t.compute, kk * aCol));
          Value broadcast = vector::BroadcastOp::create(e, vector, scalar);
          for (int64_t v = 0; v < vectors; ++v) {
            Value &sum = sums[i * vectors + v];
            sum = e.multiplyAdd(broadcast, bVectors[v], sum, t.fma);
          }
        }
        next[0] = e.at(now[0], t.compute, bRow);
        return next;
      });

      auto storeRow = [&](int64_t i, bool add) {
        Value row = e.at(c, t.compute, cRow * i);
        for (int64_t v = 0; v < vectors; ++v) {
          Value sum = carried[1 + i * vectors + v];
          if (add)
            sum = e.addElements(load(row, v), sum);
          Value address = e.at(row, t.compute, v * t.lanes);
          whole ? e.store(sum, address) : e.storeMasked(sum, address, masks[v]);
        }
      };
      auto storeRows = [&](bool add) {
        storeRow(0, add);
        for (int64_t i = 1; i < rows; ++i)
          e.branch(e.compare(arith::CmpIPredicate::sgt, m, e.constant(i)),
                   [&] { storeRow(i, add); });
      };
      e.branch(
          accumulate, [&] { storeRows(true); }, [&] { storeRows(false); });
    };
    e.branch(
        e.equal(n, vectors * t.lanes), [&] { tile(true); }, [&] { tile(false); });
  });
}

LLVM::LLVMFuncOp emitDotsKernel(Emitter &e, ModuleOp module, const Tiling &t, StringRef name) {
  SmallVector<Type> signature{e.i64(), e.ptr(), e.ptr(), e.i64(),
                              e.ptr(), e.i64(), e.i64(), e.getI1Type()};
  return e.function(module, name, signature, [&](ValueRange args) {
    constexpr int64_t cols = Tiling::dotsCols;
    Int k = e.wrap(args[0]), bCol = e.wrap(args[3]), cCol = e.wrap(args[5]), n = e.wrap(args[6]);
    Value x = args[1], b = args[2], c = args[4], accumulate = args[7];
    VectorType vector = t.vector();

    SmallVector<Value> column;
    for (int64_t j = 0; j < cols; ++j)
      column.push_back(e.at(b, t.compute, min(e.constant(j), n - 1) * bCol));
    auto step = [&](Int kk, ValueRange sums, function_ref<Value(Value)> load) {
      Value xs = load(e.at(x, t.compute, kk));
      Emitter::Carried next;
      for (auto [address, sum] : llvm::zip_equal(column, sums))
        next.push_back(e.multiplyAdd(xs, load(e.at(address, t.compute, kk)), sum, t.fma));
      return next;
    };
    Int whole = k - k % e.constant(t.lanes);
    Emitter::Carried sums(cols, e.zero(vector));
    sums = e.loop(e.constant(0), whole, t.lanes, sums, [&](Int kk, ValueRange now) {
      return step(kk, now, [&](Value address) { return e.load(vector, address); });
    });
    Value mask = e.maskOf(k - whole, t.lanes);
    sums = step(whole, sums, [&](Value address) { return e.loadMasked(vector, address, mask); });

    auto storeSum = [&](int64_t j) {
      // Added up pairwise: one fixed order for every column.
      Value sum = vector::ReductionOp::create(e, vector::CombiningKind::ADD, sums[j],
                                              arith::FastMathFlags::reassoc);
      Value address = e.at(c, t.compute, cCol * j);
      e.branch(
          accumulate, [&] { e.store(e.addElements(e.load(t.compute, address), sum), address); },
          [&] { e.store(sum, address); });
    };
    storeSum(0);
    for (int64_t j = 1; j < cols; ++j)
      e.branch(e.compare(arith::CmpIPredicate::sgt, n, e.constant(j)), [&] { storeSum(j); });
  });
}

// B is read where it lies, or from the panels that .pack_b left.
Generator::Function Generator::emitLightPart() {
  return parallelBody(".light", [&](Context c, Int part, Value) {
    Int panels = ceilDiv(c[N], t.cols), one = e.constant(1);
    Rectangle r = rectangleOf(ceilDiv(c[M], t.lightRows), panels, part, c[Parts]);
    Value packed = c.isSet(PackB);
    Int bRow = e.select(packed, e.constant(t.cols), c[BRow]);
    Value b = arith::SelectOp::create(e, packed, c[Workspace], c[B]);
    e.loop(e.constant(0), max(c[K], one), Tiling::kBlock, [&](Int k0) {
      Int depth = min(c[K] - k0, e.constant(Tiling::kBlock));
      Value accumulate =
          e.either(e.compare(arith::CmpIPredicate::ne, k0, e.constant(0)), c.isSet(Accumulate));
      e.loop(r.colBegin, r.colEnd, 1, [&](Int col) {
        Int packedOffset = (k0 * panels + col * roundUp(depth, Tiling::kUnroll)) * t.cols;
        Int offset = e.select(packed, packedOffset, k0 * c[BRow] + col * t.cols);
        Value panel = e.at(b, t.compute, offset);
        Int n = min(c[N] - col * t.cols, e.constant(t.cols));
        e.loop(r.rowBegin, r.rowEnd, 1, [&](Int row) {
          Int i = row * t.lightRows;
          e.call(lightKernel, {depth, c.element(A, t.compute, i, k0), c[ARow], c[ACol], panel, bRow,
                               c.element(C, t.compute, i, col * t.cols), c[CRow],
                               min(c[M] - i, e.constant(t.lightRows)), n, accumulate});
        });
      });
    });
  });
}

Generator::Function Generator::emitRowPart() {
  return parallelBody(".row", [&](Context c, Int part, Value) {
    int64_t cols = Tiling::rowVectors * t.lanes;
    Int one = e.constant(1), zero = e.constant(0);
    auto [begin, end] = share(ceilDiv(c[N], cols), part, c[Parts]);
    e.loop(zero, max(c[K], one), Tiling::kBlock, [&](Int k0) {
      Int depth = min(c[K] - k0, e.constant(Tiling::kBlock));
      Value accumulate =
          e.either(e.compare(arith::CmpIPredicate::ne, k0, zero), c.isSet(Accumulate));
      e.loop(begin, end, 1, [&](Int col) {
        Int j = col * cols;
        e.call(rowKernel,
               {depth, c.element(A, t.compute, zero, k0), zero, c[ACol],
                c.element(B, t.compute, k0, j), c[BRow], c.element(C, t.compute, zero, j), zero,
                one, min(c[N] - j, e.constant(cols)), accumulate});
      });
    });
  });
}

Generator::Function Generator::emitDotsPart() {
  return parallelBody(".dots", [&](Context c, Int part, Value) {
    Int zero = e.constant(0);
    auto [begin, end] = share(ceilDiv(c[N], Tiling::dotsCols), part, c[Parts]);
    e.loop(begin, end, 1, [&](Int col) {
      Int j = col * Tiling::dotsCols;
      e.call(dotsKernel, {c[K], c[A], c.element(B, t.compute, zero, j), c[BCol],
                          c.element(C, t.compute, zero, j), c[CCol],
                          min(c[N] - j, e.constant(Tiling::dotsCols)), c.isSet(Accumulate)});
    });
  });
}

} // namespace hjx::gemm
