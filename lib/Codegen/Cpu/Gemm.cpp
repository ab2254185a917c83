// SPDX-License-Identifier: Apache-2.0
//
// See Gemm.h. From the entry point down to the leaves of GemmKernels.h:
//
//   entry      stores its arguments in a context; batch, or one product after the other
//   .batch     (context, parts): whole products, each by one thread
//   .product   (context): for chunks of B: parallel .pack_b, parallel .multiply
//   .pack_b    (context, parts): packs a share of a chunk of B
//   .multiply  (context, parts): a rectangle of C times the chunk
//
// A part is a share of the work. Functions that take a range of parts are bodies of parallel
// loops, which is why the arguments travel in a context in memory.
#include "lib/Codegen/Cpu/Gemm.h"
#include "lib/Codegen/Cpu/GemmKernels.h"

using namespace mlir;
namespace hjx {
namespace gemm {
namespace {

/// The fields of a context: 64-bit integers and pointers.
enum Slot : unsigned {
  A, ABatch0, ABatch1, ARow, ACol,
  B, BBatch0, BBatch1, BRow, BCol,
  C, CBatch0, CBatch1, CRow, CCol,
  Batch0, Batch1, M, N, K,
  Accumulate, Workspace, Parts,
  Private,       ///< where the private buffers of part 0 begin
  PrivateStride, ///< bytes between the private buffers of two parts
  NumSlots
};
bool isPointer(unsigned slot) {
  return slot == A || slot == B || slot == C || slot == Workspace || slot == Private;
}

/// The fields of a context as values in a function.
struct Context {
  std::array<Value, NumSlots> slots;
  Emitter *e;

  Int operator[](Slot slot) const { return e->wrap(slots[slot]); }
  void set(Slot slot, Value value) { slots[slot] = value; }

  static Context load(Emitter &e, Value address) {
    Context context{{}, &e};
    for (unsigned slot = 0; slot < NumSlots; ++slot)
      context.slots[slot] =
          e.load(isPointer(slot) ? e.ptr() : e.i64(), e.at(address, e.i64(), slot));
    return context;
  }
  void store(Value address) const {
    for (auto [slot, value] : llvm::enumerate(slots))
      e->store(value, e->at(address, e->i64(), static_cast<int64_t>(slot)));
  }
  /// Memory for a context. Only at the top of a function: stack memory in a loop adds up.
  static Value allocate(Emitter &e) {
    return LLVM::AllocaOp::create(e, e.ptr(), e.i64(), e.constant(NumSlots), /*alignment=*/8);
  }
};

class Generator {
public:
  Generator(ModuleOp module, const GemmConfig &config, const Tiling &tiling)
      : e(module.getLoc(), module.getContext()), module(module), config(config), t(tiling),
        name(gemmKernelName(config)) {}

  func::FuncOp generate() {
    microKernel = emitMicroKernel(e, module, t, name + ".kernel");
    packA = emitPackPanel(e, module, t, t.rows, name + ".pack_rows");
    packB = emitPackPanel(e, module, t, t.cols, name + ".pack_cols");
    writeBack = emitWriteBack(e, module, t, name + ".write_back");
    packPart = emitPackPart();
    multiplyPart = emitMultiplyPart();
    product = emitProduct();
    batchPart = emitBatchPart();
    return emitEntry();
  }

private:
  LLVM::LLVMFuncOp emitPackPart();
  LLVM::LLVMFuncOp emitMultiplyPart();
  LLVM::LLVMFuncOp emitProduct();
  LLVM::LLVMFuncOp emitBatchPart();
  func::FuncOp emitEntry();

  Value bytes(Value base, Int offset) { return e.at(base, e.getI8Type(), offset); }
  Value element(const Context &c, Slot matrix, Slot row, Slot col, Type type, Int i, Int j) {
    return e.at(c[matrix], type, i * c[row] + j * c[col]);
  }
  /// Part `part` of `parts` nearly equal shares of [0, total).
  std::pair<Int, Int> share(Int total, Int part, Int parts) {
    return {total * part / parts, total * (part + 1) / parts};
  }
  /// Cuts [begin, end) into the fewest blocks of at most `limit`, all nearly equal.
  void forBlocks(Int begin, Int end, int64_t limit, function_ref<void(Int, Int)> body) {
    Int total = end - begin, blocks = ceilDiv(total, limit);
    e.loop(e.constant(0), blocks, 1, [&](Int block) {
      auto [first, last] = share(total, block, blocks);
      body(begin + first, begin + last);
    });
  }
  LLVM::LLVMFuncOp parallelBody(StringRef suffix,
                                function_ref<void(Context, Int, Value)> body);
  void parallel(LLVM::LLVMFuncOp body, Value context, Int parts);
  void emitTiles(const Context &c, Value buffers, Int k0, Int depth, Int firstRow, Int lastRow,
                 Int firstCol, Int lastCol);

