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
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace hjx::ir {

class HiType;
struct RefIndex;

/// Where a method reports what is wrong with its input.
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The axes of a mesh of devices: names and sizes.
using MeshAxes = llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>>;

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

  /// For types whose refs are accessed in parts; else they are read and written whole. The dimensions
  /// that an index has; the type of a part, given what the index makes of them; such a part, and the
  /// value with it replaced.
  virtual mlir::FailureOr<llvm::SmallVector<int64_t>> indexShape(HiType type, EmitError emitError) const;
  virtual mlir::FailureOr<mlir::Type> partType(HiType type, llvm::ArrayRef<int64_t> shape, EmitError emitError) const;
  virtual mlir::FailureOr<mlir::Value> readPart(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const RefIndex &index) const;
  virtual mlir::FailureOr<mlir::Value> writePart(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const RefIndex &index,
                                                 mlir::Value part) const;

  /// Sharding: what each asks is in Sharding.h.
  virtual mlir::FailureOr<mlir::Type> shard(HiType type, MeshAxes mesh, mlir::Attribute spec, EmitError emitError) const;
  virtual mlir::FailureOr<mlir::Type> unshard(HiType type, MeshAxes mesh, mlir::Attribute spec, EmitError emitError) const;
  virtual mlir::FailureOr<mlir::Attribute> noSpec(HiType type, MeshAxes mesh, EmitError emitError) const;
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Attribute>> loPartitions(HiType type, mlir::Attribute spec, EmitError emitError) const;
  virtual mlir::FailureOr<mlir::Attribute> tangentPartition(HiType type, mlir::Attribute spec, EmitError emitError) const;

protected:
  /// "mapping (vmap, scan) requires q8 to implement the dec_rank method; ..."
  mlir::InFlightDiagnostic refuse(EmitError emitError, llvm::StringRef feature, llvm::StringRef method) const;

private:
  std::string typeName;
};

/// An operation of a primitive: what its rules need to know.
struct PrimitiveCall {
  mlir::DictionaryAttr params;
  llvm::SmallVector<mlir::Type> operandTypes, resultTypes;
  /// For the second half of a derivative: which operands were active in the first.
  llvm::SmallVector<bool> active = {};
};

/// What becomes of a cotangent.
struct BarSink {
  enum Kind {
    Sum,  ///< a value
    Ref,  ///< added to a ref as it comes
    None, ///< nobody wants it
  };
  Kind kind = Sum;
  mlir::Value ref;
};

/// One primitive. An engine calls the public functions, which check what the author's rule (the
/// protected function of the same name) returns: an error stands at `b`'s location and names the
/// primitive, the rule and both types. Rules emit ops at `b`, whose location is the operation's.
///
/// Null values are symbolic zeros (tangents, cotangents). A rule that is not in `has` is not called.
class PrimitiveDef {
public:
  enum class Rule { Expand, Jvp, Linearize, Vjp, Transpose, Batch, BatchAxes, Dce, Remat };
  using Builder = mlir::ImplicitLocOpBuilder;
  using Values = llvm::SmallVectorImpl<mlir::Value>;

  explicit PrimitiveDef(std::string name) : primitiveName(std::move(name)) {}
  virtual ~PrimitiveDef();

  llvm::StringRef name() const { return primitiveName; }
  /// Which rules the author wrote.
  virtual bool has(Rule rule) const = 0;

  /// The types of the results. This is the verifier, too.
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Type>> infer(mlir::DictionaryAttr params, mlir::TypeRange operands,
                                                               EmitError emitError) const = 0;
  /// The same values made of other ops; the only rule that may raise and lower.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> expand(Builder &b, const PrimitiveCall &call, mlir::ValueRange operands) const;

  mlir::LogicalResult jvp(Builder &b, const PrimitiveCall &call, mlir::ValueRange primals, llvm::ArrayRef<mlir::Value> tangents,
                          Values &results, Values &resultTangents) const;

  /// The jvp in halves: what depends on primals alone, and what is linear in the tangents.
  mlir::LogicalResult linearize(Builder &b, const PrimitiveCall &call, mlir::ValueRange primals, llvm::ArrayRef<bool> active,
                                Values &results, Values &residuals) const;
  mlir::LogicalResult linearized(Builder &b, const PrimitiveCall &call, mlir::ValueRange residuals,
                                 llvm::ArrayRef<mlir::Value> tangents, Values &resultTangents) const;

  /// Forward half of a vjp: results and residuals. `active`: operands that may have a tangent.
  mlir::LogicalResult vjpForward(Builder &b, const PrimitiveCall &call, mlir::ValueRange primals, llvm::ArrayRef<bool> active,
                                 Values &results, Values &residuals) const;
  /// Backward half: a cotangent, or null, for each operand. A rule may add to a sink that is a ref by
  /// itself and return null there.
  mlir::LogicalResult vjpBackward(Builder &b, const PrimitiveCall &call, mlir::ValueRange residuals,
                                  llvm::ArrayRef<mlir::Value> resultBars, llvm::ArrayRef<BarSink> sinks, Values &operandBars) const;

