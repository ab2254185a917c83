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
    auto type = cast<ir::HiType>(typeOf(aval, &context, call.where()));
    auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
    auto components = type.getDef()->loTypes(type, emit);
    if (failed(components) || failed(ir::flatLoTypes(type, emit))) { // which ends
      Explained explained = explain(diagnostics);
      call.fail(explained.message, explained.help);
    }
    for (mlir::Type component : *components)
      layout.parts.push_back(layoutOf(avalOf(component), call));
  }
  return layout;
}

Array assemble(const Layout &layout, llvm::function_ref<Storage(const Aval &)> makeStorage, Where where, bool isCommitted) {
  if (layout.aval.isArray())
    return makeConcrete(layout.aval, makeStorage(layout.aval), where, isCommitted);
  std::vector<Array> parts;
  for (const Layout &part : layout.parts)
    parts.push_back(assemble(part, makeStorage, where, isCommitted));
  return makeConcrete(layout.aval, std::move(parts), where);
}

void Inputs::append(const Array &leaf, RuntimeDevice &device, const Call &call) {
  const ArrayImpl &impl = Access::alive(leaf, call.name(), call.where());
  if (impl.isArray() && impl.storage && &impl.storage->device() == &device && impl.storage->isAligned()) { // Most are.
    pointers.push_back(impl.storage->data());
    return;
  }
  bool isRef = impl.isRef;
  forEachArray(leaf, call, [&](const Array &array) {
    const Storage &storage = storageOf(array, call.name(), call.where());
    if (isRef && &storage->device() != &device) // A copy would be updated in its place.
      call.fail("expected refs of " + device.name() + ", where the program runs, got the ref " + describe(leaf) + " of " +
                    storage->device().name(),
                "make the ref there, or leave out the device of jit: a program runs where its refs are");
    // A number of the program's text is no array that moves: a processor reads it where it is.
    bool isNumber = Access::get(array)->literal && device.kind() == DeviceKind::Cpu;
    if (!isNumber && (&storage->device() != &device || !storage->isAligned()))
      copies.emplace_back(pointers.size(), moveTo(storage, device, call));
    pointers.push_back(!copies.empty() && copies.back().first == pointers.size() ? copies.back().second->data() : storage->data());
  });
}

Storage Inputs::takeCopy(size_t number) {
  for (auto &[of, copy] : copies)
    if (of == number)
      return copy;
  return nullptr;
}

std::vector<Array> run(const Executable &executable, const Place &place, ArrayRef<Array> inputs, ArrayRef<Aval> results,
                       const Call &call) {
  Inputs there;
  for (const Array &input : inputs)
    there.append(input, *place.device, call);
  SmallVector<void *> outputPointers;
  auto makeStorage = [&](const Aval &aval) {
    Storage storage = allocate(aval, *place.device, call.where());
    outputPointers.push_back(storage->data());
    return storage;
  };
  std::vector<Array> outputs;
  for (const Aval &aval : results)
    outputs.push_back(assemble(layoutOf(aval, call), makeStorage, call.where(), place.isCommitted));
  absl::Status status = executable.run(absl::MakeConstSpan(there.pointers.data(), there.pointers.size()),
                                       absl::MakeSpan(outputPointers.data(), outputPointers.size()));
  if (!status.ok())
    failWith(status, call);
  return outputs;
}

std::vector<Array> compileAndRun(Session &session, ArrayRef<Array> arguments, ArrayRef<Aval> results,
                                 const Call &call) {
  Place wanted = choosePlace({arguments, session.lifted(), session.placedLike}, call, session.demand), place = wanted;
  if (RuntimeDevice *home = session.home; home && home != wanted.device)
    place = {home, false};
  auto executable = findProgram(programText(session.module()))->on(*place.device);
  if (!executable.ok()) // Again with locations, for the message.
    failToCompile(call, findProgram(programText(session.module(), /*hasLocations=*/true))->on(*place.device).status());
  std::vector<Array> inputs(arguments.begin(), arguments.end());
  inputs.insert(inputs.end(), session.lifted().begin(), session.lifted().end());
  std::vector<Array> outputs = run(**executable, place, inputs, results, call);
  if (place.device != wanted.device && wanted.isCommitted)
    for (Array &output : outputs)
      output = moveTo(output, wanted, call);
  return outputs;
}

} // namespace hjx::detail
