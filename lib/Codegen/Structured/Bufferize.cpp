// SPDX-License-Identifier: Apache-2.0
//
// Tensors to buffers. The analysis is MLIR's one-shot bufferisation; what is ours
// is the choice of destinations before it runs:
//
//   func @main(%p: tensor<8xf32> {hjx.alias = 1}) -> (tensor<4xf32>, tensor<8xf32>)
//   func @main(%p: memref<8xf32> {hjx.alias = 1}, %result0: memref<4xf32>)
//
//   scf.for iter_args(%h = ..) { .. yield %new }           // a new buffer each time round
//   scf.for iter_args(%h = ..) { .. yield (%new written into %h) }
//
//   %r = scf.if { yield %a } else { yield %b }             // two buffers with one name
//   %d = alloc_tensor; %r = scf.if { yield (%a written into %d) } else { .. %b .. }
//
// "Written into" is bufferization.materialize_in_destination. Where the value is
// computed by an op that fills an empty tensor, that tensor is replaced by the
// destination and nothing is copied.
#include "dialects/hjx/Hjx.h"
#include "dialects/hjx/Signature.h"
#include "lib/Codegen/Structured/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/Bufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_BUFFERIZE
#include "lib/Codegen/Structured/Passes.h.inc"

namespace {

constexpr StringLiteral kAliasAttr = "hjx.alias";
constexpr StringLiteral kDonatedAttr = "hjx.donated";
constexpr StringLiteral kResultAttr = "hjx.result";

/// The value that `value` is a slice or a reshape of.
Value viewSource(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<ir::OptBarrierOp>(op)) {
      value = op->getOperand(cast<OpResult>(value).getResultNumber());
      continue;
    }
    if (!isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::CastOp, tensor::ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

Value copyToNewTensor(ImplicitLocOpBuilder &b, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      b, TypeRange{type}, ValueRange{value}, ValueRange{empty},
      ArrayRef<AffineMap>{identity, identity}, parallel,
      [](OpBuilder &nested, Location loc, ValueRange args) {
        linalg::YieldOp::create(nested, loc, args[0]);
      });
  return copy.getResult(0);
}

Value writeInto(ImplicitLocOpBuilder &b, Value value, Value destination) {
  return bufferization::MaterializeInDestinationOp::create(b, destination.getType(), value,
                                                           destination)
      ->getResult(0);
}

/// The operand whose buffer `value` takes over when its op works in place; null if it has none.
OpOperand *updatedOperand(OpResult value) {
  Operation *op = value.getOwner();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return &insert.getDestMutable();
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return &insert.getDestMutable();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loop.getTiedLoopInit(value);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return &loop.getInitsMutable()[value.getResultNumber()];
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.getDpsInitOperand(value.getResultNumber());
  return nullptr;
}

/// Whether all uses of `value` and of views of it, but `except`, are over when `op` runs.
bool isNotUsedAfter(Value value, Operation *op, OpOperand *except) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (&use == except)
      return true;
    Operation *user = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
    bool isOver = user && user != op && user->isBeforeInBlock(op);
    return isOver && llvm::all_of(use.getOwner()->getResults(), [&](Value result) {
             return viewSource(result) == result || isNotUsedAfter(result, op, nullptr);
           });
  });
}

/// Whether `value` is `origin` after updates; `inPlace` is set to whether these can certainly happen
/// in its buffer, because no op needs what was there before.
bool isUpdateOf(Value value, Value origin, bool &inPlace) {
  inPlace = true;
  while (value != origin) {
    auto result = dyn_cast<OpResult>(value);
    OpOperand *updated = result ? updatedOperand(result) : nullptr;
    if (!updated || updated->get().getType() != value.getType())
      return false;
    inPlace &= isNotUsedAfter(updated->get(), result.getOwner(), updated);
    value = updated->get();
  }
  return true;
}

/// The operand that brings an empty tensor into the updates that make `value`, if one of them is a loop
/// and all stand in `block`; else null.
OpOperand *emptyStartOfLoop(Value value, Block *block) {
  bool hasLoop = false;
  OpOperand *start = nullptr;
  while (auto result = dyn_cast<OpResult>(value)) {
    OpOperand *updated = updatedOperand(result);
    if (!updated || result.getOwner()->getBlock() != block || updated->get().getType() != value.getType())
      break;
    hasLoop |= isa<LoopLikeOpInterface>(result.getOwner());
    start = updated;
    value = updated->get();
  }
  return hasLoop && value.getDefiningOp<tensor::EmptyOp>() ? start : nullptr;
}

