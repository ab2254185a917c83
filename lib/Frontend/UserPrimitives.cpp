// SPDX-License-Identifier: Apache-2.0
//
// Users' classes of primitives as the compiler sees them: each becomes a definition in
// the dialect's registry. And calls of primitives.
#include "lib/Frontend/RuleScope.h"

#include "lib/Frontend/Request.h"

#include <hjx/hi_type.h>

using namespace mlir;

namespace hjx::detail {

UserPrimitive::~UserPrimitive() = default;

namespace {

FailureOr<Params> paramsOf(DictionaryAttr dictionary, ir::EmitError emitError) {
  Params params;
  for (NamedAttribute entry : dictionary) {
    std::string name = entry.getName().str();
    Attribute value = entry.getValue();
    if (auto boolean = dyn_cast<BoolAttr>(value))
      params.emplace_back(name, boolean.getValue());
    else if (auto integer = dyn_cast<IntegerAttr>(value))
      params.emplace_back(name, integer.getInt());
    else if (auto real = dyn_cast<FloatAttr>(value))
      params.emplace_back(name, real.getValueAsDouble());
    else if (auto text = dyn_cast<StringAttr>(value))
      params.emplace_back(name, text.str());
    else if (auto sizes = dyn_cast<DenseI64ArrayAttr>(value))
      params.emplace_back(name, Shape(sizes.asArrayRef().begin(), sizes.asArrayRef().end()));
    else if (auto type = dyn_cast<TypeAttr>(value); type && isa<RankedTensorType, ir::HiType>(type.getValue()))
      params.emplace_back(name, avalOf(type.getValue()).type());
    else
      return emitError() << "expected a bool, a number, a string, array<i64: ..> or a type as the parameter '" << name << "', got "
                         << value << "; those are what primitives understand";
  }
  return params;
}

DictionaryAttr dictionaryOf(const Params &params, MLIRContext *context) {
  Builder b(context);
  SmallVector<NamedAttribute> entries;
  auto attribute = [&](const auto &value) -> Attribute {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, bool>)
      return b.getBoolAttr(value);
    else if constexpr (std::is_same_v<T, int64_t>)
      return b.getI64IntegerAttr(value);
    else if constexpr (std::is_same_v<T, double>)
      return b.getF64FloatAttr(value);
    else if constexpr (std::is_same_v<T, std::string>)
      return b.getStringAttr(value);
    else if constexpr (std::is_same_v<T, Shape>)
      return b.getDenseI64ArrayAttr(value.vec());
    else
      return TypeAttr::get(typeOf(value, context));
  };
  for (const auto &[name, param] : params)
    entries.push_back(b.getNamedAttr(name, std::visit(attribute, param)));
  return entries.empty() ? DictionaryAttr() : b.getDictionaryAttr(entries);
}

std::vector<hjx::Type> typesOf(TypeRange types) {
  std::vector<hjx::Type> list;
  for (mlir::Type type : types)
    list.push_back(avalOf(type).type());
  return list;
}

/// A rule in the frame of its call: a list of values in, a list out; PrimitiveDef checks what comes out.
class PrimitiveAdapter final : public ir::PrimitiveDef {
public:
  explicit PrimitiveAdapter(const UserPrimitive &user) : PrimitiveDef(user.name()), user(user) {}

  bool has(Rule rule) const override { return user.has(static_cast<UserPrimitive::Rule>(rule)); }

  FailureOr<SmallVector<mlir::Type>> infer(DictionaryAttr dictionary, TypeRange operands, ir::EmitError emitError) const override {
    auto params = paramsOf(dictionary, emitError);
    if (failed(params))
      return failure();
    std::vector<bool> isRef = user.refs(operands.size());
    for (auto [i, type] : llvm::enumerate(operands))
      if (isa<ir::RefType>(type) != isRef[i])
        return emitError() << "expected " << (isRef[i] ? "a ref" : "a value") << " as operand " << i << ", got " << type << "; "
                           << (isRef[i] ? "make one: hjx.ref_new" : "read what the ref holds: hjx.ref_get");
    SmallVector<mlir::Type> results;
    if (failed(askUser(emitError, [&] {
          for (const hjx::Type &type : user.infer(*params, typesOf(operands)))
            results.push_back(typeOf(type, dictionary.getContext()));
        })))
      return failure();
    return results;
  }

protected:
  LogicalResult expandRule(Builder &b, const ir::PrimitiveCall &call, ValueRange operands, Values &results) const override {
    return run(b, call, results, [&](RuleScope &scope, const RuleCall &ruleCall) {
      return user.expand(ruleCall, scope.wrap(llvm::to_vector(operands)));
    });
  }

