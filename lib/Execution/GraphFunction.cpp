// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/GraphFunction.h"

#include "dialects/hjx/Hjx.h"
#include "dialects/hjx/Signature.h"
#include "lib/Data/Digest.h"
#include "lib/Data/File.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Execution/HiSignature.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Execution/RefSignature.h"
#include "lib/Pipelines/Register.h"
#include "lib/Support/Places.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "absl/strings/str_cat.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace hjx {

//===----------------------------------------------------------------------===//
// Functions and their values
//===----------------------------------------------------------------------===//

std::string GraphValue::leafName() const { return name.substr(name.find_last_of('.') + 1); }

int GraphFunction::find(const std::vector<GraphValue> &values, std::string_view role, std::string_view leafName) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].role == role && values[i].leafName() == leafName)
      return static_cast<int>(i);
  return -1;
}

static std::string placeInGraph(Location location) {
  std::string place = placeOf(location);
  return place.empty() ? "graph" : place;
}

static std::optional<StoredType> storedTypeOf(Type type) {
  if (type.isF16())
    return StoredType::F16;
  if (type.isBF16())
    return StoredType::BF16;
  if (type.isF32())
    return StoredType::F32;
  if (type.isF64())
    return StoredType::F64;
  bool isUnsigned = type.isUnsignedInteger();
  if (auto integer = dyn_cast<IntegerType>(type))
    switch (integer.getWidth()) {
    case 1:
      return StoredType::Bool;
    case 8:
      return isUnsigned ? StoredType::U8 : StoredType::I8;
    case 16:
      return isUnsigned ? StoredType::U16 : StoredType::I16;
    case 32:
      return isUnsigned ? StoredType::U32 : StoredType::I32;
    case 64:
      return isUnsigned ? StoredType::U64 : StoredType::I64;
    }
  return std::nullopt;
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type;
  return text;
}

absl::Status badValue(std::string_view function, const GraphValue &value, std::string_view kind,
                      std::string_view expected, std::string_view got, std::string_view remedy) {
  return badInput(absl::StrCat(value.where, ": ", std::string(function), ": ", std::string(kind), " '",
                               printable(value.name), "'"),
                  expected, got, remedy);
}

static absl::StatusOr<GraphValue> readValue(StringRef function, StringRef kind, unsigned index, Type type,
                                            DictionaryAttr attributes, Location location) {
  GraphValue value;
  auto text = [&](StringRef key) {
    auto attribute = attributes ? attributes.getAs<StringAttr>(key) : StringAttr();
    return attribute ? attribute.str() : std::string();
  };
  value.name = text("hjx.name");
  if (value.name.empty())
    value.name = absl::StrCat(kind == "argument" ? "arg" : "result", index);
  value.role = text("hjx.role");
  value.where = placeInGraph(location);

  auto tensor = dyn_cast<RankedTensorType>(type);
  value.isKey = tensor && isa<ir::KeyType>(tensor.getElementType());
  std::optional<StoredType> stored;
  if (tensor && tensor.hasStaticShape())
    stored = value.isKey ? StoredType::U32 : storedTypeOf(tensor.getElementType());
  if (!stored)
    return badValue(function.str(), value, kind.str(), "an array of static shape of numbers, bools or keys", print(type),
                    "give every argument and result of a public function such a type");
  value.type = *stored;
  value.shape = tensor.getShape().vec();
  if (value.isKey)
    value.shape.push_back(2);
  std::optional<uint64_t> sizeBytes = storedSizeBytes(value.type, value.shape);
  if (!sizeBytes)
    return badValue(function.str(), value, kind.str(), "an array of fewer than 2^64 bytes", print(type), "make it smaller");
  value.sizeBytes = static_cast<int64_t>(*sizeBytes);
  return value;
}

