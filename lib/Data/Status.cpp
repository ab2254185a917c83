// SPDX-License-Identifier: Apache-2.0
//
// The three sentences of an error message, and what makes foreign text safe to print.
#include "lib/Data/Status.h"

#include "lib/Data/Utf8.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

namespace hjx {

absl::Status badInput(std::string_view subject, std::string_view expected, std::string_view got,
                      std::string_view remedy) {
  std::string message;
  for (std::string_view part :
       {subject, std::string_view(": expected "), expected, std::string_view(", got "), got,
        std::string_view("\n  help: "), remedy})
    message.append(part);
  return absl::InvalidArgumentError(message);
}

absl::Status systemError(std::string_view subject, std::string_view what, int errorNumber) {
  std::string message =
      absl::StrCat(std::string(subject), ": ", std::string(what), ": ", std::strerror(errorNumber));
  switch (errorNumber) {
  case ENOENT:
    return absl::NotFoundError(message);
  case EACCES:
  case EPERM:
    return absl::PermissionDeniedError(message);
  case ENOSPC:
  case EDQUOT:
    return absl::ResourceExhaustedError(message);
  default:
    return absl::UnknownError(message);
  }
}

std::string printable(std::string_view text, size_t maxBytes) {
  std::string out;
  for (unsigned char c : text.substr(0, maxBytes)) {
    if (c == '\\' || c == '\'')
      absl::StrAppend(&out, "\\", std::string(1, static_cast<char>(c)));
    else if (c >= 0x20 && c < 0x7f)
      out.push_back(static_cast<char>(c));
    else
      absl::StrAppendFormat(&out, "\\x%02x", c);
  }
  if (text.size() > maxBytes)
    out += "...";
  return out;
}

std::string printableText(std::string_view text) {
  std::string out;
  auto escape = [&](std::string_view bytes) {
    for (unsigned char c : bytes)
      absl::StrAppendFormat(&out, "\\x%02x", c);
  };
  while (!text.empty()) {
    Utf8Prefix prefix = scanUtf8(text);
    for (size_t i = 0; i < prefix.validBytes; ++i) {
      auto c = static_cast<unsigned char>(text[i]);
      auto next = static_cast<unsigned char>(i + 1 < prefix.validBytes ? text[i + 1] : 0);
      if (c == 0xc2 && next < 0xa0) // C1 in UTF-8
        escape(text.substr(i++, 2));
      else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
        escape(text.substr(i, 1));
      else
        out.push_back(text[i]);
    }
    escape(text.substr(prefix.validBytes, prefix.badBytes));
    text.remove_prefix(prefix.validBytes + prefix.badBytes);
  }
  return out;
}

std::string nearestName(std::string_view word, const std::vector<std::string> &candidates) {
  std::string best;
  // A name further away than a third of its length is not a typing error.
  size_t bestDistance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string &candidate : candidates) {
    std::vector<size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < word.size(); ++i) {
      size_t diagonal = row[0]++;
      for (size_t j = 0; j < candidate.size(); ++j) {
        size_t substituted = diagonal + (word[i] == candidate[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
      }
    }
    if (row.back() < bestDistance) {
      bestDistance = row.back();
      best = candidate;
    }
  }
  return best;
}

} // namespace hjx
