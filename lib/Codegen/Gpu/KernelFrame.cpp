// SPDX-License-Identifier: Apache-2.0
//
// Addresses and digits: see the header.
#include "lib/Codegen/Gpu/KernelFrame.h"

#include "lib/Support/SizeBytes.h"

using namespace mlir;
using namespace hjx;

Value KernelFrame::takeDigit(Value &number, Value radix) {
  Value dividend = toI32(number), divisor = toI32(radix);
  auto toIndex = [&](Value x) { return arith::IndexCastUIOp::create(b, b.getIndexType(), x).getResult(); };
  Value digit = arith::RemUIOp::create(b, dividend, divisor);
  number = toIndex(arith::DivUIOp::create(b, dividend, divisor));
  return toIndex(digit);
}

Value KernelFrame::addressOf(Value buffer, unsigned space) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  Value first = add(base, mul(metadata.getOffset(), index(elementBytes(buffer.getType()))));
  auto pointer = [&](unsigned space) { return LLVM::LLVMPointerType::get(b.getContext(), space); };
  Value address = LLVM::IntToPtrOp::create(b, pointer(space == kShared ? kShared : 0), toI64(first));
  return space == kGlobal ? LLVM::AddrSpaceCastOp::create(b, pointer(kGlobal), address).getResult() : address;
}

Value KernelFrame::offset(Value address, Value bytes) {
  if (bytes.getType().isIndex())
    bytes = toI64(bytes);
  return LLVM::GEPOp::create(b, address.getType(), b.getI8Type(), address, ValueRange{bytes});
}

Value KernelFrame::offset(Value address, int64_t bytes) {
  return LLVM::GEPOp::create(b, address.getType(), b.getI8Type(), address,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}
