// SPDX-License-Identifier: Apache-2.0
//
// Which kernel for which product: tiles (by the model of ProductCost.h, unless another is asked for), widths of loads, arguments. See
// ProductKernel.h.
#include "lib/Codegen/Gpu/ProductCost.h"
#include "lib/Codegen/Gpu/TensorProductKernel.h"
#include "lib/Codegen/Gpu/WarpgroupProductKernel.h"
#include "lib/Codegen/Structured/SharedFunctions.h"
#include "lib/Support/SizeBytes.h"

#include <numeric>

using namespace mlir;
using namespace hjx;

/// Tiles from the most reuse to the most blocks. Registers hold partM * partN accumulators, a warp's
/// if on tensor cores.
static constexpr ProductTile kTiles[] = {
    {128, 64, 8, 8, 8}, {64, 64, 16, 4, 4}, {32, 32, 16, 4, 4}};
/// For tensor cores, with k in bytes: an mma takes 32 of them.
static constexpr ProductTile kTensorTiles[] = {
    {128, 128, 64, 64, 64, ProductUnit::Warp, 3}, {64, 64, 64, 32, 32, ProductUnit::Warp, 4}};
/// For warp groups, with k in bytes. A stage of the first has 48 KiB; blocks of the first three are alike, so that one
/// launch may have them (hjx-batch-launches).
static constexpr ProductTile kWarpgroupTiles[] = {
    {128, 256, kTileBytes, 64, 256, ProductUnit::WarpGroup, 4},
    {128, 128, kTileBytes, 64, 128, ProductUnit::WarpGroup, 4},
    {128, 64, kTileBytes, 64, 64, ProductUnit::WarpGroup, 4},
    {64, 64, kTileBytes, 64, 64, ProductUnit::WarpGroup, 4}};

static std::string typeName(Type type) {
  std::string name;
  llvm::raw_string_ostream os(name);
  os << type;
  return name;
}

std::string ProductKernelConfig::name() const {
  std::string name;
  llvm::raw_string_ostream os(name);
  os << "matmul_" << (unsignedOperands ? "u" : "") << typeName(operandType);
  if (accumulatorType != operandType)
    os << "_" << typeName(accumulatorType);
  auto stored = [](Packing packing) {
    return packing == Packing::None ? "" : packing == Packing::Byte ? "i8" : packing == Packing::LowNibble ? "low4" : "high4";
  };
  os << "_" << tile.m << "x" << tile.n << "x" << tile.k << (lhsAlongSum ? "_n" : "_t") << lhsLanes << stored(lhsPacking)
     << (rhsAlongSum ? "_t" : "_n") << rhsLanes << stored(rhsPacking) << "_" << resultLanes;
  if (scales)
    os << "_scaled" << scales->sideGroup << "x" << scales->sumGroup << (scales->isVector ? "v" : scales->differ ? "s" : "");
  if (raggedM || raggedN || raggedK)
    os << "_ragged" << (raggedM ? "m" : "") << (raggedN ? "n" : "") << (raggedK ? "k" : "");
  if (numBatchLoops)
    os << "_batch" << numBatchLoops;
  if (numSumLoops)
    os << "_sum" << numSumLoops;
  if (tile.onTensorCores())
    os << (tile.unit == ProductUnit::Warp ? "_mma" : "_wgmma")
       << (operandType.isF32() ? "_tf32" : "");
  if (std::string does = SharedFunctions::summary(epilogue.front()); !does.empty())
    os << "_" << does;
  if (isSplit)
    os << "_split";
  return name + (isAlone ? "" : "_overlap");
}

std::string ProductKernelConfig::key() const {
  std::string key = name();
  llvm::raw_string_ostream os(key);
  for (const ProductElements &buffer : elements)
    os << " " << buffer.type << buffer.isRead << buffer.isWritten << buffer.alongRows << buffer.alongColumns
       << buffer.isVector;
  epilogue.print(os, OpPrintingFlags().useLocalScope());
  return key;
}

namespace {

/// How one matrix is loaded: along which of two axes, and how many elements at once.
struct Width {
  bool alongFirst;
  int64_t lanes;
};

} // namespace