  Emitter e;
  ModuleOp module;
  const GemmConfig &config;
  const Tiling &t;
  std::string name;
  LLVM::LLVMFuncOp microKernel, packA, packB, writeBack;
  LLVM::LLVMFuncOp packPart, multiplyPart, product, batchPart;
};

/// The function (context, begin, end) that does parts [begin, end). `body` also gets memory for
/// another context.
LLVM::LLVMFuncOp Generator::parallelBody(StringRef suffix,
                                         function_ref<void(Context, Int, Value)> body) {
  return e.function(module, name + suffix.str(), {e.ptr(), e.i64(), e.i64()}, [&](ValueRange args) {
    Value spare = Context::allocate(e);
    Context context = Context::load(e, args[0]);
    e.loop(e.wrap(args[1]), e.wrap(args[2]), 1, [&](Int part) { body(context, part, spare); });
  });
}

/// Runs `body` for parts [0, parts), through the runtime's pool when there is one.
void Generator::parallel(LLVM::LLVMFuncOp body, Value context, Int parts) {
  Int zero = e.constant(0), one = e.constant(1);
  auto here = [&] { e.call(body, {context, zero, parts}); };
  if (config.parallelFor.empty())
    return here();
  auto pool = module.lookupSymbol<LLVM::LLVMFuncOp>(config.parallelFor);
  if (!pool) {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(e.getContext()),
                                            {e.ptr(), e.ptr(), e.i64(), e.i64()});
    pool = LLVM::LLVMFuncOp::create(e, config.parallelFor, type);
  }
  e.branch(e.equal(parts, 1), here, [&] {
    e.call(pool, {LLVM::AddressOfOp::create(e, body), context, parts, one});
  });
}

// Layout of a packed chunk: blocks of k, in each the panels, in each k-major rows of `cols`.
LLVM::LLVMFuncOp Generator::emitPackPart() {
  return parallelBody(".pack_b", [&](Context c, Int part, Value) {
    Int panels = ceilDiv(c[N], t.cols), blocks = ceilDiv(c[K], Tiling::kBlock);
    auto [begin, end] = share(panels * blocks, part, c[Parts]);
    e.loop(begin, end, 1, [&](Int index) {
      Int panel = index % panels, k0 = index / panels * Tiling::kBlock;
      Int depth = min(c[K] - k0, e.constant(Tiling::kBlock));
      Int offset = (k0 * panels + panel * roundUp(depth, Tiling::kUnroll)) * t.cols;
      e.call(packB, {element(c, B, BRow, BCol, t.operand, k0, panel * t.cols), c[BCol], c[BRow],
                     min(c[N] - panel * t.cols, e.constant(t.cols)), depth,
                     e.at(c[Workspace], t.compute, offset)});
    });
  });
}

// Which rectangle of C a part computes: parts = down * across, chosen to make the largest
// rectangle cheapest. A rectangle of r rows and c columns costs r * (c + 16): packing a row of A
// costs as much as about 16 columns of products.
static std::pair<Int, Int> chooseGrid(Emitter &e, Int rowTiles, Int colTiles, Int parts) {
  Emitter::Carried best = e.loop(
      e.constant(1), parts + 1, 1,
      ValueRange{e.constant(std::numeric_limits<int64_t>::max()), e.constant(1)},
      [&](Int down, ValueRange soFar) -> Emitter::Carried {
        Int cost = ceilDiv(rowTiles, down) * (ceilDiv(colTiles, parts / down) * 2 + 1);
        Value better = e.both(
            e.equal(parts % down, 0),
            e.compare(arith::CmpIPredicate::sle, cost, e.wrap(soFar[0])));
        return {e.select(better, cost, e.wrap(soFar[0])),
                e.select(better, down, e.wrap(soFar[1]))};
      });
  Int down = e.wrap(best[1]);
  return {down, parts / down};
}

/// All tiles of a block of C for one block of k: columns outside, so that a panel of B stays
/// in the first-level cache while the panels of A pass by.
void Generator::emitTiles(const Context &c, Value buffers, Int k0, Int depth, Int firstRow,
                          Int lastRow, Int firstCol, Int lastCol) {
  Int panels = ceilDiv(c[N], t.cols), padded = roundUp(depth, Tiling::kUnroll);
  Value accumulateBlock = e.compare(arith::CmpIPredicate::ne, k0, e.constant(0));
  Value accumulate = e.either(
      accumulateBlock, e.compare(arith::CmpIPredicate::ne, c[Accumulate], e.constant(0)));
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
      Value target = element(c, C, CRow, CCol, t.result, row * t.rows, col * t.cols);
      Value whole = e.both(e.both(e.equal(m, t.rows), e.equal(n, t.cols)), e.equal(c[CCol], 1));
      e.branch(
          whole,
          [&] { e.call(microKernel, {padded, panelA, panelB, target, c[CRow], accumulate}); },
          [&] {
            e.call(microKernel, {padded, panelA, panelB, tile, e.constant(t.cols), no});
            e.call(writeBack,
                   {tile, e.constant(t.cols), target, c[CRow], c[CCol], m, n, accumulate});
          });
    });
  });
}

