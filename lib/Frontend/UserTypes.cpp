// SPDX-License-Identifier: Apache-2.0
//
// Users' classes of types as the compiler sees them: each becomes a definition in the
// dialect's registry. And the questions of types that users ask, of any type.
#include "lib/Frontend/RuleScope.h"

#include "dialects/hjx/Sharding.h"

#include <hjx/hi_type.h>

using namespace mlir;

namespace hjx::detail {

UserType::~UserType() = default;

namespace {

class TypeAdapter final : public ir::HiTypeDef {
public:
  explicit TypeAdapter(std::unique_ptr<UserType> user) : HiTypeDef(user->name()), user(std::move(user)) {}

  LogicalResult verify(ArrayRef<Attribute> params, ir::EmitError emitError) const override {
    auto type = hiTypeOf(name(), params, emitError);
    return failed(type) ? failure() : askUser(emitError, [&] { user->verify(*type); });
  }

  FailureOr<SmallVector<mlir::Type>> loTypes(ir::HiType type, ir::EmitError emitError) const override {
    SmallVector<mlir::Type> components;
    if (failed(askUser(emitError, [&] {
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
    (void)askUser([&] { return emitError(UnknownLoc::get(type.getContext())) << "tangent_type of " << type << ": "; },
              [&] { tangent = detail::typeOf(user->tangentType(typeOf(type)), type.getContext()); });
    return tangent;
  }

  FailureOr<Value> zero(ImplicitLocOpBuilder &b, ir::HiType type) const override {
    auto at = [&] { return emitError(b.getLoc()); };
    if (failed(require(UserType::Method::Zero, "differentiation", "zero", at)))
      return failure();
    return emit(b, [&](RuleScope &) { return user->zero(typeOf(type)); });
  }

  FailureOr<Value> add(ImplicitLocOpBuilder &b, Value x, Value y) const override {
    auto at = [&] { return emitError(b.getLoc()); };
    if (failed(require(UserType::Method::Add, "differentiation", "add", at)))
      return failure();
    return emit(b, [&](RuleScope &scope) {
      return user->add(typeOf(cast<ir::HiType>(x.getType())), scope.wrap(x), scope.wrap(y));
    });
  }

  FailureOr<mlir::Type> decRank(ir::HiType type, int64_t size, Attribute spec, ir::EmitError emitError) const override {
    auto element = changeRank(UserType::Method::DecRank, "dec_rank", type, spec, emitError,
                              [&](const hjx::Type &t, const AxisSpec &s) { return user->decRank(t, size, s); });
    if (failed(element) || !user->has(UserType::Method::IncRank))
      return element;
    auto whole = ir::incRank(*element, size, spec, emitError);
    if (failed(whole) || *whole == type)
      return failed(whole) ? FailureOr<mlir::Type>() : element;
    auto text = [](mlir::Type type) { return to_string(avalOf(type).type()); };
    return emitError() << "dec_rank of " << name() << ": expected the element of which inc_rank makes " << text(type) << ", got "
                       << text(*element) << ", of which it makes " << text(*whole) << "; dec_rank removes what inc_rank adds";
  }

  FailureOr<mlir::Type> incRank(ir::HiType type, int64_t size, Attribute spec, ir::EmitError emitError) const override {
    return changeRank(UserType::Method::IncRank, "inc_rank", type, spec, emitError,
                      [&](const hjx::Type &t, const AxisSpec &s) { return user->incRank(t, size, s); });
  }

  FailureOr<Attribute> leadingAxisSpec(ir::HiType type, ir::EmitError emitError) const override {
    if (failed(require(UserType::Method::LeadingAxisSpec, "mapping at the leading axis (scan, vmap)", "leading_axis_spec", emitError)))
      return failure();
    Attribute spec;
    if (failed(askUser(emitError, [&] { spec = attributeOf(user->leadingAxisSpec(typeOf(type)), type.getContext()); })))
      return failure();
    return spec;
  }

  //===--------------------------------------------------------------------===//
  // Parts of refs
  //===--------------------------------------------------------------------===//

  FailureOr<SmallVector<int64_t>> indexShape(ir::HiType type, ir::EmitError emitError) const override {
    if (!user->has(UserType::Method::Parts))
      return emitError() << "(C1) a ref of " << type
                         << " is accessed as a whole; write index_shape, part_type, get_part and set_part in the class of the type";
    SmallVector<int64_t> shape;
    if (failed(askUser(emitError, [&] { llvm::append_range(shape, user->indexShape(typeOf(type))); })))
      return failure();
    return shape;
  }

  FailureOr<mlir::Type> partType(ir::HiType type, ArrayRef<int64_t> shape, ir::EmitError emitError) const override {
    mlir::Type part;
    if (failed(askUser(emitError, [&] {
          part = detail::typeOf(user->partType(typeOf(type), Shape(shape.begin(), shape.end())), type.getContext());
        })))
      return failure();
    return part;
  }

  FailureOr<Value> readPart(ImplicitLocOpBuilder &b, Value value, const ir::RefIndex &index) const override {
    auto type = cast<ir::HiType>(value.getType());
    auto at = [&] { return emitError(b.getLoc()); };
    auto expected = index.partOf(type, at);
    auto part = emit(b, [&](RuleScope &scope) { return user->getPart(typeOf(type), scope.wrap(value), indicesOf(scope, index)); });
    return failed(expected) || failed(part) || failed(checkPart("get_part", *expected, *part, at)) ? FailureOr<Value>() : part;
  }

  FailureOr<Value> writePart(ImplicitLocOpBuilder &b, Value value, const ir::RefIndex &index, Value part) const override {
    auto type = cast<ir::HiType>(value.getType());
    auto written = emit(b, [&](RuleScope &scope) {
      return user->setPart(typeOf(type), scope.wrap(value), indicesOf(scope, index), scope.wrap(part));
    });
    auto at = [&] { return emitError(b.getLoc()); };
    return failed(written) || failed(checkPart("set_part", type, *written, at)) ? FailureOr<Value>() : written;
  }

  //===--------------------------------------------------------------------===//
  // Sharding
  //===--------------------------------------------------------------------===//

  FailureOr<mlir::Type> shard(ir::HiType type, ir::MeshAxes mesh, Attribute spec, ir::EmitError emitError) const override {
    if (!user->has(UserType::Method::Shard))
      return HiTypeDef::shard(type, mesh, spec, emitError);
    return changeBySpec(type, spec, emitError, [&](const hjx::Type &t, const AxisSpec &s) { return user->shard(t, meshOf(mesh), s); });
  }
  FailureOr<mlir::Type> unshard(ir::HiType type, ir::MeshAxes mesh, Attribute spec, ir::EmitError emitError) const override {
    if (!user->has(UserType::Method::Unshard))
      return HiTypeDef::unshard(type, mesh, spec, emitError);
    return changeBySpec(type, spec, emitError, [&](const hjx::Type &t, const AxisSpec &s) { return user->unshard(t, meshOf(mesh), s); });
  }
  FailureOr<Attribute> noSpec(ir::HiType type, ir::MeshAxes mesh, ir::EmitError emitError) const override {
    if (!user->has(UserType::Method::NoSpec))
      return HiTypeDef::noSpec(type, mesh, emitError);
    Attribute spec;
    if (failed(askUser(emitError, [&] { spec = attributeOf(user->noSpec(typeOf(type), meshOf(mesh)), type.getContext()); })))
      return failure();
    return spec;
  }
  FailureOr<SmallVector<Attribute>> loPartitions(ir::HiType type, Attribute attribute, ir::EmitError emitError) const override {
    if (!user->has(UserType::Method::LoPartitions))
      return HiTypeDef::loPartitions(type, attribute, emitError);
    auto spec = axisSpecOf(attribute, emitError);
    SmallVector<Attribute> specs;
    if (failed(spec) || failed(askUser(emitError, [&] {
          for (const AxisSpec &component : user->loPartitions(typeOf(type), *spec))
            specs.push_back(attributeOf(component, type.getContext()));
        })))
      return failure();
    return specs;
  }
  FailureOr<Attribute> tangentPartition(ir::HiType type, Attribute attribute, ir::EmitError emitError) const override {
    if (!user->has(UserType::Method::TangentPartition))
      return HiTypeDef::tangentPartition(type, attribute, emitError);
    auto spec = axisSpecOf(attribute, emitError);
    Attribute tangent;
    if (failed(spec) ||
        failed(askUser(emitError, [&] { tangent = attributeOf(user->tangentPartition(typeOf(type), *spec), type.getContext()); })))
      return failure();
    return tangent;
  }

private:
  static hjx::Type typeOf(ir::HiType type) { return avalOf(type).type(); }

  LogicalResult require(UserType::Method method, const char *feature, const char *methodName, ir::EmitError emitError) const {
    return user->has(method) ? success() : LogicalResult(refuse(emitError, feature, methodName));
  }

  FailureOr<Value> emit(ImplicitLocOpBuilder &b, llvm::function_ref<Array(RuleScope &)> rule) const {
    auto values = runRule(b, name().str(), [&](RuleScope &scope) { return ArrayList{rule(scope)}; });
    return failed(values) ? FailureOr<Value>() : values->front();
  }

  FailureOr<mlir::Type> changeRank(UserType::Method method, const char *methodName, ir::HiType type, Attribute attribute,
                                   ir::EmitError emitError,
                                   llvm::function_ref<hjx::Type(const hjx::Type &, const AxisSpec &)> change) const {
    if (failed(require(method, "mapping (vmap, scan)", methodName, emitError)))
      return failure();
    return changeBySpec(type, attribute, emitError, change);
  }
  FailureOr<mlir::Type> changeBySpec(ir::HiType type, Attribute attribute, ir::EmitError emitError,
                                     llvm::function_ref<hjx::Type(const hjx::Type &, const AxisSpec &)> change) const {
    auto spec = axisSpecOf(attribute, emitError);
    mlir::Type changed;
    if (failed(spec) ||
        failed(askUser(emitError, [&] { changed = detail::typeOf(change(typeOf(type), *spec), type.getContext()); })))
      return failure();
    return changed;
  }

  static Mesh meshOf(ir::MeshAxes axes) {
    Mesh mesh;
    for (const auto &[name, size] : axes)
      mesh.axes.emplace_back(name.str(), size);
    return mesh;
  }

  /// The index as a user writes it.
  static std::vector<Index> indicesOf(RuleScope &scope, const ir::RefIndex &index) {
    std::vector<Index> indices;
    ValueRange operands = index.indices;
    for (auto [start, size, stride] : llvm::zip_equal(index.starts, index.sizes, index.strides)) {
      if (start == ir::RefIndex::kDynamic) {
        if (size != ir::RefIndex::kDropped)
          throw Error("expected numbers, slices with numbers and integer arrays in an index of a ref of a hi-type, got a slice that "
                      "starts at run time",
                      "index with an integer array", Where());
        indices.emplace_back(scope.wrap(operands.front()), Where());
        operands = operands.drop_front();
      } else if (size == ir::RefIndex::kDropped) {
        indices.emplace_back(start, Where());
      } else if (size == ir::RefIndex::kAll) {
        indices.emplace_back(every, Where());
      } else {
        indices.emplace_back(Slice(start, start + (size ? (size - 1) * stride + 1 : 0), stride), Where());
      }
    }
    return indices;
  }
  LogicalResult checkPart(const char *method, mlir::Type expected, Value got, ir::EmitError emitError) const {
    if (got && got.getType() == expected)
      return success();
    InFlightDiagnostic diagnostic = emitError() << "\"" << name() << "\" " << method << ": expected a value of type " << expected << ", got ";
    got ? diagnostic << got.getType() : diagnostic << "nothing";
    return diagnostic << "; part_type says the type of parts";
  }

  const std::unique_ptr<UserType> user;
};

} // namespace

bool registerType(std::unique_ptr<UserType> type) {
  std::string name = type->name();
  const UserType &user = *type;
  return registerClass("hi-type", name, typeid(user), [&] { return ir::HiRegistry::get().add(std::make_unique<TypeAdapter>(std::move(type))); });
}

std::optional<hjx::Type> tangentTypeOf(const hjx::Type &type) {
  std::optional<Aval> tangent = tangentOf(Aval(type));
  return tangent ? std::optional(tangent->type()) : std::nullopt;
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

/// The mesh as the dialect has it: names are the caller's.
static SmallVector<std::pair<llvm::StringRef, int64_t>> axesOf(const hjx::Mesh &mesh) {
  SmallVector<std::pair<llvm::StringRef, int64_t>> axes;
  for (const auto &[name, size] : mesh.axes)
    axes.emplace_back(name, size);
  return axes;
}

hjx::Type hjx::shard(const Type &type, const Mesh &mesh, const AxisSpec &spec, Where where) {
  return avalOf(askDialect("shard", where, [&](MLIRContext &context, ir::EmitError emitError) {
           return ir::shard(typeOf(type, &context), axesOf(mesh), attributeOf(spec, &context), emitError);
         })).type();
}

hjx::Type hjx::unshard(const Type &type, const Mesh &mesh, const AxisSpec &spec, Where where) {
  return avalOf(askDialect("unshard", where, [&](MLIRContext &context, ir::EmitError emitError) {
           return ir::unshard(typeOf(type, &context), axesOf(mesh), attributeOf(spec, &context), emitError);
         })).type();
}

hjx::AxisSpec hjx::no_spec(const Type &type, const Mesh &mesh, Where where) {
  return askDialect("no_spec", where, [&](MLIRContext &context, ir::EmitError emitError) -> FailureOr<AxisSpec> {
    auto spec = ir::noSpec(typeOf(type, &context), axesOf(mesh), emitError);
    return failed(spec) ? FailureOr<AxisSpec>() : axisSpecOf(*spec, emitError);
  });
}

std::vector<hjx::AxisSpec> hjx::lo_partitions(const Type &type, const AxisSpec &spec, Where where) {
  return askDialect("lo_partitions", where, [&](MLIRContext &context, ir::EmitError emitError) -> FailureOr<std::vector<AxisSpec>> {
    auto specs = ir::loPartitions(typeOf(type, &context), attributeOf(spec, &context), emitError);
    if (failed(specs))
      return failure();
    std::vector<AxisSpec> components;
    for (Attribute component : *specs)
      components.push_back(*axisSpecOf(component, emitError));
    return components;
  });
}

hjx::AxisSpec hjx::tangent_partition(const Type &type, const AxisSpec &spec, Where where) {
  return askDialect("tangent_partition", where, [&](MLIRContext &context, ir::EmitError emitError) -> FailureOr<AxisSpec> {
    auto tangent = ir::tangentPartition(typeOf(type, &context), attributeOf(spec, &context), emitError);
    return failed(tangent) ? FailureOr<AxisSpec>() : axisSpecOf(*tangent, emitError);
  });
}
