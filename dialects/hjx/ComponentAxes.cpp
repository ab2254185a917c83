// SPDX-License-Identifier: Apache-2.0
#include "dialects/hjx/ComponentAxes.h"

#include "dialects/hjx/Hjx.h"

using namespace mlir;

namespace hjx::ir {

FailureOr<SmallVector<std::optional<int64_t>>> componentAxes(Type element, Attribute spec, EmitError emitError) {
  constexpr int64_t kUnusualSize = 1000003;
  auto mapped = incRank(element, kUnusualSize, spec, emitError);
  if (failed(mapped))
    return failure();
  auto inner = flatLoTypes(element, emitError), outer = flatLoTypes(*mapped, emitError);
  if (failed(inner) || failed(outer))
    return failure();
  SmallVector<std::optional<int64_t>> axes;
  bool areAlike = inner->size() == outer->size();
  for (unsigned i = 0; areAlike && i < inner->size(); ++i) {
    auto without = cast<RankedTensorType>((*inner)[i]), with = cast<RankedTensorType>((*outer)[i]);
    auto place = llvm::find(with.getShape(), kUnusualSize);
    if (place == with.getShape().end()) {
      areAlike = with == without;
      axes.push_back(std::nullopt);
    } else {
      axes.push_back(place - with.getShape().begin());
      areAlike = dropAxis(with, *axes.back()) == without;
    }
  }
  if (!areAlike)
    return emitError() << "the components of " << *mapped << " are not those of " << element
                       << " with one more axis: lo_types and inc_rank disagree";
  return axes;
}

} // namespace hjx::ir
