#include "emulator/cluster.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "emulator/scheduler.hpp"

namespace sptrsv::emulator {

cluster::cluster(int devices, const device_settings& settings)
    : states_(static_cast<std::size_t>(devices), host_state::runs),
      errors_(static_cast<std::size_t>(devices)) {
  for (int rank = 0; rank < devices; ++rank) {
    devices_.push_back(std::make_unique<device>(settings));
    devices_.back()->member_of = this;
    devices_.back()->rank = rank;
  }
}

void cluster::run(const std::function<void(int rank)>& body) {
  std::fill(states_.begin(), states_.end(), host_state::runs);
  std::fill(errors_.begin(), errors_.end(), nullptr);
  first_error_ = nullptr;
  symmetric_.clear();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size(); ++rank) {
    threads.emplace_back([this, &body, rank] {
      try {
        body(rank);
        if (!at(rank).waiting.empty()) {
          synchronize(rank);
        }
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex_);
        first_error_ = first_error_ != nullptr ? first_error_ : std::current_exception();
      }
      leave(rank);
    });
  }
  for (std::thread& t : threads) {
    t.join();
  }
  if (first_error_ != nullptr) {
    std::rethrow_exception(first_error_);
  }
}

void cluster::make_symmetric(int rank, const void* p, std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto mine = static_cast<std::size_t>(rank);
  auto next = std::find_if(symmetric_.begin(), symmetric_.end(),
                           [&](const symmetric_buffers& b) { return !b.of_rank[mine]; });
  if (next == symmetric_.end()) {
    symmetric_.push_back({bytes, std::vector<bool>(devices_.size(), false)});
    next = symmetric_.end() - 1;
  }
  if (next->bytes != bytes) {
    throw launch_failure("emulator: device " + std::to_string(rank) + " makes a buffer of " +
                         std::to_string(bytes) + " bytes symmetric, another device one of " +
                         std::to_string(next->bytes));
  }
  next->of_rank[mine] = true;
  memory_space& space = memory_space::instance();
  const std::lock_guard<std::recursive_mutex> space_lock(space.mutex());
  space.checked(p, bytes, "make_symmetric").symmetric = static_cast<unsigned>(next - symmetric_.begin()) + 1;
}

void cluster::wait(int rank, host_state state) {
  const auto mine = static_cast<std::size_t>(rank);
  std::unique_lock<std::mutex> lock(mutex_);
  states_[mine] = state;
  progress();
  changed_.wait(lock, [&] { return states_[mine] == host_state::runs; });
  if (errors_[mine] != nullptr) {
    std::rethrow_exception(std::exchange(errors_[mine], nullptr));
  }
}

void cluster::leave(int rank) {
  const std::lock_guard<std::mutex> lock(mutex_);
  device& d = at(rank);
  while (!d.waiting.empty()) {
    if (d.waiting.front().releases) {
      d.waiting.front().run();
    }
    d.waiting.pop_front();
  }
  states_[static_cast<std::size_t>(rank)] = host_state::left;
  progress();
}

bool cluster::any(host_state state) const {
  return std::find(states_.begin(), states_.end(), state) != states_.end();
}

/// Lets host threads go on if all of them wait. The streams run before any host thread meets the others.
void cluster::progress() {
  if (any(host_state::runs)) {
    return;
  }
  if (any(host_state::synchronizes)) {
    run_streams();
  } else if (any(host_state::meets)) {
    const auto left = std::find(states_.begin(), states_.end(), host_state::left);
    release_all(host_state::meets, left == states_.end()
                                       ? nullptr
                                       : std::make_exception_ptr(launch_failure(
                                             "emulator: others wait for the host thread of device " +
                                             std::to_string(left - states_.begin()) + ", which has ended")));
  }
}

void cluster::run_streams() {
  std::vector<device_run> runs(devices_.size());
  random_source random(at(0).settings.seed + at(0).counters.launches);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].where = devices_[i].get();
    runs[i].speed = std::uint64_t{1} << 2 * random.below(4);
  }
  std::exception_ptr error;
  try {
    const std::lock_guard<std::recursive_mutex> lock(memory_space::instance().mutex());
    scheduler(std::move(runs)).run();
  } catch (...) {
    error = std::current_exception();
  }
  release_all(host_state::synchronizes, error);
}

/// Lets the host threads in a state go on.
void cluster::release_all(host_state those, const std::exception_ptr& error) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] == those) {
      states_[i] = host_state::runs;
      errors_[i] = error;
    }
  }
  changed_.notify_all();
}

}  // namespace sptrsv::emulator
