// SPDX-License-Identifier: Apache-2.0
//
// The main way: B packed by all threads together, then each thread packs blocks of A and runs the
// micro-kernel over the tiles of its rectangle of C.
#include "lib/Codegen/Cpu/GemmGenerator.h"

using namespace mlir;
namespace hjx::gemm {

void Generator::pack(bool isLhs, const Context &c, Int first, Int count, Int k0, Int depth, Value panel) {
  if (isLhs)
    e.call(packA, {c.element(A, t.lhs, first, k0), c[ARow], c[ACol], count, depth, panel});
  else
    e.call(packB, {c.element(B, t.rhs, k0, first), c[BCol], c[BRow], count, depth, panel});
  if (isLhs ? t.lhsIsScaled : t.rhsIsScaled)
    e.call(scalePanel, {panel, c[Scales], c[ScalesSide], c[ScalesSum], c[SideGroup], c[SumGroup], c[FirstSide] + first,
                        count, c[FirstSum] + k0, depth});
}

// Layout of a packed chunk: blocks of k, in each the panels, in each k-major rows of `cols`.
Generator::Function Generator::emitPackPart() {
  return parallelBody(".pack_b", [&](Context c, Int part, Value) {
    Int panels = ceilDiv(c[N], t.cols), blocks = ceilDiv(c[K], Tiling::kBlock);
    auto [begin, end] = share(panels * blocks, part, c[Parts]);
    e.loop(begin, end, 1, [&](Int index) {
      Int panel = index % panels, k0 = index / panels * Tiling::kBlock;
      Int depth = min(c[K] - k0, e.constant(Tiling::kBlock));
      Int offset = (k0 * panels + panel * roundUp(depth, Tiling::kUnroll)) * t.cols;
      pack(/*isLhs=*/false, c, panel * t.cols, min(c[N] - panel * t.cols, e.constant(t.cols)), k0, depth,
           e.at(c[Workspace], t.compute, offset));
    });
  });
}

/// All tiles of a block of C for one block of k: columns outside, so that a panel of B stays
/// in the first-level cache while the panels of A pass by.
void Generator::emitTiles(const Context &c, Value buffers, Int k0, Int depth, Int firstRow,
                          Int lastRow, Int firstCol, Int lastCol) {
  Int panels = ceilDiv(c[N], t.cols), padded = roundUp(depth, Tiling::kUnroll);
  Value accumulateBlock = e.compare(arith::CmpIPredicate::ne, k0, e.constant(0));
  Value accumulate = e.either(accumulateBlock, c.isSet(Accumulate));
  Value no = arith::ConstantOp::create(e, e.getBoolAttr(false));
  Value tile = bytes(buffers, e.constant(t.tileOffset()));

  e.loop(firstCol, lastCol, 1, [&](Int col) {
    Value panelB = e.at(c[Workspace], t.compute, (k0 * panels + col * padded) * t.cols);
    Int n = min(c[N] - col * t.cols, e.constant(t.cols));
    e.loop(firstRow, lastRow, 1, [&](Int row) {
      Value panelA = e.at(buffers, t.compute, (row - firstRow) * padded * t.rows);
      if (t.throughScratch()) {
        Value scratch = bytes(buffers, e.constant(t.scratchOffset()));
        Int offset = (row - firstRow) * (t.rows * t.scratchStride()) + (col - firstCol) * t.cols;
        e.call(microKernel, {padded, panelA, panelB, e.at(scratch, t.compute, offset),
                             e.constant(t.scratchStride()), accumulateBlock});
        return;
      }
      Int m = min(c[M] - row * t.rows, e.constant(t.rows));
      Value target = c.element(C, t.result, row * t.rows, col * t.cols);
      Value whole = e.both(e.both(e.equal(m, t.rows), e.equal(n, t.cols)), e.equal(c[CCol], 1));
      e.branch(
          whole,
          [&] {
            e.call(microKernel, {padded, panelA, panelB, target, c[CRow], accumulate});
          },
          [&] {
            e.call(microKernel, {padded, panelA, panelB, tile, e.constant(t.cols), no});
            e.call(writeBack,
                   {tile, e.constant(t.cols), target, c[CRow], c[CCol], m, n, accumulate});
          });
    });
  });
}

Generator::Function Generator::emitMultiplyPart() {
  return parallelBody(".multiply", [&](Context c, Int part, Value) {
    Value buffers = bytes(c[Private], part * c[PrivateStride]);
    Int rowTiles = ceilDiv(c[M], t.rows), colTiles = ceilDiv(c[N], t.cols);
    Rectangle r = rectangleOf(rowTiles, colTiles, part, c[Parts]);

    forBlocks(r.colBegin, r.colEnd, t.colTilesPerBlock, [&](Int firstCol, Int lastCol) {
      forBlocks(r.rowBegin, r.rowEnd, t.rowTilesPerBlock, [&](Int firstRow, Int lastRow) {
        // With k = 0 there is still one block: it stores zeros.
        e.loop(e.constant(0), max(c[K], e.constant(1)), Tiling::kBlock, [&](Int k0) {
          Int depth = min(c[K] - k0, e.constant(Tiling::kBlock));
          e.loop(firstRow, lastRow, 1, [&](Int row) {
            Int offset = (row - firstRow) * roundUp(depth, Tiling::kUnroll) * t.rows;
            pack(/*isLhs=*/true, c, row * t.rows, min(c[M] - row * t.rows, e.constant(t.rows)), k0, depth,
                 e.at(buffers, t.compute, offset));
          });
          emitTiles(c, buffers, k0, depth, firstRow, lastRow, firstCol, lastCol);
        });
        if (t.throughScratch())
          e.call(writeBack,
                 {bytes(buffers, e.constant(t.scratchOffset())), e.constant(t.scratchStride()),
                  c.element(C, t.result, firstRow * t.rows, firstCol * t.cols), c[CRow], c[CCol],
                  min(c[M], lastRow * t.rows) - firstRow * t.rows,
                  min(c[N], lastCol * t.cols) - firstCol * t.cols, c.isSet(Accumulate)});
      });
    });
  });
}

} // namespace hjx::gemm