/// `strides` and `sizes` of the two axes of a matrix in its tile; the other strides must keep the
/// alignment.
static Width chooseWidth(std::array<int64_t, 2> strides, std::array<int64_t, 2> sizes,
                         ArrayRef<int64_t> otherStrides, int64_t bytes, int64_t alignment,
                         int64_t most) {
  bool alongFirst = std::abs(strides[0]) < std::abs(strides[1]);
  if (strides[0] == 0 || strides[1] == 0)
    alongFirst = strides[1] == 0;
  int64_t along = alongFirst ? 0 : 1;
  if (strides[along] != 1)
    return {alongFirst, 1};
  for (int64_t lanes = most; lanes > 1; lanes /= 2) {
    int64_t common = std::gcd(alignment, strides[1 - along] * bytes);
    for (int64_t stride : otherStrides)
      common = std::gcd(common, stride * bytes);
    if (sizes[along] % lanes == 0 && common % (lanes * bytes) == 0)
      return {alongFirst, lanes};
  }
  return {alongFirst, 1};
}

namespace {

/// An axis of a factor: its stride is 0 where the factor does not have it.
struct Axis {
  int64_t size, stride;
};

} // namespace

/// The axes of the tensor map of a factor: its two in the tile, of which `fast` has neighbours, and the
/// outer ones, the fastest first. Nothing if TMA does not take it: all strides but that of `fast`
/// must be multiples of 16 bytes, and so must be the address.
static std::optional<FactorAxes> mapAxes(Axis fast, Axis slow, ArrayRef<Axis> outer, int64_t bytes,
                                         int64_t alignment) {
  constexpr int64_t kUnit = 16, kMostAxes = 5, kMostElements = int64_t(1) << 31;
  if ((fast.stride != 1 && fast.size != 1) || alignment % kUnit != 0 ||
      outer.size() + 2 > kMostAxes)
    return std::nullopt;
  FactorAxes axes{{fast.size}, {1}};
  auto add = [&](Axis axis) {
    // Where there is one element, any stride will do.
    int64_t size = axis.stride == 0 ? 1 : axis.size;
    int64_t stride = size == 1 ? llvm::alignTo(fast.size * bytes, kUnit) / bytes : axis.stride;
    axes.sizes.insert(axes.sizes.begin(), size);
    axes.strides.insert(axes.strides.begin(), stride);
    return size < kMostElements && stride > 0 && stride * bytes % kUnit == 0;
  };
  bool isPossible = fast.size < kMostElements && (slow.stride != 0 || slow.size == 1) && add(slow);
  for (Axis axis : outer)
    isPossible = isPossible && add(axis);
  return isPossible ? std::optional(axes) : std::nullopt;
}