LLVM::LLVMFuncOp Generator::emitMultiplyPart() {
  return parallelBody(".multiply", [&](Context c, Int part, Value) {
    Value buffers = bytes(c[Private], part * c[PrivateStride]);
    Int rowTiles = ceilDiv(c[M], t.rows), colTiles = ceilDiv(c[N], t.cols);
    auto [down, across] = chooseGrid(e, rowTiles, colTiles, c[Parts]);
    auto [rowBegin, rowEnd] = share(rowTiles, part / across, down);
    auto [colBegin, colEnd] = share(colTiles, part % across, across);

    forBlocks(colBegin, colEnd, t.colTilesPerBlock, [&](Int firstCol, Int lastCol) {
      forBlocks(rowBegin, rowEnd, t.rowTilesPerBlock, [&](Int firstRow, Int lastRow) {
        // With k = 0 there is still one block: it stores zeros.
        e.loop(e.constant(0), max(c[K], e.constant(1)), Tiling::kBlock, [&](Int k0) {
          Int depth = min(c[K] - k0, e.constant(Tiling::kBlock));
          e.loop(firstRow, lastRow, 1, [&](Int row) {
            Int offset = (row - firstRow) * roundUp(depth, Tiling::kUnroll) * t.rows;
            e.call(packA, {element(c, A, ARow, ACol, t.operand, row * t.rows, k0), c[ARow],
                           c[ACol], min(c[M] - row * t.rows, e.constant(t.rows)), depth,
                           e.at(buffers, t.compute, offset)});
          });
          emitTiles(c, buffers, k0, depth, firstRow, lastRow, firstCol, lastCol);
        });
        if (t.throughScratch())
          e.call(writeBack,
                 {bytes(buffers, e.constant(t.scratchOffset())), e.constant(t.scratchStride()),
                  element(c, C, CRow, CCol, t.result, firstRow * t.rows, firstCol * t.cols),
                  c[CRow], c[CCol], min(c[M], lastRow * t.rows) - firstRow * t.rows,
                  min(c[N], lastCol * t.cols) - firstCol * t.cols,
                  e.compare(arith::CmpIPredicate::ne, c[Accumulate], e.constant(0))});
      });
    });
  });
}

LLVM::LLVMFuncOp Generator::emitProduct() {
  return e.function(module, name + ".product", {e.ptr()}, [&](ValueRange args) {
    Value chunkAddress = Context::allocate(e);
    Context c = Context::load(e, args[0]);
    Int one = e.constant(1), zero = e.constant(0);
    Int depthLimit = t.throughScratch() ? max(c[K], one) : e.constant(Tiling::kChunk);
    e.loop(zero, c[N], Tiling::nChunk, [&](Int n0) {
      e.loop(zero, max(c[K], one), depthLimit, [&](Int k0) {
        Context chunk = c;
        chunk.set(A, element(c, A, ARow, ACol, t.operand, zero, k0));
        chunk.set(B, element(c, B, BRow, BCol, t.operand, k0, n0));
        chunk.set(C, element(c, C, CRow, CCol, t.result, zero, n0));
        chunk.set(N, min(c[N] - n0, e.constant(Tiling::nChunk)));
        chunk.set(K, min(c[K] - k0, depthLimit));
        chunk.set(Accumulate, e.select(e.equal(k0, 0), c[Accumulate], one));
        chunk.store(chunkAddress);
        parallel(packPart, chunkAddress, c[Parts]);
        parallel(multiplyPart, chunkAddress, c[Parts]);
      });
    });
  });
}

