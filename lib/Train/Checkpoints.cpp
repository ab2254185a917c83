// SPDX-License-Identifier: Apache-2.0
//
// Save, link, prune; open and compare.
#include "lib/Train/Checkpoints.h"

#include "lib/Data/Digest.h"
#include "lib/Train/ParameterHash.h"
#include "lib/Train/RunLog.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cmath>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace hjx {
namespace {

namespace fs = std::filesystem;

constexpr const char *kFormat = "hjx-checkpoint-1";
constexpr const char *kStateFile = "state.safetensors";
constexpr const char *kMetaFile = "meta.json";
constexpr const char *kPrefix = "step-";

std::string folderName(int64_t step) { return absl::StrFormat("%s%08d", kPrefix, step); }

Json toJson(const CheckpointMeta &meta, const std::string &store, int64_t serial) {
  Json json = {{"format", kFormat},     {"store", store},
               {"serial", serial},      {"step", meta.step},
               {"tokens", meta.tokens}, {"seconds", meta.seconds},
               {"config", meta.config}, {"config_hash", configHash(meta.config)},
               {"state", meta.state},   {"parameters_hash", meta.parametersHash},
               {"time", utcNow()}};
  if (meta.validationLoss)
    json["validation_loss"] = *meta.validationLoss;
  return json;
}

absl::StatusOr<Json> readMeta(const std::string &folder) {
  std::string path = absl::StrCat(folder, "/", kMetaFile);
  HJX_ASSIGN_OR_RETURN(std::string text, readFile(path, 64u << 20));
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  // One exception-free probe for each field that is used below.
  auto number = [&](const char *key) { return json.contains(key) && json[key].is_number(); };
  auto string = [&](const char *key) { return json.contains(key) && json[key].is_string(); };
  auto integer = [&](const char *key) {
    return number(key) && json[key].is_number_unsigned() && json[key].get<uint64_t>() <= INT64_MAX;
  };
  if (!json.is_object() || !string("format") || json["format"] != kFormat || !string("store") ||
      !integer("serial") || !integer("step") || !integer("tokens") || !number("seconds") ||
      !string("parameters_hash") || !string("time") || !json.contains("config") ||
      !json.contains("state") || (json.contains("validation_loss") && !number("validation_loss")))
    return badInput(path, absl::StrCat("a JSON object of format ", kFormat),
                    json.is_discarded() ? "a syntax error" : "something else",
                    "name another checkpoint; this one is damaged or of another program");
  return json;
}

CheckpointMeta fromJson(const Json &json) {
  CheckpointMeta meta;
  meta.step = json["step"].get<int64_t>();
  meta.tokens = json["tokens"].get<uint64_t>();
  meta.seconds = json["seconds"].get<double>();
  if (json.contains("validation_loss"))
    meta.validationLoss = json["validation_loss"].get<double>();
  meta.config = json["config"];
  meta.state = json["state"];
  meta.parametersHash = json["parameters_hash"].get<std::string>();
  meta.time = json["time"].get<std::string>();
  return meta;
}

/// Renames over an existing folder: swaps the two in one step where the file system can.
/// Returns whether `from` now holds the old contents.
absl::StatusOr<bool> replaceFolder(const std::string &from, const std::string &to,
                                   const std::string &aside) {
  if (::rename(from.c_str(), to.c_str()) == 0)
    return false;
  if (errno != ENOTEMPTY && errno != EEXIST)
    return systemError(to, "cannot rename into place", errno);
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0)
    return true;
  if (::rename(to.c_str(), aside.c_str()) != 0 || ::rename(from.c_str(), to.c_str()) != 0 ||
      ::rename(aside.c_str(), from.c_str()) != 0)
    return systemError(to, "cannot rename into place", errno);
  return true;
}

/// Removes a folder of ours by its known files; anything else in it makes rmdir fail and stays.
absl::Status removeFolder(const std::string &path) {
  for (const char *file : {kStateFile, kMetaFile})
    if (std::string name = absl::StrCat(path, "/", file);
        ::unlink(name.c_str()) != 0 && errno != ENOENT)
      return systemError(name, "cannot remove", errno);
  return ::rmdir(path.c_str()) == 0 ? absl::OkStatus() : systemError(path, "cannot remove", errno);
}

