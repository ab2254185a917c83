// SPDX-License-Identifier: Apache-2.0
//
// Refs: effects, the text of an index, and verifiers.
#include "dialects/hjx/Effects.h"
#include "dialects/hjx/Hjx.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace hjx::ir;

void hjx::ir::addRefEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RefType>(operand.get().getType())) {
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
}

bool hjx::ir::takesRef(Operation *op) { return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RefType>); }

Type hjx::ir::heldType(Type type) {
  auto ref = dyn_cast<RefType>(type);
  return ref ? ref.getValueType() : type;
}

bool hjx::ir::isRemovable(Operation *op) { return isPure(op) || (isa<func::CallOp>(op) && !takesRef(op)); }

LogicalResult RefType::verify(EmitError emitError, Type valueType) {
  auto array = dyn_cast<RankedTensorType>(valueType);
  if ((array && array.hasStaticShape()) || isa<HiType>(valueType))
    return success();
  return emitError() << "a ref holds an array of static shape or a value of a hi-type, not " << valueType
                     << (isa<RefType>(valueType) ? "; refs do not nest" : "");
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// start:stop:step, ":" for all; the stop of a static slice is its last element plus one.
static ParseResult parseSliceTail(OpAsmParser &parser, int64_t start, int64_t &size, int64_t &stride) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t stop;
  if (parser.parseInteger(stop))
    return failure();
  if (succeeded(parser.parseOptionalColon()) && parser.parseInteger(stride))
    return failure();
  if (start < 0 || stop < start || stride <= 0)
    return parser.emitError(loc, "expected 0 <= start <= stop and a step of at least 1");
  size = (stop - start + stride - 1) / stride;
  return success();
}

static ParseResult parseEntry(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &indices,
                              SmallVectorImpl<int64_t> &starts, SmallVectorImpl<int64_t> &sizes,
                              SmallVectorImpl<int64_t> &strides) {
  int64_t start = 0, size = RefIndex::kDropped, stride = 1;
  OpAsmParser::UnresolvedOperand operand;
  if (succeeded(parser.parseOptionalColon())) {
    size = RefIndex::kAll;
  } else if (OptionalParseResult parsed = parser.parseOptionalOperand(operand); parsed.has_value()) {
    if (failed(*parsed))
      return failure();
    indices.push_back(operand);
    start = RefIndex::kDynamic;
    if (succeeded(parser.parseOptionalPlus()) && (parser.parseColon() || parser.parseInteger(size)))
      return failure();
  } else if (parser.parseInteger(start) ||
             (succeeded(parser.parseOptionalColon()) && parseSliceTail(parser, start, size, stride))) {
    return failure();
  }
  starts.push_back(start);
  sizes.push_back(size);
  strides.push_back(stride);
  return success();
}

static ParseResult parseRefIndex(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &indices,
                                 DenseI64ArrayAttr &starts, DenseI64ArrayAttr &sizes, DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> startList, sizeList, strideList;
  if (succeeded(parser.parseOptionalLSquare()))
    if (parser.parseCommaSeparatedList([&] { return parseEntry(parser, indices, startList, sizeList, strideList); }) ||
        parser.parseRSquare())
      return failure();
  Builder &b = parser.getBuilder();
  starts = b.getDenseI64ArrayAttr(startList);
  sizes = b.getDenseI64ArrayAttr(sizeList);
  strides = b.getDenseI64ArrayAttr(strideList);
  return success();
}

static void printRefIndex(OpAsmPrinter &printer, Operation *, OperandRange indices, DenseI64ArrayAttr starts,
                          DenseI64ArrayAttr sizes, DenseI64ArrayAttr strides) {
  if (starts.empty())
    return;
  printer << '[';
  for (auto [d, start] : llvm::enumerate(starts.asArrayRef())) {
    if (d)
      printer << ", ";
    int64_t size = sizes[d], stride = strides[d];
    if (start == RefIndex::kDynamic) {
      printer << indices.front();
      indices = indices.drop_front();
      if (size != RefIndex::kDropped)
        printer << " +: " << size;
    } else if (size == RefIndex::kAll) {
      printer << ':';
    } else {
      printer << start;
      if (size != RefIndex::kDropped)
        printer << ':' << start + (size ? (size - 1) * stride + 1 : 0);
      if (size != RefIndex::kDropped && stride != 1)
        printer << ':' << stride;
    }
  }
  printer << ']';
}

#define GET_OP_CLASSES
#include "dialects/hjx/Refs.cpp.inc"

void HjxDialect::registerRefOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/hjx/Refs.cpp.inc"
      >();
}

