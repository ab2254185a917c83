// SPDX-License-Identifier: Apache-2.0
//
// What authors of hi-types and primitives forget or get wrong is said, with the name of their class and
// the line of the call, and never a wrong number or a crash.
#include "test/unit/FrontendTesting.h"

#include <hjx/types.h>

using namespace hjx;

namespace {

const Array x3 = array({0.5, -2.0, 3.0});

//===----------------------------------------------------------------------===//
// Tangents
//===----------------------------------------------------------------------===//

/// tangent_type is misspelt; the rules of its primitives are complete.
struct Misspelt {
  Shape shape;
  static constexpr const char *name = "misspelt";
  HJX_PARAMS(shape)
  std::vector<Type> lo_types() const { return {Type(float32, shape)}; }
  Type tangentType() const { return Type(float32, shape); }
};
HJX_REGISTER_TYPE(Misspelt)

/// The same, meant to have no tangent.
struct Codes {
  Shape shape;
  static constexpr const char *name = "codes";
  HJX_PARAMS(shape)
  using Tangent = Tuple;
  std::vector<Type> lo_types() const { return {Type(float32, shape)}; }
  Type tangent_type() const { return TupleType{}; }
};
HJX_REGISTER_TYPE(Codes)

template <typename T>
struct Make {
  static constexpr const char *name = std::is_same_v<T, Codes> ? "make_codes" : "make_misspelt";
  static Type infer(const Type &x) { return T{x.shape()}; }
  static HiValue<T> expand(const Array &x) { return raise<HiValue<T>>(T{x.shape()}, {x}); }
  static std::pair<HiValue<T>, Array> vjp_forward(const Array &x) { return {call_primitive<Make>(x), x}; }
  static Array vjp_backward(const Array &x, const AnyValue &) { return zeros_like(x); }
};
template <typename T>
struct Get {
  static constexpr const char *name = std::is_same_v<T, Codes> ? "get_codes" : "get_misspelt";
  static Type infer(const Type &x) { return Type(float32, x.as<T>().shape); }
  static Array expand(const HiValue<T> &x) { return std::get<0>(lower<Array>(x)); }
  static std::pair<Array, std::tuple<>> vjp_forward(const HiValue<T> &x) { return {call_primitive<Get>(x), {}}; }
  static AnyValue vjp_backward(std::tuple<>, const Array &) { return tuple({}); }
};
const bool registered = detail::registerPrimitiveClass<Make<Misspelt>>() && detail::registerPrimitiveClass<Get<Misspelt>>() &&
                        detail::registerPrimitiveClass<Make<Codes>>() && detail::registerPrimitiveClass<Get<Codes>>();

template <typename T>
Array throughType(const Array &x, Where where = Where::current()) {
  return sum(square(call_primitive<Get<T>>(where, call_primitive<Make<T>>(where, x))));
}

TEST(FrontendAuthorErrors, ATypeWithoutTangentsOnTheWayOfADerivative) {
  ASSERT_TRUE(registered);
  const char *message = ": the primitive make_misspelt at " HERE
                        " has a result of type '!hjx.misspelt<3>' that depends on what is differentiated: differentiation requires misspelt "
                        "to implement the tangent_type method\n  help: write it in the class of the type (hjx::TupleType{} for none), or "
                        "make the result of hjx::stop_gradient(x)";
  auto f = [](Array x) { return throughType<Misspelt>(x); };
  EXPECT_HJX_ERROR(grad([](Array x) { return throughType<Misspelt>(x); })(x3), std::string("grad") + message);
  EXPECT_HJX_ERROR(jvp([](Array x) { return throughType<Misspelt>(x); }, x3, x3), std::string("jvp") + message);
  EXPECT_CLOSE(f(x3), sum(square(x3)));
  // What is not differentiated needs no tangent, and a type may say that it has none.
  EXPECT_CLOSE(grad([&](Array x) { return sum(x) + f(stop_gradient(x)); })(x3), ones({3}));
  EXPECT_CLOSE(grad([&](Array x) { return sum(x) + throughType<Codes>(x); })(x3), ones({3}));
}

/// Linear, and known by its transposition alone.
struct Twice {
  static constexpr const char *name = "twice";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return 2 * x; }
  static Array transpose(const std::optional<Array> &, const Array &bar) { return call_primitive<Twice>(bar); }
};
HJX_REGISTER_PRIMITIVE(Twice)

/// Linear in each operand: the transposition alone does not say so.
struct Product {
  static constexpr const char *name = "product";
  static Type infer(const Type &x, const Type &) { return x; }
  static Array expand(const Array &x, const Array &y) { return x * y; }
  static std::pair<Array, Array> transpose(const std::optional<Array> &x, const std::optional<Array> &y, const Array &bar) {
    return {x ? Array() : bar * *y, y ? Array() : bar * *x};
  }
};
HJX_REGISTER_PRIMITIVE(Product)

