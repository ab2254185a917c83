// SPDX-License-Identifier: Apache-2.0
//
// The engine: environments, dispatch, and the limits that keep bad input from
// becoming a crash.
#include "lib/Interpreter/Interpreter.h"

#include "dialects/hjx/Effects.h"
#include "lib/Interpreter/Evaluate.h"
#include "lib/Rules/Registry.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace hjx {

static const EvaluateRules &evaluateRules() {
  static const EvaluateRules rules = [] {
    EvaluateRules all;
    populateCheckEvaluateRules(all);
    populateContractionEvaluateRules(all);
    populateElementwiseEvaluateRules(all);
    populateHigherOrderEvaluateRules(all);
    populateIndexingEvaluateRules(all);
    populateMovementEvaluateRules(all);
    populateRandomEvaluateRules(all);
    populateReductionEvaluateRules(all);
    populateRefsEvaluateRules(all);
    return all;
  }();
  return rules;
}

namespace {

constexpr int64_t kMaxArrayBytes = int64_t(1) << 30;
constexpr unsigned kMaxDepth = 200;

class Interpreter {
public:
  FailureOr<SmallVector<HostArray>> run(Block &block, ArrayRef<Datum> arguments);
  bool checkFailed = false;

private:
  LogicalResult evaluate(Operation *op);
  FailureOr<SmallVector<HostArray>> zeroResults(Operation *op);

  /// The values of the block being run. Regions are isolated, so that a block
  /// reads no other.
  using Environment = DenseMap<Value, Datum>;
  Environment *environment = nullptr;
  unsigned depth = 0;
};

FailureOr<SmallVector<HostArray>> Interpreter::run(Block &block, ArrayRef<Datum> arguments) {
  Operation *parent = block.getParentOp();
  if (depth == kMaxDepth) {
    parent->emitError("the interpreter nests calls and loops at most ")
        << kMaxDepth << " deep: expected a program without recursion";
    return failure();
  }
  Environment values;
  llvm::SaveAndRestore enter(environment, &values);
  llvm::SaveAndRestore deeper(depth, depth + 1u);
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    values.try_emplace(argument, value);
  for (Operation &op : block.without_terminator())
    if (failed(evaluate(&op)))
      return failure();
  SmallVector<HostArray> results;
  for (Value value : block.getTerminator()->getOperands()) {
    if (isa<ir::RefType>(value.getType())) {
      parent->emitError("returns a ref; expected it to return what the ref holds, with hjx.ref_get or hjx.ref_freeze");
      return failure();
    }
    results.push_back(std::get<HostArray>(values.at(value)));
  }
  return results;
}

FailureOr<SmallVector<HostArray>> Interpreter::zeroResults(Operation *op) {
  SmallVector<HostArray> results;
  for (Type type : op->getResultTypes()) {
    auto array = dyn_cast<RankedTensorType>(ir::heldType(type));
    if (!array || !array.hasStaticShape() ||
        !isa<IntegerType, FloatType, ir::KeyType>(array.getElementType())) {
      op->emitOpError(
          "is not evaluated by the interpreter: expected arrays of numbers, bools or keys, got ")
          << type;
      return failure();
    }
    int64_t sizeBytes = HostArray::elementSizeBytes(array.getElementType());
    for (int64_t size : array.getShape())
      sizeBytes = llvm::MulOverflow(sizeBytes, size, sizeBytes) ? kMaxArrayBytes + 1 : sizeBytes;
    if (sizeBytes > kMaxArrayBytes) {
      op->emitOpError("is not evaluated by the interpreter: expected arrays of at most 1 GiB, got ")
          << type;
      return failure();
    }
    results.emplace_back(array);
  }
  return results;
}

LogicalResult Interpreter::evaluate(Operation *op) {
  const EvaluateRule *rule = evaluateRules().find(op->getName().getStringRef());
  if (!rule && isa<ir::HjxDialect>(op->getDialect()) && isa<SymbolUserOpInterface>(op))
    return op->emitOpError(
        "is a request, which the interpreter does not evaluate: run hjx-expand-transforms first");
  if (!rule)
    return emitMissingRule(op, "interpreter");
  auto results = zeroResults(op);
  if (failed(results))
    return failure();
  Evaluation evaluation{op,
                        {},
                        {},
                        std::move(*results),
                        [this](Region &region, ArrayRef<Datum> arguments) { return run(region.front(), arguments); },
                        checkFailed};
  for (Value operand : op->getOperands()) {
    evaluation.data.push_back(&environment->at(operand));
    evaluation.operands.push_back(std::get_if<HostArray>(evaluation.data.back()));
  }
  if (failed((*rule)(evaluation)))
    return failure();
  for (auto [value, result] : llvm::zip_equal(op->getResults(), evaluation.results)) {
    assert(result.type() == ir::heldType(value.getType()) && "a rule makes arrays of the result types");
    if (isa<ir::RefType>(value.getType()))
      environment->try_emplace(value, Cell{std::make_shared<HostArray>(result), result.type()});
    else
      environment->try_emplace(value, std::move(result));
  }
  return success();
}

} // namespace

FailureOr<SmallVector<HostArray>> interpretInPlace(func::FuncOp function, MutableArrayRef<HostArray> arguments) {
  if (!function.getBody().hasOneBlock()) {
    function.emitError("the interpreter runs functions of one block, got ")
        << function.getBody().getBlocks().size();
    return failure();
  }
  if (arguments.size() != function.getNumArguments()) {
    function.emitError("expected ")
        << function.getNumArguments() << " arguments, got " << arguments.size();
    return failure();
  }
  SmallVector<Datum> data;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Type type = function.getArgumentTypes()[i];
    if (argument.type() != ir::heldType(type)) {
      function.emitError("expected argument ") << i << " of type " << ir::heldType(type) << ", got " << argument.type();
      return failure();
    }
    data.push_back(isa<ir::RefType>(type) ? Datum(Cell{std::make_shared<HostArray>(argument), argument.type()})
                                          : Datum(argument));
  }
  Interpreter interpreter;
  auto results = interpreter.run(function.front(), data);
  if (failed(results) || interpreter.checkFailed)
    return failure();
  for (auto [argument, datum] : llvm::zip_equal(arguments, data))
    if (const auto *cell = std::get_if<Cell>(&datum))
      argument = *cell->memory;
  return results;
}

FailureOr<SmallVector<HostArray>> interpret(func::FuncOp function, ArrayRef<HostArray> arguments) {
  SmallVector<HostArray> copies(arguments);
  return interpretInPlace(function, copies);
}

void registerInterpreterRules(RuleRegistry &rules) {
  for (StringRef op : evaluateRules().names())
    if (!op.starts_with("check.")) // expectations are no part of a program: no other verb sees them
      rules[op].interprets = true;
}

} // namespace hjx
