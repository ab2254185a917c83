// SPDX-License-Identifier: Apache-2.0
//
// Hi-types and primitives: what users add to the dialect.
//
// A hi-type is one IR value of one type, `!hjx.q8<4x8>`, that lowers late to a
// fixed list of component values, and whose tangent type, zero and sum, and
// mapped forms its author chooses. A primitive is an operation on any values,
// `hjx.call_primitive "quantize"(%x)`, with rules of its own for each transform.
// Both are objects, found by name in one registry of the process: no TableGen,
// and a plugin adds to it (HiRegistry::get().add(...)).
//
// Arrays answer the same questions in the obvious way, through the functions at
// the end, so that containers recurse and engines do not ask what a type is.
// After JAX's hijax; the classes that users write are in include/hjx/hi_type.h.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace hjx::ir {

class HiType;

/// Where a method reports what is wrong with its input.
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// What users define
//===----------------------------------------------------------------------===//

/// One kind of hi-type. A method that the author left out fails with an error
/// that names feature, type and method. Types and values passed in are of this
/// definition unless said otherwise.
class HiTypeDef {
public:
  explicit HiTypeDef(std::string name) : typeName(std::move(name)) {}
  virtual ~HiTypeDef();

  /// "q8", as in `!hjx.q8<4x8>`.
  llvm::StringRef name() const { return typeName; }

  /// Whether `params` make a type. A parameter is a shape (DenseI64ArrayAttr), a
  /// type (TypeAttr) or a string (StringAttr).
  virtual mlir::LogicalResult verify(llvm::ArrayRef<mlir::Attribute> params, EmitError emitError) const = 0;

  /// The types of the components: arrays or other hi-types.
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Type>> loTypes(HiType type, EmitError emitError) const = 0;

  /// The type of tangents and cotangents, any type that is its own tangent type; null when values
  /// have none.
  virtual mlir::Type tangentType(HiType type) const = 0;
  /// The zero of `type` and the sum of two values, for types that are the tangent of some type.
  virtual mlir::FailureOr<mlir::Value> zero(mlir::ImplicitLocOpBuilder &b, HiType type) const = 0;
  virtual mlir::FailureOr<mlir::Value> add(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y) const = 0;

  /// The type of one element of `size`, mapped as `spec` says, and the converse:
  /// decRank(incRank(t)) is t. `spec` is an attribute of the author's choice.
  virtual mlir::FailureOr<mlir::Type> decRank(HiType type, int64_t size, mlir::Attribute spec, EmitError emitError) const = 0;
  virtual mlir::FailureOr<mlir::Type> incRank(HiType type, int64_t size, mlir::Attribute spec, EmitError emitError) const = 0;
  /// The spec that means the leading axis: what scan slices and stacks.
  virtual mlir::FailureOr<mlir::Attribute> leadingAxisSpec(HiType type, EmitError emitError) const = 0;

private:
  std::string typeName;
};

/// An operation of a primitive: what its rules need to know.
struct PrimitiveCall {
  mlir::DictionaryAttr params;
  llvm::SmallVector<mlir::Type> operandTypes, resultTypes;
};

/// One primitive. Rules emit ops at `b`, whose location is the operation's; they report errors there.
/// Null values are symbolic zeros (tangents, cotangents).
class PrimitiveDef {
public:
  enum class Rule { Expand, Jvp, Vjp, Transpose, Batch };

  explicit PrimitiveDef(std::string name) : primitiveName(std::move(name)) {}
  virtual ~PrimitiveDef();

  llvm::StringRef name() const { return primitiveName; }
  /// Which rules the author wrote.
  virtual bool has(Rule rule) const = 0;

  /// The types of the results. This is the verifier, too.
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Type>> infer(mlir::DictionaryAttr params, mlir::TypeRange operands,
                                                               EmitError emitError) const = 0;
  /// The same values made of other ops; the only rule that may raise and lower.
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  expand(mlir::ImplicitLocOpBuilder &b, const PrimitiveCall &call, mlir::ValueRange operands) const = 0;

  virtual mlir::LogicalResult jvp(mlir::ImplicitLocOpBuilder &b, const PrimitiveCall &call, mlir::ValueRange primals,
                                  llvm::ArrayRef<mlir::Value> tangents, llvm::SmallVectorImpl<mlir::Value> &results,
                                  llvm::SmallVectorImpl<mlir::Value> &resultTangents) const = 0;

