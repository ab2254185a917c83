// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of a GPU, on the simulated device, against sums in double: every type that has
// kernels of its own, all layouts, ragged and aligned sizes, batches, C += A * B, elementwise ops behind
// them; and what the assembler says of them, where there is one. The device is an sm_80, or what HJX_PTXSIM_ARCH says.
#include "lib/Codegen/Structured/ProductTypes.h"
#include "lib/Execution/CompiledExecutable.h"
#include "lib/Execution/GpuExecutable.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Execution/Target.h"
#include "runtime/Backends.h"
#include "test/unit/Assembler.h"
#include "test/unit/ProductReference.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include <gmock/gmock.h>

#include <random>

using namespace hjx;
using namespace mlir;
using testing::HasSubstr;
using testing::Not;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_CUDA_DRIVER", HJX_PTXSIM_LIBRARY, 1) == 0;

enum class Kind { F32, Tf32, Bf16, F16, I8, U8 };

/// What follows the product: nothing, or elementwise ops (endingOf), of a result that is returned, too,
/// or that nothing else needs.
enum class Ending { None, Kept, Alone };

struct Case {
  Kind kind;
  int64_t m, n, k;
  bool lhsTransposed = false, rhsTransposed = false; ///< Stored as k x m, n x k.
  int64_t batch = 0;                                 ///< 0: no such axis
  bool accumulate = false;
  bool isSummed = false; ///< The sum is over the batch, too.
  Ending ending = Ending::None;
  Packing lhsPacking = Packing::None, rhsPacking = Packing::None; ///< Of f32 and TF32.
  /// Elements along m or n, and along k, that share a scale of the packed factor, which lie as its elements do. 0: none has one.
  int64_t sideGroup = 0, sumGroup = 0;
};

const char *elementOf(Kind kind) {
  return kind == Kind::Bf16 ? "bf16" : kind == Kind::F16 ? "f16" : kind >= Kind::I8 ? "i8" : "f32";
}
bool isInteger(Kind kind) { return kind >= Kind::I8; }

std::string nameOf(const Case &c) {
  const char *names[] = {"f32", "tf32", "bf16", "f16", "i8", "u8"};
  const char *packings[] = {"", "_i8", "_low4", "_high4"};
  return llvm::formatv("{0}_{1}x{2}x{3}_{4}{5}{6}{7}{8}{9}{10}{11}", names[static_cast<int>(c.kind)], c.m, c.n,
                       c.k, c.lhsTransposed ? "t" : "n", c.rhsTransposed ? "t" : "n",
                       c.batch ? llvm::formatv("_{0}{1}", c.isSummed ? "sum" : "batch", c.batch).str() : "",
                       c.accumulate ? "_add" : "", c.ending == Ending::None ? "" : "_ended",
                       packings[static_cast<int>(c.lhsPacking)], packings[static_cast<int>(c.rhsPacking)],
                       c.sideGroup ? llvm::formatv("_scaled{0}x{1}", c.sideGroup, c.sumGroup).str() : "");
}

/// The type of z in endingOf.
const char *roundedOf(Kind kind) { return kind == Kind::Bf16 ? "bf16" : kind == Kind::F16 ? "f16" : "f32"; }

