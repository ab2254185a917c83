// SPDX-License-Identifier: Apache-2.0
//
// --target, --start-from, --stop-after and --dump-dir, the same for every command.
#include "tools/hjx-run/Commands.h"

#include "dialects/hjx/Hjx.h"
#include "lib/Codegen/Structured/ProductTypes.h"
#include "lib/Data/Status.h"
#include "runtime/Environment.h"

#include "absl/strings/str_cat.h"

#include <cstdio>
#include <set>

namespace hjx {

namespace cl = llvm::cl;

StageFlags::StageFlags(cl::SubCommand &flags)
    : startFrom_("start-from", cl::desc("the stage that the input is at: traced (the default), pure, lo, tensor, kernel or machine"),
                 cl::value_desc("stage"), cl::init("traced"), cl::sub(flags)),
      stopAfter_("stop-after", cl::desc("lower to this stage, and run nothing"), cl::value_desc("stage"), cl::sub(flags)),
      dumpDir_("dump-dir", cl::desc("write every stage of every function to <dir>/<function>/<n>-<stage>.mlir"),
               cl::value_desc("dir"), cl::sub(flags)),
      target_("target", cl::desc("cpu (the default, unless HJX_DEVICE says otherwise), cuda, cuda:1, sim, sim:1, sim:sm_80 or sim:sm_90a (simulated), or with --compile-only ptx:sm_80, ptx:sm_90 or ptx:sm_90a"), cl::value_desc("machine"),
              cl::init(defaultDeviceName()), cl::sub(flags)),
      matmulPrecision_("matmul-precision",
                       cl::desc("of products of f32 on a GPU: f32, or tf32 for its tensor cores; else what the graph says"),
                       cl::value_desc("type"), cl::sub(flags)) {}

/// What products of floats are computed in: "bf16 with sums in f32, f32 in tf32". Only the first stages know products;
/// of a program at a later one it says what f32 would be computed in.
static std::string describeProducts(mlir::ModuleOp program) {
  auto precision = program->getAttrOfType<mlir::StringAttr>(kMatmulPrecisionAttr);
  std::set<std::string> types;
  program->walk([&](ir::DotGeneralOp op) {
    mlir::Type type = mlir::getElementTypeOrSelf(op.getLhs().getType());
    if (type.isF32())
      types.insert("f32 in " + (precision ? precision.str() : "f32"));
    else if (type.isF64())
      types.insert("f64 in f64");
    else if (mlir::isa<mlir::FloatType>(type))
      types.insert(type.isBF16() ? "bf16 with sums in f32" : "f16 with sums in f32");
  });
  return types.empty() ? "f32 in " + (precision ? precision.str() : "f32") : llvm::join(types, ", ");
}

absl::StatusOr<RuntimeDevice *> StageFlags::openDevice(mlir::ModuleOp program) const {
  HJX_ASSIGN_OR_RETURN(Target target, this->target());
  HJX_ASSIGN_OR_RETURN(RuntimeDevice *device, target.open());
  if (device->kind() != DeviceKind::Cpu)
    std::fprintf(stderr, "device: %s, %s, sm_%d, %.1f GiB; products of %s\n", device->name().c_str(),
                 device->info().description.c_str(), device->info().computeCapability,
                 static_cast<double>(device->info().totalBytes) / 0x1p30, describeProducts(program).c_str());
  else if (defaultBackend() == Backend::Interpreter)
    std::fprintf(stderr, "device: the reference interpreter, which is slow (HJX_BACKEND)\n");
  else
    std::fprintf(stderr, "device: cpu; products of %s\n", describeProducts(program).c_str());
  return device;
}

absl::Status StageFlags::setMatmulPrecision(mlir::ModuleOp program) const {
  if (matmulPrecision_.getNumOccurrences() == 0)
    return absl::OkStatus();
  if (matmulPrecision_ != "f32" && matmulPrecision_ != "tf32")
    return badInput("--matmul-precision", "f32 or tf32", matmulPrecision_, "products of other types have their own precision");
  HJX_ASSIGN_OR_RETURN(Target target, this->target());
  if (target.kind == Target::Kind::Cpu && matmulPrecision_ != "f32")
    return badInput("--matmul-precision", "f32 on the processor", matmulPrecision_, "only a GPU has another precision");
  HJX_ASSIGN_OR_RETURN(Stage stage, startFrom());
  if (stage >= Stage::Kernel)
    return badInput("--matmul-precision", "a program before the kernel stage", nameOf(stage).str(), "its products are chosen already");
  program->setAttr(kMatmulPrecisionAttr, mlir::StringAttr::get(program.getContext(), matmulPrecision_));
  return absl::OkStatus();
}

absl::StatusOr<TrainingGraph> StageFlags::load(const std::string &path) const {
  HJX_ASSIGN_OR_RETURN(Stage stage, startFrom());
  HJX_ASSIGN_OR_RETURN(TrainingGraph graph, TrainingGraph::load(path, stage));
  for (mlir::ModuleOp module : graph.modules())
    HJX_RETURN_IF_ERROR(setMatmulPrecision(module));
  return graph;
}

absl::StatusOr<Stage> StageFlags::stopAfter() const {
  HJX_ASSIGN_OR_RETURN(Stage from, startFrom());
  HJX_ASSIGN_OR_RETURN(Stage to, parseStage(stopAfter_));
  if (to < from)
    return badInput("--stop-after", absl::StrCat("the stage of --start-from, ", nameOf(from).str(), ", or a later one"), nameOf(to).str(),
                    "the compiler has no way back");
  return to;
}

std::string StageFlags::dumpDir(const std::string &function) const {
  return dumpDir_.empty() ? "" : absl::StrCat(dumpDir_.getValue(), "/", function);
}

absl::Status StageFlags::lower(const TrainingGraph &graph, const std::vector<std::string> &functions) const {
  HJX_ASSIGN_OR_RETURN(Stage to, stopAfter());
  HJX_ASSIGN_OR_RETURN(Target target, this->target());
  if (dumpDir_.empty())
    return badInput("--stop-after", "--dump-dir with it", "none", "name the folder for the stages");
  for (const std::string &name : functions) {
    if (!graph.find(name))
      continue;
    HJX_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> program, graph.program(name));
    LowerOptions options;
    options.forGpu = target.kind != Target::Kind::Cpu;
    options.dumpDir = dumpDir(name);
    if (absl::Status status = lowerModule(*program, graph.stage, to, options); !status.ok())
      return absl::Status(status.code(), absl::StrCat(name, ": ", std::string(status.message())));
    std::printf("%s/%s\n", options.dumpDir.c_str(), dumpName(to).c_str());
  }
  return absl::OkStatus();
}

absl::Status StageFlags::lower(mlir::ModuleOp program, const std::string &name) const {
  HJX_ASSIGN_OR_RETURN(Stage from, startFrom());
  HJX_ASSIGN_OR_RETURN(Stage to, stopAfter());
  HJX_ASSIGN_OR_RETURN(Target target, this->target());
  LowerOptions options;
  options.forGpu = target.kind != Target::Kind::Cpu;
  options.dumpDir = dumpDir(name);
  HJX_RETURN_IF_ERROR(lowerModule(program, from, to, options));
  program.print(llvm::outs());
  llvm::outs() << "\n";
  return absl::OkStatus();
}

} // namespace hjx
