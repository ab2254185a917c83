// SPDX-License-Identifier: Apache-2.0
//
// hjx-lsp-server: errors, definitions and hovers for hjx's IR in editors that speak the language
// server protocol.
#include "lib/Pipelines/Register.h"
#include "tools/HiPlugins.h"
#include "tools/Options.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  hjx::registerAllDialects(registry);
  hjx::hideLibraryOptions();
  hjx::registerHiPluginOption();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
