# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import lit.formats

config.name = "hjx"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.hjx_build_dir + "/test"
config.substitutions.append(("%cxx", config.cxx))
config.substitutions.append(("%plugins", config.hjx_build_dir + "/lib"))
config.substitutions.append(("%examples", os.path.join(config.test_source_root, "..", "examples")))
config.substitutions.append(("%root", os.path.dirname(config.test_source_root)))
config.environment["PATH"] = os.pathsep.join(
    [config.hjx_build_dir + "/bin", config.llvm_tools_dir, os.environ["PATH"]])
# NVIDIA's assembler checks PTX where there is one.
ptxas = shutil.which("ptxas", path=os.environ["PATH"] + os.pathsep + "/usr/local/cuda/bin")
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Files that the project does not carry: tests that need them say REQUIRES, and are skipped without.
if os.path.isdir(os.environ.get("HJX_GPT2_BPE_DIR", "")):
    config.available_features.add("gpt2-bpe")
    config.environment["HJX_GPT2_BPE_DIR"] = os.environ["HJX_GPT2_BPE_DIR"]
