// SPDX-License-Identifier: Apache-2.0
//
// What refs may not be: returned, passed twice, used after their end, written where
// nothing says which element or which derivative is meant.
#include "test/conformance/RefsTesting.h"

using namespace hjx;

namespace {

std::string twice(const std::string &op, const std::string &first, const std::string &second) {
  return op + ": expected each ref to be passed once, got the ref ref{f32[2]} as both " + first + " and " + second +
         "\n  help: pass it once, or make a copy: hjx::new_ref(ref.get())";
}

} // namespace

TEST(RefsErrors, ReturnedEmptyRefs) {
  EXPECT_HJX_ERROR(jit([] { return empty_ref({2}); })(),
                   "jit: expected a function that returns values, got the ref ref{f32[2]}, made at " HERE
                   "\n  help: return what it holds, ref.get() or hjx::freeze(ref); the caller has its own refs already");
}

TEST(RefsErrors, ReturnedInsideATree) {
  EXPECT_HJX_ERROR(jit([](Ref r, Array x) { return std::pair(x, std::vector<Ref>{r}); })(new_ref(ones({2})), array(1.0f)),
                   "jit: expected a function that returns values, got the ref ref{f32[2]}, which was passed in as args[0]"
                   "\n  help: return what it holds, ref.get() or hjx::freeze(ref); the caller has its own refs already");
}

TEST(RefsErrors, ReturnedCapturedRefs) {
  auto leak = [](Ref r) { return jit([=] { return r; }); };
  EXPECT_HJX_ERROR(leak(new_ref(ones({2})))(),
                   "jit: expected a function that returns values, got the ref ref{f32[2]}, made at " HERE
                   "\n  help: return what it holds, ref.get() or hjx::freeze(ref); the caller has its own refs already");
}

TEST(RefsErrors, OneRefAsTwoArguments) {
  Ref r = new_ref(ones({2}));
  auto copy = [](Nothing, std::pair<Ref, Ref> x) {
    x.first.set(x.second.get());
    return std::pair(Nothing(), Nothing());
  };
  EXPECT_HJX_ERROR(scan(copy, Nothing(), std::pair(r, r)), twice("scan", "xs[0]", "xs[1]"));
  EXPECT_HJX_ERROR(foreach([](Ref, Ref) {}, r, r), twice("foreach", "xs[0]", "xs[1]"));
  EXPECT_HJX_ERROR(foreach([](Array, Ref, Ref) {}, zeros({2}), r, r), twice("foreach", "xs[1]", "xs[2]"));
  EXPECT_HJX_ERROR(switch_(0, std::tuple{[](Ref a, Ref b) { a.set(b.get()); }, [](Ref, Ref) {}}, r, r),
                   twice("switch_", "operands[0]", "operands[1]"));
  auto f = custom_vjp([](Ref a, Ref b) { return sum(a.get() + b.get()); },
                      [](Ref a, Ref b) { return std::pair(sum(a.get() + b.get()), Nothing()); },
                      [](Nothing, Array) { return std::pair(Array(), Array()); });
  EXPECT_HJX_ERROR(f(r, r), twice("custom_vjp", "argument 0", "argument 1"));
  // Inside a tree, the path is named.
  EXPECT_HJX_ERROR(jit([](Ref a, std::vector<Ref> b) { return a.get() + b[1].get(); })(r, std::vector<Ref>{new_ref(ones({2})), r}),
                   twice("jit", "args[0]", "args[1][1]"));
}

TEST(RefsErrors, OneRefCapturedAndPassed) {
  Ref r = new_ref(ones({2}));
  auto both = [](const std::string &op, const std::string &path) {
    return op + ": expected each ref to have one name in a function, got the ref ref{f32[2]} both captured and passed as " + path +
           "\n  help: use the argument inside the function, or do not pass it";
  };
  auto copy = [=](Nothing, Ref x) {
    x.set(r.get(0));
    return std::pair(Nothing(), Nothing());
  };
  EXPECT_HJX_ERROR(scan(copy, Nothing(), r), both("scan", "xs"));
  EXPECT_HJX_ERROR(cond(true, [=](Ref a) { a.set(r.get()); }, [](Ref) {}, r), both("cond", "operands[0]"));
  EXPECT_HJX_ERROR(vmap([=](Ref a) { return a.get() + r.get(0); })(r), both("vmap", "args[0]"));
}

