// SPDX-License-Identifier: Apache-2.0
//
// One function for each section of docs/training-graph.md.
#include "lib/Execution/TrainingGraph.h"

#include "dialects/hjx/Hjx.h"
#include "lib/Data/Digest.h"
#include "lib/Data/File.h"
#include "lib/Execution/Diagnostics.h"
#include "lib/Pipelines/Register.h"

#include "mlir/Parser/Parser.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <set>

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

static std::string placeOf(Location location) {
  std::string place = "graph";
  location->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    place = absl::StrCat(file.getFilename().str(), ":", file.getLine());
    return WalkResult::interrupt();
  });
  return place;
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

static std::string describe(const GraphValue &value) { return describeTensor(value.type, value.shape); }

static absl::Status badValue(std::string_view function, const GraphValue &value, std::string_view kind,
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
  value.where = placeOf(location);

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

absl::StatusOr<GraphFunction> readGraphFunction(func::FuncOp function) {
  GraphFunction out;
  out.name = function.getSymName().str();
  out.where = placeOf(function.getLoc());
  if (function.isExternal())
    return badInput(absl::StrCat(out.where, ": ", out.name), "a function with a body", "a declaration", "define it");
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    HJX_ASSIGN_OR_RETURN(GraphValue value, readValue(out.name, "argument", i, type, function.getArgAttrDict(i),
                                                     function.getArgument(i).getLoc()));
    out.arguments.push_back(std::move(value));
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    HJX_ASSIGN_OR_RETURN(GraphValue value,
                         readValue(out.name, "result", i, type, function.getResultAttrDict(i), function.getLoc()));
    out.results.push_back(std::move(value));
  }
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
  if (!loaded.module)
    return absl::InvalidArgumentError(diagnostics.text());
  return loaded;
}

//===----------------------------------------------------------------------===//
// The four functions
//===----------------------------------------------------------------------===//

