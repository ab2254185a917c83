// SPDX-License-Identifier: Apache-2.0
//
// Recording: how calls of C++ functions become operations of the hjx dialect.
//
// A Session is one module being recorded. It holds a stack of Frames: the
// function @main, private functions that transforms name, regions of control
// flow. Operations go to the innermost frame. An array of an outer frame that is
// used inside becomes an argument of every frame between (a capture), so that
// closures end up as explicit operands:
//
//   vmap([&](Array x) { return x * w; })(xs)      w belongs to @main
//   func @f(%x, %w)                                %w: a capture of @f
//   hjx.vmap @f(%xs, %w) in_axes = [0, -1] ...     passed by the frame of w
//
// After JAX's tracers, with frames in place of trace levels: an array knows its
// frame, and a frame that has ended makes its arrays invalid.
#pragma once

#include "lib/Frontend/ArrayImpl.h"

#include "dialects/hjx/Hjx.h"
#include "lib/Execution/Executable.h"

#include <hjx/axis_spec.h>
#include <hjx/detail/flat.h>

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace hjx::detail {

class OpScope;
class Session;

/// What becomes of a concrete array that the recorded program uses.
enum class Constants {
  LiftAll, ///< an argument of @main, numbers of the source text included (eager operations)
  Lift,    ///< an argument of @main, but for scalars made while recording
  Embed,   ///< a constant of the program: nothing but the module is kept
  Refuse,  ///< as Lift, but an array made before the recording is an error (jit)
  EmbedOwn ///< as Embed, with that error (rules: what they expand to is compiled once for many values)
};

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

mlir::Type elementTypeOf(DType dtype, mlir::MLIRContext *context);
mlir::Type typeOf(const Aval &aval, mlir::MLIRContext *context, Where where = Where());
mlir::RankedTensorType arrayTypeOf(const Aval &aval, mlir::MLIRContext *context);
DType dtypeOf(mlir::Type element);
/// A hi-type by name and parameters, and whether it has parameters that a C++ type can have.
mlir::FailureOr<hjx::Type> hiTypeOf(llvm::StringRef name, llvm::ArrayRef<mlir::Attribute> params, ir::EmitError emitError);
/// Mapping specs: -1 for none, a number, a string or a list.
mlir::Attribute attributeOf(const AxisSpec &spec, mlir::MLIRContext *context);
mlir::FailureOr<AxisSpec> axisSpecOf(mlir::Attribute spec, ir::EmitError emitError);
/// What a value of an array type, a hi-type or a ref type is.
Aval avalOf(mlir::Type type, bool isWeak = false);
mlir::Location locationOf(Where where, mlir::MLIRContext *context);

/// The function that the user called: what errors name.
class Call {
public:
  Call(const char *name, Where where) : opName(name), place(where) {}
  const char *name() const { return opName; }
  Where where() const { return place; }
  [[noreturn]] void fail(const std::string &message, const std::string &help) const {
    detail::fail(place, opName, message, help);
  }

protected:
  const char *opName;
  Where place;
};

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

/// A block being recorded. Constructing one makes it the thread's current frame;
/// frames end in reverse order.
class Frame {
public:
  enum class Kind {
    Function, ///< captures come after the arguments
    Region,   ///< captures (consts) come before the arguments
    Rule,     ///< of a primitive: operations go into a program that exists
  };
  Frame(Session &session, Kind kind, llvm::ArrayRef<Aval> arguments, Where where);
  /// A Rule, which emits where `b` does and gives operations its location.
  Frame(Session &session, mlir::ImplicitLocOpBuilder &b);
  ~Frame();
  Frame(const Frame &) = delete;
  Frame &operator=(const Frame &) = delete;

  static Frame *current();

  /// The arguments as traced arrays, captures left out.
  std::vector<Array> arguments() const;
  /// The value of a leaf in this frame: its own, captured, or a constant.
  mlir::Value use(const Array &leaf, const Call &call);
  /// True for a traced array of this very frame.
  bool owns(const Array &array) const { return Access::get(array)->trace == tag; }
  /// A traced leaf for a value of this frame.
  Array wrap(mlir::Value value, bool isWeak, Where where);
  /// The place of the operations that follow.
  void setPlace(Where where);
  /// The argument that stands for `outer`, a value of the parent frame.
  mlir::Value captureFromParent(mlir::Value outer);

  /// The value of the parent frame that `inner` stands for; null if it is no capture.
  mlir::Value outerValueOf(mlir::Value inner) const;
  /// Values of the parent frame, in the order of their arguments here.
  llvm::ArrayRef<mlir::Value> captures() const { return captured; }
  mlir::Block *block() const { return &body->front(); }
  /// "args[0].count" for an argument of this frame; empty for other values.
  std::string argumentPath(mlir::Value value) const;
  /// Throws if one of the results is a ref.
  void refuseRefs(llvm::ArrayRef<Array> results, const Call &call) const;
  /// Gives the recorded block away.
  std::unique_ptr<mlir::Region> take();

  Session &session;
  Frame *const parent; ///< null for a Rule: what it uses is in the program, or a constant
  const int depth; ///< Frames around this one.
  const Kind kind;
  const Where place; ///< Of the call that records: where arguments come from.
  mlir::ImplicitLocOpBuilder builder;
  /// Of the arguments, for messages; may be empty.
  std::vector<std::string> argumentPaths;

private:
  mlir::Value useConcrete(const Array &leaf, const Call &call);
  mlir::Value capture(mlir::Value value, Frame &owner);
  bool encloses(const Frame *inner) const;

  std::unique_ptr<mlir::Region> body;
  std::shared_ptr<FrameTag> tag;
  std::vector<Aval> avals;
  llvm::SmallVector<mlir::Value> captured;
  llvm::DenseMap<mlir::Value, mlir::Value> captureOf;
  Frame *const previous; ///< of the thread
  /// Functions of the user are called inside: their operations have places of their own.
  OpScope *const outerScope;
};

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

/// A private function of the module, with what its caller must pass.
struct TracedFunction {
  mlir::func::FuncOp function;
  std::vector<Aval> results;
  llvm::SmallVector<mlir::Value> captures; ///< values of the calling frame, the last arguments

  std::string name() { return function.getSymName().str(); }
};

/// What a recorded function says of where its program runs.
struct Demand {
  RuntimeDevice *device = nullptr; ///< null: nothing
  const char *by = "";             ///< "device_put", or "jit" for its option
  Where where;
};

class Session {
public:
  /// Without a context the session makes its own.
  explicit Session(Constants constants, mlir::MLIRContext *context = nullptr);
  /// Adds to a module that exists; null where there is none around a rule's block.
  Session(mlir::MLIRContext *context, mlir::ModuleOp module);
  ~Session();

  /// Records `body` as a public function; arguments of the types of `arguments` come first, then
  /// lifted(). The name must be free.
  std::vector<Aval> recordMain(llvm::ArrayRef<Array> arguments, FlatFunction body, const Call &call,
                               llvm::StringRef name = "main", const std::vector<std::string> &paths = {});
  /// Records `body` as a private function of the module, in a new frame.
  TracedFunction recordFunction(llvm::StringRef name, llvm::ArrayRef<Aval> arguments, FlatFunction body,
                                const Call &call, const std::vector<std::string> &paths = {});
  /// A function's block as a function of the module under a free name like `name`.
  mlir::func::FuncOp addFunction(llvm::StringRef name, std::unique_ptr<mlir::Region> body, mlir::Location loc);

  /// Moves the functions of a module's text into this one, as private ones; first the one that was
  /// public.
  llvm::SmallVector<mlir::func::FuncOp> import(const std::string &text, const Call &call);

  /// True if `value` of `frame` stands for a concrete array.
  bool isLifted(mlir::Value value, const Frame &frame) const;
  /// Concrete arrays and refs that @main takes after its arguments.
  const std::vector<Array> &lifted() const { return liftedArrays; }
  /// The value in the root frame of a concrete array or ref.
  mlir::Value lift(const Array &array);

  mlir::MLIRContext &context() { return *mlirContext; }
  /// Gives the module away with the context that the session made for it.
  Program release();
  mlir::ModuleOp module() { return rootModule; }
  /// The text of the diagnostics since the last call, and forgets them.
  std::string takeDiagnostics();
  Frame *rootFrame = nullptr;
  /// Concrete arrays that have a say in where the program runs without being read: those that
  /// zeros_like and its kin are like.
  std::vector<Array> placedLike;
  /// See demandDevice in Placement.h.
  Demand demand;
  /// The host, where a part of an array there is read: the part moves, and not the array.
  RuntimeDevice *home = nullptr;
  const Constants constants;
  /// Concrete arrays with a greater serial were made while recording.
  const uint64_t startSerial;

private:
  void collectDiagnostics();
  std::string freeNameLike(llvm::StringRef name);

  std::shared_ptr<mlir::MLIRContext> ownedContext;
  mlir::MLIRContext *mlirContext;
  mlir::DiagnosticEngine::HandlerID handler;
  mlir::OwningOpRef<mlir::ModuleOp> root; ///< none where the module is another's
  mlir::ModuleOp rootModule;
  std::string diagnostics;
  std::vector<Array> liftedArrays;
  llvm::DenseMap<const ArrayImpl *, mlir::Value> liftedValues;
  llvm::StringMap<unsigned> nameCounts;
};

/// A context with the dialects that recording needs.
std::shared_ptr<mlir::MLIRContext> makeContext();
/// One for each thread: for questions about types, and for eager operations, which would else spend
/// their time on making contexts.
mlir::MLIRContext &threadContext();

} // namespace hjx::detail
