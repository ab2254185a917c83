// SPDX-License-Identifier: Apache-2.0
//
// grad, jvp, vjp, linearize, checkpoint and the user's rules: each records the
// function and emits one request that names it.
#include "lib/Frontend/Request.h"

#include "lib/Autodiff/Requests.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Execution/SplitProgram.h"
#include "lib/Frontend/Run.h"

#include <hjx/autodiff.h>
#include <hjx/hi_type.h>
#include <hjx/ref.h>

using namespace mlir;

namespace hjx::detail {

//===----------------------------------------------------------------------===//
// grad
//===----------------------------------------------------------------------===//

static void checkWanted(const Call &call, const ArrayList &args, const std::vector<bool> &wanted,
                        const std::vector<std::string> &paths) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!wanted[i])
      continue;
    Aval aval = avalOf(args[i], call.name(), call.where());
    if (aval.isRef)
      call.fail("cannot differentiate with respect to the ref " + describe(args[i]) + " in " + paths[i],
                "use hjx::vjp(f, ref).second.with_refs(gradient), or differentiate what it holds");
    if (tangentOf(aval))
      continue;
    if (aval.hi)
      call.fail("differentiation requires " + aval.hi->name + " to implement the tangent_type method, for " + paths[i],
                "write it in the class of the type, or choose other arguments with hjx::argnums");
    call.fail("expected floating arguments to differentiate, got " + describe(args[i]) + " in " + paths[i],
              "convert it with astype(hjx::float32), or choose other arguments with hjx::argnums");
  }
}

/// The function's results: a scalar, then values that only pass by.
static ArrayList checkScalar(const Call &call, ArrayList results) {
  const Aval value = arrayAvalOf(results.front(), call.name(), call.where());
  if (value.shape.ndim() != 0 || !is_floating(value.dtype))
    call.fail("expected a function that returns a floating scalar, got " + describe(value),
              value.shape.ndim() ? "reduce the result, for example with hjx::sum or hjx::mean; or use vjp"
                                 : "convert the result with astype(hjx::float32)");
  return results;
}

ArrayList gradFlat(const char *name, Where where, const ArrayList &args, const std::vector<bool> &wanted,
                   const std::vector<std::string> &paths, FlatFunction f) {
  checkWanted(Call(name, where), args, wanted, paths);
  return stage(name, where, args, [&](const ArrayList &args) {
    OpScope op(name, where);
    TracedFunction traced = op.session().recordFunction(
        "fn", avalsOf(args, op), [&](const ArrayList &leaves) { return checkScalar(op, f(leaves)); }, op, paths);
    SmallVector<Value> operands = operandsOf(op, args, traced, paths), cotangents;
    for (const Aval &tangent : tangentsOf(traced.results)) // Of the scalar, and zeros for what passes by.
      cotangents.push_back(cotangents.empty() ? splat(op, 1.0, tangent.dtype).value : op.frame().use(zeroOf(op, tangent), op));
    std::vector<Aval> avals = traced.results;
    for (size_t i = 0; i < args.size(); ++i)
      if (wanted[i])
        avals.push_back(*tangentOf(avalOf(args[i], op.name(), op.where())));
    auto vjp = ir::VjpOp::create(op.builder(), typesOf(op, avals), traced.name(), operands, cotangents,
                                 activeAttr(op, wanted, operands.size()));
    return wrapAll(op, vjp.getResults(), avals);
  }, paths);
}

//===----------------------------------------------------------------------===//
// jvp
//===----------------------------------------------------------------------===//

/// `f` on what the refs in `held` hold: it gets refs of its own, and what those hold in the end comes
/// after its results.
struct OnHeldValues {
  FlatFunction f;
  std::vector<bool> held;
  const Call &call;

