// SPDX-License-Identifier: Apache-2.0
//
// The index formula, and one read for each row.
#include "lib/Data/Batches.h"

#include "lib/Data/KeyedPermutation.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace hjx {

absl::StatusOr<BatchStream> BatchStream::create(TokenSource source, BatchLayout layout,
                                                WindowOrder order, uint64_t seed) {
  for (auto [name, value] :
       {std::pair("window length", layout.windowTokens), std::pair("batch size", layout.batch),
        std::pair("number of accumulated batches", layout.accumulate),
        std::pair("world size", layout.world)})
    if (value == 0)
      return badInput("batches", absl::StrCat("a positive ", name), "0", "set it to at least 1");
  if (layout.rank >= layout.world)
    return badInput("batches", absl::StrCat("a rank below the world size ", layout.world),
                    absl::StrCat(layout.rank), "ranks count from 0");
  BatchStream stream(std::move(source), layout, order, seed);
  uint64_t numTokens = stream.source_.numTokens();
  stream.numWindows_ = numTokens ? (numTokens - 1) / layout.windowTokens : 0;
  if (stream.numWindows_ == 0)
    return badInput("batches",
                    absl::StrCat("at least ", layout.windowTokens, " + 1 tokens for one window"),
                    absl::StrCat(numTokens), "shorten the context, or use more text");
  return stream;
}

uint64_t BatchStream::windowAt(uint64_t serial) const {
  uint64_t epoch = serial / numWindows_, index = serial % numWindows_;
  return order_ == WindowOrder::Sequential ? index
                                           : KeyedPermutation(numWindows_, seed_, epoch)(index);
}

absl::Status BatchStream::read(uint64_t step, uint64_t micro, Batch &out) const {
  const uint64_t rows = layout_.batch, columns = layout_.windowTokens;
  const uint64_t serial = (step * layout_.accumulate + micro) * layout_.world + layout_.rank;
  out.inputs.resize(rows * columns);
  out.targets.resize(rows * columns);
  std::vector<int32_t> window(columns + 1);
  for (uint64_t row = 0; row < rows; ++row) {
    HJX_RETURN_IF_ERROR(source_.read(windowAt(serial * rows + row) * columns, window));
    std::copy_n(window.begin(), columns, out.inputs.begin() + static_cast<long>(row * columns));
    std::copy_n(window.begin() + 1, columns,
                out.targets.begin() + static_cast<long>(row * columns));
  }
  return absl::OkStatus();
}

uint64_t stepsForTokens(uint64_t minTokens, uint64_t tokensPerStep) {
  return minTokens / tokensPerStep + (minTokens % tokensPerStep != 0);
}

} // namespace hjx
