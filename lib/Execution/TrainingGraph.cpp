// SPDX-License-Identifier: Apache-2.0
//
// One function for each section of docs/training-graph.md.
#include "lib/Execution/TrainingGraph.h"

#include "lib/Data/Digest.h"
#include "lib/Data/Status.h"
#include "lib/Execution/LowerModule.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <filesystem>
#include <set>

using namespace mlir;

namespace hjx {

static std::string describe(const GraphValue &value) { return describeTensor(value.type, value.shape); }

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
  const GraphFunction &step = *graph.step;
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

/// Of a state with other names and types, the whole state of this graph.
absl::Status checkConvert(const TrainingGraph &graph, const GraphFunction &convert) {
  HJX_RETURN_IF_ERROR(checkRoles(convert, /*areResults=*/false, {"state"}));
  HJX_RETURN_IF_ERROR(checkRoles(convert, /*areResults=*/true, {"state"}));
  for (const GraphValue &state : graph.state()) {
    auto found = std::find_if(convert.results.begin(), convert.results.end(), [&](const GraphValue &value) { return value.name == state.name; });
    if (found == convert.results.end())
      return badInput(absl::StrCat(convert.where, ": ", convert.name),
                      absl::StrCat("a state result '", printable(state.name), "', as init has"), "none",
                      "init's results and convert's have the same names");
    if (!sameType(*found, state))
      return badValue(convert.name, *found, "result", absl::StrCat(describe(state), ", as init's result"), describe(*found),
                      "convert it in the graph");
  }
  for (const GraphValue &value : convert.results)
    if (graph.stateIndex(value.name) < 0)
      return badValue(convert.name, value, "result", "the name of a result of init", "another name",
                      "init's results and convert's have the same names");
  return absl::OkStatus();
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

absl::Status readAttributes(const std::string &path, ModuleOp module, TrainingGraph &graph) {
  std::string subject = absl::StrCat(path, ": hjx.training_graph");
  auto attributes = module->getAttrOfType<DictionaryAttr>("hjx.training_graph");
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

} // namespace

int TrainingGraph::stateIndex(std::string_view name) const {
  for (size_t i = 0; i < state().size(); ++i)
    if (state()[i].name == name)
      return static_cast<int>(i);
  return -1;
}

static std::optional<GraphFunction> &slotOf(TrainingGraph &graph, std::string_view name) {
  return name == "step" ? graph.step : name == "eval" ? graph.eval : name == "logits" ? graph.logits : graph.convert;
}

const GraphFunction *TrainingGraph::find(std::string_view name) const {
  if (name == "init")
    return &init;
  const std::optional<GraphFunction> &function = slotOf(const_cast<TrainingGraph &>(*this), name);
  return function ? &*function : nullptr;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

absl::Status TrainingGraph::readFile(const std::string &path) {
  if (stage >= Stage::Kernel)
    return badInput(path, absl::StrCat("a folder that --dump-dir wrote, to start from the ", nameOf(stage).str(), " stage"), "a file",
                    "from that stage on a file holds one function");
  LoadedModule &source = modules_[""];
  HJX_ASSIGN_OR_RETURN(source, loadModule(path));
  HJX_RETURN_IF_ERROR(checkStage(*source.module, stage));
  sha256 = source.sha256;
  HJX_RETURN_IF_ERROR(readAttributes(path, *source.module, *this));
  auto find = [&](llvm::StringRef name, std::optional<GraphFunction> &to) -> absl::Status {
    auto function = source.module->lookupSymbol<func::FuncOp>(name);
    if (!function)
      return absl::OkStatus();
    HJX_ASSIGN_OR_RETURN(to, readGraphFunction(function));
    return absl::OkStatus();
  };
  std::optional<GraphFunction> required;
  HJX_RETURN_IF_ERROR(find("init", required));
  if (!required)
    return badInput(path, "a function 'init'", "none", "see docs/training-graph.md");
  init = std::move(*required);
  for (const char *name : kOptionalFunctions)
    HJX_RETURN_IF_ERROR(find(name, slotOf(*this, name)));
  return absl::OkStatus();
}

absl::Status TrainingGraph::readFolder(const std::string &path) {
  std::string attributes;
  for (const char *name : {"init", "step", "eval", "logits", "convert"}) {
    std::string file = absl::StrCat(path, "/", name, "/", dumpName(stage));
    bool isOptional = name != std::string_view("init");
    if (std::error_code error; !std::filesystem::exists(file, error)) {
      if (isOptional && !std::filesystem::exists(absl::StrCat(path, "/", name), error))
        continue;
      return badInput(file, absl::StrCat("the ", nameOf(stage).str(), " stage of '", name, "'"), "no such file",
                      "hjx-run inspect GRAPH --dump-dir writes all stages of all functions");
    }
    LoadedModule &source = modules_[name];
    HJX_ASSIGN_OR_RETURN(source, loadModule(file));
    HJX_RETURN_IF_ERROR(checkStage(*source.module, stage));
    HJX_ASSIGN_OR_RETURN(GraphFunction function, readGraphFunction(*source.module, name));
    if (isOptional)
      slotOf(*this, name) = std::move(function);
    else
      init = std::move(function);
    sha256 += source.sha256;
    // Printed: each file has a context of its own.
    std::string text;
    llvm::raw_string_ostream(text) << (*source.module)->getAttr("hjx.training_graph");
    if (modules_.size() == 1) {
      attributes = text;
      HJX_RETURN_IF_ERROR(readAttributes(file, *source.module, *this));
    } else if (text != attributes) {
      return badInput(file, "the hjx.training_graph of init", "another", "take all functions from the dumps of one graph");
    }
  }
  sha256 = sha256Hex(sha256);
  return absl::OkStatus();
}

absl::StatusOr<TrainingGraph> TrainingGraph::load(const std::string &path, Stage stage) {
  TrainingGraph graph;
  graph.stage = stage;
  std::error_code error;
  HJX_RETURN_IF_ERROR(std::filesystem::is_directory(path, error) ? graph.readFolder(path) : graph.readFile(path));
  HJX_RETURN_IF_ERROR(checkInit(graph.init));
  if (graph.step)
    HJX_RETURN_IF_ERROR(checkStep(graph));
  if (graph.eval)
    HJX_RETURN_IF_ERROR(checkEval(graph, *graph.eval));
  if (graph.logits)
    HJX_RETURN_IF_ERROR(checkLogits(graph, *graph.logits));
  if (graph.convert)
    HJX_RETURN_IF_ERROR(checkConvert(graph, *graph.convert));
  return graph;
}

absl::StatusOr<OwningOpRef<ModuleOp>> TrainingGraph::program(const std::string &name) const {
  if (auto own = modules_.find(name); own != modules_.end())
    return extractFunction(*own->second.module, "main", stage);
  return extractFunction(*modules_.at("").module, name, stage);
}

std::vector<ModuleOp> TrainingGraph::modules() const {
  std::vector<ModuleOp> modules;
  for (const auto &[name, loaded] : modules_)
    modules.push_back(*loaded.module);
  return modules;
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
