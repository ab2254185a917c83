// SPDX-License-Identifier: Apache-2.0
#include "lib/Frontend/Run.h"

#include "lib/Frontend/Diagnostics.h"

using namespace mlir;

namespace hjx::detail {

/// Without locations, equal programs have equal text wherever they are written.
static std::string textOf(ModuleOp module, bool hasLocations = false) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().assumeVerified().enableDebugInfo(hasLocations));
  return text;
}

void failToCompile(const Call &call, const absl::Status &status) {
  Explained explained = explainCompilation(std::string(status.message()));
  call.fail(explained.message, explained.help);
}

std::vector<Array> run(const Executable &executable, ArrayRef<Array> inputs, ArrayRef<Aval> results,
                       const Call &call) {
  SmallVector<const void *> inputPointers;
  for (const Array &input : inputs)
    inputPointers.push_back(storageOf(input, call.name(), call.where())->data());
  SmallVector<void *> outputPointers;
  std::vector<Array> outputs;
  for (const Aval &aval : results) {
    Storage storage = allocate(aval, call.where());
    outputPointers.push_back(storage->data());
    outputs.push_back(makeConcrete(aval, std::move(storage), call.where()));
  }
  absl::Status status = executable.run(absl::MakeConstSpan(inputPointers.data(), inputPointers.size()),
                                       absl::MakeSpan(outputPointers.data(), outputPointers.size()));
  if (!status.ok())
    call.fail(std::string(status.message()), "");
  return outputs;
}

std::vector<Array> compileAndRun(Session &session, ArrayRef<Array> arguments, ArrayRef<Aval> results,
                                 const Call &call) {
  auto executable = findOrCompile(textOf(session.module()));
  if (!executable.ok()) // Again with locations, for the message.
    failToCompile(call, findOrCompile(textOf(session.module(), /*hasLocations=*/true)).status());
  std::vector<Array> inputs(arguments.begin(), arguments.end());
  inputs.insert(inputs.end(), session.lifted().begin(), session.lifted().end());
  return run(**executable, inputs, results, call);
}

} // namespace hjx::detail