TEST(RefsErrors, FrozenTwiceOrWrittenAfterwards) {
  EXPECT_HJX_ERROR(jit([](Array x) { Ref r = new_ref(x); Array y = freeze(r); return y + freeze(r); })(array(1.0f)),
                   "freeze: the ref ref{f32} was frozen at " HERE " and holds nothing any more\n  help: read it before, or freeze it later");
  EXPECT_HJX_ERROR(jit([](Array x) { Ref r = new_ref(x); Array y = freeze(r); r.set(y); return y; })(array(1.0f)),
                   "set: the ref ref{f32} was frozen at " HERE " and holds nothing any more\n  help: read it before, or freeze it later");
  EXPECT_THROW(jit([](Ref r) { return freeze(r); })(new_ref(array(1.0f))), Error);
}

TEST(RefsErrors, RefsOfOtherProgramsEnd) {
  // A ref that a function made is nothing after it.
  Ref leaked;
  jit([&](Array x) {
    leaked = new_ref(x);
    return x;
  })(array(1.0f));
  EXPECT_THROW(leaked.get(), Error);
}

TEST(RefsErrors, IndicesAndValuesThatDoNotFit) {
  Ref r = new_ref(zeros({3, 4}));
  EXPECT_HJX_ERROR(r.get(3), "get: index 3 is out of range for axis 0 of ref{f32[3,4]}\n  help: use an index in [-3, 3)");
  EXPECT_HJX_ERROR(r.set({0, -5}, 1.0), "set: index -5 is out of range for axis 1 of ref{f32[3,4]}\n  help: use an index in [-4, 4)");
  for (const std::vector<Index> &pattern : std::vector<std::vector<Index>>{
           {0, 0, 0},                                // more entries than axes
           {newaxis, 0},                             // a ref has no new axes
           {ellipsis, ellipsis},                     // two of them
           {array({true, false, true})},             // a mask: its result has no static shape
           {array({0.0, 1.0})},                      // not integers
           {array({0, 1}), array({0, 1, 2})},        // no common shape
       }) {
    SCOPED_TRACE(pattern.size());
    RefPart part(r, pattern, Where::current());
    EXPECT_THROW(part.get(), Error);
    EXPECT_THROW(part = 1.0, Error);
    EXPECT_THROW(part += 1.0, Error);
  }
  EXPECT_THROW(r.set(0, ones({3})), Error);
  EXPECT_THROW(r.add({every, 0}, ones({4})), Error);
  EXPECT_THROW(r.swap(ones({3, 4}, float64)), Error);
  EXPECT_CLOSE(r.get(), zeros({3, 4})); // None of them has changed it.
}

TEST(RefsErrors, RefsWhereArraysAreExpected) {
  Array handle = new_ref(ones({2})).hjxHandle();
  EXPECT_THROW(handle + 1, Error);
  EXPECT_THROW(new_ref(handle), Error); // A ref does not hold a ref.
}

TEST(RefsErrors, GradientsThatCannotBeBound) {
  Ref x = new_ref(array(2.0f));
  auto ofRef = vjp([](Ref r) { return square(r.get()); }, x).second;
  EXPECT_THROW(ofRef.with_refs(grad_value)(array(1.0f)), Error); // A ref's gradient is a ref's.
  EXPECT_THROW(ofRef.with_refs(new_ref(array({1.0, 2.0})))(array(1.0f)), Error);
  auto ofArray = vjp([](Array x) { return square(x); }, array(2.0f)).second;
  EXPECT_THROW(ofArray.with_refs(new_ref(array(2)))(array(1.0f)), Error);
  EXPECT_THROW(ofArray.with_refs(array(0.0f))(array(1.0f)), Error);
  EXPECT_THROW(ofArray.with_refs(std::vector<Ref>{})(array(1.0f)), Error);
}

TEST(RefsErrors, TangentsForRefsOfOtherTypes) {
  auto read = [](Ref r) { return r.get(); };
  Ref x = new_ref(ones({2}));
  EXPECT_THROW(jvp(read, x, new_ref(ones({3}))), Error);
  EXPECT_THROW(jvp(read, x, x), Error); // One cell is not both.
}