  /// For primitives linear in some operands: those are null in `operands`, and get a cotangent.
  mlir::LogicalResult transpose(Builder &b, const PrimitiveCall &call, llvm::ArrayRef<mlir::Value> operands,
                                llvm::ArrayRef<mlir::Value> resultBars, Values &operandBars) const;

  /// Mapped over `size` elements as `specs` say: null for an operand that all share.
  mlir::LogicalResult batch(Builder &b, const PrimitiveCall &call, int64_t size, mlir::ValueRange operands,
                            llvm::ArrayRef<mlir::Attribute> specs, Values &results,
                            llvm::SmallVectorImpl<mlir::Attribute> &resultSpecs) const;
  /// How results are mapped where the primitive, mapped, stays itself.
  mlir::LogicalResult batchAxes(Builder &b, const PrimitiveCall &call, int64_t size, llvm::ArrayRef<mlir::Attribute> specs,
                                llvm::SmallVectorImpl<mlir::Attribute> &resultSpecs) const;

  /// The results in `used` made with less; all null where there is nothing to save.
  mlir::LogicalResult dce(Builder &b, const PrimitiveCall &call, mlir::ValueRange operands, llvm::ArrayRef<bool> used,
                          Values &results) const;

  /// Under a checkpoint: results, and what is kept to compute them again; and that computation.
  mlir::LogicalResult remat(Builder &b, const PrimitiveCall &call, mlir::ValueRange operands, Values &results, Values &saved) const;
  mlir::LogicalResult recompute(Builder &b, const PrimitiveCall &call, mlir::ValueRange saved, Values &results) const;

protected:
  virtual mlir::LogicalResult expandRule(Builder &b, const PrimitiveCall &call, mlir::ValueRange operands, Values &results) const = 0;
  virtual mlir::LogicalResult jvpRule(Builder &b, const PrimitiveCall &call, mlir::ValueRange primals,
                                      llvm::ArrayRef<mlir::Value> tangents, Values &results, Values &resultTangents) const;
  virtual mlir::LogicalResult linearizeRule(Builder &b, const PrimitiveCall &call, mlir::ValueRange primals,
                                            llvm::ArrayRef<bool> active, Values &results, Values &residuals) const;
  virtual mlir::LogicalResult linearizedRule(Builder &b, const PrimitiveCall &call, mlir::ValueRange residuals,
                                             llvm::ArrayRef<mlir::Value> tangents, Values &resultTangents) const;
  virtual mlir::LogicalResult vjpForwardRule(Builder &b, const PrimitiveCall &call, mlir::ValueRange primals,
                                             llvm::ArrayRef<bool> active, Values &results, Values &residuals) const;
  virtual mlir::LogicalResult vjpBackwardRule(Builder &b, const PrimitiveCall &call, mlir::ValueRange residuals,
                                              llvm::ArrayRef<mlir::Value> resultBars, llvm::ArrayRef<BarSink> sinks,
                                              Values &operandBars) const;
  virtual mlir::LogicalResult transposeRule(Builder &b, const PrimitiveCall &call, llvm::ArrayRef<mlir::Value> operands,
                                            llvm::ArrayRef<mlir::Value> resultBars, Values &operandBars) const;
  virtual mlir::LogicalResult batchRule(Builder &b, const PrimitiveCall &call, int64_t size, mlir::ValueRange operands,
                                        llvm::ArrayRef<mlir::Attribute> specs, Values &results,
                                        llvm::SmallVectorImpl<mlir::Attribute> &resultSpecs) const;
  virtual mlir::LogicalResult batchAxesRule(Builder &b, const PrimitiveCall &call, int64_t size, llvm::ArrayRef<mlir::Attribute> specs,
                                            llvm::SmallVectorImpl<mlir::Attribute> &resultSpecs) const;
  virtual mlir::LogicalResult dceRule(Builder &b, const PrimitiveCall &call, mlir::ValueRange operands, llvm::ArrayRef<bool> used,
                                      Values &results) const;
  virtual mlir::LogicalResult rematRule(Builder &b, const PrimitiveCall &call, mlir::ValueRange operands, Values &results,
                                        Values &saved) const;
  virtual mlir::LogicalResult recomputeRule(Builder &b, const PrimitiveCall &call, mlir::ValueRange saved, Values &results) const;

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

/// Where a rule that emits into `block` may add functions; null while the block belongs to no module.
mlir::ModuleOp moduleAround(mlir::Block *block);

} // namespace hjx::ir