  ArrayList operator()(const ArrayList &leaves) const {
    ArrayList args = leaves;
    for (size_t i = 0; i < held.size(); ++i)
      if (held[i])
        args[i] = newRefFlat(leaves[i], call.where());
    ArrayList results = f(args);
    Frame::current()->refuseRefs(results, call);
    for (size_t i = 0; i < held.size(); ++i)
      if (held[i])
        results.push_back(refGet(call.name(), args[i], {}, call.where()));
    return results;
  }
};

/// `leaves`, with what the refs in `held` hold now.
static ArrayList readHeld(const Call &call, ArrayList leaves, const std::vector<bool> &held) {
  for (size_t i = 0; i < held.size(); ++i)
    if (held[i])
      leaves[i] = refGet(call.name(), leaves[i], {}, call.where());
  return leaves;
}

/// Moves the last of `values` into the refs in `held`.
static void writeHeld(const Call &call, const ArrayList &refs, const std::vector<bool> &held, ArrayList &values) {
  size_t next = values.size() - llvm::count(held, true), numKept = next;
  for (size_t i = 0; i < held.size(); ++i)
    if (held[i])
      refSwap(call.name(), refs[i], {}, values[next++], call.where());
  values.resize(numKept);
}

/// Emits a jvp request: results, then a tangent for each of them (none for integers).
static ArrayList emitJvp(OpScope &op, const TracedFunction &traced, const ArrayList &primals, const ArrayList &tangents) {
  SmallVector<Value> operands = operandsOf(op, primals, traced), dots;
  std::vector<bool> active;
  for (const Array &tangent : tangents) {
    active.push_back(tangent.has_value());
    if (tangent.has_value())
      dots.push_back(op.frame().use(tangent, op));
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
    Aval held = avals[i];
    held.isRef = false;
    std::optional<Aval> expected = tangentOf(held);
    if (expected)
      expected->isRef = avals[i].isRef; // the tangent of a ref is a ref
    if (!expected)
      call.fail(std::string("expected no ") + what + place + ", which is " + describe(avals[i]) + ", got " + describe(got),
                "integers have no derivative: pass hjx::Array()");
    bool isNumber = got.isWeak && got.isArray() && expected->isArray() && got.shape == expected->shape;
    if (isNumber && got.dtype != expected->dtype)
      dots[i] = astype({dots[i], call.where()}, expected->dtype);
    else if (!got.sameType(*expected))
      call.fail(std::string("expected a ") + what + " of type " + describe(*expected) + place + ", got " + describe(got),
                got.isArray() && expected->isArray() && got.shape == expected->shape
                    ? "convert it: x.astype(hjx::" + std::string(hjx::name(expected->dtype)) + ")"
                    : "give it the shape and element type of the value it belongs to");
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
  std::vector<bool> hasDot, held;
  for (size_t i = 0; i < primals.size(); ++i)
    held.push_back(dots[i].has_value() && avalOf(primals[i], call.name(), where).isRef);
  ArrayList results = stagePresent("jvp", where, args, [&](const ArrayList &args) {
    OpScope op("jvp", where);
    ArrayList primals(args.begin(), args.begin() + args.size() / 2), dots(args.begin() + args.size() / 2, args.end());
    ArrayList values = readHeld(op, primals, held);
    OnHeldValues onValues{f, held, op};
    TracedFunction traced = op.session().recordFunction("fn", avalsOf(values, op), onValues, op, paths);
    ArrayList all = emitJvp(op, traced, values, readHeld(op, dots, held));
    // Values of results and refs, then their tangents.
    ArrayList results(all.begin(), all.begin() + traced.results.size()), resultDots(all.begin() + traced.results.size(), all.end());
    writeHeld(op, primals, held, results);
    writeHeld(op, dots, held, resultDots);
    numResults = results.size();
    hasDot = haveTangents(ArrayRef(traced.results).take_front(numResults));
    results.insert(results.end(), resultDots.begin(), resultDots.end());
    return results;
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
/// applies; in a frame further in, where such a value cannot go, applying it records the
/// function again under a jvp or vjp request. On concrete arrays the forward pass has run,
/// and the map is a function of its residuals.
///
/// A ref among the primals is differentiated: the map is that of its value.
struct LinearMap {
  Call call;
  std::vector<Aval> primalAvals, resultAvals; // the results, then what those refs hold in the end
  std::vector<bool> held;                    // which primals were such refs
  size_t numResults = 0;
  // Of a program:
  ArrayList primals; // values in place of refs that are differentiated
  std::optional<OwnedFunction> function;
  Array linear;
  bool usesRefs = false; // that are not differentiated
  // On concrete arrays:
  std::shared_ptr<const SplitProgram> split;
  ArrayList residuals;
  Array placed; // Without elements, where the forward pass ran: tangents and cotangents follow it.
};

/// Records the map's function.
static TracedFunction recordAgain(OpScope &op, const LinearMap &map) {
  if (map.usesRefs)
    op.fail("expected the pull-back of a function that uses refs to be applied where it was made, got another function inside",
            "apply it outside of this function, or call vjp inside");
  OnHeldValues onValues{*map.function, map.held, op};
  return op.session().recordFunction("fn", map.primalAvals, onValues, op);
}

/// Runs the function, and keeps what its derivative needs.
static void runForward(LinearMap &map, LinearUse use, const ArrayList &primals, FlatFunction f, ArrayList &results,
                       const std::vector<std::string> &paths) {
  const Call &call = map.call;
  Session session(Constants::Lift);
  map.resultAvals = session.recordMain(map.primals, OnHeldValues{f, map.held, call}, call, "main", paths);
  checkCapturedRefs(call, primals, session.lifted(), paths);
  ArrayList inputs = map.primals;
  inputs.insert(inputs.end(), session.lifted().begin(), session.lifted().end());
  std::vector<bool> mask = haveTangents(map.primalAvals);
  SmallVector<bool> active(mask.begin(), mask.end());
  active.resize(inputs.size(), false);
  Place place = choosePlace({inputs, session.placedLike}, call, session.demand);
  auto split = findOrSplit(programText(session.module(), /*hasLocations=*/true), active, use);
  if (!split.ok())
    failToCompile(call, split.status());
  absl::StatusOr<const Executable *> executable = (*split)->forward->on(*place.device);
  if (!executable.ok())
    failToCompile(call, executable.status());
  std::vector<Aval> avals = map.resultAvals;
  for (mlir::Type type : (*split)->furtherTypes)
    avals.push_back(avalOf(type));
  results = run(**executable, place, inputs, avals, call);
  for (Residual residual : (*split)->residuals) {
    const Array &kept = residual.isArgument ? inputs[residual.index] : results[residual.index];
    // Nobody can pass them to a function that jit compiles: it may capture them.
    map.residuals.push_back(Access::get(kept)->isRef ? kept : constantFlat(kept, call.where()));
  }
  results.resize(map.resultAvals.size());
  map.primals.clear();
  map.split = *split;
  Aval none(DType::bool_, {0});
  map.placed = makeConcrete(none, allocate(none, *place.device, call.where()), call.where(), place.isCommitted);
}

static LinearMapRef makeMap(const char *name, LinearUse use, Where where, const ArrayList &primals, OwnedFunction f,
                            ArrayList &results, const std::vector<std::string> &paths) {
  Call call(name, where);
  checkDistinctRefs(call, primals, paths);
  auto map = std::make_shared<LinearMap>(LinearMap{call, avalsOf(primals, call)});
  for (Aval &aval : map->primalAvals) {
    Aval value = aval;
    value.isRef = false;
    map->held.push_back(aval.isRef && tangentOf(value));
    map->usesRefs |= aval.isRef && !map->held.back();
    if (map->held.back())
      aval = value;
  }
  map->primals = readHeld(call, primals, map->held);
  if (Frame::current()) {
    OpScope op(name, where);
    OnHeldValues onValues{f, map->held, op};
    TracedFunction traced = op.session().recordFunction("fn", map->primalAvals, onValues, op, paths);
    map->function = f;
    map->resultAvals = traced.results;
    map->usesRefs |= llvm::any_of(traced.captures, [](Value v) { return isa<ir::RefType>(v.getType()); });
    SmallVector<Value> operands = operandsOf(op, map->primals, traced, paths);
    SmallVector<mlir::Type> types = typesOf(op, map->resultAvals);
    types.push_back(ir::LinearType::get(&op.context(), FunctionType::get(&op.context(), typesOf(op, tangentsOf(map->primalAvals)),
                                                                         typesOf(op, tangentsOf(map->resultAvals)))));
    auto linearize = ir::LinearizeOp::create(op.builder(), types, symbolOf(traced.function), operands,
                                             activeAttr(op, haveTangents(map->primalAvals), operands.size()));
    results = wrapAll(op, linearize.getResults().drop_back(), map->resultAvals);
    map->linear = op.wrap({linearize.getResults().back()});
  } else {
    runForward(*map, use, primals, f, results, paths);
  }
  writeHeld(call, primals, map->held, results);
  map->numResults = results.size();
  return map;
}

LinearMapRef linearizeFlat(Where where, const ArrayList &primals, OwnedFunction f, ArrayList &results,
                           const std::vector<std::string> &paths) {
  return makeMap("linearize", LinearUse::Push, where, primals, std::move(f), results, paths);
}
LinearMapRef vjpFlat(Where where, const ArrayList &primals, OwnedFunction f, ArrayList &results,
                     const std::vector<std::string> &paths) {
  return makeMap("vjp", LinearUse::Pull, where, primals, std::move(f), results, paths);
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
  for (size_t i = 0; i < avals.size(); ++i)
    if (std::optional<Aval> tangent = tangentOf(avals[i]))
      list.push_back(i < dots.size() && dots[i].has_value() ? dots[i] : zeroOf(op, *tangent));
  return list;
}

/// Of the results, without what refs hold.
static std::vector<Aval> ownResults(const LinearMap &map) {
  return {map.resultAvals.begin(), map.resultAvals.begin() + map.numResults};
}

ArrayList push(const LinearMapRef &ref, const ArrayList &tangents) {
  const LinearMap &map = *ref;
  ArrayList args = map.primals, dots = checkDots(map.call, map.primalAvals, tangents, "tangent", nullptr);
  size_t numPrimals = args.size();
  args.insert(args.end(), dots.begin(), dots.end());
  std::vector<bool> hasDot = haveTangents(ownResults(map));
  ArrayList results = stagePresent(map.call.name(), map.call.where(), args, [&](const ArrayList &args) {
    OpScope op(map.call.name(), map.call.where());
    ArrayList primals(args.begin(), args.begin() + numPrimals), dots(args.begin() + numPrimals, args.end());
    std::vector<Aval> outAvals = tangentsOf(map.resultAvals);
    ArrayList all;
    if (std::optional<Value> linear = linearHere(op, map)) {
      SmallVector<Value> values = valuesOf(op, withZeros(op, map.primalAvals, dots));
      auto apply = ir::ApplyLinearOp::create(op.builder(), typesOf(op, outAvals), *linear, values);
      all = wrapAll(op, apply.getResults(), outAvals);
    } else if (!map.function) {
      SmallVector<Value> residuals = valuesOf(op, map.residuals), values = valuesOf(op, withZeros(op, map.primalAvals, dots));
      op.session().placedLike.push_back(map.placed);
      LinearFunction linear{op.session().import(map.split->linear, op).front(), residuals, map.split->hasTangent};
      all = wrapAll(op, pushForward(op.builder(), linear, values, typesOf(op, outAvals)), outAvals);
    } else {
      TracedFunction traced = recordAgain(op, map);
      all = emitJvp(op, traced, primals, dots);
      all.erase(all.begin(), all.begin() + map.resultAvals.size());
    }
    all.resize(llvm::count(hasDot, true));
    return all;
  });
  return spread(results, hasDot);
}

/// Throws unless the sinks fit the leaves that they are for.
static void checkSinks(const Call &call, const LinearMap &map, const std::vector<LeafSink> &sinks,
                       const std::vector<std::string> &primalPaths) {
  ArrayList refs;
  std::vector<std::string> paths;
  for (size_t i = 0; i < map.primalAvals.size(); ++i) {
    LeafSink::Kind kind = i < sinks.size() ? sinks[i].kind : LeafSink::Value;
    if (map.held[i] && kind == LeafSink::Value)
      call.fail("expected a ref for the gradient of the ref in " + primalPaths[i] + ", got none",
                "bind one, or hjx::dont_want, with .with_refs(...), one entry for each argument");
    if (kind != LeafSink::Ref)
      continue;
    std::optional<Aval> expected = tangentOf(map.primalAvals[i]);
    if (!expected)
      call.fail("expected no ref for " + primalPaths[i] + ", which is " + describe(map.primalAvals[i]) + " and has no gradient",
                "pass hjx::dont_want to with_refs");
    expected->isRef = true;
    Aval got = avalOf(sinks[i].ref, call.name(), call.where());
    if (!got.sameType(*expected))
      call.fail("expected a " + describe(*expected) + " for the gradient of " + primalPaths[i] + ", got " + describe(got),
                "make one for with_refs: hjx::new_ref(hjx::zeros_like(x))");
    refs.push_back(sinks[i].ref);
    paths.push_back("the gradient of " + primalPaths[i]);
  }
  checkDistinctRefs(call, refs, paths);
}

void checkSinkCounts(const std::vector<std::pair<size_t, size_t>> &counts, Where where) {
  for (size_t i = 0; i < counts.size(); ++i)
    if (auto [expected, got] = counts[i]; expected != got)
      fail(where, "with_refs", "expected " + std::to_string(expected) + " refs for argument " + std::to_string(i) +
                                   ", one for each leaf, got " + std::to_string(got),
           "pass hjx::grad_value or hjx::dont_want for an argument without refs");
}

/// The cotangents of a map on concrete arrays.
static SmallVector<Value> transposeAtPoint(OpScope &op, const Call &call, const LinearMap &map, ValueRange bars,
                                           ArrayRef<bool> wanted, ArrayRef<bool> inPlace, ValueRange accumulators) {
  ModuleOp module = op.session().module();
  SmallVector<func::FuncOp> functions = op.session().import(map.split->linear, op);
  SmallVector<Value> residuals = valuesOf(op, map.residuals);
  op.session().placedLike.push_back(map.placed);
  CollectedDiagnostics diagnostics(&op.context());
  Autodiff engine(module, getRuleRegistry());
  auto results = pullBack(engine, op.builder(), {functions.front(), residuals, map.split->hasTangent}, bars, wanted, inPlace, accumulators);
  if (failed(results))
    failToCompile(call, absl::InvalidArgumentError(diagnostics.text()));
  // What cannot be evaluated, only transposed, must not stay.
  auto isUnused = [&](func::FuncOp function) { return SymbolTable::symbolKnownUseEmpty(function, module); };
  for (auto unused = functions.begin(); unused != functions.end(); unused = llvm::find_if(functions, isUnused)) {
    unused->erase();
    functions.erase(unused);
  }
  return *results;
}

ArrayList pull(const LinearMapRef &ref, const ArrayList &cotangents, const std::vector<std::string> &paths,
               const std::vector<LeafSink> &sinks, const std::vector<std::string> &primalPaths, Where where) {
  const LinearMap &map = *ref;
  Call call(map.call.name(), where);
  checkSinks(call, map, sinks, primalPaths);
  ArrayList args = map.primals, bars = checkDots(call, ownResults(map), cotangents, "cotangent", &paths);
  size_t numPrimals = args.size(), numBars = bars.size();
  args.insert(args.end(), bars.begin(), bars.end());
  for (const LeafSink &sink : sinks)
    if (sink.kind == LeafSink::Ref)
      args.push_back(sink.ref);

  // Per leaf that has a tangent: is its cotangent wanted, and of those, does it go to a ref?
  SmallVector<bool> wanted, inPlace;
  std::vector<bool> active = haveTangents(map.primalAvals), returned(active.size(), false);
  std::vector<Aval> outAvals;
  for (size_t i = 0; i < active.size(); ++i) {
    if (!active[i])
      continue;
    LeafSink::Kind kind = i < sinks.size() ? sinks[i].kind : LeafSink::Value;
    wanted.push_back(kind != LeafSink::None);
    active[i] = wanted.back();
    if (active[i])
      inPlace.push_back(kind == LeafSink::Ref);
    returned[i] = kind == LeafSink::Value;
    if (returned[i])
      outAvals.push_back(*tangentOf(map.primalAvals[i]));
  }
  ArrayList results = stagePresent(call.name(), where, args, [&](const ArrayList &args) {
    OpScope op(call.name(), where);
    ArrayList primals(args.begin(), args.begin() + numPrimals), bars(args.begin() + numPrimals, args.begin() + numPrimals + numBars);
    SmallVector<Value> refs = valuesOf(op, ArrayList(args.begin() + numPrimals + numBars, args.end()));
    SmallVector<Value> values = valuesOf(op, withZeros(op, map.resultAvals, bars));
    mlir::Builder &b = op.builder();
    auto inPlaceAttr = refs.empty() ? DenseBoolArrayAttr() : b.getDenseBoolArrayAttr(inPlace);
    if (std::optional<Value> linear = linearHere(op, map)) {
      auto wantedAttr = llvm::is_contained(wanted, false) ? b.getDenseBoolArrayAttr(wanted) : DenseBoolArrayAttr();
      auto apply = ir::ApplyTransposeOp::create(op.builder(), typesOf(op, outAvals), *linear, values, refs, wantedAttr, inPlaceAttr);
      return wrapAll(op, apply.getResults(), outAvals);
    }
    if (!map.function)
      return wrapAll(op, transposeAtPoint(op, call, map, values, wanted, inPlace, refs), outAvals);
    TracedFunction traced = recordAgain(op, map);
    SmallVector<Value> operands = operandsOf(op, primals, traced);
    auto vjp = ir::VjpOp::create(op.builder(), typesOf(op, map.resultAvals, outAvals), symbolOf(traced.function), operands, values,
                                 refs, activeAttr(op, active, operands.size()), inPlaceAttr);
    return wrapAll(op, vjp.getResults().drop_front(map.resultAvals.size()), outAvals);
  });
  return spread(results, returned);
}

//===----------------------------------------------------------------------===//
// checkpoint
//===----------------------------------------------------------------------===//

ArrayList checkpointFlat(Where where, const ArrayList &args, const std::vector<std::string> &paths, Policy policy, FlatFunction f) {
  return stage("checkpoint", where, args, [&](const ArrayList &args) {
    OpScope op("checkpoint", where);
    TracedFunction traced = op.session().recordFunction("fn", avalsOf(args, op), f, op, paths);
    auto checkpoint = ir::CheckpointOp::create(op.builder(), typesOf(op, traced.results), traced.name(),
                                               operandsOf(op, args, traced, paths), static_cast<ir::CheckpointPolicy>(policy));
    return wrapAll(op, checkpoint.getResults(), traced.results);
  }, paths);
}
static_assert(static_cast<int>(Policy::nothing_saveable) == static_cast<int>(ir::CheckpointPolicy::NothingSaveable) &&
              static_cast<int>(Policy::dots_saveable) == static_cast<int>(ir::CheckpointPolicy::DotsSaveable) &&
              static_cast<int>(Policy::dots_with_no_batch_dims_saveable) ==
                  static_cast<int>(ir::CheckpointPolicy::DotsWithNoBatchDimsSaveable) &&
              static_cast<int>(Policy::everything_saveable) == static_cast<int>(ir::CheckpointPolicy::EverythingSaveable));

} // namespace hjx::detail
