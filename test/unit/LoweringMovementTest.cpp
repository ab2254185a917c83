// SPDX-License-Identifier: Apache-2.0
//
// Movement, indexing and random numbers, compiled and interpreted.
#include "test/unit/LoweringTest.h"

namespace {

TEST_F(LoweringTest, Movement) {
  for (StringRef element : {"f32", "bf16", "ui8", "i64", "i1", "!hjx.key<threefry2x32>"}) {
    Program p;
    auto t = [&](ArrayRef<int64_t> shape) { return arrayType(shape, element); };
    std::string x = p.argument(t({5, 3, 4})), s = p.argument(t({})), u = p.argument(t({2, 3, 4}));
    std::string i = p.argument("tensor<i32>"), j = p.argument("tensor<ui8>");
    auto move = [&](StringRef op, ArrayRef<int64_t> result, const Twine &rest) {
      p.result(t(result), llvm::formatv("hjx.{0} {1} {2} : {3} -> {4}", op, x, rest.str(),
                                        t({5, 3, 4}), t(result)));
    };
    move("broadcast_in_dim", {5, 2, 3, 4}, "shape = [5, 2, 3, 4] dims = [0, 2, 3]");
    p.result(t({2, 3}),
             llvm::formatv("hjx.broadcast_in_dim {0} shape = [2, 3] dims = [] : {1} -> {2}", s,
                           t({}), t({2, 3})));
    move("reshape", {60}, "shape = [60]");
    move("reshape", {15, 4}, "shape = [15, 4]");
    move("reshape", {5, 1, 3, 2, 2}, "shape = [5, 1, 3, 2, 2]");
    move("reshape", {3, 5, 4}, "shape = [3, 5, 4]");
    move("reshape", {1, 15, 2, 2, 1}, "shape = [1, 15, 2, 2, 1]");
    p.result(t({1, 1}),
             llvm::formatv("hjx.reshape {0} shape = [1, 1] : {1} -> {2}", s, t({}), t({1, 1})));
    move("transpose", {4, 5, 3}, "permutation = [2, 0, 1]");
    move("transpose", {3, 5, 4}, "permutation = [1, 0, 2]");
    p.result(t({5, 3, 4}), llvm::formatv("hjx.rev {0} dims = [0, 2] : {1}", x, t({5, 3, 4})));
    p.result(t({7, 3, 4}), llvm::formatv("hjx.concatenate {0}, {1} dim = 0 : ({2}, {3}) -> {4}", x,
                                         u, t({5, 3, 4}), t({2, 3, 4}), t({7, 3, 4})));
    move("slice", {2, 3, 2}, "start = [1, 0, 0] limit = [4, 3, 4] strides = [2, 1, 3]");
    move("slice", {0, 3, 4}, "start = [1, 0, 0] limit = [1, 3, 4] strides = [1, 1, 1]");
    struct Pad {
      std::string attributes;
      SmallVector<int64_t> result;
    };
    for (const Pad &pad :
         {Pad{"low = [1, 0, 2] high = [0, 2, 1] interior = [0, 0, 0]", {6, 5, 7}},
          Pad{"low = [0, 0, 0] high = [0, 0, 0] interior = [1, 2, 0]", {9, 7, 4}},
          Pad{"low = [-1, 1, -2] high = [2, -2, -1] interior = [0, 1, 2]", {6, 4, 7}},
          Pad{"low = [-3, 0, 0] high = [-2, 0, 0] interior = [0, 0, 0]", {0, 3, 4}},
          Pad{"low = [-8, 0, 0] high = [5, 0, 0] interior = [0, 0, 0]", {2, 3, 4}}})
      p.result(t(pad.result), llvm::formatv("hjx.pad {0}, {1} {2} : ({3}, {4}) -> {5}", x, s,
                                            pad.attributes, t({5, 3, 4}), t({}), t(pad.result)));
    p.result(t({2, 3, 1}), llvm::formatv("hjx.dynamic_slice {0} [{1}, {1}, {2}] sizes = [2, 3, 1] "
                                         ": ({3}, tensor<i32>, tensor<i32>, tensor<ui8>) -> {4}",
                                         x, i, j, t({5, 3, 4}), t({2, 3, 1})));
    p.result(t({5, 3, 4}), llvm::formatv("hjx.dynamic_update_slice {0}, {1} [{3}, {2}, {2}] : "
                                         "({4}, {5}, tensor<ui8>, tensor<i32>, tensor<i32>) -> {4}",
                                         x, u, i, j, t({5, 3, 4}), t({2, 3, 4})));
    SCOPED_TRACE(element.str());
    check(p, {Values::Indices, Values::Corners});
  }
}

TEST_F(LoweringTest, Creation) {
  Program p;
  std::vector<std::string> types = allTypes();
  types.pop_back();
  for (const std::string &element : types)
    for (int dim : {0, 1})
      p.result(arrayType({3, 300}, element),
               llvm::formatv("hjx.iota dim = {0} : {1}", dim, arrayType({3, 300}, element)));
  p.result("tensor<2x3xui8>", "hjx.constant dense<[[1, 2, 255], [4, 5, 6]]> : tensor<2x3xui8>");
  p.result("tensor<5xi1>", "hjx.constant dense<[true, false, true, true, false]> : tensor<5xi1>");
  p.result("tensor<9xi1>", "hjx.constant dense<true> : tensor<9xi1>");
  p.result("tensor<2xbf16>", "hjx.constant dense<[1.5, -2.0]> : tensor<2xbf16>");
  p.result("tensor<ui64>", "hjx.constant dense<18446744073709551615> : tensor<ui64>");
  p.result("tensor<0x3xf32>", "hjx.constant dense<> : tensor<0x3xf32>");
  std::string iota = p.value("hjx.iota dim = 0 : tensor<5xi32>");
  std::string reversed = p.value("hjx.rev " + iota + " dims = [0] : tensor<5xi32>");
  p.result("tensor<5xi32>", "hjx.add " + reversed + ", " + iota + " : tensor<5xi32>");
  std::string wide = p.value("hjx.broadcast_in_dim " + iota +
                             " shape = [5, 2] dims = [0] : tensor<5xi32> -> tensor<5x2xi32>");
  p.result("tensor<2xi32>",
           "hjx.reduce_sum " + wide + " axes = [0] : tensor<5x2xi32> -> tensor<2xi32>");
  check(p);
}

TEST_F(LoweringTest, Gather) {
  for (StringRef element : {"f32", "bf16", "ui8", "i16", "i1", "!hjx.key<threefry2x32>"})
    for (StringRef index : {"i32", "ui8", "i64"})
      for (StringRef mode : {"clip", "fill_or_drop", "promise_in_bounds"}) {
        Program p;
        auto t = [&](ArrayRef<int64_t> shape) { return arrayType(shape, element); };
        std::string x = p.argument(t({5, 3})), many = p.argument(arrayType({4, 1}, index)),
                    pairs = p.argument(arrayType({2, 3, 2}, index));
        std::string batched = p.argument(t({2, 5, 3})), one = p.argument(arrayType({1}, index)),
                    rows = p.argument(arrayType({2, 7, 1}, index)),
                    none = p.argument(arrayType({0, 1}, index));
        auto gather = [&](StringRef operand, ArrayRef<int64_t> shape, StringRef indices,
                          ArrayRef<int64_t> indicesShape, StringRef attributes,
                          ArrayRef<int64_t> result) {
          p.result(t(result),
                   llvm::formatv("hjx.gather {0}, {1} {{{2}, mode = {3} : i32} : ({4}, {5}) -> {6}",
                                 operand, indices, attributes,
                                 mode == "clip"           ? 0
                                 : mode == "fill_or_drop" ? 1
                                                          : 2,
                                 t(shape), arrayType(indicesShape, index), t(result)));
        };
        gather(x, {5, 3}, many, {4, 1},
               "offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map "
               "= array<i64: 0>, slice_sizes = array<i64: 1, 3>",
               {4, 3});
        gather(x, {5, 3}, many, {4, 1},
               "offset_dims = array<i64: 0>, collapsed_slice_dims = array<i64: 0>, start_index_map "
               "= array<i64: 0>, slice_sizes = array<i64: 1, 3>",
               {3, 4});
        gather(x, {5, 3}, many, {4, 1},
               "offset_dims = array<i64: 0, 2>, collapsed_slice_dims = array<i64>, start_index_map "
               "= array<i64: 1>, slice_sizes = array<i64: 3, 2>",
               {3, 4, 2});
        gather(x, {5, 3}, pairs, {2, 3, 2},
               "offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0, 1>, start_index_map "
               "= array<i64: 1, 0>, slice_sizes = array<i64: 1, 1>",
               {2, 3});
        gather(x, {5, 3}, one, {1},
               "offset_dims = array<i64: 0, 1>, collapsed_slice_dims = array<i64>, start_index_map "
               "= array<i64: 0>, slice_sizes = array<i64: 2, 3>",
               {2, 3});
        gather(batched, {2, 5, 3}, rows, {2, 7, 1},
               "offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 1>, "
               "operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: "
               "0>, start_index_map = array<i64: 1>, slice_sizes = array<i64: 1, 1, 3>",
               {2, 7, 3});
        gather(x, {5, 3}, none, {0, 1},
               "offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map "
               "= array<i64: 0>, slice_sizes = array<i64: 1, 3>",
               {0, 3});
        SCOPED_TRACE(llvm::formatv("{0} {1} {2}", element, index, mode).str());
        check(p, {Values::Indices, Values::Corners});
      }
}

TEST_F(LoweringTest, Scatter) {
  for (StringRef element : {"f32", "bf16", "ui8", "i16", "i1", "!hjx.key<threefry2x32>"})
    for (StringRef kind : {"set", "add"})
      for (int mode : {0, 1, 2}) {
        if (kind == "add" && (element.contains("key") || element == "i1"))
          continue;
        Program p;
        auto t = [&](ArrayRef<int64_t> shape) { return arrayType(shape, element); };
        auto scatter = [&](ArrayRef<int64_t> shape, ArrayRef<int64_t> indices,
                           ArrayRef<int64_t> updates, StringRef attributes) {
          std::string x = p.argument(t(shape)), i = p.argument(arrayType(indices, "i32")),
                      u = p.argument(t(updates));
          p.result(t(shape), llvm::formatv("hjx.scatter {0}, {1}, {2}, {3} {{{4}, mode = {5} : "
                                           "i32} : ({6}, {7}, {8}) -> {6}",
                                           kind, x, i, u, attributes, mode, t(shape),
                                           arrayType(indices, "i32"), t(updates)));
        };
        scatter({5, 3}, {9, 1}, {9, 3},
                "update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        scatter({5, 3}, {9, 1}, {3, 9},
                "update_window_dims = array<i64: 0>, inserted_window_dims = array<i64: 0>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        scatter({5, 3}, {9, 1}, {9, 2, 3},
                "update_window_dims = array<i64: 1, 2>, inserted_window_dims = array<i64>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        scatter({5, 3}, {9, 1}, {2, 9, 3},
                "update_window_dims = array<i64: 0, 2>, inserted_window_dims = array<i64>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        scatter({5, 3}, {2, 4, 2}, {2, 4},
                "update_window_dims = array<i64>, inserted_window_dims = array<i64: 0, 1>, "
                "scatter_dims_to_operand_dims = array<i64: 1, 0>");
        scatter({2, 5, 3}, {2, 7, 1}, {2, 7, 3},
                "update_window_dims = array<i64: 2>, inserted_window_dims = array<i64: 1>, "
                "operand_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: "
                "0>, scatter_dims_to_operand_dims = array<i64: 1>");
        scatter({5, 3}, {1}, {2, 3},
                "update_window_dims = array<i64: 0, 1>, inserted_window_dims = array<i64>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        scatter({0, 3}, {0, 1}, {0, 3},
                "update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        scatter({5, 3}, {4, 1}, {4, 0},
                "update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, "
                "scatter_dims_to_operand_dims = array<i64: 0>");
        SCOPED_TRACE(llvm::formatv("{0} {1} {2}", element, kind, mode).str());
        check(p, Values::Indices);
      }
}

//===----------------------------------------------------------------------===//
// Random
//===----------------------------------------------------------------------===//

TEST_F(LoweringTest, Random) {
  Program p;
  const std::string key = "!hjx.key<threefry2x32>";
  std::string k = p.argument(arrayType({}, key)), ks = p.argument(arrayType({3}, key)),
              data = p.argument("tensor<3xui32>");
  std::string mask = p.argument("tensor<3xi1>"), words = p.argument("tensor<3x2xui32>");
  for (int width : {8, 16, 32, 64}) {
    std::string element = "ui" + std::to_string(width);
    for (const SmallVector<int64_t> &shape :
         {SmallVector<int64_t>{}, SmallVector<int64_t>{7, 5}, SmallVector<int64_t>{0},
          SmallVector<int64_t>{1, 1}}) {
      std::string list;
      for (int64_t size : shape)
        list += (list.empty() ? "" : ", ") + std::to_string(size);
      p.result(arrayType(shape, element),
               llvm::formatv("hjx.random_bits {0} width = {1} shape = [{2}] : {3} -> {4}", k, width,
                             list, arrayType({}, key), arrayType(shape, element)));
    }
    p.result(arrayType({3, 2, 5}, element),
             llvm::formatv("hjx.random_bits {0} width = {1} shape = [2, 5] : {2} -> {3}", ks, width,
                           arrayType({3}, key), arrayType({3, 2, 5}, element)));
  }
  p.result(arrayType({3, 4}, key), llvm::formatv("hjx.random_split {0} shape = [4] : {1} -> {2}",
                                                 ks, arrayType({3}, key), arrayType({3, 4}, key)));
  std::string folded =
      p.result(arrayType({3}, key),
               llvm::formatv("hjx.random_fold_in {0}, {1} : ({2}, tensor<3xui32>) -> {2}", ks, data,
                             arrayType({3}, key)));
  p.result(arrayType({3}, key),
           llvm::formatv("hjx.select_n {0}, {1}, {2} : (tensor<3xi1>, {3}, {3}) -> {3}", mask, ks,
                         folded, arrayType({3}, key)));
  p.result(arrayType({3}, key), llvm::formatv("hjx.random_wrap {0} : tensor<3x2xui32> -> {1}",
                                              words, arrayType({3}, key)));
  p.result("tensor<3x2xui32>", llvm::formatv("hjx.random_unwrap {0} : {1} -> tensor<3x2xui32>", ks,
                                             arrayType({3}, key)));
  for (const std::string &element : kIntegers) {
    std::string seed = p.argument(arrayType({5}, element));
    p.result(arrayType({5}, key), llvm::formatv("hjx.random_seed {0} : {1} -> {2}", seed,
                                                arrayType({5}, element), arrayType({5}, key)));
  }
  check(p, Values::Corners);
}

} // namespace
