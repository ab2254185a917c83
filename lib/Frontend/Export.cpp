// SPDX-License-Identifier: Apache-2.0
//
// Modules as text and files: make_ir, eval_shape, Module.
#include "hjx/export.h"

#include "lib/Execution/Compiler.h"
#include "lib/Frontend/Request.h"
#include "lib/Frontend/Run.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace hjx;
using namespace hjx::detail;

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().elideLargeElementsAttrs(64));
  return text;
}

std::string hjx::detail::makeIr(Where where, const ArrayList &args, bool expanded, FlatFunction f) {
  Call call("make_ir", where);
  Session session(Constants::Embed);
  session.recordMain(args, f, call);
  refuseDemand(session, call);
  if (expanded) {
    absl::Status status = expandTransforms(session.module());
    if (!status.ok())
      failToCompile(call, status);
  }
  return textOf(session.module());
}

ArrayList hjx::detail::evalShape(Where where, const ArrayList &args, FlatFunction f) {
  // f may use traced arrays of the functions around it: types are compared within one context.
  Session session(Constants::Embed, Frame::current() ? &Frame::current()->session.context() : nullptr);
  ArrayList shapes;
  for (const Aval &aval : session.recordMain(args, f, Call("eval_shape", where)))
    shapes.push_back(makeAbstract(aval, where));
  return shapes;
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

struct Module::Impl {
  Session session{Constants::Embed};
};

Module::Module() : impl(std::make_unique<Impl>()) {}
Module::~Module() = default;
Module::Module(Module &&) noexcept = default;
Module &Module::operator=(Module &&) noexcept = default;

void Module::record_function(const std::string &name, const Signature &signature, const ExportOptions &options,
                             const std::vector<std::string> &resultNames, FlatFunction f, Where where) {
  Session &session = impl->session;
  Call call("Module::add", where);
  if (name.empty())
    call.fail("expected a name for the function, got none", "tools call the function by its name");
  if (session.module().lookupSymbol(name))
    call.fail("the module has a function named " + name + " already", "give every function its own name");
  session.recordMain(signature.leaves, f, call, name);
  refuseDemand(session, call);
  auto function = session.module().lookupSymbol<func::FuncOp>(name);

  Builder b(&session.context());
  for (auto [i, argName] : llvm::enumerate(signature.names))
    function.setArgAttr(i, "hjx.name", b.getStringAttr(argName));
  for (auto [i, resultName] : llvm::enumerate(resultNames))
    function.setResultAttr(i, "hjx.name", b.getStringAttr(resultName));
  for (int donated : options.donate) {
    if (donated < 0 || donated >= static_cast<int>(signature.ends.size()))
      call.fail("cannot donate argument " + std::to_string(donated) + " of " + std::to_string(signature.ends.size()),
                "count arguments from 0");
    for (size_t i = donated ? signature.ends[donated - 1] : 0; i < signature.ends[donated]; ++i)
      function.setArgAttr(i, "hjx.donated", b.getUnitAttr());
  }
}

static Attribute attributeOf(MLIRContext *context, const AttributeValue &value) {
  Builder b(context);
  switch (value.kind) {
  case AttributeValue::Bool:
    return b.getBoolAttr(value.integer);
  case AttributeValue::Integer:
    return b.getI64IntegerAttr(value.integer);
  case AttributeValue::Real:
    return b.getF64FloatAttr(value.real);
  case AttributeValue::Text:
    return b.getStringAttr(value.text);
  }
  return {};
}

/// MLIR refuses other names of attributes that no op defines.
static void checkAttributeName(StringRef name, Where where) {
  auto [prefix, rest] = name.split('.');
  if (prefix.empty() || rest.empty())
    fail(where, "set_attribute", "expected an attribute's name with a prefix, got \"" + name.str() + "\"",
         "name it after the tool that reads it: \"tool." + (name.empty() ? "name" : name.str()) + "\"");
}

void Module::set_attribute(const std::string &name, const AttributeValue &value, Where where) {
  checkAttributeName(name, where);
  impl->session.module()->setAttr(name, attributeOf(&impl->session.context(), value));
}

void Module::set_attribute(const std::string &name, const AttributeMap &values, Where where) {
  checkAttributeName(name, where);
  SmallVector<NamedAttribute> entries;
  for (const auto &[key, value] : values)
    entries.emplace_back(StringAttr::get(&impl->session.context(), key), attributeOf(&impl->session.context(), value));
  impl->session.module()->setAttr(name, DictionaryAttr::get(&impl->session.context(), entries));
}

/// "state" is at or above "state.params.w" and "state[0]".
static bool isUnder(StringRef path, StringRef root) {
  return path.consume_front(root) && (path.empty() || path.front() == '.' || path.front() == '[');
}

void Module::set_attribute(const std::string &functionName, const std::string &path, const std::string &name,
                           const AttributeValue &value, Where where) {
  auto function = impl->session.module().lookupSymbol<func::FuncOp>(functionName);
  if (!function)
    fail(where, "set_attribute", "the module has no function named " + functionName, "add it first");
  checkAttributeName(name, where);
  Attribute attribute = attributeOf(&impl->session.context(), value);
  bool isFound = false;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto argName = function.getArgAttrOfType<StringAttr>(i, "hjx.name"); argName && isUnder(argName, path)) {
      function.setArgAttr(i, name, attribute);
      isFound = true;
    }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto resultName = function.getResultAttrOfType<StringAttr>(i, "hjx.name"); resultName && isUnder(resultName, path)) {
      function.setResultAttr(i, name, attribute);
      isFound = true;
    }
  if (!isFound)
    fail(where, "set_attribute", functionName + " has no argument or result named " + path, "see the names in text()");
}

std::string Module::text() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  impl->session.module().print(os);
  return text;
}

std::string Module::transformed_text(Where where) const {
  OwningOpRef<ModuleOp> copy = impl->session.module().clone();
  absl::Status status = expandTransforms(*copy);
  if (!status.ok())
    failToCompile(Call("Module", where), status);
  return textOf(*copy);
}

void Module::write(const std::string &path, Where where) const {
  std::error_code error;
  llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_None);
  if (error)
    fail(where, "Module::write", "cannot write " + path + ": " + error.message(), "check the folder and its permissions");
  if (StringRef(path).ends_with(".mlirbc")) {
    if (failed(writeBytecodeToFile(impl->session.module(), file.os())))
      fail(where, "Module::write", "cannot encode the module as bytecode", "write text instead: a path that ends in .mlir");
  } else {
    impl->session.module().print(file.os(), OpPrintingFlags().enableDebugInfo());
  }
  file.keep();
}
