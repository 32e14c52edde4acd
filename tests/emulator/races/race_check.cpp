#include "emulator/races/race_check.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "emulator/memory/memory_access.hpp"
#include "emulator/thread.hpp"

namespace sptrsv::emulator {

namespace {

bool writes(access how) { return how != access::read && how != access::atomic_read; }
bool is_atomic(access how) { return how == access::atomic_read || how == access::atomic_write; }

bool conflict(access a, access b) { return (writes(a) || writes(b)) && !(is_atomic(a) && is_atomic(b)); }

const char* name_of(access how) {
  static constexpr const char* names[] = {"read", "write", "atomic read", "atomic write",
                                          "asynchronous copy"};
  return names[static_cast<int>(how)];
}

bool checks(const thread& t) { return t.owner->of->checks_races; }

std::size_t rank_of(const thread& t) { return static_cast<std::size_t>(t.rank); }

/// Returns the first cell of [a, a + size), or null if that is not in one region of shared memory.
race_cell* cells_at(const thread& t, address_type a, std::size_t size) {
  const shared_region* const regions[] = {&t.owner->static_shared, &t.owner->dynamic_shared};
  for (std::size_t i = 0; i < 2; ++i) {
    const address_type begin = address_of(regions[i]->data());
    if (regions[i]->contains(a) && size <= regions[i]->size() - (a - begin)) {
      return t.owner->races.cells[i].data() + (a - begin) / 4;
    }
  }
  return nullptr;
}

}  // namespace

void race_check::start_block(block& b) const {
  if (!b.of->checks_races) {
    return;
  }
  block_races& races = b.races;
  if (races.fenced.empty()) {
    races = block_races(b.threads.size(), b.static_shared.size(), b.dynamic_shared.size());
    return;
  }
  for (const thread& t : b.threads) {
    for (const pending_copy& copy : t.copies) {  // nobody has waited for it
      complete_copy(t, address_of(copy.to), copy.size);
    }
  }
  races.clocks.restart();
  races.arrivals.clear();
  races.flags.clear();
  for (std::size_t i = 0; i < races.fenced.size(); ++i) {
    races.fenced[i] = {};
    races.observed[i].clear();
  }
}

void race_check::note(const thread& t, address_type a, std::size_t size, access how) {
  race_cell* cell = checks(t) ? cells_at(t, a, size) : nullptr;
  if (cell == nullptr) {
    return;  // an access outside of shared memory is refused elsewhere
  }
  block_races& races = t.owner->races;
  races.has_atomic_writes = races.has_atomic_writes || how == access::atomic_write;
  if (a % 4 == 0 && size % 4 == 0) {
    for (std::size_t at = 0; at < size; at += 4, ++cell) {
      note_cell(t, races, *cell, a + at, 0xf, how);
    }
  } else {
    for (address_type at = a; at < a + size; at = at / 4 * 4 + 4, ++cell) {
      const auto begin = static_cast<unsigned>(at % 4);
      const auto end = static_cast<unsigned>(std::min<std::size_t>(4, begin + (a + size - at)));
      note_cell(t, races, *cell, at, static_cast<std::uint8_t>((1u << end) - (1u << begin)), how);
    }
  }
  if (how == access::atomic_write && races.fenced[rank_of(t)].time != 0) {
    races.flags[a].push_back(races.fenced[rank_of(t)]);
  }
  if (is_atomic(how) && !races.flags.empty()) {
    if (const auto flag = races.flags.find(a); flag != races.flags.end()) {
      auto& observed = races.observed[rank_of(t)];
      const auto same =
          std::find_if(observed.begin(), observed.end(), [&](const auto& seen) { return seen.first == a; });
      (same != observed.end() ? *same : observed.emplace_back(a, 0)).second = flag->second.size();
    }
  }
}

void race_check::note_cell(const thread& t, block_races& races, race_cell& cell, address_type a,
                           std::uint8_t bytes, access how) {
  const accesses now{races.clocks.now(rank_of(t)), 1u << (t.rank % 32),
                     static_cast<std::uint16_t>(t.rank / 32), bytes, how};
  if (how == access::read && cell.first.how == how && (cell.first.lanes & now.lanes) != 0 &&
      cell.first.warp == now.warp && cell.first.time == now.time && cell.first.bytes == bytes) {
    return;  // nothing has happened since the thread has read it before
  }
  if (cell.write_time != 0 && (cell.written_bytes & bytes) != 0 && conflict(how, cell.written_by) &&
      (cell.written_by == access::copy ||
       !races.clocks.is_before(cell.writer, cell.write_time, rank_of(t)))) {
    report(t, a, how, cell.writer, cell.written_by);
  }
  if (how == access::read && !races.has_atomic_writes) {
    // Most accesses are such reads: they conflict with no other read, and follow a read by another lane of
    // the warp.
    accesses& latest =
        cell.more == 0 || races.more[cell.more - 1].empty() ? cell.first : races.more[cell.more - 1].back();
    if (latest.lanes != 0 && latest.how == how && latest.warp == now.warp && latest.time == now.time &&
        latest.bytes == bytes) {
      latest.lanes |= now.lanes;
      return;
    }
  }
  compare(t, races, a, now, cell.first);
  if (cell.more != 0) {
    for (const accesses& before : races.more[cell.more - 1]) {
      compare(t, races, a, now, before);
    }
  }
  if (how == access::write || how == access::copy) {
    cell.first = {};
    if (cell.more != 0) {
      races.more[cell.more - 1].clear();
    }
    cell.write_time = now.time;
    cell.writer = static_cast<std::uint16_t>(t.rank);
    cell.written_bytes = bytes;
    cell.written_by = how;
  } else {
    add(races, cell, now);
  }
}

/// Reports a race if `now`, an access of `t`, conflicts with `before` and is not ordered after it.
void race_check::compare(const thread& t, const block_races& races, address_type a, const accesses& now,
                         const accesses& before) {
  if ((before.bytes & now.bytes) == 0 || !conflict(now.how, before.how)) {
    return;
  }
  for (std::uint32_t lanes = before.lanes; lanes != 0; lanes &= lanes - 1) {
    const std::size_t other = std::size_t{32} * before.warp + static_cast<std::size_t>(__builtin_ctz(lanes));
    if (!races.clocks.is_before(other, before.time, rank_of(t))) {
      report(t, a, now.how, other, before.how);
      return;
    }
  }
}

/// Adds the access of one lane. Its earlier accesses of the same kind are forgotten: what is ordered after
/// this one is ordered after them.
void race_check::add(block_races& races, race_cell& cell, const accesses& now) {
  std::vector<accesses>* const more = cell.more == 0 ? nullptr : &races.more[cell.more - 1];
  const auto for_each_like = [&](const accesses& one, const auto& body) {
    const auto call = [&](accesses& other) {
      if (other.lanes != 0 && other.warp == one.warp && other.how == one.how && other.bytes == one.bytes) {
        body(other);
      }
    };
    call(cell.first);
    if (more != nullptr) {
      std::for_each(more->begin(), more->end(), call);
    }
  };
  bool added = false;
  for_each_like(now, [&](accesses& other) {
    if (other.time == now.time) {
      other.lanes |= now.lanes;
      added = true;
    } else {
      other.lanes &= ~now.lanes;
    }
  });
  if (!added) {
    // note_cell leaves accesses that lanes have repeated since. Forget them, too.
    for_each_like(now, [&](accesses& before) {
      for_each_like(
          now, [&](const accesses& after) { before.lanes &= after.time > before.time ? ~after.lanes : ~0u; });
    });
  }
  if (more != nullptr) {
    more->erase(
        std::remove_if(more->begin(), more->end(), [](const accesses& other) { return other.lanes == 0; }),
        more->end());
  }
  if (added) {
    return;
  }
  if (cell.first.lanes == 0) {
    cell.first = now;
    return;
  }
  if (cell.more == 0) {
    races.more.emplace_back();
    cell.more = static_cast<std::uint32_t>(races.more.size());
  }
  races.more[cell.more - 1].push_back(now);
}

void race_check::complete_copy(const thread& t, address_type a, std::size_t size) const {
  if (!checks(t)) {
    return;
  }
  race_cell* const cell = cells_at(t, a, size);
  for (std::size_t i = 0; i < (size + 3) / 4; ++i) {
    cell[i].written_by = access::write;
    cell[i].write_time = t.owner->races.clocks.now(rank_of(t));
  }
}

void race_check::begin_bulk_copy(const thread& t, const void* word, address_type a, std::size_t size) {
  if (!checks(t)) {
    return;
  }
  block_races& races = t.owner->races;
  const std::size_t participant = t.owner->threads.size() + races.arrivals.size() % races.other_participants;
  auto found = races.arrivals.find(word);
  if (found == races.arrivals.end()) {
    found = races.arrivals.insert({word, {participant, 0, {}, {}, {}}}).first;
  }
  block_races::arrival& copies = found->second;
  if (size > 0) {
    note(t, a, size, access::copy);
  }
  copies.start = races.clocks.release(rank_of(t));
  copies.time = races.clocks.release(rank_of(t), copies.participant).time;
  copies.before = {};
  race_cell* const cell = cells_at(t, a, size);
  for (std::size_t i = 0; i < size / 4; ++i) {
    cell[i].written_by = access::write;
    cell[i].writer = static_cast<std::uint16_t>(copies.participant);
    cell[i].write_time = copies.time;
  }
}

void race_check::wait_bulk_copy(const thread& t, const void* word) const {
  if (!checks(t)) {
    return;
  }
  block_races& races = t.owner->races;
  const auto found = races.arrivals.find(word);
  if (found == races.arrivals.end()) {
    return;
  }
  block_races::arrival& copies = found->second;
  if (!copies.before.same_as(races.clocks.known(rank_of(t)))) {
    copies.before = races.clocks.known(rank_of(t));
    races.clocks.acquire(rank_of(t), copies.start);
    races.clocks.acquire(rank_of(t), {races.clocks.known(rank_of(t)), copies.participant, copies.time});
    copies.after = races.clocks.known(rank_of(t));
  }
  races.clocks.set_known(rank_of(t), copies.after);
}

void race_check::fence(const thread& t) const {
  if (!checks(t)) {
    return;
  }
  block_races& races = t.owner->races;
  for (const auto& [flag, count] : races.observed[rank_of(t)]) {
    for (std::size_t i = 0; i < count; ++i) {
      races.clocks.acquire(rank_of(t), races.flags[flag][i]);
    }
  }
  races.observed[rank_of(t)].clear();
  races.fenced[rank_of(t)] = races.clocks.release(rank_of(t));
}

void race_check::synchronize(const thread& first, std::size_t count) const {
  if (checks(first)) {
    first.owner->races.clocks.synchronize(rank_of(first), count);
  }
}

void race_check::arrive(const thread& t, counted_barrier& at) const {
  if (checks(t)) {
    at.arrived.push_back(t.owner->races.clocks.release(rank_of(t)));
  }
}

void race_check::open(counted_barrier& at) const {
  if (at.arrived.empty()) {
    return;
  }
  const snapshot known = block_clocks::join(at.arrived);
  for (const thread* const t : at.waiting) {
    t->owner->races.clocks.set_known(rank_of(*t), known);
  }
  at.arrived.clear();
}

void race_check::report(const thread& t, address_type a, access how, std::size_t other, access others) {
  if (!found_.empty()) {
    return;
  }
  const char* const kernel = t.owner->of->what.name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(kernel, nullptr, nullptr, &status), std::free);
  const bool is_thread = other < t.owner->threads.size();
  found_ = emulator::name_of(t) + ": " + name_of(how) + " of " + describe(t, a) +
           (is_thread ? ", and " + std::string(name_of(others)) + " of it by thread " + std::to_string(other)
                      : std::string(", and a bulk copy to it")) +
           ": neither happens before the other, in kernel " + (status == 0 ? readable.get() : kernel);
}

void race_check::fail() const { throw data_race(found_); }

}  // namespace sptrsv::emulator
