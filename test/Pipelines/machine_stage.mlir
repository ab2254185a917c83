// RUN: hjx-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(hjx-verify-stage{stage=machine})'
// The machine stage: the LLVM dialect, and an entry.

// expected-error@+1 {{expected @hjx_entry with 'hjx.memory_plan' at the machine stage}}
module {
  llvm.func @main() { llvm.return }
}

// -----

module {
  // expected-error@+1 {{is not allowed at the machine stage: expected ops of llvm and nvvm only}}
  func.func @main() { return }
}

// -----

module attributes {hjx.signature = {arguments = [], results = [{}], type = () -> tensor<2xf32>}} {
  llvm.func @hjx_entry(%buffers: !llvm.ptr, %arena: !llvm.ptr) attributes {hjx.memory_plan = {}} { llvm.return }
}
