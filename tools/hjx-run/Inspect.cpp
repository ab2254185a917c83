// SPDX-License-Identifier: Apache-2.0
//
// hjx-run inspect GRAPH: what the graph holds, what it costs, and where its memory goes, before
// anything runs. For a GPU also how it is launched and what its kernels move, which needs no GPU.
#include "tools/hjx-run/Commands.h"
#include "tools/hjx-run/GraphProgram.h"

#include "lib/Data/Status.h"
#include "lib/Execution/GpuExecutable.h"

#include "absl/strings/str_format.h"

#include <cstdio>

namespace hjx {
namespace {

namespace cl = llvm::cl;

class InspectCommand : public Command {
public:
  InspectCommand() : Command("inspect", "Print a graph's state, functions and memory plan") {}
  absl::Status run() override;

private:
  void describe(const TrainingGraph &graph) const;
  absl::Status inspectOnGpu(const TrainingGraph &graph, const std::string &chip) const;

  cl::opt<std::string> graph_{cl::Positional, cl::Required, cl::desc("GRAPH"), cl::sub(flags)};
  StageFlags stages_{flags};
  cl::opt<bool> memoryPlan_{"memory-plan", cl::desc("print every buffer of every function"), cl::sub(flags)};
  cl::opt<bool> kernels_{"kernels", cl::desc("for a GPU, print the launches and bytes of every kernel"), cl::sub(flags)};
};

std::string printBytes(int64_t bytes) { return formatCount(static_cast<double>(bytes)) + "B"; }

std::string printLaunching(const GpuPlan &plan) {
  return plan.numReads == 0 ? "as one graph" : absl::StrFormat("one by one: reads the device in %d places", plan.numReads);
}

/// Code is only generated where somebody wants to see it.
absl::StatusOr<GpuPlan> planOf(mlir::ModuleOp module, const GpuOptions &options) {
  if (options.dumpDir.empty())
    return GpuPlan::of(module, options);
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<GpuProgram> program, GpuProgram::compile(module, options));
  return program->plan();
}

absl::Status InspectCommand::run() {
  HJX_ASSIGN_OR_RETURN(TrainingGraph graph, stages_.load(graph_));
  if (stages_.stops())
    return stages_.lower(graph, {"init", "step", "eval", "logits", "convert"});
  HJX_ASSIGN_OR_RETURN(Target target, stages_.target());
  if (kernels_ && target.kind == Target::Kind::Cpu)
    return badInput("--kernels", "a GPU with it", "--target=cpu", "name ptx:sm_80, say: nothing runs; the processor's are in --profile");
  if (target.kind == Target::Kind::Ptx)
    return inspectOnGpu(graph, target.chip);
  GraphProgramOptions options;
  options.dumpDir = stages_.dumpDir();
  options.reserve = false; // The plan of a program that does not fit is what one wants to see.
  HJX_ASSIGN_OR_RETURN(options.device, stages_.openDevice(graph.modules().front()));
  if (target.kind == Target::Kind::Cuda) {
    HJX_ASSIGN_OR_RETURN(std::string chip, chipFor(options.device->info()));
    return inspectOnGpu(graph, chip);
  }
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<GraphProgram> program, GraphProgram::create(graph, options));
  describe(graph);
  std::printf("%s", program->describeFunctions().c_str());
  if (memoryPlan_)
    std::printf("%s", program->memoryPlans().c_str());
  return absl::OkStatus();
}

void InspectCommand::describe(const TrainingGraph &graph) const {
  for (const GraphValue &value : graph.state())
    std::printf("%-40s %s\n", value.name.c_str(), describeTensor(value.type, value.shape).c_str());
  std::printf("%s\n", describeState(graph).c_str());
  if (graph.step || graph.eval) {
    GraphBatch batch = batchOf(graph.step ? *graph.step : *graph.eval);
    std::printf("batch: %lld x %lld windows of %lld tokens, ", static_cast<long long>(batch.accumulation),
                static_cast<long long>(batch.rows), static_cast<long long>(batch.context));
  }
  std::printf("vocabulary %lld, tokenizer %s\n", static_cast<long long>(graph.vocabulary), graph.tokenizer.c_str());
  if (graph.convert)
    std::printf("convert makes the state from %zu tensors of another graph's checkpoint\n", graph.convert->arguments.size());
}

absl::Status InspectCommand::inspectOnGpu(const TrainingGraph &graph, const std::string &chip) const {
  describe(graph);
  std::string table = "function   launches     moved   minimum          arena  launched\n", details;
  for (std::string name : {"init", "step", "eval", "logits"}) {
    if (!graph.find(name))
      continue;
    GpuOptions options;
    options.chip = chip;
    options.startFrom = graph.stage;
    options.dumpDir = stages_.dumpDir(name);
    HJX_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> module, graph.program(name));
    absl::StatusOr<GpuPlan> plan = planOf(*module, options);
    if (!plan.ok())
      return absl::Status(plan.status().code(), absl::StrCat(name, ": ", std::string(plan.status().message())));
    const MemoryPlan &memory = plan->interface.plan;
    absl::StrAppendFormat(&table, "%-10s ", name);
    if (const std::optional<ProgramCost> &cost = plan->cost) {
      double ratio = static_cast<double>(cost->movedBytes) / static_cast<double>(std::max<int64_t>(cost->minimumBytes, 1));
      absl::StrAppendFormat(&table, "%8d %9s %9s %5.2fx ", cost->launches, printBytes(cost->movedBytes),
                            printBytes(cost->minimumBytes), ratio);
      if (kernels_)
        absl::StrAppendFormat(&details, "launches      moved  kernel of %s\n", name);
      for (const KernelCost &kernel : kernels_ ? cost->kernels : std::vector<KernelCost>())
        absl::StrAppendFormat(&details, "%8d %10s  %s%s\n", kernel.launches, printBytes(kernel.bytes), kernel.name,
                              kernel.isProduct ? " (product)" : "");
    } else {
      absl::StrAppendFormat(&table, "%8s %9s %9s %6s ", "?", "?", "?", "?"); // the machine stage knows kernels by number
    }
    absl::StrAppendFormat(&table, "%8.2f MiB  %s\n", static_cast<double>(memory.sizeBytes) / 0x1p20, printLaunching(*plan));
    if (memoryPlan_) {
      llvm::raw_string_ostream os(details);
      os << name << ":\n";
      memory.print(os);
    }
  }
  std::printf("%s%s", table.c_str(), details.c_str());
  return absl::OkStatus();
}

} // namespace

std::unique_ptr<Command> makeInspectCommand() { return std::make_unique<InspectCommand>(); }

} // namespace hjx
