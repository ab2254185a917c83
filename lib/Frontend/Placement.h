// SPDX-License-Identifier: Apache-2.0
//
// Where computations run, and how their arguments get there. The rules are in
// hjx/device.h; the chain of priorities is one function, `choosePlace`.
#pragma once

#include "lib/Frontend/Trace.h"
#include "runtime/TransferGuard.h"

namespace hjx::detail {

/// Where a computation runs, and whether its results are committed to it.
struct Place {
  RuntimeDevice *device = nullptr;
  bool isCommitted = false;
};

/// HJX_DEVICE. Throws if it is not there: nothing stands in for it.
RuntimeDevice &processDevice(const Call &call);
/// The device of the innermost default_device of this thread, else that of the process.
RuntimeDevice &defaultDevice(const Call &call);
/// The device of a name; throws if there is none.
RuntimeDevice &openNamed(const std::string &name, const Call &call);
/// What a handle names, open.
RuntimeDevice &deviceOf(const Device &device, const Call &call);
/// Sets it, and returns what was set before; null for nothing.
RuntimeDevice *exchangeDefaultDevice(RuntimeDevice *device);

/// What a leaf is called in a message: "args[0].w".
using NameOf = llvm::function_ref<std::string(size_t)>;

/// Where a computation on `leaves` runs: on the device that its function demands or that one of them
/// is committed to, else on the default device. Hi values and refs are asked for their arrays.
///
/// Throws, with names of both, if two of these differ.
Place choosePlace(llvm::ArrayRef<llvm::ArrayRef<Array>> leaves, const Call &call, const Demand &demand = {},
                  NameOf nameOf = nullptr);

/// The function that is recorded says, at `call`, where its program runs.
/// Throws if it said otherwise before, or is a rule, whose program is another's.
void demandDevice(Session &session, RuntimeDevice &device, const Call &call);
/// Throws if it said so: for programs that somebody else runs.
void refuseDemand(Session &session, const Call &call);

/// The memory itself, where a program on `device` may read it; else a copy there.
/// Cost: a transfer, which the guard of the thread is asked about.
Storage moveTo(const Storage &storage, RuntimeDevice &device, const Call &call,
               TransferKind kind = TransferKind::Implicit);
/// A concrete leaf whose arrays lie on the place's device. It shares what is there already.
Array moveTo(const Array &leaf, const Place &place, const Call &call, TransferKind kind = TransferKind::Implicit);
/// The arrays of a concrete leaf in memory of their own on `device`, in order.
llvm::SmallVector<Storage> copyTo(const Array &leaf, RuntimeDevice &device, const Call &call);

/// Calls `f` with each concrete array of a leaf; throws for a leaf that is traced or abstract.
void forEachArray(const Array &leaf, const Call &call, llvm::function_ref<void(const Array &)> f);

/// Marks a leaf and its arrays as consumed at `where`. Those that held memory give it to `take`.
void consume(const Array &leaf, const Call &call, llvm::function_ref<void(Storage)> take);

/// Throws what the runtime said; it names the user's line itself if that is in it.
[[noreturn]] void failWith(const absl::Status &status, const Call &call);

} // namespace hjx::detail
