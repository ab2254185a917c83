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

//===----------------------------------------------------------------------===//
// Points and requests
//===----------------------------------------------------------------------===//

Domain hjx::test::domainOf(const Sample &sample, size_t argument) {
  return argument < sample.domains.size() ? sample.domains[argument] : Domain::Any;
}

Point::Point(MLIRContext &context, const Sample &sample, std::mt19937_64 &random)
    : program(context, sample) {
  if (!program.isValid())
    return;
  argumentTypes = program.argumentTypes();
  resultTypes = program.resultTypes();
  for (auto [i, type] : llvm::enumerate(argumentTypes))
    x.push_back(draw(type, domainOf(sample, i), random));
}

Types hjx::test::floatsOf(TypeRange types) {
  return llvm::filter_to_vector(types, ir::isDifferentiable);
}
Arrays hjx::test::floatsOf(ArrayRef<HostArray> arrays) {
  return llvm::filter_to_vector(arrays, [](const HostArray &array) { return array.isFloat(); });
}
Types hjx::test::concat(TypeRange a, TypeRange b) {
  Types all(a);
  llvm::append_range(all, b);
  return all;
}
Arrays hjx::test::concat(ArrayRef<HostArray> a, ArrayRef<HostArray> b) {
  Arrays all(a);
  llvm::append_range(all, b);
  return all;
}

/// Fewest significant bits among the float types, which tolerances follow.
unsigned hjx::test::precisionOf(TypeRange types) {
  unsigned bits = 53;
  for (Type type : floatsOf(types))
    bits = std::min(bits, cast<FloatType>(getElementTypeOrSelf(type)).getFPMantissaWidth());
  return bits;
}
double hjx::test::epsilonOf(TypeRange types) {
  return std::ldexp(1.0, 1 - int(precisionOf(types)));
}
/// (x, v) -> (f, J v)
void hjx::test::addJvp(Point &p, ArrayRef<bool> mask, StringRef name) {
  size_t n = p.argumentTypes.size();
  p.program.add(name, concat(p.argumentTypes, pick(p.argumentTypes, mask)),
                [&](ImplicitLocOpBuilder &b, ValueRange args) {
                  auto op = ir::JvpOp::create(b, concat(p.resultTypes, floatsOf(p.resultTypes)),
                                              "f", args.take_front(n), args.drop_front(n), mask);
                  return Values(op.getResults());
                });
}

/// (x, c) -> (f, J^T c)
void hjx::test::addVjp(Point &p, ArrayRef<bool> mask, StringRef name) {
  size_t n = p.argumentTypes.size();
  p.program.add(name, concat(p.argumentTypes, floatsOf(p.resultTypes)),
                [&](ImplicitLocOpBuilder &b, ValueRange args) {
                  auto op = ir::VjpOp::create(b, concat(p.resultTypes, pick(p.argumentTypes, mask)),
                                              "f", args.take_front(n), args.drop_front(n), mask);
                  return Values(op.getResults());
                });
}
Types hjx::test::mapTypes(TypeRange types, ArrayRef<int64_t> axes) {
  Types mapped;
  for (auto [type, axis] : llvm::zip_equal(types, axes))
    mapped.push_back(axis == -1 ? type
                                : Type(ir::insertAxis(cast<RankedTensorType>(type), axis, kBatch)));
  return mapped;
}

void hjx::test::addVmap(Program &program, StringRef name, StringRef callee, TypeRange arguments,
                        TypeRange results, ArrayRef<int64_t> inAxes, ArrayRef<int64_t> outAxes) {
  program.add(name, mapTypes(arguments, inAxes), [&](ImplicitLocOpBuilder &b, ValueRange args) {
    return Values(
        ir::VmapOp::create(b, mapTypes(results, outAxes), callee, args, inAxes, outAxes, kBatch)
            .getResults());
  });
}
