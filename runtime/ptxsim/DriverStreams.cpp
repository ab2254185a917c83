// SPDX-License-Identifier: Apache-2.0
//
// The driver API's streams and events. Work is done when it is put into a stream, so that waiting
// only asks how the device is.
#include "runtime/ptxsim/Driver.h"

using namespace hjx::ptxsim;
using namespace hjx::ptxsim::driver;

static CUresult streamOnly(CUstream stream) {
  return guarded([&](Device &) -> CUresult {
    if (!isStream(stream))
      return InvalidHandle;
    if (Capture *capture = captureOf(stream)) {
      capture->isBroken = true;
      return fail(CaptureUnsupported, "a stream that records a graph cannot be waited for");
    }
    return Success;
  });
}

HJX_CUDA_API cuStreamCreateWithPriority(CUstream *stream, unsigned, int) {
  return guarded([&](Device &) {
    *stream = new Stream;
    state().streams.insert(*stream);
    return Success;
  });
}

HJX_CUDA_API cuStreamCreate(CUstream *stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

HJX_CUDA_API cuStreamDestroy_v2(CUstream stream) {
  return initialized([&](Device &) -> CUresult {
    if (!state().streams.erase(stream))
      return InvalidHandle;
    delete stream;
    return Success;
  });
}

HJX_CUDA_API cuStreamSynchronize(CUstream stream) { return streamOnly(stream); }
HJX_CUDA_API cuStreamQuery(CUstream stream) { return streamOnly(stream); }

HJX_CUDA_API cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return guarded([&](Device &) -> CUresult {
    if (!isStream(stream) || !state().events.count(event))
      return InvalidHandle;
    if (!event->capture)
      return Success;
    // The stream becomes part of the capture, if it is not; what the event covers comes before.
    if (reinterpret_cast<uintptr_t>(stream) <= 2)
      return fail(CaptureUnsupported, "the default stream cannot take part in the recording of a graph");
    Capture &capture = *event->capture;
    if (!stream->capture && capture.graph) {
      stream->capture = event->capture;
      capture.unjoined.insert(stream);
    }
    stream->joined.insert(event->covers.begin(), event->covers.end());
    if (stream == capture.origin)
      for (Stream *covered : event->covers)
        capture.unjoined.erase(covered);
    return Success;
  });
}

HJX_CUDA_API cuEventCreate(CUevent *event, unsigned) {
  return guarded([&](Device &) {
    *event = new Event;
    state().events.insert(*event);
    return Success;
  });
}

HJX_CUDA_API cuEventRecord(CUevent event, CUstream stream) {
  return guarded([&](Device &) -> CUresult {
    if (!state().events.count(event) || !isStream(stream))
      return InvalidHandle;
    *event = Event{true, std::chrono::steady_clock::now(), nullptr, {}};
    if (captureOf(stream)) {
      event->isRecorded = false;
      event->capture = stream->capture;
      event->covers = stream->joined;
      event->covers.insert(stream);
    }
    return Success;
  });
}

HJX_CUDA_API cuEventSynchronize(CUevent event) {
  return guarded([&](Device &) -> CUresult {
    return state().events.count(event) ? Success : InvalidHandle;
  });
}
HJX_CUDA_API cuEventQuery(CUevent event) { return cuEventSynchronize(event); }

HJX_CUDA_API cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
  return guarded([&](Device &) -> CUresult {
    if (!state().events.count(begin) || !state().events.count(end) || !begin->isRecorded ||
        !end->isRecorded)
      return InvalidHandle;
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
    return Success;
  });
}

HJX_CUDA_API cuEventDestroy_v2(CUevent event) {
  return initialized([&](Device &) -> CUresult {
    if (!state().events.erase(event))
      return InvalidHandle;
    delete event;
    return Success;
  });
}
