// SPDX-License-Identifier: Apache-2.0
//
// A user's class of types behind a plain abstract class: which methods it has, and
// what they say. lib/Frontend/UserTypes.cpp shows it to the compiler.
#pragma once

#include <hjx/detail/flat.h>
#include <hjx/detail/params.h>
#include <hjx/indexing.h>
#include <hjx/sharding.h>

namespace hjx::detail {

/// A class of types. Methods throw; one that the class lacks is not called: `has` says so.
class HJX_API UserType {
public:
  enum class Method {
    Verify,
    TangentType,
    Zero,
    Add,
    DecRank,
    IncRank,
    LeadingAxisSpec,
    Parts,
    Shard,
    Unshard,
    NoSpec,
    LoPartitions,
    TangentPartition
  };
  virtual ~UserType();
  virtual std::string name() const = 0;
  /// As errors call it: the class's name.
  virtual bool has(Method method) const = 0;
  /// Throws unless the parameters make a type.
  virtual void verify(const Type &type) const = 0;
  virtual std::vector<Type> loTypes(const Type &type) const = 0;
  virtual Type tangentType(const Type &type) const = 0;
  virtual Array zero(const Type &type) const = 0;
  virtual Array add(const Type &type, const Array &x, const Array &y) const = 0;
  virtual Type decRank(const Type &type, int64_t size, const AxisSpec &spec) const = 0;
  virtual Type incRank(const Type &type, int64_t size, const AxisSpec &spec) const = 0;
  virtual AxisSpec leadingAxisSpec(const Type &type) const = 0;
  virtual Shape indexShape(const Type &type) const = 0;
  virtual Type partType(const Type &type, const Shape &part) const = 0;
  virtual Array getPart(const Type &type, const Array &whole, const std::vector<Index> &index) const = 0;
  virtual Array setPart(const Type &type, const Array &whole, const std::vector<Index> &index, const Array &part) const = 0;
  virtual Type shard(const Type &type, const Mesh &mesh, const AxisSpec &spec) const = 0;
  virtual Type unshard(const Type &type, const Mesh &mesh, const AxisSpec &spec) const = 0;
  virtual AxisSpec noSpec(const Type &type, const Mesh &mesh) const = 0;
  virtual std::vector<AxisSpec> loPartitions(const Type &type, const AxisSpec &spec) const = 0;
  virtual AxisSpec tangentPartition(const Type &type, const AxisSpec &spec) const = 0;
};

template <TypeClass T>
class UserTypeOf final : public UserType {
public:
  std::string name() const override { return T::name; }
  bool has(Method method) const override {
    switch (method) {
    case Method::Verify:
      return true;
    case Method::TangentType:
      return requires(const T &t) { t.tangent_type(); };
    case Method::Zero:
      return requires(const T &t) { t.zero(); };
    case Method::Add:
      return requires { &T::add; };
    case Method::DecRank:
      return requires { &T::dec_rank; };
    case Method::IncRank:
      return requires { &T::inc_rank; };
    case Method::LeadingAxisSpec:
      return requires(const T &t) { t.leading_axis_spec(); };
    case Method::Parts:
      return kHasParts;
    case Method::Shard:
      return requires { &T::shard; };
    case Method::Unshard:
      return requires { &T::unshard; };
    case Method::NoSpec:
      return requires { &T::no_spec; };
    case Method::LoPartitions:
      return requires { &T::lo_partitions; };
    case Method::TangentPartition:
      return requires { &T::tangent_partition; };
    }
    return false;
  }
  void verify(const Type &type) const override {
    T object = object_of(type);
    if constexpr (requires { object.verify(); })
      object.verify();
  }
  std::vector<Type> loTypes(const Type &type) const override { return object_of(type).lo_types(); }
  Type tangentType(const Type &type) const override {
    if constexpr (requires(const T &t) { t.tangent_type(); })
      return object_of(type).tangent_type();
    return type;
  }
  Array zero(const Type &type) const override {
    if constexpr (requires(const T &t) { t.zero(); })
      return AnyValue(object_of(type).zero()).hjxHandle();
    return {};
  }
  Array add(const Type &type, const Array &x, const Array &y) const override {
    if constexpr (requires { &T::add; }) {
      using Operand = std::tuple_element_t<0, typename SignatureOf<decltype(&T::add)>::Params>;
      return AnyValue(object_of(type).add(AnyValue(x).as<Operand>(), AnyValue(y).as<Operand>())).hjxHandle();
    }
    return {};
  }
  Type decRank(const Type &type, int64_t size, const AxisSpec &spec) const override {
    if constexpr (requires { &T::dec_rank; })
      return object_of(type).dec_rank(size, spec);
    return type;
  }
  Type incRank(const Type &type, int64_t size, const AxisSpec &spec) const override {
    if constexpr (requires { &T::inc_rank; })
      return object_of(type).inc_rank(size, spec);
    return type;
  }
  AxisSpec leadingAxisSpec(const Type &type) const override {
    if constexpr (requires(const T &t) { t.leading_axis_spec(); })
      return object_of(type).leading_axis_spec();
    return {};
  }
  Shape indexShape(const Type &type) const override {
    if constexpr (kHasParts)
      return object_of(type).index_shape();
    return {};
  }
  Type partType(const Type &type, const Shape &part) const override {
    if constexpr (kHasParts)
      return object_of(type).part_type(part);
    return type;
  }
  Array getPart(const Type &type, const Array &whole, const std::vector<Index> &index) const override {
    if constexpr (kHasParts) {
      using Whole = std::tuple_element_t<0, typename SignatureOf<decltype(&T::get_part)>::Params>;
      return AnyValue(object_of(type).get_part(AnyValue(whole).as<Whole>(), index)).hjxHandle();
    }
    return {};
  }
  Array setPart(const Type &type, const Array &whole, const std::vector<Index> &index, const Array &part) const override {
    if constexpr (kHasParts) {
      using Params = typename SignatureOf<decltype(&T::set_part)>::Params;
      using Whole = std::tuple_element_t<0, Params>;
      using Part = std::tuple_element_t<2, Params>;
      return AnyValue(object_of(type).set_part(AnyValue(whole).as<Whole>(), index, AnyValue(part).as<Part>())).hjxHandle();
    }
    return {};
  }
  Type shard(const Type &type, const Mesh &mesh, const AxisSpec &spec) const override {
    if constexpr (requires { &T::shard; })
      return object_of(type).shard(mesh, spec);
    return type;
  }
  Type unshard(const Type &type, const Mesh &mesh, const AxisSpec &spec) const override {
    if constexpr (requires { &T::unshard; })
      return object_of(type).unshard(mesh, spec);
    return type;
  }
  AxisSpec noSpec(const Type &type, const Mesh &mesh) const override {
    if constexpr (requires { &T::no_spec; })
      return object_of(type).no_spec(mesh);
    return {};
  }
  std::vector<AxisSpec> loPartitions(const Type &type, const AxisSpec &spec) const override {
    if constexpr (requires { &T::lo_partitions; })
      return object_of(type).lo_partitions(spec);
    return {};
  }
  AxisSpec tangentPartition(const Type &type, const AxisSpec &spec) const override {
    if constexpr (requires { &T::tangent_partition; })
      return object_of(type).tangent_partition(spec);
    return {};
  }

private:
  static_assert(listsAllFields<T>(), "HJX_PARAMS lists every field of a hi-type: one that it leaves out would be its default in values of the type");
  static_assert(!requires { typename T::Tangent; } || requires(const T &t) { t.tangent_type(); },
                "`using Tangent` says how C++ names what tangent_type returns: write `hjx::Type tangent_type() const`");
  static constexpr bool kHasParts = requires { &T::index_shape; };
  static_assert(kHasParts == requires { &T::part_type; } && kHasParts == requires { &T::get_part; } &&
                    kHasParts == requires { &T::set_part; },
                "index_shape, part_type, get_part and set_part come together: they make parts of refs of the type");

  static T object_of(const Type &type) { return classOfType<T>(type, Where()); }
};

/// Throws if another class has the name.
HJX_API bool registerType(std::unique_ptr<UserType> type);
template <typename T>
bool registerTypeClass() {
  static_assert(TypeClass<T>, "a hi-type needs `static constexpr const char *name` and `std::vector<hjx::Type> lo_types() const`");
  return registerType(std::make_unique<UserTypeOf<T>>());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

HJX_API Array raiseFlat(const Type &type, const std::vector<Array> &components, Where where);
HJX_API std::vector<Array> lowerFlat(const Array &value, Where where);
HJX_API Array constantFlat(const Array &value, Where where);
HJX_API Array abstractFlat(const Type &type, Where where);
HJX_API Array zeroFlat(const Type &type, Where where);
HJX_API Array sumFlat(const Array &x, const Array &y, Where where);
HJX_API std::optional<Type> tangentTypeOf(const Type &type);

} // namespace hjx::detail
