// SPDX-License-Identifier: Apache-2.0
#include "lib/Frontend/RuleScope.h"

#include "lib/Transforms/ExpandTransforms.h"

#include "absl/synchronization/mutex.h"
#include "llvm/Demangle/Demangle.h"

#include <cstdio>
#include <map>

using namespace mlir;

namespace hjx::detail {

/// The frame of a rule. While the frontend records into the very block (a zero in grad), that is
/// the frame already.
RuleScope::RuleScope(ImplicitLocOpBuilder &b, const std::string &name) : name(name), call(this->name.c_str(), Where()) {
  frame = Frame::current();
  if (frame && frame->builder.getInsertionBlock() == b.getInsertionBlock())
    return;
  ownSession.emplace(b.getContext(), ir::moduleAround(b.getInsertionBlock()));
  ownFrame.emplace(*ownSession, b);
  frame = &*ownFrame;
}

Array RuleScope::wrap(Value value) { return value ? frame->wrap(value, /*isWeak=*/false, Where()) : Array(); }
Value RuleScope::use(const Array &leaf) { return leaf.has_value() ? frame->use(leaf, call) : Value(); }

ArrayList RuleScope::wrap(ArrayRef<Value> values) {
  ArrayList leaves;
  for (Value value : values)
    leaves.push_back(wrap(value));
  return leaves;
}

SmallVector<Value> RuleScope::use(ArrayRef<Array> leaves) {
  return llvm::map_to_vector(leaves, [&](const Array &leaf) { return use(leaf); });
}

void RuleScope::checkDiagnostics() {
  std::string diagnostics = frame->session.takeDiagnostics();
  if (diagnostics.empty())
    return;
  Explained explained = explain(diagnostics);
  throw Error(explained.message, explained.help, Where());
}

LogicalResult askUser(ir::EmitError emitError, llvm::function_ref<void()> question) {
  try {
    question();
    return success();
  } catch (const Error &error) {
    InFlightDiagnostic diagnostic = emitError() << error.message();
    if (!error.help().empty())
      diagnostic << "; " << error.help();
  } catch (const std::exception &error) {
    emitError() << error.what();
  } catch (...) {
    emitError() << "expected an hjx::Error, got an exception that is no std::exception; "
                   "throw hjx::Error(\"expected .., got ..\", \"what to do\", {})";
  }
  return failure();
}

llvm::FailureOr<SmallVector<Value>> runRule(ImplicitLocOpBuilder &b, const std::string &name,
                                            llvm::function_ref<ArrayList(RuleScope &)> rule) {
  Block &block = *b.getInsertionBlock();
  Block::iterator end = b.getInsertionPoint();
  Operation *before = end == block.begin() ? nullptr : &*std::prev(end);
  // A rewriter hears of what is there in the end.
  OpBuilder::Listener *listener = b.getListener();
  b.setListener(nullptr);
  SmallVector<Value> values;
  bool hasOwnFrame = false;
  LogicalResult result = askUser([&] { return emitError(b.getLoc()) << "\"" << name << "\": "; },
                                 [&] {
                                   RuleScope scope(b, name);
                                   hasOwnFrame = scope.hasOwnFrame();
                                   values = scope.use(rule(scope));
                                   scope.checkDiagnostics();
                                 });
  if (succeeded(result) && hasOwnFrame)
    result = expandEmitted(block, before, end, values);
  b.setListener(listener);
  if (listener)
    for (Operation &op : llvm::make_range(before ? std::next(before->getIterator()) : block.begin(), end))
      listener->notifyOperationInserted(&op, {});
  return failed(result) ? llvm::FailureOr<SmallVector<Value>>() : values;
}

namespace {
struct Registration {
  const std::type_info *user;
  std::string clash; // "a::Q8 and b::Q8", or empty.
};
struct Registrations {
  absl::Mutex mutex;
  std::map<std::pair<std::string, std::string>, Registration> byKindAndName;
};
} // namespace

static Registrations &registrations() {
  static Registrations &all = *new Registrations;
  return all;
}

/// The user's class in `UserTypeOf<a::Q8>`.
static std::string classIn(const std::type_info &user) {
  std::string mangled = user.name(), whole = mangled;
  if (char *text = llvm::itaniumDemangle("_ZTS" + mangled)) { // "typeinfo name for ..."
    whole = text;
    std::free(text);
  }
  size_t begin = whole.find('<'), end = whole.rfind('>');
  return begin < end && end != std::string::npos ? whole.substr(begin + 1, end - begin - 1) : whole;
}

bool registerClass(const char *kind, const std::string &name, const std::type_info &user, llvm::function_ref<bool()> add) {
  Registrations &all = registrations();
  absl::MutexLock lock(&all.mutex);
  auto [it, isNew] = all.byKindAndName.try_emplace({kind, name}, Registration{&user, ""});
  if (!isNew && *it->second.user == user)
    return true;
  if (!isNew) {
    it->second.clash = classIn(*it->second.user) + " and " + classIn(user);
    std::fprintf(stderr, "hjx: two classes are registered as the %s '%s': %s\n", kind, name.c_str(), it->second.clash.c_str());
    return false;
  }
  if (add())
    return true;
  std::fprintf(stderr, "hjx: the name '%s' of a %s is taken by hjx; give '%s' another\n", name.c_str(), kind, classIn(user).c_str());
  return false;
}

void checkOneClass(const char *kind, const std::string &name, Where where) {
  Registrations &all = registrations();
  absl::MutexLock lock(&all.mutex);
  auto it = all.byKindAndName.find({kind, name});
  if (it != all.byKindAndName.end() && !it->second.clash.empty())
    fail(where, name, std::string("expected one class of the ") + kind + ", got two: " + it->second.clash, "give one of them another `name`");
}

} // namespace hjx::detail
