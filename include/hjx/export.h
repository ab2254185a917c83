// SPDX-License-Identifier: Apache-2.0
//
// Programs as text and as files.
//
//   std::cout << make_ir(f)(x, y);               // what a function records, without running it
//
//   Module module;                               // several functions for other tools
//   module.add("init", init, arg("key", key));
//   module.add("step", step, {.donate = {0}}, arg("state", state), arg("batch", batch));
//   module.write("train.mlir");                  // .mlirbc for bytecode
//
// Arguments only lend their types: hjx::abstract makes one without numbers. Every
// argument and result carries its path as `hjx.name`, such as state.params.w.
#pragma once

#include <hjx/detail/flat.h>

namespace hjx {

/// An argument with a name.
template <typename T>
struct Named {
  std::string name;
  T value;
};
template <typename T>
Named<T> arg(std::string name, const T &value) {
  return {std::move(name), value};
}

struct ExportOptions {
  /// Arguments whose storage results may take: marked `hjx.donated`.
  std::vector<int> donate = {};
  /// Of the result that is not a struct; a struct's fields are names already.
  std::string result = "result";
};

/// A name, with the line that says it.
struct Label {
  Label(const char *text, Where where = Where::current()) : text(text), where(where) {}
  Label(std::string text, Where where = Where::current()) : text(std::move(text)), where(where) {}

  std::string text;
  Where where;
};

/// A value of an attribute.
struct HJX_API AttributeValue {
  AttributeValue(bool value) : integer(value), kind(Bool) {}
  template <std::integral T>
  AttributeValue(T value) : integer(static_cast<int64_t>(value)), kind(Integer) {}
  AttributeValue(double value) : real(value), kind(Real) {}
  AttributeValue(std::string value) : text(std::move(value)), kind(Text) {}
  AttributeValue(const char *value) : text(value), kind(Text) {}

  int64_t integer = 0;
  double real = 0;
  std::string text;
  enum Kind { Bool, Integer, Real, Text } kind;
};
using AttributeMap = std::map<std::string, AttributeValue>;

/// A module with named functions. Not for use by several threads at once.
class HJX_API Module {
public:
  Module();
  ~Module();
  Module(Module &&) noexcept;
  Module &operator=(Module &&) noexcept;

  /// Records f, as a public function, for the types of the arguments.
  ///
  /// Names: an argument made by arg(name, tree) has that name, others arg0, arg1, ..; leaves
  ///        append their path. Results are named by their path in f's result.
  /// Errors: hjx::Error if the name is taken, and whatever f throws.
  template <typename F, typename... Args>
  void add(const Label &name, const F &f, ExportOptions options, const Args &...args) {
    addNamed(name.text, f, options, name.where, args...);
  }
  template <typename F, typename Arg, typename... Args>
    requires(!std::is_same_v<Arg, ExportOptions>)
  void add(const Label &name, const F &f, const Arg &first, const Args &...rest) {
    addNamed(name.text, f, {}, name.where, first, rest...);
  }

  /// Sets an attribute of the module: a value, or a dictionary. Names are "prefix.name", with the
  /// prefix of the tool that reads them.
  void set_attribute(const std::string &name, const AttributeValue &value, Where where = Where::current());
  void set_attribute(const std::string &name, const AttributeMap &values, Where where = Where::current());
  /// Sets an attribute of the arguments and results of a function whose name is `path` or lies
  /// under it: set_attribute("step", "state", "hjx.role", "state").
  void set_attribute(const std::string &function, const std::string &path, const std::string &name,
                     const AttributeValue &value, Where where = Where::current());

