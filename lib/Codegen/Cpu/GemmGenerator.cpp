// SPDX-License-Identifier: Apache-2.0
//
// See GemmGenerator.h: contexts, parts and parallel loops.
#include "lib/Codegen/Cpu/GemmGenerator.h"

using namespace mlir;
namespace hjx::gemm {

static bool isPointer(unsigned slot) {
  return slot == A || slot == B || slot == C || slot == Workspace || slot == Private || slot == Scales;
}

Value Context::element(Slot matrix, Type type, Int i, Int j) const {
  Slot row = matrix == A ? ARow : matrix == B ? BRow : CRow;
  Slot col = matrix == A ? ACol : matrix == B ? BCol : CCol;
  return e->at((*this)[matrix], type, i * (*this)[row] + j * (*this)[col]);
}

Context Context::load(Emitter &e, Value address) {
  Context context{{}, &e};
  for (unsigned slot = 0; slot < NumSlots; ++slot)
    context.slots[slot] = e.load(isPointer(slot) ? e.ptr() : e.i64(), e.at(address, e.i64(), slot));
  return context;
}

void Context::store(Value address) const {
  for (auto [slot, value] : llvm::enumerate(slots))
    if (value)
      e->store(value, e->at(address, e->i64(), static_cast<int64_t>(slot)));
}

Value Context::allocate(Emitter &e) {
  return LLVM::AllocaOp::create(e, e.ptr(), e.i64(), e.constant(NumSlots), /*alignment=*/8);
}

void Generator::forBlocks(Int begin, Int end, int64_t limit, function_ref<void(Int, Int)> body) {
  Int total = end - begin, blocks = ceilDiv(total, limit);
  e.loop(e.constant(0), blocks, 1, [&](Int block) {
    auto [first, last] = share(total, block, blocks);
    body(begin + first, begin + last);
  });
}

// The grid of parts, down * across, that makes the largest rectangle cheapest. A rectangle of
// r x c tiles costs r * (c + 1/2): packing a row of A takes as long as half a tile of products.
Generator::Rectangle Generator::rectangleOf(Int rowTiles, Int colTiles, Int part, Int parts) {
  Int infinite = e.constant(std::numeric_limits<int64_t>::max());
  Int zero = e.constant(0), one = e.constant(1);
  auto everything = [&]() -> Emitter::Carried { return {zero, rowTiles, zero, colTiles}; };
  auto oneOfMany = [&]() -> Emitter::Carried {
    Emitter::Carried best =
        e.loop(one, parts + 1, 1, ValueRange{infinite, one},
               [&](Int down, ValueRange soFar) -> Emitter::Carried {
                 Int cost = ceilDiv(rowTiles, down) * (ceilDiv(colTiles, parts / down) * 2 + 1);
                 Int bestCost = e.wrap(soFar[0]), bestDown = e.wrap(soFar[1]);
                 Value better = e.both(e.equal(parts % down, 0),
                                       e.compare(arith::CmpIPredicate::sle, cost, bestCost));
                 return {e.select(better, cost, bestCost), e.select(better, down, bestDown)};
               });
    Int down = e.wrap(best[1]), across = parts / down;
    auto [rowBegin, rowEnd] = share(rowTiles, part / across, down);
    auto [colBegin, colEnd] = share(colTiles, part % across, across);
    return {rowBegin, rowEnd, colBegin, colEnd};
  };
  Emitter::Carried bounds = e.choose(e.equal(parts, 1), everything, oneOfMany);
  return {e.wrap(bounds[0]), e.wrap(bounds[1]), e.wrap(bounds[2]), e.wrap(bounds[3])};
}

Generator::Function Generator::parallelBody(StringRef suffix,
                                            function_ref<void(Context, Int, Value)> body) {
  return e.function(module, name + suffix.str(), {e.ptr(), e.i64()}, [&](ValueRange args) {
    Value spare = Context::allocate(e);
    body(Context::load(e, args[0]), e.wrap(args[1]), spare);
  });
}

void Generator::parallel(Function body, Value context, Int parts) {
  auto here = [&] {
    e.loop(e.constant(0), parts, 1, [&](Int part) { e.call(body, {context, part}); });
  };
  if (config.parallelFor.empty())
    return here();
  auto pool = module.lookupSymbol<Function>(config.parallelFor);
  if (!pool) {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(e.getContext()),
                                            {e.i64(), e.ptr(), e.ptr()});
    pool = Function::create(e, config.parallelFor, type);
  }
  auto onPool = [&] { e.call(pool, {parts, LLVM::AddressOfOp::create(e, body), context}); };
  // One part needs no pool.
  e.branch(e.equal(parts, 1), here, onPool);
}

} // namespace hjx::gemm
