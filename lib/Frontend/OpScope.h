// SPDX-License-Identifier: Apache-2.0
//
// One call of a public function, from its checks to its result.
//
// Functions are written once, for both kinds of arrays: they emit operations into
// the current frame. When nothing records, the outermost call opens a session of
// its own, and `finish` compiles and runs it; a composite such as softmax is then
// one program. Calls made by a composite carry its name and its caller's line.
//
//   Array hjx::exp(ArrayLike x) {
//     OpScope op("exp", x.where);
//     return op.finish(op.emit<ir::ExpOp>({op.toFloat(x.array)}));
//   }
#pragma once

#include "lib/Frontend/Trace.h"

namespace hjx::detail {

/// An operand in the current frame, with what the IR does not say of it.
struct Operand {
  mlir::Value value;
  bool isWeak = false;

  mlir::RankedTensorType type() const { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
  DType dtype() const { return dtypeOf(type().getElementType()); }
  llvm::ArrayRef<int64_t> shape() const { return type().getShape(); }
  int64_t rank() const { return type().getRank(); }
};

class OpScope : public Call {
public:
  OpScope(const char *name, Where where);
  ~OpScope();
  OpScope(const OpScope &) = delete;
  OpScope &operator=(const OpScope &) = delete;

  /// True in the outermost call on concrete arrays.
  bool isEager() const { return eager != nullptr; }

  Operand use(const Array &array);
  Array wrap(const Operand &operand);
  /// The results of the call: as they are while recording, else their values.
  Array finish(const Operand &result);
  Array finish(const Array &result);
  std::vector<Array> finish(std::vector<Array> results);

  /// Emits an op whose result types follow from its operands.
  template <typename Op>
  Operand emit(llvm::ArrayRef<Operand> operands, typename Op::Properties properties = {}) {
    mlir::OperationState state(builder().getLoc(), Op::getOperationName());
    for (const Operand &operand : operands)
      state.operands.push_back(operand.value);
    mlir::OpaqueProperties opaque(&properties);
    if (failed(Op::inferReturnTypes(&context(), state.location, state.operands, {}, opaque, {}, state.types)))
      failWithDiagnostics();
    setProperties<Op>(state, properties);
    return {create(state)->getResult(0), allWeak(operands)};
  }
  /// Emits an op of the given result type.
  template <typename Op>
  Operand emitAs(mlir::Type type, llvm::ArrayRef<Operand> operands, typename Op::Properties properties = {}) {
    mlir::OperationState state(builder().getLoc(), Op::getOperationName());
    for (const Operand &operand : operands)
      state.operands.push_back(operand.value);
    state.types.push_back(type);
    setProperties<Op>(state, properties);
    return {create(state)->getResult(0), allWeak(operands)};
  }
  /// Creates and verifies any op.
  mlir::Operation *create(mlir::OperationState &state);

  Frame &frame() { return *Frame::current(); }
  Session &session() { return frame().session; }
  mlir::ImplicitLocOpBuilder &builder() { return frame().builder; }
  mlir::MLIRContext &context() { return session().context(); }

  /// Throws what the dialect's rules said last.
  [[noreturn]] void failWithDiagnostics();
  /// The same if they said anything.
  void checkDiagnostics();

private:
  template <typename Op>
  static void setProperties(mlir::OperationState &state, const typename Op::Properties &properties) {
    if constexpr (!std::is_same_v<typename Op::Properties, mlir::EmptyProperties>)
      state.getOrAddProperties<typename Op::Properties>() = properties;
  }
  static bool allWeak(llvm::ArrayRef<Operand> operands) {
    return !operands.empty() && llvm::all_of(operands, [](const Operand &operand) { return operand.isWeak; });
  }

  static OpScope *&current();

  struct Eager;
  OpScope *outer;
  std::unique_ptr<Eager> eager;
  friend class Frame;
};

} // namespace hjx::detail
