// SPDX-License-Identifier: Apache-2.0
//
// The list of dialects and passes; one line each, in alphabetical order.
#include "lib/Pipelines/Register.h"

#include "dialects/check/Check.h"
#include "dialects/hjx/Hjx.h"
#include "lib/Codegen/Cpu/Passes.h"
#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Math/ExpandMath.h"
#include "lib/Codegen/Structured/Passes.h"
#include "lib/HiTypes/Passes.h"
#include "lib/Interpreter/Passes.h"
#include "lib/Lowering/Passes.h"
#include "lib/Pipelines/Pipelines.h"
#include "lib/Pipelines/Stages.h"
#include "lib/Refs/Passes.h"
#include "lib/Target/Passes.h"
#include "lib/Target/Ptx/Ptx.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Transforms/Passes.h"

void hjx::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<hjx::check::CheckDialect>();
  registry.insert<hjx::ir::HjxDialect>();
  registry.insert<mlir::arith::ArithDialect>();
  registry.insert<mlir::bufferization::BufferizationDialect>();
  registry.insert<mlir::func::FuncDialect>();
  registry.insert<mlir::linalg::LinalgDialect>();
  registry.insert<mlir::math::MathDialect>();
  registry.insert<mlir::memref::MemRefDialect>();
  registry.insert<mlir::scf::SCFDialect>();
  registry.insert<mlir::tensor::TensorDialect>();
  registry.insert<mlir::vector::VectorDialect>();
  mlir::func::registerInlinerExtension(registry);
  registerStructuredCodegenDialects(registry);
  registerGpuCodegenDialects(registry);
  registerPtxDialects(registry);
  registerTargetDialects(registry);
}

void hjx::registerAllPasses() {
  registerGpuCodegenPasses();
  registerHjxCpuCodegenPasses();
  registerHjxMathCodegenPasses();
  registerHjxTargetPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  registerHiTypesPasses();
  registerInterpreterPasses();
  registerHjxLoweringPasses();
  registerHjxStructuredCodegenPasses();
  registerPipelines();
  registerPtxPasses();
  registerRefsPasses();
  mlir::registerSymbolDCEPass();
  registerTransformsPasses();
  registerVerifyStagePass();
}