FailureOr<Type> RefIndex::partOf(Type type, EmitError emitError) const {
  if (isWhole())
    return indices.empty() ? FailureOr<Type>(type) : emitError() << "(C1) an index without entries has no operands";
  if (auto hi = dyn_cast<HiType>(type)) {
    auto shape = hi.getDef()->indexShape(hi, emitError);
    if (failed(shape))
      return failure();
    auto part = partOf(RankedTensorType::get(*shape, IntegerType::get(type.getContext(), 1)), emitError);
    return failed(part) ? FailureOr<Type>() : hi.getDef()->partType(hi, cast<RankedTensorType>(*part).getShape(), emitError);
  }
  auto array = cast<RankedTensorType>(type);
  int64_t rank = array.getRank();
  if (static_cast<int64_t>(starts.size()) != rank || sizes.size() != starts.size() || strides.size() != starts.size())
    return emitError() << "(C1) expected an index with one entry for each dimension of " << array << ", got " << starts.size();
  if (llvm::count(starts, kDynamic) != static_cast<int64_t>(indices.size()))
    return emitError() << "(C1) expected one operand for each entry that is not static, " << llvm::count(starts, kDynamic)
                       << ", got " << indices.size();

  SmallVector<int64_t> shape;                       // of the part, gathered dimensions left out
  std::optional<ArrayRef<int64_t>> gathered;        // the shape of integer arrays
  int64_t firstDropped = -1, lastDropped = -1, numDropped = 0, place = 0;
  ValueRange operands = indices;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t dim = array.getDimSize(d), size = sizes[d];
    if (starts[d] == kDynamic) {
      auto index = cast<RankedTensorType>(operands.front().getType());
      operands = operands.drop_front();
      if (size != kDropped && index.getRank() != 0)
        return emitError() << "(C1) expected a scalar as start of a slice, got " << index;
      if (size != kDropped && (size < 0 || size > dim || strides[d] != 1))
        return emitError() << "(C1) a slice of " << size << " elements does not fit dimension " << d << " of " << array;
      if (size == kDropped && dim == 0)
        return emitError() << "(C1) dimension " << d << " of " << array << " has no elements to index";
      if (index.getRank() != 0 && gathered && *gathered != index.getShape())
        return emitError() << "(C1) expected integer arrays of one shape, got " << index << " in dimension " << d;
      if (index.getRank() != 0)
        gathered = index.getShape();
    } else if (size == kDropped) {
      if (starts[d] < 0 || starts[d] >= dim)
        return emitError() << "(C1) index " << starts[d] << " is out of range for dimension " << d << " of " << array;
    } else if (size != kAll) {
      if (starts[d] < 0 || size < 0 || strides[d] < 1 || (size && starts[d] + (size - 1) * strides[d] >= dim))
        return emitError() << "(C1) a slice from " << starts[d] << " of " << size << " elements with step " << strides[d]
                           << " does not fit dimension " << d << " of " << array;
    }
    if (size == kDropped) {
      if (numDropped++ == 0)
        firstDropped = d, place = shape.size();
      lastDropped = d;
    } else {
      shape.push_back(size == kAll ? dim : size);
    }
  }
  if (gathered) {
    bool isContiguous = lastDropped - firstDropped + 1 == numDropped;
    shape.insert(shape.begin() + (isContiguous ? place : 0), gathered->begin(), gathered->end());
  }
  return Type(array.clone(shape));
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult checkPart(Operation *op, const RefIndex &index, Type valueType, Type got, const char *what) {
  auto part = index.partOf(valueType, [&] { return op->emitOpError(); });
  if (failed(part))
    return failure();
  if (*part != got)
    return op->emitOpError("(C2) expected ") << what << " of type " << *part << ", that of the part, got " << got;
  return success();
}

LogicalResult RefNewOp::verify() {
  if (getRef().getType().getValueType() != getInit().getType())
    return emitOpError("(C1) expected a ref of ") << getInit().getType() << ", got " << getRef().getType();
  return success();
}

LogicalResult RefGetOp::verify() { return checkPart(*this, getIndex(), getValueType(), getType(), "a result"); }

LogicalResult RefSwapOp::verify() {
  if (failed(checkPart(*this, getIndex(), getValueType(), getValue().getType(), "a value")))
    return failure();
  return checkPart(*this, getIndex(), getValueType(), getType(), "a result");
}

LogicalResult RefAddOp::verify() {
  if (failed(checkPart(*this, getIndex(), getValueType(), getValue().getType(), "a value")))
    return failure();
  auto array = dyn_cast<RankedTensorType>(getValueType());
  if (array && (array.getElementType().isInteger(1) || isa<KeyType>(array.getElementType())))
    return emitOpError("(C3) expected a ref of numbers, got ") << getRef().getType();
  return success();
}

LogicalResult RefFreezeOp::verify() {
  if (getType() != getRef().getType().getValueType())
    return emitOpError("(C3) expected a result of type ") << getRef().getType().getValueType() << ", got " << getType();
  Operation *made = getRef().getDefiningOp();
  if (!made || made->getBlock() != (*this)->getBlock())
    return emitOpError("(C1) only the block that made a ref may freeze it; read it with hjx.ref_get");
  for (Operation *user : getRef().getUsers())
    if (user != *this && user->getBlock() == (*this)->getBlock() && !user->isBeforeInBlock(*this)) {
      auto diagnostic = user->emitOpError("(C2) uses a ref after it was frozen; read it before, or freeze it later");
      diagnostic.attachNote(getLoc()) << "frozen here";
      return diagnostic;
    }
  return success();
}
