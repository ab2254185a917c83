// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints on disk: whole or absent, never somebody else's.
//
//   checkpoints/
//     .store                the store's identity; locked while a run writes
//     step-00000100/        state.safetensors, meta.json
//     step-00000200/
//     latest -> step-00000200
//     best   -> step-00000100
//
// A checkpoint is written under a temporary name, synced file by file, and renamed: one rename
// is the commit. The links are replaced by rename too. Deleting is as careful: only a folder of
// the canonical name, whose meta.json carries this store's identity and that step, and that
// holds nothing but the two files, is ever removed. A checkpoint that was copied in, renamed or
// given a note stays.
// "Best" means lowest validation loss; training loss is no measure of a best model.
#pragma once

#include "lib/Data/Safetensors.h"
#include "lib/Train/Config.h"

#include <memory>
#include <optional>

namespace hjx {

struct CheckpointMeta {
  int64_t step = 0;    ///< updates applied
  uint64_t tokens = 0; ///< seen since the very start, over all restarts
  double seconds = 0;  ///< the same for time spent
  std::optional<double> validationLoss;
  Json config;                ///< the merged configuration of the run
  Json state;                 ///< whatever else the run needs to go on
  std::string parametersHash; ///< see ParameterHash.h
  std::string time;           ///< UTC, filled in by save
};

struct CheckpointPolicy {
  int64_t keepLast = 3;  ///< the most recently saved; 0 keeps all
  int64_t keepEvery = 0; ///< and all whose step is a multiple of this
};

struct Checkpoint {
  std::string path;
  CheckpointMeta meta;
  SafetensorsFile tensors;
};

/// Opens the checkpoint that `which` names: "latest", "best", a step number, or a path to a
/// checkpoint folder. Needs no lock.
absl::StatusOr<Checkpoint> openCheckpoint(const std::string &folder, const std::string &which);

/// Errors when a run with `config` must not continue `meta`: a key differs that is not in `free`.
/// The message lists all of them.
absl::Status checkResume(const CheckpointMeta &meta, const Json &config,
                         const std::vector<std::string> &free);

/// Errors unless `file` holds exactly the tensors `expected` with their types and shapes (their
/// bytes are not looked at): lists what is missing, unexpected and of the wrong shape.
absl::Status checkTensors(const SafetensorsFile &file, std::span<const TensorView> expected);

/// Errors unless the tensors have the hash that meta.json says. Reads them all.
absl::Status checkHash(const Checkpoint &checkpoint);

class CheckpointStore {
public:
  /// Creates `folder` if need be and locks it against other writers; removes what an interrupted
  /// save of this store left behind.
  static absl::StatusOr<CheckpointStore> open(const std::string &folder, CheckpointPolicy policy);
  CheckpointStore(CheckpointStore &&) noexcept;
  ~CheckpointStore();

  /// Saves, points "latest" (and "best", when the validation loss is the lowest) at the result,
  /// and removes what the policy does not keep. A checkpoint of the same step is replaced.
  absl::Status save(const CheckpointMeta &meta, std::span<const TensorView> tensors);

  /// Errors if there are checkpoints, with which those of a new run in `runFolder` would mix.
  absl::Status checkNew(const std::string &runFolder) const;

  /// The steps of this store's checkpoints, ascending.
  std::vector<int64_t> steps() const;

private:
  struct Entry {
    int64_t step;
    int64_t serial;        ///< order of saving: after a resume, later steps may be older saves
    double validationLoss; ///< infinite when there is none
  };
  CheckpointStore(std::string folder, std::string identity, CheckpointPolicy policy, int lock)
      : folder_(std::move(folder)), identity_(std::move(identity)), policy_(policy), lock_(lock) {}

  std::string path(const std::string &name) const { return folder_ + "/" + name; }
  std::string temporaryName(const std::string &purpose) const;
  std::optional<Entry> ownEntry(const std::string &name) const;
  std::vector<Entry> ownEntries() const;
  absl::Status commit(const std::string &temporary, const std::string &name);
  absl::Status pointLink(const std::string &link, const std::string &target);
  absl::Status updateBest();
  absl::Status remove(const std::string &name);
  absl::Status prune();

  std::string folder_;
  std::string identity_;
  CheckpointPolicy policy_;
  int lock_;
};

} // namespace hjx
