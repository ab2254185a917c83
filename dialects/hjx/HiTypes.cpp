// SPDX-License-Identifier: Apache-2.0
//
// The registry of hi-types and primitives, the text of hi-types, and the
// questions that arrays and hi-types both answer.
#include "dialects/hjx/HiTypes.h"

#include "dialects/hjx/Hjx.h"
#include "dialects/hjx/MappedPrimitive.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Mutex.h"
#include "llvm/Support/RWMutex.h"

#include <atomic>

using namespace mlir;

namespace hjx::ir {

HiTypeDef::~HiTypeDef() = default;

/// Components of components: more is a type that contains itself.
static constexpr unsigned kMaxHiNesting = 256;

//===----------------------------------------------------------------------===//
// What few types have
//===----------------------------------------------------------------------===//

InFlightDiagnostic HiTypeDef::refuse(EmitError emitError, StringRef feature, StringRef method) const {
  return emitError() << feature << " requires " << name() << " to implement the " << method
                     << " method; write it in the class of the type";
}

FailureOr<SmallVector<int64_t>> HiTypeDef::indexShape(HiType type, EmitError emitError) const {
  return emitError() << "(C1) a ref of " << type << " is accessed as a whole";
}
FailureOr<Type> HiTypeDef::partType(HiType, ArrayRef<int64_t>, EmitError emitError) const {
  return refuse(emitError, "a part of a ref", "part_type");
}
FailureOr<Value> HiTypeDef::readPart(ImplicitLocOpBuilder &b, Value, const RefIndex &) const {
  return refuse([&] { return emitError(b.getLoc()); }, "reading a part of a ref", "get_part");
}
FailureOr<Value> HiTypeDef::writePart(ImplicitLocOpBuilder &b, Value, const RefIndex &, Value) const {
  return refuse([&] { return emitError(b.getLoc()); }, "writing a part of a ref", "set_part");
}
FailureOr<Type> HiTypeDef::shard(HiType, MeshAxes, Attribute, EmitError emitError) const {
  return refuse(emitError, "sharding", "shard");
}
FailureOr<Type> HiTypeDef::unshard(HiType, MeshAxes, Attribute, EmitError emitError) const {
  return refuse(emitError, "sharding", "unshard");
}
FailureOr<Attribute> HiTypeDef::noSpec(HiType, MeshAxes, EmitError emitError) const {
  return refuse(emitError, "sharding", "no_spec");
}
FailureOr<SmallVector<Attribute>> HiTypeDef::loPartitions(HiType, Attribute, EmitError emitError) const {
  return refuse(emitError, "sharding", "lo_partitions");
}
FailureOr<Attribute> HiTypeDef::tangentPartition(HiType, Attribute, EmitError emitError) const {
  return refuse(emitError, "sharding with derivatives", "tangent_partition");
}

//===----------------------------------------------------------------------===//
// The registry
//===----------------------------------------------------------------------===//

struct HiRegistry::Impl {
  mutable llvm::sys::RWMutex mutex;
  llvm::StringMap<std::unique_ptr<HiTypeDef>> types;
  llvm::StringMap<std::unique_ptr<PrimitiveDef>> primitives;

