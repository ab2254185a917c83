// SPDX-License-Identifier: Apache-2.0
//
// The boundary between the typed transforms of the headers and the engine in the
// library. Templates turn trees into flat lists of arrays and back, once per
// transform and user type; everything else happens behind these functions.
#pragma once

#include <hjx/tree.h>

namespace hjx::detail {

//===----------------------------------------------------------------------===//
// Functions of flat lists
//===----------------------------------------------------------------------===//

using ArrayList = std::vector<Array>;

/// A function that a caller owns for the duration of a call.
class FlatFunction {
public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FlatFunction>)
  FlatFunction(F &&f)
      : object(const_cast<void *>(static_cast<const void *>(&f))),
        call([](void *object, const ArrayList &args) { return (*static_cast<std::remove_reference_t<F> *>(object))(args); }) {}
  ArrayList operator()(const ArrayList &args) const { return call(object, args); }

private:
  void *object;
  ArrayList (*call)(void *, const ArrayList &);
};

/// A function kept for later, with what it refers to.
class OwnedFunction {
public:
  template <typename F>
  OwnedFunction(std::shared_ptr<F> f)
      : object(std::move(f)), call([](void *object, const ArrayList &args) { return (*static_cast<F *>(object))(args); }) {}
  ArrayList operator()(const ArrayList &args) const { return call(object.get(), args); }

private:
  std::shared_ptr<void> object;
  ArrayList (*call)(void *, const ArrayList &);
};

/// Runs `body` as one recorded program when nothing records, else in place.
/// `paths` names the arguments in messages.
HJX_API ArrayList stage(const char *op, Where where, const ArrayList &args, FlatFunction body,
                        const std::vector<std::string> &paths = {});

HJX_API Array compositeFlat(const char *op, Where where, FlatFunction body);

/// Runs `body` as one operation of the user's: an error inside names `op` and the caller's line, and
/// on concrete arrays it is one program. For functions that are made of other functions.
template <typename F>
Array composite(const char *op, Where where, const F &body) {
  return compositeFlat(op, where, [&](const ArrayList &) { return ArrayList{body()}; });
}

//===----------------------------------------------------------------------===//
// Parameters and results of user functions
//===----------------------------------------------------------------------===//

template <typename F>
struct SignatureOf;
template <typename R, typename... P>
struct SignatureOf<R (*)(P...)> {
  using Params = std::tuple<std::decay_t<P>...>;
};
#define HJX_DETAIL_SIGNATURE(qualifiers)                                                                      \
  template <typename R, typename C, typename... P>                                                            \
  struct SignatureOf<R (C::*)(P...) qualifiers> {                                                             \
    using Params = std::tuple<std::decay_t<P>...>;                                                            \
  };
HJX_DETAIL_SIGNATURE()
HJX_DETAIL_SIGNATURE(const)
HJX_DETAIL_SIGNATURE(noexcept)
HJX_DETAIL_SIGNATURE(const noexcept)
#undef HJX_DETAIL_SIGNATURE

/// A transformed function says itself which parameters its function has.
template <typename F>
concept DeclaresParams = requires { typename F::HjxParams; };
template <typename F>
concept IsFunctionPointer = requires { typename SignatureOf<F>::Params; };
template <typename F>
concept HasCallOperator = requires { typename SignatureOf<decltype(&F::operator())>::Params; };

template <typename F>
struct ParamsOf {
  using type = void; // A generic lambda: takes what it is given.
};
template <DeclaresParams F>
struct ParamsOf<F> {
  using type = typename F::HjxParams;
};
template <IsFunctionPointer F>
struct ParamsOf<F> {
  using type = typename SignatureOf<F>::Params;
};
template <typename F>
  requires(!DeclaresParams<F> && HasCallOperator<F>)
struct ParamsOf<F> {
  using type = typename SignatureOf<decltype(&F::operator())>::Params;
};


/// C++ numbers for generic parameters are arrays, so that they are traced.
template <typename T>
struct GenericArg {
  using type = std::conditional_t<std::is_arithmetic_v<T>, Array, T>;
};

