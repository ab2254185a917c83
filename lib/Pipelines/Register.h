// SPDX-License-Identifier: Apache-2.0
//
// Everything the tools know: dialects, passes, pipelines.
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace hjx {

/// The dialects that hjx's IR may hold at any stage, with the interfaces its
/// passes need.
void registerAllDialects(mlir::DialectRegistry &registry);

/// All passes and pipelines of hjx, and the upstream passes useful beside them.
void registerAllPasses();

} // namespace hjx
