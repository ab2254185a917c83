// SPDX-License-Identifier: Apache-2.0
//
// One training step of a GPT-2: loss, gradients, clipping, AdamW. gpt2.cpp makes
// a graph of it for hjx-run.
#pragma once

#include "model.h"

namespace gpt2 {

struct State {
  Params params;
  hjx::optim::AdamWState<Params> opt;
  hjx::Array dropout_key; ///< [2] uint32; masks are functions of it and of the step
};
HJX_TREE(State, params, opt, dropout_key)


State initialState(const hjx::Array &key, const Config &config);

struct StepResult {
  State state;
  hjx::Array loss, grad_norm, clip_factor;
};
HJX_TREE(StepResult, state, loss, grad_norm, clip_factor)


/// inputs and targets: [batch_size, context_length], with a leading accumulation_steps when that is
/// more than 1. A step whose loss or gradient norm is not finite leaves the state as it was.
StepResult trainStep(const State &state, const hjx::Array &inputs, const hjx::Array &targets,
                     const hjx::Array &learning_rate, const hjx::Array &step, const Config &config);

} // namespace gpt2