  template <typename Def>
  static std::string names(const llvm::StringMap<std::unique_ptr<Def>> &defs) {
    SmallVector<StringRef> sorted(defs.keys());
    llvm::erase_if(sorted, [](StringRef name) { return name == "hjx.remap"; }); // The compiler's own.
    llvm::sort(sorted);
    return sorted.empty() ? "none" : llvm::join(sorted, ", ");
  }
};

HiRegistry::HiRegistry() : impl(new Impl) {}

HiRegistry &HiRegistry::get() {
  static HiRegistry &registry = *new HiRegistry; // lives as long as the types that point into it
  return registry;
}

bool HiRegistry::add(std::unique_ptr<HiTypeDef> def) {
  if (llvm::is_contained({"key", "linear", "ref"}, def->name()))
    return false;
  llvm::sys::ScopedWriter lock(impl->mutex);
  StringRef name = def->name();
  return impl->types.try_emplace(name, std::move(def)).second;
}

bool HiRegistry::add(std::unique_ptr<PrimitiveDef> def) {
  llvm::sys::ScopedWriter lock(impl->mutex);
  StringRef name = def->name();
  return impl->primitives.try_emplace(name, std::move(def)).second;
}

const HiTypeDef *HiRegistry::findType(StringRef name) const {
  llvm::sys::ScopedReader lock(impl->mutex);
  auto it = impl->types.find(name);
  return it == impl->types.end() ? nullptr : it->second.get();
}

const PrimitiveDef *HiRegistry::findPrimitive(StringRef name) const {
  llvm::sys::ScopedReader lock(impl->mutex);
  auto it = impl->primitives.find(name);
  return it == impl->primitives.end() ? nullptr : it->second.get();
}

static std::atomic<MakeMapped> makeMapped = nullptr;
void setMakeMapped(MakeMapped make) { makeMapped = make; }

const PrimitiveDef *findPrimitive(StringRef name, DictionaryAttr params) {
  const PrimitiveDef *primitive = HiRegistry::get().findPrimitive(name);
  if (!primitive || !params.contains(kMappedParam) || !makeMapped)
    return primitive;
  static llvm::sys::Mutex mutex;
  static auto &mapped = *new llvm::DenseMap<const PrimitiveDef *, std::unique_ptr<PrimitiveDef>>; // as long as the registry
  llvm::sys::ScopedLock lock(mutex);
  std::unique_ptr<PrimitiveDef> &def = mapped[primitive];
  if (!def)
    def = makeMapped.load()(*primitive);
  return def.get();
}

std::string HiRegistry::typeNames() const {
  llvm::sys::ScopedReader lock(impl->mutex);
  return Impl::names(impl->types);
}

std::string HiRegistry::primitiveNames() const {
  llvm::sys::ScopedReader lock(impl->mutex);
  return Impl::names(impl->primitives);
}

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

LogicalResult HiType::verify(EmitError emitError, const HiTypeDef *def, ArrayRef<Attribute> params) {
  for (Attribute param : params)
    if (!isa<DenseI64ArrayAttr, TypeAttr, StringAttr>(param))
      return emitError() << "expected shapes, types and strings as parameters of !hjx." << def->name() << ", got " << param;
  return def->verify(params, emitError);
}

ArrayRef<int64_t> HiType::getShape(unsigned param) { return cast<DenseI64ArrayAttr>(getParams()[param]).asArrayRef(); }

/// A shape, a type or a string.
static ParseResult parseParam(AsmParser &parser, SmallVectorImpl<Attribute> &params) {
  std::string text;
  Type type;
  if (succeeded(parser.parseOptionalString(&text))) {
    params.push_back(parser.getBuilder().getStringAttr(text));
    return success();
  }
  if (succeeded(parser.parseOptionalLSquare())) {
    params.push_back(parser.getBuilder().getDenseI64ArrayAttr({}));
    return parser.parseRSquare();
  }
  if (OptionalParseResult parsed = parser.parseOptionalType(type); parsed.has_value()) {
    if (succeeded(*parsed))
      params.push_back(TypeAttr::get(type));
    return *parsed;
  }
  SmallVector<int64_t> shape;
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return failure();
  if (shape.empty())
    return parser.emitError(parser.getCurrentLocation(), "expected a shape (4x8, [] without dimensions), a type or a string");
  params.push_back(parser.getBuilder().getDenseI64ArrayAttr(shape));
  return success();
}

static Type parseHiType(DialectAsmParser &parser, StringRef name, SMLoc loc) {
  const HiTypeDef *def = HiRegistry::get().findType(name);
  if (!def) {
    parser.emitError(loc) << "unknown type !hjx." << name << "; known hi-types: " << HiRegistry::get().typeNames()
                          << " (a plugin adds others: --load-hjx-plugin)";
    return {};
  }
  SmallVector<Attribute> params;
  if (succeeded(parser.parseOptionalLess()))
    if (parser.parseCommaSeparatedList([&] { return parseParam(parser, params); }) || parser.parseGreater())
      return {};
  return HiType::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), def, ArrayRef<Attribute>(params));
}