/// Lets loops that fill an empty tensor fill the destination, unless what is there is still read, and then a
/// buffer that is copied. (The search for destinations would start any of them there, and the analysis
/// takes no loop apart from its start.)
void startInDestinations(MutableOperandRange operands, ValueRange destinations, Operation *terminator) {
  ImplicitLocOpBuilder b(terminator->getLoc(), terminator);
  for (auto [index, destination] : llvm::enumerate(destinations)) {
    Value value = operands[index].get();
    OpOperand *start = isa<TensorType>(value.getType()) ? emptyStartOfLoop(value, terminator->getBlock()) : nullptr;
    if (!start)
      continue;
    if (isNotUsedAfter(destination, start->getOwner(), nullptr))
      start->set(destination);
    else
      operands[index].assign(copyToNewTensor(b, value));
  }
}

/// Makes `operands` of the terminator be written into `destinations`, which are block arguments
/// that live on into the next round. A value that is a view of another carried value is copied
/// first: a swap (`yield %b, %a`) needs a third buffer. So is a value that goes to two places
/// (`yield %c, %c`), for the second. A value that is an update of the
/// destination is there already, unless the old value is needed beside it.
void carryInPlace(Operation *terminator, MutableOperandRange operands, ValueRange destinations) {
  ImplicitLocOpBuilder b(terminator->getLoc(), terminator);
  startInDestinations(operands, destinations, terminator);
  SmallVector<Value> values = llvm::to_vector(operands.getAsOperandRange());
  for (auto [value, destination] : llvm::zip(values, destinations))
    if (bool inPlace; isa<TensorType>(value.getType()) && value != destination &&
                      isUpdateOf(value, destination, inPlace)) {
      if (inPlace)
        value = destination;
      else if (isa_and_present<LoopLikeOpInterface>(value.getDefiningOp()))
        value = copyToNewTensor(b, value); // The analysis takes no loop apart from its start.
    }
  llvm::SmallDenseSet<Value> placed;
  for (auto [value, destination] : llvm::zip(values, destinations))
    if (isa<TensorType>(value.getType()) && value != destination &&
        (isa<BlockArgument>(viewSource(value)) || !placed.insert(value).second))
      value = copyToNewTensor(b, value);
  for (auto [index, value, destination] : llvm::enumerate(values, destinations))
    if (isa<TensorType>(value.getType()) && value != destination)
      operands[index].assign(writeInto(b, value, destination));
}

/// Gives a loop a copy of each start that is still needed beside it: the loop overwrites its
/// buffer. Otherwise the search for destinations would compute the start into the loop's.
/// (Arguments are not ours to overwrite; the analysis copies them.)
void copySharedStarts(LoopLikeOpInterface loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  for (OpOperand &start : loop.getInitsMutable())
    if (isa<TensorType>(start.get().getType()) && isa<OpResult>(viewSource(start.get())) &&
        !isNotUsedAfter(start.get(), loop, &start))
      start.set(copyToNewTensor(b, start.get()));
}

LogicalResult carryInPlace(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  if (condition.getArgs().getTypes() != ValueRange(loop.getBeforeArguments()).getTypes())
    return loop.emitOpError("expected the condition to forward values of the types it takes, got ")
           << condition.getArgs().getTypes() << " and "
           << ValueRange(loop.getBeforeArguments()).getTypes() << "; run hjx-align-while first";
  carryInPlace(condition, condition.getArgsMutable(), loop.getBeforeArguments());
  carryInPlace(loop.getYieldOp(), loop.getYieldOp().getResultsMutable(),
               loop.getAfterArguments());
  return success();
}

