// SPDX-License-Identifier: Apache-2.0
//
// The driver API's modules, functions and launches.
#include "runtime/ptxsim/Driver.h"

#include "absl/strings/str_cat.h"

#include <cstdio>

using namespace hjx::ptxsim;
using namespace hjx::ptxsim::driver;

namespace {

CUresult loadModule(CUmodule *module, const void *image, unsigned numOptions, const int *options,
                    void **values) {
  return guarded([&](Device &device) -> CUresult {
    if (!module || !image)
      return InvalidValue;
    const auto *bytes = static_cast<const unsigned char *>(image);
    if (bytes[0] == 0x7F || bytes[0] == 0x50)
      return fail(InvalidImage, "the simulated device takes PTX text, not a cubin or a fat binary");
    absl::StatusOr<LoadedModule *> loaded = device.load(static_cast<const char *>(image));
    if (loaded.ok()) {
      *module = *loaded;
      return Success;
    }
    // CU_JIT_ERROR_LOG_BUFFER = 5, ..._SIZE_BYTES = 6: in: room, out: used.
    char *log = nullptr;
    void **size = nullptr;
    for (unsigned index = 0; index < numOptions; ++index) {
      if (options[index] == 5)
        log = static_cast<char *>(values[index]);
      else if (options[index] == 6)
        size = &values[index];
    }
    std::string message(loaded.status().message());
    if (log && size) {
      size_t room = reinterpret_cast<uintptr_t>(*size);
      if (room)
        std::snprintf(log, room, "%s", message.c_str());
      *size = reinterpret_cast<void *>(std::min(room, message.size() + 1));
    }
    return fail(absl::IsUnimplemented(loaded.status())         ? NoBinaryForGpu
                : absl::IsResourceExhausted(loaded.status()) ? OutOfMemory
                                                             : InvalidPtx,
                message);
  });
}

CUresult launchKernel(CUfunction function, std::array<uint32_t, 3> grid,
                      std::array<uint32_t, 3> block, unsigned sharedBytes, CUstream stream,
                      void **arguments, void **extra, std::array<uint32_t, 3> cluster = {0, 0, 0}) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(function) || !isStream(stream))
      return InvalidHandle;
    const Kernel &kernel = function->kernel;
    std::vector<void *> unpacked;
    if (extra) {
      // CU_LAUNCH_PARAM_BUFFER_POINTER = 1, BUFFER_SIZE = 2, END = 0.
      auto *buffer = static_cast<uint8_t *>(nullptr);
      size_t size = 0;
      for (; *extra; extra += 2) {
        if (reinterpret_cast<uintptr_t>(extra[0]) == 1)
          buffer = static_cast<uint8_t *>(extra[1]);
        else if (reinterpret_cast<uintptr_t>(extra[0]) == 2)
          size = *static_cast<size_t *>(extra[1]);
      }
      if (arguments || !buffer || size != kernel.paramBytes)
        return fail(InvalidValue, absl::StrCat("kernel '", kernel.name, "': expected ",
                                               kernel.paramBytes, " bytes of arguments, got ", size));
      for (const Kernel::Param &param : kernel.params)
        unpacked.push_back(buffer + param.offset);
      arguments = unpacked.data();
    }
    if (captureOf(stream)) {
      KernelNode node{function, grid, block, cluster, sharedBytes, {}};
      for (size_t index = 0; index < kernel.params.size(); ++index) {
        if (!arguments || !arguments[index])
          return fail(InvalidValue, absl::StrCat("kernel '", kernel.name, "': argument ", index, " of ",
                                                 kernel.params.size(), " is a null pointer"));
        const auto *bytes = static_cast<const uint8_t *>(arguments[index]);
        node.arguments.emplace_back(bytes, bytes + kernel.params[index].sizeBytes);
      }
      return record(stream, 0, {}, std::move(node));
    }
    absl::Status status = device.launch(*function, grid, block, sharedBytes, arguments, cluster);
    return status.ok() ? CUresult(Success) : fail(InvalidValue, std::string(status.message()));
  });
}

} // namespace

CUresult driver::runKernel(const KernelNode &node) {
  std::vector<void *> arguments;
  for (const std::vector<uint8_t> &argument : node.arguments)
    arguments.push_back(const_cast<uint8_t *>(argument.data()));
  arguments.push_back(nullptr);
  return launchKernel(node.function, node.grid, node.block, node.sharedBytes, nullptr,
                      arguments.data(), nullptr, node.cluster);
}

