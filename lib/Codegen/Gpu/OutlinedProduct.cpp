// SPDX-License-Identifier: Apache-2.0
//
// Functions that are products: see the header.
#include "lib/Codegen/Gpu/OutlinedProduct.h"

#include "lib/Codegen/Gpu/Passes.h"
#include "lib/Codegen/Structured/Passes.h"
#include "lib/Support/SizeBytes.h"

#include <numeric>

using namespace mlir;
using namespace hjx;

FailureOr<std::optional<OutlinedProduct>> OutlinedProduct::match(func::FuncOp function, ArrayRef<BufferFacts> facts) {
  if (function.isExternal() || function->hasAttr(kRowsAttr) || !function.getOps<scf::ForOp>().empty())
    return std::optional<OutlinedProduct>();
  auto ops = llvm::to_vector(function.getOps<linalg::GenericOp>());
  std::optional<Product> product;
  unsigned position = 0;
  for (; position < std::min<size_t>(ops.size(), 2); ++position)
    if ((product = Product::match(ops[position])))
      break;
  if (!product)
    return std::optional<OutlinedProduct>();

  linalg::GenericOp op = ops[position];
  auto isKept = [](Value root) { return isa<BlockArgument>(root); };
  auto epilogue = ProductEpilogue::match(op, *product, /*accumulate=*/position == 0, ArrayRef(ops).drop_front(position + 1), isKept);
  if (!epilogue)
    return op.emitOpError("expected elementwise ops on the result of a matrix product behind it");
  OutlinedProduct outlined{std::move(*product), std::move(*epilogue), {}, {}};
  auto add = [&](Value buffer, int64_t offset) {
    unsigned argument = cast<BlockArgument>(buffer).getArgNumber();
    outlined.matrices.push_back({argument, offset});
    outlined.alignments.push_back(std::gcd(facts[argument].alignment, offset * elementBytes(buffer.getType())));
    outlined.isAlone &= facts[argument].isAlone;
  };
  add(op->getOperand(outlined.product.lhsOperand), outlined.product.lhsOffset);
  add(op->getOperand(outlined.product.rhsOperand), outlined.product.rhsOffset);
  if (outlined.product.types.isScaled())
    add(op->getOperand(outlined.product.scalesOperand), outlined.product.scalesOffset);
  for (const EpilogueBuffer &buffer : outlined.epilogue.buffers)
    add(buffer.buffer, buffer.offset);
  return std::optional(std::move(outlined));
}

FailureOr<MatmulPrecision> hjx::matmulPrecisionOf(ModuleOp module) {
  Attribute attribute = module->getAttr(kMatmulPrecisionAttr);
  auto text = dyn_cast_if_present<StringAttr>(attribute);
  if (!attribute || (text && text == "f32"))
    return MatmulPrecision::F32;
  if (text && text == "tf32")
    return MatmulPrecision::Tf32;
  return module.emitOpError("attribute '")
         << kMatmulPrecisionAttr << "': expected \"f32\" or \"tf32\", got " << attribute;
}
