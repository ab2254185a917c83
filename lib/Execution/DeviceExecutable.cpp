// SPDX-License-Identifier: Apache-2.0
//
// The signature of a program as sizes, and the checks and the arena of a call.
#include "lib/Execution/DeviceExecutable.h"

#include "dialects/hjx/Signature.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Target/Passes.h"
#include "runtime/Bytes.h"

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

using namespace hjx;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Interface
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

absl::StatusOr<ProgramInterface> ProgramInterface::of(ModuleOp module) {
  CollectedDiagnostics diagnostics(module.getContext());
  FailureOr<Signature> signature = Signature::of(module);
  if (failed(signature))
    return absl::InvalidArgumentError(diagnostics.text());
  ProgramInterface interface;
  for (Type type : signature->type.getResults()) {
    HJX_ASSIGN_OR_RETURN(BufferSpec spec, specOf(type));
    interface.outputs.push_back(std::move(spec));
  }
  for (auto [index, type, attrs] :
       llvm::enumerate(signature->type.getInputs(), signature->argumentAttrs)) {
    HJX_ASSIGN_OR_RETURN(BufferSpec spec, specOf(type));
    spec.donated = attrs.contains("hjx.donated");
    if (auto alias = attrs.getAs<IntegerAttr>("hjx.alias")) {
      spec.donated = true;
      spec.alias = alias.getInt();
      // The lowering reports a number that is out of range.
      if (spec.alias >= 0 && spec.alias < static_cast<int>(interface.outputs.size()))
        interface.outputs[spec.alias].alias = index;
    }
    interface.inputs.push_back(std::move(spec));
  }
  return interface;
}

absl::Status ProgramInterface::readPlan(ModuleOp module) {
  Operation *program = module.lookupSymbol(kEntryName);
  FailureOr<MemoryPlan> found = failure();
  if (program)
    found = MemoryPlan::fromAttribute(program->getAttr(kMemoryPlanAttr));
  if (failed(found))
    return absl::InvalidArgumentError(absl::StrCat("@", kEntryName.str(), ": '",
                                                   kMemoryPlanAttr.str(), "' is not a memory plan"));
  plan = std::move(*found);
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// "  largest buffers of the plan: 12.0 MiB of model.cpp:42, ...", a line.
static std::string describeLargest(const MemoryPlan &plan, size_t count) {
  std::vector<const MemoryPlan::Entry *> bySize;
  for (const MemoryPlan::Entry &entry : plan.entries)
    bySize.push_back(&entry);
  llvm::stable_sort(bySize, [](auto *a, auto *b) { return a->sizeBytes > b->sizeBytes; });
  bySize.resize(std::min(bySize.size(), count));
  return absl::StrCat("  largest of the ", plan.entries.size(), " buffers of the plan: ",
                      absl::StrJoin(bySize, ", ",
                                    [](std::string *out, const MemoryPlan::Entry *entry) {
                                      absl::StrAppend(out, printBytes(entry->sizeBytes), " of ", entry->name);
                                    }),
                      "\n");
}

absl::StatusOr<DeviceBuffer> DeviceExecutable::takeArena(absl::string_view remedy) const {
  if (interface.plan.sizeBytes == 0) // Small programs: two locks are a tenth of a call.
    return where.allocate(0);
  {
    absl::MutexLock lock(&mutex);
    if (!idleArenas.empty()) {
      DeviceBuffer arena = std::move(idleArenas.back());
      idleArenas.pop_back();
      return arena;
    }
  }
  const MemoryPlan &plan = interface.plan;
  absl::StatusOr<int64_t> free = where.freeBytes();
  if (!free.ok() || plan.sizeBytes <= *free) {
    absl::StatusOr<DeviceBuffer> arena = where.allocate(plan.sizeBytes);
    if (!absl::IsResourceExhausted(arena.status()))
      return arena;
  }
  return where.outOfMemory(plan.sizeBytes, "the arena of a program", describeLargest(plan, 3), remedy);
}

absl::Status DeviceExecutable::reserve(absl::string_view remedy) const {
  HJX_ASSIGN_OR_RETURN(DeviceBuffer arena, takeArena(remedy));
  returnArena(std::move(arena));
  return absl::OkStatus();
}

void DeviceExecutable::returnArena(DeviceBuffer arena) const {
  if (arena.sizeBytes() == 0)
    return;
  absl::MutexLock lock(&mutex);
  idleArenas.push_back(std::move(arena));
}

absl::Status DeviceExecutable::run(absl::Span<const void *const> inputs,
                                   absl::Span<void *const> outputs) const {
  const auto &[inputSpecs, outputSpecs, plan] = interface;
  if (inputs.size() != inputSpecs.size() || outputs.size() != outputSpecs.size())
    return absl::InvalidArgumentError(
        absl::StrCat("run: expected ", inputSpecs.size(), " inputs and ", outputSpecs.size(),
                     " outputs, got ", inputs.size(), " and ", outputs.size()));
  absl::InlinedVector<void *, 32> pointers;
  pointers.reserve(inputs.size() + outputs.size() + 1);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] && inputSpecs[i].sizeBytes > 0)
      return absl::InvalidArgumentError(absl::StrCat("run: input ", i, " is null"));
    pointers.push_back(const_cast<void *>(inputs[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    int alias = outputSpecs[i].alias;
    if (alias < 0) {
      if (!outputs[i] && outputSpecs[i].sizeBytes > 0)
        return absl::InvalidArgumentError(absl::StrCat("run: output ", i, " is null"));
      pointers.push_back(outputs[i]);
    } else if (outputs[i] && outputs[i] != inputs[alias]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "run: output ", i, " is stored in input ", alias,
          ": expected that pointer or null, got another"));
    }
  }
  HJX_ASSIGN_OR_RETURN(DeviceBuffer arena, takeArena());
  // Whoever takes the arena next asks the same device, so its work comes after this.
  pointers.push_back(arena.data());
  absl::Status status = enter(pointers);
  returnArena(std::move(arena));
  return status;
}
