// SPDX-License-Identifier: Apache-2.0
//
// Measured tiles on the simulated device: they are measured once, kept, and taken by later compilations for such a device,
// as fresh arrays and as parts of larger ones; what is damaged or for another device was not measured.
#include "lib/Codegen/Gpu/MeasurableProduct.h"
#include "lib/Execution/CacheFile.h"
#include "lib/Execution/GpuExecutable.h"
#include "lib/Execution/LowerModule.h"
#include "lib/Execution/ProductTuner.h"
#include "runtime/Backends.h"
#include "test/unit/TemporaryFolder.h"

#include "mlir/Parser/Parser.h"

using namespace hjx;
using namespace mlir;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

namespace {

// Before the runtime looks.
const bool kEnvironment = setenv("HJX_MEMORY_LIMIT", "8MiB", 1) == 0 && setenv("HJX_AUTOTUNE", "1", 1) == 0;

// A product with a bias and a conversion behind it, and one of slices that a loop takes.
constexpr const char *kProgram = R"mlir(
  #lhs = affine_map<(i, j, k) -> (i, k)>
  #rhs = affine_map<(i, j, k) -> (k, j)>
  #out = affine_map<(i, j, k) -> (i, j)>
  func.func @main(%a: tensor<32x256xf32>, %b: tensor<256x48xf32>, %bias: tensor<48xf32>, %stack: tensor<3x48x48xf32>, %x: tensor<32x48xf32>)
      -> (tensor<32x48xbf16>, tensor<32x48xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x48xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
    %p = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<32x256xf32>, tensor<256x48xf32>) outs(%f : tensor<32x48xf32>) {
      ^bb0(%u: f32, %v: f32, %o: f32):
        %m = arith.mulf %u, %v : f32
        %s = arith.addf %o, %m : f32
        linalg.yield %s : f32
    } -> tensor<32x48xf32>
    %n = tensor.empty() : tensor<32x48xbf16>
    %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%p, %bias : tensor<32x48xf32>, tensor<48xf32>) outs(%n : tensor<32x48xbf16>) {
      ^bb0(%u: f32, %v: f32, %o: bf16):
        %s = arith.addf %u, %v : f32
        %t = arith.truncf %s : f32 to bf16
        linalg.yield %t : bf16
    } -> tensor<32x48xbf16>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %z = scf.for %layer = %c0 to %c3 step %c1 iter_args(%h = %x) -> tensor<32x48xf32> {
      %w = tensor.extract_slice %stack[%layer, 0, 0] [1, 48, 48] [1, 1, 1] : tensor<3x48x48xf32> to tensor<48x48xf32>
      %g = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%h, %w : tensor<32x48xf32>, tensor<48x48xf32>) outs(%f : tensor<32x48xf32>) {
        ^bb0(%u: f32, %v: f32, %o: f32):
          %m = arith.mulf %u, %v : f32
          %s = arith.addf %o, %m : f32
          linalg.yield %s : f32
      } -> tensor<32x48xf32>
      scf.yield %g : tensor<32x48xf32>
    }
    return %y, %z : tensor<32x48xbf16>, tensor<32x48xf32>
  })mlir";

class ProductTunerTest : public testing::Test {
protected:
  ProductTunerTest() {
    DialectRegistry registry;
    registerGpuDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    setenv("HJX_CACHE_DIR", path.c_str(), 1);
  }

  ScheduleCache cache() { return {path, chip, device->info()}; }

  /// Between the two halves of the pipeline to the kernel stage.
  OwningOpRef<ModuleOp> functions() {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kProgram, &context);
    LowerOptions lower;
    lower.forGpu = true;
    lower.onGpuFunctions = [](ModuleOp) { return absl::CancelledError("far enough"); };
    EXPECT_TRUE(absl::IsCancelled(lowerModule(*module, Stage::Tensor, Stage::Kernel, lower)));
    return module;
  }

  std::vector<std::string> names() {
    OwningOpRef<ModuleOp> module = functions();
    auto products = *measurableProducts(*module, chip);
    std::vector<std::string> names;
    for (MeasurableProduct &product : products)
      names.push_back(product.name);
    return names;
  }

  std::string tune(const ScheduleCache &cache) {
    testing::internal::CaptureStderr();
    OwningOpRef<ModuleOp> module = functions();
    absl::Status status = tuneProducts(*module, chip, *device, cache);
    EXPECT_TRUE(status.ok()) << status;
    return testing::internal::GetCapturedStderr();
  }

  /// The kernels that compiling the program makes, and what it says.
  std::pair<std::vector<std::string>, std::string> compile(RuntimeDevice *where) {
    testing::internal::CaptureStderr();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kProgram, &context);
    auto program = GpuProgram::compile(*module, {.chip = chip, .device = where});
    EXPECT_TRUE(program.ok()) << program.status();
    return {program.ok() ? (*program)->kernelNames() : std::vector<std::string>(), testing::internal::GetCapturedStderr()};
  }

  test::TemporaryFolder folder;
  std::string path = folder.path("cache"), chip = "sm_80";
  MLIRContext context;
  RuntimeDevice *device = *openDevice("sim");
};

} // namespace

