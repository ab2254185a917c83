// SPDX-License-Identifier: Apache-2.0
#include "lib/Frontend/Trace.h"

#include "lib/Frontend/OpScope.h"
#include "lib/Frontend/Placement.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace hjx::detail {

static thread_local Frame *currentFrame = nullptr;

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

Frame *Frame::current() { return currentFrame; }

/// How many functions surround a new one: none does that hundreds of times except by calling itself.
static int depthUnder(const Frame *parent, Where where) {
  constexpr int kMost = 200;
  int depth = parent ? parent->depth + 1 : 0;
  if (depth > kMost)
    fail(where, "trace", "expected at most " + std::to_string(kMost) + " traced functions inside each other, got more",
         "a traced function that calls itself never ends: repeat with hjx::while_loop");
  return depth;
}

Frame::Frame(Session &session, Kind kind, llvm::ArrayRef<Aval> arguments, Where where)
    : session(session), parent(currentFrame), depth(depthUnder(parent, where)), kind(kind), place(where),
      builder(locationOf(where, &session.context()), &session.context()), body(std::make_unique<Region>()),
      tag(std::make_shared<FrameTag>(FrameTag{this})), avals(arguments.begin(), arguments.end()), previous(currentFrame),
      outerScope(std::exchange(OpScope::current(), nullptr)) {
  Block &block = body->emplaceBlock();
  for (const Aval &aval : avals)
    block.addArgument(typeOf(aval, &session.context()), builder.getLoc());
  builder.setInsertionPointToEnd(&block);
  currentFrame = this;
}

Frame::Frame(Session &session, ImplicitLocOpBuilder &b)
    : session(session), parent(nullptr), depth(depthUnder(currentFrame, Where())), kind(Kind::Rule), builder(b), tag(std::make_shared<FrameTag>(FrameTag{this})),
      previous(currentFrame), outerScope(std::exchange(OpScope::current(), nullptr)) {
  currentFrame = this;
}

void Frame::setPlace(Where where) {
  if (kind != Kind::Rule)
    builder.setLoc(locationOf(where, &session.context()));
}

Frame::~Frame() {
  tag->frame = nullptr;
  currentFrame = previous;
  OpScope::current() = outerScope;
}

std::vector<Array> Frame::arguments() const {
  unsigned first = kind == Kind::Region ? captured.size() : 0;
  std::vector<Array> arrays;
  for (auto [i, aval] : llvm::enumerate(avals))
    arrays.push_back(const_cast<Frame *>(this)->wrap(block()->getArgument(first + i), aval.isWeak, place));
  return arrays;
}

Array Frame::wrap(Value value, bool isWeak, Where where) {
  Array leaf = makeAbstract(isa<ir::LinearType>(value.getType()) ? Aval() : avalOf(value.getType(), isWeak), where);
  Access::get(leaf)->trace = tag;
  Access::get(leaf)->value = value.getAsOpaquePointer();
  return leaf;
}

bool Frame::encloses(const Frame *inner) const {
  for (const Frame *frame = inner; frame; frame = frame->parent)
    if (frame == this)
      return true;
  return false;
}

std::unique_ptr<Region> Frame::take() {
  // Numbers that became constants of a whole shape leave their scalars behind. Until now an array
  // of the user's could stand for one.
  if (Block &block = body->front(); block.mightHaveTerminator())
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<ir::ConstantOp>(op) && op.use_empty())
        op.erase();
  return std::move(body);
}

Value Frame::captureFromParent(Value outer) {
  Value &inner = captureOf[outer];
  if (!inner) {
    unsigned index = kind == Kind::Region ? captured.size() : block()->getNumArguments();
    inner = block()->insertArgument(index, outer.getType(), outer.getLoc());
    captured.push_back(outer);
  }
  return inner;
}

Value Frame::outerValueOf(Value inner) const {
  for (auto [outer, argument] : captureOf)
    if (argument == inner)
      return outer;
  return {};
}

Value Frame::capture(Value value, Frame &owner) {
  return this == &owner ? value : captureFromParent(parent->capture(value, owner));
}

static Value embed(const ArrayImpl &impl, Frame &frame, const Call &call) {
  RankedTensorType type = arrayTypeOf({impl.dtype, impl.shape}, &frame.session.context());
  Storage storage = impl.storage->isOnHost() ? impl.storage : moveTo(impl.storage, cpuDevice(), call);
  llvm::ArrayRef<char> bytes(storage->as<char>(), storage->sizeBytes());
  frame.setPlace(call.where());
  if (impl.dtype == DType::key) {
    Aval words{DType::uint32, impl.shape};
    std::vector<int64_t> sizes = impl.shape.vec();
    sizes.push_back(2);
    RankedTensorType wordsType = arrayTypeOf({DType::uint32, Shape(sizes)}, &frame.session.context());
    Value raw = ir::ConstantOp::create(frame.builder, wordsType, DenseElementsAttr::getFromRawBuffer(wordsType, bytes));
    return ir::RandomWrapOp::create(frame.builder, raw);
  }
  if (impl.dtype == DType::bool_) { // Packed in an attribute, a byte in memory.
    llvm::SmallVector<bool> bits;
    for (char byte : bytes)
      bits.push_back(byte != 0);
    return ir::ConstantOp::create(frame.builder, type, DenseElementsAttr::get(type, bits));
  }
  return ir::ConstantOp::create(frame.builder, type, DenseElementsAttr::getFromRawBuffer(type, bytes));
}