  LogicalResult jvpRule(Builder &b, const ir::PrimitiveCall &call, ValueRange primals, ArrayRef<Value> tangents, Values &results,
                        Values &resultTangents) const override {
    return run(b, call, results, resultTangents, [&](RuleScope &scope, const RuleCall &ruleCall) {
      return user.jvp(ruleCall, scope.wrap(llvm::to_vector(primals)), scope.wrap(tangents));
    });
  }

  LogicalResult linearizeRule(Builder &b, const ir::PrimitiveCall &call, ValueRange primals, ArrayRef<bool> active, Values &results,
                              Values &residuals) const override {
    return run(b, call, results, residuals, [&](RuleScope &scope, const RuleCall &ruleCall) {
      return user.linearize(ruleCall, scope.wrap(llvm::to_vector(primals)), maskOf(active));
    });
  }

  LogicalResult linearizedRule(Builder &b, const ir::PrimitiveCall &call, ValueRange residuals, ArrayRef<Value> tangents,
                               Values &resultTangents) const override {
    return run(b, call, resultTangents, [&](RuleScope &scope, const RuleCall &ruleCall) {
      return user.linearized(ruleCall, scope.wrap(llvm::to_vector(residuals)), scope.wrap(tangents));
    });
  }

  LogicalResult vjpForwardRule(Builder &b, const ir::PrimitiveCall &call, ValueRange primals, ArrayRef<bool> active, Values &results,
                               Values &residuals) const override {
    return run(b, call, results, residuals, [&](RuleScope &scope, const RuleCall &ruleCall) {
      return user.vjpForward(ruleCall, scope.wrap(llvm::to_vector(primals)), maskOf(active));
    });
  }

  LogicalResult vjpBackwardRule(Builder &b, const ir::PrimitiveCall &call, ValueRange residuals, ArrayRef<Value> resultBars,
                                ArrayRef<ir::BarSink> sinks, Values &operandBars) const override {
    return run(b, call, operandBars, [&](RuleScope &scope, const RuleCall &ruleCall) {
      std::vector<AccumSlot> slots;
      for (auto [sink, type] : llvm::zip_equal(sinks, ruleCall.operandTypes)) {
        std::optional<hjx::Type> tangent = tangentTypeOf(type);
        AccumSlot::Kind kind = sink.kind == ir::BarSink::Ref ? AccumSlot::Cell : AccumSlot::Sum;
        bool isWanted = tangent && sink.kind != ir::BarSink::None;
        slots.push_back({isWanted ? kind : AccumSlot::Unwanted, tangent.value_or(hjx::Type()), scope.wrap(sink.ref), {}});
      }
      return user.vjpBackward(ruleCall, scope.wrap(llvm::to_vector(residuals)), scope.wrap(resultBars), slots);
    });
  }

  LogicalResult transposeRule(Builder &b, const ir::PrimitiveCall &call, ArrayRef<Value> operands, ArrayRef<Value> resultBars,
                              Values &operandBars) const override {
    return run(b, call, operandBars, [&](RuleScope &scope, const RuleCall &ruleCall) {
      return user.transpose(ruleCall, scope.wrap(operands), scope.wrap(resultBars));
    });
  }

