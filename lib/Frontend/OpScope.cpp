// SPDX-License-Identifier: Apache-2.0
#include "lib/Frontend/OpScope.h"

#include "lib/Frontend/Diagnostics.h"
#include "lib/Frontend/Run.h"

using namespace mlir;

namespace hjx::detail {

/// The session of a call on concrete arrays. Its context is the thread's, so that
/// an operation costs microseconds and not the making of a context.
struct OpScope::Eager {
  Session session;
  Frame frame;

  explicit Eager(Where where)
      : session(Constants::LiftAll, &threadContext()), frame(session, Frame::Kind::Function, {}, where) {
    session.rootFrame = &frame;
  }
};

OpScope *&OpScope::current() {
  static thread_local OpScope *scope = nullptr;
  return scope;
}

OpScope::OpScope(const char *name, Where where) : Call(name, where), outer(current()) {
  if (outer) { // Part of a composite: that is what the user called.
    opName = outer->opName;
    place = outer->place;
  }
  if (!Frame::current())
    eager = std::make_unique<Eager>(place);
  current() = this;
  frame().setPlace(place);
}

OpScope::~OpScope() { current() = outer; }

void OpScope::failWithDiagnostics() {
  Explained explained = explain(session().takeDiagnostics());
  fail(explained.message, explained.help);
}

void OpScope::checkDiagnostics() {
  Explained explained = explain(session().takeDiagnostics());
  if (!explained.message.empty())
    fail(explained.message, explained.help);
}

Operand OpScope::use(const Array &array) {
  Access::checked(array, opName, place);
  Value value = frame().use(array, *this);
  return {value, Access::get(array)->isWeak};
}

Array OpScope::wrap(const Operand &operand) { return frame().wrap(operand.value, operand.isWeak, place); }

Operation *OpScope::create(OperationState &state) {
  for (mlir::Type type : state.types)
    if (auto array = dyn_cast<RankedTensorType>(type))
      checkShape(Shape(array.getShape().begin(), array.getShape().end()), opName, place);
  Operation *op = builder().create(state);
  if (failed(op->getName().verifyInvariants(op))) {
    op->erase();
    failWithDiagnostics();
  }
  return op;
}

Array OpScope::finish(const Operand &result) { return finish(wrap(result)); }
Array OpScope::finish(const Array &result) { return eager ? finish(std::vector<Array>{result}).front() : result; }

std::vector<Array> OpScope::finish(std::vector<Array> results) {
  if (!eager)
    return results;
  SmallVector<Value> values;
  std::vector<Aval> avals;
  for (const Array &result : results) {
    if (!result.is_traced() && results.size() == 1)
      return results; // Nothing was computed.
    values.push_back(frame().use(result, *this));
    avals.push_back(avalOf(result, opName, place));
  }
  func::ReturnOp::create(builder(), values);
  Session &session = eager->session;
  session.addFunction("main", eager->frame.take(), builder().getLoc());
  return compileAndRun(session, {}, avals, *this);
}

} // namespace hjx::detail
