// SPDX-License-Identifier: Apache-2.0
#include "lib/Frontend/ArrayImpl.h"

#include <string_view>

using namespace hjx;

// The file's name without its folders, as in the messages of the conventions;
// where() has the whole path.
std::string detail::placeOf(const Where &where) {
  if (where.line() == 0)
    return "";
  std::string_view file = where.file_name();
  if (size_t slash = file.rfind('/'); slash != std::string_view::npos)
    file.remove_prefix(slash + 1);
  return std::string(file) + ":" + std::to_string(where.line());
}

static std::string prefixOf(const Where &where) {
  std::string place = detail::placeOf(where);
  return place.empty() ? "" : place + ": ";
}

Error::Error(const std::string &message, const std::string &help, Where where)
    : std::runtime_error(prefixOf(where) + message + (help.empty() ? "" : "\n  help: " + help)),
      place(where), text(message), remedy(help) {}

Error::~Error() = default;

void detail::fail(Where where, const std::string &op, const std::string &message,
                  const std::string &help) {
  throw Error(op + ": " + message, help, where);
}
