// SPDX-License-Identifier: Apache-2.0
#include "test/unit/PropertyHarness.h"

#include "lib/Execution/CpuExecutable.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Pipelines/Pipelines.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace hjx;
using namespace hjx::test;

/// Collects diagnostics of its scope into a string.
static ScopedDiagnosticHandler collect(MLIRContext *context, std::string &text) {
  return ScopedDiagnosticHandler(context, [&text](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(text) << diagnostic << "\n";
    return success();
  });
}

Program::Program(MLIRContext &context, const Sample &sample) {
  std::string source = sample.text();
  auto handler = collect(&context, text);
  module = parseSourceString<ModuleOp>(source, ParserConfig(&context, /*verifyAfterParse=*/false));
  if (!module)
    return;
  // Return what the last op computes.
  func::FuncOp f = function("f");
  Operation *terminator = f.front().getTerminator();
  Operation &last = *std::prev(terminator->getIterator());
  terminator->setOperands(last.getResults());
  f.setFunctionType(FunctionType::get(&context, f.getArgumentTypes(), last.getResultTypes()));
  if (failed(verify(*module)))
    module = nullptr;
}

func::FuncOp Program::function(StringRef name) {
  return cast<func::FuncOp>(SymbolTable::lookupSymbolIn(*module, name));
}

func::FuncOp Program::add(StringRef name, TypeRange arguments,
                          function_ref<Values(ImplicitLocOpBuilder &, ValueRange)> build) {
  ImplicitLocOpBuilder b(module->getLoc(), module->getContext());
  b.setInsertionPointToEnd(module->getBody());
  auto f = func::FuncOp::create(b, name, b.getFunctionType(arguments, {}));
  b.setInsertionPointToEnd(f.addEntryBlock());
  Values results = build(b, f.getArguments());
  func::ReturnOp::create(b, results);
  f.setFunctionType(b.getFunctionType(arguments, ValueRange(results).getTypes()));
  return f;
}

LogicalResult Program::expand() {
  auto handler = collect(module->getContext(), text);
  if (failed(verify(*module)))
    return failure();
  PassManager pm(module->getContext());
  if (failed(parsePassPipeline("hjx-expand-transforms", pm)))
    return failure();
  return pm.run(*module);
}

FailureOr<Arrays> Program::run(StringRef name, ArrayRef<HostArray> arguments) {
  auto handler = collect(module->getContext(), text);
  return interpret(function(name), arguments);
}

FailureOr<Arrays> Program::runCompiled(ArrayRef<HostArray> arguments) {
  auto handler = collect(module->getContext(), text);
  OwningOpRef<ModuleOp> copy = module->clone();
  PassManager pm(module->getContext());
  buildToPurePipeline(pm);
  buildToLoPipeline(pm);
  buildToTensorPipeline(pm);
  if (failed(pm.run(*copy)))
    return failure();
  auto executable = CpuExecutable::compile(*copy, {});
  if (!executable.ok()) {
    text += executable.status().ToString() + "\n";
    return failure();
  }
  Arrays results;
  for (Type type : function("main").getResultTypes())
    results.emplace_back(cast<RankedTensorType>(type));
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  static char none; // arrays without elements have no storage
  for (const HostArray &argument : arguments)
    inputs.push_back(argument.bytes().empty() ? &none : argument.bytes().data());
  for (HostArray &result : results)
    outputs.push_back(result.bytes().empty() ? &none : result.bytes().data());
  if (absl::Status status = (*executable)->run(inputs, outputs); !status.ok()) {
    text += status.ToString() + "\n";
    return failure();
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

HostArray hjx::test::draw(Type type, Domain domain, std::mt19937_64 &random) {
  HostArray x(cast<RankedTensorType>(type));
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  auto integer = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int64_t i = 0, n = x.numElements(); i < n; ++i) {
    if (isa<ir::KeyType>(x.elementType()))
      x.setKey(i, {uint32_t(random()), uint32_t(random())});
    else if (x.elementType().isInteger(1))
      x.setInteger(i, APInt(1, random() & 1));
    else if (x.isInteger())
      x.setInteger(i, APInt(64, domain == Domain::Index ? integer(-1, 3) : integer(-3, 9),
                            /*isSigned=*/true));
    else if (domain == Domain::Positive)
      x.setFloat(i, uniform(0.5, 2));
    else if (domain == Domain::Unit)
      x.setFloat(i, uniform(-0.9, 0.9));
    else
      x.setFloat(i, domain == Domain::Zeros && i == 0 ? 0
                                                      : std::normal_distribution<double>()(random));
  }
  return x;
}

HostArray hjx::test::axpy(const HostArray &x, double scale, const HostArray &y) {
  HostArray sum(x.type());
  for (int64_t i = 0, n = x.numElements(); i < n; ++i)
    sum.setFloat(i, x.getFloat(i) + scale * y.getFloat(i));
  return sum;
}

double hjx::test::inner(ArrayRef<HostArray> x, ArrayRef<HostArray> y) {
  double sum = 0;
  for (auto [a, b] : llvm::zip_equal(x, y))
    for (int64_t i = 0, n = a.numElements(); i < n; ++i)
      sum += a.getFloat(i) * b.getFloat(i);
  return sum;
}

HostArray hjx::test::zerosLike(const HostArray &x) { return HostArray(x.type()); }

HostArray hjx::test::slice(const HostArray &x, int64_t axis, int64_t i) {
  HostArray result(ir::dropAxis(x.type(), axis));
  int64_t next = 0;
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> source(index);
    source.insert(source.begin() + axis, i);
    result.setElement(next++, x, x.offsetOf(source));
  });
  return result;
}

HostArray hjx::test::stack(ArrayRef<HostArray> slices, int64_t axis) {
  HostArray result(ir::insertAxis(slices.front().type(), axis, slices.size()));
  int64_t next = 0;
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> source(index);
    source.erase(source.begin() + axis);
    const HostArray &from = slices[index[axis]];
    result.setElement(next++, from, from.offsetOf(source));
  });
  return result;
}
