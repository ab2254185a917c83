// SPDX-License-Identifier: Apache-2.0
//
// LLVM's libraries register hundreds of options for every program that links them. They still
// work, and --help-hidden lists them; --help is for the program's own.
#pragma once

#include "llvm/Support/CommandLine.h"

namespace hjx {

/// Takes the options that are registered so far out of --help; those of subcommands stay.
inline void hideLibraryOptions() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name != "help" && name != "version" && option->getOptionHiddenFlag() == llvm::cl::NotHidden)
      option->setHiddenFlag(llvm::cl::Hidden);
}

} // namespace hjx
