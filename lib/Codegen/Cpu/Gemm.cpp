// SPDX-License-Identifier: Apache-2.0
//
// See Gemm.h for what is generated and GemmGenerator.h for its parts. This file holds the upper
// functions: the entry point, batches, and the choice of a way for one product.
#include "lib/Codegen/Cpu/Gemm.h"
#include "lib/Codegen/Cpu/GemmGenerator.h"

using namespace mlir;
namespace hjx {
namespace gemm {

Generator::Generator(ModuleOp module, const GemmConfig &config, const Tiling &tiling)
    : e(module.getLoc(), module.getContext()), module(module), config(config), t(tiling),
      name(gemmKernelName(config)) {}

func::FuncOp Generator::generate() {
  microKernel = emitMicroKernel(e, module, t, name + ".kernel");
  packA = emitPackPanel(e, module, t, /*isLhs=*/true, name + ".pack_rows");
  packB = emitPackPanel(e, module, t, /*isLhs=*/false, name + ".pack_cols");
  if (t.isScaled())
    scalePanel = emitScalePanel(e, module, t, t.lhsIsScaled, name + ".scale_panel");
  writeBack = emitWriteBack(e, module, t, name + ".write_back");
  packPart = emitPackPart();
  multiplyPart = emitMultiplyPart();
  if (t.canBeLight()) {
    lightKernel = emitInPlaceKernel(e, module, t, t.lightRows, t.vectors, name + ".light_kernel");
    narrowKernel = emitInPlaceKernel(e, module, t, Tiling::narrowRows, 1, name + ".narrow_kernel");
    lightPart = emitLightPart();
  }
  if (t.canReadInPlace()) {
    rowKernel = emitInPlaceKernel(e, module, t, 1, Tiling::rowVectors, name + ".row_kernel");
    dotsKernel = emitDotsKernel(e, module, t, name + ".dots_kernel");
    rowPart = emitRowPart();
    dotsPart = emitDotsPart();
  }
  product = emitProduct();
  batchPart = emitBatchPart();
  return emitEntry();
}

/// Cuts B into chunks that fit the outer caches; k = 0 still has one, which stores zeros.
void Generator::emitChunks(const Context &c, Value chunkAddress) {
  Int one = e.constant(1), zero = e.constant(0);
  Int depthLimit = t.throughScratch() ? max(c[K], one) : e.constant(Tiling::kChunk);
  e.loop(zero, c[N], e.constant(Tiling::nChunk), [&](Int n0) {
    e.loop(zero, max(c[K], one), depthLimit, [&](Int k0) {
      Context chunk = c;
      chunk.set(A, c.element(A, t.lhs, zero, k0));
      chunk.set(B, c.element(B, t.rhs, k0, n0));
      chunk.set(C, c.element(C, t.result, zero, n0));
      chunk.set(N, min(c[N] - n0, e.constant(Tiling::nChunk)));
      chunk.set(K, min(c[K] - k0, depthLimit));
      chunk.set(Accumulate, e.select(e.equal(k0, 0), c[Accumulate], one));
      if (t.isScaled())
        chunk.set(FirstSum, k0);
      if (t.rhsIsScaled)
        chunk.set(FirstSide, n0);
      chunk.store(chunkAddress);
      parallel(packPart, chunkAddress, c[Parts]);
      parallel(multiplyPart, chunkAddress, c[Parts]);
    });
  });
}

// The choice depends on sizes and strides alone, never on the number of parts: the ways differ in
// the order of their sums only for one row of C, but that is enough to change bits.
Generator::Function Generator::emitProduct() {
  return e.function(module, name + ".product", {e.ptr()}, [&](ValueRange args) {
    Value chunkAddress = Context::allocate(e);
    Context c = Context::load(e, args[0]);
    auto packed = [&] { emitChunks(c, chunkAddress); };
    if (!t.canBeLight())
      return packed();
    auto light = [&] {
      Context chunk = c;
      chunk.set(PackB, packsBWhenLight(c));
      chunk.store(chunkAddress);
      parallel(lightPart, chunkAddress, c[Parts]);
    };
    auto manyRows = [&] { e.branch(isLight(c), light, packed); };
    if (!t.canReadInPlace())
      return manyRows();
    auto row = [&] { parallel(rowPart, args[0], c[Parts]); };
    auto dots = [&] { parallel(dotsPart, args[0], c[Parts]); };

    Value oneRow = e.equal(c[M], 1);
    Value bByRows = e.both(e.equal(c[BCol], 1), e.equal(c[CCol], 1));
    Value alongK = e.both(e.equal(c[BRow], 1), e.equal(c[ACol], 1));
    auto notByRows = [&] { e.branch(e.both(oneRow, alongK), dots, manyRows); };
    e.branch(e.both(oneRow, bByRows), row, notByRows);
  });
}

/// The context of one product of a batch.
static Context productOf(Emitter &e, const Tiling &t, const Context &c, Int batch0, Int batch1) {
  Context one = c;
  auto advance = [&](Slot matrix, Slot stride0, Slot stride1, Type type) {
    one.set(matrix, e.at(c[matrix], type, batch0 * c[stride0] + batch1 * c[stride1]));
  };
  advance(A, ABatch0, ABatch1, t.lhs);
  advance(B, BBatch0, BBatch1, t.rhs);
  advance(C, CBatch0, CBatch1, t.result);
  if (t.isScaled())
    advance(Scales, ScalesBatch0, ScalesBatch1, t.compute);
  return one;
}

Generator::Function Generator::emitBatchPart() {
  return parallelBody(".batch", [&](Context c, Int part, Value oneAddress) {
    // Each part packs B for itself: [packed B | private buffers] per part.
    Int packed = packedBytes<Int>(t, c[N], c[K], e.constant(Tiling::kChunk), e.constant(Tiling::nChunk));
    c.set(Workspace, bytes(c[Workspace], part * (packed + t.privateBytes())));
    c.set(Private, bytes(c[Workspace], packed));
    auto [begin, end] = share(c[Batch0] * c[Batch1], part, c[Parts]);
    auto forEach = [&, begin = begin, end = end](function_ref<void(Context)> body) {
      e.loop(begin, end, 1,
             [&](Int index) { body(productOf(e, t, c, index / c[Batch1], index % c[Batch1])); });
    };
    auto anySize = [&] {
      forEach([&](Context one) {
        one.set(Parts, e.constant(1));
        one.store(oneAddress);
        e.call(product, {oneAddress});
      });
    };
    if (!t.canBeLight())
      return anySize();
    // Small ones, of which there may be thousands: no context, no choice for each.
    Value small = e.both(isLight(c), e.compare(arith::CmpIPredicate::sgt, c[M], e.constant(1)));
    auto light = [&] {
      Value packB = packsBWhenLight(c);
      forEach([&](Context one) {
        one.set(PackB, packB);
        emitLightTiles(one, allLightTiles(one), c[Private]);
      });
    };
    e.branch(small, light, anySize);
  });
}

/// Whether to compute C^T = B^T A^T instead, the same product with the roles exchanged: when C is
/// stored by columns, when it is one column, or when that wastes less of the tiles.
static Value shouldSwap(Emitter &e, const Tiling &t, const Context &c) {
  if (t.isPacked()) // Each way of reading is compiled for its factor.
    return arith::ConstantOp::create(e, e.getBoolAttr(false));
  // In steps of the micro-kernel per element: k for each element of a tile, filled or not; 16 for
  // each that is packed; 4 * lanes, once a block of k, to write an element that has no neighbour.
  Int kBlocks = ceilDiv(c[K], Tiling::kBlock);
  Int scattered = c[M] * c[N] * kBlocks * (4 * t.lanes);
  auto cost = [&](Int m, Int n, Int colStride) {
    Value byRows = e.equal(colStride, 1);
    Value light = e.both(byRows, e.either(e.atMost(m, t.lightMaxM), e.atMost(n, t.cols)));
    Int packed = n + e.select(light, e.constant(0), m);
    Int products = roundUp(m, t.lightRows) * roundUp(n, t.lanes);
    return (products + packed * 16) * c[K] + e.select(byRows, e.constant(0), scattered);
  };
  Value cheaper =
      e.compare(arith::CmpIPredicate::slt, cost(c[N], c[M], c[CRow]), cost(c[M], c[N], c[CCol]));
  Value oneCol = e.equal(c[N], 1);
  Value notOneRow = e.compare(arith::CmpIPredicate::ne, c[M], e.constant(1));
  return e.both(notOneRow, e.either(oneCol, cheaper));
}

func::FuncOp Generator::emitEntry() {
  SmallVector<Type> signature;
  auto index = e.getIndexType();
  for (int matrix = 0; matrix < 3; ++matrix)
    llvm::append_values(signature, e.ptr(), index, index, index, index);
  signature.append(5, index);
  llvm::append_values(signature, e.getI1Type(), e.ptr(), index);
  if (t.isScaled()) {
    signature.push_back(e.ptr());
    signature.append(6, index);
  }

  e.setInsertionPointToEnd(module.getBody());
  auto entry = func::FuncOp::create(e, name, e.getFunctionType(signature, {}));
  Block *block = entry.addEntryBlock();
  e.setInsertionPointToStart(block);
  Value address = Context::allocate(e);
  Context c{{}, &e};
  for (auto [slot, argument] : llvm::enumerate(block->getArguments())) {
    Value value = argument;
    if (argument.getType().isIndex())
      value = arith::IndexCastOp::create(e, e.i64(), value);
    else if (argument.getType().isInteger(1))
      value = arith::ExtUIOp::create(e, e.i64(), value);
    c.slots[slot] = value;
  }

  Value swap = shouldSwap(e, t, c);
  Context s = c;
  std::pair<Slot, Slot> exchanged[] = {{A, B},       {ABatch0, BBatch0}, {ABatch1, BBatch1},
                                       {ARow, BCol}, {ACol, BRow},       {CRow, CCol},
                                       {M, N}};
  for (auto [x, y] : exchanged) {
    s.set(x, e.select(swap, c[y], c[x]));
    s.set(y, e.select(swap, c[x], c[y]));
  }

  Int batch = s[Batch0] * s[Batch1], one = e.constant(1), zero = e.constant(0);
  Int packed = packedBytes<Int>(t, s[N], s[K], e.constant(Tiling::kChunk), e.constant(Tiling::nChunk));
  s.set(Private, bytes(s[Workspace], packed));
  s.set(PrivateStride, e.constant(t.privateBytes()));
  s.set(PackB, one);
  if (t.isScaled())
    for (Slot slot : {FirstSide, FirstSum})
      s.set(slot, zero);
  // Less than about ten microseconds of work is not worth waking threads for.
  Value small = e.compare(arith::CmpIPredicate::slt, batch * s[M] * s[N] * s[K],
                          e.constant(int64_t(1) << 19));
  s.set(Parts, e.select(small, one, s[Parts]));
  Value byBatch = e.both(e.compare(arith::CmpIPredicate::sgt, batch, one),
                         e.compare(arith::CmpIPredicate::sle, packed, e.constant(maxBatchedBytes)));
  auto wholeProductsPerPart = [&] {
    Context whole = s;
    Int parts = min(s[Parts], batch);
    whole.set(Parts, parts);
    whole.store(address);
    parallel(batchPart, address, parts);
  };
  auto oneAfterTheOther = [&] {
    e.loop(zero, batch, 1, [&](Int index) {
      productOf(e, t, s, index / s[Batch1], index % s[Batch1]).store(address);
      e.call(product, {address});
    });
  };
  e.branch(byBatch, wholeProductsPerPart, oneAfterTheOther);
  func::ReturnOp::create(e);
  return entry;
}

} // namespace gemm

std::string gemmKernelName(const GemmConfig &config) {
  std::string name;
  llvm::raw_string_ostream os(name);
  os << "hjx_gemm_" << (config.unsignedOperands ? "u_" : "") << config.operandType << "_"
     << config.accumulatorType << "_" << config.resultType;
  for (auto [packing, factor] : {std::pair(config.lhsPacking, "_a"), {config.rhsPacking, "_b"}})
    if (packing != Packing::None)
      os << factor << (packing == Packing::Byte ? "8" : packing == Packing::LowNibble ? "4low" : "4high");
  if (config.isScaled())
    os << "_scaled_" << (config.lhsIsScaled ? "a" : "b");
  os << "_v" << config.vectorUnit.bytes * 8;
  return name;
}

FailureOr<func::FuncOp> getOrCreateGemmKernel(ModuleOp module, const GemmConfig &config) {
  if (auto existing = module.lookupSymbol<func::FuncOp>(gemmKernelName(config)))
    return existing;
  FailureOr<gemm::Tiling> tiling = gemm::Tiling::of(config, module.getLoc());
  if (failed(tiling))
    return failure();
  module.getContext()
      ->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  return gemm::Generator(module, config, *tiling).generate();
}

} // namespace hjx
