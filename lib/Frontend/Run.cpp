// SPDX-License-Identifier: Apache-2.0
#include "lib/Frontend/Run.h"

#include "lib/Frontend/Diagnostics.h"

using namespace mlir;

namespace hjx::detail {

std::string programText(ModuleOp module, bool hasLocations) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().assumeVerified().enableDebugInfo(hasLocations));
  return text;
}

void failToCompile(const Call &call, const absl::Status &status) {
  Explained explained = explainCompilation(std::string(status.message()));
  call.fail(explained.message, explained.help);
}

Layout layoutOf(const Aval &aval, const Call &call) {
  Layout layout{aval, {}};
  if (aval.isRef) {
    layout.parts.push_back(layoutOf(aval.type(), call));
  } else if (aval.hi) {
    MLIRContext &context = threadContext();
    std::string diagnostics;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { diagnostics = diagnostic.str(); });
    auto type = cast<ir::HiType>(typeOf(aval, &context));
    auto components = type.getDef()->loTypes(type, [&] { return emitError(UnknownLoc::get(&context)); });
    if (failed(components)) {
      Explained explained = explain(diagnostics);
      call.fail(explained.message, explained.help);
    }
    for (mlir::Type component : *components)
      layout.parts.push_back(layoutOf(avalOf(component), call));
  }
  return layout;
}

Array assemble(const Layout &layout, llvm::function_ref<Storage(const Aval &)> makeStorage, Where where) {
  if (layout.aval.isArray())
    return makeConcrete(layout.aval, makeStorage(layout.aval), where);
  std::vector<Array> parts;
  for (const Layout &part : layout.parts)
    parts.push_back(assemble(part, makeStorage, where));
  return makeConcrete(layout.aval, std::move(parts), where);
}

void appendPointers(const Array &leaf, const Call &call, SmallVectorImpl<const void *> &pointers) {
  ArrayImpl &impl = Access::alive(leaf, call.name(), call.where());
  if (impl.isArray()) {
    pointers.push_back(storageOf(leaf, call.name(), call.where())->data());
    return;
  }
  if (!impl.parts)
    call.fail(std::string("expected a concrete value, got the ") + (impl.value ? "traced " : "abstract ") + describe(leaf),
              impl.value ? "return it from the traced function" : "pass a value that is made of numbers");
  for (const Array &part : *impl.parts)
    appendPointers(part, call, pointers);
}

std::vector<Array> run(const Executable &executable, ArrayRef<Array> inputs, ArrayRef<Aval> results,
                       const Call &call) {
  SmallVector<const void *> inputPointers;
  for (const Array &input : inputs)
    appendPointers(input, call, inputPointers);
  SmallVector<void *> outputPointers;
  auto makeStorage = [&](const Aval &aval) {
    Storage storage = allocate(aval, call.where());
    outputPointers.push_back(storage->data());
    return storage;
  };
  std::vector<Array> outputs;
  for (const Aval &aval : results)
    outputs.push_back(assemble(layoutOf(aval, call), makeStorage, call.where()));
  absl::Status status = executable.run(absl::MakeConstSpan(inputPointers.data(), inputPointers.size()),
                                       absl::MakeSpan(outputPointers.data(), outputPointers.size()));
  if (!status.ok())
    call.fail(std::string(status.message()), "");
  return outputs;
}

std::vector<Array> compileAndRun(Session &session, ArrayRef<Array> arguments, ArrayRef<Aval> results,
                                 const Call &call) {
  auto executable = findOrCompile(programText(session.module()));
  if (!executable.ok()) // Again with locations, for the message.
    failToCompile(call, findOrCompile(programText(session.module(), /*hasLocations=*/true)).status());
  std::vector<Array> inputs(arguments.begin(), arguments.end());
  inputs.insert(inputs.end(), session.lifted().begin(), session.lifted().end());
  return run(**executable, inputs, results, call);
}

} // namespace hjx::detail
