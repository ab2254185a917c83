// SPDX-License-Identifier: Apache-2.0
//
// What is visible at a place of a program that is being drawn, and how steps are added
// there.
#pragma once

#include "test/fuzz/Generator.h"

#include <optional>

namespace fuzz {

/// What may be done with a visible ref.
enum class Access { Read, WriteStopped, Write };

struct Name {
  Id id;
  Type type;
  Access access = Access::Write;
  /// The block that made a ref, which alone may freeze it.
  const Block *owner = nullptr;
};

struct Scope {
  Block *block;
  std::vector<Name> names;
  int depth = 0;
  int derivatives = 0;    // Around this place.
  bool isForward = false; // One of them is of forward mode: rules of reverse mode alone do not do.
  bool isPushed = false;  // One of them is linearize: a primitive's pull-back cannot be pushed.
  bool allowsRank1 = true;
  /// Of the innermost derivative, if it takes cotangents to a ref: an argument, and the ref.
  std::optional<std::pair<Id, Id>> stash;
};

/// The example type knows nothing of axes: loops, which may keep what they compute for a derivative, and maps
/// see none of its values.
void hideRank1(Scope &inner);
/// No more than that may be done with the refs from outside.
void limit(Scope &inner, Access most);

class Generator {
public:
  Generator(unsigned seed, const DrawOptions &options);
  Program draw();

private:
  // Chance.
  size_t below(size_t n) { return random() % n; }
  bool chance(double p) { return random() < p * 4294967296.0; }
  template <typename T>
  const T &oneOf(const std::vector<T> &list) { return list[below(list.size())]; }

  // Names.
  template <typename Fits>
  std::optional<Name> find(const Scope &scope, const Fits &fits) {
    std::vector<const Name *> found;
    for (const Name &name : scope.names)
      if (fits(name))
        found.push_back(&name);
    if (found.empty())
      return std::nullopt;
    // Names made last are used most.
    return *found[found.size() - 1 - std::min(below(found.size()), below(found.size()))];
  }
  std::optional<Name> findValue(const Scope &scope, const std::function<bool(const Type &)> &fits) {
    return find(scope, [&](const Name &name) { return !name.type.isRef && fits(name.type); });
  }
  std::optional<Name> findRef(const Scope &scope, Access least, const std::function<bool(const Type &)> &fits = [](const Type &) { return true; }) {
    return find(scope, [&](const Name &name) { return name.type.isRef && name.access >= least && fits(name.type); });
  }
  static void hide(Scope &scope, Id id) { std::erase_if(scope.names, [&](const Name &name) { return name.id == id; }); }

  // Steps.
  Def define(Type type) { return {nextId++, std::move(type)}; }
  void show(Scope &scope, const Def &def) { scope.names.push_back({def.id, def.type, Access::Write, def.type.isRef ? scope.block : nullptr}); }
  Id emit(Scope &scope, std::string op, std::vector<Id> args, Type type, std::vector<int64_t> attrs = {}, std::vector<Entry> index = {});
  void emitStep(Scope &scope, Step step);
  /// A value of the type: one that is there, or one made of others.
  Id need(Scope &scope, const Type &type);
  Id make(Scope &scope, const Type &type);
  Id makeHi(Scope &scope, const Type &type, const std::function<Id(const Type &)> &part);
  /// A value whose tangent is zero at every level, for a write that must not carry one.
  Id needStopped(Scope &scope, const Type &type);
  Id collect(Scope &scope, const std::vector<Id> &args) ;
  /// An array of floats, and bounded: what derivatives give is not.
  void showBounded(Scope &scope, const Def &def);
  void emitBounded(Scope &scope, std::string op, std::vector<Id> args, Type type);

  // Types.
  hjx::DType someFloat() { return !options.isSmooth && chance(0.1) ? otherFloat : mainFloat; }
  hjx::Shape someShape(int leastRank = 0);
  Type somePacked();
  Type someQuantized();
  Type someType(const Scope &scope, bool needsTangent);
  int64_t someLength() { return chance(0.03) ? 0 : 2 + below(2); }
  bool allowsReverseOnly(const Scope &scope) const { return !scope.isForward && !scope.isPushed; }
  int64_t flavour(const Scope &scope) { return allowsReverseOnly(scope) && chance(0.5); }

  // Blocks.
  Scope inside(const Scope &scope, Block &block);
  void enterDerivative(Scope &inner);
  void fill(Scope &scope, size_t numSteps);
  void fillSome(Scope &scope) { fill(scope, 1 + below(3)); }
  Id addParam(Scope &scope, Type type, Access access = Access::Write);
  /// Adds the step with its blocks, and shows what it defines.
  bool close(Scope &scope, Step step, bool isDerivative = false);
  /// A value to return: of the last made, mostly.
  Name someResult(Scope &scope, const std::function<bool(const Type &)> &fits);

  // Kinds of steps: false if nothing fits.
  bool drawStep(Scope &scope);
  bool drawUnary(Scope &scope);
  bool drawBinary(Scope &scope);
  bool drawProduct(Scope &scope);
  bool drawReduction(Scope &scope);
  bool drawMovement(Scope &scope);
  bool drawIndexing(Scope &scope);
  bool drawInteger(Scope &scope);
  bool drawHi(Scope &scope);
  bool drawQuantized(Scope &scope, const Name &q);
  bool drawLowRank(Scope &scope, const Name &a);
  bool drawOptional(Scope &scope, const Name &o);
  bool drawNewRef(Scope &scope);
  bool drawAccess(Scope &scope);
  bool drawFreeze(Scope &scope);
  bool drawCall(Scope &scope);
  bool drawScan(Scope &scope);
  bool drawLoop(Scope &scope);
  bool drawBranch(Scope &scope);
  bool drawVmap(Scope &scope);
  bool drawGrad(Scope &scope);
  bool drawJvp(Scope &scope);
  bool drawVjp(Scope &scope);
  bool drawRule(Scope &scope);
  bool drawStash(Scope &scope);

  /// An index of an array and the shape of the part; `isUnique` for writes, which must not meet.
  std::vector<Entry> someIndex(Scope &scope, const hjx::Shape &shape, hjx::Shape &partShape, bool isUnique);
  std::optional<Name> differentiable(Scope &scope);

  DrawOptions options;
  std::mt19937 random;
  unsigned seed;
  hjx::DType mainFloat, otherFloat;
  Id nextId = 0;
  int budget = 0;
};

} // namespace fuzz
