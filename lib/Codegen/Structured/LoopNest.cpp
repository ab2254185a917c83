// SPDX-License-Identifier: Apache-2.0
//
// Addresses as linear functions of loop variables: see the header.
#include "lib/Codegen/Structured/LoopNest.h"

#include "lib/Support/SizeBytes.h"

using namespace mlir;
using namespace hjx;

/// Adds `scale * expr` to the linear function (strides, offset) over dimensions; false if `expr`
/// is not linear.
static bool addLinear(AffineExpr expr, int64_t scale, MutableArrayRef<int64_t> strides,
                      int64_t &offset) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    strides[dim.getPosition()] += scale;
    return true;
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    offset += scale * constant.getValue();
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), scale, strides, offset) &&
           addLinear(binary.getRHS(), scale, strides, offset);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && factor &&
         addLinear(binary.getLHS(), scale * factor.getValue(), strides, offset);
}

FailureOr<LoopNest> LoopNest::get(linalg::GenericOp op) {
  LoopNest nest;
  nest.op = op;
  unsigned numDims = op.getNumLoops();
  nest.loopOfDim.assign(numDims, -1);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (llvm::any_of(sizes, ShapedType::isDynamic))
    return failure();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (unsigned dim = 0; dim < numDims; ++dim) {
    if (sizes[dim] == 1)
      continue;
    nest.loopOfDim[dim] = nest.loops.size();
    nest.loops.push_back({sizes[dim], kinds[dim] == utils::IteratorType::reduction});
  }
  for (OpOperand &operand : op->getOpOperands()) {
    Access access;
    access.operand = operand.get();
    access.strides.assign(nest.loops.size(), 0);
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    access.byValue = !type;
    if (type) {
      SmallVector<int64_t> bufferStrides, dimStrides(numDims, 0);
      int64_t bufferOffset;
      if (failed(type.getStridesAndOffset(bufferStrides, bufferOffset)) ||
          llvm::any_of(bufferStrides, ShapedType::isDynamic))
        return failure();
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [expr, stride] : llvm::zip(map.getResults(), bufferStrides))
        if (!addLinear(expr, stride, dimStrides, access.offset))
          return failure();
      for (unsigned dim = 0; dim < numDims; ++dim)
        if (nest.loopOfDim[dim] >= 0)
          access.strides[nest.loopOfDim[dim]] = dimStrides[dim];
    }
    nest.accesses.push_back(std::move(access));
  }
  return nest;
}

SmallVector<Value> LoopNest::ivsOfRows(ArrayRef<Value> rowIvs) const {
  return llvm::map_to_vector(loops, [&](const Loop &loop) {
    return loop.row >= 0 ? rowIvs[loop.row] : Value();
  });
}

bool LoopNest::canCollapse(unsigned outer, unsigned inner) const {
  if (loops[outer].isReduction != loops[inner].isReduction)
    return false;
  return llvm::all_of(accesses, [&](const Access &access) {
    return access.strides[outer] == loops[inner].size * access.strides[inner];
  });
}

void LoopNest::collapse(unsigned outer, unsigned inner) {
  loops[inner].size *= loops[outer].size;
  loops.erase(loops.begin() + outer);
  for (Access &access : accesses)
    access.strides.erase(access.strides.begin() + outer);
  for (int &loop : loopOfDim) {
    if (loop == static_cast<int>(outer) || loop == static_cast<int>(inner))
      loop = -1;
    else if (loop > static_cast<int>(outer))
      --loop;
  }
}

void LoopNest::collapseAll(llvm::function_ref<bool(unsigned outer, unsigned inner)> join) {
  llvm::SmallDenseSet<unsigned> indexed; // Dimensions whose index the body asks for.
  op.getBody()->walk([&](linalg::IndexOp index) { indexed.insert(index.getDim()); });
  auto isIndexed = [&](unsigned loop) {
    return llvm::any_of(indexed, [&](unsigned dim) {
      return loopOfDim[dim] == static_cast<int>(loop);
    });
  };
  auto mayCollapse = [&](unsigned loop) { return loops[loop].row < 0 && !isIndexed(loop); };
  bool changed = true;
  while (changed) {
    changed = false;
    for (unsigned outer = 0; outer < loops.size() && !changed; ++outer)
      for (unsigned inner = 0; inner < loops.size() && !changed; ++inner)
        if (outer != inner && mayCollapse(outer) && mayCollapse(inner) &&
            canCollapse(outer, inner) && (!join || join(outer, inner))) {
          collapse(outer, inner);
          changed = true;
        }
  }
}

double hjx::estimatedIterationNs(const LoopNest &nest) {
  double ns = 0.02;
  for (const Access &access : nest.accesses)
    if (auto type = dyn_cast<MemRefType>(access.operand.getType());
        type && llvm::any_of(access.strides, [](int64_t stride) { return stride != 0; }))
      ns += 0.02 * static_cast<double>(elementBytes(type));
  for (Operation &op : nest.op.getBody()->without_terminator()) {
    if (isa<math::ExpOp, math::TanhOp, math::LogOp, math::ErfOp, math::PowFOp, math::SinOp,
            math::CosOp, math::Log1pOp, math::ExpM1Op>(op))
      ns += 0.8;
    else if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
                 math::SqrtOp, math::RsqrtOp>(op))
      ns += 0.2;
    else if (isa<memref::LoadOp>(op) || op.getNumRegions() > 0)
      ns += 1.0;
    else
      ns += 0.03;
  }
  return ns;
}