  LogicalResult batchRule(Builder &b, const ir::PrimitiveCall &call, int64_t size, ValueRange operands, ArrayRef<Attribute> specs,
                          Values &results, SmallVectorImpl<Attribute> &resultSpecs) const override {
    auto mapped = mappedOf(b, size, specs);
    if (failed(mapped))
      return failure();
    return run(b, call, results, [&](RuleScope &scope, const RuleCall &ruleCall) {
      std::vector<AxisSpec> outSpecs;
      ArrayList leaves = user.batch(ruleCall, *mapped, scope.wrap(llvm::to_vector(operands)), outSpecs);
      append(outSpecs, b.getContext(), resultSpecs);
      return leaves;
    });
  }

  LogicalResult batchAxesRule(Builder &b, const ir::PrimitiveCall &call, int64_t size, ArrayRef<Attribute> specs,
                              SmallVectorImpl<Attribute> &resultSpecs) const override {
    auto mapped = mappedOf(b, size, specs);
    if (failed(mapped))
      return failure();
    SmallVector<Value> none;
    return run(b, call, none, [&](RuleScope &, const RuleCall &ruleCall) {
      append(user.batchAxes(ruleCall, *mapped), b.getContext(), resultSpecs);
      return ArrayList();
    });
  }

  LogicalResult dceRule(Builder &b, const ir::PrimitiveCall &call, ValueRange operands, ArrayRef<bool> used,
                        Values &results) const override {
    return run(b, call, results, [&](RuleScope &scope, const RuleCall &ruleCall) {
      return user.dce(ruleCall, maskOf(used), scope.wrap(llvm::to_vector(operands)));
    });
  }

  LogicalResult rematRule(Builder &b, const ir::PrimitiveCall &call, ValueRange operands, Values &results, Values &saved) const override {
    return run(b, call, results, saved, [&](RuleScope &scope, const RuleCall &ruleCall) {
      return user.remat(ruleCall, scope.wrap(llvm::to_vector(operands)));
    });
  }

  LogicalResult recomputeRule(Builder &b, const ir::PrimitiveCall &call, ValueRange saved, Values &results) const override {
    return run(b, call, results, [&](RuleScope &scope, const RuleCall &ruleCall) {
      return user.recompute(ruleCall, scope.wrap(llvm::to_vector(saved)));
    });
  }

private:
  using RuleBody = llvm::function_ref<ArrayList(RuleScope &, const RuleCall &)>;

  LogicalResult run(Builder &b, const ir::PrimitiveCall &call, Values &all, RuleBody rule) const {
    auto params = paramsOf(call.params, [&] { return emitError(b.getLoc()) << "\"" << name() << "\": "; });
    if (failed(params))
      return failure();
    auto values = runRule(b, name().str(), [&](RuleScope &scope) {
      return rule(scope, {*params, typesOf(call.operandTypes), typesOf(call.resultTypes)});
    });
    if (succeeded(values))
      all.append(values->begin(), values->end());
    return failure(failed(values));
  }
  /// The results of the call, and what comes after them.
  LogicalResult run(Builder &b, const ir::PrimitiveCall &call, Values &results, Values &rest, RuleBody rule) const {
    SmallVector<Value> all;
    if (failed(run(b, call, all, rule)))
      return failure();
    size_t count = std::min(call.resultTypes.size(), all.size());
    results.append(all.begin(), all.begin() + count);
    rest.append(all.begin() + count, all.end());
    return success();
  }
  static Active maskOf(ArrayRef<bool> mask) { return Active(std::vector<bool>(mask.begin(), mask.end())); }
  static FailureOr<Mapped> mappedOf(Builder &b, int64_t size, ArrayRef<Attribute> specs) {
    Mapped mapped{.size = size, .specs = {}};
    for (Attribute spec : specs) {
      auto read = axisSpecOf(spec, [&] { return emitError(b.getLoc()); });
      if (failed(read))
        return failure();
      mapped.specs.push_back(*read);
    }
    return mapped;
  }
  static void append(const std::vector<AxisSpec> &specs, MLIRContext *context, SmallVectorImpl<Attribute> &attributes) {
    for (const AxisSpec &spec : specs)
      attributes.push_back(spec.is_none() ? Attribute() : attributeOf(spec, context));
  }

