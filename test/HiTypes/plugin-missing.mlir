// A plugin that cannot be loaded, and text that needs one.
// RUN: not hjx-opt --load-hjx-plugin=%t.none.so %s 2>&1 | FileCheck %s
// RUN: not hjx-run call --load-hjx-plugin=%t.none.so %s 2>&1 | FileCheck %s
// RUN: not hjx-opt %s 2>&1 | FileCheck %s --check-prefix=BARE
// CHECK: error: cannot load the plugin:
// CHECK: help: compile it as a shared object against the headers of this version of hjx, and link nothing of hjx
// BARE: error: unknown type !hjx.q8; known hi-types: low_rank, optional, quantized, tuple (a plugin adds others: --load-hjx-plugin)
func.func private @f(!hjx.q8<2x3>)