  /// The module as text; `transformed` expands grad, vmap and the other requests first.
  std::string text() const;
  std::string transformed_text(Where where = Where::current()) const;
  /// Writes text, or bytecode for a path that ends in .mlirbc.
  void write(const std::string &path, Where where = Where::current()) const;

private:
  using ArrayList = detail::ArrayList;
  struct Signature {
    ArrayList leaves;
    std::vector<std::string> names;
    std::vector<size_t> ends; // Of each argument, in leaves.
  };
  template <typename T>
  static void append(Signature &signature, const Named<T> &arg) {
    ArrayList leaves = detail::leavesOf(arg.value);
    std::vector<std::string> paths = detail::pathsOf(detail::structureOf(arg.value, arg.name));
    signature.leaves.insert(signature.leaves.end(), leaves.begin(), leaves.end());
    signature.names.insert(signature.names.end(), paths.begin(), paths.end());
    signature.ends.push_back(signature.leaves.size());
  }
  template <typename T>
  static void append(Signature &signature, const T &arg) {
    append(signature, hjx::arg("arg" + std::to_string(signature.ends.size()), arg));
  }
  template <typename T>
  static const T &valueOf(const Named<T> &arg) {
    return arg.value;
  }
  template <typename T>
  static const T &valueOf(const T &arg) {
    return arg;
  }

  template <typename F, typename... Args>
  void addNamed(const std::string &name, const F &f, const ExportOptions &options, Where where, const Args &...args) {
    Signature signature;
    (append(signature, args), ...);
    auto tuple = detail::makeArgs<F>(valueOf(args)...);
    detail::Flattened<F, decltype(tuple)> flat(f, tuple);
    std::vector<std::string> resultNames;
    auto record = [&](const ArrayList &leaves) {
      ArrayList results = flat(leaves);
      bool isStruct = detail::TreeStruct<typename decltype(flat)::Result>;
      resultNames = detail::pathsOf(detail::structureOf(*flat.result, isStruct ? "" : options.result));
      return results;
    };
    record_function(name, signature, options, resultNames, record, where);
  }
  void record_function(const std::string &name, const Signature &signature, const ExportOptions &options,
                       const std::vector<std::string> &resultNames, detail::FlatFunction f, Where where);

  struct Impl;
  std::unique_ptr<Impl> impl;
};

namespace detail {
HJX_API std::string makeIr(Where where, const ArrayList &args, bool expanded, FlatFunction f);
HJX_API ArrayList evalShape(Where where, const ArrayList &args, FlatFunction f);

template <typename F>
class IrMaker : public Transformed<IrMaker<F>, F> {
public:
  IrMaker(F f, bool expanded, Where made) : IrMaker::Transformed(made), f(std::move(f)), expanded(expanded) {}
  template <typename ArgTuple>
  std::string call(const ArgTuple &tuple, Where where) const {
    Flattened<F, ArgTuple> flat(f, tuple);
    return makeIr(where, leavesOf(tuple), expanded, flat);
  }

private:
  F f;
  bool expanded;
};

template <typename F>
class ShapeEvaluator : public Transformed<ShapeEvaluator<F>, F> {
public:
  ShapeEvaluator(F f, Where made) : ShapeEvaluator::Transformed(made), f(std::move(f)) {}
  template <typename ArgTuple>
  auto call(const ArgTuple &tuple, Where where) const {
    Flattened<F, ArgTuple> flat(f, tuple);
    return flat.rebuild(evalShape(where, leavesOf(tuple), flat));
  }

private:
  F f;
};
} // namespace detail

/// Returns the function that gives the text of the module that f records.
template <typename F>
auto make_ir(F f, Where where = Where::current()) {
  return detail::IrMaker<F>(std::move(f), /*expanded=*/false, where);
}

/// As make_ir, with grad, vmap and the other requests expanded.
template <typename F>
auto make_expanded_ir(F f, Where where = Where::current()) {
  return detail::IrMaker<F>(std::move(f), /*expanded=*/true, where);
}

/// Returns the function that gives f's result, as abstract arrays, for the types of its arguments,
/// without computing it.
template <typename F>
auto eval_shape(F f, Where where = Where::current()) {
  return detail::ShapeEvaluator<F>(std::move(f), where);
}

} // namespace hjx
