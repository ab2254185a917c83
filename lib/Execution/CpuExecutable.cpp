// SPDX-License-Identifier: Apache-2.0
//
// A module to a callable: pipelines, plan, JIT, and the call itself.
#include "lib/Execution/CpuExecutable.h"

#include "dialects/hjx/Signature.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Target/Jit.h"
#include "runtime/Buffer.h"

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

using namespace hjx;
using namespace mlir;

using Entry = void (*)(void *const *buffers, void *arena);

struct CpuExecutable::Code {
  std::unique_ptr<Jit> jit;
  Entry entry = nullptr;
  std::vector<std::string> profileNames;
  const int64_t *profileTable = nullptr; // Per name: nanoseconds, calls.
  absl::Mutex mutex;
  std::vector<Buffer> idleArenas ABSL_GUARDED_BY(mutex);

  absl::StatusOr<Buffer> takeArena(int64_t sizeBytes) {
    {
      absl::MutexLock lock(&mutex);
      if (!idleArenas.empty()) {
        Buffer arena = std::move(idleArenas.back());
        idleArenas.pop_back();
        return arena;
      }
    }
    return Buffer::allocate(sizeBytes);
  }

  void returnArena(Buffer arena) {
    absl::MutexLock lock(&mutex);
    idleArenas.push_back(std::move(arena));
  }
};

CpuExecutable::CpuExecutable() : code(std::make_unique<Code>()) {}
CpuExecutable::~CpuExecutable() = default;

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

static std::optional<ElementType> elementTypeOf(Type type) {
  if (type.isInteger(1))
    return ElementType::I1;
  if (type.isSignlessInteger(8))
    return ElementType::I8;
  if (type.isSignlessInteger(16))
    return ElementType::I16;
  if (type.isSignlessInteger(32))
    return ElementType::I32;
  if (type.isSignlessInteger(64))
    return ElementType::I64;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  return std::nullopt;
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  type.print(os);
  return text;
}

static absl::StatusOr<BufferSpec> specOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor)
    tensor = storageType(tensor);
  std::optional<ElementType> elementType =
      tensor ? elementTypeOf(tensor.getElementType()) : std::nullopt;
  if (!elementType || !tensor.hasStaticShape())
    return absl::InvalidArgumentError(
        absl::StrCat("@main: expected tensors of static shape whose elements are i1, i8, i16, "
                     "i32, i64, f16, bf16, f32 or f64, got ",
                     print(type)));
  BufferSpec spec;
  spec.elementType = *elementType;
  spec.shape = tensor.getShape().vec();
  spec.sizeBytes = tensor.getNumElements() * sizeBytes(*elementType);
  return spec;
}

