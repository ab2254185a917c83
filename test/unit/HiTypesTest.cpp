// SPDX-License-Identifier: Apache-2.0
//
// Hi-types and primitives in the IR, without the C++ classes that users write:
// each public function of HiTypesPrograms.mlir is one test. It is expanded,
// lowered and run by the interpreter, which checks what the function expects.
//
// Types:      !hjx.q8<4x8>       int8 numbers and a float scale for each row; tangent f32
//             !hjx.tup<types>    a tuple; spec: a list of its components' specs
// Primitives: quantize           vjp only: straight-through
//             dequantize         vjp and a batching rule
//             cube               jvp only
//             tup, get           a tuple of values, a component; jvp, transpose, batch
#include "lib/HiTypes/Passes.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Pipelines/Pipelines.h"
#include "lib/Pipelines/Register.h"
#include "lib/Refs/Passes.h"
#include "lib/Rules/Emit.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>

using namespace mlir;
using namespace hjx;

namespace {

using Values = SmallVector<Value>;
using Builder = ImplicitLocOpBuilder;

IntegerAttr axisSpec(MLIRContext *context, int64_t axis) { return IntegerAttr::get(IntegerType::get(context, 64), axis); }

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Q8 : public ir::HiTypeDef {
public:
  Q8() : HiTypeDef("q8") {}
  static ir::HiType get(MLIRContext *context, ArrayRef<int64_t> shape) {
    return ir::HiType::get(context, ir::HiRegistry::get().findType("q8"), DenseI64ArrayAttr::get(context, shape));
  }
  LogicalResult verify(ArrayRef<Attribute> params, ir::EmitError emitError) const override {
    if (params.size() != 1 || !isa<DenseI64ArrayAttr>(params[0]) || cast<DenseI64ArrayAttr>(params[0]).empty())
      return emitError() << "q8 takes a shape of at least one dimension";
    return success();
  }
  FailureOr<SmallVector<Type>> loTypes(ir::HiType type, ir::EmitError) const override {
    ArrayRef<int64_t> shape = type.getShape(0);
    return SmallVector<Type>{RankedTensorType::get(shape, IntegerType::get(type.getContext(), 8)),
                             RankedTensorType::get(shape.drop_back(), Float32Type::get(type.getContext()))};
  }
  Type tangentType(ir::HiType type) const override {
    return RankedTensorType::get(type.getShape(0), Float32Type::get(type.getContext()));
  }
  FailureOr<Value> zero(Builder &, ir::HiType) const override { return failure(); }
  FailureOr<Value> add(Builder &, Value, Value) const override { return failure(); }
  FailureOr<Type> decRank(ir::HiType type, int64_t size, Attribute spec, ir::EmitError emitError) const override {
    if (!isLeading(spec) || type.getShape(0).size() < 2 || type.getShape(0).front() != size)
      return emitError() << "q8 is mapped at \"leading\" only, over its first dimension; got " << spec;
    return Type(get(type.getContext(), type.getShape(0).drop_front()));
  }
  FailureOr<Type> incRank(ir::HiType type, int64_t size, Attribute spec, ir::EmitError emitError) const override {
    if (!isLeading(spec))
      return emitError() << "q8 is mapped at \"leading\" only; got " << spec;
    SmallVector<int64_t> shape{size};
    llvm::append_range(shape, type.getShape(0));
    return Type(get(type.getContext(), shape));
  }
  FailureOr<Attribute> leadingAxisSpec(ir::HiType type, ir::EmitError) const override {
    return Attribute(StringAttr::get(type.getContext(), "leading"));
  }

private:
  static bool isLeading(Attribute spec) {
    auto text = dyn_cast<StringAttr>(spec);
    return text && text.getValue() == "leading";
  }
};

class Tup : public ir::HiTypeDef {
public:
  Tup() : HiTypeDef("tup") {}
  static ir::HiType get(MLIRContext *context, TypeRange types) {
    SmallVector<Attribute> params;
    for (Type type : types)
      params.push_back(TypeAttr::get(type));
    return ir::HiType::get(context, ir::HiRegistry::get().findType("tup"), params);
  }
  static SmallVector<Type> types(ir::HiType type) {
    return llvm::map_to_vector(type.getParams(), [](Attribute param) { return cast<TypeAttr>(param).getValue(); });
  }
  LogicalResult verify(ArrayRef<Attribute> params, ir::EmitError emitError) const override {
    return llvm::all_of(params, llvm::IsaPred<TypeAttr>) ? success() : LogicalResult(emitError() << "tup takes types");
  }
  FailureOr<SmallVector<Type>> loTypes(ir::HiType type, ir::EmitError) const override { return types(type); }
  Type tangentType(ir::HiType type) const override {
    return get(type.getContext(), llvm::map_to_vector(types(type), [](Type t) { return ir::tangentOf(t); }));
  }
  FailureOr<Value> zero(Builder &b, ir::HiType type) const override {
    return Value(ir::RaiseOp::create(b, type, llvm::map_to_vector(types(type), [&](Type t) { return ir::makeZero(b, t); })));
  }
  FailureOr<Value> add(Builder &b, Value x, Value y) const override {
    auto type = cast<ir::HiType>(x.getType());
    auto xs = ir::LowerOp::create(b, types(type), x), ys = ir::LowerOp::create(b, types(type), y);
    Values sums;
    for (auto [p, q] : llvm::zip_equal(xs.getResults(), ys.getResults()))
      sums.push_back(ir::makeSum(b, p, q));
    return Value(ir::RaiseOp::create(b, type, sums));
  }
  FailureOr<Type> decRank(ir::HiType type, int64_t size, Attribute spec, ir::EmitError emitError) const override {
    return change(type, size, spec, emitError, ir::decRank);
  }
  FailureOr<Type> incRank(ir::HiType type, int64_t size, Attribute spec, ir::EmitError emitError) const override {
    return change(type, size, spec, emitError, ir::incRank);
  }
  FailureOr<Attribute> leadingAxisSpec(ir::HiType type, ir::EmitError emitError) const override {
    SmallVector<Attribute> specs;
    for (Type t : types(type)) {
      auto spec = ir::leadingAxisSpec(t, emitError);
      if (failed(spec))
        return failure();
      specs.push_back(*spec);
    }
    return Attribute(ArrayAttr::get(type.getContext(), specs));
  }

private:
  static FailureOr<Type> change(ir::HiType type, int64_t size, Attribute spec, ir::EmitError emitError, decltype(ir::decRank) &rank) {
    auto specs = dyn_cast<ArrayAttr>(spec);
    if (!specs || specs.size() != type.getParams().size())
      return emitError() << "tup is mapped by a list of specs, got " << spec;
    SmallVector<Type> changed;
    for (auto [t, s] : llvm::zip_equal(types(type), specs)) {
      auto result = isa<UnitAttr>(s) ? FailureOr<Type>(t) : rank(t, size, s, emitError);
      if (failed(result))
        return failure();
      changed.push_back(*result);
    }
    return Type(get(type.getContext(), changed));
  }
};

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

/// Says which rules there are; each primitive below overrides those.
class Primitive : public ir::PrimitiveDef {
public:
  using Values = SmallVector<Value>;
  Primitive(std::string name, std::set<Rule> rules) : PrimitiveDef(std::move(name)), rules(std::move(rules)) {}
  bool has(Rule rule) const override { return rules.count(rule); }

protected:
  /// The operation itself, for rules.
  Value call(Builder &b, ArrayRef<Type> results, ValueRange operands, DictionaryAttr params = {}) const {
    return ir::CallPrimitiveOp::create(b, results, b.getStringAttr(name()), operands, params)->getResult(0);
  }

private:
  std::set<Rule> rules;
};

class Quantize : public Primitive {
public:
  Quantize() : Primitive("quantize", {Rule::Vjp}) {}
  FailureOr<SmallVector<Type>> infer(DictionaryAttr, TypeRange operands, ir::EmitError emitError) const override {
    auto array = operands.size() == 1 ? dyn_cast<RankedTensorType>(operands[0]) : RankedTensorType();
    if (!array || !array.getElementType().isF32() || array.getRank() == 0)
      return emitError() << "expected one f32 array of at least one dimension, got (" << operands << ")";
    return SmallVector<Type>{Q8::get(array.getContext(), array.getShape())};
  }
  LogicalResult expandRule(Builder &b, const ir::PrimitiveCall &c, ValueRange x, SmallVectorImpl<Value> &results) const override {
    RankedTensorType type = emit::typeOf(x[0]);
    int64_t last = type.getRank() - 1;
    Value scale = emit::mul(b, ir::ReduceMaxOp::create(b, emit::abs(b, x[0]), ArrayRef<int64_t>{last}),
                            ir::makeSplat(b, b.getLoc(), type.clone(type.getShape().drop_back()), 1.0 / 127));
    Value wide = emit::broadcastInDim(b, scale, type.getShape(), ir::iotaDims(last));
    Value rounded = ir::RoundOp::create(b, type, ir::RoundingMethod::ToNearestEven, emit::div(b, x[0], wide));
    results.push_back(ir::RaiseOp::create(b, c.resultTypes[0], Values{emit::convert(b, rounded, b.getI8Type()), scale}));
    return success();
  }
  LogicalResult vjpForwardRule(Builder &b, const ir::PrimitiveCall &c, ValueRange x, ArrayRef<bool>, SmallVectorImpl<Value> &results,
                           SmallVectorImpl<Value> &) const override {
    results.push_back(call(b, c.resultTypes, x));
    return success();
  }
  LogicalResult vjpBackwardRule(Builder &, const ir::PrimitiveCall &, ValueRange, ArrayRef<Value> bars, ArrayRef<ir::BarSink>,
                            SmallVectorImpl<Value> &operandBars) const override {
    operandBars.push_back(bars[0]);
    return success();
  }
};

class Dequantize : public Primitive {
public:
  Dequantize() : Primitive("dequantize", {Rule::Vjp, Rule::Batch}) {}
  FailureOr<SmallVector<Type>> infer(DictionaryAttr, TypeRange operands, ir::EmitError emitError) const override {
    if (operands.size() != 1 || !isa<ir::HiType>(operands[0]))
      return emitError() << "expected one q8, got (" << operands << ")";
    return SmallVector<Type>{ir::tangentOf(operands[0])};
  }
  LogicalResult expandRule(Builder &b, const ir::PrimitiveCall &c, ValueRange q, SmallVectorImpl<Value> &results) const override {
    auto components = *Q8().loTypes(cast<ir::HiType>(q[0].getType()), nullptr);
    auto lowered = ir::LowerOp::create(b, components, q[0]);
    auto type = cast<RankedTensorType>(c.resultTypes[0]);
    results.push_back(emit::mul(b, emit::convert(b, lowered.getResult(0), b.getF32Type()),
                            emit::broadcastInDim(b, lowered.getResult(1), type.getShape(), ir::iotaDims(type.getRank() - 1))));
    return success();
  }
  LogicalResult vjpForwardRule(Builder &b, const ir::PrimitiveCall &c, ValueRange q, ArrayRef<bool>, SmallVectorImpl<Value> &results,
                           SmallVectorImpl<Value> &) const override {
    results.push_back(call(b, c.resultTypes, q));
    return success();
  }
  LogicalResult vjpBackwardRule(Builder &, const ir::PrimitiveCall &, ValueRange, ArrayRef<Value> bars, ArrayRef<ir::BarSink>,
                            SmallVectorImpl<Value> &operandBars) const override {
    operandBars.push_back(bars[0]);
    return success();
  }
  LogicalResult batchRule(Builder &b, const ir::PrimitiveCall &, int64_t, ValueRange q, ArrayRef<Attribute>, SmallVectorImpl<Value> &results,
                      SmallVectorImpl<Attribute> &specs) const override {
    results.push_back(call(b, ir::tangentOf(q[0].getType()), q));
    specs.push_back(axisSpec(b.getContext(), 0));
    return success();
  }
};

class Cube : public Primitive {
public:
  Cube() : Primitive("cube", {Rule::Jvp}) {}
  FailureOr<SmallVector<Type>> infer(DictionaryAttr, TypeRange operands, ir::EmitError) const override {
    return SmallVector<Type>(operands);
  }
  LogicalResult expandRule(Builder &b, const ir::PrimitiveCall &, ValueRange x, SmallVectorImpl<Value> &results) const override {
    results.push_back(emit::mul(b, x[0], emit::mul(b, x[0], x[0])));
    return success();
  }
  LogicalResult jvpRule(Builder &b, const ir::PrimitiveCall &c, ValueRange x, ArrayRef<Value> dots, SmallVectorImpl<Value> &results,
                    SmallVectorImpl<Value> &resultDots) const override {
    results.push_back(call(b, c.resultTypes, x));
    resultDots.push_back(emit::mul(b, emit::mul(b, emit::fullLike(b, x[0], 3.0), emit::mul(b, x[0], x[0])), dots[0]));
    return success();
  }
};

class MakeTup : public Primitive {
public:
  MakeTup() : Primitive("tup", {Rule::Jvp, Rule::Transpose, Rule::Batch}) {}
  FailureOr<SmallVector<Type>> infer(DictionaryAttr params, TypeRange operands, ir::EmitError) const override {
    return SmallVector<Type>{Tup::get(params.getContext(), operands)};
  }
  LogicalResult expandRule(Builder &b, const ir::PrimitiveCall &c, ValueRange x, SmallVectorImpl<Value> &results) const override {
    results.push_back(ir::RaiseOp::create(b, c.resultTypes[0], x));
    return success();
  }
  LogicalResult jvpRule(Builder &b, const ir::PrimitiveCall &c, ValueRange x, ArrayRef<Value> dots, SmallVectorImpl<Value> &results,
                    SmallVectorImpl<Value> &resultDots) const override {
    Values all;
    for (auto [value, dot] : llvm::zip_equal(x, dots))
      all.push_back(dot ? dot : ir::makeZero(b, ir::tangentOf(value.getType())));
    results.push_back(call(b, c.resultTypes, x));
    resultDots.push_back(call(b, ir::tangentOf(c.resultTypes[0]), all));
    return success();
  }
  LogicalResult transposeRule(Builder &b, const ir::PrimitiveCall &c, ArrayRef<Value>, ArrayRef<Value> bars,
                          SmallVectorImpl<Value> &operandBars) const override;
  LogicalResult batchRule(Builder &b, const ir::PrimitiveCall &, int64_t, ValueRange x, ArrayRef<Attribute> specs,
                      SmallVectorImpl<Value> &results, SmallVectorImpl<Attribute> &resultSpecs) const override {
    results.push_back(call(b, Tup::get(b.getContext(), x.getTypes()), x));
    resultSpecs.push_back(ArrayAttr::get(b.getContext(), llvm::map_to_vector(specs, [&](Attribute s) { return s ? s : b.getUnitAttr(); })));
    return success();
  }
};

class Get : public Primitive {
public:
  Get() : Primitive("get", {Rule::Jvp, Rule::Transpose, Rule::Batch}) {}
  static int64_t index(DictionaryAttr params) { return params.getAs<IntegerAttr>("index").getInt(); }
  static Value of(Builder &b, Value tup, int64_t i) {
    return ir::CallPrimitiveOp::create(b, Tup::types(cast<ir::HiType>(tup.getType()))[i], b.getStringAttr("get"), tup,
                                       b.getDictionaryAttr(b.getNamedAttr("index", b.getI64IntegerAttr(i))))
        ->getResult(0);
  }
  FailureOr<SmallVector<Type>> infer(DictionaryAttr params, TypeRange operands, ir::EmitError) const override {
    return SmallVector<Type>{Tup::types(cast<ir::HiType>(operands[0]))[index(params)]};
  }
  LogicalResult expandRule(Builder &b, const ir::PrimitiveCall &c, ValueRange x, SmallVectorImpl<Value> &results) const override {
    results.push_back(ir::LowerOp::create(b, Tup::types(cast<ir::HiType>(x[0].getType())), x[0]).getResult(index(c.params)));
    return success();
  }
  LogicalResult jvpRule(Builder &b, const ir::PrimitiveCall &c, ValueRange x, ArrayRef<Value> dots, SmallVectorImpl<Value> &results,
                    SmallVectorImpl<Value> &resultDots) const override {
    results.push_back(of(b, x[0], index(c.params)));
    resultDots.push_back(of(b, dots[0], index(c.params)));
    return success();
  }
  LogicalResult transposeRule(Builder &b, const ir::PrimitiveCall &c, ArrayRef<Value>, ArrayRef<Value> bars,
                          SmallVectorImpl<Value> &operandBars) const override {
    Values components;
    for (auto [i, type] : llvm::enumerate(Tup::types(cast<ir::HiType>(c.operandTypes[0]))))
      components.push_back(static_cast<int64_t>(i) == index(c.params) ? bars[0] : ir::makeZero(b, type));
    operandBars.push_back(ir::CallPrimitiveOp::create(b, c.operandTypes[0], b.getStringAttr("tup"), components, DictionaryAttr())->getResult(0));
    return success();
  }
  LogicalResult batchRule(Builder &b, const ir::PrimitiveCall &c, int64_t, ValueRange x, ArrayRef<Attribute> specs,
                      SmallVectorImpl<Value> &results, SmallVectorImpl<Attribute> &resultSpecs) const override {
    results.push_back(of(b, x[0], index(c.params)));
    resultSpecs.push_back(cast<ArrayAttr>(specs[0])[index(c.params)]);
    return success();
  }
};

LogicalResult MakeTup::transposeRule(Builder &b, const ir::PrimitiveCall &c, ArrayRef<Value>, ArrayRef<Value> bars,
                                 SmallVectorImpl<Value> &operandBars) const {
  for (unsigned i = 0; i < c.operandTypes.size(); ++i)
    operandBars.push_back(Get::of(b, bars[0], i));
  return success();
}

void registerDefinitions() {
  static bool once = [] {
    ir::HiRegistry &registry = ir::HiRegistry::get();
    bool all = registry.add(std::make_unique<Q8>());
    all &= registry.add(std::make_unique<Tup>());
    all &= registry.add(std::make_unique<Quantize>());
    all &= registry.add(std::make_unique<Dequantize>());
    all &= registry.add(std::make_unique<Cube>());
    all &= registry.add(std::make_unique<MakeTup>());
    return all && registry.add(std::make_unique<Get>());
  }();
  ASSERT_TRUE(once);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

class HiTypesProgram : public testing::TestWithParam<std::string> {};

TEST_P(HiTypesProgram, HoldsWhatItExpects) {
  registerDefinitions();
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = parseSourceFile<ModuleOp>(HJX_TEST_SOURCE_DIR "/HiTypesPrograms.mlir", &context);
  ASSERT_TRUE(module);
  for (func::FuncOp function : llvm::to_vector(module->getOps<func::FuncOp>()))
    if (function.isPublic() && function.getName() != GetParam())
      function.erase();
  PassManager pipeline(&context);
  buildToPurePipeline(pipeline);
  pipeline.addPass(createDischargeRefs());
  pipeline.addPass(createLowerHi());
  ASSERT_TRUE(succeeded(pipeline.run(*module)));
  EXPECT_TRUE(succeeded(interpret(module->lookupSymbol<func::FuncOp>(GetParam()), {}))) << [&] {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }();
}

std::vector<std::string> programs() {
  std::ifstream file(HJX_TEST_SOURCE_DIR "/HiTypesPrograms.mlir");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::string> names;
  std::regex header(R"(func\.func @(\w+))");
  for (std::sregex_iterator it(text.begin(), text.end(), header), end; it != end; ++it)
    names.push_back((*it)[1]);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Programs, HiTypesProgram, testing::ValuesIn(programs()), [](const auto &info) { return info.param; });

} // namespace
