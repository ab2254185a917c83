// SPDX-License-Identifier: Apache-2.0
//
// A driver library that does nothing but remember: it shows which calls the runtime
// makes, in which order, and what it does when one of them fails. Its memory is the
// host's. That kernels compute what they should is for the simulated device to show.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

struct FakeCuda {
  int version = 12040, numDevices = 2;
  std::map<std::string, int> failures; ///< function to CUresult
  std::string jitLog;                  ///< written when cuModuleLoadDataEx fails
  std::set<std::string> kernels = {"add", "scale"};

  std::vector<std::string> calls; ///< "cuMemAlloc_v2 64", without the questions
  int numLive = 0;                ///< allocations, modules, streams, events, graphs and contexts
};

/// The state of the loaded library: dlsym(.., "fakeCuda").
extern "C" FakeCuda *fakeCuda();