  const UserPrimitive &user;
};

constexpr bool agree(UserPrimitive::Rule user, ir::PrimitiveDef::Rule rule) { return static_cast<int>(user) == static_cast<int>(rule); }
static_assert(agree(UserPrimitive::Rule::Expand, ir::PrimitiveDef::Rule::Expand) && agree(UserPrimitive::Rule::Jvp, ir::PrimitiveDef::Rule::Jvp) &&
              agree(UserPrimitive::Rule::Linearize, ir::PrimitiveDef::Rule::Linearize) &&
              agree(UserPrimitive::Rule::Vjp, ir::PrimitiveDef::Rule::Vjp) &&
              agree(UserPrimitive::Rule::Transpose, ir::PrimitiveDef::Rule::Transpose) &&
              agree(UserPrimitive::Rule::Batch, ir::PrimitiveDef::Rule::Batch) &&
              agree(UserPrimitive::Rule::BatchAxes, ir::PrimitiveDef::Rule::BatchAxes) &&
              agree(UserPrimitive::Rule::Dce, ir::PrimitiveDef::Rule::Dce) && agree(UserPrimitive::Rule::Remat, ir::PrimitiveDef::Rule::Remat));

} // namespace

bool registerPrimitive(const UserPrimitive &primitive) {
  return registerClass("primitive", primitive.name(), typeid(primitive),
                       [&] { return ir::HiRegistry::get().add(std::make_unique<PrimitiveAdapter>(primitive)); });
}

static constexpr const char *kThrowError = "throw hjx::Error(\"expected .., got ..\", \"what to do\", {}) for bad operands";

ArrayList callPrimitiveFlat(const UserPrimitive &primitive, const Params &params, const ArrayList &operands, Where where) {
  const std::string name = primitive.name();
  if (where.line() == 0 && Frame::current()) // the line that records is better than none
    where = Frame::current()->place;
  checkOneClass("primitive", name, where);
  OpScope op(name.c_str(), where);
  std::vector<hjx::Type> types, results;
  for (const Array &operand : operands)
    types.push_back(avalOf(operand, op.name(), op.where()).type());
  try {
    results = primitive.infer(params, types);
  } catch (const Error &error) {
    op.fail(error.message(), error.help());
  } catch (const std::exception &error) {
    op.fail(std::string("infer: ") + error.what(), kThrowError);
  } catch (...) {
    op.fail("infer: expected an hjx::Error, got an exception that is no std::exception", kThrowError);
  }
  if (!ir::HiRegistry::get().findPrimitive(name))
    op.fail("expected a registered primitive, got an unknown one; known: " + ir::HiRegistry::get().primitiveNames(),
            "write HJX_REGISTER_PRIMITIVE(Class) after the class");
  SmallVector<mlir::Type> resultTypes;
  for (const hjx::Type &type : results)
    resultTypes.push_back(typeOf(op, type));
  std::vector<bool> isRef = primitive.refs(operands.size());
  for (auto [i, operand] : llvm::enumerate(operands))
    if (Access::get(operand)->isRef != isRef[i])
      op.fail(std::string("expected ") + (isRef[i] ? "a ref" : "a value") + " as operand " + std::to_string(i) + ", got " + describe(operand),
              isRef[i] ? "make one: hjx::new_ref(x)" : "read what it holds: ref.get()");
  SmallVector<Value> values = valuesOf(op, operands);
  OperationState state(op.builder().getLoc(), ir::CallPrimitiveOp::getOperationName());
  ir::CallPrimitiveOp::build(op.builder(), state, resultTypes, op.builder().getStringAttr(name), values,
                             dictionaryOf(params, &op.context()));
  Operation *call = op.create(state);
  ArrayList leaves;
  for (Value result : call->getResults())
    leaves.push_back(op.wrap({result}));
  return op.finish(std::move(leaves));
}

void failResults(const UserPrimitive &primitive, const ArrayList &results, Where where) {
  std::string types;
  for (const Array &result : results)
    types += (types.empty() ? "" : ", ") + to_string(typeOfLeaf(result, where));
  fail(where, primitive.name(), "infer: expected a type for each result of expand, got " + (types.empty() ? "none" : types),
       "let infer return the types of what expand returns, in order");
}

} // namespace hjx::detail