  /// Forward half of a vjp: results and residuals. `active`: operands that may have a tangent.
  virtual mlir::LogicalResult vjpForward(mlir::ImplicitLocOpBuilder &b, const PrimitiveCall &call, mlir::ValueRange primals,
                                         llvm::ArrayRef<bool> active, llvm::SmallVectorImpl<mlir::Value> &results,
                                         llvm::SmallVectorImpl<mlir::Value> &residuals) const = 0;
  /// Backward half: a cotangent, or null, for each operand in `wanted`; null for the others.
  virtual mlir::LogicalResult vjpBackward(mlir::ImplicitLocOpBuilder &b, const PrimitiveCall &call,
                                          mlir::ValueRange residuals, llvm::ArrayRef<mlir::Value> resultBars,
                                          llvm::ArrayRef<bool> wanted,
                                          llvm::SmallVectorImpl<mlir::Value> &operandBars) const = 0;

  /// For primitives linear in some operands: those are null in `operands`, and get a cotangent.
  virtual mlir::LogicalResult transpose(mlir::ImplicitLocOpBuilder &b, const PrimitiveCall &call,
                                        llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::Value> resultBars,
                                        llvm::SmallVectorImpl<mlir::Value> &operandBars) const = 0;

  /// Mapped over `size` elements as `specs` say: null for an operand that all share.
  virtual mlir::LogicalResult batch(mlir::ImplicitLocOpBuilder &b, const PrimitiveCall &call, int64_t size,
                                    mlir::ValueRange operands, llvm::ArrayRef<mlir::Attribute> specs,
                                    llvm::SmallVectorImpl<mlir::Value> &results,
                                    llvm::SmallVectorImpl<mlir::Attribute> &resultSpecs) const = 0;

private:
  std::string primitiveName;
};

/// What the process knows, by name. Definitions live until it ends; adding is safe from any thread.
class HiRegistry {
public:
  static HiRegistry &get();

  /// False if the name is taken by another definition (or, for a type, by the dialect).
  bool add(std::unique_ptr<HiTypeDef> def);
  bool add(std::unique_ptr<PrimitiveDef> def);

  const HiTypeDef *findType(llvm::StringRef name) const;
  const PrimitiveDef *findPrimitive(llvm::StringRef name) const;
  /// Sorted, "q8, tup"; "none" without any.
  std::string typeNames() const;
  std::string primitiveNames() const;

private:
  HiRegistry();
  ~HiRegistry() = delete;
  struct Impl;
  Impl *impl;
};

//===----------------------------------------------------------------------===//
// The same questions of any type
//===----------------------------------------------------------------------===//

/// The type of `type`'s tangent, or null when it has none (integers, bools, keys). Cotangents have
/// the same type.
mlir::Type tangentOf(mlir::Type type);
inline bool isDifferentiable(mlir::Type type) { return bool(tangentOf(type)); }

/// The zero and the sum of tangents. Where the author of a hi-type has written none, a diagnostic,
/// and a value to go on with: who runs a transform must fail when an error was reported.
mlir::Value makeZero(mlir::ImplicitLocOpBuilder &b, mlir::Type type);
mlir::Value makeSum(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y);
/// Some value of `type`, for places that nobody reads.
mlir::Value makeUnspecified(mlir::ImplicitLocOpBuilder &b, mlir::Type type);

/// `type` without, or with, a mapped axis of `size`. The spec of an array is an IntegerAttr.
mlir::FailureOr<mlir::Type> decRank(mlir::Type type, int64_t size, mlir::Attribute spec, EmitError emitError);
mlir::FailureOr<mlir::Type> incRank(mlir::Type type, int64_t size, mlir::Attribute spec, EmitError emitError);
/// As above for the leading axis, whose spec is:
mlir::FailureOr<mlir::Attribute> leadingAxisSpec(mlir::Type type, EmitError emitError);
mlir::FailureOr<mlir::Type> decLeading(mlir::Type type, int64_t size, EmitError emitError);
mlir::FailureOr<mlir::Type> incLeading(mlir::Type type, int64_t size, EmitError emitError);

/// The arrays that values of `type` become: itself for an array.
mlir::FailureOr<llvm::SmallVector<mlir::Type>> flatLoTypes(mlir::Type type, EmitError emitError);

} // namespace hjx::ir
