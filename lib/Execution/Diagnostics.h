// SPDX-License-Identifier: Apache-2.0
//
// The bridge from the compiler's diagnostics to a status, and from its remarks to whoever runs the program.
#pragma once

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace hjx {

/// Says on standard error what makes a program slow or large, with its place. Functions that are compiled one by
/// one, or again, have the same remarks: each is told once.
void tellOnce(const mlir::Diagnostic &remark);

/// Collects the errors of a context while it lives, each with its location, instead of printing them; tells remarks.
class CollectedDiagnostics {
public:
  explicit CollectedDiagnostics(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark) {
            tellOnce(diagnostic);
            return mlir::success();
          }
          if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
            return mlir::failure();
          llvm::raw_string_ostream os(messages);
          os << (messages.empty() ? "" : "\n") << diagnostic.getLocation() << ": " << diagnostic;
          return mlir::success();
        }) {}

  /// Some helpers report an error and go on with any value; whatever ran them has failed.
  bool hasErrors() const { return !messages.empty(); }
  std::string text() const { return messages.empty() ? "failed without a diagnostic" : messages; }

private:
  std::string messages;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace hjx