TEST(FrontendAuthorErrors, ATranspositionIsADerivativeOfOneOperand) {
  auto f = [](Array x) { return sum(sin(call_primitive<Twice>(x))); };
  EXPECT_CLOSE(grad(f)(x3), 2 * cos(2 * x3));
  EXPECT_CLOSE(jvp(f, x3, x3).second, sum(2 * cos(2 * x3) * x3));
  EXPECT_CLOSE(vmap(grad(f))(x3), 2 * cos(2 * x3));
  EXPECT_CLOSE(grad([&](Array x) { return sum(grad(f)(x)); })(x3), -4 * sin(2 * x3));
  EXPECT_HJX_ERROR(grad([](Array x) { return sum(call_primitive<Product>(x, x)); })(x3),
                   "grad: the primitive product at " HERE " has no derivative\n  help: give it a jvp rule, or vjp_forward and vjp_backward");
}

struct AbsTangent {
  static constexpr const char *name = "abs_tangent";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return x; }
  static std::pair<Array, Array> jvp(const Array &x, const Array &dot) { return {call_primitive<AbsTangent>(x), abs(dot)}; }
};
HJX_REGISTER_PRIMITIVE(AbsTangent)

/// y_dot = x_dot + 1, in one piece and in halves; y_dot = 1; y_dot = 0.
struct AffineTangent {
  static constexpr const char *name = "affine_tangent";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return x; }
  static std::pair<Array, Array> jvp(const Array &x, const Array &dot) { return {call_primitive<AffineTangent>(x), dot + 1}; }
};
struct AffineHalves : AffineTangent {
  static constexpr const char *name = "affine_halves";
  static std::pair<Array, std::tuple<>> linearize(const Array &x) { return {call_primitive<AffineHalves>(x), {}}; }
  static Array linearized(std::tuple<>, const Array &dot) { return dot + 1; }
};
struct ConstantTangent : AffineTangent {
  static constexpr const char *name = "constant_tangent";
  static std::pair<Array, Array> jvp(const Array &x, const Array &) { return {call_primitive<ConstantTangent>(x), ones_like(x)}; }
};
struct ZeroTangent : AffineTangent {
  static constexpr const char *name = "zero_tangent";
  static std::pair<Array, Array> jvp(const Array &x, const Array &) { return {call_primitive<ZeroTangent>(x), zeros_like(x)}; }
};
HJX_REGISTER_PRIMITIVE(AffineTangent)
HJX_REGISTER_PRIMITIVE(AffineHalves)
HJX_REGISTER_PRIMITIVE(ConstantTangent)
HJX_REGISTER_PRIMITIVE(ZeroTangent)

TEST(FrontendAuthorErrors, AJvpRuleThatIsAffine) {
  const char *message = " has a jvp rule that is not linear in its tangents at hjx.add\n  help: multiply tangents by values of the primals, "
                        "and add them to tangents";
  EXPECT_HJX_ERROR(grad([](Array x) { return sum(call_primitive<AffineTangent>(x)); })(x3),
                   std::string("grad: the primitive affine_tangent at " HERE) + message);
  EXPECT_HJX_ERROR(grad([](Array x) { return sum(call_primitive<AffineHalves>(x)); })(x3),
                   std::string("grad: the primitive affine_halves at " HERE) + message);
  EXPECT_HJX_ERROR(grad([](Array x) { return sum(call_primitive<ConstantTangent>(x)); })(x3),
                   "grad: the primitive constant_tangent at " HERE " has a jvp rule whose tangent 0 does not depend on its tangents\n"
                   "  help: return zeros, or multiply one of them");
  EXPECT_CLOSE(grad([](Array x) { return sum(call_primitive<ZeroTangent>(x)); })(x3), zeros({3}));
  // Forward mode does what the rule says.
  EXPECT_CLOSE(jvp([](Array x) { return call_primitive<AffineTangent>(x); }, x3, x3).second, x3 + 1);
}

