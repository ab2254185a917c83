// SPDX-License-Identifier: Apache-2.0
//
// Kernels of one op. A reduction of few results over many terms is split: a second kernel joins the
// partial results. Matrix products have kernels of their own, which functions share.
#include "lib/Codegen/Gpu/KernelGenerator.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace hjx {

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

/// A factor that the kernel takes as a tensor map.
static Value factorFrom(ImplicitLocOpBuilder &b, Value buffer, int64_t offset,
                        const FactorAxes &axes, Type type) {
  Value flat = flatten(b, buffer);
  auto metadata = memref::ExtractStridedMetadataOp::create(b, flat);
  Value first = arith::AddIOp::create(b, metadata.getOffset(), arith::ConstantIndexOp::create(b, offset));
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, axes.strides);
  auto element = cast<MemRefType>(flat.getType()).getElementType();
  Value view = memref::ReinterpretCastOp::create(
      b, MemRefType::get(axes.sizes, element, layout), metadata.getBaseBuffer(), first,
      getAsIndexOpFoldResult(b.getContext(), axes.sizes),
      getAsIndexOpFoldResult(b.getContext(), axes.strides));
  return memref::CastOp::create(b, type, view);
}

LogicalResult KernelGenerator::generateSingle(linalg::GenericOp op) {
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

ThreadNestEmitter KernelGenerator::emitterFor(KernelBuilder &k, const LoopNest &nest, const ThreadSchedule &schedule,
                                              const IRMapping &buffers) const {
  ThreadNestEmitter emitter(k, nest, schedule, buffers);
  if (isFromZero)
    emitter.startFromZero();
  return emitter;
}

LogicalResult KernelGenerator::generateInOneThread(linalg::GenericOp op) {
  Launch launch{kernel, 1, 1};
  begin(launch);
  IRRewriter rewriter(op);
  if (failed(linalg::linalgOpToLoops(rewriter, op)))
    return op.emitOpError("has no loops");
  rewriter.eraseOp(op);
  launchAll(launch);
  return success();
}

void KernelGenerator::generateUnits(const LoopNest &nest, const ThreadSchedule &schedule) {
  int64_t numUnits = schedule.numUnits(nest);
  int64_t blockSize = std::min<int64_t>(kBlockSize, llvm::alignTo(numUnits, kWarpSize));
  Launch launch{kernel, llvm::divideCeilSigned(numUnits, blockSize), blockSize};
  KernelBuilder k = begin(launch);
  emitterFor(k, nest, schedule, flatBuffers).emitUnits(k.gridTeam());
  launchAll(launch);
}

void KernelGenerator::generateReduction(const LoopNest &nest, const ThreadSchedule &schedule) {
  int64_t numResults = schedule.numUnits(nest);
  ReductionTile tile =
      ReductionTile::forGrid(numResults, schedule.numTerms(nest), schedule.reductionIsFastest);
  Launch launch{kernel, llvm::divideCeilSigned(numResults, tile.along) * tile.splits,
                tile.blockSize()};
  if (tile.splits == 1) {
    KernelBuilder k = begin(launch);
    emitterFor(k, nest, schedule, flatBuffers).emitTile(tile, k.block());
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
  emitterFor(k, nest, schedule, flatBuffers).emitTile(tile, tileIndex, split, partials);
  for (func::CallOp call : calls) {
    ImplicitLocOpBuilder b(call.getLoc(), call);
    SmallVector<Value> second = launchWithScratch(b, launch, call);
    llvm::append_range(second, call.getOperands());
    KernelModule::launch(b, join, second);
  }
}

Launch KernelGenerator::generateJoin(const LoopNest &nest, const ThreadSchedule &schedule,
                                     int64_t numSplits, ArrayRef<MemRefType> partialTypes) {
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
  emitterFor(k, nest, schedule, buffers).emitJoin(tile, k.block(), numSplits, partials);
  return launch;
}

LogicalResult KernelGenerator::generateProduct(const OutlinedProduct &outlined) {
  auto wanted = function->getAttrOfType<StringAttr>(kProductScheduleAttr);
  ProductLaunch launch = outlined.launch(precision, device.chipName(), wanted ? wanted.getValue() : "");
  if (wanted && !llvm::is_contained(launch.schedules, wanted.getValue()))
    return function.emitOpError("attribute '") << kProductScheduleAttr << "': expected one of " << llvm::join(launch.schedules, ", ")
                                               << ", got " << wanted;
  kernel = device.share(launch.config.key(),
                        [&] { return emitProductKernel(device, function.getLoc(), launch.config); });
  for (func::CallOp call : calls) {
    ImplicitLocOpBuilder b(call.getLoc(), call);
    SmallVector<Value> arguments;
    for (auto [index, matrix] : llvm::enumerate(outlined.matrices)) {
      Value buffer = call.getOperand(matrix.argument);
      Type type = kernel.getArgumentTypes()[index];
      bool byMap = index < 2 && launch.config.tile.unit == ProductUnit::WarpGroup;
      arguments.push_back(byMap ? factorFrom(b, buffer, matrix.offset, launch.factors[index], type)
                                : matrixFrom(b, buffer, matrix.offset, type));
    }
    for (int64_t argument : launch.arguments)
      arguments.push_back(arith::ConstantIndexOp::create(b, argument));
    if (launch.config.isSplit) {
      arguments.push_back(arith::ConstantIndexOp::create(b, device.addCounters(launch.numCounters)));
      Value partials = memref::AllocOp::create(b, MemRefType::get({launch.numPartialSums}, launch.config.accumulatorType));
      arguments.push_back(memref::CastOp::create(b, kernel.getArgumentTypes().back(), partials));
    }
    KernelModule::launch(b, {kernel, launch.numBlocks, launch.config.tile.blockSize()}, arguments);
  }
  return success();
}

} // namespace hjx