static absl::Status readValues(const Signature &signature, llvm::function_ref<Location(unsigned)> locationOf, Location functionLocation,
                               GraphFunction &out) {
  for (auto [i, type, attributes] : llvm::enumerate(signature.type.getInputs(), signature.argumentAttrs)) {
    HJX_ASSIGN_OR_RETURN(GraphValue value, readValue(out.name, "argument", i, type, attributes, locationOf(i)));
    out.arguments.push_back(std::move(value));
  }
  for (auto [i, type, attributes] : llvm::enumerate(signature.type.getResults(), signature.resultAttrs)) {
    HJX_ASSIGN_OR_RETURN(GraphValue value, readValue(out.name, "result", i, type, attributes, functionLocation));
    out.results.push_back(std::move(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<GraphFunction> readGraphFunction(func::FuncOp function) {
  GraphFunction out;
  out.name = function.getSymName().str();
  out.where = placeInGraph(function.getLoc());
  if (function.isExternal())
    return badInput(absl::StrCat(out.where, ": ", out.name), "a function with a body", "a declaration", "define it");
  HJX_RETURN_IF_ERROR(readValues(
      Signature::of(function), [&](unsigned i) { return function.getArgument(i).getLoc(); }, function.getLoc(), out));
  return out;
}

absl::StatusOr<GraphFunction> readGraphFunction(ModuleOp program, const std::string &name) {
  GraphFunction out;
  out.name = name;
  Operation *main = program.lookupSymbol("main");
  Location location = main ? main->getLoc() : program.getLoc();
  out.where = placeInGraph(location);
  CollectedDiagnostics diagnostics(program.getContext());
  FailureOr<Signature> signature = Signature::of(program);
  if (failed(signature))
    return absl::InvalidArgumentError(diagnostics.text());
  HJX_RETURN_IF_ERROR(readValues(*signature, [&](unsigned) { return location; }, location, out));
  return out;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

absl::StatusOr<LoadedModule> loadModule(const std::string &path) {
  LoadedModule loaded;
  HJX_ASSIGN_OR_RETURN(std::string bytes, readFile(path));
  loaded.sha256 = sha256Hex(bytes);
  DialectRegistry registry;
  registerAllDialects(registry);
  // One thread: the files are small, and the runner's own pool has the processors.
  loaded.context = std::make_shared<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  CollectedDiagnostics diagnostics(loaded.context.get());
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(bytes, path), llvm::SMLoc());
  loaded.module = parseSourceFile<ModuleOp>(sources, loaded.context.get());
  if (!loaded.module) {
    std::string message = diagnostics.text();
    if (llvm::StringRef name(path); !name.ends_with(".mlir") && !name.ends_with(".mlirbc"))
      message += "\n  help: give a program as hjx::Module::write and --dump-dir write it; data come after it";
    return absl::InvalidArgumentError(message);
  }
  // Refs first: they may hold hi values.
  if (failed(exposeRefs(*loaded.module)) || failed(exposeComponents(*loaded.module)))
    return absl::InvalidArgumentError(diagnostics.text());
  return loaded;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Writes hjx.alias on state arguments, and the names that the runner made up, so that a dump
/// says what the whole graph said.
static void completeSignature(func::FuncOp main, const GraphFunction &signature) {
  Builder b(main.getContext());
  for (auto [i, argument] : llvm::enumerate(signature.arguments)) {
    main.setArgAttr(i, "hjx.name", b.getStringAttr(argument.name));
    if (argument.role != "state")
      continue;
    for (auto [j, result] : llvm::enumerate(signature.results))
      if (result.role == "state" && result.name == argument.name &&
          main.getArgumentTypes()[i] == main.getResultTypes()[j])
        main.setArgAttr(i, "hjx.alias", b.getI64IntegerAttr(static_cast<int64_t>(j)));
  }
  for (auto [j, result] : llvm::enumerate(signature.results))
    main.setResultAttr(j, "hjx.name", b.getStringAttr(result.name));
}

absl::StatusOr<OwningOpRef<ModuleOp>> extractFunction(ModuleOp module, const std::string &name, Stage stage) {
  HJX_RETURN_IF_ERROR(checkStage(module, stage));
  if (stage >= Stage::Kernel) {
    if (name != "main")
      return badInput(absl::StrCat("function '", printable(name), "'"), absl::StrCat("main, at the ", nameOf(stage).str(), " stage"),
                      "another name", "from the kernel stage on a module is one program; leave the name out");
    return OwningOpRef<ModuleOp>(module.clone());
  }
  std::vector<std::string> names;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic())
      names.push_back(function.getSymName().str());
  if (names.empty())
    return badInput(placeInGraph(module.getLoc()), "a module with a public function", "none", "only public functions can be called");
  auto found = module.lookupSymbol<func::FuncOp>(name);
  if (!found || !found.isPublic()) {
    std::string nearest = nearestName(name, names);
    return badInput(absl::StrCat("function '", printable(name), "'"),
                    absl::StrCat("one of ", printable(llvm::join(names, ", "), 400)), "another name",
                    nearest.empty() ? "name a public function" : absl::StrCat("did you mean '", nearest, "'?"));
  }
  HJX_ASSIGN_OR_RETURN(GraphFunction signature, readGraphFunction(found));

  OwningOpRef<ModuleOp> copy = module.clone();
  SymbolTable symbols(*copy);
  auto chosen = symbols.lookup<func::FuncOp>(name);
  for (auto function : copy->getOps<func::FuncOp>())
    if (function != chosen)
      function.setPrivate();
  if (name != "main") {
    if (Operation *other = symbols.lookup("main"))
      (void)symbols.renameToUnique(other, {});
    if (failed(symbols.rename(chosen, "main")))
      return absl::InternalError(absl::StrCat("cannot rename '", name, "'"));
  }
  completeSignature(chosen, signature);
  if (name != "main")
    (*copy)->removeAttr(kSignatureAttr); // of another function
  CollectedDiagnostics diagnostics(module.getContext());
  FailureOr<Signature> whole = Signature::of(*copy);
  if (failed(whole))
    return absl::InvalidArgumentError(diagnostics.text());
  whole->record(*copy);
  return copy;
}

} // namespace hjx