/// A loop that begins with an argument of the program, which may not be overwritten, begins with a
/// copy; as a structured op it can go straight to where the loop's result is wanted.
void copyReadOnlyInits(LoopLikeOpInterface loop) {
  auto func = loop->getParentOfType<func::FuncOp>();
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  for (OpOperand &init : loop.getInitsMutable()) {
    auto argument = dyn_cast<BlockArgument>(viewSource(init.get()));
    if (!isa<TensorType>(init.get().getType()) || !argument ||
        argument.getOwner() != &func.front() ||
        func.getArgAttr(argument.getArgNumber(), kDonatedAttr) ||
        func.getArgAttr(argument.getArgNumber(), kAliasAttr))
      continue;
    init.set(copyToNewTensor(b, init.get()));
  }
}

/// Lets every branch of `op` write its tensor results into one buffer per result.
void yieldIntoOneBuffer(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  SmallVector<Value> destinations;
  for (Type type : op->getResultTypes()) {
    auto tensorType = dyn_cast<RankedTensorType>(type);
    // Not an empty tensor: the search for a better destination replaces those branch by branch.
    destinations.push_back(
        tensorType ? bufferization::AllocTensorOp::create(b, tensorType, ValueRange()).getResult()
                   : Value());
  }
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    Operation *yield = region.front().getTerminator();
    b.setInsertionPoint(yield);
    for (auto [operand, destination] : llvm::zip(yield->getOpOperands(), destinations))
      if (destination)
        operand.set(writeInto(b, operand.get(), destination));
  }
}

/// An empty tensor with two users is two buffers: their lifetimes have nothing to do with each
/// other. So is a filled one where it is computed into: filling twice is cheaper than copying.
/// (CSE merges both.)
void splitInitialTensors(func::FuncOp func) {
  auto isFill = [](Operation &op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return generic && generic.getNumResults() == 1 && generic.getBody()->getOperations().size() == 1 &&
           llvm::all_of(generic.getDpsInputs(), [](Value input) { return !isa<ShapedType>(input.getType()); });
  };
  auto isComputedInto = [](OpOperand &use) {
    auto destination = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    return destination && destination.isDpsInit(&use);
  };
  SmallVector<Operation *> fills, empties;
  func.walk([&](Operation *op) {
    if (isFill(*op))
      fills.push_back(op);
    else if (isa<tensor::EmptyOp>(op))
      empties.push_back(op);
  });
  auto split = [](Operation *op, function_ref<bool(OpOperand &)> applies) {
    bool isBesideItsUser = op->hasOneUse() && op->getBlock() == op->user_begin()->getBlock();
    if (isBesideItsUser)
      return;
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      if (!applies(use))
        continue;
      OpBuilder b(use.getOwner());
      use.set(b.clone(*op)->getResult(0));
    }
    if (op->use_empty())
      op->erase();
  };
  for (Operation *fill : fills)
    split(fill, isComputedInto);
  for (Operation *empty : empties)
    split(empty, [](OpOperand &) { return true; });
}

/// Makes equal slices one value: an op that reads and writes the same slice of the same tensor
/// then works in place. Empty tensors must stay apart and become allocations first.
void shareSlices(IRRewriter &rewriter, func::FuncOp func) {
  SmallVector<tensor::EmptyOp> ops;
  func.walk([&](tensor::EmptyOp op) { ops.push_back(op); });
  for (tensor::EmptyOp op : ops) {
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<bufferization::AllocTensorOp>(op, op.getType(), ValueRange());
  }
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, func);
}

/// Gives `func` its buffer signature (see the head of this file); the body still computes on
/// tensors, and ends in writes into the destinations.
class DestinationSignature {
public:
  explicit DestinationSignature(func::FuncOp func)
      : func(func), returnOp(cast<func::ReturnOp>(func.front().getTerminator())),
        b(returnOp.getLoc(), func) {}

  LogicalResult apply() {
    if (failed(findAliases()))
      return failure();
    takeBuffers();
    writeResults();
    return success();
  }

private:
  static MemRefType bufferType(Type type) {
    auto tensorType = cast<RankedTensorType>(type);
    return MemRefType::get(tensorType.getShape(), tensorType.getElementType());
  }

