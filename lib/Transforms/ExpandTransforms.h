// SPDX-License-Identifier: Apache-2.0
//
// The driver that replaces requests (hjx.jvp, hjx.vjp, hjx.linearize, hjx.vmap)
// by calls of the functions that they stand for. It knows no verb: each verb
// offers a TransformExpander, and one file lists them (lib/Rules/AllRules.cpp).
//
// Innermost first: before a request in @g that names @f is expanded, all
// requests in @f are. A rule therefore only ever meets ordinary ops, and
// grad(vmap(grad f)) needs no case of its own:
//
//   @h: vjp @g     ->  1. expand vmap @f' in @g ... after 0. expand vjp @k in @f'
//   @g: vmap @f'       2. expand vjp @g in @h: @g is plain ops and calls by now
//   @f': vjp @k
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <memory>

namespace hjx {

class RuleRegistry;

/// Expands requests; lives for one run over a module and may remember the
/// functions that it made.
class TransformExpander {
public:
  virtual ~TransformExpander() = default;

  /// Replaces `request`, and ops that only serve it, by ops without requests.
  /// The functions that it names hold none any more.
  virtual mlir::LogicalResult expand(mlir::Operation *request) = 0;

  /// Called after the last request: erases functions that nothing names.
  virtual void finish() {}
};

/// Makes ordinary ops of requests and refs among what a user's rule emitted: the ops between `before`
/// (null: the start of the block) and `end`, and what they call. A rule is thereby written with any
/// function of arrays, and whoever asked for it still meets ordinary ops only. `values`, which the rule
/// returns, are what they are in the new ops; null ones stay null.
mlir::LogicalResult expandEmitted(mlir::Block &block, mlir::Operation *before, mlir::Block::iterator end,
                                  llvm::MutableArrayRef<mlir::Value> values);

/// The requests that one pass of their own expands (for tests of one verb).
struct TransformPass {
  llvm::StringRef name, summary, request;
};

/// One verb's offer to the driver.
struct TransformVerb {
  llvm::SmallVector<TransformPass> passes;
  std::function<std::unique_ptr<TransformExpander>(mlir::ModuleOp, const RuleRegistry &)> createExpander;
};

/// All verbs of the product; defined beside getRuleRegistry().
llvm::ArrayRef<TransformVerb> getTransformVerbs();

} // namespace hjx
