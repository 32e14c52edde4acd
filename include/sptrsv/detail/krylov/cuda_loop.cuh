// SPDX-License-Identifier: Apache-2.0
// The loop of a Krylov method on the GPU: a CUDA graph of an iteration, which repeats itself where CUDA can.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "sptrsv/detail/krylov/method.hpp"
#include "sptrsv/detail/simt/cuda_executor.cuh"

namespace sptrsv::SPTRSV_ABI::detail::krylov {

inline cudaError_t destroy_stream(cudaStream_t stream) { return forget_failure(cudaStreamDestroy(stream)); }

/// The graph of an iteration, made in the first cycle. Empty if CUDA does not take it.
template <>
struct iteration_graph<cuda_executor> {
  simt::cuda_graph graph;
  bool repeats_itself = false;
  bool is_made = false;
};

/// Records `iterate`, on a stream whose capture has begun. Returns whether it can be recorded.
template <class Iterate>
bool end_capture(cudaStream_t stream, cudaGraph_t* graph, const Iterate& iterate) {
  cudaGraph_t partial = nullptr;
  try {
    iterate(stream);
  } catch (const error& e) {
    static_cast<void>(forget_failure(cudaStreamEndCapture(stream, &partial)));
    if (e.code() != errc::cuda_error) {
      throw;
    }
    return false;
  } catch (...) {
    static_cast<void>(forget_failure(cudaStreamEndCapture(stream, &partial)));
    throw;
  }
  return forget_failure(cudaStreamEndCapture(stream, graph)) == cudaSuccess;
}

/// Returns an executable graph of an iteration, or of a loop that ends when a kernel clears data.loop; an
/// empty one if CUDA does not take it.
template <class Wide, class Iterate>
simt::cuda_graph graph_of(method_data<Wide>& data, bool repeats_itself, const Iterate& iterate) {
  constexpr auto mode = cudaStreamCaptureModeThreadLocal;
  owned<cudaStream_t, &destroy_stream> stream;  // that of the user may be one that cannot be captured
  SPTRSV_CUDA_CHECK(cudaStreamCreateWithFlags(stream.address(), cudaStreamNonBlocking));
  simt::recorded_graph graph;
  simt::cuda_graph executable;
  bool is_recorded = false;
  if (!repeats_itself) {
    SPTRSV_CUDA_CHECK(cudaStreamBeginCapture(stream.get(), mode));
    is_recorded = end_capture(stream.get(), graph.address(), iterate);
  } else {
#if CUDART_VERSION >= 12040
    cudaGraphConditionalHandle loop{};
    cudaGraphNode_t added = nullptr;
    cudaGraphNodeParams node{};
    SPTRSV_CUDA_CHECK(cudaGraphCreate(graph.address(), 0));
    if (forget_failure(cudaGraphConditionalHandleCreate(&loop, graph.get(), 1, cudaGraphCondAssignDefault)) !=
        cudaSuccess) {
      return executable;
    }
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = loop;
    node.conditional.type = cudaGraphCondTypeWhile;
    node.conditional.size = 1;
#if CUDART_VERSION >= 13000
    SPTRSV_CUDA_CHECK(cudaGraphAddNode(&added, graph.get(), nullptr, nullptr, 0, &node));
#else
    SPTRSV_CUDA_CHECK(cudaGraphAddNode(&added, graph.get(), nullptr, 0, &node));
#endif
    cudaGraph_t body = node.conditional.phGraph_out[0];
    SPTRSV_CUDA_CHECK(cudaStreamBeginCaptureToGraph(stream.get(), body, nullptr, nullptr, 0, mode));
    data.loop = loop;
    is_recorded = end_capture(stream.get(), &body, iterate);
    data.loop = 0;
#endif
  }
  if (!is_recorded ||
      forget_failure(cudaGraphInstantiate(executable.address(), graph.get(), 0)) != cudaSuccess) {
    return {};
  }
  return executable;
}

/// Repeats `iterate(stream)` until the method stops.
template <class Wide, class Iterate>
void repeat_iteration(iteration_graph<cuda_executor>& of, method_data<Wide>& data, const options& o,
                      cudaStream_t stream, const Iterate& iterate) {
  using sptrsv::krylov::repetition;
  const cuda_executor on(stream);
  const auto has_stopped = [&] { return download_value(&data.state->stop, on) != 0; };
  if (!of.is_made) {
    iterate(stream);  // loads the kernels, which a capture must not do
    if (o.repeat != repetition::launches) {
      of.graph = graph_of(data, false, iterate);
    }
    // A capture that fails inside of a conditional node ends the process: only what was recorded alone is
    // tried.
    if (o.repeat == repetition::on_device && of.graph.get() != nullptr) {
      auto loop = graph_of(data, true, iterate);
      of.repeats_itself = loop.get() != nullptr;
      if (of.repeats_itself) {
        of.graph = std::move(loop);
      }
    }
    of.is_made = true;
    if (has_stopped()) {
      return;  // a graph that repeats itself would not end
    }
  }
  do {
    for (int k = 0; k < (of.repeats_itself ? 1 : o.check_interval); ++k) {
      of.graph.get() != nullptr ? on.replay(of.graph) : static_cast<void>(iterate(stream));
    }
  } while (!has_stopped());
}

}  // namespace sptrsv::SPTRSV_ABI::detail::krylov
