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

      // `unroll` steps of k at once; elements of A are `stride` apart.
      auto sumUp = [&](int64_t unroll, Int stride) {
        auto steps = [&](Int kk, ValueRange now, int64_t count) {
          Emitter::Carried next(now.begin(), now.end());
          MutableArrayRef<Value> sums = MutableArrayRef<Value>(next).drop_front();
          for (int64_t u = 0; u < count; ++u) {
            // Few rows wait for memory: ask for B some rows ahead.
            for (int64_t v = 0; v < vectors; ++v)
              e.prefetch(e.at(e.at(next[0], t.compute, bRow * 8), t.compute, v * t.lanes), false);
            SmallVector<Value> bVectors;
            for (int64_t v = 0; v < vectors; ++v)
              bVectors.push_back(load(next[0], v));
            for (int64_t i = 0; i < rows; ++i) {
              Value scalar = e.load(t.compute, e.at(rowOfA[i], t.compute, (kk + u) * stride));
              Value broadcast = vector::BroadcastOp::create(e, vector, scalar);
              for (int64_t v = 0; v < vectors; ++v) {
                Value &sum = sums[i * vectors + v];
                sum = e.multiplyAdd(broadcast, bVectors[v], sum, t.fma);
              }
            }
            next[0] = e.at(next[0], t.compute, bRow);
          }
          return next;
        };
        Emitter::Carried carried{b};
        carried.append(rows * vectors, e.zero(vector));
        Int whole = k - k % e.constant(unroll);
        if (unroll > 1)
          carried = e.loop(e.constant(0), whole, unroll, carried,
                           [&](Int kk, ValueRange now) { return steps(kk, now, unroll); });
        else
          whole = e.constant(0);
        return e.loop(whole, k, 1, carried,
                      [&](Int kk, ValueRange now) { return steps(kk, now, 1); });
      };
      // Only rows of A that are contiguous along k leave enough registers to unroll.
      Emitter::Carried carried =
          whole ? e.choose(
                      e.equal(aCol, 1), [&] { return sumUp(Tiling::kUnroll, e.constant(1)); },
                      [&] { return sumUp(1, aCol); })
                : sumUp(1, aCol);

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

// Cost rule, from measurements on shapes around the limits. Light is better for few rows, because
// a panel of B is used while it is in the first-level cache, and for few columns, because then
// packing A costs more than multiplying it. With a short k, however, the time goes into loading and
// storing tiles, and larger tiles are better; and columns of A that are far apart collide in the
// cache, so they are packed earlier.
Value Generator::isLight(const Context &c) {
  Value aByRows = e.equal(c[ACol], 1);
  Int shortK = max(c[K] * 2, e.constant(t.inPlaceMaxM));
  Int limit = e.select(aByRows, e.constant(t.lightMaxM), e.constant(t.lightMaxM / 2));
  Value fewRows = e.compare(arith::CmpIPredicate::sle, c[M], min(limit, shortK));
  Value fewCols = e.both(aByRows, e.atMost(c[N], t.cols));
  return e.both(e.equal(c[CCol], 1), e.either(fewRows, fewCols));
}

// B is packed unless few rows use it, or it is small enough to stay in the cache as it is.
Value Generator::packsBWhenLight(const Context &c) {
  if (!t.canReadInPlace())
    return e.constant(1);
  Value fewRows = e.atMost(c[M], t.inPlaceMaxM);
  Value cached = e.atMost(c[K] * c[N], t.inPlaceMaxElements);
  Value inPlace = e.both(e.equal(c[BCol], 1), e.either(fewRows, cached));
  return e.select(inPlace, e.constant(0), e.constant(1));
}

void Generator::emitLightTiles(const Context &c, const Rectangle &r, Value buffer) {
  Value packs = c.isSet(PackB);
  Int bRow = e.select(packs, e.constant(t.cols), c[BRow]), end = min(r.rowEnd * t.lightRows, c[M]);
  e.loop(e.constant(0), max(c[K], e.constant(1)), Tiling::kBlock, [&](Int k0) {
    Int depth = min(c[K] - k0, e.constant(Tiling::kBlock));
    Value accumulate =
        e.either(e.compare(arith::CmpIPredicate::ne, k0, e.constant(0)), c.isSet(Accumulate));
    e.loop(r.colBegin, r.colEnd, 1, [&](Int col) {
      Int n = min(c[N] - col * t.cols, e.constant(t.cols));
      Value inPlace = c.element(B, t.rhs, k0, col * t.cols);
      e.branch(packs, [&] { pack(/*isLhs=*/false, c, col * t.cols, n, k0, depth, buffer); });
      Value panel = arith::SelectOp::create(e, packs, buffer, inPlace);
      auto rows = [&](Function kernel, int64_t step) {
        e.loop(r.rowBegin * t.lightRows, end, step, [&](Int i) {
          e.call(kernel, {depth, c.element(A, t.compute, i, k0), c[ARow], c[ACol], panel, bRow,
                          c.element(C, t.compute, i, col * t.cols), c[CRow],
                          min(end - i, e.constant(step)), n, accumulate});
        });
      };
      e.branch(
          e.atMost(n, t.lanes), [&] { rows(narrowKernel, Tiling::narrowRows); },
          [&] { rows(lightKernel, t.lightRows); });
    });
  });
}

Generator::Rectangle Generator::allLightTiles(const Context &c) {
  return {e.constant(0), ceilDiv(c[M], t.lightRows), e.constant(0), ceilDiv(c[N], t.cols)};
}

// A panel of B is packed by each part that uses it: there is little of it, and it is used at once.
Generator::Function Generator::emitLightPart() {
  return parallelBody(".light", [&](Context c, Int part, Value) {
    Rectangle all = allLightTiles(c);
    emitLightTiles(c, rectangleOf(all.rowEnd, all.colEnd, part, c[Parts]),
                   bytes(c[Private], part * c[PrivateStride]));
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
