// SPDX-License-Identifier: Apache-2.0
//
// Kernels to loops: chooses the units of work, emits the nest, and gives callers
// their bounds. See Passes.td, and NestEmitter.h for the loops themselves.
//
//   func @k(%x, %y) { linalg.generic .. }        call @k(%x, %y)
//   func @k(%x, %y, %begin, %end) {              call @k(%x, %y, %c0, %c256) {hjx.grain = 32}
//     scf.for %unit = %begin to %end {
//       %row0, %row1 = %unit / 64, %unit % 64
//       .. loops of the op inside the row ..
#include "lib/Codegen/Cpu/NestEmitter.h"
#include "lib/Codegen/Cpu/Passes.h"
#include "lib/Codegen/Structured/FlatBuffers.h"
#include "lib/Codegen/Structured/Passes.h"
#include "lib/Codegen/Structured/RowLoops.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_GENERATEKERNELS
#include "lib/Codegen/Cpu/Passes.h.inc"

namespace {

/// Enough units that threads share the work evenly; more would only cost index arithmetic.
constexpr int64_t kEnoughUnits = 64;
/// A chunk must last much longer than it takes to hand it to a thread.
constexpr double kMinChunkNs = 10'000;
constexpr double kMinParallelNs = 2 * kMinChunkNs;

double estimatedNs(const LoopNest &nest) {
  double ns = estimatedIterationNs(nest);
  for (const Loop &loop : nest.loops)
    ns *= loop.size;
  return ns;
}

/// How a kernel's work is cut into units.
struct Partition {
  SmallVector<int64_t> rows; // Sizes of the row loops, slowest first.
  int64_t numBlocks = 1;     // Of the vector loop, per row.
  int64_t blockSize = 0;     // Iterations of the vector loop per block; 0: not cut.
  int64_t numUnits() const {
    return std::accumulate(rows.begin(), rows.end(), numBlocks, std::multiplies<>());
  }
};

Partition choosePartition(LoopNest &nest, const VectorSchedule &schedule) {
  Partition partition;
  for (unsigned loop : schedule.outer) {
    if (partition.numUnits() >= kEnoughUnits)
      break;
    nest.loops[loop].row = partition.rows.size();
    partition.rows.push_back(nest.loops[loop].size);
  }
  bool cutsVectorLoop = estimatedNs(nest) >= kMinParallelNs && schedule.vectorLoop >= 0 &&
                        !schedule.vectorIsReduction(nest) && partition.numUnits() < kEnoughUnits;
  if (cutsVectorLoop) {
    int64_t size = nest.loops[schedule.vectorLoop].size;
    int64_t blocks = llvm::divideCeil(4 * kEnoughUnits, partition.numUnits());
    int64_t blockSize = llvm::alignTo(llvm::divideCeil(size, blocks), schedule.lanes);
    if (blockSize < size) {
      partition.blockSize = blockSize;
      partition.numBlocks = llvm::divideCeil(size, blockSize);
    }
  }
  return partition;
}

/// Units per chunk of a parallel loop, or 0 if the kernel is too small for one.
int64_t chooseGrain(double totalNs, int64_t numUnits) {
  if (numUnits < 2 || totalNs < kMinParallelNs)
    return 0;
  auto grain = static_cast<int64_t>(kMinChunkNs / (totalNs / numUnits)) + 1;
  return std::max(grain, llvm::divideCeilSigned(numUnits, kEnoughUnits));
}

class KernelGenerator {
public:
  explicit KernelGenerator(func::FuncOp kernel) : kernel(kernel), b(kernel.getLoc(), kernel) {}

  int64_t numUnits = 1, grain = 0;

  LogicalResult generate() {
    auto ops = llvm::to_vector(kernel.getOps<linalg::GenericOp>());
    if (ops.empty())
      return kernel.emitOpError("expected a kernel with a linalg.generic");
    addBounds();
    if (auto rows = kernel->getAttrOfType<IntegerAttr>(kRowsAttr))
      return generateGroup(ops, rows.getInt());
    if (ops.size() != 1)
      return kernel.emitOpError("expected one linalg.generic, or '") << kRowsAttr << "'";
    return generateSingle(ops.front());
  }

private:
  void addBounds() {
    unsigned numArguments = kernel.getNumArguments();
    Type index = b.getIndexType();
    // Inserting fails only where the function has no body.
    (void)kernel.insertArguments({numArguments, numArguments}, {index, index}, {{}, {}},
                                 {kernel.getLoc(), kernel.getLoc()});
    begin = kernel.getArgument(numArguments);
    end = kernel.getArgument(numArguments + 1);
  }

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  LogicalResult generateSingle(linalg::GenericOp op) {
    FailureOr<LoopNest> nest = LoopNest::get(op);
    if (failed(nest)) {
      IRRewriter rewriter(op);
      if (failed(linalg::linalgOpToLoops(rewriter, op)))
        return op.emitOpError("has no loops");
      rewriter.eraseOp(op);
      return success();
    }
    nest->collapseAll();
    VectorSchedule schedule = VectorSchedule::choose(*nest);
    Partition partition = choosePartition(*nest, schedule);
    numUnits = partition.numUnits();
    grain = chooseGrain(estimatedNs(*nest), numUnits);
    b.setInsertionPoint(op);
    flattenArguments();
    emitUnits([&](Value unit) { emitNest(*nest, schedule, partition, unit); });
    op.erase();
    return success();
  }

