// SPDX-License-Identifier: Apache-2.0
//
// Keys become pairs of words. An array of keys of shape s is an array of ui32 of
// shape s + [2]: the last dimension is always the words, so an op that moves keys
// moves words after one more entry in its attributes:
//
//   slice %k start = [1] limit = [3]         : tensor<4x!key> -> tensor<2x!key>
//   slice %k start = [1, 0] limit = [3, 2]   : tensor<4x2xui32> -> tensor<2x2xui32>
//
// First every op is adapted, by what its types were; then all types change at once;
// last, ops that make keys or bits are replaced by hashes of counters.
//
// Counters (JAX's partitionable layout): element i of a random shape, row-major,
// hashes the 64-bit number i as (i >> 32, i mod 2^32). They are sums of iotas times
// strides, so that they fuse into the nest that uses the bits.
#include "lib/Lowering/Passes.h"
#include "lib/Rules/Emit.h"

using namespace mlir;

namespace hjx {
#define GEN_PASS_DEF_LOWERRANDOM
#include "lib/Lowering/Passes.h.inc"

namespace {

using emit::Builder;
using emit::typeOf;

bool holdsKeys(Type type) {
  auto array = dyn_cast<RankedTensorType>(type);
  return array && isa<ir::KeyType>(array.getElementType());
}

Type wordType(MLIRContext *context) { return IntegerType::get(context, 32, IntegerType::Unsigned); }

Type withWords(Type type) {
  if (!holdsKeys(type))
    return type;
  auto array = cast<RankedTensorType>(type);
  return RankedTensorType::get(ir::insertAxis(array, array.getRank(), 2).getShape(),
                               wordType(type.getContext()));
}

SmallVector<int64_t> appended(ArrayRef<int64_t> list, int64_t entry) {
  SmallVector<int64_t> longer(list);
  longer.push_back(entry);
  return longer;
}

//===----------------------------------------------------------------------===//
// Ops that move keys
//===----------------------------------------------------------------------===//

/// pad takes one value for all elements, but a key has two words: pads them apart and joins them.
void padWords(ir::PadOp op) {
  Builder b(op.getLoc(), op);
  Value words = ir::RandomUnwrapOp::create(b, op.getOperand()),
        padding = ir::RandomUnwrapOp::create(b, op.getPaddingValue());
  SmallVector<int64_t> shape(typeOf(op.getOperand()).getShape());
  SmallVector<Value> padded;
  for (int64_t word = 0; word < 2; ++word) {
    SmallVector<int64_t> start(shape.size(), 0), ones(shape.size() + 1, 1);
    Value part = emit::reshape(
        b, ir::SliceOp::create(b, words, appended(start, word), appended(shape, word + 1), ones),
        shape);
    Value value =
        emit::reshape(b,
                      ir::SliceOp::create(b, padding, ArrayRef<int64_t>{word},
                                          ArrayRef<int64_t>{word + 1}, ArrayRef<int64_t>{1}),
                      {});
    Value result = ir::PadOp::create(b, part, value, op.getLow(), op.getHigh(), op.getInterior());
    padded.push_back(emit::reshape(b, result, appended(typeOf(result).getShape(), 1)));
  }
  Value joined = ir::ConcatenateOp::create(b, padded, static_cast<int64_t>(shape.size()));
  op.replaceAllUsesWith(ir::RandomWrapOp::create(b, joined).getResult());
  op.erase();
}

/// Adds the words' dimension to `op`'s attributes, while its types still hold keys.
LogicalResult adapt(Operation *op) {
  auto rank = [](Value value) { return typeOf(value).getRank(); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ir::BroadcastInDimOp op) {
        op.setDims(appended(op.getDims(), op.getShape().size()));
        op.setShape(appended(op.getShape(), 2));
        return success();
      })
      .Case([&](ir::ReshapeOp op) {
        op.setShape(appended(op.getShape(), 2));
        return success();
      })
      .Case([&](ir::TransposeOp op) {
        op.setPermutation(appended(op.getPermutation(), rank(op)));
        return success();
      })
      .Case([&](ir::SliceOp op) {
        op.setStart(appended(op.getStart(), 0));
        op.setLimit(appended(op.getLimit(), 2));
        op.setStrides(appended(op.getStrides(), 1));
        return success();
      })
      .Case([&](ir::DynamicSliceOp op) {
        Builder b(op.getLoc(), op);
        op.getStartIndicesMutable().append(
            emit::zeros(b, RankedTensorType::get({}, b.getI32Type())));
        op.setSliceSizes(appended(op.getSliceSizes(), 2));
        return success();
      })
      .Case([&](ir::DynamicUpdateSliceOp op) {
        Builder b(op.getLoc(), op);
        op.getStartIndicesMutable().append(
            emit::zeros(b, RankedTensorType::get({}, b.getI32Type())));
        return success();
      })
      .Case([&](ir::GatherOp op) {
        op.setOffsetDims(appended(op.getOffsetDims(), rank(op)));
        op.setSliceSizes(appended(op.getSliceSizes(), 2));
        return success();
      })
      .Case([&](ir::ScatterOp op) {
        op.setUpdateWindowDims(appended(op.getUpdateWindowDims(), rank(op.getUpdates())));
        return success();
      })
      .Case([&](ir::SelectNOp op) {
        // A selector that is not scalar chooses both words.
        if (int64_t dims = rank(op.getWhich())) {
          Builder b(op.getLoc(), op);
          SmallVector<int64_t> shape = appended(typeOf(op.getWhich()).getShape(), 2);
          op.getWhichMutable().assign(
              emit::broadcastInDim(b, op.getWhich(), shape, ir::iotaDims(dims)));
        }
        return success();
      })
      .Case([&](ir::PadOp op) {
        padWords(op);
        return success();
      })
      // These say nothing about the last dimension.
      .Case<ir::RevOp, ir::ConcatenateOp, ir::StopGradientOp, ir::OptBarrierOp, ir::ScanOp,
            ir::WhileOp, ir::CondOp, ir::YieldOp, func::ReturnOp, func::CallOp, ir::RandomBitsOp,
            ir::RandomFoldInOp, ir::RandomSeedOp, ir::RandomSplitOp, ir::RandomUnwrapOp,
            ir::RandomWrapOp>([](Operation *) { return success(); })
      .Default([](Operation *op) {
        return op->emitOpError(
            "moves random keys and has no form on their words\n"
            "  help: expand transforms first (hjx-to-pure), or use random_unwrap");
      });
}

//===----------------------------------------------------------------------===//
// Ops that make keys and bits; operands and results are words already
//===----------------------------------------------------------------------===//

struct Words {
  Value high, low;
};

/// The two words of an array of shape s + [2], each of shape s.
Words splitWords(Builder &b, Value words) {
  SmallVector<int64_t> shape(typeOf(words).getShape());
  shape.pop_back();
  auto word = [&](int64_t index) {
    SmallVector<int64_t> start(shape.size(), 0), ones(shape.size() + 1, 1);
    Value slice =
        ir::SliceOp::create(b, words, appended(start, index), appended(shape, index + 1), ones);
    return emit::reshape(b, slice, shape);
  };
  return {word(0), word(1)};
}

Value joinWords(Builder &b, Words words) {
  SmallVector<int64_t> shape = appended(typeOf(words.high).getShape(), 1);
  int64_t rank = shape.size();
  return ir::ConcatenateOp::create(
      b, ValueRange{emit::reshape(b, words.high, shape), emit::reshape(b, words.low, shape)},
      rank - 1);
}

Words hash(Builder &b, Words key, Words count) {
  auto op = ir::Threefry2x32Op::create(b, key.high, key.low, count.high, count.low);
  return {op.getBits0(), op.getBits1()};
}

Words splitNumber(Builder &b, Value number) {
  Type word = wordType(b.getContext());
  Value shifted = ir::ShiftRightLogicalOp::create(b, number, emit::fullLike(b, number, 32));
  return {emit::convert(b, shifted, word), emit::convert(b, number, word)};
}

/// The row-major index of each element of `shape`, at dimensions `first`.. of an array of `whole`.
Words counters(Builder &b, ArrayRef<int64_t> whole, int64_t first) {
  Type word = wordType(b.getContext());
  int64_t numElements = ShapedType::getNumElements(whole.drop_front(first));
  bool fits = numElements <= (int64_t(1) << 32);
  RankedTensorType type = RankedTensorType::get(
      whole, fits ? word : IntegerType::get(b.getContext(), 64, IntegerType::Unsigned));
  Value index;
  for (int64_t dim = whole.size() - 1, stride = 1; dim >= first; stride *= whole[dim--]) {
    if (whole[dim] <= 1)
      continue;
    Value term = ir::IotaOp::create(b, type, dim);
    if (stride > 1)
      term = emit::mul(b, term, ir::makeSplat(b, b.getLoc(), type, static_cast<double>(stride)));
    index = index ? emit::add(b, index, term) : term;
  }
  if (!index)
    index = emit::zeros(b, type);
  return fits ? Words{emit::zeros(b, type), index} : splitNumber(b, index);
}

/// Each key's hashes of the numbers of `shape`.
Words hashCounters(Builder &b, Value keys, ArrayRef<int64_t> shape) {
  Words key = splitWords(b, keys);
  SmallVector<int64_t> whole(typeOf(key.high).getShape());
  int64_t numKeyDims = whole.size();
  llvm::append_range(whole, shape);
  auto spread = [&](Value word) {
    return emit::broadcastInDim(b, word, whole, ir::iotaDims(numKeyDims));
  };
  return hash(b, {spread(key.high), spread(key.low)}, counters(b, whole, numKeyDims));
}

Value lowerBits(Builder &b, ir::RandomBitsOp op) {
  Words words = hashCounters(b, op.getKeys(), op.getShape());
  Type element = op.getType().getElementType();
  if (op.getWidth() < 64)
    return emit::convert(b, ir::XorOp::create(b, words.high, words.low), element);
  Value high = emit::convert(b, words.high, element), low = emit::convert(b, words.low, element);
  return ir::OrOp::create(b, ir::ShiftLeftOp::create(b, high, emit::fullLike(b, high, 32)), low);
}

/// The seed's two halves; one of 32 bits or less has no high half.
Value lowerSeed(Builder &b, ir::RandomSeedOp op) {
  Value seed = op.getSeed();
  auto integer = cast<IntegerType>(typeOf(seed).getElementType());
  if (integer.getWidth() == 64) {
    seed = emit::convert(b, seed, IntegerType::get(b.getContext(), 64, IntegerType::Unsigned));
    return joinWords(b, splitNumber(b, seed));
  }
  Value low = emit::convert(b, seed, wordType(b.getContext()));
  return joinWords(b, {emit::zeros(b, low.getType()), low});
}

Value lowerFoldIn(Builder &b, ir::RandomFoldInOp op) {
  Value data = op.getData();
  return joinWords(b, hash(b, splitWords(b, op.getKeys()), {emit::zeros(b, data.getType()), data}));
}

void expand(Operation *op) {
  Builder b(op->getLoc(), op);
  Value value = llvm::TypeSwitch<Operation *, Value>(op)
                    .Case([&](ir::RandomBitsOp op) { return lowerBits(b, op); })
                    .Case([&](ir::RandomSeedOp op) { return lowerSeed(b, op); })
                    .Case([&](ir::RandomFoldInOp op) { return lowerFoldIn(b, op); })
                    .Case([&](ir::RandomSplitOp op) {
                      return joinWords(b, hashCounters(b, op.getKeys(), op.getShape()));
                    })
                    .Case<ir::RandomWrapOp, ir::RandomUnwrapOp>(
                        [](Operation *op) { return op->getOperand(0); });
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

bool makesKeysOrBits(Operation *op) {
  return isa<ir::RandomBitsOp, ir::RandomSeedOp, ir::RandomFoldInOp, ir::RandomSplitOp,
             ir::RandomWrapOp, ir::RandomUnwrapOp>(op);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct LowerRandom : impl::LowerRandomBase<LowerRandom> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> movers;
    module.walk([&](Operation *op) {
      if (llvm::any_of(op->getOperandTypes(), holdsKeys) ||
          llvm::any_of(op->getResultTypes(), holdsKeys))
        movers.push_back(op);
    });
    for (Operation *op : movers)
      if (failed(adapt(op)))
        return signalPassFailure();
    retype(module);
    SmallVector<Operation *> makers;
    module.walk([&](Operation *op) {
      if (makesKeysOrBits(op))
        makers.push_back(op);
    });
    llvm::for_each(makers, expand);
  }

  static void retype(ModuleOp module) {
    auto change = [](ValueRange values) {
      for (Value value : values)
        value.setType(withWords(value.getType()));
    };
    module.walk([&](Operation *op) {
      change(op->getResults());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          change(block.getArguments());
      if (auto func = dyn_cast<func::FuncOp>(op)) {
        auto types = [](TypeRange types) { return llvm::map_to_vector(types, withWords); };
        func.setType(FunctionType::get(func.getContext(), types(func.getArgumentTypes()),
                                       types(func.getResultTypes())));
      }
    });
  }
};

} // namespace
} // namespace hjx