TEST_F(ProductTunerTest, MeasuresOnceAndKeepsTheBest) {
  EXPECT_THAT(tune(cache()), MatchesRegex("autotune: 0 of 2 products known from .*schedules, 2 measured in [0-9.]+ s\n"));
  ScheduleCache::Schedules schedules = cache().read();
  OwningOpRef<ModuleOp> module = functions();
  auto products = *measurableProducts(*module, chip);
  ASSERT_EQ(products.size(), 2u);
  for (MeasurableProduct &product : products) {
    ASSERT_TRUE(schedules.count(product.name)) << product.name;
    EXPECT_THAT(product.candidates(), testing::Contains(schedules[product.name]));
    EXPECT_LE(product.candidates().size(), 6u);
    EXPECT_EQ(product.candidates().front(), product.schedules.front());
  }
  int64_t before = device->statistics().numAllocations;
  EXPECT_EQ(tune(cache()), "autotune: 2 of 2 products known from " + cache().path() + "\n");
  EXPECT_EQ(device->statistics().numAllocations, before);
}

TEST_F(ProductTunerTest, CompilationsForTheDeviceTakeWhatIsKept) {
  std::vector<std::string> products = names();
  EXPECT_THAT(products.front(), MatchesRegex("matmul_f32_32x32x16_.*_split 32x48x256 [0-9a-f]{16}"));
  cache().add({{products[0], "64x64"}, {products[1], "32x32 split 3"}});
  auto [kernels, said] = compile(device);
  EXPECT_EQ(said, "autotune: 2 of 2 products known from " + cache().path() + "\n");
  EXPECT_THAT(kernels, testing::IsSupersetOf({MatchesRegex("matmul_f32_64x64x16_.*_truncf"), MatchesRegex("matmul_f32_32x32x16_.*_split")}));
  EXPECT_EQ(compile(device).first, kernels);
  // Without a device, or with the variable unset, the model chooses.
  auto [ofModel, nothing] = compile(nullptr);
  EXPECT_EQ(nothing, "");
  EXPECT_THAT(ofModel, testing::Contains(MatchesRegex("matmul_f32_32x32x16_.*_truncf_split")));
  setenv("HJX_AUTOTUNE", "0", 1);
  EXPECT_EQ(compile(device), std::pair(ofModel, std::string()));
  setenv("HJX_AUTOTUNE", "yes", 1);
  EXPECT_EQ(compile(device), std::pair(ofModel, std::string("hjx: HJX_AUTOTUNE: expected 0 or 1, got 'yes'; using 0\n")));
  setenv("HJX_AUTOTUNE", "1", 1);
}

TEST_F(ProductTunerTest, WhatIsDamagedIsMeasuredAgain) {
  std::vector<std::string> products = names();
  cache().add({{products[0], "64x64"}, {products[1], "64x64"}});
  ASSERT_TRUE(std::filesystem::exists(cache().path()));
  std::string text = folder.read("cache/" + std::filesystem::path(cache().path()).filename().string());
  for (const std::string &damaged : {std::string(), std::string("\n"), "hjx-schedules 0" + text.substr(15), text.substr(0, text.size() - 4)}) {
    std::ofstream(cache().path(), std::ios::binary) << damaged;
    testing::internal::CaptureStderr();
    EXPECT_THAT(cache().read(), testing::IsEmpty());
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "autotune: " + cache().path() + ": the file is damaged; products are measured again\n");
  }
  EXPECT_THAT(tune(cache()), AllOf(HasSubstr("the file is damaged"), HasSubstr(" 2 measured in ")));
  EXPECT_EQ(tune(cache()), "autotune: 2 of 2 products known from " + cache().path() + "\n");
  // A schedule that the product cannot have; of several entries the others stay.
  cache().add({{products[0], "7x7"}});
  EXPECT_THAT(tune(cache()), AllOf(HasSubstr("autotune: 1 of 2 products known"), HasSubstr(" 1 measured in ")));
  EXPECT_NE(cache().read()[products[0]], "7x7");
}

TEST_F(ProductTunerTest, OtherDevicesHaveTheirOwn) {
  cache().add({{"a", "64x64"}});
  cache().add({{"b", "32x32"}});
  EXPECT_THAT(cache().read(), testing::ElementsAre(testing::Pair("a", "64x64"), testing::Pair("b", "32x32")));
  EXPECT_THAT(ScheduleCache(path, "sm_90a", device->info()).read(), testing::IsEmpty());
  DeviceInfo newer = device->info(), renamed = newer, smaller = newer;
  newer.driverVersion += 10;
  renamed.description += " PCIe";
  smaller.numMultiprocessors -= 1;
  for (const DeviceInfo &other : {newer, renamed, smaller})
    EXPECT_THAT(ScheduleCache(path, chip, other).read(), testing::IsEmpty());
}

TEST_F(ProductTunerTest, AFolderThatCannotBeIsNoError) {
  EXPECT_THAT(tune(ScheduleCache("", chip, device->info())), HasSubstr("autotune: 0 of 2 products known from no file, 2 measured in "));
  std::string file = folder.write("file", "");
  EXPECT_THAT(tune(ScheduleCache(file + "/below", chip, device->info())), HasSubstr("; the next start measures again\n"));
}

TEST_F(ProductTunerTest, WhatHasNoRoomIsLeftToTheModel) {
  DeviceBuffer all = *device->allocate(*device->freeBytes() - 20000);
  EXPECT_THAT(tune(cache()), HasSubstr("2 left to the model"));
  EXPECT_THAT(cache().read(), testing::IsEmpty());
}
