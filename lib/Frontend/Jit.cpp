// SPDX-License-Identifier: Apache-2.0
//
// The cache behind jit: from the key of a call to its program.
#include "lib/Frontend/Request.h"
#include "lib/Frontend/Run.h"
#include "runtime/Environment.h"

#include <hjx/jit.h>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

using namespace mlir;

namespace hjx::detail {

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

JitCall::JitCall(const void *instantiation, Where where) : where(where) {
  key.assign(reinterpret_cast<const char *>(&instantiation), sizeof(instantiation));
}
JitCall::~JitCall() = default;

template <typename T>
static void append(std::string &key, T value) {
  key.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

static void append(std::string &key, const Shape &shape) {
  append(key, shape.ndim());
  for (int64_t size : shape)
    append(key, size);
}

static void append(std::string &key, const std::string &text) {
  append(key, text.size());
  key += text;
}

// Types begin with a byte that is 0 for no value, 127 for a hi-type, else an array's element type.
static void append(std::string &key, const hjx::Type &type);

static void append(std::string &key, const HiTypeData &type) {
  key += '\x7f';
  append(key, type.name);
  append(key, type.params.size());
  for (const TypeParam &param : type.params) {
    key += param.type() ? 't' : param.text() ? 's' : 'd';
    param.type() ? append(key, *param.type()) : param.text() ? append(key, *param.text()) : append(key, *param.shape());
  }
}

static void append(std::string &key, DType dtype, const Shape &shape) {
  key += static_cast<char>(dtype) + 1;
  append(key, shape);
}

static void append(std::string &key, const hjx::Type &type) {
  type.is_array() ? append(key, type.dtype(), type.shape()) : append(key, *Access::data(type));
}

void JitCall::leaf(Array &array) {
  leaves.push_back(array);
  if (!array.has_value()) {
    key += '\0';
    return;
  }
  const ArrayImpl &impl = Access::alive(array, "jit", where);
  impl.hi ? append(key, *impl.hi) : append(key, impl.dtype, impl.shape);
  key += static_cast<char>(impl.isWeak + 2 * impl.isRef);
}

void JitCall::begin(NodeKind kind, const char *, size_t count) {
  if (kind != NodeKind::Tuple && kind != NodeKind::Struct) // Those are told apart by their C++ type.
    append(key, count);
}
void JitCall::child(const std::string &name) { text(name); }
void JitCall::integer(int64_t value) { append(key, value); }
void JitCall::real(double value) { append(key, value); }
void JitCall::text(std::string_view value) {
  append(key, value.size());
  key += value;
}

//===----------------------------------------------------------------------===//
// JitCache
//===----------------------------------------------------------------------===//

/// One compiled program.
struct JitProgram {
  std::shared_ptr<const PlacedProgram> code;
  std::vector<Array> lifted, placedLike;
  Demand demand;
  std::vector<Layout> results;
  std::shared_ptr<const void> prototype;
  /// Leaves that the call consumes, and for each result the argument that stores it or -1.
  std::vector<size_t> donated;
  std::vector<int> aliases;
  TreeDef structure;
  std::vector<Aval> arguments;
  bool takesRefs = false;
  /// What the first call ran, which most calls run: found without a lock.
  RuntimeDevice *firstDevice = nullptr;
  const Executable *firstExecutable = nullptr;
};

class JitCache {
public:
  JitCache(JitOptions options, Where where) : options(std::move(options)), where(where) {}

  std::shared_ptr<const JitProgram> find(const std::string &key) {
    absl::MutexLock lock(&mutex);
    ++stats.calls;
    auto it = programs.find(key);
    return it == programs.end() ? nullptr : it->second;
  }

  std::shared_ptr<const JitProgram> insert(const std::string &key, std::shared_ptr<const JitProgram> program,
                                           JitStats::Compilation compilation) {
    absl::MutexLock lock(&mutex);
    auto [it, isNew] = programs.try_emplace(key, program);
    if (isNew) {
      stats.compilations.push_back(std::move(compilation));
      order.push_back(program);
    }
    return it->second;
  }

  /// A program was compiled once more, for another kind of device.
  void noteCompilation(JitStats::Compilation compilation) {
    absl::MutexLock lock(&mutex);
    stats.compilations.push_back(std::move(compilation));
  }

  JitStats snapshot() {
    absl::MutexLock lock(&mutex);
    return stats;
  }

  /// How the arguments differ from those of the program that they resemble most.
  std::string explain(const TreeDef &structure, const std::vector<Aval> &arguments);

  const JitOptions options;
  const Where where;

private:
  absl::Mutex mutex;
  absl::flat_hash_map<std::string, std::shared_ptr<const JitProgram>> programs ABSL_GUARDED_BY(mutex);
  std::vector<std::shared_ptr<const JitProgram>> order ABSL_GUARDED_BY(mutex);
  JitStats stats ABSL_GUARDED_BY(mutex);
};

static std::string describeWeak(const Aval &aval) { return (aval.isWeak ? "weak " : "") + describe(aval); }

/// "args[0].w" is a child of "args[0]".
static bool isChild(StringRef path, StringRef parent) {
  return path.consume_front(parent) && !path.empty() && (path.front() == '.' || path.front() == '[');
}

/// What differs, and how much: other numbers and strings count as other types do, other containers
/// much more, since nothing after them can be compared.
static std::pair<size_t, std::string> differenceOf(const JitProgram &program, const TreeDef &structure,
                                                   const std::vector<Aval> &arguments) {
  constexpr size_t kContainers = 1000, kTypes = 2000, kShown = 4;
  size_t count = 0;
  std::string text;
  auto add = [&](const std::string &path, const std::string &is, const std::string &was) {
    if (count++ < kShown)
      text += (text.empty() ? "" : "; ") + path + " is " + is + ", was " + was;
  };
  const std::vector<TreeDef::Entry> &is = structure.entries, &was = program.structure.entries;
  size_t leaf = 0;
  for (size_t i = 0; i < is.size(); ++i) {
    bool isSamePlace = i < was.size() && is[i].path == was[i].path && is[i].isLeaf == was[i].isLeaf;
    bool isContainer = i + 1 < is.size() && isChild(is[i + 1].path, is[i].path);
    if (!isSamePlace || (is[i].what != was[i].what && isContainer))
      return {kContainers, "the structure differs: " + program.structure.difference(structure)};
    if (is[i].what != was[i].what)
      add(is[i].path, is[i].what, was[i].what);
    if (!is[i].isLeaf)
      continue;
    const Aval &type = arguments[leaf], &before = program.arguments[leaf];
    ++leaf;
    if (!type.sameType(before) || type.isWeak != before.isWeak)
      add(is[i].path, describeWeak(type), describeWeak(before));
  }
  if (is.size() != was.size())
    return {kContainers, "the structure differs: " + program.structure.difference(structure)};
  if (count == 0)
    return {kTypes, "the arguments have other C++ types"};
  if (count > kShown)
    text += "; and " + std::to_string(count - kShown) + " more";
  return {count, text};
}

std::string JitCache::explain(const TreeDef &structure, const std::vector<Aval> &arguments) {
  absl::MutexLock lock(&mutex);
  if (order.empty())
    return "first call";
  std::string best;
  size_t fewest = ~size_t(0);
  for (const auto &program : order) {
    auto [count, text] = differenceOf(*program, structure, arguments);
    if (count < fewest) {
      fewest = count;
      best = text;
    }
  }
  return best;
}

std::shared_ptr<JitCache> makeJitCache(JitOptions options, Where where) {
  return std::make_shared<JitCache>(std::move(options), where);
}
JitStats statsOf(JitCache &cache) { return cache.snapshot(); }

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static std::string signatureOf(const std::vector<Aval> &arguments) {
  constexpr size_t kShown = 12;
  std::string text = "(";
  for (size_t i = 0; i < std::min(arguments.size(), kShown); ++i)
    text += (i ? ", " : "") + describeWeak(arguments[i]);
  if (arguments.size() > kShown)
    text += ", ... " + std::to_string(arguments.size()) + " arrays";
  return text + ")";
}

/// Leaves of the donated arguments.
static std::vector<size_t> donatedLeaves(const JitCache &cache, const JitCall &call) {
  std::vector<size_t> leaves;
  int numArguments = call.argumentEnds.size();
  for (int number : cache.options.donate) {
    if (number < 0 || number >= numArguments)
      fail(cache.where, "jit", "cannot donate argument " + std::to_string(number) + " of " + std::to_string(numArguments),
           "count arguments from 0");
    for (size_t i = number ? call.argumentEnds[number - 1] : 0; i < call.argumentEnds[number]; ++i)
      // A ref is updated in place anyway.
      if (!llvm::is_contained(leaves, i) && !(call.leaves[i].has_value() && Access::get(call.leaves[i])->isRef))
        leaves.push_back(i);
  }
  return leaves;
}

/// Gives each donated argument the first free result of its type, and marks them for the compiler.
static std::vector<int> assignAliases(func::FuncOp main, const std::vector<size_t> &donated) {
  std::vector<int> aliases(main.getNumResults(), -1);
  Builder b(main.getContext());
  for (size_t argument : donated) {
    main.setArgAttr(argument, "hjx.donated", b.getUnitAttr());
    for (unsigned result = 0; result < main.getNumResults(); ++result)
      if (aliases[result] < 0 && main.getResultTypes()[result] == main.getArgumentTypes()[argument]) {
        aliases[result] = argument;
        main.setArgAttr(argument, "hjx.alias", b.getI64IntegerAttr(result));
        break;
      }
  }
  return aliases;
}

/// HJX_EXPLAIN_RETRACES: says on standard error why a call compiles again, as it happens.
static void reportRetrace(const JitCache &cache, Where where, const std::string &reason) {
  if (!explainRetraces() || reason == "first call")
    return;
  std::fprintf(stderr, "%s: jit: %s of %s compiles again: %s\n", placeOf(where).c_str(), cache.options.name.c_str(),
               placeOf(cache.where).c_str(), reason.c_str());
}

/// Where a call runs. Arguments that the program does not use have their say, too.
static Place placeOf(const JitProgram &program, const ArrayList &leaves, const JitOptions &options, const Call &call) {
  if (options.device.has_value())
    return {&deviceOf(options.device, call), true};
  return choosePlace({leaves, program.lifted, program.placedLike}, call, program.demand, [&](size_t number) {
    return number < leaves.size() ? pathsOf(program.structure)[number] : "the captured constant";
  });
}

static std::shared_ptr<const JitProgram> compileCall(JitCache &cache, JitCall &call, FlatFunction record,
                                                     std::shared_ptr<const void> &prototype, TreeDef structure) {
  absl::Time start = absl::Now();
  Call jit("jit", call.where);
  auto program = std::make_shared<JitProgram>();
  program->arguments = avalsOf(call.leaves, jit);
  program->structure = std::move(structure);
  std::string reason = cache.explain(program->structure, program->arguments);
  reportRetrace(cache, call.where, reason);

  std::vector<std::string> paths = pathsOf(program->structure);
  checkDistinctRefs(jit, call.leaves, paths);
  Session session(Constants::Refuse);
  if (cache.options.device.has_value())
    demandDevice(session, deviceOf(cache.options.device, jit), {"jit", cache.where});
  for (const Aval &aval : session.recordMain(call.leaves, record, jit, "main", paths))
    program->results.push_back(layoutOf(aval, jit));
  program->prototype = prototype;
  program->donated = donatedLeaves(cache, call);
  auto main = session.module().lookupSymbol<func::FuncOp>("main");
  program->aliases = assignAliases(main, program->donated);
  program->lifted = session.lifted();
  program->placedLike = session.placedLike;
  program->demand = session.demand;
  checkCapturedRefs(jit, call.leaves, program->lifted, paths);
  program->takesRefs = llvm::any_of(program->arguments, [](const Aval &aval) { return aval.isRef; });
  program->code = std::make_shared<PlacedProgram>(session.release());
  // Nothing that does not compile is kept.
  program->firstDevice = placeOf(*program, call.leaves, cache.options, jit).device;
  absl::StatusOr<const Executable *> executable = program->code->on(*program->firstDevice);
  if (!executable.ok())
    failToCompile(jit, executable.status());
  program->firstExecutable = *executable;
  return cache.insert(call.key, program,
                      {signatureOf(program->arguments), reason, absl::ToDoubleSeconds(absl::Now() - start)});
}

//===----------------------------------------------------------------------===//
// Calling
//===----------------------------------------------------------------------===//

static const Executable &executableOn(JitCache &cache, const JitProgram &program, RuntimeDevice &device, const Call &call) {
  if (&device == program.firstDevice)
    return *program.firstExecutable;
  absl::Time start = absl::Now();
  bool wasCompiled = false;
  absl::StatusOr<const Executable *> executable = program.code->on(device, &wasCompiled);
  if (!executable.ok())
    failToCompile(call, executable.status());
  if (wasCompiled) {
    std::string reason = "another kind of device: " + device.name();
    reportRetrace(cache, call.where(), reason);
    cache.noteCompilation({signatureOf(program.arguments), reason, absl::ToDoubleSeconds(absl::Now() - start)});
  }
  return **executable;
}

static ArrayList runProgram(JitCache &cache, const JitProgram &program, const ArrayList &leaves, Where where) {
  Call call("jit", where);
  if (program.takesRefs) {
    std::vector<std::string> paths = pathsOf(program.structure);
    checkDistinctRefs(call, leaves, paths);
    checkCapturedRefs(call, leaves, program.lifted, paths);
  }
  Place place = placeOf(program, leaves, cache.options, call);
  RuntimeDevice &device = *place.device;
  const Executable &executable = executableOn(cache, program, device, call);
  Inputs inputs;
  SmallVector<size_t> firstInput; // Of each leaf: hi values are as many as they have components.
  for (const ArrayList *list : {&leaves, &program.lifted})
    for (const Array &leaf : *list) {
      firstInput.push_back(inputs.pointers.size());
      inputs.append(leaf, device, call);
    }
  // Consumed once every argument has been looked at: one array may come twice.
  SmallVector<SmallVector<Storage, 1>> donated(leaves.size());
  for (size_t i : program.donated)
    consume(leaves[i], call, [&](Storage storage) { donated[i].push_back(std::move(storage)); });
  ArrayList results;
  results.reserve(program.results.size());
  SmallVector<void *> outputs;
  for (auto [layout, argument] : llvm::zip_equal(program.results, program.aliases)) {
    size_t component = 0;
    auto makeStorage = [&](const Aval &aval) {
      Storage storage;
      if (argument < 0) {
        storage = allocate(aval, device, where);
      } else {
        const void *&input = inputs.pointers[firstInput[argument] + component];
        storage = std::move(donated[argument][component]);
        if (storage->data() != input) { // It came from another device: the copy is nobody else's.
          storage = inputs.takeCopy(firstInput[argument] + component);
        } else if (storage.use_count() > 1 || !storage->isWritable()) { // Shared with a reshaped array: that one keeps it.
          Storage copy = allocate(aval, device, where);
          if (absl::Status status = device.copyOnDevice(copy->data(), input, copy->sizeBytes()); !status.ok())
            failWith(status, call);
          storage = std::move(copy);
          input = storage->data();
        }
      }
      ++component;
      outputs.push_back(storage->data());
      return storage;
    };
    results.push_back(assemble(layout, makeStorage, where, place.isCommitted));
  }
  absl::Status status = executable.run(absl::MakeConstSpan(inputs.pointers.data(), inputs.pointers.size()),
                                       absl::MakeSpan(outputs.data(), outputs.size()));
  if (!status.ok())
    failWith(status, call);
  return results;
}

/// Inside a trace: a call of a private function.
static ArrayList recordCall(const JitCache &cache, const ArrayList &leaves, FlatFunction record, const TreeDef &structure,
                            Where where) {
  OpScope op("jit", where);
  if (cache.options.device.has_value())
    demandDevice(op.session(), deviceOf(cache.options.device, op), {"jit", cache.where});
  std::vector<std::string> paths = pathsOf(structure);
  checkDistinctRefs(op, leaves, paths);
  std::string name = cache.options.name == "main" ? "jit_fn" : cache.options.name;
  TracedFunction traced = op.session().recordFunction(name, avalsOf(leaves, op), record, op, paths);
  auto call = func::CallOp::create(op.builder(), traced.function, operandsOf(op, leaves, traced, paths));
  return wrapAll(op, call.getResults(), traced.results);
}

JitResult callJit(JitCache &cache, JitCall &call, FlatFunction record, std::shared_ptr<const void> &prototype,
                  TreeDef (*structure)(const void *args), const void *args) {
  if (Frame::current()) {
    ArrayList leaves = recordCall(cache, call.leaves, record, structure(args), call.where);
    return {std::move(leaves), prototype};
  }
  std::shared_ptr<const JitProgram> program = cache.find(call.key);
  if (!program)
    program = compileCall(cache, call, record, prototype, structure(args));
  return {runProgram(cache, *program, call.leaves, call.where), program->prototype};
}

} // namespace hjx::detail

std::string hjx::JitStats::explain() const {
  std::string text = std::to_string(calls) + " calls, " + std::to_string(compilations.size()) + " programs\n";
  for (const Compilation &compilation : compilations) {
    char seconds[32];
    std::snprintf(seconds, sizeof(seconds), "%.3f s", compilation.seconds);
    text += "  " + compilation.signature + " in " + seconds + ": " + compilation.reason + "\n";
  }
  return text;
}