TEST(FrontendAuthorErrors, ARuleWhoseResultHasNoTangents) {
  ASSERT_TRUE(registered);
  using Pair = std::pair<Array, Array>;
  using Q = HiValue<Misspelt>;
  auto make = [](Array x) { return call_primitive<Make<Misspelt>>(x).as<Q>(); };
  auto byJvp = custom_jvp(make, [=](std::tuple<Array> x, std::tuple<Array>) { return std::pair(make(std::get<0>(x)), Array()); });
  auto byVjp = custom_vjp(make, [=](Array x) { return std::pair(make(x), x); }, [](Array x, Q) { return x; });
  auto total = [](const Q &q) { return sum(call_primitive<Get<Misspelt>>(q)); };
  auto message = [](const char *transform, const char *rule) {
    return std::string(transform) + ": the " + rule + " at " HERE
           " has a result of type '!hjx.misspelt<3>' that depends on what is differentiated: differentiation requires misspelt to implement "
           "the tangent_type method\n  help: write it in the class of the type (hjx::TupleType{} for none), or make the result of "
           "hjx::stop_gradient(x)";
  };
  EXPECT_HJX_ERROR(grad([&](Array x) { return total(byJvp(x)); })(x3), message("grad", "custom_jvp"));
  EXPECT_HJX_ERROR(jvp([&](Array x) { return total(byJvp(x)); }, x3, x3), message("jvp", "custom_jvp"));
  EXPECT_HJX_ERROR(grad([&](Array x) { return total(byVjp(x)); })(x3), message("grad", "custom_vjp"));
  EXPECT_CLOSE(total(byVjp(x3)), sum(x3));
  // Integers have none by themselves, as JAX's float0 says: what depends on them has a zero derivative.
  auto both = [](Array x) { return Pair(2 * x, argmax(x)); };
  auto integers = custom_vjp(both, [=](Array x) { return std::pair(both(x), x); }, [](Array, Pair bar) { return 3 * bar.first; });
  auto weighted = [&](Array x) {
    auto [y, i] = integers(x);
    return sum(y) * i;
  };
  EXPECT_CLOSE(grad(weighted)(x3), full({3}, 6.0));
  EXPECT_CLOSE(grad([&](Array x) { return integers(x).second.astype(float32); })(x3), zeros({3}));
}

TEST(FrontendAuthorErrors, AJvpRuleThatIsNotLinear) {
  EXPECT_HJX_ERROR(grad([](Array x) { return sum(call_primitive<AbsTangent>(x)); })(x3),
                   "grad: the primitive abs_tangent at " HERE " has a jvp rule that is not linear in its tangents at hjx.abs\n  help: multiply "
                   "tangents by values of the primals, and add them to tangents");
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

struct Endless {
  static constexpr const char *name = "endless";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return call_primitive<Endless>(x + 1); }
};
HJX_REGISTER_PRIMITIVE(Endless)

struct Growing {
  static constexpr const char *name = "growing";
  static Type infer(const Type &) { return Type(); }
  static Array expand(const Array &x) { return call_primitive<Growing>(zeros({x.shape()[0] + 1})); }
};
HJX_REGISTER_PRIMITIVE(Growing)

struct EndlessWrite {
  static constexpr const char *name = "endless_write";
  static Type infer(const Type &, const Type &x) { return x; }
  static Array expand(const Ref &cell, const Array &x) { return call_primitive<EndlessWrite>(cell, x); }
};
HJX_REGISTER_PRIMITIVE(EndlessWrite)

/// It calls itself, and ends.
struct Halving {
  int64_t n = 0;
  static constexpr const char *name = "halving";
  HJX_PARAMS(n)
  Type infer(const Type &x) const { return x; }
  Array expand(const Array &x) const { return n == 0 ? x : call_primitive(Halving{n - 1}, x / 2); }
};
HJX_REGISTER_PRIMITIVE(Halving)

TEST(FrontendAuthorErrors, AnExpansionThatNeverEnds) {
  const std::string itself = "expand: expected other operations, got a call of itself with the same operands, which never ends\n  help: write "
                             "what it computes with the functions of hjx/ops.h";
  EXPECT_HJX_ERROR(call_primitive<Endless>(x3), "endless: the primitive endless at " HERE ": " + itself);
  EXPECT_HJX_ERROR(jit([](Array x) { return call_primitive<Endless>(x); })(x3), "jit: the primitive endless at " HERE ": " + itself);
  EXPECT_HJX_ERROR(call_primitive<Growing>(x3),
                   "growing: the primitive growing at " HERE ": expand: expected at most 200 expansions inside of each other, got more\n  "
                   "help: write what it computes with the functions of hjx/ops.h");
  EXPECT_THAT([] { return jit([](Ref cell, Array x) { return call_primitive<EndlessWrite>(cell, x); })(new_ref(x3), x3); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr(itself)));
  EXPECT_CLOSE(call_primitive(Halving{3}, x3), x3 / 8);
}

Array global;
struct Captures {
  static constexpr const char *name = "captures";
  static Type infer(const Type &x) { return x; }
  static Array expand(const Array &x) { return x * global + array({1.0, 2.0, 3.0}); }
};
HJX_REGISTER_PRIMITIVE(Captures)

