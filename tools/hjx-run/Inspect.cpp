// SPDX-License-Identifier: Apache-2.0
//
// hjx-run inspect GRAPH: what the graph holds, what it costs, and where its memory goes, before
// anything runs.
#include "tools/hjx-run/Commands.h"
#include "tools/hjx-run/GraphProgram.h"

#include <cstdio>

namespace hjx {
namespace {

namespace cl = llvm::cl;

class InspectCommand : public Command {
public:
  InspectCommand() : Command("inspect", "Print a graph's state, functions and memory plan") {}
  absl::Status run() override;

private:
  cl::opt<std::string> graph_{cl::Positional, cl::Required, cl::desc("GRAPH"), cl::sub(flags)};
  StageFlags stages_{flags};
  cl::opt<bool> memoryPlan_{"memory-plan", cl::desc("print every buffer of every function"), cl::sub(flags)};
};

absl::Status InspectCommand::run() {
  HJX_ASSIGN_OR_RETURN(TrainingGraph graph, stages_.load(graph_));
  if (stages_.stops())
    return stages_.lower(graph, {"init", "step", "eval", "logits", "convert"});
  GraphProgramOptions options;
  options.dumpDir = stages_.dumpDir();
  options.reserve = false; // The plan of a program that does not fit is what one wants to see.
  HJX_ASSIGN_OR_RETURN(options.device, stages_.openDevice(graph.modules().front()));
  HJX_ASSIGN_OR_RETURN(std::unique_ptr<GraphProgram> program, GraphProgram::create(graph, options));
  for (const GraphValue &value : graph.state())
    std::printf("%-40s %s\n", value.name.c_str(), describeTensor(value.type, value.shape).c_str());
  std::printf("%s\n", describeState(graph).c_str());
  if (graph.step || graph.eval) {
    GraphBatch batch = batchOf(graph.step ? *graph.step : *graph.eval);
    std::printf("batch: %lld x %lld windows of %lld tokens, ", static_cast<long long>(batch.accumulation),
                static_cast<long long>(batch.rows), static_cast<long long>(batch.context));
  }
  std::printf("vocabulary %lld, tokenizer %s\n", static_cast<long long>(graph.vocabulary), graph.tokenizer.c_str());
  std::printf("%s", program->describeFunctions().c_str());
  if (memoryPlan_)
    std::printf("%s", program->memoryPlans().c_str());
  return absl::OkStatus();
}

} // namespace

std::unique_ptr<Command> makeInspectCommand() { return std::make_unique<InspectCommand>(); }

} // namespace hjx
