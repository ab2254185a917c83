// SPDX-License-Identifier: Apache-2.0
//
// The code of a product kernel: see the header.
#include "lib/Codegen/Gpu/ProductFrame.h"
#include "lib/Codegen/Gpu/TensorProductKernel.h"
#include "lib/Codegen/Gpu/WarpgroupProductKernel.h"
#include "lib/Support/SizeBytes.h"
#include "lib/Target/Ptx/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace hjx;

/// Elements that lie together in registers and shared memory: a vector of 4.
static constexpr int64_t kGroup = 4;

namespace {

/// A factor and its two tiles in shared memory, k-major, a row of tileSide elements and some padding.
struct SharedFactor {
  ProductFactor &factor;
  Value shared;
  int64_t pitch() const { return factor.tileSide + kGroup; }
};

class ProductEmitter : ProductFrame {
public:
  ProductEmitter(gpu::GPUFuncOp kernel, const ProductKernelConfig &config);

  void emit();

private:
  Values emitTiles(Values accumulators);
  /// Along the side and along k: the `chunk`-th vector of a tile that this thread brings.
  std::pair<Value, Value> place(const ProductFactor &factor, int64_t chunk);
  Values load(const ProductFactor &factor, Value step, Value isStep);
  void store(const SharedFactor &to, ArrayRef<Value> loaded, Value step, Value half);
  Values multiply(Value half, ValueRange accumulators);
  void finishAll(ArrayRef<Value> accumulators);
  Value extend(Value value);

  SharedFactor sharedLhs{lhs}, sharedRhs{rhs};
  Value threadRow, threadCol;
};

} // namespace

ProductEmitter::ProductEmitter(gpu::GPUFuncOp kernel, const ProductKernelConfig &config)
    : ProductFrame(kernel, config) {
  for (SharedFactor *factor : {&sharedLhs, &sharedRhs})
    factor->shared = k.sharedMemory(config.accumulatorType, 2 * tile.k * factor->pitch());
  int64_t threadsN = tile.n / tile.partN;
  Value thread = k.blockTeam().thread;
  threadCol = mul(remainder(thread, threadsN), index(kGroup));
  threadRow = mul(quotient(thread, threadsN), index(kGroup));
}

void ProductEmitter::emit() {
  Values accumulators(tile.partM * tile.partN / kGroup,
                      zero(vectorOf(config.accumulatorType, kGroup)));
  accumulators = emitSum(accumulators, [&](Values sums) { return emitTiles(sums); });
  whenSummed(accumulators, [&](ArrayRef<Value> sums) { finishAll(sums); });
}