TEST(FrontendAuthorErrors, AnArrayThatARuleCaptures) {
  global = ones({3});
  auto says = ::testing::ThrowsMessage<Error>(::testing::AllOf(
      ::testing::StartsWith("FrontendAuthorErrorsTest.cpp:"), ::testing::HasSubstr("the primitive captures at FrontendAuthorErrorsTest.cpp:"),
      ::testing::HasSubstr("the concrete f32[3], made at FrontendAuthorErrorsTest.cpp:"),
      ::testing::HasSubstr("is not an operand of the primitive; its value of now would be compiled in and later changes would go unseen"
                           "\n  help: make it an operand, or freeze it: hjx::constant(x)")));
  EXPECT_THAT([] { return jit([](Array x) { return call_primitive<Captures>(x); })(x3); }, says);
  EXPECT_THAT([] { return call_primitive<Captures>(x3); }, says);
  global = constant(2 * ones({3}));
  EXPECT_CLOSE(jit([](Array x) { return call_primitive<Captures>(x); })(x3), 2 * x3 + array({1.0, 2.0, 3.0}));
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Its dec_rank forgets to remove the dimension; it has no leading axis, and no parts.
struct Fixed {
  Shape shape;
  int64_t bits = 8;
  static constexpr const char *name = "fixed";
  HJX_PARAMS(shape, bits)
  void verify() const {
    if (bits > 30)
      throw Error("expected at most 30 bits, got " + std::to_string(bits), "use fewer", {});
  }
  std::vector<Type> lo_types() const { return {Type(int32, shape)}; }
  Type dec_rank(int64_t, const AxisSpec &) const { return *this; }
  Type inc_rank(int64_t size, const AxisSpec &) const {
    std::vector<int64_t> sizes = shape.vec();
    sizes.insert(sizes.begin(), size);
    return Fixed{sizes, bits};
  }
};
HJX_REGISTER_TYPE(Fixed)
using FixedArray = HiValue<Fixed>;

struct ToFixed {
  int64_t bits = 8;
  static constexpr const char *name = "to_fixed";
  HJX_PARAMS(bits)
  Type infer(const Type &x) const { return Fixed{x.shape(), bits}; }
  FixedArray expand(const Array &x) const {
    return raise<FixedArray>(Fixed{x.shape(), bits}, {round(x * static_cast<double>(1 << bits)).astype(int32)});
  }
};
HJX_REGISTER_PRIMITIVE(ToFixed)

struct FromFixed {
  static constexpr const char *name = "from_fixed";
  static Type infer(const Type &x) { return Type(float32, x.as<Fixed>().shape); }
  static Array expand(const FixedArray &x) {
    return std::get<0>(lower<Array>(x)).astype(float32) / static_cast<double>(1 << x.hi_type().bits);
  }
};
HJX_REGISTER_PRIMITIVE(FromFixed)

TEST(FrontendAuthorErrors, PlacesWithoutAWhere) {
  const char *bits = "fixed: expected at most 30 bits, got 31\n  help: use fewer";
  EXPECT_HJX_ERROR(call_primitive(ToFixed{31}, x3), bits);
  EXPECT_HJX_ERROR(call_primitive(ToFixed{31}, Where::current(), x3), bits);
  EXPECT_HJX_ERROR(jit([](Array x) { return call_primitive(ToFixed{31}, x); })(x3), bits);
  EXPECT_HJX_ERROR(raise<FixedArray>(Fixed{{3}, 31}, {x3.astype(int32)}), bits);
  EXPECT_HJX_ERROR(call_primitive<FromFixed>(AnyValue(x3).as<FixedArray>()), "as: expected a value of the hi-type fixed, got f32[3]\n  help: look at value.type() first");
  EXPECT_CLOSE(call_primitive<FromFixed>(call_primitive(ToFixed{4}, x3)), x3);
}

TEST(FrontendAuthorErrors, TypesThatAreMappedWrongly) {
  FixedArray q = call_primitive(ToFixed{4}, x3);
  EXPECT_HJX_ERROR(vmap([](FixedArray q) { return call_primitive<FromFixed>(q); }, AxisSpec(0), 0, AxisSize{3})(q),
                   "vmap: dec_rank of fixed: expected the element of which inc_rank makes fixed{[3],[4]}, got "
                   "fixed{[3],[4]}, of which it makes fixed{[3,3],[4]}\n  help: dec_rank removes what inc_rank adds");
  EXPECT_HJX_ERROR(vmap([](Array x) { return call_primitive<FromFixed>(call_primitive(ToFixed{4}, x)); })(x3),
                   "vmap: the primitive to_fixed at " HERE " has no batch rule, so that its results are mapped at their leading axes: mapping at "
                   "the leading axis (scan, vmap) requires fixed to implement the leading_axis_spec method\n  help: write it in the class of "
                   "the type");
  Ref cell = new_ref(q);
  EXPECT_HJX_ERROR(cell.get_as<FixedArray>(0),
                   "get: expected an access of all of the ref of fixed{[3],[4]}, got an index\n  help: leave the index out, or write index_shape, part_type, get_part and set_part in the class "
                   "of the type");
}

} // namespace
