#include "background.hpp"

#include <atomic>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "acceptance/busy_streams.cuh"
#include "prioritised_stream.cuh"

namespace sptrsv_trial {
namespace {

/// Keeps the threads of its blocks busy.
__global__ void occupy(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

/// Occupies multiprocessors from a thread of its own until finish() or destruction.
class busy_blocks {
 public:
  busy_blocks() {
    int device = 0;
    SPTRSV_CUDA_CHECK(cudaGetDevice(&device));
    SPTRSV_CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
    worker_ = std::thread([this] {
      try {
        for (unsigned round = 0; !stop_; ++round) {
          enqueue_round(round);
        }
        for (lane& each : lanes_) {
          SPTRSV_CUDA_CHECK(cudaStreamSynchronize(each.stream.get()));
        }
      } catch (...) {
        failure_ = std::current_exception();
      }
    });
  }
  busy_blocks(const busy_blocks&) = delete;  // its thread holds its address
  busy_blocks& operator=(const busy_blocks&) = delete;
  ~busy_blocks() { stop(); }

  /// Ends the work. Throws the exception of the thread, if any.
  void finish() {
    stop();
    if (failure_) {
      std::rethrow_exception(std::exchange(failure_, nullptr));
    }
  }

 private:
  struct lane {
    explicit lane(stream_priority priority) : stream(priority) {}
    prioritised_stream stream;
    sptrsv_common::cuda_event done[2] = {sptrsv_common::cuda_event(event_flags),
                                         sptrsv_common::cuda_event(event_flags)};
  };
  static constexpr unsigned event_flags = cudaEventDisableTiming | cudaEventBlockingSync;
  static constexpr long long cycles = 100'000;  // about 60 us

  /// Mostly a block of half the threads of a multiprocessor; in every eighth round more blocks than there is
  /// room for. Waits for the round before the last.
  void enqueue_round(unsigned round) {
    for (lane& each : lanes_) {
      sptrsv_common::cuda_event& done = each.done[round % 2];
      done.synchronize();
      const int blocks = round % 8 == 7 ? 4 * multiprocessors_ : multiprocessors_;
      occupy<<<static_cast<unsigned>(blocks), 1024, 0, each.stream.get()>>>(cycles);
      SPTRSV_CUDA_CHECK(cudaGetLastError());
      done.record(each.stream.get());
    }
  }
  void stop() {
    stop_ = true;
    if (worker_.joinable()) {
      worker_.join();
    }
  }

  int multiprocessors_ = 1;
  lane lanes_[2] = {lane(stream_priority::lowest), lane(stream_priority::highest)};
  std::exception_ptr failure_;
  std::atomic<bool> stop_{false};
  std::thread worker_;
};

}  // namespace

struct background::parts {
  std::optional<sptrsv_acceptance::busy_streams> solves;
  std::optional<busy_blocks> blocks;
};

const char* name_of(background_work work) {
  switch (work) {
    case background_work::none:
      return "on the quiet device";
    case background_work::solves:
      return "beside other solves";
    case background_work::blocks:
      return "on occupied multiprocessors";
    default:
      return "beside other solves on occupied multiprocessors";
  }
}

background::background(background_work work) : parts_(std::make_unique<parts>()) {
  if (work == background_work::solves || work == background_work::both) {
    parts_->solves.emplace(4);
  }
  if (work == background_work::blocks || work == background_work::both) {
    parts_->blocks.emplace();
  }
}

background::~background() = default;

bool background::finish() {
  if (parts_->blocks) {
    parts_->blocks->finish();
  }
  return !parts_->solves || parts_->solves->finish();
}

}  // namespace sptrsv_trial