static void printHiType(HiType type, DialectAsmPrinter &printer) {
  printer << type.getDef()->name();
  if (type.getParams().empty())
    return;
  printer << '<';
  llvm::interleaveComma(type.getParams(), printer, [&](Attribute param) {
    if (auto shape = dyn_cast<DenseI64ArrayAttr>(param)) {
      if (shape.empty())
        printer << "[]";
      llvm::interleave(shape.asArrayRef(), printer, "x");
    } else {
      printer.printAttribute(param);
    }
  });
  printer << '>';
}

// In Dialect.cpp, where the types of ODS are.
OptionalParseResult parseOdsType(AsmParser &parser, StringRef *mnemonic, Type &type);
LogicalResult printOdsType(Type type, AsmPrinter &printer);

Type HjxDialect::parseType(DialectAsmParser &parser) const {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  Type type;
  if (OptionalParseResult parsed = parseOdsType(parser, &name, type); parsed.has_value())
    return type;
  return parseHiType(parser, name, loc);
}

void HjxDialect::printType(Type type, DialectAsmPrinter &printer) const {
  if (auto hi = dyn_cast<HiType>(type))
    printHiType(hi, printer);
  else
    (void)printOdsType(type, printer);
}

//===----------------------------------------------------------------------===//
// Questions of any type
//===----------------------------------------------------------------------===//

Type tangentOf(Type type) {
  if (auto hi = dyn_cast<HiType>(type))
    return hi.getDef()->tangentType(hi);
  auto array = dyn_cast<RankedTensorType>(type);
  return array && isa<FloatType>(array.getElementType()) ? type : Type();
}

Value makeUnspecified(ImplicitLocOpBuilder &b, Type type) {
  if (auto hi = dyn_cast<HiType>(type)) {
    SmallVector<Value> components;
    if (auto types = hi.getDef()->loTypes(hi, [&] { return emitError(b.getLoc()); }); succeeded(types))
      for (Type component : *types)
        components.push_back(makeUnspecified(b, component));
    return RaiseOp::create(b, hi, components);
  }
  auto array = cast<RankedTensorType>(type);
  if (!isa<KeyType>(array.getElementType()))
    return makeSplat(b, b.getLoc(), type, 0.0);
  SmallVector<int64_t> shape(array.getShape());
  shape.push_back(2);
  auto words = RankedTensorType::get(shape, b.getIntegerType(32, /*isSigned=*/false));
  return RandomWrapOp::create(b, makeSplat(b, b.getLoc(), words, 0.0));
}

Value makeZero(ImplicitLocOpBuilder &b, Type type) {
  auto hi = dyn_cast<HiType>(type);
  if (!hi)
    return makeSplat(b, b.getLoc(), type, 0.0);
  auto zero = hi.getDef()->zero(b, hi);
  return succeeded(zero) ? *zero : makeUnspecified(b, type);
}

Value makeSum(ImplicitLocOpBuilder &b, Value x, Value y) {
  auto hi = dyn_cast<HiType>(x.getType());
  if (!hi)
    return AddOp::create(b, x, y);
  auto sum = hi.getDef()->add(b, x, y);
  return succeeded(sum) ? *sum : makeUnspecified(b, hi);
}

/// The axis that `spec` gives an array type of `rank` dimensions.
static FailureOr<int64_t> arrayAxis(Type type, Attribute spec, int64_t rank, EmitError emitError) {
  auto axis = dyn_cast_or_null<IntegerAttr>(spec);
  if (!axis || axis.getInt() < 0 || axis.getInt() >= rank) {
    auto diagnostic = emitError() << "expected an axis of " << type << " as mapping, got ";
    spec ? diagnostic << spec : diagnostic << "nothing";
    return diagnostic << "; give an axis that it has, or none for a value that all elements share";
  }
  return axis.getInt();
}