HJX_CUDA_API cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned numOptions,
                                int *options, void **values) {
  return loadModule(module, image, numOptions, options, values);
}

HJX_CUDA_API cuModuleLoadData(CUmodule *module, const void *image) {
  return loadModule(module, image, 0, nullptr, nullptr);
}

HJX_CUDA_API cuModuleUnload(CUmodule module) {
  return initialized([&](Device &device) { return device.unload(module) ? Success : InvalidHandle; });
}

HJX_CUDA_API cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(module))
      return InvalidHandle;
    auto found = module->functions.find(std::string(name));
    if (found == module->functions.end())
      return fail(NotFound, absl::StrCat("no kernel '", name, "' in the module"));
    *function = found->second.get();
    return Success;
  });
}

HJX_CUDA_API cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *sizeBytes, CUmodule module,
                                  const char *name) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(module))
      return InvalidHandle;
    auto found = module->symbols.find(std::string(name));
    if (found == module->symbols.end())
      return fail(NotFound, absl::StrCat("no variable '", name, "' in the module"));
    if (pointer)
      *pointer = found->second;
    if (sizeBytes)
      *sizeBytes = module->sizes.find(std::string(name))->second;
    return Success;
  });
}

HJX_CUDA_API cuFuncGetAttribute(int *value, int which, CUfunction function) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(function))
      return InvalidHandle;
    const Kernel &kernel = function->kernel;
    switch (which) {
    case 0: // threads of a block
      *value = kernel.largestBlock[0]
                   ? int(kernel.largestBlock[0] * kernel.largestBlock[1] * kernel.largestBlock[2])
                   : 1024;
      return Success;
    case 1: *value = int(kernel.staticSharedBytes); return Success;
    case 2: *value = 0; return Success; // constant memory
    case 3: *value = int(kernel.localBytes); return Success;
    case 4: *value = 32; return Success; // registers, which PTX does not fix
    case 5: case 6: *value = int(device.settings.computeCapability); return Success;
    case 8: *value = int(function->largestDynamicShared); return Success;
    default: return InvalidValue;
    }
  });
}

HJX_CUDA_API cuFuncSetAttribute(CUfunction function, int which, int value) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(function))
      return InvalidHandle;
    if (which == 9) // preferred carve-out: a hint
      return Success;
    if (which != 8 || value < 0)
      return InvalidValue;
    if (function->kernel.dynamicSharedOffset + unsigned(value) > device.maxSharedPerBlock())
      return fail(InvalidValue, absl::StrCat("expected at most ", device.maxSharedPerBlock(),
                                             " bytes of shared memory, got ", value));
    function->largestDynamicShared = unsigned(value);
    return Success;
  });
}

HJX_CUDA_API cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(function))
      return InvalidHandle;
    if (index >= function->kernel.params.size())
      return InvalidValue;
    *offset = function->kernel.params[index].offset;
    if (size)
      *size = function->kernel.params[index].sizeBytes;
    return Success;
  });
}

HJX_CUDA_API cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                            unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                            CUstream stream, void **arguments, void **extra) {
  return launchKernel(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes,
                      stream, arguments, extra);
}

HJX_CUDA_API cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments,
                              void **extra) {
  // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4; the others change when, not what.
  std::array<uint32_t, 3> cluster = {0, 0, 0};
  for (unsigned index = 0; index < config->numAttributes; ++index)
    if (const CUlaunchAttribute &attribute = config->attributes[index]; attribute.id == 4)
      cluster = {attribute.value[0], attribute.value[1], attribute.value[2]};
  return launchKernel(function, {config->gridX, config->gridY, config->gridZ},
                      {config->blockX, config->blockY, config->blockZ}, config->sharedBytes,
                      config->stream, arguments, extra, cluster);
}

HJX_CUDA_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, CUfunction function,
                                                         int blockSize, size_t sharedBytes) {
  return guarded([&](Device &device) -> CUresult {
    if (!device.isLoaded(function) || blockSize < 1)
      return InvalidValue;
    size_t shared = std::max<size_t>(function->kernel.dynamicSharedOffset + sharedBytes, 1);
    *count = std::min<int>({32, 2048 / blockSize, int((device.maxSharedPerBlock() + 1024) / shared)});
    return Success;
  });
}