/// An argument that was left out. Nothing may follow a pack with a default, such as the caller's line, so
/// functions of many arguments list eight that default to a type of this kind.
struct LeftOut {};

/// The arguments that are Kind, and those that are not, as a tuple.
template <typename Kind, bool are = true, typename... Args>
auto argsThatAre(const Args &...args) {
  auto some = [](const auto &arg) {
    if constexpr (std::is_same_v<std::decay_t<decltype(arg)>, Kind> == are)
      return std::tie(arg);
    else
      return std::tuple<>();
  };
  return std::tuple_cat(some(args)...);
}
template <typename Kind, typename... Args>
auto argsOtherThan(const Args &...args) {
  return argsThatAre<Kind, false>(args...);
}

template <typename F, typename... Args>
auto makeArgs(const Args &...args) {
  using Params = typename ParamsOf<F>::type;
  if constexpr (std::is_void_v<Params>) {
    return std::tuple<typename GenericArg<Args>::type...>(args...);
  } else {
    static_assert(std::tuple_size_v<Params> == sizeof...(Args), "the function takes another number of arguments");
    return Params(args...);
  }
}

/// The call operator of a transform Self of F: Self::call gets the arguments as a tuple of F's
/// parameters, and the line to blame. That is the caller's; where the call stands in the C++ library
/// (std::apply, std::function) or F is generic, the line that made the transform.
template <typename Self, typename F, typename Params = typename ParamsOf<F>::type>
class Transformed;

template <typename Self, typename F, typename... Params>
class Transformed<Self, F, std::tuple<Params...>> {
public:
  using HjxParams = std::tuple<Params...>;
  explicit Transformed(Where made) : made(made) {}

  auto operator()(const Params &...args, Where where = Where::current()) const {
    bool isTheirs = std::string_view(where.file_name()).find("/c++/") == std::string_view::npos;
    return static_cast<const Self *>(this)->call(HjxParams(args...), isTheirs ? where : made);
  }

private:
  Where made;
};

template <typename Self, typename F>
class Transformed<Self, F, void> {
public:
  explicit Transformed(Where made) : made(made) {}

  template <typename... Args>
  auto operator()(const Args &...args) const {
    return static_cast<const Self *>(this)->call(makeArgs<F>(args...), made);
  }

private:
  Where made;
};

/// f(args..); an empty tree for a function that returns nothing, called for what it does to refs.
template <typename F, typename ArgTuple>
auto applyTo(const ArgTuple &args, const F &f) {
  if constexpr (std::is_void_v<decltype(std::apply(f, args))>) {
    std::apply(f, args);
    return std::tuple<>();
  } else {
    return std::apply(f, args);
  }
}

template <typename F, typename ArgTuple>
using ResultOf = std::decay_t<decltype(applyTo(std::declval<const ArgTuple &>(), std::declval<const F &>()))>;

/// F on flat lists: puts arrays into a copy of the arguments, calls, takes the result apart.
/// The result's structure stays in `result`.
template <typename F, typename ArgTuple>
class Flattened {
public:
  using Result = ResultOf<F, ArgTuple>;

  Flattened(const F &f, const ArgTuple &args) : f(f), args(args) {}
  ArrayList operator()(const ArrayList &leaves) {
    result.emplace(applyTo(withLeaves(args, leaves), f));
    return leavesOf(*result);
  }
  /// The result with other arrays.
  Result rebuild(const ArrayList &leaves, size_t first = 0) const { return withLeaves(*result, leaves, first); }

  std::optional<Result> result;

private:
  const F &f;
  const ArgTuple &args;
};

/// The same with copies of function and arguments.
template <typename F, typename ArgTuple>
class OwnedFlattened {
public:
  OwnedFlattened(const F &f, const ArgTuple &args) : f(f), args(args) {}
  OwnedFlattened(const OwnedFlattened &) = delete;
  ArrayList operator()(const ArrayList &leaves) { return flat(leaves); }

  F f;
  ArgTuple args;
  Flattened<F, ArgTuple> flat{f, args};
};

} // namespace hjx::detail