  LogicalResult generateGroup(ArrayRef<linalg::GenericOp> ops, int64_t numRows) {
    FailureOr<SmallVector<LoopNest>> nests = rowNests(ops, numRows);
    if (failed(nests))
      return failure();
    numUnits = numRows;
    double totalNs = 0;
    for (const LoopNest &nest : *nests)
      totalNs += estimatedNs(nest);
    grain = chooseGrain(totalNs, numUnits);
    b.setInsertionPointToStart(&kernel.front());
    flattenArguments();
    for (memref::AllocaOp buffer : llvm::to_vector(kernel.getOps<memref::AllocaOp>()))
      keepOneRow(buffer, *nests, flatBuffers, [&](Type type, int64_t size) -> Value {
        return memref::AllocaOp::create(b, MemRefType::get({size}, type), b.getI64IntegerAttr(64));
      });
    b.setInsertionPoint(ops.front());
    SmallVector<VectorSchedule> schedules;
    for (LoopNest &nest : *nests)
      schedules.push_back(VectorSchedule::choose(nest));
    if (failed(checkSweeps(*nests, schedules)))
      return failure();
    emitUnits([&](Value unit) { emitSweeps(*nests, schedules, unit); });
    eraseWithBuffers(ops, kernel.front());
    return success();
  }

  /// Whether the op of `next` shares its loop along the row with the op before, that of `nest`.
  static bool sharesSweep(const LoopNest &nest, const LoopNest &next) {
    Attribute sweep = nest.op->getAttr(kSweepAttr);
    return sweep && sweep == next.op->getAttr(kSweepAttr);
  }

  static LogicalResult checkSweeps(ArrayRef<LoopNest> nests, ArrayRef<VectorSchedule> schedules) {
    for (size_t i = 0; i + 1 < nests.size(); ++i) {
      if (!sharesSweep(nests[i], nests[i + 1]))
        continue;
      std::optional<VectorLoop> loop = VectorLoop::onlyOneOf(nests[i], schedules[i]);
      if (!loop || loop != VectorLoop::onlyOneOf(nests[i + 1], schedules[i + 1]))
        return nests[i + 1].op.emitOpError(
            "in a sweep: expected the vector loop of the op before, and no other in its rows");
    }
    return success();
  }

  void emitSweeps(ArrayRef<LoopNest> nests, ArrayRef<VectorSchedule> schedules, Value unit) {
    for (size_t first = 0, past; first < nests.size(); first = past) {
      past = first + 1;
      while (past < nests.size() && sharesSweep(nests[past - 1], nests[past]))
        ++past;
      if (past == first + 1) {
        emitNest(nests[first], schedules[first], {rowDigits(nests[first])}, unit);
        continue;
      }
      SweepEmitter sweep(b, flatBuffers);
      SmallVector<Values> ivs;
      for (const LoopNest &nest : nests.slice(first, past - first))
        ivs.push_back(nest.ivsOfRows(digitsOf(unit, rowDigits(nest))));
      for (size_t i = first; i < past; ++i)
        sweep.add(nests[i], schedules[i], ivs[i - first]);
      sweep.end(sweep.walk(sweep.begin()));
    }
  }

  Values digitsOf(Value unit, ArrayRef<int64_t> rows) {
    Values digits(rows.size());
    for (int64_t row = rows.size() - 1; row >= 0; --row)
      digits[row] = takeDigit(b, unit, rows[row], row > 0);
    return digits;
  }

  void flattenArguments() {
    for (BlockArgument argument : kernel.getArguments())
      if (isa<MemRefType>(argument.getType()))
        flatBuffers.map(Value(argument), flatten(b, argument));
  }

  void emitUnits(llvm::function_ref<void(Value unit)> body) {
    auto units = scf::ForOp::create(b, begin, end, constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(units.getBody());
    body(units.getInductionVar());
  }

  void emitNest(const LoopNest &nest, const VectorSchedule &schedule, const Partition &partition,
                Value unit) {
    std::optional<VectorRange> range;
    if (partition.blockSize) {
      Value block = takeDigit(b, unit, partition.numBlocks, !partition.rows.empty());
      Value first = arith::MulIOp::create(b, block, constant(partition.blockSize));
      Value past = arith::AddIOp::create(b, first, constant(partition.blockSize));
      Value size = constant(nest.loops[schedule.vectorLoop].size);
      range = VectorRange{first, arith::MinSIOp::create(b, past, size)};
    }
    NestEmitter(b, nest, schedule, flatBuffers).emit(digitsOf(unit, partition.rows), range);
  }

  func::FuncOp kernel;
  ImplicitLocOpBuilder b;
  Value begin, end;
  IRMapping flatBuffers;
};

struct GenerateKernels : impl::GenerateKernelsBase<GenerateKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    struct Work {
      int64_t numUnits, grain;
    };
    llvm::StringMap<Work> works;
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      if (kernel.isExternal()) {
        kernel.emitOpError("is a kernel of GPUs only\n  help: write attention out before the tensor stage with "
                           "hjx-decompose-attention, as the pipelines for a CPU do");
        return signalPassFailure();
      }
      KernelGenerator generator(kernel);
      if (failed(generator.generate()))
        return signalPassFailure();
      works[kernel.getName()] = {generator.numUnits, generator.grain};
    }
    module.walk([&](func::CallOp call) {
      auto work = works.find(call.getCallee());
      if (work == works.end())
        return;
      ImplicitLocOpBuilder b(call.getLoc(), call);
      call->insertOperands(call->getNumOperands(),
                           {arith::ConstantIndexOp::create(b, 0),
                            arith::ConstantIndexOp::create(b, work->second.numUnits)});
      if (work->second.grain > 0)
        call->setAttr(kGrainAttr, b.getI64IntegerAttr(work->second.grain));
    });
  }
};

} // namespace
} // namespace hjx