/// The context of one product of a batch.
static Context productOf(Emitter &e, const Tiling &t, const Context &c, Int batch0, Int batch1) {
  Context one = c;
  auto advance = [&](Slot matrix, Slot stride0, Slot stride1, Type type) {
    one.set(matrix, e.at(c[matrix], type, batch0 * c[stride0] + batch1 * c[stride1]));
  };
  advance(A, ABatch0, ABatch1, t.operand);
  advance(B, BBatch0, BBatch1, t.operand);
  advance(C, CBatch0, CBatch1, t.result);
  return one;
}

LLVM::LLVMFuncOp Generator::emitBatchPart() {
  return parallelBody(".batch", [&](Context c, Int part, Value oneAddress) {
    // Each part packs B for itself: [packed B | private buffers] per part.
    Int packed = packedBytes<Int>(t, c[N], c[K], e.constant(Tiling::kChunk),
                                  e.constant(Tiling::nChunk));
    c.set(Workspace, bytes(c[Workspace], part * (packed + t.privateBytes())));
    c.set(Private, bytes(c[Workspace], packed));
    auto [begin, end] = share(c[Batch0] * c[Batch1], part, c[Parts]);
    e.loop(begin, end, 1, [&](Int index) {
      Context one = productOf(e, t, c, index / c[Batch1], index % c[Batch1]);
      one.set(Parts, e.constant(1));
      one.store(oneAddress);
      e.call(product, {oneAddress});
    });
  });
}

func::FuncOp Generator::emitEntry() {
  SmallVector<Type> signature;
  auto index = e.getIndexType();
  for (int matrix = 0; matrix < 3; ++matrix)
    llvm::append_values(signature, e.ptr(), index, index, index, index);
  signature.append(5, index);
  llvm::append_values(signature, e.getI1Type(), e.ptr(), index);

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

  // C by columns: compute its transpose, C^T = B^T A^T, by rows.
  Value swap = e.both(e.equal(c[CRow], 1),
                      e.compare(arith::CmpIPredicate::ne, c[CCol], e.constant(1)));
  Context s = c;
  for (auto [x, y] : {std::pair{A, B}, {ABatch0, BBatch0}, {ABatch1, BBatch1}, {ARow, BCol},
                      {ACol, BRow}, {CRow, CCol}, {M, N}}) {
    s.set(x, e.select(swap, c[y], c[x]));
    s.set(y, e.select(swap, c[x], c[y]));
  }
  Int batch = s[Batch0] * s[Batch1], one = e.constant(1), zero = e.constant(0);
  Int packed =
      packedBytes<Int>(t, s[N], s[K], e.constant(Tiling::kChunk), e.constant(Tiling::nChunk));
  s.set(Private, bytes(s[Workspace], packed));
  s.set(PrivateStride, e.constant(t.privateBytes()));
  // Less than about ten microseconds of work is not worth waking threads for.
  Value small = e.compare(arith::CmpIPredicate::slt, batch * s[M] * s[N] * s[K],
                          e.constant(int64_t(1) << 19));
  s.set(Parts, e.select(small, one, s[Parts]));
  Value byBatch = e.both(
      e.compare(arith::CmpIPredicate::sgt, batch, one),
      e.compare(arith::CmpIPredicate::sle, packed, e.constant(maxBatchedBytes)));
  e.branch(byBatch, [&] {
    Context whole = s;
    Int parts = min(s[Parts], batch);
    whole.set(Parts, parts);
    whole.store(address);
    parallel(batchPart, address, parts);
  }, [&] {
    e.loop(zero, batch, 1, [&](Int index) {
      productOf(e, t, s, index / s[Batch1], index % s[Batch1]).store(address);
      e.call(product, {address});
    });
  });
  func::ReturnOp::create(e);
  return entry;
}

} // namespace
} // namespace gemm

std::string gemmKernelName(const GemmConfig &config) {
  std::string name;
  llvm::raw_string_ostream os(name);
  os << "hjx_gemm_" << (config.unsignedOperands ? "u_" : "") << config.operandType << "_"
     << config.accumulatorType << "_" << config.resultType << "_v" << config.vectorUnit.bytes * 8;
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
