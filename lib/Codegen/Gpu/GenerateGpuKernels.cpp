// SPDX-License-Identifier: Apache-2.0
//
// Kernels to threads: chooses the shape of the grid, emits the structured ops, and turns calls
// into launches. See Passes.td, and ThreadSchedule.h for how one op is spread.
//
// A group of ops that hjx-fuse-rows made shares a loop over rows:
//
//   short rows   a thread runs all ops for its own row: what one op leaves for the next stays in
//                registers. A group without reductions is cut into rows of one vector for this.
//   long rows    a block runs them one after the other, with a barrier between two; buffers that
//                live within a row are shared memory
#include "lib/Codegen/Structured/FlatBuffers.h"
#include "lib/Codegen/Structured/Passes.h"
#include "lib/Codegen/Structured/RowLoops.h"
#include "lib/Codegen/Gpu/DeviceModule.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Gpu/ProductKernel.h"
#include "lib/Codegen/Gpu/ThreadNestEmitter.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/bit.h"

#include <numeric>

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_GENERATEGPUKERNELS
#include "lib/Codegen/Gpu/Passes.h.inc"

namespace {

constexpr int64_t kBlockSize = 256, kMaxRowBlockSize = 512, kFewThreads = 16 * 1024;
/// Of shared memory, for rows; a little is left for reductions to join in.
constexpr int64_t kMaxSharedBytes = 40 * 1024;
/// Results of a row up to which one thread runs it alone.
constexpr int64_t kMaxThreadRow = 8;

/// Makes the launches that stand for the calls of one function.
class KernelGenerator {
public:
  KernelGenerator(DeviceModule &device, func::FuncOp function, ArrayRef<func::CallOp> calls)
      : device(device), function(function), calls(calls), facts(bufferFacts(function, calls)) {}

  LogicalResult generate() {
    if (!function.getOps<scf::ForOp>().empty())
      return generateLoops();
    auto ops = llvm::to_vector(function.getOps<linalg::GenericOp>());
    if (ops.empty())
      return generateStore();
    if (ops.size() <= 2 && !function->hasAttr(kRowsAttr))
      if (std::optional<Product> product = Product::match(ops.back()))
        return generateProduct(ops.back(), *product, /*accumulate=*/ops.size() == 1);
    FailureOr<LoopNest> first = LoopNest::get(ops.front());
    if (calls.empty() || (ops.size() == 1 && succeeded(first) && first->isEmpty()))
      return success(); // Nothing to do.
    kernel = device.takeKernel(function, facts);
    if (auto rows = function->getAttrOfType<IntegerAttr>(kRowsAttr))
      return generateGroup(ops, rows.getInt());
    if (ops.size() != 1)
      return function.emitOpError("expected one linalg.generic, or '") << kRowsAttr << "'";
    return generateSingle(ops.front());
  }

private:
  //===--------------------------------------------------------------------===//
  // One op
  //===--------------------------------------------------------------------===//

  LogicalResult generateSingle(linalg::GenericOp op) {
    FailureOr<LoopNest> nest = LoopNest::get(op);
    if (failed(nest))
      return generateInOneThread(op);
    nest->collapseAll();
    ThreadSchedule schedule = ThreadSchedule::choose(*nest, alignments());
    if (schedule.reductions.empty() || !schedule.splitsReductions)
      generateUnits(*nest, schedule);
    else
      generateReduction(*nest, schedule);
    op.erase();
    return success();
  }

  /// Addresses that are not linear in the loops: slow and plain.
  LogicalResult generateInOneThread(linalg::GenericOp op) {
    Launch launch{kernel, 1, 1};
    begin(launch);
    IRRewriter rewriter(op);
    if (failed(linalg::linalgOpToLoops(rewriter, op)))
      return op.emitOpError("has no loops");
    rewriter.eraseOp(op);
    launchAll(launch);
    return success();
  }

  void generateUnits(const LoopNest &nest, const ThreadSchedule &schedule) {
    int64_t numUnits = schedule.numUnits(nest);
    int64_t blockSize = std::min<int64_t>(kBlockSize, llvm::alignTo(numUnits, kWarpSize));
    Launch launch{kernel, llvm::divideCeilSigned(numUnits, blockSize), blockSize};
    KernelBuilder k = begin(launch);
    ThreadNestEmitter(k, nest, schedule, flatBuffers).emitUnits(k.gridTeam());
    launchAll(launch);
  }