bool holdsOnlyOurFiles(const std::string &path) {
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (it->path().filename() != kStateFile && it->path().filename() != kMetaFile)
      return false;
  return !error;
}

/// What there is to choose from, as a remedy.
std::string describeCheckpoints(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (std::string name = it->path().filename().string(); name[0] != '.' && fs::is_directory(it->path(), error))
      names.push_back(name);
  std::sort(names.begin(), names.end());
  if (names.empty())
    return "there is none yet: train first, or name another run folder";
  return absl::StrCat("name one of those there are: ", printable(absl::StrJoin(names, ", "), 400));
}

} // namespace

absl::StatusOr<Checkpoint> openCheckpoint(const std::string &folder, const std::string &which) {
  int64_t step;
  std::string path;
  if (which == "latest" || which == "best")
    path = absl::StrCat(folder, "/", which);
  else if (absl::SimpleAtoi(which, &step))
    path = absl::StrCat(folder, "/", folderName(step));
  else
    path = which;
  std::error_code error;
  if (!fs::is_directory(path, error))
    return badInput("checkpoint", "latest, best, a step or the path of a checkpoint folder",
                    absl::StrCat("'", printable(which), "', which is not in ", folder),
                    describeCheckpoints(folder));
  fs::path resolved = fs::canonical(path, error);
  if (!error)
    path = resolved.string(); // a link may move on while the files are open
  HJX_ASSIGN_OR_RETURN(Json json, readMeta(path));
  HJX_ASSIGN_OR_RETURN(SafetensorsFile tensors,
                       SafetensorsFile::open(absl::StrCat(path, "/", kStateFile)));
  return Checkpoint{path, fromJson(json), std::move(tensors)};
}

absl::Status checkResume(const CheckpointMeta &meta, const Json &config,
                         const std::vector<std::string> &free) {
  std::vector<std::string> lines = configDifferences(meta.config, config, free);
  if (lines.empty())
    return absl::OkStatus();
  return badInput(
      "resume",
      absl::StrCat("the configuration of the checkpoint (hash ", configHash(meta.config), ")"),
      absl::StrCat("hash ", configHash(config), " with ", lines.size(), " differing:\n    ",
                   absl::StrJoin(lines, "\n    ")),
      "set these keys back, or start a new run folder");
}

absl::Status checkHash(const Checkpoint &checkpoint) {
  std::vector<TensorHash> hashes;
  for (const TensorInfo &info : checkpoint.tensors.tensors()) {
    HJX_ASSIGN_OR_RETURN(HostTensor tensor, checkpoint.tensors.load(info.name));
    hashes.push_back({info.name, xxh3(std::string_view(tensor.bytes.data(), tensor.bytes.size()))});
  }
  std::sort(hashes.begin(), hashes.end(),
            [](const TensorHash &a, const TensorHash &b) { return a.name < b.name; });
  std::string hash = formatHash(combinedHash(hashes));
  if (hash == checkpoint.meta.parametersHash)
    return absl::OkStatus();
  return badInput(checkpoint.path,
                  absl::StrCat("parameters with hash ", checkpoint.meta.parametersHash), hash,
                  "the state file is damaged; name another checkpoint");
}

absl::Status checkTensors(const SafetensorsFile &file, std::span<const TensorView> expected) {
  constexpr size_t kShown = 10;
  std::vector<std::string> missing, wrong, unexpected;
  std::vector<std::string_view> names;
  for (const TensorView &tensor : expected) {
    names.push_back(tensor.name);
    const TensorInfo *info = file.find(tensor.name);
    if (!info)
      missing.push_back(printable(tensor.name));
    else if (info->type != tensor.type || info->shape != tensor.shape)
      wrong.push_back(absl::StrCat(printable(tensor.name), " is ",
                                   describeTensor(info->type, info->shape), ", not ",
                                   describeTensor(tensor.type, tensor.shape)));
  }
  std::sort(names.begin(), names.end());
  for (const TensorInfo &info : file.tensors())
    if (!std::binary_search(names.begin(), names.end(), std::string_view(info.name)))
      unexpected.push_back(printable(info.name));
  std::string got;
  for (const auto &[label, list] : {std::pair("lacks", &missing), std::pair("differs in", &wrong), std::pair("has besides", &unexpected)})
    if (!list->empty()) {
      size_t total = list->size();
      list->resize(std::min(total, kShown));
      absl::StrAppend(&got, got.empty() ? "a file that " : "; ", label, " ", total, ": ",
                      absl::StrJoin(*list, ", "), total > kShown ? ", ..." : "");
    }
  if (got.empty())
    return absl::OkStatus();
  return badInput(file.path(), absl::StrCat("the ", expected.size(), " tensors of the model"), got,
                  "check that the file belongs to this model configuration");
}

