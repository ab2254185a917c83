// SPDX-License-Identifier: Apache-2.0
//
// Users' classes of types and primitives as the compiler sees them: each becomes a
// definition in the dialect's registry. A rule runs in a frame that emits where the
// compiler wants the operations; what it throws becomes a diagnostic at the
// operation, and what the dialect reports inside of it is thrown through it.
#include "lib/Frontend/HiTypes.h"

#include <cstdio>

using namespace mlir;

namespace hjx::detail {

UserType::~UserType() = default;
UserPrimitive::~UserPrimitive() = default;

//===----------------------------------------------------------------------===//
// Running a rule
//===----------------------------------------------------------------------===//

static ModuleOp moduleAround(Block *block) {
  Operation *op = block ? block->getParentOp() : nullptr;
  return !op ? ModuleOp() : isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
}

/// The frame of a rule. While the frontend records into the very block (a zero in grad), that is
/// the frame already.
RuleScope::RuleScope(ImplicitLocOpBuilder &b, const std::string &name) : name(name), call(this->name.c_str(), Where()) {
  frame = Frame::current();
  if (frame && frame->builder.getInsertionBlock() == b.getInsertionBlock())
    return;
  ownSession.emplace(b.getContext(), moduleAround(b.getInsertionBlock()));
  ownFrame.emplace(*ownSession, b);
  frame = &*ownFrame;
}

Array RuleScope::wrap(Value value) { return value ? frame->wrap(value, /*isWeak=*/false, Where()) : Array(); }
Value RuleScope::use(const Array &leaf) { return leaf.has_value() ? frame->use(leaf, call) : Value(); }

ArrayList RuleScope::wrap(ArrayRef<Value> values) {
  ArrayList leaves;
  for (Value value : values)
    leaves.push_back(wrap(value));
  return leaves;
}

SmallVector<Value> RuleScope::use(ArrayRef<Array> leaves) {
  return llvm::map_to_vector(leaves, [&](const Array &leaf) { return use(leaf); });
}

void RuleScope::checkDiagnostics() {
  std::string diagnostics = frame->session.takeDiagnostics();
  if (diagnostics.empty())
    return;
  Explained explained = explain(diagnostics);
  throw Error(explained.message, explained.help, Where());
}

namespace {

void append(InFlightDiagnostic diagnostic, const Error &error) {
  diagnostic << error.message();
  if (!error.help().empty())
    diagnostic << "; " << error.help();
}

/// Calls what may throw, without operations.
template <typename F>
LogicalResult ask(ir::EmitError emitError, F &&f) {
  try {
    f();
    return success();
  } catch (const Error &error) {
    append(emitError(), error);
  } catch (const std::exception &error) {
    emitError() << error.what();
  }
  return failure();
}

/// Calls a rule that emits operations at `b`.
template <typename F>
LogicalResult runRule(ImplicitLocOpBuilder &b, const std::string &name, F &&f) {
  return ask([&] { return emitError(b.getLoc()) << "\"" << name << "\": "; },
             [&] {
               RuleScope scope(b, name);
               f(scope);
               scope.checkDiagnostics();
             });
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class TypeAdapter final : public ir::HiTypeDef {
public:
  explicit TypeAdapter(std::unique_ptr<UserType> user) : HiTypeDef(user->name()), user(std::move(user)) {}

  LogicalResult verify(ArrayRef<Attribute> params, ir::EmitError emitError) const override {
    auto type = hiTypeOf(name(), params, emitError);
    return failed(type) ? failure() : ask(emitError, [&] { user->verify(*type); });
  }

  FailureOr<SmallVector<mlir::Type>> loTypes(ir::HiType type, ir::EmitError emitError) const override {
    SmallVector<mlir::Type> components;
    if (failed(ask(emitError, [&] {
          for (const hjx::Type &component : user->loTypes(typeOf(type)))
            components.push_back(detail::typeOf(component, type.getContext()));
        })))
      return failure();
    return components;
  }

  mlir::Type tangentType(ir::HiType type) const override {
    if (!user->has(UserType::Method::TangentType))
      return {};
    mlir::Type tangent;
    (void)ask([&] { return emitError(UnknownLoc::get(type.getContext())) << "tangent_type of " << type << ": "; },
              [&] { tangent = detail::typeOf(user->tangentType(typeOf(type)), type.getContext()); });
    return tangent;
  }

  FailureOr<Value> zero(ImplicitLocOpBuilder &b, ir::HiType type) const override {
    auto at = [&] { return emitError(b.getLoc()); };
    if (failed(require(UserType::Method::Zero, "differentiation", "zero", at)))
      return failure();
    return emit(b, [&](RuleScope &scope) { return scope.use(user->zero(typeOf(type))); });
  }

  FailureOr<Value> add(ImplicitLocOpBuilder &b, Value x, Value y) const override {
    auto at = [&] { return emitError(b.getLoc()); };
    if (failed(require(UserType::Method::Add, "differentiation", "add", at)))
      return failure();
    return emit(b, [&](RuleScope &scope) {
      return scope.use(user->add(typeOf(cast<ir::HiType>(x.getType())), scope.wrap(x), scope.wrap(y)));
    });
  }

  FailureOr<mlir::Type> decRank(ir::HiType type, int64_t size, Attribute spec, ir::EmitError emitError) const override {
    return changeRank(UserType::Method::DecRank, "dec_rank", type, spec, emitError,
                      [&](const hjx::Type &t, const AxisSpec &s) { return user->decRank(t, size, s); });
  }

  FailureOr<mlir::Type> incRank(ir::HiType type, int64_t size, Attribute spec, ir::EmitError emitError) const override {
    return changeRank(UserType::Method::IncRank, "inc_rank", type, spec, emitError,
                      [&](const hjx::Type &t, const AxisSpec &s) { return user->incRank(t, size, s); });
  }

  FailureOr<Attribute> leadingAxisSpec(ir::HiType type, ir::EmitError emitError) const override {
    if (failed(require(UserType::Method::LeadingAxisSpec, "scan", "leading_axis_spec", emitError)))
      return failure();
    Attribute spec;
    if (failed(ask(emitError, [&] { spec = attributeOf(user->leadingAxisSpec(typeOf(type)), type.getContext()); })))
      return failure();
    return spec;
  }

private:
  static hjx::Type typeOf(ir::HiType type) { return avalOf(type).type(); }

  LogicalResult require(UserType::Method method, const char *feature, const char *methodName, ir::EmitError emitError) const {
    if (user->has(method))
      return success();
    return emitError() << feature << " requires " << name() << " to implement the " << methodName
                       << " method; write it in the class of the type";
  }

  FailureOr<Value> emit(ImplicitLocOpBuilder &b, llvm::function_ref<Value(RuleScope &)> rule) const {
    Value value;
    if (failed(runRule(b, name().str(), [&](RuleScope &scope) { value = rule(scope); })))
      return failure();
    return value;
  }

  FailureOr<mlir::Type> changeRank(UserType::Method method, const char *methodName, ir::HiType type, Attribute attribute,
                                   ir::EmitError emitError,
                                   llvm::function_ref<hjx::Type(const hjx::Type &, const AxisSpec &)> change) const {
    if (failed(require(method, "mapping (vmap, scan)", methodName, emitError)))
      return failure();
    auto spec = axisSpecOf(attribute, emitError);
    mlir::Type changed;
    if (failed(spec) || failed(ask(emitError, [&] { changed = detail::typeOf(change(typeOf(type), *spec), type.getContext()); })))
      return failure();
    return changed;
  }

  const std::unique_ptr<UserType> user;
};

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

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

class PrimitiveAdapter final : public ir::PrimitiveDef {
public:
  explicit PrimitiveAdapter(const UserPrimitive &user) : PrimitiveDef(user.name()), user(user) {}

  bool has(Rule rule) const override { return user.has(static_cast<UserPrimitive::Rule>(rule)); }

  FailureOr<SmallVector<mlir::Type>> infer(DictionaryAttr dictionary, TypeRange operands, ir::EmitError emitError) const override {
    auto params = paramsOf(dictionary, emitError);
    if (failed(params))
      return failure();
    SmallVector<mlir::Type> results;
    if (failed(ask(emitError, [&] {
          for (const hjx::Type &type : user.infer(*params, typesOf(operands)))
            results.push_back(typeOf(type, dictionary.getContext()));
        })))
      return failure();
    return results;
  }

  FailureOr<SmallVector<Value>> expand(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call, ValueRange operands) const override {
    SmallVector<Value> results;
    if (failed(run(b, call, [&](RuleScope &scope, const RuleCall &ruleCall) {
          results = scope.use(user.expand(ruleCall, scope.wrap(llvm::to_vector(operands))));
        })))
      return failure();
    return results;
  }

  LogicalResult jvp(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call, ValueRange primals, ArrayRef<Value> tangents,
                    SmallVectorImpl<Value> &results, SmallVectorImpl<Value> &resultTangents) const override {
    return run(b, call, [&](RuleScope &scope, const RuleCall &ruleCall) {
      SmallVector<Value> all = scope.use(user.jvp(ruleCall, scope.wrap(llvm::to_vector(primals)), scope.wrap(tangents)));
      size_t count = call.resultTypes.size();
      checkCount(nullptr, "results and tangents of jvp", 2 * count, all.size(), Where());
      results.append(all.begin(), all.begin() + count);
      resultTangents.append(all.begin() + count, all.end());
      checkTypes("results of jvp", call.resultTypes, results);
      checkTypes("tangents of jvp", tangentsOf(call.resultTypes), resultTangents);
    });
  }

  LogicalResult vjpForward(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call, ValueRange primals, ArrayRef<bool> active,
                           SmallVectorImpl<Value> &results, SmallVectorImpl<Value> &residuals) const override {
    return run(b, call, [&](RuleScope &scope, const RuleCall &ruleCall) {
      SmallVector<Value> all = scope.use(
          user.vjpForward(ruleCall, scope.wrap(llvm::to_vector(primals)), Active(std::vector<bool>(active.begin(), active.end()))));
      size_t count = call.resultTypes.size();
      if (all.size() < count)
        checkCount(nullptr, "results of vjp_forward", count, all.size(), Where());
      results.append(all.begin(), all.begin() + count);
      residuals.append(all.begin() + count, all.end());
      checkTypes("results of vjp_forward", call.resultTypes, results);
      if (llvm::is_contained(residuals, Value()))
        throw Error("expected residuals with values, got nothing for one of them", "leave it out", Where());
    });
  }

  LogicalResult vjpBackward(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call, ValueRange residuals, ArrayRef<Value> resultBars,
                            ArrayRef<bool> wanted, SmallVectorImpl<Value> &operandBars) const override {
    return run(b, call, [&](RuleScope &scope, const RuleCall &ruleCall) {
      Active mask(std::vector<bool>(wanted.begin(), wanted.end()));
      operandBars.append(scope.use(user.vjpBackward(ruleCall, scope.wrap(llvm::to_vector(residuals)), scope.wrap(resultBars), mask)));
      checkCount(nullptr, "cotangents of vjp_backward, one for each operand,", wanted.size(), operandBars.size(), Where());
      for (auto [bar, isWanted] : llvm::zip_equal(operandBars, wanted))
        bar = isWanted ? bar : Value();
      checkTypes("cotangents of vjp_backward", tangentsOf(call.operandTypes), operandBars);
    });
  }

  LogicalResult transpose(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call, ArrayRef<Value> operands, ArrayRef<Value> resultBars,
                          SmallVectorImpl<Value> &operandBars) const override {
    return run(b, call, [&](RuleScope &scope, const RuleCall &ruleCall) {
      operandBars.append(scope.use(user.transpose(ruleCall, scope.wrap(operands), scope.wrap(resultBars))));
      checkCount(nullptr, "cotangents of transpose, one for each operand,", operands.size(), operandBars.size(), Where());
      for (auto [bar, operand] : llvm::zip_equal(operandBars, operands))
        bar = operand ? Value() : bar;
      checkTypes("cotangents of transpose", tangentsOf(call.operandTypes), operandBars);
    });
  }

  LogicalResult batch(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call, int64_t size, ValueRange operands, ArrayRef<Attribute> specs,
                      SmallVectorImpl<Value> &results, SmallVectorImpl<Attribute> &resultSpecs) const override {
    auto at = [&] { return emitError(b.getLoc()); };
    Mapped mapped{.size = size};
    for (Attribute spec : specs) {
      auto read = axisSpecOf(spec, at);
      if (failed(read))
        return failure();
      mapped.specs.push_back(*read);
    }
    return run(b, call, [&](RuleScope &scope, const RuleCall &ruleCall) {
      std::vector<AxisSpec> outSpecs;
      results.append(scope.use(user.batch(ruleCall, mapped, scope.wrap(llvm::to_vector(operands)), outSpecs)));
      checkCount(nullptr, "results of batch", call.resultTypes.size(), results.size(), Where());
      checkCount(nullptr, "specs of batch", call.resultTypes.size(), outSpecs.size(), Where());
      for (const AxisSpec &spec : outSpecs)
        resultSpecs.push_back(spec.is_none() ? Attribute() : attributeOf(spec, b.getContext()));
    });
  }

private:
  LogicalResult run(ImplicitLocOpBuilder &b, const ir::PrimitiveCall &call,
                    llvm::function_ref<void(RuleScope &, const RuleCall &)> rule) const {
    auto params = paramsOf(call.params, [&] { return emitError(b.getLoc()) << "\"" << name() << "\": "; });
    if (failed(params))
      return failure();
    return runRule(b, name().str(), [&](RuleScope &scope) {
      rule(scope, {*params, typesOf(call.operandTypes), typesOf(call.resultTypes)});
    });
  }

  /// The tangent types, null where there is none.
  static SmallVector<mlir::Type> tangentsOf(TypeRange types) {
    return llvm::map_to_vector(types, [](mlir::Type type) { return ir::tangentOf(type); });
  }

  static void checkTypes(const char *what, ArrayRef<mlir::Type> expected, ArrayRef<Value> values) {
    for (auto [i, type, value] : llvm::enumerate(expected, values)) {
      if (!value || value.getType() == type)
        continue;
      std::string place = std::string(what) + " [" + std::to_string(i) + "]";
      if (!type)
        throw Error("expected nothing as " + place + ", got " + describe(avalOf(value.getType())), "its value has no tangent: return Array()",
                    Where());
      throw Error("expected " + describe(avalOf(type)) + " as " + place + ", got " + describe(avalOf(value.getType())),
                  "convert or reshape what the rule returns", Where());
    }
  }

  const UserPrimitive &user;
};

static_assert(static_cast<int>(UserPrimitive::Rule::Expand) == static_cast<int>(ir::PrimitiveDef::Rule::Expand) &&
              static_cast<int>(UserPrimitive::Rule::Jvp) == static_cast<int>(ir::PrimitiveDef::Rule::Jvp) &&
              static_cast<int>(UserPrimitive::Rule::Vjp) == static_cast<int>(ir::PrimitiveDef::Rule::Vjp) &&
              static_cast<int>(UserPrimitive::Rule::Transpose) == static_cast<int>(ir::PrimitiveDef::Rule::Transpose) &&
              static_cast<int>(UserPrimitive::Rule::Batch) == static_cast<int>(ir::PrimitiveDef::Rule::Batch));

/// Static constructors must not throw: the first of two definitions stays.
bool report(bool isAdded, const char *kind, const std::string &name) {
  if (!isAdded)
    std::fprintf(stderr, "hjx: the %s '%s' is registered twice, or its name is taken by the dialect; the first one stays\n", kind,
                 name.c_str());
  return isAdded;
}

} // namespace

bool registerType(std::unique_ptr<UserType> type) {
  std::string name = type->name();
  return report(ir::HiRegistry::get().add(std::make_unique<TypeAdapter>(std::move(type))), "type", name);
}

bool registerPrimitive(const UserPrimitive &primitive) {
  return report(ir::HiRegistry::get().add(std::make_unique<PrimitiveAdapter>(primitive)), "primitive", primitive.name());
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

ArrayList callPrimitiveFlat(const UserPrimitive &primitive, const Params &params, const ArrayList &operands, Where where) {
  const std::string name = primitive.name();
  OpScope op(name.c_str(), where);
  std::vector<hjx::Type> types, results;
  for (const Array &operand : operands)
    types.push_back(avalOf(operand, op.name(), op.where()).type());
  try {
    results = primitive.infer(params, types);
  } catch (const Error &error) {
    op.fail(error.message(), error.help());
  }
  if (!ir::HiRegistry::get().findPrimitive(name))
    op.fail("expected a registered primitive, got an unknown one; known: " + ir::HiRegistry::get().primitiveNames(),
            "write HJX_REGISTER_PRIMITIVE(Class) after the class");
  SmallVector<mlir::Type> resultTypes;
  for (const hjx::Type &type : results)
    resultTypes.push_back(typeOf(op, type));
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

static void checkComponents(const Call &call, const hjx::Type &type, const ArrayList &components) {
  Layout layout = layoutOf(type, call);
  checkCount(call.name(), ("components of " + to_string(type)).c_str(), layout.parts.size(), components.size(), call.where());
  for (auto [i, part] : llvm::enumerate(layout.parts)) {
    Aval got = avalOf(components[i], call.name(), call.where());
    if (!got.sameType(part.aval))
      call.fail("expected " + describe(part.aval) + " as component " + std::to_string(i) + " of " + to_string(type) + ", got " +
                    describe(got),
                "the class of the type says its components in lo_types");
  }
}

Array raiseFlat(const hjx::Type &type, const ArrayList &components, Where where) {
  checkComponents(Call("raise", where), type, components);
  auto isConcrete = [](const Array &component) { return Access::get(component)->isConcrete(); };
  if (llvm::all_of(components, isConcrete))
    return makeConcrete(type, components, where);
  OpScope op("raise", where);
  Value value = ir::RaiseOp::create(op.builder(), typeOf(op, type), valuesOf(op, components));
  return op.wrap({value});
}

ArrayList lowerFlat(const Array &value, Where where) {
  Call call("lower", where);
  ArrayImpl &impl = Access::alive(value, call.name(), where);
  if (!impl.hi || impl.isRef)
    call.fail("expected a value of a hi-type, got " + describe(value), "arrays have no components");
  if (impl.parts)
    return *impl.parts;
  if (!impl.value)
    call.fail("expected a value with components, got the abstract " + describe(value), "pass a value that is made of numbers");
  OpScope op("lower", where);
  std::vector<Aval> avals;
  for (const Layout &part : layoutOf(avalOf(value, call.name(), where), call).parts)
    avals.push_back(part.aval);
  auto lower = ir::LowerOp::create(op.builder(), typesOf(op, avals), op.frame().use(value, op));
  return wrapAll(op, lower.getResults(), avals);
}

Array constantFlat(const Array &value, Where where) {
  ArrayImpl &impl = Access::alive(value, "constant", where);
  if (impl.isArray())
    return constant({value, where});
  if (!impl.parts || impl.isRef)
    fail(where, "constant", "expected a concrete value, got " + describe(value), "freeze values before the traced function is called");
  ArrayList parts;
  for (const Array &part : *impl.parts)
    parts.push_back(constantFlat(part, where));
  Array frozen = makeConcrete(avalOf(value, "constant", where), std::move(parts), where);
  Access::get(frozen)->isFrozen = true;
  return frozen;
}

Array abstractFlat(const hjx::Type &type, Where where) {
  (void)layoutOf(type, Call("abstract_value", where)); // Throws for parameters that make no type.
  return makeAbstract(type, where);
}

Array zeroFlat(const hjx::Type &type, Where where) {
  OpScope op("zero_of", where);
  return op.finish(zeroOf(op, type));
}

Array sumFlat(const Array &x, const Array &y, Where where) {
  OpScope op("sum_of", where);
  Aval left = avalOf(x, op.name(), op.where()), right = avalOf(y, op.name(), op.where());
  if (!left.sameType(right))
    op.fail("expected two values of one type, got " + describe(left) + " and " + describe(right), "convert one of them");
  Value sum = ir::makeSum(op.builder(), op.frame().use(x, op), op.frame().use(y, op));
  op.checkDiagnostics();
  return op.finish(op.wrap({sum}));
}

std::optional<hjx::Type> tangentTypeOf(const hjx::Type &type) {
  std::optional<Aval> tangent = tangentOf(Aval(type));
  return tangent ? std::optional(tangent->type()) : std::nullopt;
}

Array zeroTangent(const hjx::Type &type) {
  std::optional<hjx::Type> tangent = tangentTypeOf(type);
  return tangent ? zeroFlat(*tangent, Where()) : Array();
}

void checkCount(const char *op, const char *what, size_t expected, size_t got, Where where) {
  if (expected == got)
    return;
  std::string subject = op ? std::string(op) + ": " : "", things = what;
  if (expected == 1 && things.back() == 's')
    things.pop_back();
  throw Error(subject + "expected " + std::to_string(expected) + " " + things + ", got " + std::to_string(got), "compare with the class",
              where);
}

void failParam(const std::string &owner, const std::string &field, const char *expected) {
  throw Error(owner + ": expected " + expected + " as the parameter " + field, "give the parameters that HJX_PARAMS lists", Where());
}

void failType(const char *expected, const hjx::Type &got, Where where) {
  throw Error(std::string("expected the hi-type ") + expected + ", got " + to_string(got), "look at the type's name first", where);
}

} // namespace hjx::detail

//===----------------------------------------------------------------------===//
// Questions of any type
//===----------------------------------------------------------------------===//

using namespace hjx::detail;

/// The dialect's answer, or what it reports as an error.
template <typename F>
static auto askDialect(const char *question, hjx::Where where, F &&f) {
  MLIRContext &context = threadContext();
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { diagnostics = diagnostic.str(); });
  auto answer = f(context, [&] { return emitError(UnknownLoc::get(&context)); });
  if (failed(answer)) {
    Explained explained = explain(diagnostics);
    fail(where, question, explained.message, explained.help);
  }
  return *answer;
}

std::vector<hjx::Type> hjx::lo_types(const Type &type, Where where) {
  if (type.is_array())
    return {type};
  SmallVector<mlir::Type> components = askDialect("lo_types", where, [&](MLIRContext &context, ir::EmitError emitError) {
    auto hi = cast<ir::HiType>(typeOf(type, &context));
    return hi.getDef()->loTypes(hi, emitError);
  });
  std::vector<hjx::Type> types;
  for (mlir::Type component : components)
    types.push_back(avalOf(component).type());
  return types;
}

hjx::Type hjx::dec_rank(const Type &type, int64_t size, const AxisSpec &spec, Where where) {
  return avalOf(askDialect("dec_rank", where, [&](MLIRContext &context, ir::EmitError emitError) {
           return ir::decRank(typeOf(type, &context), size, attributeOf(spec, &context), emitError);
         })).type();
}

hjx::Type hjx::inc_rank(const Type &type, int64_t size, const AxisSpec &spec, Where where) {
  return avalOf(askDialect("inc_rank", where, [&](MLIRContext &context, ir::EmitError emitError) {
           return ir::incRank(typeOf(type, &context), size, attributeOf(spec, &context), emitError);
         })).type();
}

hjx::AxisSpec hjx::leading_axis_spec(const Type &type, Where where) {
  return askDialect("leading_axis_spec", where, [&](MLIRContext &context, ir::EmitError emitError) -> FailureOr<AxisSpec> {
    auto spec = ir::leadingAxisSpec(typeOf(type, &context), emitError);
    return failed(spec) ? FailureOr<AxisSpec>() : axisSpecOf(*spec, emitError);
  });
}