  /// Fills `aliasOf`: per result, the argument whose storage it is, or -1.
  LogicalResult findAliases() {
    for (Type type : llvm::concat<const Type>(func.getArgumentTypes(), func.getResultTypes())) {
      auto tensorType = dyn_cast<RankedTensorType>(type);
      if (!tensorType || !tensorType.hasStaticShape())
        return func.emitOpError("expected arguments and results of static tensor type, got ")
               << type << "\n  help: scalars are passed as rank-0 tensors";
    }
    aliasOf.assign(func.getNumResults(), -1);
    for (unsigned arg = 0; arg < func.getNumArguments(); ++arg) {
      auto attr = func.getArgAttrOfType<IntegerAttr>(arg, kAliasAttr);
      if (!attr)
        continue;
      int64_t result = attr.getInt();
      if (result < 0 || result >= func.getNumResults())
        return func.emitOpError("argument ") << arg << ": expected '" << kAliasAttr
                                             << "' to name one of " << func.getNumResults()
                                             << " results, got " << result;
      if (aliasOf[result] >= 0)
        return func.emitOpError("result ") << result << " has two arguments as its storage: "
                                           << aliasOf[result] << " and " << arg;
      if (func.getArgumentTypes()[arg] != func.getResultTypes()[result])
        return func.emitOpError("argument ")
               << arg << " cannot be the storage of result " << result << ": expected type "
               << func.getResultTypes()[result] << ", got " << func.getArgumentTypes()[arg];
      aliasOf[result] = arg;
    }
    return success();
  }

  void takeBuffers() {
    Block &body = func.front();
    b.setInsertionPointToStart(&body);
    for (unsigned arg = 0; arg < func.getNumArguments(); ++arg) {
      BlockArgument value = body.getArgument(arg);
      Type tensorType = value.getType();
      value.setType(bufferType(tensorType));
      bool writable = func.getArgAttr(arg, kDonatedAttr) || func.getArgAttr(arg, kAliasAttr);
      auto tensor = bufferization::ToTensorOp::create(b, tensorType, value, /*restrict=*/true,
                                                      writable);
      value.replaceAllUsesExcept(tensor, tensor);
      argumentTensors.push_back(tensor);
    }
    SmallVector<Type> inputs(body.getArgumentTypes());
    SmallVector<DictionaryAttr> attrs;
    func.getAllArgAttrs(attrs);
    attrs.resize(inputs.size(), b.getDictionaryAttr({}));
    for (auto [result, type] : llvm::enumerate(func.getResultTypes())) {
      if (aliasOf[result] >= 0) {
        destinations.push_back(body.getArgument(aliasOf[result]));
        resultTensors.push_back(argumentTensors[aliasOf[result]]);
        continue;
      }
      inputs.push_back(bufferType(type));
      attrs.push_back(b.getDictionaryAttr(
          b.getNamedAttr(kResultAttr, b.getI64IntegerAttr(static_cast<int64_t>(result)))));
      destinations.push_back(body.addArgument(inputs.back(), returnOp.getLoc()));
      resultTensors.push_back(bufferization::ToTensorOp::create(b, type, destinations.back(),
                                                                /*restrict=*/true, /*writable=*/true));
    }
    func.setType(b.getFunctionType(inputs, {}));
    func.setAllArgAttrs(attrs);
    func.setAllResultAttrs(ArrayRef<DictionaryAttr>{});
  }

  /// Results that are storage of an argument come last: the others may read the argument's old
  /// value.
  /// Copies a result of which another one is an update, before it is updated: else the search for
  /// destinations would compute both in the buffer of the second.
  void copyUpdatedResults() {
    for (OpOperand &operand : returnOp->getOpOperands()) {
      auto value = dyn_cast<OpResult>(operand.get());
      bool inPlace = false;
      bool isUpdated = value && llvm::any_of(returnOp.getOperands(), [&](Value other) {
        return other != value && isUpdateOf(other, value, inPlace);
      });
      if (!isUpdated)
        continue;
      b.setInsertionPointAfter(value.getOwner());
      operand.set(copyToNewTensor(b, value));
    }
  }