  void generateReduction(const LoopNest &nest, const ThreadSchedule &schedule) {
    int64_t numResults = schedule.numUnits(nest);
    ReductionTile tile = ReductionTile::forGrid(numResults, schedule.numTerms(nest),
                                                schedule.reductionIsFastest);
    Launch launch{kernel, llvm::divideCeilSigned(numResults, tile.along) * tile.splits,
                  tile.blockSize()};
    if (tile.splits == 1) {
      KernelBuilder k = begin(launch);
      ThreadNestEmitter(k, nest, schedule, flatBuffers).emitTile(tile, k.block());
      return launchAll(launch);
    }
    SmallVector<MemRefType> partialTypes;
    for (unsigned output = 0; output < nest.numOutputs(); ++output) {
      Type type = Combiner::match(nest.op, output)->identity().getType();
      partialTypes.push_back(MemRefType::get({tile.splits * numResults}, storedType(type)));
    }
    Launch join = generateJoin(nest, schedule, tile.splits, partialTypes);
    SmallVector<Value> partials;
    for (MemRefType type : partialTypes)
      partials.push_back(addScratch(type));
    KernelBuilder k = begin(launch);
    Value tileIndex = k.block();
    Value split = takeDigit(k.b, tileIndex, tile.splits, numResults > tile.along);
    if (numResults <= tile.along)
      tileIndex = k.index(0);
    ThreadNestEmitter(k, nest, schedule, flatBuffers).emitTile(tile, tileIndex, split, partials);
    for (func::CallOp call : calls) {
      ImplicitLocOpBuilder b(call.getLoc(), call);
      SmallVector<Value> second = launchWithScratch(b, launch, call);
      llvm::append_range(second, call.getOperands());
      DeviceModule::launch(b, join, second);
    }
  }

  /// The second kernel of a split reduction: takes the partial results, then what the first takes.
  Launch generateJoin(const LoopNest &nest, const ThreadSchedule &schedule, int64_t numSplits,
                      ArrayRef<MemRefType> partialTypes) {
    SmallVector<Type> types(partialTypes.begin(), partialTypes.end());
    llvm::append_range(types, kernel.getArgumentTypes());
    Launch launch;
    launch.kernel = device.createKernel(kernel.getLoc(), kernel.getName() + "_join", types);
    for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
      if (DictionaryAttr attributes = kernel.getArgAttrDict(index))
        launch.kernel.setArgAttrs(partialTypes.size() + index, attributes);
    int64_t numResults = schedule.numUnits(nest);
    ReductionTile tile = ReductionTile::forGrid(numResults, numSplits, /*isRow=*/false);
    tile.splits = 1;
    launch.numBlocks = llvm::divideCeilSigned(numResults, tile.along);
    launch.blockSize = tile.blockSize();
    KernelBuilder k(launch.kernel, launch.numBlocks, launch.blockSize);
    IRMapping buffers;
    Block &body = launch.kernel.front();
    for (const Access &access : nest.outputs()) {
      auto argument = cast<BlockArgument>(access.operand);
      buffers.map(access.operand,
                  flatten(k.b, body.getArgument(partialTypes.size() + argument.getArgNumber())));
    }
    SmallVector<Value> partials(body.getArguments().take_front(partialTypes.size()));
    ThreadNestEmitter(k, nest, schedule, buffers).emitJoin(tile, k.block(), numSplits, partials);
    return launch;
  }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  LogicalResult generateProduct(linalg::GenericOp op, const Product &product, bool accumulate) {
    std::array<unsigned, 3> operands = {product.lhsOperand, 1 - product.lhsOperand, 2};
    std::array<int64_t, 3> offsets = {product.lhsOffset, product.rhsOffset, product.resultOffset};
    std::array<unsigned, 3> positions;
    std::array<int64_t, 3> alignments;
    bool isAlone = true;
    for (unsigned matrix : {0, 1, 2}) {
      positions[matrix] = cast<BlockArgument>(op->getOperand(operands[matrix])).getArgNumber();
      const BufferFacts &fact = facts[positions[matrix]];
      int64_t bytes = getElementTypeOrSelf(op->getOperand(operands[matrix]).getType())
                          .getIntOrFloatBitWidth() / 8;
      alignments[matrix] = std::gcd(fact.alignment, offsets[matrix] * bytes);
      isAlone &= fact.isAlone;
    }
    ProductLaunch launch = ProductLaunch::choose(product, accumulate, alignments, isAlone);
    kernel = device.lookup(launch.config.name());
    if (!kernel)
      kernel = emitProductKernel(device, function.getLoc(), launch.config);
    for (func::CallOp call : calls) {
      ImplicitLocOpBuilder b(call.getLoc(), call);
      SmallVector<Value> arguments;
      for (unsigned matrix : {0, 1, 2})
        arguments.push_back(matrixFrom(b, call.getOperand(positions[matrix]), offsets[matrix],
                                       kernel.getArgumentTypes()[matrix]));
      for (int64_t argument : launch.arguments)
        arguments.push_back(arith::ConstantIndexOp::create(b, argument));
      DeviceModule::launch(b, {kernel, launch.numBlocks, launch.config.tile.blockSize()},
                           arguments);
    }
    return success();
  }