absl::StatusOr<CheckpointStore> CheckpointStore::open(const std::string &folder,
                                                      CheckpointPolicy policy) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::string path = absl::StrCat(folder, "/.store");
  int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0)
    return systemError(path, "cannot open", errno);
  CheckpointStore store(folder, "", policy, lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0)
    return badInput(folder, "no other run writing here", "a folder locked by one",
                    "wait for it, stop it, or use another run folder");
  HJX_ASSIGN_OR_RETURN(store.identity_, readFile(path, 4096));
  bool wellFormed = store.identity_.size() == 16 &&
                    store.identity_.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!wellFormed && !store.identity_.empty())
    return badInput(path, "16 hexadecimal digits",
                    absl::StrCat("'", printable(store.identity_), "'"),
                    "move the folder's contents away; this store was not made by hjx");
  if (store.identity_.empty()) {
    std::random_device random;
    store.identity_ = absl::StrFormat("%08x%08x", random(), random());
    if (::pwrite(lock, store.identity_.data(), 16, 0) != 16 || ::fsync(lock) != 0)
      return systemError(path, "cannot write", errno);
  }
  // What an interrupted save left: only names that carry this store's identity.
  std::string mark = store.temporaryName("");
  std::vector<std::string> leftovers;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (std::string name = it->path().filename().string(); name.starts_with(mark))
      leftovers.push_back(name);
  for (const std::string &name : leftovers) {
    if (fs::is_symlink(store.path(name), error))
      ::unlink(store.path(name).c_str());
    else if (holdsOnlyOurFiles(store.path(name)))
      HJX_RETURN_IF_ERROR(removeFolder(store.path(name)));
  }
  return store;
}

absl::Status CheckpointStore::checkNew(const std::string &runFolder) const {
  if (steps().empty())
    return absl::OkStatus();
  return badInput(runFolder, "a run folder without checkpoints for a new run", absl::StrCat(steps().size(), " of them"),
                  "go on with that run (--resume), or name another folder");
}

CheckpointStore::CheckpointStore(CheckpointStore &&other) noexcept
    : folder_(std::move(other.folder_)), identity_(std::move(other.identity_)),
      policy_(other.policy_), lock_(std::exchange(other.lock_, -1)) {}

CheckpointStore::~CheckpointStore() {
  if (lock_ >= 0)
    ::close(lock_); // and with it the lock
}

std::string CheckpointStore::temporaryName(const std::string &purpose) const {
  return absl::StrCat(".tmp-", identity_, "-", purpose);
}

std::optional<CheckpointStore::Entry> CheckpointStore::ownEntry(const std::string &name) const {
  std::error_code error;
  int64_t step;
  if (!name.starts_with(kPrefix) || !absl::SimpleAtoi(name.substr(5), &step) ||
      name != folderName(step) || !fs::is_directory(fs::symlink_status(path(name), error)) ||
      !holdsOnlyOurFiles(path(name)))
    return std::nullopt;
  absl::StatusOr<Json> meta = readMeta(path(name));
  if (!meta.ok() || (*meta)["store"] != identity_ || (*meta)["step"] != step)
    return std::nullopt;
  return Entry{step, (*meta)["serial"].get<int64_t>(), meta->value("validation_loss", HUGE_VAL)};
}

std::vector<CheckpointStore::Entry> CheckpointStore::ownEntries() const {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
    if (std::optional<Entry> entry = ownEntry(it->path().filename().string()))
      entries.push_back(*entry);
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.step < b.step; });
  return entries;
}

std::vector<int64_t> CheckpointStore::steps() const {
  std::vector<int64_t> steps;
  for (const Entry &entry : ownEntries())
    steps.push_back(entry.step);
  return steps;
}