  void writeResults() {
    copyUpdatedResults();
    b.setInsertionPoint(returnOp);
    SmallVector<Value> values(returnOp.getOperands());
    for (auto [result, value] : llvm::enumerate(values)) {
      if (aliasOf[result] < 0)
        continue;
      auto source = viewSource(value).getDefiningOp<bufferization::ToTensorOp>();
      if (source && value != argumentTensors[aliasOf[result]])
        value = copyToNewTensor(b, value);
    }
    // Writes are seen by the analysis only where they are writes into tensors: without them
    // another value could live in the result's buffer, and be read after the result is there.
    for (auto [result, value] : llvm::enumerate(values)) {
      if (aliasOf[result] >= 0)
        continue;
      writeIntoBuffer(writeInto(b, value, resultTensors[result]), destinations[result]);
    }
    for (auto [result, value] : llvm::enumerate(values)) {
      bool inPlace = false;
      if (aliasOf[result] >= 0 && !(isUpdateOf(value, resultTensors[result], inPlace) && inPlace))
        value = writeInto(b, value, resultTensors[result]);
    }
    for (auto [result, value] : llvm::enumerate(values))
      if (aliasOf[result] >= 0)
        writeIntoBuffer(value, destinations[result]);
    returnOp.getOperandsMutable().clear();
  }

  void writeIntoBuffer(Value value, Value buffer) {
    bufferization::MaterializeInDestinationOp::create(b, /*result=*/Type(), value, buffer,
                                                      /*restrict=*/true, /*writable=*/true);
  }

  func::FuncOp func;
  func::ReturnOp returnOp;
  ImplicitLocOpBuilder b;
  SmallVector<int64_t> aliasOf;
  SmallVector<Value> argumentTensors, resultTensors, destinations;
};

Value skipCasts(Value buffer) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  return buffer;
}

/// Where all branches of an op yield one buffer from outside, that buffer is the result: the type
/// of the result has forgotten its layout, and the memory plan sees a shorter life.
void forwardBranchResults(func::FuncOp func) {
  func.walk([](Operation *op) {
    if (!isa<scf::IfOp, scf::IndexSwitchOp>(op))
      return;
    for (OpResult result : op->getResults()) {
      if (!isa<MemRefType>(result.getType()))
        continue;
      llvm::SmallDenseSet<Value> yielded;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          yielded.insert(
              skipCasts(block.getTerminator()->getOperand(result.getResultNumber())));
      Value buffer = *yielded.begin();
      if (yielded.size() != 1 || op->isAncestor(buffer.getParentRegion()->getParentOp()))
        continue;
      OpBuilder b(op);
      if (buffer.getType() != result.getType())
        buffer = memref::CastOp::create(b, op->getLoc(), result.getType(), buffer);
      result.replaceAllUsesWith(buffer);
    }
  });
}

struct Bufferize : impl::BufferizeBase<Bufferize> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module.lookupSymbol<func::FuncOp>("main")) {
      FailureOr<Signature> signature = Signature::of(module);
      if (failed(signature))
        return signalPassFailure();
      signature->record(module);
    }
    for (auto func : module.getOps<func::FuncOp>())
      if (!func.isExternal() && failed(bufferize(func)))
        return signalPassFailure();
  }

  LogicalResult bufferize(func::FuncOp func) {
    if (!func.getBody().hasOneBlock())
      return func.emitOpError("expected structured control flow, got several blocks");
    splitInitialTensors(func);
    if (failed(chooseDestinations(func)) || failed(DestinationSignature(func).apply()))
      return failure();
    IRRewriter rewriter(func);
    if (failed(bufferization::eliminateEmptyTensors(rewriter, func)))
      return failure();
    shareSlices(rewriter, func);
    bufferization::OneShotBufferizationOptions options;
    options.analysisHeuristic =
        bufferization::OneShotBufferizationOptions::AnalysisHeuristic::BottomUpFromTerminators;
    options.memCpyFn = [](OpBuilder &builder, Location loc, Value from, Value to) {
      memref::CopyOp::create(builder, loc, from, to);
      return success();
    };
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotBufferize(func, options, state)))
      return failure();
    forwardBranchResults(func);
    return success();
  }

  static LogicalResult chooseDestinations(func::FuncOp func) {
    WalkResult result = func.walk([](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp>(op))
        copySharedStarts(cast<LoopLikeOpInterface>(op));
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
        carryInPlace(yield, yield.getResultsMutable(), loop.getRegionIterArgs());
        copyReadOnlyInits(loop);
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        if (failed(carryInPlace(loop)))
          return WalkResult::interrupt();
        copyReadOnlyInits(loop);
      } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
        yieldIntoOneBuffer(op);
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
} // namespace hjx