/// The loop along k. Tile t is multiplied from one half of shared memory while tile t + 1 is
/// loaded into registers and stored into the other half.
SmallVector<Value> ProductEmitter::emitTiles(Values accumulators) {
  Value numSteps = this->numSteps();
  Value firstHalf = index(0);
  Values loadedLhs = load(lhs, index(0), Value()), loadedRhs = load(rhs, index(0), Value());
  store(sharedLhs, loadedLhs, index(0), firstHalf);
  store(sharedRhs, loadedRhs, index(0), firstHalf);
  k.barrier();
  auto loop = scf::ForOp::create(b, index(0), numSteps, index(1), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar(), next = add(step, index(1));
  Value hasNext = lessThan(next, numSteps);
  Value half = arith::AndIOp::create(b, step, index(1));
  Value otherHalf = arith::XOrIOp::create(b, half, index(1));
  Values nextLhs = load(lhs, next, hasNext), nextRhs = load(rhs, next, hasNext);
  Values products = multiply(half, loop.getRegionIterArgs());
  store(sharedLhs, nextLhs, next, otherHalf);
  store(sharedRhs, nextRhs, next, otherHalf);
  k.barrier();
  scf::YieldOp::create(b, products);
  return Values(loop.getResults());
}

std::pair<Value, Value> ProductEmitter::place(const ProductFactor &factor, int64_t chunk) {
  Value number = add(k.blockTeam().thread, index(chunk * k.blockSize));
  int64_t fastest = (factor.alongSum ? tile.k : factor.tileSide) / factor.lanes;
  Value fast = mul(remainder(number, fastest), index(factor.lanes));
  Value slow = quotient(number, fastest);
  return factor.alongSum ? std::make_pair(slow, fast) : std::make_pair(fast, slow);
}

/// This thread's part of tile `step`. What lies outside of the matrix is read from its first
/// element, which is always there, and counts as 0; so does everything unless `isStep`.
SmallVector<Value> ProductEmitter::load(const ProductFactor &factor, Value step, Value isStep) {
  Values loaded;
  Value firstSum = mul(step, index(tile.k));
  for (int64_t chunk = 0; chunk < numChunks(factor); ++chunk) {
    auto [side, position] = place(factor, chunk);
    position = add(firstSum, position);
    Value isInside;
    if (factor.raggedSide)
      isInside = lessThan(add(factor.firstSide, side), factor.sideSize);
    if (config.raggedK)
      isInside = both(isInside, lessThan(position, sum));
    Value isRead = both(isInside, isStep);
    Value at = add(factor.first,
                   add(mul(side, factor.sideStride), mul(position, factor.sumStride)));
    if (isRead)
      at = arith::SelectOp::create(b, isRead, at, index(0));
    Value value = loadLanes(factor, at);
    if (isInside)
      value = arith::SelectOp::create(b, isInside, value, zero(value.getType()));
    loaded.push_back(value);
  }
  return loaded;
}

Value ProductEmitter::extend(Value value) {
  Type type = value.getType(), to = config.accumulatorType;
  if (config.operandType == to)
    return value;
  if (auto vector = dyn_cast<VectorType>(type))
    to = vector.clone(to);
  if (isa<FloatType>(config.operandType))
    return arith::ExtFOp::create(b, to, value);
  if (config.unsignedOperands)
    return arith::ExtUIOp::create(b, to, value);
  return arith::ExtSIOp::create(b, to, value);
}

void ProductEmitter::store(const SharedFactor &to, ArrayRef<Value> loaded, Value step, Value half) {
  const ProductFactor &factor = to.factor;
  Value first = mul(half, index(tile.k * to.pitch()));
  for (size_t chunk = 0; chunk < loaded.size(); ++chunk) {
    auto [side, position] = place(factor, chunk);
    Value at = add(first, add(mul(position, index(to.pitch())), side));
    Value value = extend(unpack(factor, loaded[chunk], side, add(mul(step, index(tile.k)), position)));
    if (factor.lanes == 1) {
      memref::StoreOp::create(b, value, to.shared, at);
    } else if (!factor.alongSum) {
      int64_t bytes = factor.lanes * elementBytes(config.accumulatorType);
      vector::StoreOp::create(b, value, to.shared, at, /*nontemporal=*/false,
                              llvm::MaybeAlign(std::min<int64_t>(bytes, 16)));
    } else {
      for (int64_t lane = 0; lane < factor.lanes; ++lane) {
        Value element = vector::ExtractOp::create(b, value, ArrayRef<int64_t>{lane});
        memref::StoreOp::create(b, element, to.shared,
                                add(at, index(lane * to.pitch())));
      }
    }
  }
}

/// accumulators + A tile * B tile, both in half `half` of shared memory.
SmallVector<Value> ProductEmitter::multiply(Value half, ValueRange accumulators) {
  Values sums(accumulators);
  auto group = cast<VectorType>(vectorOf(config.accumulatorType, kGroup));
  int64_t groupsM = tile.partM / kGroup, groupsN = tile.partN / kGroup;
  auto loadGroups = [&](const SharedFactor &from, Value thread, int64_t position, int64_t numGroups) {
    Values groups;
    Value first = add(mul(half, index(tile.k * from.pitch())), thread);
    for (int64_t g = 0; g < numGroups; ++g) {
      Value at = add(first, index(position * from.pitch() + g * from.factor.tileSide / numGroups));
      groups.push_back(vector::LoadOp::create(b, group, from.shared, at, /*nontemporal=*/false,
                                              llvm::MaybeAlign(16)));
    }
    return groups;
  };
  for (int64_t position = 0; position < tile.k; ++position) {
    Values rows = loadGroups(sharedLhs, threadRow, position, groupsM);
    Values columns = loadGroups(sharedRhs, threadCol, position, groupsN);
    for (int64_t row = 0; row < tile.partM; ++row) {
      Value element =
          vector::ExtractOp::create(b, rows[row / kGroup], ArrayRef<int64_t>{row % kGroup});
      Value factor = vector::BroadcastOp::create(b, group, element);
      for (int64_t g = 0; g < groupsN; ++g) {
        Value &total = sums[row * groupsN + g];
        if (isa<FloatType>(config.accumulatorType))
          total = math::FmaOp::create(b, factor, columns[g], total);
        else
          total = arith::AddIOp::create(b, arith::MulIOp::create(b, factor, columns[g]), total);
      }
    }
  }
  return sums;
}

void ProductEmitter::finishAll(ArrayRef<Value> accumulators) {
  int64_t groupsM = tile.partM / kGroup, groupsN = tile.partN / kGroup;
  for (int64_t row = 0; row < tile.partM; ++row) {
    Value inTile = add(threadRow, index(row / kGroup * (tile.m / groupsM) + row % kGroup));
    for (int64_t g = 0; g < groupsN; ++g) {
      Values sums;
      for (int64_t lane = 0; lane < kGroup; ++lane)
        sums.push_back(vector::ExtractOp::create(b, accumulators[row * groupsN + g], ArrayRef<int64_t>{lane}));
      finish(sums, inTile, add(threadCol, index(g * (tile.n / groupsN))));
    }
  }
}

/// How the kernel of `config` takes a factor: in boxes of 128 bytes along the fastest axis, and of what a
/// tile has along the other.
static DictionaryAttr tensorMapOf(const ProductKernelConfig &config, unsigned factor, Builder &b) {
  Type element = config.operandType;
  bool alongSum = factor == 0 ? config.lhsAlongSum : config.rhsAlongSum;
  SmallVector<int64_t> box(config.mapRank(), 1);
  box.back() = kTileBytes / elementBytes(element);
  box[box.size() - 2] = alongSum ? (factor == 0 ? config.tile.m : config.tile.n) : config.tile.k;
  if (element.isF32()) // Rounded on the way.
    element = b.getType<FloatTF32Type>();
  return b.getDictionaryAttr({b.getNamedAttr("box", b.getDenseI64ArrayAttr(box)),
                              b.getNamedAttr("element", TypeAttr::get(element))});
}

gpu::GPUFuncOp hjx::emitProductKernel(KernelModule &device, Location loc,
                                      const ProductKernelConfig &config) {
  MLIRContext *context = loc.getContext();
  Builder b(context);
  auto layout = StridedLayoutAttr::get(context, ShapedType::kDynamic, {1});
  auto matrix = [&](Type type) { return MemRefType::get({ShapedType::kDynamic}, type, layout); };
  auto factorOf = [&](Packing packing) -> Type {
    return matrix(packing == Packing::None ? config.operandType : b.getI8Type());
  };
  SmallVector<Type> types = {factorOf(config.lhsPacking), factorOf(config.rhsPacking)};
  if (config.scales)
    types.push_back(matrix(config.operandType));
  unsigned numFactors = types.size();
  bool byMaps = config.tile.unit == ProductUnit::WarpGroup;
  if (byMaps) {
    SmallVector<int64_t> sizes(config.mapRank(), ShapedType::kDynamic), strides(sizes);
    strides.back() = 1;
    types.assign(2, MemRefType::get(sizes, config.operandType,
                                    StridedLayoutAttr::get(context, ShapedType::kDynamic, strides)));
  }
  for (const ProductElements &elements : config.elements)
    types.push_back(matrix(elements.type));
  unsigned numBuffers = types.size();
  unsigned numSizes = 9 + 3 * (config.numBatchLoops + config.numSumLoops) + config.elements.size() * (2 + config.numBatchLoops);
  if (config.scales)
    numSizes += 2 + config.numBatchLoops + config.numSumLoops;
  types.append(numSizes, b.getIndexType());
  if (config.isSplit) {
    types.append(4, b.getIndexType());
    types.push_back(matrix(config.accumulatorType));
  }
  gpu::GPUFuncOp kernel = device.createKernel(loc, config.name(), types);
  for (unsigned matrix = 0; matrix < numBuffers; ++matrix) {
    if (byMaps && matrix < 2)
      kernel.setArgAttr(matrix, kTensorMapAttr, tensorMapOf(config, matrix, b));
    else if (config.isAlone)
      kernel.setArgAttr(matrix, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    if (matrix < numFactors || !config.elements[matrix - numFactors].isWritten)
      kernel.setArgAttr(matrix, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  }
  switch (config.tile.unit) {
  case ProductUnit::Thread:
    ProductEmitter(kernel, config).emit();
    break;
  case ProductUnit::Warp:
    emitTensorProduct(kernel, config);
    break;
  case ProductUnit::WarpGroup:
    emitWarpgroupProduct(kernel, config);
    break;
  }
  return kernel;
}
