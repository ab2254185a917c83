// SPDX-License-Identifier: Apache-2.0
//
// Runs a program through the public API in one of three forms that must agree:
//
//   Whole     as drawn: hi values, primitives, refs.
//   Lowered   without them, by hand: a hi value is the list of its component arrays, a
//             primitive its formula, a ref a value that is threaded through: an extra
//             operand and result of calls, carry of loops, auxiliary result of derivatives.
//   Unrolled  Lowered, and loops, maps and calls are gone too: C++ loops over elements.
//
// A hi value whose tangents are dense has one component more when lowered, its carrier: zeros
// that only carry the tangent, x - stop_gradient(x). So plain differentiation of the formulas
// gives what the rules of the primitives say. What a rule adds to a ref in the backward pass is
// the gradient with respect to zeros that are added where the rule is.
#pragma once

#include "test/fuzz/Program.h"

#include <hjx/type.h>

namespace fuzz {

enum class Form { Whole, Lowered, Unrolled };
using Values = std::vector<hjx::AnyValue>;

/// A concrete array.
struct Leaf {
  std::string type;
  std::vector<double> numbers;
};

/// One of the arrays that stand for a value when lowered.
struct Component {
  Type type;
  bool isDifferentiable = false;
};
std::vector<Component> componentsOf(const Type &type);

class Evaluator {
public:
  Evaluator(const Program &program, Form form) : form(form), types(typesOf(program)), main(program.main) {}

  /// The program as a function: Whole, of its parameters; else of their components, and then what
  /// the refs among the parameters hold in the end are results too.
  Values operator()(const Values &args) const;

  /// Sample arguments: concrete arrays, hi values, refs.
  Values sampleArguments(unsigned seed) const;
  /// The types of what it returns: its results, then what the refs among its parameters hold.
  std::vector<Type> resultTypes() const;
  /// The numbers that values of these types stand for: of hi values the dense arrays.
  std::vector<Leaf> decoded(const std::vector<Type> &types, const Values &values) const;

  /// How many values stand for one of the type, and which of them have derivatives.
  size_t width(const Type &type) const { return mask(type).size(); }
  std::vector<bool> mask(const Type &type) const;

private:
  using Env = std::map<Id, Values>;
  struct Callee;
  bool isLowered() const { return form != Form::Whole; }

  // Lists of names and values.
  Values flat(const Env &env, const std::vector<Id> &ids) const;
  void bind(Env &env, const std::vector<Def> &defs, const Values &values, size_t first = 0) const;
  std::vector<Def> defsOf(const std::vector<Id> &ids) const;
  size_t widthOf(const std::vector<Def> &defs) const;
  std::vector<bool> maskOf(const std::vector<Def> &defs) const;
  void decode(const Type &type, const Values &values, size_t &next, std::vector<Leaf> &leaves) const;

  // Blocks as functions of flat lists.
  void run(const Block &block, Env &env) const;
  Callee calleeOf(const Block &block, const std::vector<Id> &args) const;
  Values call(const Callee &callee, const Env &env, const Values &args) const;
  void finish(const Callee &callee, Env &env, const Values &results, size_t first) const;

  // Steps.
  void evaluate(const Step &step, Env &env) const;
  void evaluateArrays(const Step &step, Env &env) const;
  void evaluatePrimitive(const Step &step, Env &env) const;
  void evaluateLowered(const Step &step, Env &env) const;
  void evaluateRef(const Step &step, Env &env) const;
  void evaluateCall(const Step &step, Env &env) const;
  void evaluateScan(const Step &step, Env &env) const;
  void evaluateLoop(const Step &step, Env &env) const;
  void evaluateBranch(const Step &step, Env &env) const;
  void evaluateVmap(const Step &step, Env &env) const;
  void evaluateGrad(const Step &step, Env &env) const;
  void evaluateJvp(const Step &step, Env &env) const;
  void evaluateVjp(const Step &step, Env &env) const;
  void evaluateRule(const Step &step, Env &env) const;
  void evaluateStash(const Step &step, Env &env) const;
  void evaluateMapOptional(const Step &step, Env &env) const;

  Form form;
  std::map<Id, Type> types;
  const Block &main;
};

} // namespace fuzz
