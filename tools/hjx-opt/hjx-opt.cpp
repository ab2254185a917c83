// SPDX-License-Identifier: Apache-2.0
//
// hjx-opt: runs hjx's passes and pipelines on textual IR.
#include "lib/Pipelines/Register.h"
#include "lib/Rules/Registry.h"
#include "tools/HiPlugins.h"
#include "tools/Options.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  hjx::registerAllDialects(registry);
  hjx::registerAllPasses();

  hjx::hideLibraryOptions();
  hjx::registerHiPluginOption();
  // Answered before MLIR's option parsing: it reads no input.
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]) == "--hjx-support-grid") {
      mlir::MLIRContext context(registry);
      context.loadAllAvailableDialects();
      hjx::getRuleRegistry().printSupportGrid(llvm::outs(), &context);
      return 0;
    }
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "hjx's optimizer driver\n  --hjx-support-grid prints the table of ops and rules\n", registry));
}