namespace {

bool isFloat(StoredType type) {
  return type == StoredType::F16 || type == StoredType::BF16 || type == StoredType::F32 || type == StoredType::F64;
}

bool isInteger(StoredType type) { return type >= StoredType::U8 && type <= StoredType::I64; }

bool sameType(const GraphValue &a, const GraphValue &b) { return a.type == b.type && a.shape == b.shape && a.isKey == b.isKey; }

/// Names are distinct, and each value has one of `roles`.
absl::Status checkRoles(const GraphFunction &function, bool areResults, const std::vector<std::string> &roles) {
  std::set<std::string> names;
  for (const GraphValue &value : areResults ? function.results : function.arguments) {
    const char *kind = areResults ? "result" : "argument";
    if (std::find(roles.begin(), roles.end(), value.role) == roles.end())
      return badValue(function.name, value, kind, absl::StrCat("hjx.role = \"", absl::StrJoin(roles, "\" or \""), "\""),
                      value.role.empty() ? "none" : absl::StrCat("\"", printable(value.role), "\""),
                      "see docs/training-graph.md for the roles");
    if (!names.insert(value.role == "state" ? value.name : value.leafName()).second)
      return badValue(function.name, value, kind, "a name of its own", "one that is taken", "rename one of the two");
  }
  return absl::OkStatus();
}

/// `inputs` and `targets`, integers of one shape.
absl::Status checkBatch(const GraphFunction &function) {
  for (const char *name : {"inputs", "targets"})
    if (GraphFunction::find(function.arguments, "batch", name) < 0)
      return badInput(absl::StrCat(function.where, ": ", function.name),
                      absl::StrCat("an argument '", name, "' with hjx.role = \"batch\""), "none",
                      "the batch is the two arguments 'inputs' and 'targets'");
  const GraphValue &inputs = function.arguments[GraphFunction::find(function.arguments, "batch", "inputs")];
  for (const GraphValue &value : function.arguments) {
    if (value.role != "batch")
      continue;
    if (value.leafName() != "inputs" && value.leafName() != "targets")
      return badValue(function.name, value, "argument", "'inputs' or 'targets'", "another name",
                      "the runner knows no other parts of a batch");
    if (!isInteger(value.type) || (value.shape.size() != 2 && value.shape.size() != 3) || numElements(value.shape) == 0)
      return badValue(function.name, value, "argument", "integers [rows, context] or [accumulation, rows, context]",
                      describe(value), "token ids are integers; the last dimension is the context");
    if (value.shape != inputs.shape)
      return badValue(function.name, value, "argument", absl::StrCat("the shape of 'inputs', ", describe(inputs)),
                      describe(value), "targets are the inputs moved by one token");
  }
  return absl::OkStatus();
}

absl::Status checkScalars(const GraphFunction &step) {
  for (const GraphValue &value : step.arguments) {
    if (value.role != "scalar")
      continue;
    std::string name = value.leafName();
    if (name != "learning_rate" && name != "step")
      return badValue(step.name, value, "argument", "'learning_rate' or 'step'", "another name",
                      "these are the scalars that the runner gives");
    StoredType type = name == "step" ? StoredType::I32 : StoredType::F32;
    if (value.type != type || !value.shape.empty())
      return badValue(step.name, value, "argument", describeTensor(type, {}), describe(value), "convert it in the graph");
  }
  return absl::OkStatus();
}

absl::Status checkMetrics(const GraphFunction &function) {
  if (GraphFunction::find(function.results, "metric", "loss") < 0)
    return badInput(absl::StrCat(function.where, ": ", function.name), "a result 'loss' with hjx.role = \"metric\"", "none",
                    "return the mean loss over the batch, in nats per token");
  for (const GraphValue &value : function.results)
    if (value.role == "metric" && (!isFloat(value.type) || !value.shape.empty()))
      return badValue(function.name, value, "result", "a float scalar", describe(value), "reduce or convert it in the graph");
  return absl::OkStatus();
}

absl::Status checkInit(const GraphFunction &init) {
  HJX_RETURN_IF_ERROR(checkRoles(init, /*areResults=*/false, {"key"}));
  HJX_RETURN_IF_ERROR(checkRoles(init, /*areResults=*/true, {"state"}));
  if (init.arguments.size() != 1)
    return badInput(absl::StrCat(init.where, ": ", init.name), "one argument, a key", absl::StrCat(init.arguments.size()),
                    "split the key inside init");
  const GraphValue &key = init.arguments[0];
  if (key.type != StoredType::U32 || key.shape != std::vector<int64_t>{2})
    return badValue(init.name, key, "argument", "one key, or U32[2]", describe(key), "split the key inside init");
  return absl::OkStatus();
}

absl::Status checkStep(const TrainingGraph &graph) {
  const GraphFunction &step = graph.step;
  HJX_RETURN_IF_ERROR(checkRoles(step, /*areResults=*/false, {"state", "batch", "scalar"}));
  HJX_RETURN_IF_ERROR(checkRoles(step, /*areResults=*/true, {"state", "metric"}));
  for (const GraphValue &state : graph.state()) {
    for (bool areResults : {false, true}) {
      const char *kind = areResults ? "result" : "argument";
      const std::vector<GraphValue> &values = areResults ? step.results : step.arguments;
      auto found = std::find_if(values.begin(), values.end(), [&](const GraphValue &value) {
        return value.role == "state" && value.name == state.name;
      });
      if (found == values.end())
        return badInput(absl::StrCat(step.where, ": ", step.name),
                        absl::StrCat("a state ", kind, " '", printable(state.name), "', as init has"), "none",
                        "init's results, step's state arguments and step's state results have the same names");
      if (!sameType(*found, state))
        return badValue(step.name, *found, kind, absl::StrCat(describe(state), ", as init's result"), describe(*found),
                        "state keeps its type from step to step");
    }
  }
  for (bool areResults : {false, true})
    for (const GraphValue &value : areResults ? step.results : step.arguments)
      if (value.role == "state" && graph.stateIndex(value.name) < 0)
        return badValue(step.name, value, areResults ? "result" : "argument", "the name of a result of init", "another name",
                        "init's results, step's state arguments and step's state results have the same names");
  HJX_RETURN_IF_ERROR(checkBatch(step));
  HJX_RETURN_IF_ERROR(checkScalars(step));
  return checkMetrics(step);
}

/// State arguments are in the state.
absl::Status checkReads(const TrainingGraph &graph, const GraphFunction &function) {
  for (const GraphValue &value : function.arguments) {
    if (value.role != "state")
      continue;
    int index = graph.stateIndex(value.name);
    if (index < 0) {
      std::vector<std::string> names;
      for (const GraphValue &state : graph.state())
        names.push_back(state.name);
      std::string nearest = nearestName(value.name, names);
      return badValue(function.name, value, "argument", "the name of a result of init", "another name",
                      nearest.empty() ? "see hjx-run inspect for the names" : absl::StrCat("did you mean '", nearest, "'?"));
    }
    if (!sameType(value, graph.state()[index]))
      return badValue(function.name, value, "argument", absl::StrCat(describe(graph.state()[index]), ", as init's result"),
                      describe(value), "convert it in the graph");
  }
  return absl::OkStatus();
}

absl::Status checkEval(const TrainingGraph &graph, const GraphFunction &eval) {
  HJX_RETURN_IF_ERROR(checkRoles(eval, /*areResults=*/false, {"state", "batch"}));
  HJX_RETURN_IF_ERROR(checkRoles(eval, /*areResults=*/true, {"metric"}));
  HJX_RETURN_IF_ERROR(checkReads(graph, eval));
  HJX_RETURN_IF_ERROR(checkBatch(eval));
  return checkMetrics(eval);
}

absl::Status checkLogits(const TrainingGraph &graph, const GraphFunction &logits) {
  HJX_RETURN_IF_ERROR(checkRoles(logits, /*areResults=*/false, {"state", "batch"}));
  HJX_RETURN_IF_ERROR(checkRoles(logits, /*areResults=*/true, {"logits"}));
  HJX_RETURN_IF_ERROR(checkReads(graph, logits));
  int64_t context = 0;
  for (const GraphValue &value : logits.arguments) {
    if (value.role != "batch")
      continue;
    if (value.leafName() != "tokens" || !isInteger(value.type) || value.shape.size() != 2 || value.shape[0] != 1 ||
        value.shape[1] < 1)
      return badValue(logits.name, value, "argument", "'tokens', integers [1, context]", describe(value),
                      "logits takes one row of token ids");
    context = value.shape[1];
  }
  if (context == 0)
    return badInput(absl::StrCat(logits.where, ": ", logits.name), "an argument 'tokens' with hjx.role = \"batch\"", "none",
                    "logits takes parameters and one row of token ids");
  std::vector<int64_t> shape = {1, context, graph.vocabulary};
  if (logits.results.size() != 1 || !isFloat(logits.results[0].type) || logits.results[0].shape != shape)
    return badInput(absl::StrCat(logits.where, ": ", logits.name),
                    absl::StrCat("one float result [1, ", context, ", ", graph.vocabulary, "]"),
                    logits.results.empty() ? "none" : describe(logits.results[0]),
                    "return a row of logits for each token");
  return absl::OkStatus();
}

absl::Status readAttributes(const std::string &path, TrainingGraph &graph) {
  std::string subject = absl::StrCat(path, ": hjx.training_graph");
  auto attributes = (*graph.source.module)->getAttrOfType<DictionaryAttr>("hjx.training_graph");
  if (!attributes)
    return badInput(subject, "a module with this attribute", "none", "see docs/training-graph.md; hjx::Module writes it");
  auto version = attributes.getAs<IntegerAttr>("version");
  if (!version || version.getInt() != 1)
    return badInput(subject, "version = 1 : i64", version ? absl::StrCat(version.getInt()) : "none",
                    "write the graph with the version of hjx that runs it");
  auto vocabulary = attributes.getAs<IntegerAttr>("vocabulary");
  if (!vocabulary || vocabulary.getInt() < 1)
    return badInput(subject, "vocabulary, a positive integer", vocabulary ? absl::StrCat(vocabulary.getInt()) : "none",
                    "token ids are below it");
  graph.vocabulary = vocabulary.getInt();
  auto tokenizer = attributes.getAs<StringAttr>("tokenizer");
  if (!tokenizer || (tokenizer != "bytes" && tokenizer != "gpt2"))
    return badInput(subject, "tokenizer = \"bytes\" or \"gpt2\"",
                    tokenizer ? absl::StrCat("\"", printable(tokenizer.str()), "\"") : "none", "name one of the two");
  graph.tokenizer = tokenizer.str();
  if (auto config = attributes.getAs<StringAttr>("config"))
    graph.config = config.str();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<GraphFunction>> findFunction(const TrainingGraph &graph, llvm::StringRef name) {
  ModuleOp module = *graph.source.module;
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return std::nullopt;
  HJX_ASSIGN_OR_RETURN(GraphFunction read, readGraphFunction(function));
  return read;
}

} // namespace

int TrainingGraph::stateIndex(std::string_view name) const {
  for (size_t i = 0; i < state().size(); ++i)
    if (state()[i].name == name)
      return static_cast<int>(i);
  return -1;
}

absl::StatusOr<TrainingGraph> TrainingGraph::load(const std::string &path) {
  TrainingGraph graph;
  HJX_ASSIGN_OR_RETURN(graph.source, loadModule(path));
  HJX_RETURN_IF_ERROR(readAttributes(path, graph));
  for (auto [name, target] : {std::pair{"init", &graph.init}, std::pair{"step", &graph.step}}) {
    HJX_ASSIGN_OR_RETURN(std::optional<GraphFunction> function, findFunction(graph, name));
    if (!function)
      return badInput(path, absl::StrCat("a function '", name, "'"), "none", "see docs/training-graph.md");
    *target = std::move(*function);
  }
  HJX_ASSIGN_OR_RETURN(graph.eval, findFunction(graph, "eval"));
  HJX_ASSIGN_OR_RETURN(graph.logits, findFunction(graph, "logits"));
  HJX_RETURN_IF_ERROR(checkInit(graph.init));
  HJX_RETURN_IF_ERROR(checkStep(graph));
  if (graph.eval)
    HJX_RETURN_IF_ERROR(checkEval(graph, *graph.eval));
  if (graph.logits)
    HJX_RETURN_IF_ERROR(checkLogits(graph, *graph.logits));
  return graph;
}

GraphBatch batchOf(const GraphFunction &function) {
  const std::vector<int64_t> &shape = function.arguments[GraphFunction::find(function.arguments, "batch", "inputs")].shape;
  GraphBatch batch;
  batch.context = shape.back();
  batch.rows = shape[shape.size() - 2];
  batch.accumulation = shape.size() == 3 ? shape[0] : 1;
  return batch;
}

} // namespace hjx