FailureOr<Type> decRank(Type type, int64_t size, Attribute spec, EmitError emitError) {
  if (auto ref = dyn_cast<RefType>(type)) {
    auto value = decRank(ref.getValueType(), size, spec, emitError);
    return failed(value) ? FailureOr<Type>() : FailureOr<Type>(RefType::get(*value));
  }
  if (auto hi = dyn_cast<HiType>(type))
    return hi.getDef()->decRank(hi, size, spec, emitError);
  auto array = dyn_cast<RankedTensorType>(type);
  if (!array)
    return emitError() << type << " cannot be mapped";
  auto axis = arrayAxis(type, spec, array.getRank(), emitError);
  if (failed(axis))
    return failure();
  if (array.getDimSize(*axis) != size)
    return emitError() << "expected size " << size << " on the mapped axis " << *axis << " of " << type << ", got "
                       << array.getDimSize(*axis);
  return Type(dropAxis(array, *axis));
}

FailureOr<Type> incRank(Type type, int64_t size, Attribute spec, EmitError emitError) {
  if (auto ref = dyn_cast<RefType>(type)) {
    auto value = incRank(ref.getValueType(), size, spec, emitError);
    return failed(value) ? FailureOr<Type>() : FailureOr<Type>(RefType::get(*value));
  }
  if (auto hi = dyn_cast<HiType>(type))
    return hi.getDef()->incRank(hi, size, spec, emitError);
  auto array = dyn_cast<RankedTensorType>(type);
  if (!array)
    return emitError() << type << " cannot be mapped";
  auto axis = arrayAxis(type, spec, array.getRank() + 1, emitError);
  if (failed(axis))
    return failure();
  return Type(insertAxis(array, *axis, size));
}

FailureOr<Attribute> leadingAxisSpec(Type type, EmitError emitError) {
  if (auto ref = dyn_cast<RefType>(type))
    return leadingAxisSpec(ref.getValueType(), emitError);
  if (auto hi = dyn_cast<HiType>(type))
    return hi.getDef()->leadingAxisSpec(hi, emitError);
  return Attribute(IntegerAttr::get(IntegerType::get(type.getContext(), 64), 0));
}

FailureOr<Type> decLeading(Type type, int64_t size, EmitError emitError) {
  auto spec = leadingAxisSpec(type, emitError);
  return failed(spec) ? FailureOr<Type>() : decRank(type, size, *spec, emitError);
}

FailureOr<Type> incLeading(Type type, int64_t size, EmitError emitError) {
  auto spec = leadingAxisSpec(type, emitError);
  return failed(spec) ? FailureOr<Type>() : incRank(type, size, *spec, emitError);
}

static FailureOr<SmallVector<Type>> flatLoTypes(Type type, EmitError emitError, unsigned depth) {
  auto hi = dyn_cast<HiType>(type);
  if (!hi)
    return SmallVector<Type>{type};
  if (depth == kMaxHiNesting)
    return emitError() << "lo_types of " << type << " has components with components without end; let some be arrays";
  auto components = hi.getDef()->loTypes(hi, emitError);
  if (failed(components))
    return failure();
  SmallVector<Type> flat;
  for (Type component : *components) {
    auto types = flatLoTypes(component, emitError, depth + 1);
    if (failed(types))
      return failure();
    llvm::append_range(flat, *types);
  }
  return flat;
}

FailureOr<SmallVector<Type>> flatLoTypes(Type type, EmitError emitError) { return flatLoTypes(type, emitError, 0); }

ModuleOp moduleAround(Block *block) {
  Operation *op = block ? block->getParentOp() : nullptr;
  return !op ? ModuleOp() : isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
}

} // namespace hjx::ir
