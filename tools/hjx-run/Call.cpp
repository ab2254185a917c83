// SPDX-License-Identifier: Apache-2.0
//
// hjx-run call FILE --function f --input x.npy --output y.npy: one function of any module on
// arrays from files, compiled from any stage that --dump-dir wrote.
//
// Inputs: .npy files in the order of the arguments, or safetensors by name; both may be mixed.
// Outputs: one .safetensors for all results by name, or .npy files in the order of the results.
#include "tools/hjx-run/Commands.h"

#include "lib/Data/Npy.h"
#include "lib/Data/Safetensors.h"
#include "lib/Execution/CompiledExecutable.h"
#include "lib/Execution/CompiledFunction.h"
#include "lib/Train/ParameterHash.h"
#include "runtime/Buffer.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <cstdio>

namespace hjx {
namespace {

namespace cl = llvm::cl;

class CallCommand : public Command {
public:
  CallCommand() : Command("call", "Run one function of a module on arrays from files") {}
  absl::Status run() override;

private:
  absl::StatusOr<std::vector<HostTensor>> readInputs(const GraphFunction &signature) const;
  absl::Status writeOutputs(const std::vector<TensorView> &results) const;

  cl::opt<std::string> file_{cl::Positional, cl::Required, cl::desc("FILE"), cl::sub(flags)};
  cl::opt<std::string> function_{"function", cl::desc("to call"), cl::init("main"), cl::sub(flags)};
  cl::list<std::string> inputs_{"input", cl::desc("x.npy, in the order of arguments, or x.safetensors, by name"), cl::sub(flags)};
  cl::list<std::string> outputs_{"output", cl::desc("y.npy, in the order of results, or y.safetensors"), cl::sub(flags)};
  StageFlags stages_{flags};
  cl::opt<bool> compileOnly_{"compile-only", cl::desc("with --target=ptx:... and --output f.ptx: compile and leave"), cl::sub(flags)};
  cl::opt<int> threads_{"threads", cl::desc("of the pool; results do not depend on it"), cl::sub(flags)};
};

/// The tensor stage knows no signs: U32 and I32 are one type there.
bool sameStorage(StoredType a, StoredType b) {
  return a == b || (elementTypeOf(a) && elementTypeOf(a) == elementTypeOf(b));
}

absl::StatusOr<std::vector<HostTensor>> CallCommand::readInputs(const GraphFunction &signature) const {
  std::vector<std::optional<HostTensor>> found(signature.arguments.size());
  size_t next = 0;
  for (const std::string &path : inputs_) {
    if (absl::EndsWith(path, ".safetensors")) {
      HJX_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(path));
      for (size_t i = 0; i < found.size(); ++i)
        if (file.find(signature.arguments[i].name)) {
          HJX_ASSIGN_OR_RETURN(found[i], file.load(signature.arguments[i].name));
        }
      continue;
    }
    if (!absl::EndsWith(path, ".npy"))
      return badInput(absl::StrCat("--input ", printable(path)), "a name ending in .npy or .safetensors", "another name",
                      "convert the file");
    while (next < found.size() && found[next])
      ++next;
    if (next == found.size())
      return badInput(absl::StrCat("--input ", printable(path)), absl::StrCat("at most ", found.size(), " inputs"), "more", "leave it out");
    HJX_ASSIGN_OR_RETURN(found[next], readNpy(path));
  }
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < found.size(); ++i) {
    const GraphValue &argument = signature.arguments[i];
    std::string subject = absl::StrCat(argument.where, ": ", signature.name, ": argument ", i, " '", printable(argument.name), "'");
    std::string expected = describeTensor(argument.type, argument.shape);
    if (!found[i])
      return badInput(subject, expected, "no input", "add --input with a .npy file, or a safetensors file that has the name");
    if (!sameStorage(found[i]->type, argument.type) || found[i]->shape != argument.shape)
      return badInput(subject, expected, describeTensor(found[i]->type, found[i]->shape), "convert the array");
    inputs.push_back(std::move(*found[i]));
  }
  return inputs;
}

absl::Status CallCommand::writeOutputs(const std::vector<TensorView> &results) const {
  if (outputs_.size() == 1 && absl::EndsWith(outputs_[0], ".safetensors"))
    return writeSafetensors(outputs_[0], results);
  for (size_t i = 0; i < outputs_.size(); ++i)
    HJX_RETURN_IF_ERROR(writeNpy(outputs_[i], results[i]));
  return absl::OkStatus();
}

