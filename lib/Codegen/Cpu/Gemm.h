// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on the CPU, generated: C = A * B or C += A * B with dynamic
// sizes and strides, compiled once per configuration (types and vector unit)
// and called for every shape and layout.
//
// How it works, for an AVX-512 machine and f32 (idea: Goto & van de Geijn 2008;
// Van Zee & van de Geijn 2015, "BLIS"):
//
//          columns of C, one panel = 32           a panel of B is copied once into contiguous
//        ┌────────┬────────┬────────┬──           memory (k-major, 32 wide), a block of A into
//     14 │ tile   │ tile   │ tile   │             panels (k-major, 14 high); the micro-kernel
//        ├────────┼────────┼────────┼──           keeps one 14x32 tile of C in 28 registers and
//     14 │ tile   │ ...                           does, for each k, 2 vector loads of B and 14
//     times
//        └────────┴──────                         "broadcast one element of A, 2 fused
//        multiply-adds".
//
// Copying ("packing") makes every load of the inner loop contiguous whatever the
// layout of A and B, so NN, NT, TN and TT run at one speed; edges are cut off
// when tiles are written, so nothing is read or written out of bounds.
//
// Numerics: k is cut into blocks of 256. Each block starts from zero registers and
// is added to C at its end, which keeps rounding errors as small as a BLAS has them.
// The block grid starts at k = 0 and every element of C is computed by the same
// sequence of operations wherever its tile lies, so the bits of the result do not
// depend on the number of threads or on how the work is split.
//
// Threads: per chunk (a slice of B that fits the outer caches) there are two parallel
// phases: pack B, then multiply. B is packed once and shared by all threads, because
// repeating it per thread costs 10% and more from 16 threads on; A is packed by the
// thread that uses it. The price is one barrier per phase.
#pragma once

#include "lib/Codegen/Structured/ProductTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <cstdint>
#include <string>

namespace hjx {

/// What the generator must know about the target's vector registers.
struct VectorUnit {
  unsigned bytes = 16;     ///< of one register
  unsigned registers = 16; ///< that the register allocator may use
  bool fma = false;        ///< fused multiply-add in one instruction
  bool operator==(const VectorUnit &) const = default;

  /// From LLVM's feature names ("avx512f", "avx2", "fma", "neon"): the widest usable unit.
  static VectorUnit fromFeatures(const llvm::StringMap<bool> &features);
  /// The machine this process runs on.
  static VectorUnit host();
};

/// One kernel is generated per distinct configuration.
struct GemmConfig : ProductTypes {
  VectorUnit vectorUnit = VectorUnit::host();
  /// Name of a C function `void f(int64_t parts, void (*body)(void *context, int64_t part), void
  /// *context)` that runs `body` for each part, concurrently or not, and then returns
  /// (hjx_rt_parallel_parts). Empty: the kernel runs all parts itself.
  std::string parallelFor;
};

/// Returns the kernel for `config` in `module`, generating it on first use.
///
/// Signature (all strides count elements; any value, also 0 and negative, is allowed for A and B):
///   func @hjx_gemm_...(
///     %a: !llvm.ptr, %a_batch0, %a_batch1, %a_row, %a_col: index,
///     %b: !llvm.ptr, %b_batch0, %b_batch1, %b_row, %b_col: index,
///     %c: !llvm.ptr, %c_batch0, %c_batch1, %c_row, %c_col: index,
///     %batch0, %batch1, %m, %n, %k: index,
///     %accumulate: i1,          // false: C = A * B; true: C += A * B
///     %workspace: !llvm.ptr,    // gemmWorkspaceBytes, 64-byte aligned; contents need not survive
///     %parts: index,            // how many ways the work may be split: usually the thread count
///     if a factor is scaled:
///     %s: !llvm.ptr, %s_batch0, %s_batch1, %s_side, %s_sum: index,
///     %side_group, %sum_group: index)  // so many rows of A or columns of B, and elements of k, share a scale
/// C must not overlap A or B. A size of 0 is fine: k = 0 gives C = 0 (or leaves C as it is).
/// `batch0` and `batch1` have their own strides so that attention heads inside [B,T,H,D]
/// tensors need no transposition: batch0 = B, batch1 = H.
/// Errors: an emitted diagnostic if the types of `config` do not go together.
llvm::FailureOr<mlir::func::FuncOp> getOrCreateGemmKernel(mlir::ModuleOp module,
                                                          const GemmConfig &config);

/// The name getOrCreateGemmKernel gives to the kernel of `config`.
std::string gemmKernelName(const GemmConfig &config);

/// Bytes of workspace that the kernel of `config` needs for `sizes` in up to `parts` parts.
int64_t gemmWorkspaceBytes(const GemmConfig &config, const ProductSizes &sizes, int64_t parts);

} // namespace hjx
