// SPDX-License-Identifier: Apache-2.0
//
// Reading programs, inputs for them and comparison: see the header.
#include "KernelPrograms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

using namespace hjx;

namespace {

double toDouble(ElementType type, const char *at) {
  auto load = [&](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return value;
  };
  switch (type) {
  case ElementType::F32:
    return load(float());
  case ElementType::F64:
    return load(double());
  case ElementType::F16:
    return static_cast<double>(load(_Float16()));
  case ElementType::BF16: {
    uint32_t bits = uint32_t(load(uint16_t())) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  case ElementType::I64:
    return static_cast<double>(load(int64_t()));
  case ElementType::I32:
    return load(int32_t());
  case ElementType::I16:
    return load(int16_t());
  case ElementType::I8:
  case ElementType::I1:
    return load(int8_t());
  }
  return 0;
}

template <typename T> void put(std::vector<char> &bytes, size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

std::vector<char> randomBytes(const BufferSpec &spec, std::mt19937 &generator) {
  std::vector<char> bytes(spec.sizeBytes);
  std::uniform_real_distribution<float> reals(-2, 2);
  std::uniform_int_distribution<int> integers(0, 6); // Small enough for an index in these programs.
  for (int64_t i = 0; i < spec.sizeBytes / sizeBytes(spec.elementType); ++i) {
    switch (spec.elementType) {
    case ElementType::F32:
      put(bytes, i, reals(generator));
      break;
    case ElementType::F64:
      put(bytes, i, double(reals(generator)));
      break;
    case ElementType::F16:
      put(bytes, i, static_cast<_Float16>(reals(generator)));
      break;
    case ElementType::BF16: {
      float value = reals(generator);
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      put(bytes, i, uint16_t(bits >> 16));
      break;
    }
    case ElementType::I1:
      put(bytes, i, int8_t(integers(generator) & 1));
      break;
    case ElementType::I8:
      put(bytes, i, int8_t(integers(generator)));
      break;
    case ElementType::I16:
      put(bytes, i, int16_t(integers(generator)));
      break;
    case ElementType::I32:
      put(bytes, i, int32_t(integers(generator)));
      break;
    case ElementType::I64:
      put(bytes, i, int64_t(integers(generator)));
      break;
    }
  }
  return bytes;
}

/// The sections of a file; what stands before the first is its heading.
void readPrograms(const std::filesystem::path &path, std::vector<KernelProgram> &programs) {
  std::ifstream file(path);
  const std::string marker = "// ----- ";
  bool inProgram = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(marker)) {
      std::istringstream words(line.substr(marker.size()));
      words >> programs.emplace_back().name >> programs.back().tolerance;
      inProgram = true;
    } else if (inProgram) {
      programs.back().text += line + "\n";
    }
  }
}

std::vector<KernelProgram> readPrograms() {
  std::set<std::filesystem::path> files; // In the same order everywhere.
  for (const auto &entry : std::filesystem::directory_iterator(HJX_TEST_SOURCE_DIR "/KernelPrograms"))
    files.insert(entry.path());
  std::vector<KernelProgram> programs;
  for (const std::filesystem::path &file : files)
    readPrograms(file, programs);
  return programs;
}

} // namespace

llvm::ArrayRef<KernelProgram> hjx::kernelPrograms() {
  static const std::vector<KernelProgram> programs = readPrograms();
  return programs;
}

Bytes hjx::randomInputs(const std::vector<BufferSpec> &specs) {
  std::mt19937 generator(7);
  Bytes inputs;
  for (const BufferSpec &spec : specs)
    inputs.push_back(randomBytes(spec, generator));
  return inputs;
}

void hjx::expectClose(const std::vector<BufferSpec> &specs, const Bytes &expected,
                      const Bytes &got, double tolerance) {
  for (auto [output, spec] : llvm::enumerate(specs)) {
    int64_t width = sizeBytes(spec.elementType), wrong = 0;
    for (int64_t i = 0; i < spec.sizeBytes / width; ++i) {
      const char *want = expected[output].data() + i * width, *have = got[output].data() + i * width;
      if (std::memcmp(want, have, width) == 0)
        continue;
      double a = toDouble(spec.elementType, want), b = toDouble(spec.elementType, have);
      if (std::isnan(a) && std::isnan(b))
        continue;
      if (std::abs(a - b) <= tolerance * std::max(1.0, std::abs(a)))
        continue;
      if (++wrong <= 5)
        ADD_FAILURE() << "result " << output << " element " << i << ": expected " << a << ", got "
                      << b;
    }
    EXPECT_EQ(wrong, 0) << "of " << spec.sizeBytes / width;
  }
}