absl::Status CallCommand::run() {
  HJX_RETURN_IF_ERROR(setThreads(threads_));
  HJX_ASSIGN_OR_RETURN(Stage from, stages_.startFrom());
  HJX_ASSIGN_OR_RETURN(LoadedModule loaded, loadModule(file_));
  HJX_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> program, extractFunction(*loaded.module, function_, from));
  HJX_RETURN_IF_ERROR(stages_.setMatmulPrecision(*program));
  if (stages_.stops())
    return stages_.lower(*program, function_);
  HJX_ASSIGN_OR_RETURN(Target target, stages_.target());
  if (compileOnly_) {
    if (target.kind != Target::Kind::Ptx || outputs_.size() != 1 || !absl::EndsWith(outputs_[0], ".ptx"))
      return badInput("--compile-only", "--target=ptx:<chip> and one --output ending in .ptx with it", "other flags",
                      "leave --compile-only out to call the function");
    std::vector<PtxJob> jobs;
    jobs.push_back({function_, std::move(program), from, outputs_[0], stages_.dumpDir(function_)});
    return compilePtx(std::move(jobs), target.chip);
  }
  HJX_ASSIGN_OR_RETURN(GraphFunction signature, readGraphFunction(*program, function_));
  bool isOneFile = outputs_.size() == 1 && absl::EndsWith(outputs_[0], ".safetensors");
  for (const std::string &path : outputs_)
    if (!isOneFile && !absl::EndsWith(path, ".npy"))
      return badInput(absl::StrCat("--output ", printable(path)), "one .safetensors, or names ending in .npy", "another name", "rename it");
  if (!isOneFile && outputs_.size() > signature.results.size())
    return badInput("--output", absl::StrCat("at most ", signature.results.size(), " outputs"), absl::StrCat(outputs_.size()), "leave some out");
  HJX_ASSIGN_OR_RETURN(std::vector<HostTensor> inputs, readInputs(signature));

  FunctionCompileOptions options;
  options.startFrom = from;
  options.dumpDir = stages_.dumpDir(function_);
  HJX_ASSIGN_OR_RETURN(options.device, stages_.openDevice(*program));
  HJX_ASSIGN_OR_RETURN(CompiledFunction compiled, CompiledFunction::compile(std::move(program), function_, options));
  // Buffers of the runtime: compiled code takes their alignment for granted.
  std::vector<Buffer> buffers;
  std::vector<const void *> inputPointers;
  std::vector<void *> outputPointers;
  for (const HostTensor &input : inputs) {
    HJX_ASSIGN_OR_RETURN(Buffer buffer, Buffer::allocate(static_cast<int64_t>(input.bytes.size())));
    std::memcpy(buffer.data(), input.bytes.data(), input.bytes.size());
    inputPointers.push_back(buffer.data());
    buffers.push_back(std::move(buffer));
  }
  std::vector<TensorView> results;
  for (size_t i = 0; i < signature.results.size(); ++i) {
    const GraphValue &result = signature.results[i];
    int alias = compiled.code->outputs()[i].alias;
    if (alias >= 0) {
      outputPointers.push_back(const_cast<void *>(inputPointers[static_cast<size_t>(alias)]));
    } else {
      HJX_ASSIGN_OR_RETURN(Buffer buffer, Buffer::allocate(result.sizeBytes));
      outputPointers.push_back(buffer.data());
      buffers.push_back(std::move(buffer));
    }
    results.push_back({result.name, result.type, result.shape,
                       {static_cast<const char *>(outputPointers.back()), static_cast<size_t>(result.sizeBytes)}});
  }
  std::unique_ptr<Executable> executable = makeHostExecutable(std::move(compiled.code));
  HJX_RETURN_IF_ERROR(executable->run(inputPointers, absl::MakeSpan(outputPointers)));
  for (const TensorView &result : results)
    std::printf("%s %s %s\n", formatHash(hashTensors({&result, 1})[0].hash).c_str(), describeTensor(result.type, result.shape).c_str(),
                printable(result.name).c_str());
  return writeOutputs(results);
}

} // namespace

std::unique_ptr<Command> makeCallCommand() { return std::make_unique<CallCommand>(); }

} // namespace hjx