absl::Status CheckpointStore::save(const CheckpointMeta &meta,
                                   std::span<const TensorView> tensors) {
  std::string name = folderName(meta.step);
  std::error_code error;
  if (fs::exists(fs::symlink_status(path(name), error)) && !ownEntry(name))
    return badInput(path(name), "a free name, or a checkpoint of this run",
                    "something that this run did not write", "move it away");
  int64_t serial = 0;
  for (const Entry &entry : ownEntries())
    serial = std::max(serial, entry.serial + 1);

  std::string temporary = path(temporaryName(name));
  fs::create_directory(temporary, error);
  if (error)
    return systemError(temporary, "cannot create", error.value());
  auto write = [&]() -> absl::Status {
    std::vector<TensorView> copy(tensors.begin(), tensors.end());
    HJX_RETURN_IF_ERROR(writeSafetensors(absl::StrCat(temporary, "/", kStateFile), std::move(copy),
                                         {{"format", kFormat}, {"step", absl::StrCat(meta.step)}}));
    return writeFileAtomically(
        absl::StrCat(temporary, "/", kMetaFile),
        toJson(meta, identity_, serial).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  };
  absl::Status written = write();
  if (written.ok())
    written = commit(temporary, name);
  if (!written.ok()) {
    removeFolder(temporary).IgnoreError(); // the first error is the one to tell
    return written;
  }
  HJX_RETURN_IF_ERROR(pointLink("latest", name));
  HJX_RETURN_IF_ERROR(updateBest());
  return prune();
}

absl::Status CheckpointStore::commit(const std::string &temporary, const std::string &name) {
  HJX_RETURN_IF_ERROR(syncDirectory(temporary));
  HJX_ASSIGN_OR_RETURN(bool replaced,
                       replaceFolder(temporary, path(name), path(temporaryName("old"))));
  HJX_RETURN_IF_ERROR(syncDirectory(folder_));
  return replaced ? removeFolder(temporary) : absl::OkStatus();
}

absl::Status CheckpointStore::pointLink(const std::string &link, const std::string &target) {
  std::error_code error;
  fs::file_status status = fs::symlink_status(path(link), error);
  if (fs::exists(status) && !fs::is_symlink(status))
    return badInput(path(link), "a symbolic link", "a file or folder", "move it away");
  std::string temporary = path(temporaryName(link));
  ::unlink(temporary.c_str());
  if (::symlink(target.c_str(), temporary.c_str()) != 0 ||
      ::rename(temporary.c_str(), path(link).c_str()) != 0)
    return systemError(path(link), "cannot update the link", errno);
  return syncDirectory(folder_);
}

absl::Status CheckpointStore::updateBest() {
  // From all that is there: the save may just have replaced the former best.
  const Entry *best = nullptr;
  std::vector<Entry> entries = ownEntries();
  for (const Entry &entry : entries)
    if (std::isfinite(entry.validationLoss) &&
        (!best || entry.validationLoss < best->validationLoss))
      best = &entry;
  return best ? pointLink("best", folderName(best->step)) : absl::OkStatus();
}

absl::Status CheckpointStore::remove(const std::string &name) {
  // Out of sight first: a half-removed checkpoint must not carry a valid name.
  std::string temporary = path(temporaryName("removed-" + name));
  if (::rename(path(name).c_str(), temporary.c_str()) != 0)
    return systemError(path(name), "cannot remove", errno);
  return removeFolder(temporary);
}

absl::Status CheckpointStore::prune() {
  if (policy_.keepLast <= 0)
    return absl::OkStatus();
  std::error_code error;
  std::string best = fs::read_symlink(path("best"), error).string();
  std::vector<Entry> entries = ownEntries();
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.serial > b.serial; });
  for (size_t i = static_cast<size_t>(policy_.keepLast); i < entries.size(); ++i) {
    std::string name = folderName(entries[i].step);
    bool major = policy_.keepEvery > 0 && entries[i].step % policy_.keepEvery == 0;
    if (!major && name != best)
      HJX_RETURN_IF_ERROR(remove(name));
  }
  return absl::OkStatus();
}

} // namespace hjx
