// SPDX-License-Identifier: Apache-2.0
//
// grad, jvp, vjp, linearize, checkpoint and the user's rules: each records the
// function and emits one request that names it.
#include "lib/Frontend/Request.h"

#include <hjx/autodiff.h>

#include "lib/Frontend/Run.h"

using namespace mlir;

namespace hjx::detail {

//===----------------------------------------------------------------------===//
// grad
//===----------------------------------------------------------------------===//

static void checkWanted(const Call &call, const ArrayList &args, const std::vector<bool> &wanted,
                        const std::vector<std::string> &paths) {
  for (size_t i = 0; i < args.size(); ++i)
    if (wanted[i] && !tangentOf(avalOf(args[i], call.name(), call.where())))
      call.fail("expected floating arguments to differentiate, got " + describe(args[i]) + " in " + paths[i],
                "convert it with astype(hjx::float32), or choose other arguments with hjx::argnums");
}

/// The function's results: a scalar, then values that only pass by.
static ArrayList checkScalar(const Call &call, ArrayList results) {
  const Aval value = arrayAvalOf(results.front(), call.name(), call.where());
  if (value.shape.ndim() != 0 || !is_floating(value.dtype))
    call.fail("expected a function that returns a floating scalar, got " + describe(value),
              value.shape.ndim() ? "reduce the result, for example with hjx::sum or hjx::mean; or use vjp"
                                 : "convert the result with astype(hjx::float32)");
  for (size_t i = 1; i < results.size(); ++i)
    if (avalOf(results[i], call.name(), call.where()).isFloatArray())
      results[i] = stop_gradient({results[i], call.where()});
  return results;
}

ArrayList gradFlat(const char *name, Where where, const ArrayList &args, const std::vector<bool> &wanted,
                   const std::vector<std::string> &paths, FlatFunction f) {
  checkWanted(Call(name, where), args, wanted, paths);
  return stage(name, where, args, [&](const ArrayList &args) {
    OpScope op(name, where);
    TracedFunction traced = op.session().recordFunction(
        "fn", avalsOf(args, op), [&](const ArrayList &leaves) { return checkScalar(op, f(leaves)); }, op);
    SmallVector<Value> operands = operandsOf(op, args, traced), cotangents;
    for (const Aval &tangent : tangentsOf(traced.results)) // Of the scalar, and zeros for what passes by.
      cotangents.push_back(cotangents.empty() ? splat(op, 1.0, tangent.dtype).value : op.frame().use(zeroOf(op, tangent), op));
    std::vector<Aval> avals = traced.results;
    for (size_t i = 0; i < args.size(); ++i)
      if (wanted[i])
        avals.push_back(*tangentOf(avalOf(args[i], op.name(), op.where())));
    auto vjp = ir::VjpOp::create(op.builder(), typesOf(op, avals), traced.name(), operands, cotangents,
                                 activeAttr(op, wanted, operands.size()));
    return wrapAll(op, vjp.getResults(), avals);
  });
}

//===----------------------------------------------------------------------===//
// jvp
//===----------------------------------------------------------------------===//

/// Emits a jvp request: results, then a tangent for each of them (none for integers).
static ArrayList emitJvp(OpScope &op, const TracedFunction &traced, const ArrayList &primals, const ArrayList &tangents) {
  SmallVector<Value> operands = operandsOf(op, primals, traced), dots;
  std::vector<bool> active;
  for (const Array &tangent : tangents) {
    active.push_back(tangent.has_value());
    if (tangent.has_value())
      dots.push_back(op.use(tangent).value);
  }
  std::vector<Aval> avals = traced.results;
  llvm::append_range(avals, tangentsOf(traced.results));
  auto jvp = ir::JvpOp::create(op.builder(), typesOf(op, avals), symbolOf(traced.function), operands, dots,
                               activeAttr(op, active, operands.size()));
  return wrapAll(op, jvp.getResults(), avals);
}

/// Puts arrays without value where the mask is false.
static ArrayList spread(const ArrayList &list, const std::vector<bool> &mask, size_t first = 0) {
  ArrayList all;
  for (bool isThere : mask)
    all.push_back(isThere ? list[first++] : Array());
  return all;
}

/// Tangents or cotangents in the types of what they belong to.
static ArrayList checkDots(const Call &call, const std::vector<Aval> &avals, ArrayList dots, const char *what,
                           const std::vector<std::string> *paths) {
  if (dots.size() != avals.size())
    call.fail("expected " + std::to_string(avals.size()) + " " + what + "s, got " + std::to_string(dots.size()),
              "pass a tree of the same structure");
  for (size_t i = 0; i < dots.size(); ++i) {
    if (!dots[i].has_value())
      continue;
    std::string place = paths ? " for " + (*paths)[i] : "";
    Aval got = avalOf(dots[i], call.name(), call.where());
    std::optional<Aval> expected = tangentOf(avals[i]);
    if (!expected)
      call.fail(std::string("expected no ") + what + place + ", which is " + describe(avals[i]) + ", got " + describe(got),
                "integers have no derivative: pass hjx::Array()");
    bool isNumber = got.isWeak && got.isArray() && expected->isArray() && got.shape == expected->shape;
    if (isNumber && got.dtype != expected->dtype)
      dots[i] = astype({dots[i], call.where()}, expected->dtype);
    else if (!got.sameType(*expected))
      call.fail(std::string("expected a ") + what + " of type " + describe(*expected) + place + ", got " + describe(got),
                "give it the shape and element type of the value it belongs to");
  }
  return dots;
}

/// Stages a function of arrays of which some are absent.
static ArrayList stagePresent(const char *name, Where where, const ArrayList &args, FlatFunction body) {
  ArrayList present;
  std::vector<bool> isPresent;
  for (const Array &arg : args) {
    isPresent.push_back(arg.has_value());
    if (arg.has_value())
      present.push_back(arg);
  }
  return stage(name, where, present, [&](const ArrayList &tracers) { return body(spread(tracers, isPresent)); });
}

ArrayList jvpFlat(Where where, const ArrayList &primals, const ArrayList &tangents, const std::vector<std::string> &paths,
                  FlatFunction f) {
  Call call("jvp", where);
  ArrayList args = primals, dots = checkDots(call, avalsOf(primals, call), tangents, "tangent", &paths);
  args.insert(args.end(), dots.begin(), dots.end());
  size_t numResults = 0;
  std::vector<bool> hasDot;
  ArrayList results = stagePresent("jvp", where, args, [&](const ArrayList &args) {
    OpScope op("jvp", where);
    ArrayList primals(args.begin(), args.begin() + args.size() / 2), dots(args.begin() + args.size() / 2, args.end());
    TracedFunction traced = op.session().recordFunction("fn", avalsOf(primals, op), f, op);
    numResults = traced.results.size();
    hasDot = haveTangents(traced.results);
    return emitJvp(op, traced, primals, dots);
  });
  ArrayList resultDots = spread(results, hasDot, numResults);
  results.resize(numResults);
  results.insert(results.end(), resultDots.begin(), resultDots.end());
  return results;
}

//===----------------------------------------------------------------------===//
// vjp and linearize
//===----------------------------------------------------------------------===//

/// The derivative of a function at a point.
///
/// While recording it is a value of the program (hjx.linearize), which its own frame
/// applies. Elsewhere (in a frame further in, where such a value cannot go, or on
/// concrete arrays) applying it records the function again under a jvp or vjp request.
struct LinearMap {
  Call call;
  OwnedFunction function;
  ArrayList primals;
  std::vector<Aval> primalAvals, resultAvals;
  Array linear; // Of the program; without value when nothing was recording.
};

LinearMapRef linearizeFlat(const char *name, Where where, const ArrayList &primals, OwnedFunction f, ArrayList &results) {
  Call call(name, where);
  auto map = std::make_shared<LinearMap>(LinearMap{call, f, primals, avalsOf(primals, call)});
  if (!Frame::current()) {
    results = stage(name, where, primals, [&](const ArrayList &args) {
      ArrayList list = f(args);
      map->resultAvals = avalsOf(list, call);
      return list;
    });
    return map;
  }
  OpScope op(name, where);
  TracedFunction traced = op.session().recordFunction("fn", map->primalAvals, f, op);
  map->resultAvals = traced.results;
  SmallVector<Value> operands = operandsOf(op, primals, traced);
  SmallVector<mlir::Type> types = typesOf(op, map->resultAvals);
  types.push_back(ir::LinearType::get(&op.context(), FunctionType::get(&op.context(), typesOf(op, tangentsOf(map->primalAvals)),
                                                                       typesOf(op, tangentsOf(map->resultAvals)))));
  auto linearize = ir::LinearizeOp::create(op.builder(), types, symbolOf(traced.function), operands,
                                           activeAttr(op, haveTangents(map->primalAvals), operands.size()));
  results = wrapAll(op, linearize.getResults().drop_back(), map->resultAvals);
  map->linear = op.wrap({linearize.getResults().back()});
  return map;
}

/// The map's value if it belongs to the current frame.
static std::optional<Value> linearHere(OpScope &op, const LinearMap &map) {
  if (!map.linear.has_value() || !op.frame().owns(map.linear))
    return std::nullopt;
  return op.use(map.linear).value;
}

/// Tangents or cotangents of the leaves that have them; absent ones are zeros.
static ArrayList withZeros(OpScope &op, const std::vector<Aval> &avals, const ArrayList &dots) {
  ArrayList list;
  for (size_t i = 0; i < dots.size(); ++i)
    if (std::optional<Aval> tangent = tangentOf(avals[i]))
      list.push_back(dots[i].has_value() ? dots[i] : zeroOf(op, *tangent));
  return list;
}

ArrayList push(const LinearMapRef &ref, const ArrayList &tangents) {
  const LinearMap &map = *ref;
  ArrayList args = map.primals, dots = checkDots(map.call, map.primalAvals, tangents, "tangent", nullptr);
  size_t numPrimals = args.size();
  args.insert(args.end(), dots.begin(), dots.end());
  ArrayList results = stagePresent(map.call.name(), map.call.where(), args, [&](const ArrayList &args) {
    OpScope op(map.call.name(), map.call.where());
    ArrayList primals(args.begin(), args.begin() + numPrimals), dots(args.begin() + numPrimals, args.end());
    std::vector<Aval> outAvals = tangentsOf(map.resultAvals);
    if (std::optional<Value> linear = linearHere(op, map)) {
      SmallVector<Value> values = valuesOf(op, withZeros(op, map.primalAvals, dots));
      auto apply = ir::ApplyLinearOp::create(op.builder(), typesOf(op, outAvals), *linear, values);
      return wrapAll(op, apply.getResults(), outAvals);
    }
    TracedFunction traced = op.session().recordFunction("fn", map.primalAvals, map.function, op);
    ArrayList all = emitJvp(op, traced, primals, dots);
    return ArrayList(all.begin() + map.resultAvals.size(), all.end());
  });
  return spread(results, haveTangents(map.resultAvals));
}

ArrayList pull(const LinearMapRef &ref, const ArrayList &cotangents, const std::vector<std::string> &paths, Where where) {
  const LinearMap &map = *ref;
  Call call(map.call.name(), where);
  ArrayList args = map.primals, bars = checkDots(call, map.resultAvals, cotangents, "cotangent", &paths);
  size_t numPrimals = args.size();
  args.insert(args.end(), bars.begin(), bars.end());
  ArrayList results = stagePresent(call.name(), where, args, [&](const ArrayList &args) {
    OpScope op(call.name(), where);
    ArrayList primals(args.begin(), args.begin() + numPrimals), bars(args.begin() + numPrimals, args.end());
    std::vector<Aval> outAvals = tangentsOf(map.primalAvals);
    SmallVector<Value> values = valuesOf(op, withZeros(op, map.resultAvals, bars));
    if (std::optional<Value> linear = linearHere(op, map)) {
      auto apply = ir::ApplyTransposeOp::create(op.builder(), typesOf(op, outAvals), *linear, values);
      return wrapAll(op, apply.getResults(), outAvals);
    }
    TracedFunction traced = op.session().recordFunction("fn", map.primalAvals, map.function, op);
    SmallVector<Value> operands = operandsOf(op, primals, traced);
    auto vjp = ir::VjpOp::create(op.builder(), typesOf(op, map.resultAvals, outAvals), traced.name(), operands,
                                 values, activeAttr(op, haveTangents(map.primalAvals), operands.size()));
    return wrapAll(op, vjp.getResults().drop_front(map.resultAvals.size()), outAvals);
  });
  return spread(results, haveTangents(map.primalAvals));
}

//===----------------------------------------------------------------------===//
// checkpoint
//===----------------------------------------------------------------------===//

ArrayList checkpointFlat(Where where, const ArrayList &args, Policy policy, FlatFunction f) {
  return stage("checkpoint", where, args, [&](const ArrayList &args) {
    OpScope op("checkpoint", where);
    TracedFunction traced = op.session().recordFunction("fn", avalsOf(args, op), f, op);
    auto checkpoint = ir::CheckpointOp::create(op.builder(), typesOf(op, traced.results), traced.name(),
                                               operandsOf(op, args, traced), static_cast<ir::CheckpointPolicy>(policy));
    return wrapAll(op, checkpoint.getResults(), traced.results);
  });
}
static_assert(static_cast<int>(Policy::nothing_saveable) == static_cast<int>(ir::CheckpointPolicy::NothingSaveable) &&
              static_cast<int>(Policy::dots_saveable) == static_cast<int>(ir::CheckpointPolicy::DotsSaveable) &&
              static_cast<int>(Policy::dots_with_no_batch_dims_saveable) ==
                  static_cast<int>(ir::CheckpointPolicy::DotsWithNoBatchDimsSaveable) &&
              static_cast<int>(Policy::everything_saveable) == static_cast<int>(ir::CheckpointPolicy::EverythingSaveable));

} // namespace hjx::detail