ProductLaunch ProductLaunch::choose(const Product &product, const ProductEpilogue &epilogue,
                                    ArrayRef<int64_t> alignments, bool isAlone,
                                    MatmulPrecision precision, StringRef chip, StringRef wanted) {
  const ProductSizes &sizes = product.sizes;
  ProductLaunch launch;
  ProductKernelConfig &config = launch.config;
  config.operandType = product.types.operandType;
  config.accumulatorType = product.types.accumulatorType;
  config.unsignedOperands = product.types.unsignedOperands;
  config.lhsPacking = product.types.lhsPacking;
  config.rhsPacking = product.types.rhsPacking;
  config.epilogue = *epilogue.body;
  config.isAlone = isAlone;

  using BatchLoop = Product::BatchLoop;
  SmallVector<BatchLoop> batches = product.batchLoops();
  SmallVector<Product::OuterLoop> sums;
  llvm::copy_if(product.outer, std::back_inserter(sums), [](const Product::OuterLoop &loop) { return loop.isSum; });
  config.numBatchLoops = batches.size();
  config.numSumLoops = sums.size();
  int64_t numBatches = 1;
  for (const BatchLoop &loop : batches)
    numBatches *= loop.size;
  int64_t numSums = 1;
  for (const Product::OuterLoop &loop : sums)
    numSums *= loop.size;

  SmallVector<int64_t> lhsOthers, rhsOthers;
  for (const BatchLoop &loop : batches) {
    lhsOthers.push_back(loop.lhs);
    rhsOthers.push_back(loop.rhs);
  }
  for (const Product::OuterLoop &loop : sums) {
    lhsOthers.push_back(loop.lhsStride);
    rhsOthers.push_back(loop.rhsStride);
  }
  int64_t bytes = elementBytes(config.operandType);
  auto storedBytes = [&](Packing packing) { return packing == Packing::None ? bytes : 1; };
  auto chooseWidths = [&](int64_t mostLhs, int64_t mostRhs) {
    Width lhs = chooseWidth({product.lhs.col, product.lhs.row}, {sizes.k, sizes.m}, lhsOthers,
                            storedBytes(config.lhsPacking), alignments[0], std::min(16 / bytes, mostLhs));
    Width rhs = chooseWidth({product.rhs.row, product.rhs.col}, {sizes.k, sizes.n}, rhsOthers,
                            storedBytes(config.rhsPacking), alignments[1], std::min(16 / bytes, mostRhs));
    config.lhsAlongSum = lhs.alongFirst;
    config.rhsAlongSum = rhs.alongFirst;
    config.lhsLanes = lhs.lanes;
    config.rhsLanes = rhs.lanes;
  };
  auto chooseMaps = [&] {
    if (!hasWarpGroups(chip) || product.types.isPacked() || sizes.m < 1 || sizes.n < 1 || sizes.k < 1)
      return false;
    SmallVector<Axis> outer[2];
    for (const BatchLoop &loop : batches) {
      outer[0].push_back({loop.size, loop.lhs});
      outer[1].push_back({loop.size, loop.rhs});
    }
    for (const Product::OuterLoop &loop : sums) {
      outer[0].push_back({loop.size, loop.lhsStride});
      outer[1].push_back({loop.size, loop.rhsStride});
    }
    Axis sumAxes[2] = {{sizes.k, product.lhs.col}, {sizes.k, product.rhs.row}};
    Axis sideAxes[2] = {{sizes.m, product.lhs.row}, {sizes.n, product.rhs.col}};
    bool *alongSum[2] = {&config.lhsAlongSum, &config.rhsAlongSum};
    for (unsigned factor : {0, 1}) {
      auto axes = mapAxes(sumAxes[factor], sideAxes[factor], outer[factor], bytes, alignments[factor]);
      *alongSum[factor] = axes.has_value();
      if (!axes)
        axes = mapAxes(sideAxes[factor], sumAxes[factor], outer[factor], bytes, alignments[factor]);
      if (!axes)
        return false;
      launch.factors[factor] = *axes;
    }
    config.lhsLanes = config.rhsLanes = 16 / bytes;
    return hasWarpgroupProduct(config, precision);
  };
  bool byMaps = chooseMaps();
  if (!byMaps)
    chooseWidths(16, 16);
  // Copies into shared memory take a multiple of 4 bytes. What has less goes through registers, of
  // which single bytes would need too many. What is packed goes there, too, several to a register.
  auto hasFewLoads = [&](int64_t lanes, Packing packing) { return packing == Packing::None ? lanes * bytes >= 4 : lanes > 1; };
  bool hasFew = hasFewLoads(config.lhsLanes, config.lhsPacking) && hasFewLoads(config.rhsLanes, config.rhsPacking);
  bool onTensorCores = byMaps || (hasTensorProduct(config, precision) && (hasFew || bytes > 1));
  ProductWork work{sizes, numBatches, numSums, bytes, elementBytes(config.accumulatorType)};
  bool isWide = elementBytes(config.accumulatorType) > 4; // Two registers each.
  SmallVector<ProductTile> tiles;
  for (ProductTile tile : byMaps ? ArrayRef(kWarpgroupTiles) : onTensorCores ? ArrayRef(kTensorTiles) : ArrayRef(kTiles)) {
    if (onTensorCores)
      tile.k /= bytes;
    if (byMaps || (onTensorCores ? hasFew || tile.partM <= 32 : !isWide || tile.partM <= 4))
      tiles.push_back(tile);
  }
  // What comes through registers leaves none for the bounds of a part.
  bool maySplit = !product.types.isPacked() && (!onTensorCores || hasFew);
  std::vector<ProductSchedule> ranked = ProductSchedule::rank(tiles, maySplit, work, ChipModel::of(chip));
  for (const ProductSchedule &possible : ranked)
    launch.schedules.push_back(possible.text());
  auto found = llvm::find(launch.schedules, wanted);
  ProductSchedule schedule = ranked[found == launch.schedules.end() ? 0 : found - launch.schedules.begin()];
  config.tile = schedule.tile;
  config.isSplit = schedule.splits > 1;
  if (!onTensorCores) {
    auto most = [&](int64_t side) {
      return std::min(side * config.tile.k / config.tile.blockSize(), config.tile.k);
    };
    chooseWidths(most(config.tile.m), most(config.tile.n));
  }
  const ProductTile &tile = config.tile;
  config.raggedM = sizes.m % tile.m != 0;
  config.raggedN = sizes.n % tile.n != 0;
  // Copies onto tensor cores look where k ends, always.
  config.raggedK = !tile.onTensorCores() && sizes.k % tile.k != 0;

  struct {
    int64_t side = 0, sum = 0;
    SmallVector<int64_t> loops;
  } scaleStrides;
  if (product.types.isScaled()) {
    bool ofLhs = product.types.lhsIsScaled, alongSum = ofLhs ? config.lhsAlongSum : config.rhsAlongSum;
    int64_t lanes = ofLhs ? config.lhsLanes : config.rhsLanes;
    ProductScales scales{ofLhs, product.rowGroup, product.colGroup};
    scaleStrides.side = product.scales.row, scaleStrides.sum = product.scales.col;
    if (!ofLhs) {
      std::swap(scales.sideGroup, scales.sumGroup);
      std::swap(scaleStrides.side, scaleStrides.sum);
    }
    for (const BatchLoop &loop : batches)
      scaleStrides.loops.push_back(loop.scales);
    for (const Product::OuterLoop &loop : sums)
      scaleStrides.loops.push_back(loop.scalesStride);
    int64_t along = scaleStrides.side, across = scaleStrides.sum, group = scales.sideGroup;
    if (alongSum) {
      std::swap(along, across);
      group = scales.sumGroup;
    }
    int64_t common = std::gcd(alignments[2], across * bytes);
    for (int64_t stride : scaleStrides.loops)
      common = std::gcd(common, stride * bytes);
    scales.differ = along != 0 && group % lanes != 0;
    scales.isVector = scales.differ && along == 1 && group == 1 && common % (lanes * bytes) == 0;
    config.scales = scales;
  }

  int64_t resultLanes = tile.onTensorCores() ? 2 : 4; // Neighbours that a thread has.
  for (auto [buffer, alignment] : llvm::zip(epilogue.buffers, alignments.take_back(epilogue.buffers.size()))) {
    Type type = getElementTypeOrSelf(buffer.buffer.getType());
    Width width = chooseWidth({buffer.col, buffer.row}, {sizes.n, sizes.m}, buffer.batches,
                              elementBytes(type), alignment, resultLanes);
    bool isVector = width.alongFirst && width.lanes == resultLanes;
    config.elements.push_back({type, buffer.isRead, buffer.isWritten, buffer.row != 0, buffer.col != 0, isVector});
    if (isVector)
      config.resultLanes = resultLanes;
  }

  int64_t tilesM = llvm::divideCeilSigned(sizes.m, tile.m);
  int64_t tilesN = llvm::divideCeilSigned(sizes.n, tile.n);
  int64_t numTiles = tilesM * tilesN * numBatches;
  launch.numBlocks = numTiles * schedule.splits;
  launch.arguments = {sizes.m,         sizes.n,         sizes.k,         tilesM,
                      tilesN,          product.lhs.row, product.lhs.col, product.rhs.row,
                      product.rhs.col};
  // A tensor map has the strides; its coordinates count.
  auto step = [&](int64_t stride) -> int64_t { return byMaps ? stride != 0 : stride; };
  for (const BatchLoop &loop : batches)
    launch.arguments.append({loop.size, step(loop.lhs), step(loop.rhs)});
  for (const Product::OuterLoop &loop : sums)
    launch.arguments.append({loop.size, step(loop.lhsStride), step(loop.rhsStride)});
  for (const EpilogueBuffer &buffer : epilogue.buffers) {
    launch.arguments.append({buffer.row, buffer.col});
    llvm::append_range(launch.arguments, buffer.batches);
  }
  if (config.scales) {
    launch.arguments.append({scaleStrides.side, scaleStrides.sum});
    llvm::append_range(launch.arguments, scaleStrides.loops);
  }
  if (config.isSplit) {
    launch.arguments.append({numTiles, schedule.splits, schedule.sumOfSplit(sizes.k)});
    launch.numCounters = numTiles;
    launch.numPartialSums = launch.numBlocks * tile.m * tile.n;
  }
  return launch;
}
