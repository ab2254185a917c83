// SPDX-License-Identifier: Apache-2.0
#include "tools/HiPlugins.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;

static void load(const std::string &path) {
  std::string message;
  if (!sys::DynamicLibrary::LoadLibraryPermanently(path.c_str(), &message))
    return;
  errs() << "error: cannot load the plugin: " << message
         << "\n  help: compile it as a shared object against the headers of this version of hjx, and link nothing of hjx\n";
  std::exit(1);
}

void hjx::registerHiPluginOption() {
  static cl::list<std::string> plugins("load-hjx-plugin", cl::desc("Load hi-types and primitives from a shared object"),
                                       cl::value_desc("file"), cl::sub(cl::SubCommand::getAll()), cl::cb<void, std::string>(load));
}