static absl::Status readSignature(ModuleOp module, std::vector<BufferSpec> &inputs,
                                  std::vector<BufferSpec> &outputs) {
  CollectedDiagnostics diagnostics(module.getContext());
  FailureOr<Signature> signature = Signature::of(module);
  if (failed(signature))
    return absl::InvalidArgumentError(diagnostics.text());
  for (Type type : signature->type.getResults()) {
    HJX_ASSIGN_OR_RETURN(BufferSpec spec, specOf(type));
    outputs.push_back(std::move(spec));
  }
  for (auto [index, type, attrs] :
       llvm::enumerate(signature->type.getInputs(), signature->argumentAttrs)) {
    HJX_ASSIGN_OR_RETURN(BufferSpec spec, specOf(type));
    spec.donated = attrs.contains("hjx.donated");
    if (auto alias = attrs.getAs<IntegerAttr>("hjx.alias")) {
      spec.donated = true;
      spec.alias = alias.getInt();
      // The lowering reports a number that is out of range.
      if (spec.alias >= 0 && spec.alias < static_cast<int>(outputs.size()))
        outputs[spec.alias].alias = index;
    }
    inputs.push_back(std::move(spec));
  }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

void hjx::registerCpuDialects(DialectRegistry &registry) {
  registerCpuCodegenDialects(registry);
  registerTargetDialects(registry);
}

static absl::Status asStatus(llvm::Error error) {
  return absl::InternalError(llvm::toString(std::move(error)));
}

absl::StatusOr<std::unique_ptr<CpuExecutable>> CpuExecutable::compile(ModuleOp module,
                                                                      const CpuOptions &options) {
  DialectRegistry registry;
  registerCpuDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  std::unique_ptr<CpuExecutable> executable(new CpuExecutable);
  HJX_RETURN_IF_ERROR(readSignature(module, executable->inputSpecs, executable->outputSpecs));

  LowerOptions lower;
  lower.kernel.fuse = options.fuse;
  lower.kernel.scalarLoops = options.scalarLoops;
  lower.machine.profile = options.profile;
  lower.dumpDir = options.dumpDir;
  HJX_RETURN_IF_ERROR(lowerModule(module, options.startFrom, Stage::Machine, lower));
  Operation *program = module.lookupSymbol(kEntryName);
  FailureOr<MemoryPlan> plan = MemoryPlan::fromAttribute(program->getAttr(kMemoryPlanAttr));
  if (failed(plan))
    return absl::InvalidArgumentError(
        absl::StrCat("@", kEntryName.str(), ": '", kMemoryPlanAttr.str(), "' is not a memory plan"));
  executable->plan = std::move(*plan);

  JitOptions jitOptions;
  jitOptions.cpu = options.cpu;
  jitOptions.features = options.features;
  jitOptions.optLevel = options.optLevel;
  std::unique_ptr<llvm::raw_fd_ostream> dump;
  if (!options.dumpDir.empty()) {
    std::error_code error;
    dump = std::make_unique<llvm::raw_fd_ostream>(options.dumpDir + "/7-host.ll", error);
    jitOptions.dump = dump.get();
  }
  llvm::Expected<std::unique_ptr<Jit>> jit = Jit::compile(module, jitOptions);
  if (!jit)
    return asStatus(jit.takeError());
  executable->code->jit = std::move(*jit);
  llvm::Expected<void *> entry = executable->code->jit->lookup(kEntryName);
  if (!entry)
    return asStatus(entry.takeError());
  executable->code->entry = reinterpret_cast<Entry>(*entry);
  if (auto names = module->getAttrOfType<ArrayAttr>(kProfileNamesAttr)) {
    llvm::Expected<void *> table = executable->code->jit->lookup(kProfileTableName);
    if (!table)
      return asStatus(table.takeError());
    executable->code->profileTable = static_cast<const int64_t *>(*table);
    for (StringAttr name : names.getAsRange<StringAttr>())
      executable->code->profileNames.push_back(name.str());
  }
  return executable;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

absl::Status CpuExecutable::run(absl::Span<const void *const> inputs,
                                absl::Span<void *const> outputs) const {
  if (inputs.size() != inputSpecs.size() || outputs.size() != outputSpecs.size())
    return absl::InvalidArgumentError(
        absl::StrCat("run: expected ", inputSpecs.size(), " inputs and ", outputSpecs.size(),
                     " outputs, got ", inputs.size(), " and ", outputs.size()));
  absl::InlinedVector<void *, 32> buffers;
  buffers.reserve(inputs.size() + outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] && inputSpecs[i].sizeBytes > 0)
      return absl::InvalidArgumentError(absl::StrCat("run: input ", i, " is null"));
    buffers.push_back(const_cast<void *>(inputs[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    int alias = outputSpecs[i].alias;
    if (alias < 0) {
      if (!outputs[i] && outputSpecs[i].sizeBytes > 0)
        return absl::InvalidArgumentError(absl::StrCat("run: output ", i, " is null"));
      buffers.push_back(outputs[i]);
    } else if (outputs[i] && outputs[i] != inputs[alias]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "run: output ", i, " is stored in input ", alias,
          ": expected that pointer or null, got another"));
    }
  }
  HJX_ASSIGN_OR_RETURN(Buffer arena, code->takeArena(plan.sizeBytes));
  code->entry(buffers.data(), arena.data());
  code->returnArena(std::move(arena));
  return absl::OkStatus();
}

std::vector<KernelTime> CpuExecutable::profile() const {
  std::vector<KernelTime> times;
  for (auto [index, name] : llvm::enumerate(code->profileNames)) {
    const int64_t *row = code->profileTable + 2 * index;
    times.push_back({name, row[0], row[1]});
  }
  llvm::sort(times, [](const KernelTime &a, const KernelTime &b) { return a.timeNs > b.timeNs; });
  return times;
}
