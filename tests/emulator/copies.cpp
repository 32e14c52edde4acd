// Asynchronous copies to shared memory.
#include <algorithm>
#include <cstring>

#include "emulator/scheduler.hpp"

namespace sptrsv::emulator {

/// Returns true if a copy is performed at its start, false if at its wait.
bool scheduler::copies_at_once() {
  return random_order_ ? random_.below(2) == 0 : settings_.order == schedule::reverse;
}

void scheduler::copy_async(thread& t, void* shared, const void* global, std::size_t bytes) {
  if (resolve(t, address_of(shared), bytes, bytes, "copy_async to").buffer != nullptr) {
    throw out_of_bounds(name_of(t) + ": copy_async to " + describe(t, address_of(shared)) +
                        ", which is not shared memory");
  }
  if (resolve(t, address_of(global), bytes, bytes, "copy_async from").buffer == nullptr) {
    throw out_of_bounds(name_of(t) + ": copy_async from " + describe(t, address_of(global)) +
                        ", which is not global memory");
  }
  races_.note(t, address_of(shared), bytes, access::copy);
  pending_copy copy{shared, address_of(global), bytes, t.copy_groups, false};
  if (copies_at_once()) {
    perform(t, copy);
    copy.is_performed = true;
  } else {
    std::memset(shared, 0xcd, bytes);
  }
  t.copies.push_back(copy);
}

void scheduler::wait_copies(thread& t, std::uint64_t pending_groups) {
  std::size_t done = 0;
  while (done < t.copies.size() && t.copies[done].group + pending_groups < t.copy_groups) {
    const pending_copy copy = t.copies[done++];
    if (!copy.is_performed) {
      perform(t, copy);
    }
    races_.complete_copy(t, address_of(copy.to), copy.size);
  }
  t.copies.erase(t.copies.begin(), t.copies.begin() + static_cast<std::ptrdiff_t>(done));
}

void scheduler::perform(thread& t, const pending_copy& copy) {
  step(t);
  unsigned char bytes[16];
  memory_.load(t, copy.from, copy.size, copy.size, bytes, "copy_async", strength::weak);
  std::memcpy(copy.to, bytes, copy.size);
}

void scheduler::begin_bulk(thread& t, std::uint64_t* arrival) {
  arrival_word(t, arrival, "begin_bulk");
  races_.note(t, address_of(arrival), sizeof(*arrival), access::write);
  *arrival = 0;
}

void scheduler::copy_bulk(thread& t, void* shared, const void* global, int bytes, std::uint64_t* arrival,
                          int lane) {
  step(t);
  if (lane != 0) {
    return;
  }
  arrival_word(t, arrival, "copy_bulk");
  races_.note(t, address_of(arrival), sizeof(*arrival), access::atomic_write);
  const auto size = static_cast<std::size_t>(bytes);
  if (size % 16 != 0 || address_of(shared) % 16 != 0 || address_of(global) % 16 != 0) {
    throw misaligned_access(name_of(t) + ": copy_bulk of " + std::to_string(bytes) + " bytes from " +
                            hex(address_of(global)) + " to " + describe(t, address_of(shared)));
  }
  if (size > 0 && (resolve(t, address_of(shared), size, 16, "copy_bulk to").buffer != nullptr ||
                   resolve(t, address_of(global), size, 16, "copy_bulk from").buffer == nullptr)) {
    throw out_of_bounds(name_of(t) + ": copy_bulk, not from global to shared memory");
  }
  auto& copies = t.owner->bulk_copies;
  if (find_bulk(t, arrival) != copies.end()) {
    throw out_of_bounds(name_of(t) + ": copy_bulk before the copy begun last with " +
                        describe(t, address_of(arrival)) + " has been waited for");
  }
  races_.begin_bulk_copy(t, arrival, address_of(shared), size);
  std::memset(shared, 0xcd, size);
  copies.push_back({arrival, static_cast<unsigned char*>(shared), address_of(global), size});
  if (copies_at_once()) {
    finish_bulk(t, copies.end() - 1);
  }
}

void scheduler::wait_bulk(thread& t, const std::uint64_t* arrival, bool odd) {
  step(t);
  const std::uint64_t* const copies = arrival_word(t, arrival, "wait_bulk");
  races_.note(t, address_of(arrival), sizeof(*arrival), access::atomic_read);
  while ((*copies % 2 == 1) == odd) {
    const auto copy = find_bulk(t, arrival);
    if (copy != t.owner->bulk_copies.end()) {
      finish_bulk(t, copy);
    } else {
      pause(t, address_of(arrival), sizeof(*arrival));
    }
  }
  races_.wait_bulk_copy(t, arrival);
}

std::uint64_t* scheduler::arrival_word(const thread& t, const std::uint64_t* arrival,
                                       const char* what) const {
  expect_shared(t, address_of(arrival), sizeof(*arrival), what);
  return const_cast<std::uint64_t*>(arrival);
}

std::vector<bulk_copy>::iterator scheduler::find_bulk(thread& t, const std::uint64_t* arrival) {
  auto& copies = t.owner->bulk_copies;
  return std::find_if(copies.begin(), copies.end(),
                      [&](const bulk_copy& copy) { return copy.arrival == arrival; });
}

void scheduler::finish_bulk(thread& t, std::vector<bulk_copy>::iterator at) {
  const bulk_copy copy = *at;
  t.owner->bulk_copies.erase(at);
  for (std::size_t done = 0; done < copy.size; done += 16) {
    memory_.load(t, copy.from + done, 16, 16, copy.to + done, "copy_bulk", strength::weak);
  }
  ++*copy.arrival;
}

}  // namespace sptrsv::emulator
