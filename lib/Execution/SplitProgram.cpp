// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/SplitProgram.h"

#include "lib/Autodiff/Requests.h"
#include "lib/Execution/Compiler.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Execution/TextCache.h"
#include "lib/Refs/Discharge.h"
#include "lib/Transforms/DecomposeAttention.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace hjx {

static LogicalResult runPass(ModuleOp module, std::unique_ptr<Pass> pass) {
  PassManager pm(module.getContext());
  pm.addPass(std::move(pass));
  return pm.run(module);
}

/// Rules are for plain ops, custom rules and checkpoints.
static LogicalResult expandRequests(ModuleOp module) {
  ExpandTransformsOptions options;
  for (const TransformVerb &verb : getTransformVerbs())
    for (const TransformPass &pass : verb.passes)
      options.only.push_back(pass.request.str());
  return runPass(module, createExpandTransforms(options));
}

/// The text of a module that holds `function` and what it calls.
static FailureOr<std::string> textOf(func::FuncOp function) {
  OwningOpRef<ModuleOp> copy = function->getParentOfType<ModuleOp>().clone();
  for (auto other : copy->getOps<func::FuncOp>())
    other.setVisibility(other.getName() == function.getName() ? SymbolTable::Visibility::Public : SymbolTable::Visibility::Private);
  if (failed(runPass(*copy, createSymbolDCEPass())))
    return failure();
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os, OpPrintingFlags().assumeVerified().enableDebugInfo());
  return text;
}

static absl::StatusOr<std::shared_ptr<const SplitProgram>> split(const std::string &text, ArrayRef<bool> active, LinearUse use) {
  HJX_ASSIGN_OR_RETURN(Program program, parseProgram(text));
  auto result = std::make_shared<SplitProgram>();
  result->context = program.context;
  ModuleOp module = *program.module;
  {
    CollectedDiagnostics diagnostics(module.getContext());
    auto fail = [&] { return absl::InvalidArgumentError(diagnostics.text()); };
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (failed(runPass(module, createDecomposeAttention(nullptr))) || failed(expandRequests(module)) || failed(Discharger(module).dischargeOwn(main)))
      return fail();
    Autodiff engine(module, getRuleRegistry());
    FailureOr<LinearizedFunction> pair = use == LinearUse::Push ? engine.linearizeToPush(main, active) : engine.linearize(main, active);
    if (failed(pair))
      return fail();
    FailureOr<std::string> linear = textOf(pair->lin);
    if (failed(linear))
      return fail();
    unsigned numResults = main.getNumResults();
    result->linear = std::move(*linear);
    result->residuals = pair->residuals;
    result->hasTangent = ofDifferentiable(pair->fwd.getResultTypes().take_front(numResults), pair->hasTangent);
    result->furtherTypes.assign(pair->fwd.getResultTypes().begin() + numResults, pair->fwd.getResultTypes().end());
    pair->lin.erase();
    main.erase();
    pair->fwd.setName("main");
    pair->fwd.setPublic();
    if (failed(runPass(module, createSymbolDCEPass()))) // What lin called may be such that nobody can evaluate it.
      return fail();
  }
  result->forward = std::make_shared<PlacedProgram>(std::move(program));
  return result;
}

absl::StatusOr<std::shared_ptr<const SplitProgram>> findOrSplit(const std::string &text, ArrayRef<bool> active, LinearUse use) {
  static TextCache<SplitProgram> cache;
  return cache.find(maskName(active) + (use == LinearUse::Push ? ".push" : ".pull") + text, [&] { return split(text, active, use); });
}

} // namespace hjx
