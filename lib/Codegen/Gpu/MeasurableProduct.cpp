// SPDX-License-Identifier: Apache-2.0
//
// Names of products, and programs of one: see the header.
#include "lib/Codegen/Gpu/MeasurableProduct.h"

#include "dialects/hjx/Signature.h"

#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace hjx;

static std::string nameOf(const OutlinedProduct &product, const ProductLaunch &launch) {
  std::string all = launch.config.key();
  for (int64_t argument : launch.arguments)
    all += " " + std::to_string(argument);
  const ProductSizes &sizes = product.product.sizes;
  return (launch.config.name() + " " + Twine(sizes.m) + "x" + Twine(sizes.n) + "x" + Twine(sizes.k) + " " +
          llvm::utohexstr(llvm::xxh3_64bits(all), /*LowerCase=*/true, /*Width=*/16))
      .str();
}

std::vector<std::string> MeasurableProduct::candidates() const {
  constexpr size_t kMost = 6, kMostOfTile = 3;
  llvm::StringMap<size_t> ofTile;
  std::vector<std::string> best;
  for (const std::string &schedule : schedules)
    if (best.size() < kMost && ++ofTile[StringRef(schedule).split(' ').first] <= kMostOfTile)
      best.push_back(schedule);
  return best;
}

namespace {

/// Makes the program of one call.
class Isolation {
public:
  explicit Isolation(func::CallOp call) : call(call) {}

  OwningOpRef<ModuleOp> run(func::FuncOp callee, MatmulPrecision precision) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(call.getLoc());
    OpBuilder b(module->getBodyRegion());
    if (precision == MatmulPrecision::Tf32)
      (*module)->setAttr(kMatmulPrecisionAttr, b.getStringAttr("tf32"));
    b.clone(*callee);
    main = func::FuncOp::create(b, call.getLoc(), "main", b.getFunctionType({}, {}));
    body = OpBuilder::atBlockEnd(main.addEntryBlock());
    for (Value operand : call.getOperands())
      if (!take(operand))
        return nullptr;
    body.clone(*call, values);
    func::ReturnOp::create(body, call.getLoc());
    Signature signature{b.getFunctionType(argumentTypes, {}), SmallVector<DictionaryAttr>(argumentTypes.size(), b.getDictionaryAttr({})), {}};
    signature.record(*module);
    return module;
  }

private:
  /// Makes `value` there; says whether it can be.
  bool take(Value value) {
    if (values.contains(value))
      return true;
    Operation *op = value.getDefiningOp();
    if (isa_and_present<ViewLikeOpInterface>(op)) {
      if (!llvm::all_of(op->getOperands(), [&](Value operand) { return take(operand); }))
        return false;
      body.clone(*op, values);
      return true;
    }
    if (auto type = dyn_cast<MemRefType>(value.getType())) {
      if (!type.hasStaticShape() || !type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat())
        return false;
      (void)main.insertArgument(argumentTypes.size(), type, {}, call.getLoc()); // Fails only without a body.
      argumentTypes.push_back(RankedTensorType::get(type.getShape(), type.getElementType()));
      values.map(value, main.getArguments().back());
      return true;
    }
    if (!value.getType().isIndex())
      return false;
    // Where a loop's round is: the first, in a way that nobody takes for a constant with a better alignment.
    bool isConstant = matchPattern(value, m_Constant());
    values.map(value, isConstant ? body.clone(*op)->getResult(0) : unknownZero());
    return true;
  }

  Value unknownZero() {
    Value zero = arith::ConstantIndexOp::create(body, call.getLoc(), 0);
    return arith::AddIOp::create(body, call.getLoc(), zero, zero);
  }

  func::CallOp call;
  func::FuncOp main;
  OpBuilder body{call.getContext()};
  SmallVector<Type> argumentTypes;
  IRMapping values;
};

} // namespace

/// Whether the kernel of the one call in `program` will be told what `product` is.
static bool isSame(const OutlinedProduct &product, ModuleOp program) {
  KernelCalls all = kernelCalls(program);
  auto &[function, calls] = all.front();
  FailureOr<std::optional<OutlinedProduct>> alone = OutlinedProduct::match(function, bufferFacts(function, calls));
  return succeeded(alone) && *alone && (*alone)->alignments == product.alignments;
}

FailureOr<std::vector<MeasurableProduct>> hjx::measurableProducts(ModuleOp module, StringRef chip) {
  FailureOr<MatmulPrecision> precision = matmulPrecisionOf(module);
  if (failed(precision))
    return failure();
  std::vector<MeasurableProduct> products;
  for (auto &[function, calls] : kernelCalls(module)) {
    FailureOr<std::optional<OutlinedProduct>> outlined = OutlinedProduct::match(function, bufferFacts(function, calls));
    if (failed(outlined))
      return failure();
    if (!*outlined || calls.empty())
      continue;
    ProductLaunch launch = (*outlined)->launch(*precision, chip);
    MeasurableProduct &product = products.emplace_back();
    product.function = function;
    product.name = nameOf(**outlined, launch);
    product.schedules = launch.schedules;
    // The worst of several calls counts for the kernel, and may not be this one.
    product.program = Isolation(calls.front()).run(function, *precision);
    if (product.program && !isSame(**outlined, *product.program))
      product.program = nullptr;
  }
  return products;
}
