// The functions of the executor that do the same for all kernels and types.
#include "emulator/executor.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "emulator/scheduler.hpp"

namespace sptrsv::emulator {

std::string executor::why_unreachable(const void* p) {
  const guard lock(space().mutex());
  return space().find(address_of(p)) != nullptr ? std::string()
                                                : "it is host memory, and the emulator takes device memory";
}

void executor::launch_kernel(const kernel& k) const {
  check_launch(k);
  count_call();
  if (runs_at_once()) {
    const guard lock(space().mutex());
    scheduler::launch(*device_, k);
  } else {
    enqueue(later_launch(k));
  }
}

void executor::launch_kernel_together(const kernel& k) const {
  check_launch(k);
  refuse_capture("launch_together");
  count_call();
  if (!device_->is_clustered()) {
    throw launch_failure("emulator: launch_together on a device that is in no cluster");
  }
  device_->waiting.push_back({later_launch(k), false});
}

void executor::check_launch(const kernel& k) const {
  const device_settings& s = device_->settings;
  const std::size_t shared = k.static_bytes + k.dynamic_bytes;
  const auto failure = [](const std::string& what) { return launch_failure("emulator: a launch " + what); };
  if (k.blocks == 0) {
    throw failure("of no blocks");
  }
  const int most = std::min(k.most_threads, s.thread_limit);
  if (k.threads <= 0 || k.threads > most || (k.threads != k.most_threads && k.threads % 32 != 0)) {
    throw failure("with " + std::to_string(k.threads) + " threads per block, of at most " +
                  std::to_string(most));
  }
  if (shared > s.shared_limit) {
    throw failure("with " + std::to_string(shared) + " bytes of shared memory per block, of at most " +
                  std::to_string(s.shared_limit));
  }
}

std::function<void()> executor::later_launch(const kernel& k) const {
  // Words with the largest alignment: the function is moved and copied, the kernel reads its copy in place.
  std::vector<std::max_align_t> params((k.params_bytes + sizeof(std::max_align_t) - 1) /
                                       sizeof(std::max_align_t));
  std::memcpy(params.data(), k.params, k.params_bytes);
  return [to = device_, k, params = std::move(params)] {
    kernel own = k;
    own.params = params.data();
    const guard lock(space().mutex());
    scheduler::launch(*to, own);
  };
}

void executor::enqueue(std::function<void()> operation) const {
  if (recording_ != nullptr) {
    recording_->operations_.push_back(std::move(operation));
  } else if (!device_->waiting.empty()) {
    device_->waiting.push_back({std::move(operation), false});
  } else {
    operation();
  }
}

void executor::fill_bytes(void* p, unsigned char value, std::size_t bytes) const {
  count_call();
  enqueue([=] {
    const guard lock(space().mutex());
    if (bytes != 0) {
      std::memset(writable(p, bytes, "fill_bytes"), value, bytes);
    }
  });
}

void executor::copy(void* to, const void* from, std::size_t bytes) const {
  count_call();
  enqueue([=] {
    const guard lock(space().mutex());
    if (bytes == 0) {
      return;
    }
    allocation& source = space().checked(from, bytes, "copy from");
    allocation& target = space().checked(to, bytes, "copy to");
    const address_type a = address_of(from);
    const address_type b = address_of(to);
    std::memmove(target.bytes_at(b), source.bytes_at(a), bytes);
    std::memmove(target.state_at(b), source.state_at(a), bytes);
  });
}

void executor::upload(void* to, const void* host, std::size_t bytes) const {
  count_call();
  synchronize("upload");
  const guard lock(space().mutex());
  if (bytes != 0) {
    refuse_device_address(host, "upload");
    std::memcpy(writable(to, bytes, "upload"), host, bytes);
  }
}

void executor::download(void* host, const void* from, std::size_t bytes) const {
  synchronize("download");
  const guard lock(space().mutex());
  if (bytes != 0) {
    refuse_device_address(host, "download");
    device_->counters.downloaded_bytes += bytes;
    std::memcpy(host, readable(from, bytes, "download"), bytes);
  }
}

void executor::replay(graph_type& g) const {
  finish_waiting();
  const guard lock(space().mutex());
  refuse_capture("replay");
  count_call();
  ++device_->counters.replays;
  for (const auto& operation : g.operations_) {
    operation();
  }
}

void executor::count_call() const {
  if (recording_ == nullptr) {
    device_->count_call();
  }
}

void executor::finish_waiting() const {
  if (!device_->waiting.empty()) {
    device_->member_of->synchronize(device_->rank);
  }
}

void executor::refuse_capture(const char* what) const {
  if (is_capturing()) {
    throw capture_violation(std::string("emulator: ") + what + " while the stream is capturing");
  }
}

void executor::synchronize(const char* what) const {
  finish_waiting();
  const guard lock(space().mutex());
  refuse_capture(what);
  ++device_->counters.synchronizations;
}

void executor::refuse_device_address(const void* host, const char* what) {
  if (space().find(address_of(host)) != nullptr) {
    throw out_of_bounds(std::string(what) + ": " + hex(address_of(host)) +
                        " is a device address where a host address is needed");
  }
}

unsigned char* executor::writable(const void* p, std::size_t bytes, const char* what) {
  allocation& a = space().checked(p, bytes, what);
  std::memset(a.state_at(address_of(p)), shadow::initialised, bytes);
  return a.bytes_at(address_of(p));
}

const unsigned char* executor::readable(const void* p, std::size_t bytes, const char* what) const {
  allocation& a = space().checked(p, bytes, what);
  const unsigned char* const state = a.state_at(address_of(p));
  for (std::size_t i = 0; i < bytes && device_->settings.check_initialised; ++i) {
    if ((state[i] & shadow::initialised) == 0) {
      throw uninitialised_read(std::string(what) + ": " + space().describe(address_of(p) + i) +
                               " has not been written");
    }
  }
  return a.bytes_at(address_of(p));
}

}  // namespace sptrsv::emulator
