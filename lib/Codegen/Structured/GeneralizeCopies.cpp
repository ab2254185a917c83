// SPDX-License-Identifier: Apache-2.0
//
// memref.copy to linalg.generic. A copy then is a kernel like any other, vectorised
// and parallel, where upstream would call a runtime function that walks strides.
#include "lib/Codegen/Structured/Passes.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_GENERALIZECOPIES
#include "lib/Codegen/Structured/Passes.h.inc"

namespace {

void copyToGeneric(memref::CopyOp copy) {
  ImplicitLocOpBuilder b(copy.getLoc(), copy);
  unsigned rank = cast<MemRefType>(copy.getTarget().getType()).getRank();
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> parallel(rank, utils::IteratorType::parallel);
  linalg::GenericOp::create(b, ValueRange{copy.getSource()}, ValueRange{copy.getTarget()},
                            ArrayRef<AffineMap>{identity, identity}, parallel,
                            [](OpBuilder &nested, Location loc, ValueRange args) {
                              linalg::YieldOp::create(nested, loc, args[0]);
                            });
  copy.erase();
}

struct GeneralizeCopies : impl::GeneralizeCopiesBase<GeneralizeCopies> {
  void runOnOperation() override {
    getOperation()->walk([](memref::CopyOp copy) { copyToGeneric(copy); });
  }
};

} // namespace
} // namespace hjx
