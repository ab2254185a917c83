// SPDX-License-Identifier: Apache-2.0
#include "lib/Frontend/Diagnostics.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace hjx::detail {

/// "8x16xui32" is "u32[8,16]".
static std::string shortType(StringRef type) {
  SmallVector<StringRef> parts;
  std::string dims;
  while (!type.empty() && isDigit(type.front())) {
    auto [size, rest] = type.split('x');
    dims += (dims.empty() ? "" : ",") + size.str();
    type = rest;
  }
  std::string element = type == "i1" ? "bool" : type.starts_with("!hjx.key") ? "key" : type.str();
  if (StringRef(element).starts_with("ui"))
    element.erase(1, 1);
  return dims.empty() ? element : element + "[" + dims + "]";
}

/// Replaces every tensor<..> and the quotes around it; angle brackets nest in key types.
static std::string shortTypes(StringRef text) {
  constexpr StringLiteral open("tensor<");
  std::string result;
  for (size_t at; (at = text.find(open)) != StringRef::npos;) {
    bool isQuoted = at > 0 && text[at - 1] == '\'';
    result += text.take_front(at - isQuoted);
    text = text.drop_front(at + open.size());
    size_t end = 0;
    for (int depth = 1; end < text.size(); ++end) {
      depth += text[end] == '<';
      depth -= text[end] == '>' && (end == 0 || text[end - 1] != '-');
      if (depth == 0)
        break;
    }
    result += shortType(text.take_front(end));
    text = text.drop_front(std::min(end + 1, text.size()));
    if (isQuoted)
      text.consume_front("'");
  }
  return result + text.str();
}

/// What to do, by operation and constraint.
static StringRef remedyFor(StringRef op, StringRef constraint) {
  return StringSwitch<StringRef>((op + "." + constraint).str())
      .Case("dot_general.C1", "convert one operand: x.astype(type)")
      .Case("dot_general.C2", "name every dimension once, as contracting or as batching")
      .Case("dot_general.C3", "pair every dimension of one side with one of the other")
      .Case("dot_general.C4", "transpose an operand, or contract other dimensions")
      .Case("dot_general.C5", "leave the accumulation type out, or choose one of the operands' kind")
      .Case("slice.C1", "give start, limit and strides one entry for each dimension")
      .Case("slice.C2", "keep 0 <= start <= limit <= size in each dimension")
      .Case("slice.C3", "use positive strides, and hjx::flip to reverse")
      .Case("dynamic_slice.C2", "give one size for each dimension, none larger than the dimension")
      .Case("dynamic_update_slice.C2", "the update needs the array's number of dimensions and must fit inside")
      .Case("random_bits.C1", "choose 8, 16, 32 or 64 bits")
      .Default("check the shapes and element types of the operands");
}

/// What the user calls an operation.
static StringRef nameForUser(StringRef op) {
  return StringSwitch<StringRef>(op)
      .Case("ref_get", "get")
      .Case("ref_swap", "set")
      .Case("ref_add", "add")
      .Default(op);
}

Explained explainCompilation(const std::string &diagnostics) {
  StringRef text = StringRef(diagnostics).split('\n').first;
  size_t found = text.find("loc(");
  if (found == StringRef::npos) {
    auto [message, help] = StringRef(diagnostics).split("\n  help: ");
    return {message.str(), help.empty() ? "report this as a bug of hjx, with the program" : help.str()};
  }
  text = text.drop_front(found);
  // The user's file without its folders, as in the message's own place.
  std::string place;
  if (text.consume_front("loc(\"")) {
    auto [file, rest] = text.split("\":");
    auto [line, after] = rest.split(':');
    place = " at " + file.rsplit('/').second.str() + ":" + line.str();
    if (!file.contains('/'))
      place = " at " + file.str() + ":" + line.str();
    text = after;
  }
  text = text.split("): ").second;
  std::string subject = "the program" + place + ": ";
  StringRef name;
  if (text.consume_front("'")) {
    std::tie(name, text) = text.split("' op ");
    name.consume_front("hjx.");
    subject = name == "func.func" ? "the function" + place + ": " : "the " + nameForUser(name).str() + place + " ";
  }
  if (text.starts_with("\"") && (name.empty() || name == "call_primitive" || name == "primitive_lin")) {
    std::tie(name, text) = text.drop_front().split("\"");
    subject = "the primitive " + name.str() + place;
  }
  auto [message, remedy] = text.rsplit("; ");
  return {subject + shortTypes(message), remedy.empty() ? "see docs/errors.md" : shortTypes(remedy)};
}

Explained explain(const std::string &diagnostic) {
  StringRef text(diagnostic);
  StringRef op, constraint;
  if (text.consume_front("'")) { // 'hjx.op' op message
    std::tie(op, text) = text.split('\'');
    text.consume_front(" op ");
  } else if (size_t colon = text.find(": "); colon != StringRef::npos && !text.take_front(colon).contains(' ')) {
    op = text.take_front(colon); // op: message
    text = text.drop_front(colon + 2);
  }
  op.consume_front("hjx.");
  if (text.consume_front("(")) {
    std::tie(constraint, text) = text.split(')');
    text = text.ltrim();
  }
  if (op == "call_primitive" && text.consume_front("\"")) // The name is the subject of the message already.
    text = text.split("\": ").second;
  if (auto [message, remedy] = text.rsplit("; "); !remedy.empty()) // A user's rule says its own.
    return {shortTypes(message), shortTypes(remedy)};
  return {shortTypes(text), remedyFor(op, constraint).str()};
}

} // namespace hjx::detail