  /// `buffer` from element `offset` on as a product's kernel takes it.
  static Value matrixFrom(ImplicitLocOpBuilder &b, Value buffer, int64_t offset, Type type) {
    Value flat = flatten(b, buffer);
    if (offset != 0) {
      int64_t size = cast<MemRefType>(flat.getType()).getDimSize(0) - offset;
      flat = memref::SubViewOp::create(b, flat, ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{size},
                                       ArrayRef<int64_t>{1});
    }
    return memref::CastOp::create(b, type, flat);
  }

  //===--------------------------------------------------------------------===//
  // Loops of one op, and single stores
  //===--------------------------------------------------------------------===//

  LogicalResult generateStore() {
    kernel = device.takeKernel(function, facts);
    Launch launch{kernel, 1, 1};
    KernelBuilder(kernel, 1, 1);
    launchAll(launch);
    return success();
  }

  /// Each thread takes its round of the parallel loops, and its element of the structured ops, and
  /// runs the other loops for these.
  LogicalResult generateLoops() {
    scf::ForOp outermost = *function.getOps<scf::ForOp>().begin();
    SmallVector<scf::ForOp> parallelLoops;
    SmallVector<int64_t> sizes;
    SmallVector<linalg::GenericOp> ops;
    bool ownsRows = outermost->hasAttr(kParallelRowsAttr), isEmpty = false;
    WalkResult result = outermost->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop->hasAttr(kParallelAttr)) {
        std::optional<APInt> size = loop.getStaticTripCount();
        if (!size || !matchPattern(loop.getLowerBound(), m_Zero()) ||
            !matchPattern(loop.getStep(), m_One()))
          return loop.emitOpError("is parallel: expected constant bounds from 0 in steps of 1"),
                 WalkResult::interrupt();
        parallelLoops.push_back(loop);
        sizes.push_back(size->getSExtValue());
        isEmpty |= sizes.back() == 0;
      } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        ops.push_back(generic);
        return WalkResult::skip();
      }
      ownsRows &= !isa<memref::StoreOp>(op);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    if (isEmpty || calls.empty())
      return success();
    std::optional<SmallVector<LoopNest>> nests;
    if (ownsRows)
      nests = cutIntoElements(ops);
    int64_t numRows = nests ? numRowsOf(nests->front()) : 1;
    if (!nests) {
      nests.emplace();
      for (linalg::GenericOp op : ops) {
        FailureOr<LoopNest> nest = LoopNest::get(op);
        if (failed(nest))
          return op.emitOpError("in a loop of a kernel: expected linear addresses");
        nests->push_back(*nest);
      }
    }
    int64_t numThreads = numRows;
    for (int64_t size : sizes)
      numThreads *= size;

