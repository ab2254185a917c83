// SPDX-License-Identifier: Apache-2.0
//
// jit: record a function once, compile it, and run the program on every call.
//
//   auto step = hjx::jit(trainStep, {.donate = {0}});
//   state = step(state, batch);               // compiled at the first call
//   std::cout << step.stats().explain();      // what was compiled, and why again
//
// A program is compiled for each structure of the arguments, each list of element
// types and shapes, and each value of numbers and strings inside them: those are
// static, C++'s types say so. Arrays that the function uses without being
// arguments are refused, because their value would be compiled in silently.
#pragma once

#include <hjx/detail/flat.h>
#include <hjx/device.h>

namespace hjx {

struct JitOptions {
  /// Arguments whose arrays the call may reuse for results of the same type. They
  /// are consumed: using them afterwards is an error.
  std::vector<int> donate = {};
  /// Of the program, for dumps and messages.
  std::string name = "main";
  /// Where every call runs, whatever its arguments are committed to: they move. For programs that
  /// are placed by hand; device_put of the arguments says the same.
  Device device = {};
};

/// What a jitted function has compiled. With HJX_EXPLAIN_RETRACES=1 in the environment, every
/// compilation after the first also says why on standard error, as it happens.
struct HJX_API JitStats {
  int64_t calls = 0;
  /// One entry for each compilation: its argument types, and how they differ from the
  /// closest earlier ones.
  struct Compilation {
    std::string signature, reason;
    double seconds = 0;
  };
  std::vector<Compilation> compilations;

  /// The compilations as text, one a line.
  std::string explain() const;
};

namespace detail {

class JitCache;

/// A call being looked up: its leaves, and a key of everything that selects the program.
class HJX_API JitCall final : public TreeVisitor {
public:
  JitCall(const void *instantiation, Where where);
  ~JitCall() override;
  void leaf(Array &array) override;
  void begin(NodeKind kind, const char *type, size_t count) override;
  void child(const std::string &key) override;
  void integer(int64_t value) override;
  void real(double value) override;
  void text(std::string_view value) override;

  const Where where;
  ArrayList leaves;
  std::vector<size_t> argumentEnds; // Leaves before the end of each argument.
  std::string key;
};

/// The results of a call and the structure to put them into.
struct JitResult {
  ArrayList leaves;
  std::shared_ptr<const void> prototype;
};

HJX_API std::shared_ptr<JitCache> makeJitCache(JitOptions options, Where where);
HJX_API JitStats statsOf(JitCache &cache);
/// `record` calls the user's function on traced leaves and leaves the result's structure in
/// `prototype`; `structure` describes the arguments.
HJX_API JitResult callJit(JitCache &cache, JitCall &call, FlatFunction record, std::shared_ptr<const void> &prototype,
                          TreeDef (*structure)(const void *args), const void *args);

/// One address for each type.
template <typename T>
inline constexpr char typeTag = 0;

template <typename F>
class Jitted : public Transformed<Jitted<F>, F> {
public:
  Jitted(F f, JitOptions options, Where made)
      : Jitted::Transformed(made), f(std::move(f)), cache(makeJitCache(std::move(options), made)) {}

  template <typename ArgTuple>
  auto call(const ArgTuple &tuple, Where where) const {
    using Result = ResultOf<F, ArgTuple>;
    JitCall call(&typeTag<ArgTuple>, where);
    std::apply([&](auto &...arg) { ((walk(arg, call), call.argumentEnds.push_back(call.leaves.size())), ...); }, tuple);

    std::shared_ptr<const void> prototype;
    auto record = [&](const ArrayList &leaves) {
      auto result = std::make_shared<Result>(applyTo(withLeaves(tuple, leaves), f));
      ArrayList list = leavesOf(*result);
      ArrayList none(list.size());
      LeafWriter clear(none); // No traced array outlives the recording.
      walk(*result, clear);
      prototype = std::move(result);
      return list;
    };
    JitResult result = callJit(
        *cache, call, record, prototype,
        [](const void *args) { return argumentStructureOf(*static_cast<const ArgTuple *>(args)); }, &tuple);
    return withLeaves(*static_cast<const Result *>(result.prototype.get()), result.leaves);
  }

  /// What was compiled, and why.
  JitStats stats() const { return statsOf(*cache); }

private:
  template <typename ArgTuple>
  static TreeDef argumentStructureOf(const ArgTuple &args) {
    return structureOf(args, "args");
  }
  F f;
  std::shared_ptr<JitCache> cache;
};

} // namespace detail

/// Returns f compiled: the first call with new types records and compiles, later ones run.
///
/// Inside another transform it records a call of one shared function.
/// Errors: hjx::Error for a captured concrete array, a donated argument used again, and
///         whatever f throws while it is recorded.
/// Cost:   of a call that is compiled already, some microseconds and the program.
template <typename F>
auto jit(F f, JitOptions options = {}, Where where = Where::current()) {
  return detail::Jitted<F>(std::move(f), std::move(options), where);
}

} // namespace hjx