/// z = round(p) + bias of the column, rounded; o = z * scale of the row + r.
std::string endingOf(const Case &c, const std::string &product) {
  bool hasBatch = c.batch && !c.isSummed, isNarrow = c.kind == Kind::Bf16 || c.kind == Kind::F16;
  std::string shape = llvm::formatv("{0}{1}x{2}", hasBatch ? llvm::formatv("{0}x", c.batch).str() : "", c.m, c.n);
  std::string widen = isNarrow ? "arith.extf" : "arith.bitcast", narrow = isNarrow ? "arith.truncf" : "arith.bitcast";
  std::string round = c.kind == Kind::I8 || c.kind == Kind::U8 ? "arith.sitofp" : narrow;
  return llvm::formatv(R"mlir(
      %ze = tensor.empty() : tensor<{0}x{1}>
      %z = linalg.generic {{indexing_maps = [affine_map<({2}i, j) -> ({2}i, j)>, affine_map<({2}i, j) -> (j)>,
             affine_map<({2}i, j) -> ({2}i, j)>], iterator_types = [{3}"parallel", "parallel"]}
          ins(%p, %bias : {4}, tensor<{5}x{1}>) outs(%ze : tensor<{0}x{1}>) {{
        ^bb0(%x: {6}, %y0: {1}, %old: {1}):
          %x1 = {7} %x : {6} to {1}
          %x2 = {8} %x1 : {1} to f32
          %y2 = {8} %y0 : {1} to f32
          %s = arith.addf %x2, %y2 : f32
          %t = {9} %s : f32 to {1}
          linalg.yield %t : {1}
      } -> tensor<{0}x{1}>
      %oe = tensor.empty() : tensor<{0}xf32>
      %o = linalg.generic {{indexing_maps = [affine_map<({2}i, j) -> ({2}i, j)>, affine_map<({2}i, j) -> (i)>,
             affine_map<({2}i, j) -> ({2}i, j)>, affine_map<({2}i, j) -> ({2}i, j)>], iterator_types = [{3}"parallel", "parallel"]}
          ins(%z, %scale, %r : tensor<{0}x{1}>, tensor<{10}xf32>, tensor<{0}xf32>) outs(%oe : tensor<{0}xf32>) {{
        ^bb0(%x: {1}, %y: f32, %w: f32, %old: f32):
          %x2 = {8} %x : {1} to f32
          %q = arith.mulf %x2, %y : f32
          %s = arith.addf %q, %w : f32
          linalg.yield %s : f32
      } -> tensor<{0}xf32>
      return {11}%z, %o : {12}tensor<{0}x{1}>, tensor<{0}xf32>)mlir",
                       shape, roundedOf(c.kind), hasBatch ? "b, " : "", hasBatch ? "\"parallel\", " : "", product, c.n,
                       isInteger(c.kind) ? "i32" : "f32", round, widen, narrow, c.m, c.ending == Ending::Kept ? "%p, " : "", c.ending == Ending::Kept ? product + ", " : "");
}

/// What makes a float of a byte %`value`0.
std::string unpacking(llvm::StringRef value, Packing packing) {
  std::string text = "%four" + value.str() + " = arith.constant 4 : i8\n", byte = value.str() + "0";
  auto shift = [&](const char *op, const char *suffix) {
    text += llvm::formatv("%{0}{1} = arith.{2} %{3}, %four{0} : i8\n", value, suffix, op, byte);
    byte = value.str() + suffix;
  };
  if (packing == Packing::LowNibble)
    shift("shli", "l");
  if (packing != Packing::Byte)
    shift("shrsi", "h");
  return text + llvm::formatv("%{0} = arith.sitofp %{1} : i8 to f32\n", value, byte).str();
}

/// Axes of a tensor, each with a loop of its own, or with two: over groups and in a group.
struct Axes {
  struct Axis {
    std::string loop;
    int64_t size, group; ///< 0: one loop.
  };
  std::vector<Axis> axes;

  std::string map() const {
    return joined([](const Axis &axis) { return axis.group ? axis.loop + "g, " + axis.loop : axis.loop; }, ", ");
  }
  /// Only the loops over groups.
  std::string groupsMap() const {
    return joined([](const Axis &axis) { return axis.group ? axis.loop + "g" : axis.loop; }, ", ");
  }
  std::string groupsType() const {
    return "tensor<" + joined([](const Axis &axis) { return std::to_string(axis.group ? axis.size / axis.group : axis.size); }, "x") + "xf32>";
  }
  std::string type(llvm::StringRef element) const { return "tensor<" + sizes("x") + "x" + element.str() + ">"; }
  std::string sizes(llvm::StringRef between) const {
    return joined([&](const Axis &axis) {
      return axis.group ? llvm::formatv("{0}{1}{2}", axis.size / axis.group, between, axis.group).str() : std::to_string(axis.size);
    }, between);
  }
  /// Which axes are one in a tensor that is not grouped.
  std::string reassociation() const {
    int next = 0;
    return "[" + joined([&](const Axis &axis) {
      std::string own = "[" + std::to_string(next++);
      return own + (axis.group ? ", " + std::to_string(next++) : "") + "]";
    }, ", ") + "]";
  }

private:
  std::string joined(llvm::function_ref<std::string(const Axis &)> text, llvm::StringRef between) const {
    std::vector<std::string> texts;
    for (const Axis &axis : axes)
      texts.push_back(text(axis));
    return llvm::join(texts, between);
  }
};

/// The axes of the factors and of C in a case with scales.
struct ScaledAxes {
  Axes lhs, rhs, result, loops;
  explicit ScaledAxes(const Case &c) {
    bool ofLhs = c.lhsPacking != Packing::None;
    Axes::Axis b{"b", c.batch, 0}, i{"i", c.m, ofLhs ? c.sideGroup : 0}, j{"j", c.n, ofLhs ? 0 : c.sideGroup}, k{"k", c.k, c.sumGroup};
    lhs.axes = c.lhsTransposed ? std::vector{k, i} : std::vector{i, k};
    rhs.axes = c.rhsTransposed ? std::vector{j, k} : std::vector{k, j};
    result.axes = {i, j};
    loops.axes = {i, j, k};
    if (c.batch)
      for (Axes *axes : {&lhs, &rhs, &result, &loops})
        axes->axes.insert(axes->axes.begin(), b);
  }
  const Axes &scaled(const Case &c) const { return c.lhsPacking != Packing::None ? lhs : rhs; }
};

/// %p: the product of %a and %b, of which one has the scales %scales, added to %c if it is.
std::string scaledProductOf(const Case &c, llvm::StringRef lhs, llvm::StringRef rhs, llvm::StringRef result) {
  ScaledAxes axes(c);
  bool ofLhs = c.lhsPacking != Packing::None;
  std::string kinds;
  for (const Axes::Axis &axis : axes.loops.axes)
    for (int loop = 0; loop < (axis.group ? 2 : 1); ++loop)
      kinds += std::string(kinds.empty() ? "" : ", ") + (axis.loop == "k" ? "\"reduction\"" : "\"parallel\"");
  auto expanded = [](llvm::StringRef name, llvm::StringRef from, llvm::StringRef type, const Axes &axes, llvm::StringRef element) {
    return llvm::formatv("%{0} = tensor.expand_shape {1} {2} output_shape [{3}] : {4} into {5}\n", name, from, axes.reassociation(),
                         axes.sizes(", "), type, axes.type(element)).str();
  };
  std::string aElement = ofLhs ? "i8" : "f32", bElement = ofLhs ? "f32" : "i8";
  std::string text = expanded("ax", "%a", lhs, axes.lhs, aElement) + expanded("bx", "%b", rhs, axes.rhs, bElement) +
                     (c.accumulate ? expanded("cx", "%c", result, axes.result, "f32")
                                   : llvm::formatv("%zero = arith.constant 0.0 : f32\n%e = tensor.empty() : {0}\n"
                                                   "%cx = linalg.fill ins(%zero : f32) outs(%e : {0}) -> {0}\n", axes.result.type("f32")).str());
  auto map = [&](const std::string &results) { return llvm::formatv("affine_map<({0}) -> ({1})>", axes.loops.map(), results).str(); };
  text += llvm::formatv(R"mlir(
      %px = linalg.generic {{indexing_maps = [{0}, {1}, {2}, {3}], iterator_types = [{4}]}
          ins(%ax, %bx, %scales : {5}, {6}, {7}) outs(%cx : {8}) {{
        ^bb0(%{9}0: {10}, %{11}0: {12}, %t: f32, %o: f32):
          {13}
          %w = arith.mulf %x, %t : f32
          %m = arith.mulf %w, %y0 : f32
          %z = arith.addf %o, %m : f32
          linalg.yield %z : f32
      } -> {8}
      %p = tensor.collapse_shape %px {14} : {8} into {15}
)mlir", map(axes.lhs.map()), map(axes.rhs.map()), map(axes.scaled(c).groupsMap()), map(axes.result.map()), kinds,
                        axes.lhs.type(aElement), axes.rhs.type(bElement), axes.scaled(c).groupsType(), axes.result.type("f32"),
                        ofLhs ? "x" : "y", aElement, ofLhs ? "y" : "x", bElement, unpacking("x", ofLhs ? c.lhsPacking : c.rhsPacking),
                        axes.result.reassociation(), result);
  return text;
}

/// C = A * B, or C += A * B, at the stage tensor.
std::string textOf(const Case &c) {
  std::string batch = c.batch ? llvm::formatv("{0}x", c.batch).str() : "";
  auto type = [&](int64_t rows, int64_t columns, llvm::StringRef element) {
    return llvm::formatv("tensor<{0}{1}x{2}x{3}>", batch, rows, columns, element).str();
  };
  bool wide = isInteger(c.kind);
  std::string sum = wide ? "i32" : "f32";
  auto storedAs = [&](Packing packing) { return packing == Packing::None ? elementOf(c.kind) : "i8"; };
  std::string lhsElement = storedAs(c.lhsPacking), rhsElement = storedAs(c.rhsPacking);
  std::string lhs = c.lhsTransposed ? type(c.k, c.m, lhsElement) : type(c.m, c.k, lhsElement);
  std::string rhs = c.rhsTransposed ? type(c.n, c.k, rhsElement) : type(c.k, c.n, rhsElement);
  std::string result = c.isSummed ? llvm::formatv("tensor<{0}x{1}x{2}>", c.m, c.n, sum).str() : type(c.m, c.n, sum);
  std::string b = c.batch ? "b, " : "";
  auto suffixOf = [&](Packing packing) { return packing == Packing::None && sum == elementOf(c.kind) ? "0" : ""; };
  auto extend = [&](const char *value, Packing packing) -> std::string {
    if (packing != Packing::None)
      return unpacking(value, packing);
    if (sum == elementOf(c.kind))
      return "";
    const char *op = c.kind == Kind::I8 ? "extsi" : c.kind == Kind::U8 ? "extui" : "extf";
    return llvm::formatv("%{0} = arith.{1} %{0}0 : {2} to {3}\n", value, op, elementOf(c.kind), sum);
  };
  std::string start = "%c";
  std::string init;
  if (!c.accumulate) {
    init = llvm::formatv(
        "%zero = arith.constant {0} : {1}\n%e = tensor.empty() : {2}\n"
        "%f = linalg.fill ins(%zero : {1}) outs(%e : {2}) -> {2}\n",
        wide ? "0" : "0.0", sum, result);
    start = "%f";
  }
  std::string attribute =
      c.kind == Kind::Tf32 ? "attributes {hjx.matmul_precision = \"tf32\"}" : "";
  std::string more, end = "return %p : " + result, results = result;
  if (c.ending != Ending::None) {
    std::string wide = llvm::formatv("tensor<{0}{1}x{2}xf32>", c.isSummed ? "" : batch, c.m, c.n);
    std::string rounded = llvm::formatv("tensor<{0}{1}x{2}x{3}>", c.isSummed ? "" : batch, c.m, c.n, roundedOf(c.kind));
    more = llvm::formatv(", %bias: tensor<{0}x{1}>, %scale: tensor<{2}xf32>, %r: {3}", c.n, roundedOf(c.kind), c.m, wide);
    end = endingOf(c, result);
    results = llvm::formatv("({0}{1}, {2})", c.ending == Ending::Kept ? result + ", " : "", rounded, wide);
  }
  if (c.sideGroup) {
    more += ", %scales: " + ScaledAxes(c).scaled(c).groupsType();
    return llvm::formatv("module {0} {{\nfunc.func @main(%a: {1}, %b: {2}, %c: {3}{4}) -> {5} {{\n{6}{7}\n}\n}", attribute, lhs, rhs,
                         result, more, results, scaledProductOf(c, lhs, rhs, result), end);
  }
  return llvm::formatv(R"mlir(module {0} {{
    func.func @main(%a: {1}, %b: {2}, %c: {3}{16}) -> {17} {{
      {4}
      %p = linalg.generic {{indexing_maps = [affine_map<({5}i, j, k) -> ({5}{6})>,
             affine_map<({5}i, j, k) -> ({5}{7})>, affine_map<({5}i, j, k) -> ({15}i, j)>],
             iterator_types = [{8}"parallel", "parallel", "reduction"]}
          ins(%a, %b : {1}, {2}) outs({9} : {3}) {{
        ^bb0(%x0: {10}, %y0: {14}, %o: {11}):
          {12}
          %m = arith.mul{13} %x{19}, %y{20} : {11}
          %s = arith.add{13} %o, %m : {11}
          linalg.yield %s : {11}
      } -> {3}
      {18}
    }
  })mlir",
                       attribute, lhs, rhs, result, init, b, c.lhsTransposed ? "k, i" : "i, k",
                       c.rhsTransposed ? "j, k" : "k, j", !c.batch ? "" : c.isSummed ? "\"reduction\", " : "\"parallel\", ", start,
                       lhsElement, sum, extend("x", c.lhsPacking) + extend("y", c.rhsPacking), wide ? "i" : "f", rhsElement,
                       c.isSummed ? "" : b, more, results, end, suffixOf(c.lhsPacking), suffixOf(c.rhsPacking));
}

/// `value` as a number of the type that `kind` rounds to.
llvm::APFloat rounded(Kind kind, llvm::APFloat value) {
  bool lost;
  value.convert(kind == Kind::Bf16  ? llvm::APFloat::BFloat()
                : kind == Kind::F16 ? llvm::APFloat::IEEEhalf()
                                    : llvm::APFloat::IEEEsingle(),
                llvm::APFloat::rmNearestTiesToEven, &lost);
  return value;
}

/// Random numbers as a program and as a double sees them.
struct Numbers {
  std::vector<char> bytes;
  std::vector<double> values;

  Numbers(Kind kind, int64_t count, std::mt19937 &generator, Packing packing = Packing::None) {
    std::uniform_real_distribution<double> real(-1, 1);
    std::uniform_int_distribution<int> small(0, 255);
    for (int64_t i = 0; i < count; ++i) {
      if (packing != Packing::None) {
        auto byte = static_cast<int8_t>(small(generator));
        bytes.push_back(static_cast<char>(byte));
        values.push_back(packing == Packing::Byte        ? byte
                         : packing == Packing::LowNibble ? static_cast<int8_t>(byte << 4) >> 4
                                                         : byte >> 4);
        continue;
      }
      if (isInteger(kind)) {
        int byte = small(generator);
        bytes.push_back(static_cast<char>(byte));
        values.push_back(kind == Kind::I8 ? static_cast<int8_t>(byte) : byte);
        continue;
      }
      llvm::APFloat number = rounded(kind, llvm::APFloat(real(generator)));
      uint64_t bits = number.bitcastToAPInt().getZExtValue();
      const char *begin = reinterpret_cast<const char *>(&bits); // Little-endian.
      bytes.insert(bytes.end(), begin, begin + number.bitcastToAPInt().getBitWidth() / 8);
      bool lost;
      number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
      values.push_back(number.convertToDouble());
    }
  }
};

class GpuProductTest : public testing::TestWithParam<Case> {
protected:
  GpuProductTest() {
    DialectRegistry registry;
    registerGpuDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  std::unique_ptr<GpuProgram> compile(const Case &c, const std::string &chip) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(textOf(c), &context);
    if (!module)
      return nullptr;
    auto program = GpuProgram::compile(*module, {.chip = chip});
    EXPECT_TRUE(program.ok()) << program.status();
    if (!program.ok())
      return nullptr;
    EXPECT_GE((*program)->cost()->movedBytes, (*program)->cost()->minimumBytes);
    return *std::move(program);
  }

  static std::unique_ptr<Executable> load(GpuProgram &program) {
    auto loaded = program.load(**openDevice("cuda"));
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded.ok() ? makeHostExecutable(*std::move(loaded)) : nullptr;
  }

  void run(const Case &c, absl::Span<void *const> arguments, absl::Span<void *const> results) {
    RuntimeDevice *device = *openDevice("cuda");
    std::unique_ptr<GpuProgram> program = compile(c, *chipFor(device->info()));
    ASSERT_TRUE(program) << textOf(c);
    std::unique_ptr<Executable> executable = load(*program);
    ASSERT_TRUE(executable);
    absl::Status status = executable->run(arguments, results);
    ASSERT_TRUE(status.ok()) << status;
  }

  /// Compares the result with sums in double, and what follows with the same steps, bit by bit. `c` may
  /// have size 0.
  void expectProduct(const Case &c) {
    SCOPED_TRACE(nameOf(c));
    std::mt19937 generator(static_cast<unsigned>(c.m * 31 + c.n * 7 + c.k));
    int64_t batch = std::max<int64_t>(c.batch, 1);
    Numbers lhs(c.kind, batch * c.m * c.k, generator, c.lhsPacking), rhs(c.kind, batch * c.k * c.n, generator, c.rhsPacking);
    int64_t results = c.isSummed ? 1 : batch;
    std::vector<int32_t> start(results * c.m * c.n), got(start.size());
    std::vector<double> before(start.size());
    for (size_t i = 0; i < start.size(); ++i) {
      int value = static_cast<int>(i % 17) - 8;
      float real = static_cast<float>(value);
      before[i] = c.accumulate ? value : 0;
      isInteger(c.kind) ? void(start[i] = value) : void(std::memcpy(&start[i], &real, 4));
    }
    // The scale of an element of `factor`, of m or n and k.
    auto groups = [](int64_t size, int64_t group) { return group ? size / group : size; };
    bool ofLhs = c.lhsPacking != Packing::None, isTransposed = ofLhs ? !c.lhsTransposed : c.rhsTransposed;
    int64_t sideGroups = groups(ofLhs ? c.m : c.n, c.sideGroup), sumGroups = groups(c.k, c.sumGroup);
    Numbers scales(Kind::F32, c.sideGroup ? batch * sideGroups * sumGroups : 0, generator);
    auto scaleOf = [&](bool isLhs, int64_t of, int64_t side, int64_t k) {
      if (c.sideGroup == 0 || isLhs != ofLhs)
        return 1.0;
      int64_t sideOf = side / c.sideGroup, sumOf = k / c.sumGroup;
      return scales.values[of * sideGroups * sumGroups + (isTransposed ? sideOf * sumGroups + sumOf : sumOf * sideGroups + sideOf)];
    };
    char none;
    auto pointer = [&](auto &data) -> void * {
      return data.empty() ? static_cast<void *>(&none) : static_cast<void *>(data.data());
    };
    Kind narrow = c.kind == Kind::Bf16 || c.kind == Kind::F16 ? c.kind : Kind::F32;
    Numbers bias(narrow, c.n, generator), scale(Kind::F32, c.m, generator), residual(Kind::F32, start.size(), generator);
    std::vector<void *> arguments = {pointer(lhs.bytes), pointer(rhs.bytes), pointer(start)};
    std::vector<char> z(start.size() * (narrow == Kind::F32 ? 4 : 2)), zAlone(z);
    std::vector<float> o(start.size()), oAlone(o);
    if (c.ending != Ending::None)
      arguments.insert(arguments.end(), {pointer(bias.bytes), pointer(scale.bytes), pointer(residual.bytes)});
    if (c.sideGroup)
      arguments.push_back(pointer(scales.bytes));
    if (c.ending == Ending::None) {
      run(c, arguments, {pointer(got)});
    } else {
      Case other = c;
      run(c, arguments, {pointer(got), pointer(z), pointer(o)});
      other.ending = Ending::Alone;
      run(other, arguments, {pointer(zAlone), pointer(oAlone)});
      EXPECT_EQ(z, zAlone);
      EXPECT_EQ(o, oAlone);
      for (int64_t i = 0; i < static_cast<int64_t>(got.size()) && !HasFailure(); ++i) {
        llvm::APFloat product(llvm::APFloat::IEEEsingle(), llvm::APInt(32, static_cast<uint32_t>(got[i])));
        if (isInteger(c.kind))
          product = llvm::APFloat(static_cast<float>(got[i]));
        float sum = rounded(Kind::F32, rounded(narrow, product)).convertToFloat() + static_cast<float>(bias.values[i % c.n]);
        llvm::APFloat expected = rounded(narrow, llvm::APFloat(sum));
        uint64_t bits = expected.bitcastToAPInt().getZExtValue();
        size_t bytes = z.size() / start.size();
        EXPECT_EQ(std::memcmp(&bits, &z[i * bytes], bytes), 0) << "z of element " << i; // Little-endian.
        float scaled = rounded(Kind::F32, expected).convertToFloat() * static_cast<float>(scale.values[i / c.n % c.m]);
        EXPECT_EQ(o[i], scaled + static_cast<float>(residual.values[i])) << "o of element " << i;
      }
    }

    // Rounding of each product's factors, and of each sum.
    double tolerance = c.kind == Kind::Tf32 ? 0x1p-10 : 0;
    if (!isInteger(c.kind))
      tolerance += static_cast<double>((c.isSummed ? batch : 1) * c.k + 3) * 0x1p-23;
    int64_t depth = c.isSummed ? batch * c.k : c.k;
    for (int64_t b = 0; b < results; ++b)
      EXPECT_EQ(test::compareProduct(
                    c.m, c.n, depth, tolerance,
                    [&](int64_t i, int64_t x) {
                      int64_t of = b + (c.k ? x / c.k : 0), k = c.k ? x % c.k : 0;
                      return lhs.values[of * c.m * c.k + (c.lhsTransposed ? k * c.m + i : i * c.k + k)] * scaleOf(true, of, i, k);
                    },
                    [&](int64_t x, int64_t j) {
                      int64_t of = b + (c.k ? x / c.k : 0), k = c.k ? x % c.k : 0;
                      return rhs.values[of * c.k * c.n + (c.rhsTransposed ? j * c.k + k : k * c.n + j)] * scaleOf(false, of, j, k);
                    },
                    [&](int64_t i, int64_t j) { return before[(b * c.m + i) * c.n + j]; },
                    [&](int64_t i, int64_t j) {
                      int32_t bits = got[(b * c.m + i) * c.n + j];
                      float real;
                      std::memcpy(&real, &bits, 4);
                      return isInteger(c.kind) ? static_cast<double>(bits) : static_cast<double>(real);
                    }),
                "")
          << "of product " << b;
  }

  MLIRContext context;
};

using GpuProductAssemblyTest = GpuProductTest;

/// Each of `sizes` in all types and layouts.
std::vector<Case> inAllLayouts(std::initializer_list<Case> sizes) {
  std::vector<Case> cases;
  for (Case c : sizes)
    for (Kind kind : {Kind::Tf32, Kind::Bf16, Kind::F16, Kind::I8, Kind::U8})
      for (int layout = 0; layout < 4; ++layout) {
        c.kind = kind, c.lhsTransposed = layout & 1, c.rhsTransposed = layout & 2;
        cases.push_back(c);
      }
  return cases;
}

constexpr Case kWhole{Kind::F32, 128, 64, 96}; // Nothing is ragged.
constexpr Case kVectors{Kind::F32, 72, 88, 40}; // Edges are, by whole vectors.
constexpr Case kUnaligned{Kind::F32, 67, 70, 37};
constexpr Case kBatches{Kind::F32, 70, 66, 34, false, false, 3, true};
constexpr Case kDeep{Kind::F32, 80, 16, 688}; // Rings go round.
constexpr Case kAlignedBatches{Kind::F32, 80, 48, 144, false, false, 3, true};
constexpr Case kSums{Kind::F32, 48, 80, 176, false, false, 3, false, true};
// Few tiles and a long sum: several blocks take a tile.
constexpr Case kSplit{Kind::F32, 48, 80, 2096, false, false, 0, true};
constexpr Case kUnalignedSplit{Kind::F32, 33, 37, 2083};
constexpr Case kSplitLargeTiles{Kind::F32, 768, 768, 16384};

} // namespace

TEST_P(GpuProductTest, AgreesWithDouble) { expectProduct(GetParam()); }

TEST_P(GpuProductAssemblyTest, HasNoSpills) {
  std::optional<std::string> ptxas = test::assembler();
  if (!ptxas)
    GTEST_SKIP() << "there is no ptxas";
  for (const char *chip : {"sm_80", "sm_90", "sm_90a"}) {
    std::unique_ptr<GpuProgram> program = compile(GetParam(), chip);
    ASSERT_TRUE(program);
    test::expectNoSpills(*ptxas, program->ptx(), chip);
    Case ended = GetParam();
    ended.ending = Ending::Kept;
    if (!ended.lhsTransposed && ended.rhsTransposed) // The layout does not matter any more.
      test::expectNoSpills(*ptxas, compile(ended, chip)->ptx(), chip);
  }
}

auto printName = [](const auto &info) { return nameOf(info.param); };
INSTANTIATE_TEST_SUITE_P(Products, GpuProductTest,
                         testing::ValuesIn(inAllLayouts({kWhole, kVectors, kUnaligned, kBatches, kDeep, kAlignedBatches, kSums, kSplit})),
                         printName);
INSTANTIATE_TEST_SUITE_P(Products, GpuProductAssemblyTest,
                         testing::ValuesIn(inAllLayouts({kWhole, kUnaligned, kSums})), printName);

std::vector<Case> packedCases() {
  std::vector<Case> cases;
  for (Kind kind : {Kind::F32, Kind::Tf32})
    for (Packing packing : {Packing::Byte, Packing::LowNibble, Packing::HighNibble})
      for (Case c : {Case{Kind::F32, 4096, 768, 768}, kUnaligned}) {
        c.kind = kind, c.rhsPacking = packing, c.rhsTransposed = packing != Packing::LowNibble;
        cases.push_back(c);
        if (packing == Packing::Byte)
          continue;
        c.sideGroup = 1, c.sumGroup = c.k % 32 ? c.k : 32; // As x q has them, and as x q^T does.
        cases.push_back(c);
        std::swap(c.sideGroup, c.sumGroup);
        c.n = llvm::alignTo(c.n, c.sideGroup);
        cases.push_back(c);
      }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Packed, GpuProductAssemblyTest, testing::ValuesIn(packedCases()), printName);

/// The largest tiles, which keep most registers while sums of blocks are added up, and sizes that no vector divides.
std::vector<Case> splitCases() {
  std::vector<Case> cases;
  for (Kind kind : {Kind::F32, Kind::Tf32, Kind::Bf16, Kind::I8})
    for (Case c : {kSplitLargeTiles, kUnalignedSplit}) {
      c.kind = kind, c.rhsTransposed = true;
      cases.push_back(c);
    }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Splits, GpuProductAssemblyTest, testing::ValuesIn(splitCases()), printName);

/// The kernels of many blocks have larger tiles.
TEST_F(GpuProductTest, LargeTilesAgreeWithDouble) {
  Case large{Kind::Bf16, 72, 136, 16};
  large.batch = 128;
  for (bool lhsTransposed : {false, true}) {
    large.lhsTransposed = lhsTransposed, large.rhsTransposed = !lhsTransposed;
    for (Kind kind : {Kind::Bf16, Kind::Tf32}) {
      large.kind = kind;
      expectProduct(large);
    }
  }
  large.n = 120;
  expectProduct(large);
}

/// Sizes from 0 on, of which every second are those of vectors of 16 bytes, at most 16 times `mostVectors`.
Case anyCase(Kind kind, int round, int64_t mostVectors, std::mt19937 &generator) {
  auto below = [&](int64_t bound) { return static_cast<int64_t>(generator() % bound); };
  int64_t most = round % 3 == 0 ? 6 : round % 2 ? mostVectors : 90;
  Case c{kind, below(most), below(most), below(most)};
  if (round % 2)
    c.m *= 16, c.n *= 16, c.k *= 16;
  c.lhsTransposed = below(2);
  c.rhsTransposed = below(2);
  c.batch = below(3);
  c.accumulate = below(2);
  c.isSummed = c.batch && below(3) == 0;
  return c;
}

TEST_F(GpuProductTest, AnySizesAgreeWithDouble) {
  std::mt19937 generator(11);
  for (int round = 0; round < 40; ++round)
    expectProduct(anyCase(static_cast<Kind>(generator() % 6), round, 13, generator));
}

/// Quantized weights.
TEST_F(GpuProductTest, PackedFactorsAgreeWithDouble) {
  std::mt19937 generator(23);
  for (int round = 0; round < 24; ++round) {
    Case c = anyCase(round & 1 ? Kind::Tf32 : Kind::F32, round / 2, 9, generator);
    auto packing = static_cast<Packing>(1 + round % 3);
    (round & 4 ? c.lhsPacking : c.rhsPacking) = packing;
    if (round % 8 == 7)
      c.lhsPacking = c.rhsPacking = packing;
    c.ending = round % 5 == 0 ? Ending::Kept : Ending::None;
    expectProduct(c);
  }
}

/// Any groups along either axis, or both.
TEST_F(GpuProductTest, ScaledFactorsAgreeWithDouble) {
  std::mt19937 generator(29);
  constexpr int64_t kGroups[] = {1, 2, 3, 4, 7, 8, 16, 32};
  for (int round = 0; round < 36; ++round) {
    Case c = anyCase(round & 1 ? Kind::Tf32 : Kind::F32, round / 2, 9, generator);
    (round & 4 ? c.lhsPacking : c.rhsPacking) = static_cast<Packing>(1 + round % 3);
    c.isSummed = false;
    c.sideGroup = round % 5 == 0 ? kGroups[generator() % 8] : 1;
    c.sumGroup = kGroups[generator() % 8];
    if (round % 4 == 3)
      std::swap(c.sideGroup, c.sumGroup);
    int64_t &side = round & 4 ? c.m : c.n;
    side = llvm::alignTo(side, c.sideGroup);
    c.k = llvm::alignTo(c.k, c.sumGroup);
    c.ending = round % 6 == 0 ? Ending::Kept : Ending::None;
    expectProduct(c);
  }
}

TEST_F(GpuProductTest, ScaledFactorsAreReadAsBytesAndScales) {
  for (const char *chip : {"sm_80", "sm_90a"})
    for (Kind kind : {Kind::F32, Kind::Tf32})
      for (bool isTransposed : {false, true}) {
        Case c{kind, 256, 512, 128, false, isTransposed};
        c.rhsPacking = Packing::Byte, c.sideGroup = isTransposed ? 32 : 1, c.sumGroup = isTransposed ? 1 : 32;
        std::unique_ptr<GpuProgram> program = compile(c, chip);
        EXPECT_EQ(program->cost()->launches, 1);
        int64_t scales = 512 / c.sideGroup * (128 / c.sumGroup);
        EXPECT_EQ(program->cost()->movedBytes, 4 * 256 * 128 + 512 * 128 + 4 * scales + 4 * 256 * 512);
        EXPECT_THAT(program->ptx(), testing::ContainsRegex(isTransposed ? "_t4i8_[24]_scaled32x1v" : "_n4i8_[24]_scaled1x32v"));
      }
}

TEST_F(GpuProductTest, PackedFactorsAreReadAsBytes) {
  for (const char *chip : {"sm_80", "sm_90a"})
    for (Kind kind : {Kind::F32, Kind::Tf32}) {
      Case c{kind, 256, 512, 128, false, true};
      c.rhsPacking = Packing::Byte;
      std::unique_ptr<GpuProgram> program = compile(c, chip);
      EXPECT_EQ(program->cost()->launches, 1);
      EXPECT_EQ(program->cost()->movedBytes, 4 * 256 * 128 + 512 * 128 + 4 * 256 * 512);
      EXPECT_THAT(program->ptx(), testing::AllOf(HasSubstr("_t4i8_"), Not(HasSubstr("wgmma"))));
      if (kind == Kind::Tf32)
        EXPECT_THAT(program->ptx(), HasSubstr("mma.sync"));
    }
}

/// Sums so long that most are split, of all kinds and with what can follow them.
TEST_F(GpuProductTest, LongSumsAgreeWithDouble) {
  std::mt19937 generator(17);
  for (int round = 0; round < 24; ++round) {
    Case c = anyCase(static_cast<Kind>(round % 6), round, 5, generator);
    c.k *= 16;
    c.ending = round % 4 ? Ending::None : Ending::Kept;
    expectProduct(c);
  }
}

TEST_F(GpuProductTest, LongSumsAreSplitInOneLaunch) {
  for (const char *chip : {"sm_80", "sm_90a"})
    for (Kind kind : {Kind::F32, Kind::Tf32, Kind::Bf16, Kind::F16, Kind::I8, Kind::U8}) {
      Case c = kSplit;
      c.kind = kind, c.rhsTransposed = true, c.accumulate = false, c.ending = Ending::Alone;
      c.k = 8208;
      std::string ptx = compile(c, chip)->ptx();
      EXPECT_EQ(llvm::StringRef(ptx).count(".entry"), 1u) << nameOf(c);
      EXPECT_THAT(ptx, testing::AllOf(HasSubstr("_split"), HasSubstr("fence.acq_rel.gpu"), HasSubstr("atom.global.inc.u32")));
      c.k = 32;
      EXPECT_THAT(compile(c, chip)->ptx(), testing::AllOf(Not(HasSubstr("_split")), Not(HasSubstr("atom."))));
    }
}

/// Whichever block of a tile is the last, sums are added in one order; and the next call finds counters at 0.
TEST_F(GpuProductTest, SplitSumsAreTheSameBitsEveryTime) {
  RuntimeDevice *device = *openDevice("cuda");
  for (Kind kind : {Kind::F32, Kind::Bf16}) {
    Case c = kSplit;
    c.kind = kind;
    std::mt19937 generator(19);
    Numbers lhs(kind, c.m * c.k, generator), rhs(kind, c.k * c.n, generator), start(Kind::F32, c.m * c.n, generator);
    std::unique_ptr<Executable> executable = load(*compile(c, *chipFor(device->info())));
    ASSERT_TRUE(executable);
    std::vector<float> first(c.m * c.n), again(first);
    for (std::vector<float> *result : {&first, &again, &again, &again}) {
      absl::Status status = executable->run({lhs.bytes.data(), rhs.bytes.data(), start.bytes.data()}, {result->data()});
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(std::memcmp(result->data(), first.data(), first.size() * sizeof(float)), 0);
    }
  }
}

/// In one launch or in two, products have counters and sums of their own.
TEST_F(GpuProductTest, SplitProductsOfAProgramDoNotMeet) {
  constexpr int64_t kSide = 16, kDepth = 2048;
  std::string text = llvm::formatv(R"mlir(
    func.func @main(%a: tensor<{0}x{1}xf32>, %b: tensor<{1}x{0}xf32>, %c: tensor<{0}x{1}xf32>) -> (tensor<{0}x{0}xf32>, tensor<{0}x{0}xf32>) {{
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<{0}x{0}xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>
      %p = linalg.matmul ins(%a, %b : tensor<{0}x{1}xf32>, tensor<{1}x{0}xf32>) outs(%f : tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>
      %q = linalg.matmul ins(%c, %b : tensor<{0}x{1}xf32>, tensor<{1}x{0}xf32>) outs(%f : tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>
      return %p, %q : tensor<{0}x{0}xf32>, tensor<{0}x{0}xf32>
    })mlir", kSide, kDepth);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  auto program = GpuProgram::compile(*module, {});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT((*program)->ptx(), HasSubstr("_split"));
  std::unique_ptr<Executable> executable = load(**program);
  ASSERT_TRUE(executable);
  std::vector<float> ones(kSide * kDepth, 1), twos(kSide * kDepth, 2), p(kSide * kSide), q(p);
  absl::Status status = executable->run({ones.data(), ones.data(), twos.data()}, {p.data(), q.data()});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(p, testing::Each(kDepth));
  EXPECT_THAT(q, testing::Each(2 * kDepth));
}

/// Split products that are one launch count apart. What is alive later leaves room for both their partial sums.
TEST_F(GpuProductTest, SplitProductsShareALaunch) {
  constexpr int64_t kSide = 16, kDepth = 2048, kLarge = 512;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"mlir(
  #id = affine_map<(i, j) -> (i, j)>
  #col = affine_map<(i, j) -> (j)>
  func.func @main(%a: tensor<16x2048xf32>, %b: tensor<2048x16xf32>, %c: tensor<16x2048xf32>, %x: tensor<512x512xf32>)
      -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<512x512xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
    %p = linalg.matmul ins(%a, %b : tensor<16x2048xf32>, tensor<2048x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
    %q = linalg.matmul ins(%c, %b : tensor<16x2048xf32>, tensor<2048x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
    %ex = tensor.empty() : tensor<512x512xf32>
    %y = linalg.exp ins(%x : tensor<512x512xf32>) outs(%ex : tensor<512x512xf32>) -> tensor<512x512xf32>
    %es = tensor.empty() : tensor<512xf32>
    %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<512xf32>) -> tensor<512xf32>
    %s = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
        ins(%y : tensor<512x512xf32>) outs(%fs : tensor<512xf32>) {
      ^bb0(%v: f32, %t: f32):
        %w = arith.addf %v, %t : f32
        linalg.yield %w : f32
    } -> tensor<512xf32>
    %z = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
        ins(%y, %s : tensor<512x512xf32>, tensor<512xf32>) outs(%ex : tensor<512x512xf32>) {
      ^bb0(%v: f32, %t: f32, %o: f32):
        %w = arith.divf %v, %t : f32
        linalg.yield %w : f32
    } -> tensor<512x512xf32>
    return %p, %q, %z : tensor<16x16xf32>, tensor<16x16xf32>, tensor<512x512xf32>
  })mlir", &context);
  ASSERT_TRUE(module);
  auto program = GpuProgram::compile(*module, {});
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_THAT((*program)->ptx(), HasSubstr("_split_x2"));
  std::unique_ptr<Executable> executable = load(**program);
  ASSERT_TRUE(executable);
  std::vector<float> ones(kSide * kDepth, 1), twos(kSide * kDepth, 2), x(kLarge * kLarge), p(kSide * kSide), q(p), z(x);
  for (int call = 0; call < 2; ++call) {
    absl::Status status = executable->run({ones.data(), ones.data(), twos.data(), x.data()}, {p.data(), q.data(), z.data()});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_THAT(p, testing::Each(kDepth));
    EXPECT_THAT(q, testing::Each(2 * kDepth));
    EXPECT_THAT(z, testing::Each(1.0f / kLarge));
  }
}

/// What follows a product elementwise runs in its kernel, with the same numbers.
TEST_F(GpuProductTest, EndingsAreTheSameSteps) {
  std::mt19937 generator(13);
  for (int round = 0; round < 36; ++round) {
    Case c = anyCase(static_cast<Kind>(round % 6), round, 9, generator);
    c.ending = Ending::Kept;
    expectProduct(c);
  }
}

TEST_F(GpuProductTest, EndingsRunInTheKernelOfTheProduct) {
  for (const char *chip : {"sm_80", "sm_90a"})
    for (Kind kind : {Kind::F32, Kind::Tf32, Kind::Bf16, Kind::F16, Kind::I8, Kind::U8})
      for (Ending ending : {Ending::Kept, Ending::Alone})
        for (int64_t m : {64, 67}) {
          Case c{kind, m, 64, 32, false, true};
          c.batch = 2, c.ending = ending;
          EXPECT_EQ(llvm::StringRef(compile(c, chip)->ptx()).count(".entry"), 1u) << nameOf(c);
        }
}

/// Whether a type has tensor cores, and where it does not get them.
TEST_F(GpuProductTest, TensorCoresAreChosenByTypeAndLayout) {
  auto ptx = [&](const Case &c) { return compile(c, "sm_80")->ptx(); };
  EXPECT_THAT(ptx({Kind::F32, 128, 128, 64}), Not(HasSubstr("mma.sync")));
  EXPECT_THAT(ptx({Kind::Tf32, 128, 128, 64}),
              testing::AllOf(HasSubstr("m16n8k8.row.col.f32.tf32.tf32.f32"),
                             HasSubstr("cvt.rna.tf32.f32")));
  EXPECT_THAT(ptx({Kind::Bf16, 128, 128, 64}), HasSubstr("m16n8k16.row.col.f32.bf16.bf16.f32"));
  EXPECT_THAT(ptx({Kind::F16, 128, 128, 64}), HasSubstr("m16n8k16.row.col.f32.f16.f16.f32"));
  EXPECT_THAT(ptx({Kind::I8, 128, 128, 64, false, true}),
              HasSubstr("m16n8k32.row.col.s32.s8.s8.s32"));
  EXPECT_THAT(ptx({Kind::U8, 128, 128, 64, false, true}),
              HasSubstr("m16n8k32.row.col.s32.u8.u8.s32"));
  EXPECT_THAT(ptx({Kind::I8, 128, 128, 64}), Not(HasSubstr("mma.sync"))); // B is not along k.
}

/// Warp groups multiply where TMA brings the tiles: strides and addresses are multiples of 16 bytes.
TEST_F(GpuProductTest, WarpGroupsAreChosenWhereTheyCanBe) {
  auto ptx = [&](const Case &c, const char *chip = "sm_90a") { return compile(c, chip)->ptx(); };
  Case bf16{Kind::Bf16, 128, 128, 64};
  EXPECT_THAT(ptx(bf16), testing::AllOf(HasSubstr("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16"),
                                        HasSubstr("cp.async.bulk.tensor.2d.shared::cluster.global"),
                                        HasSubstr(".param .align 64 .b8")));
  EXPECT_THAT(ptx(bf16, "sm_90"), testing::AllOf(HasSubstr("mma.sync"), Not(HasSubstr("wgmma"))));
  EXPECT_THAT(ptx({Kind::F16, 128, 128, 64, true, true, 2}),
              testing::AllOf(HasSubstr("m64n64k16.f32.f16.f16"), HasSubstr("cp.async.bulk.tensor.3d")));
  EXPECT_THAT(ptx({Kind::Tf32, 128, 128, 64, false, true}), HasSubstr("m64n64k8.f32.tf32.tf32"));
  EXPECT_THAT(ptx({Kind::I8, 128, 128, 64, false, true}), HasSubstr("m64n64k32.s32.s8.s8"));
  EXPECT_THAT(ptx({Kind::U8, 128, 128, 64, false, true}), HasSubstr("m64n64k32.s32.u8.u8"));
  EXPECT_THAT(ptx({Kind::Bf16, 1024, 4096, 64}), testing::AllOf(HasSubstr("m64n256k16"), HasSubstr("setmaxnreg")));
  for (Case other : {Case{Kind::Tf32, 128, 128, 64}, // Not along k.
                     Case{Kind::Bf16, 128, 128, 60, false, true}, Case{Kind::F16, 128, 70, 64}})
    EXPECT_THAT(ptx(other), testing::AllOf(HasSubstr("mma.sync"), Not(HasSubstr("wgmma")))) << nameOf(other);
}

/// The code for one chip alone is no code for another.
TEST_F(GpuProductTest, KernelsOfOneChipAreRefusedForAnother) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(textOf({Kind::Bf16, 128, 128, 64}), &context);
  ASSERT_TRUE(lowerModule(*module, Stage::Tensor, Stage::Kernel, {.forGpu = true, .gpu = {"sm_90a"}}).ok());
  auto program = GpuProgram::compile(*module, {.chip = "sm_90", .startFrom = Stage::Kernel});
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(std::string(program.status().message()),
              HasSubstr("ptx: expected chip sm_90a, for which the kernels were generated, got 'sm_90'\n  help: "));
}

TEST_F(GpuProductTest, RefusesAnotherPrecision) {
  std::string text = textOf({Kind::Tf32, 8, 8, 8});
  text.replace(text.find("tf32"), 4, "tf16");
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  auto program = GpuProgram::compile(*module, {});
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(std::string(program.status().message()),
              HasSubstr("attribute 'hjx.matmul_precision': expected \"f32\" or \"tf32\", got \"tf16\""));
}