    kernel = device.takeKernel(function, facts);
    // Threads that run long are better spread over many blocks.
    int64_t blockSize = numThreads < kFewThreads ? kWarpSize : kBlockSize;
    Launch launch{kernel, llvm::divideCeilSigned(numThreads, blockSize), blockSize};
    KernelBuilder k = begin(launch);
    placeBuffers(k, outermost, *nests, numRows > 1);
    k.forEachUnit(k.gridTeam(), numThreads, [&](Value unit) {
      Value row = takeDigit(k.b, unit, numRows, !sizes.empty());
      SmallVector<Value> ivs(sizes.size());
      for (int64_t loop = sizes.size() - 1; loop >= 0; --loop)
        ivs[loop] = takeDigit(k.b, unit, sizes[loop], loop > 0);
      outermost->moveBefore(k.b.getInsertionBlock(), k.b.getInsertionPoint());
      for (LoopNest &nest : *nests)
        emitInLoops(k, nest, numRows > 1 ? row : Value());
      for (auto [loop, iv] : llvm::zip(parallelLoops, ivs)) {
        loop.getInductionVar().replaceAllUsesWith(iv);
        loop.getBody()->getTerminator()->erase();
        loop->getBlock()->getOperations().splice(loop->getIterator(),
                                                 loop.getBody()->getOperations());
        loop.erase();
      }
    });
    kernel.walk([](memref::AllocOp buffer) {
      if (buffer.use_empty()) // Its row has another place.
        buffer.erase();
    });
    launchAll(launch);
    return success();
  }

  /// `ops` with one element a row, if that is the same program.
  static std::optional<SmallVector<LoopNest>> cutIntoElements(ArrayRef<linalg::GenericOp> ops) {
    SmallVector<LoopNest> nests;
    for (linalg::GenericOp op : ops) {
      FailureOr<LoopNest> nest = LoopNest::get(op);
      if (failed(nest) || nest->isEmpty() || op.getNumReductionLoops() > 0)
        return std::nullopt;
      nest->collapseAll();
      int64_t numResults = 1;
      for (const Loop &loop : nest->loops)
        numResults *= loop.size;
      if (!splitRows(*nest, numResults) ||
          (!nests.empty() && numRowsOf(nests.front()) != numResults))
        return std::nullopt;
      nests.push_back(std::move(*nest));
    }
    if (nests.empty() || !rowsAgree(nests))
      return std::nullopt;
    return nests;
  }

  /// Buffers made in the loops become a thread's own.
  void placeBuffers(KernelBuilder &k, scf::ForOp loops, SmallVector<LoopNest> &nests, bool ofRows) {
    SmallVector<memref::AllocOp> buffers;
    loops->walk([&](memref::AllocOp buffer) { buffers.push_back(buffer); });
    for (memref::AllocOp buffer : buffers) {
      if (!ofRows) {
        buffer.replaceAllUsesWith(
            memref::AllocaOp::create(k.b, buffer.getType()).getResult());
        buffer.erase();
        continue;
      }
      keepOneRow(buffer, nests, flatBuffers, [&](Type type, int64_t size) -> Value {
        return memref::AllocaOp::create(k.b, MemRefType::get({size}, type));
      });
    }
  }

  /// The op of `nest` where it stands, for row `row` of it or as a whole.
  void emitInLoops(KernelBuilder &k, LoopNest &nest, Value row) {
    OpBuilder::InsertionGuard guard(k.b);
    k.b.setInsertionPoint(nest.op);
    for (const Access &access : nest.accesses)
      if (!access.byValue && !flatBuffers.contains(access.operand))
        flatBuffers.map(access.operand, flatten(k.b, access.operand));
    ThreadSchedule schedule = ThreadSchedule::choose(nest, [](Value) { return 1; });
    dropVectorReduction(nest, schedule);
    SmallVector<Value> rowIvs;
    if (row)
      rowIvs = digitsOf(k, nest, row);
    if (!nest.isEmpty())
      ThreadNestEmitter(k, nest, schedule, flatBuffers, rowIvs).emitUnits({k.index(0), 1});
    nest.op.erase();
  }

  //===--------------------------------------------------------------------===//
  // Groups
  //===--------------------------------------------------------------------===//

  LogicalResult generateGroup(ArrayRef<linalg::GenericOp> ops, int64_t numRows) {
    FailureOr<SmallVector<LoopNest>> nests = rowNests(ops, numRows);
    if (failed(nests))
      return failure();
    int64_t rowSize = largestRow(*nests);
    if (std::optional<SmallVector<LoopNest>> vectors = cutIntoVectors(ops)) {
      *nests = std::move(*vectors);
      rowSize = 1;
    }
    if (rowSize <= kMaxThreadRow)
      generateThreadRows(*nests);
    else
      generateBlockRows(*nests, rowSize);
    for (linalg::GenericOp op : ops)
      op.erase();
    // The buffers of full size, and their views, are dead now.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(kernel.front())))
      if (isOpTriviallyDead(&op))
        op.erase();
    return success();
  }

  /// Iterations of the longest row.
  static int64_t largestRow(ArrayRef<LoopNest> nests) {
    int64_t largest = 1;
    for (const LoopNest &nest : nests) {
      int64_t size = 1;
      for (const Loop &loop : nest.loops)
        size *= loop.row >= 0 ? 1 : loop.size;
      largest = std::max(largest, size);
    }
    return largest;
  }

  /// A group without reductions as rows of one vector each, if that is the same program.
  std::optional<SmallVector<LoopNest>> cutIntoVectors(ArrayRef<linalg::GenericOp> ops) {
    if (llvm::any_of(ops, [](linalg::GenericOp op) { return op.getNumReductionLoops() > 0; }))
      return std::nullopt;
    for (int64_t lanes : {4, 2, 1}) {
      SmallVector<LoopNest> nests;
      bool fits = true;
      for (linalg::GenericOp op : ops) {
        LoopNest nest = *LoopNest::get(op);
        nest.collapseAll();
        int64_t numResults = 1;
        for (const Loop &loop : nest.loops)
          numResults *= loop.size;
        fits = fits && numResults % lanes == 0 && splitRows(nest, numResults / lanes) &&
               (nests.empty() || numRowsOf(nest) == numRowsOf(nests.front()));
        if (!fits)
          break;
        nests.push_back(std::move(nest));
      }
      if (fits && rowsAgree(nests))
        return nests;
    }
    return std::nullopt;
  }

  static int64_t numRowsOf(const LoopNest &nest) {
    int64_t rows = 1;
    for (int64_t size : rowDigits(nest))
      rows *= size;
    return rows;
  }

  void generateThreadRows(SmallVector<LoopNest> &nests) {
    int64_t numRows = numRowsOf(nests.front());
    int64_t blockSize = std::min<int64_t>(kBlockSize, llvm::alignTo(numRows, kWarpSize));
    Launch launch{kernel, llvm::divideCeilSigned(numRows, blockSize), blockSize};
    KernelBuilder k = begin(launch);
    keepRows(nests, [&](Type type, int64_t size) -> Value {
      return memref::AllocaOp::create(k.b, MemRefType::get({size}, type),
                                      k.b.getI64IntegerAttr(16));
    });
    k.forEachUnit(k.gridTeam(), numRows, [&](Value row) {
      for (LoopNest &nest : nests) {
        ThreadSchedule schedule = ThreadSchedule::choose(nest, alignments());
        dropVectorReduction(nest, schedule);
        ThreadNestEmitter(k, nest, schedule, flatBuffers, digitsOf(k, nest, row))
            .emitUnits({k.index(0), 1});
      }
    });
    launchAll(launch);
  }

  /// Within a thread, reductions keep their order.
  static void dropVectorReduction(const LoopNest &nest, ThreadSchedule &schedule) {
    if (schedule.vectorLoop < 0 || !nest.loops[schedule.vectorLoop].isReduction)
      return;
    schedule.vectorLoop = -1;
    schedule.lanes = 1;
  }

  void generateBlockRows(SmallVector<LoopNest> &nests, int64_t rowSize) {
    auto wanted = static_cast<int64_t>(llvm::bit_ceil<uint64_t>(llvm::divideCeil(rowSize, 4)));
    int64_t blockSize = std::clamp(wanted, kWarpSize, kMaxRowBlockSize);
    Launch launch{kernel, numRowsOf(nests.front()), blockSize};
    moveLargeRowsToArena(nests);
    KernelBuilder k = begin(launch);
    keepRows(nests, [&](Type type, int64_t size) { return k.sharedMemory(type, size); });
    for (auto [index, nest] : llvm::enumerate(nests)) {
      if (index > 0)
        k.barrier();
      ThreadSchedule schedule = ThreadSchedule::choose(nest, alignments());
      SmallVector<Value> rowIvs = digitsOf(k, nest, k.block());
      if (schedule.reductions.empty() || !schedule.splitsReductions) {
        ThreadNestEmitter(k, nest, schedule, flatBuffers, rowIvs).emitUnits(k.blockTeam());
        continue;
      }
      int64_t numResults = schedule.numUnits(nest);
      ReductionTile tile = ReductionTile::forBlock(numResults, schedule.numTerms(nest),
                                                   schedule.reductionIsFastest, blockSize);
      ThreadNestEmitter emitter(k, nest, schedule, flatBuffers, rowIvs);
      emitter.emitTiles(tile);
    }
    launchAll(launch);
  }

  static SmallVector<Value> digitsOf(KernelBuilder &k, const LoopNest &nest, Value row) {
    SmallVector<int64_t> digits = rowDigits(nest);
    SmallVector<Value> ivs(digits.size());
    for (int64_t digit = digits.size() - 1; digit >= 0; --digit)
      ivs[digit] = takeDigit(k.b, row, digits[digit], digit > 0);
    return ivs;
  }

  /// Leaves buffers whole, in the arena, that do not fit into shared memory together.
  void moveLargeRowsToArena(ArrayRef<LoopNest> nests) {
    int64_t numRows = numRowsOf(nests.front()), bytes = 0;
    for (memref::AllocaOp buffer : llvm::to_vector(kernel.getOps<memref::AllocaOp>())) {
      MemRefType type = buffer.getType();
      int64_t row = llvm::divideCeil(type.getNumElements(), numRows) *
                    llvm::divideCeil(type.getElementTypeBitWidth(), 8u);
      bytes += row;
      if (bytes <= kMaxSharedBytes)
        continue;
      bytes -= row;
      buffer.replaceAllUsesWith(addScratch(type));
      buffer.erase();
    }
  }

  /// Gives buffers that live within a row their place, which `make` makes.
  void keepRows(SmallVector<LoopNest> &nests, llvm::function_ref<Value(Type, int64_t)> make) {
    for (memref::AllocaOp buffer : llvm::to_vector(kernel.getOps<memref::AllocaOp>()))
      keepOneRow(buffer, nests, flatBuffers, make);
  }

  //===--------------------------------------------------------------------===//
  // Common
  //===--------------------------------------------------------------------===//

  KernelBuilder begin(const Launch &launch) {
    KernelBuilder k(launch.kernel, launch.numBlocks, launch.blockSize);
    for (BlockArgument argument : kernel.getArguments())
      if (isa<MemRefType>(argument.getType()))
        flatBuffers.map(Value(argument), flatten(k.b, argument));
    // Behind constants and views that came with the body.
    k.b.setInsertionPoint(kernel.front().getTerminator());
    return k;
  }

  std::function<int64_t(Value)> alignments() {
    return [this](Value buffer) -> int64_t {
      auto argument = dyn_cast<BlockArgument>(rootBuffer(buffer));
      return argument && argument.getArgNumber() < facts.size()
                 ? facts[argument.getArgNumber()].alignment
                 : 16;
    };
  }

  /// One more argument of the kernel: a buffer of the arena that only it uses.
  Value addScratch(MemRefType type) {
    unsigned index = kernel.getNumArguments();
    Builder b(type.getContext());
    // Inserting fails only where the function has no body.
    (void)kernel.insertArgument(index, type, DictionaryAttr(), kernel.getLoc());
    kernel.setArgAttr(index, "llvm.align", b.getI64IntegerAttr(16));
    kernel.setArgAttr(index, "llvm.noalias", b.getUnitAttr());
    scratchTypes.push_back(type);
    return kernel.getArgument(index);
  }

  /// Launches the kernel instead of `call`; returns the scratch buffers made for that.
  SmallVector<Value> launchWithScratch(ImplicitLocOpBuilder &b, const Launch &launch,
                                       func::CallOp call) {
    SmallVector<Value> scratch, arguments(call.getOperands());
    for (MemRefType type : scratchTypes)
      scratch.push_back(memref::AllocOp::create(b, type));
    llvm::append_range(arguments, scratch);
    DeviceModule::launch(b, launch, arguments);
    return scratch;
  }

  void launchAll(const Launch &launch) {
    for (func::CallOp call : calls) {
      ImplicitLocOpBuilder b(call.getLoc(), call);
      launchWithScratch(b, launch, call);
    }
  }

  DeviceModule &device;
  func::FuncOp function;
  ArrayRef<func::CallOp> calls;
  SmallVector<BufferFacts> facts;
  gpu::GPUFuncOp kernel;
  SmallVector<MemRefType> scratchTypes; // Of the kernel's last arguments.
  IRMapping flatBuffers;
};

struct GenerateGpuKernels : impl::GenerateGpuKernelsBase<GenerateGpuKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> kernels;
    SymbolTable symbols(module);
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(kKernelAttr))
        kernels[function];
    module.walk([&](func::CallOp call) {
      auto it = kernels.find(symbols.lookup<func::FuncOp>(call.getCallee()));
      if (it != kernels.end())
        it->second.push_back(call);
    });
    DeviceModule device(module);
    for (auto &[function, calls] : kernels) {
      if (failed(KernelGenerator(device, function, calls).generate()))
        return signalPassFailure();
      for (func::CallOp call : calls)
        call.erase();
      function.erase();
    }
  }
};

} // namespace
} // namespace hjx
