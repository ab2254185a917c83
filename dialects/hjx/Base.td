// SPDX-License-Identifier: Apache-2.0
//
// The dialect, its types and the constraints and op classes that every family
// shares. Arrays are builtin tensors of static shape; nothing broadcasts or
// promotes implicitly: the frontend inserts broadcast_in_dim and convert.
#ifndef HJX_BASE_TD
#define HJX_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Hjx_Dialect : Dialect {
  let name = "hjx";
  let cppNamespace = "::hjx::ir";
  let summary = "Array programs closed under differentiation and batching";
  let description = [{
    Values are arrays (`tensor` of static shape), random keys (tensors of
    `!hjx.key`), values of users' hi-types (`!hjx.<name><...>`), refs
    (`!hjx.ref`) and linear maps (`!hjx.linear`). `i8..i64` are signed integers,
    `ui8..ui64` unsigned, `i1` booleans. Every op is closed under jvp,
    transposition and batching: a rule emits only ops of this dialect.
  }];
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let extraClassDeclaration = [{
    // Each family registers its ops in its own file, so that families compile
    // in parallel.
    void registerElementwiseOps();
    void registerContractionOps();
    void registerReductionOps();
    void registerMovementOps();
    void registerRandomOps();
    void registerHigherOrderOps();
    void registerRequestOps();
    void registerRefOps();
    void registerHiTypeOps();

    // The names of hi-types are known at run time only.
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Hjx_Type<string typeName, string typeMnemonic> : TypeDef<Hjx_Dialect, typeName> {
  let mnemonic = typeMnemonic;
}

def Hjx_KeyType : Hjx_Type<"Key", "key"> {
  let summary = "element type of arrays of random keys";
  let description = [{
    `tensor<4x!hjx.key<threefry2x32>>` is an array of four keys. A key slices,
    gathers and batches like any element. The only generator is `threefry2x32`,
    bit-exact with JAX's (partitionable layout).
  }];
  let parameters = (ins StringRefParameter<"name of the generator">:$generator);
  let assemblyFormat = "`<` custom<KeyImpl>($generator) `>`";
  let genVerifyDecl = 1;
}

def Hjx_LinearType : Hjx_Type<"Linear", "linear"> {
  let summary = "a linear map held by residuals, made by hjx.linearize";
  let parameters = (ins TypeParameter<"::mlir::FunctionType", "tangents in and out">:$signature);
  let assemblyFormat = "`<` $signature `>`";
}

def Hjx_RefType : Hjx_Type<"Ref", "ref"> {
  let summary = "a mutable cell that holds one value";
  let parameters = (ins "::mlir::Type":$valueType);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$valueType), [{
    return $_get(valueType.getContext(), valueType);
  }]>];
  let assemblyFormat = "`<` $valueType `>`";
  let genVerifyDecl = 1;
}

def Hjx_HiType : TypeDef<Hjx_Dialect, "Hi"> {
  let typeName = "hjx.hi"; // no mnemonic: parsed by the dialect
  let summary = "a type of the user's, printed `!hjx.<name><parameters>`";
  let description = [{
    Parameters are shapes (`4x8`, `[]` without dimensions), types and strings.
  }];
  let parameters = (ins "const ::hjx::ir::HiTypeDef *":$def, ArrayRefParameter<"::mlir::Attribute">:$params);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<int64_t> getShape(unsigned param);
  }];
}

//===----------------------------------------------------------------------===//
// Type constraints
//===----------------------------------------------------------------------===//

def Hjx_Bool : AnyTypeOf<[I1], "bool">;
def Hjx_SInt : AnyTypeOf<[I8, I16, I32, I64], "signed integer">;
def Hjx_UInt : AnyTypeOf<[UI8, UI16, UI32, UI64], "unsigned integer">;
def Hjx_Int : AnyTypeOf<[Hjx_SInt, Hjx_UInt], "integer">;
def Hjx_IntOrBool : AnyTypeOf<[Hjx_Int, Hjx_Bool], "integer or bool">;
def Hjx_Float : AnyTypeOf<[F16, BF16, F32, F64], "float">;
def Hjx_Num : AnyTypeOf<[Hjx_Float, Hjx_Int], "number">;
def Hjx_Scalar : AnyTypeOf<[Hjx_Float, Hjx_Int, Hjx_Bool], "number or bool">;
def Hjx_Element : AnyTypeOf<[Hjx_Float, Hjx_Int, Hjx_Bool, Hjx_KeyType], "number, bool or key">;

def Hjx_FloatArray : StaticShapeTensorOf<[Hjx_Float]>;
def Hjx_NumArray : StaticShapeTensorOf<[Hjx_Num]>;
def Hjx_SignedArray : StaticShapeTensorOf<[AnyTypeOf<[Hjx_Float, Hjx_SInt]>]>;
def Hjx_IntArray : StaticShapeTensorOf<[Hjx_Int]>;
def Hjx_IntOrBoolArray : StaticShapeTensorOf<[Hjx_IntOrBool]>;
def Hjx_ScalarArray : StaticShapeTensorOf<[Hjx_Scalar]>;
def Hjx_Array : StaticShapeTensorOf<[Hjx_Element]>;
def Hjx_BoolArray : StaticShapeTensorOf<[Hjx_Bool]>;
def Hjx_UI32Array : StaticShapeTensorOf<[UI32]>;
def Hjx_KeyArray : StaticShapeTensorOf<[Hjx_KeyType]>;
/// What an op may return.
def Hjx_Data : AnyTypeOf<[Hjx_Array, Hjx_HiType]>;
/// What a function may take.
def Hjx_Value : AnyTypeOf<[Hjx_Array, Hjx_HiType, Hjx_RefType, Hjx_LinearType]>;
/// A float array or a hi-type that is the tangent of some type.
def Hjx_Tangent : AnyTypeOf<[Hjx_FloatArray, Hjx_HiType]>;

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

class Hjx_Op<string mnemonic, list<Trait> traits = []> : Op<Hjx_Dialect, mnemonic, traits> {
  /// Declared by ops that are Hjx_PureButForRefs.
  code refEffects = [{
    void getEffects(::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      ::hjx::ir::addRefEffects(*this, effects);
    }
  }];
}

/// Ops that do with refs what their regions or callees do, and else nothing but
/// compute: an operand that is a ref is read and written.
defvar Hjx_PureButForRefs = [AlwaysSpeculatableImplTrait, MemoryEffectsOpInterface];

/// An op whose result types follow from operands and attributes: one function
/// serves the builder, the verifier and the frontend.
class Hjx_InferredOp<string mnemonic, list<Trait> traits = []>
    : Hjx_Op<mnemonic, traits # [Pure, InferTypeOpAdaptor]> {
  let extraClassDeclaration = [{
    // The verifier's question; upstream's default names no op and no remedy.
    static ::llvm::LogicalResult refineReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &returnTypes) {
      ::llvm::SmallVector<::mlir::Type> inferred;
      if (failed(inferReturnTypes(context, location, operands, attributes, properties, regions, inferred)))
        return ::mlir::failure();
      return ::hjx::ir::checkResultTypes(getOperationName(), location, inferred, returnTypes);
    }
  }];
}

#endif // HJX_BASE_TD
