// SPDX-License-Identifier: Apache-2.0
//
// Registration: the passes of this folder, and for each request one that expands
// it alone (hjx-jvp, hjx-vmap, ...).
#include "lib/Transforms/ExpandTransforms.h"
#include "lib/Transforms/Passes.h"

using namespace mlir;

namespace hjx {

#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Passes.h.inc"

void registerTransformsPasses() {
  registerHjxTransformsPasses();
  for (const TransformVerb &verb : getTransformVerbs())
    for (const TransformPass &pass : verb.passes)
      // The registration's work is done by its constructor.
      PassPipelineRegistration<>(pass.name, pass.summary, [request = pass.request.str()](OpPassManager &pm) {
        ExpandTransformsOptions options;
        options.only.push_back(request);
        pm.addPass(createExpandTransforms(options));
      });
}

} // namespace hjx