Value Frame::use(const Array &array, const Call &call) {
  ArrayImpl &impl = Access::leaf(array, call.name(), call.where());
  if (impl.value) {
    Frame *owner = impl.trace->frame;
    if (!owner || !owner->encloses(this))
      call.fail("the traced " + describe(array) + ", made at " + placeOf(impl.where) + ", has leaked out of the function that was traced",
              remedyForLeak(impl));
    return capture(Value::getFromOpaquePointer(impl.value), *owner);
  }
  if (!impl.isConcrete())
    call.fail(std::string("expected ") + (impl.isArray() ? "an array with numbers" : "a concrete value") + ", got the abstract " +
                  describe(array),
              "pass it to the traced function as an argument");
  return useConcrete(array, call);
}

Value Frame::useConcrete(const Array &array, const Call &call) {
  ArrayImpl &impl = *Access::get(array);
  if (impl.isRef && !session.rootFrame)
    call.fail("expected values that the rule is given, got the ref " + describe(array), "make it an operand of the primitive");
  if (impl.isRef) // A cell is never a constant.
    return capture(session.lift(array), *session.rootFrame);
  if (impl.isArray())
    (void)storageOf(array, call.name(), call.where()); // Throws for a number that does not fit its type.

  bool isOlder = impl.serial <= session.startSerial;
  if (session.constants == Constants::EmbedOwn && isOlder && !impl.isFrozen)
    call.fail("the concrete " + describe(array) + ", made at " + placeOf(impl.where) +
                  ", is not an operand of the primitive; its value of now would be compiled in and later changes would go unseen",
              "make it an operand, or freeze it: hjx::constant(x)");
  if (session.constants == Constants::Refuse && isOlder && !impl.isFrozen)
    call.fail("the concrete " + describe(array) + " is not an argument of the function that jit compiles; "
            "its value of now would be compiled in and later changes would go unseen",
            "pass it as an argument, or freeze it: hjx::constant(x)");
  if (impl.hi) { // Its components are what is captured or embedded.
    auto components = llvm::map_to_vector(*impl.parts, [&](const Array &part) { return useConcrete(part, call); });
    setPlace(call.where());
    return ir::RaiseOp::create(builder, typeOf(avalOf(array, call.name(), call.where()), &session.context()), components);
  }
  bool embedded = session.constants == Constants::Embed || session.constants == Constants::EmbedOwn ||
                  (session.constants != Constants::LiftAll && !isOlder && impl.shape.size() == 1);
  if (embedded)
    return embed(impl, *this, call);
  return capture(session.lift(array), *session.rootFrame);
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

std::shared_ptr<MLIRContext> makeContext() {
  auto context = std::make_shared<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<ir::HjxDialect, func::FuncDialect>();
  return context;
}

MLIRContext &threadContext() {
  static thread_local std::shared_ptr<MLIRContext> context = makeContext();
  return *context;
}

Session::Session(Constants constants, MLIRContext *context)
    : constants(constants), startSerial(latestSerial()), ownedContext(context ? nullptr : makeContext()),
      mlirContext(context ? context : ownedContext.get()), root(ModuleOp::create(UnknownLoc::get(mlirContext))),
      rootModule(*root) {
  collectDiagnostics();
}

Session::Session(MLIRContext *context, ModuleOp module)
    : constants(Constants::EmbedOwn), startSerial(latestSerial()), mlirContext(context), rootModule(module) {
  collectDiagnostics();
}

void Session::collectDiagnostics() {
  // Passes may run rules on several threads of one context: what others say is not for this session.
  handler = mlirContext->getDiagEngine().registerHandler([this, thread = llvm::get_threadid()](Diagnostic &diagnostic) {
    if (llvm::get_threadid() != thread)
      return failure();
    if (!diagnostics.empty())
      diagnostics += "\n";
    llvm::raw_string_ostream(diagnostics) << diagnostic;
    return success();
  });
}

Session::~Session() { mlirContext->getDiagEngine().eraseHandler(handler); }

Program Session::release() {
  assert(ownedContext && "the context is shared");
  return {ownedContext, std::move(root)};
}

std::string Session::takeDiagnostics() { return std::exchange(diagnostics, {}); }

Value Session::lift(const Array &array) {
  Value &value = liftedValues[Access::get(array).get()];
  if (!value) {
    Aval aval = avalOf(array, "capture", Where());
    value = rootFrame->block()->addArgument(typeOf(aval, mlirContext), rootFrame->builder.getLoc());
    liftedArrays.push_back(array);
  }
  return value;
}

bool Session::isLifted(Value value, const Frame &frame) const {
  if (&frame != rootFrame) {
    Value outer = frame.outerValueOf(value);
    return outer && isLifted(outer, *frame.parent);
  }
  return llvm::any_of(liftedValues, [&](const auto &entry) { return entry.second == value; });
}

std::string Session::freeNameLike(llvm::StringRef name) {
  if (!rootModule)
    fail(Where(), "rule", "expected a rule made of operations, got a transform, which needs a function of its own",
         "call the transform outside of the rule");
  std::string unique;
  do {
    unsigned count = nameCounts[name]++;
    unique = count ? (name + "_" + llvm::Twine(count)).str() : name.str();
  } while (!root && rootModule.lookupSymbol(unique)); // Another's module has names of its own.
  return unique;
}

func::FuncOp Session::addFunction(llvm::StringRef name, std::unique_ptr<Region> body, Location loc) {
  Block &block = body->front();
  auto type = FunctionType::get(mlirContext, block.getArgumentTypes(), block.getTerminator()->getOperandTypes());
  std::string unique = freeNameLike(name);
  OpBuilder builder = OpBuilder::atBlockEnd(rootModule.getBody());
  auto function = func::FuncOp::create(builder, loc, unique, type);
  function.getBody().takeBody(*body);
  return function;
}

llvm::SmallVector<func::FuncOp> Session::import(const std::string &text, const Call &call) {
  auto other = parseSourceString<ModuleOp>(text, mlirContext);
  if (!other)
    call.fail("a recorded program does not parse: " + takeDiagnostics(), "report this as a bug of hjx, with the program");
  llvm::SmallVector<func::FuncOp> functions;
  for (func::FuncOp function : llvm::make_early_inc_range(other->getOps<func::FuncOp>())) {
    std::string name;
    do // Rules that worked on this module have named functions, too.
      name = freeNameLike(function.getName());
    while (rootModule.lookupSymbol(name) || (name != function.getName() && other->lookupSymbol(name)));
    if (failed(SymbolTable::replaceAllSymbolUses(function, StringAttr::get(mlirContext, name), *other)))
      call.fail("the symbols of a recorded program cannot be renamed", "report this as a bug of hjx, with the program");
    function.setName(name);
    functions.insert(function.isPublic() ? functions.begin() : functions.end(), function);
    function.setPrivate();
  }
  rootModule.getBody()->getOperations().splice(rootModule.getBody()->end(), other->getBody()->getOperations());
  return functions;
}

std::string Frame::argumentPath(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  unsigned first = kind == Kind::Region ? captured.size() : 0;
  if (!argument || argument.getOwner() != block() || argument.getArgNumber() < first)
    return "";
  unsigned number = argument.getArgNumber() - first;
  if (number >= avals.size())
    return "";
  return number < argumentPaths.size() ? argumentPaths[number] : "argument " + std::to_string(number);
}

void Frame::refuseRefs(llvm::ArrayRef<Array> results, const Call &call) const {
  for (const Array &result : results) {
    if (!result.has_value() || !Access::get(result)->isRef)
      continue;
    const ArrayImpl &impl = *Access::get(result);
    std::string path = impl.value && owns(result) ? argumentPath(Value::getFromOpaquePointer(impl.value)) : "";
    call.fail("expected a function that returns values, got the ref " + describe(result) +
                  (path.empty() ? ", made at " + placeOf(impl.where) : ", which was passed in as " + path),
              "return what it holds, ref.get() or hjx::freeze(ref); the caller has its own refs already");
  }
}

/// Ends a function's block with the results of its body.
static std::vector<Aval> finishFunction(Frame &frame, const std::vector<Array> &results, const Call &call) {
  frame.refuseRefs(results, call);
  llvm::SmallVector<Value> values;
  std::vector<Aval> avals;
  for (const Array &result : results) {
    values.push_back(frame.use(result, call));
    avals.push_back(avalOf(result, call.name(), call.where()));
  }
  func::ReturnOp::create(frame.builder, values);
  return avals;
}

std::vector<Aval> Session::recordMain(llvm::ArrayRef<Array> arguments, FlatFunction body, const Call &call,
                                      llvm::StringRef name, const std::vector<std::string> &paths) {
  std::vector<Aval> avals;
  for (const Array &argument : arguments)
    avals.push_back(avalOf(argument, call.name(), call.where()));
  Frame frame(*this, Frame::Kind::Function, avals, call.where());
  frame.argumentPaths = paths;
  rootFrame = &frame;
  std::vector<Aval> results = finishFunction(frame, body(frame.arguments()), call);
  addFunction(name, frame.take(), locationOf(call.where(), mlirContext));
  rootFrame = nullptr;
  return results;
}

TracedFunction Session::recordFunction(llvm::StringRef name, llvm::ArrayRef<Aval> arguments, FlatFunction body,
                                       const Call &call, const std::vector<std::string> &paths) {
  Frame frame(*this, Frame::Kind::Function, arguments, call.where());
  frame.argumentPaths = paths;
  TracedFunction traced;
  traced.results = finishFunction(frame, body(frame.arguments()), call);
  traced.captures.assign(frame.captures().begin(), frame.captures().end());
  traced.function = addFunction(name, frame.take(), locationOf(call.where(), mlirContext));
  traced.function.setPrivate();
  return traced;
}

} // namespace hjx::detail
