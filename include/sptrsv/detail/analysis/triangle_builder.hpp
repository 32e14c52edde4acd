// SPDX-License-Identifier: Apache-2.0
// Builds triangles on the device: the same checks and the same triangle as on the host (host_triangle.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sptrsv/detail/analysis/check_entries_agent.hpp"
#include "sptrsv/detail/analysis/device_triangle.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Throws the first fault of `found` in entries, in the order of pattern_fault. A row not below `size`: none.
inline void throw_if_any(const triangle_kernels::report& found, std::int64_t size, bool by_columns) {
  const auto check = [&](pattern_fault fault, std::int64_t major) {
    if (major < size) {
      throw_pattern_fault(fault, major, by_columns);
    }
  };
  check(pattern_fault::duplicate, found.duplicate);
  check(pattern_fault::diagonal, found.diagonal);
}

/// Builds N triangles of one stored matrix, which the kernels read once for all of them. Throws for the first
/// offending row, as validate_on_host does. The kernels run in this order:
///
///   1. start_rows initialises lengths, diagonal sources and the report.
///   2. check_entries_agent checks the storage and counts the entries of each row.
///   3. A scan turns the lengths into row offsets (finish_rows) and finds missing diagonal entries.
///   4. If the storage is sorted by rows of the system, write_ascending_entries writes the entries. Otherwise
///      scatter_entries and sort_short_rows do, or, where a row is long, scatter_entries, a sort by (row,
///      column) and take_columns.
template <std::size_t N, class Index, class Offset, class Executor>
class triangle_builder {
 public:
  using triangle = device_triangle<Index, Offset>;
  using triangles = std::array<triangle, N>;
  using report = triangle_kernels::report;
  using reports = std::array<report, N>;

  /// `limits`: of the rows whose partial rows are counted; `part` 0: none.
  triangle_builder(const pattern_view<Index, Offset>& a, const std::array<triangle_form, N>& forms,
                   const triangle_kernels::split_limits& limits, const Executor& on,
                   const analysis_memory& memory)
      : a_(a),
        forms_(forms),
        limits_(limits),
        on_(on),
        memory_(memory),
        reports_(make_buffer<report>(N, on, memory.scratch)) {}

  /// Returns the triangles. Synchronises.
  triangles build() const {
    triangles t = allocate_rows();
    if (a_.size == 0) {
      for (triangle& empty : t) {
        on_.fill_bytes(empty.row_offsets.data(), 0, empty.row_offsets.bytes());
      }
      return t;
    }
    write(t, check(t));
    return t;
  }

  // The steps of build(), for those that do not need all of them. The system has rows.

  /// Runs step 4 for all triangles, and completes them.
  void write(triangles& t, const reports& found) const {
    if (all_ascend(found)) {
      write_ascending_entries(t, [&](std::size_t k) { return found[k].entries; }, {});
    }
    for (std::size_t k = 0; k < N; ++k) {
      if (ascends(found, k) && !all_ascend(found)) {
        triangle_kernels::for_each_entry(on_, a_.offsets, a_.size, a_.entries,
                                         writer_of(t, k, found[k].entries, {}));
      }
      complete(t, found, k);
    }
  }

  /// Runs steps 1 to 3; otherwise as read_reports().
  reports check(const triangles& t) const {
    simt::all_of<triangle_kernels::start_rows<Index, Offset>, N> start{};
    for (std::size_t k = 0; k < N; ++k) {
      start.of[k] = start_rows(t, k);
    }
    simt::for_each(on_, a_.size, start);
    measure_rows(t);
    return read_reports();
  }

  triangles allocate_rows() const {
    SPTRSV_EXPECTS(a_.size <= (std::int64_t{1} << 32), errc::unsupported,
                   "the analysis on the device takes at most 2^32 rows");
    triangles made;
    for (std::size_t k = 0; k < N; ++k) {
      made[k].size = a_.size;
      made[k].row_offsets = make_buffer<Offset>(a_.size + 1, on_, memory_.kept);
      made[k].diagonal_sources = make_buffer<Offset>(forms_[k].unit ? 0 : a_.size, on_, memory_.kept);
    }
    return made;
  }

  /// Returns the kernel of step 1 for triangle k.
  triangle_kernels::start_rows<Index, Offset> start_rows(const triangles& t, std::size_t k) const {
    return {t[k].view(), report_on_device(k)};
  }

  /// Enqueues steps 2 and 3.
  void measure_rows(const triangles& t) const {
    using agent = triangle_kernels::check_entries_agent<Index, Offset, static_cast<int>(N)>;
    typename agent::params p{a_, {}};
    for (std::size_t k = 0; k < N; ++k) {
      p.triangles[k] = {forms_[k], t[k].view(), report_on_device(k)};
    }
    on_.template launch<agent>(simt::block_count(std::max(a_.size, a_.entries), agent::block_items), p);
    for (std::size_t k = 0; k < N; ++k) {
      scan(on_, a_.size,
           triangle_kernels::finish_rows<Index, Offset>{t[k].view(), forms_[k].reversed, report_on_device(k),
                                                        limits_},
           memory_);
    }
  }

  /// Enqueues step 4 for storage that is sorted by rows of all systems. `room_of(k)`: at least the entries of
  /// triangle k.
  template <class RoomOf>
  void write_ascending_entries(triangles& t, const RoomOf& room_of,
                               const triangle_kernels::sound_rows& condition) const {
    simt::all_of<triangle_kernels::write_ascending_entries<Index, Offset>, N> write{};
    for (std::size_t k = 0; k < N; ++k) {
      write.of[k] = writer_of(t, k, room_of(k), condition);
    }
    triangle_kernels::for_each_entry(on_, a_.offsets, a_.size, a_.entries, write);
  }

  /// Returns the report of triangle k in device memory.
  [[nodiscard]] report* report_on_device(std::size_t k) const { return reports_.data() + k; }

  /// Returns what steps 2 and 3 have found, and throws if it is a fault of the storage. Synchronises.
  [[nodiscard]] reports read_reports() const {
    reports found;
    on_.download(found.data(), reports_.data(), sizeof(found));
    for (std::size_t k = 0; k < N; ++k) {
      if (found[k].offsets < a_.size) {
        throw_pattern_fault(pattern_fault::offsets, found[k].offsets, a_.by_columns, offsets_count_from_one(),
                            a_.block);
      }
      if (found[k].index < a_.size) {
        throw_pattern_fault(pattern_fault::index, found[k].index, a_.by_columns, indices_count_from_one(),
                            a_.block);
      }
      if (ascends(found, k)) {
        throw_if_any(found[k], a_.size, a_.by_columns);
      }
    }
    return found;
  }

  /// Returns whether the storage is sorted by rows of the system k.
  [[nodiscard]] bool ascends(const reports& found, std::size_t k) const {
    return !forms_[k].transposed && found[k].unsorted == 0;
  }

  /// Returns whether, in addition, the values of each row are adjacent.
  [[nodiscard]] bool are_runs(const reports& found, std::size_t k) const {
    return ascends(found, k) && a_.block == 1;
  }

  /// Completes triangle k. If the storage is sorted by rows of the system, nothing is written.
  void complete(triangles& t, const reports& found, std::size_t k) const {
    t[k].longest_row = found[k].longest_row;
    t[k].counted = limits_;
    t[k].partial_rows = found[k].partial_rows;
    t[k].split_rows = found[k].split_rows;
    t[k].longer_rows = found[k].longer_rows;
    t[k].rows_are_stored_runs = are_runs(found, k);
    if (!ascends(found, k)) {
      if (t[k].longest_row <= triangle_kernels::sort_short_rows<Index, Offset>::longest_row) {
        sort_entries_by_rows(t[k], forms_[k], report_on_device(k), found[k].entries);
      } else {
        sort_all_entries(t[k], forms_[k], report_on_device(k), found[k].entries);
      }
      throw_if_any(download_value(report_on_device(k), on_), a_.size, a_.by_columns);
    }
  }

 private:
  [[nodiscard]] bool all_ascend(const reports& found) const {
    return ascends(found, 0) && ascends(found, N - 1);  // N is 1 or 2
  }
  /// Allocates the entries of triangle k and returns the kernel body that writes them.
  triangle_kernels::write_ascending_entries<Index, Offset> writer_of(
      triangles& t, std::size_t k, std::int64_t room, const triangle_kernels::sound_rows& condition) const {
    t[k].columns = make_buffer<Index>(room, on_, memory_.kept);
    t[k].sources = make_buffer<Offset>(room, on_, memory_.kept);
    return {a_, forms_[k], t[k].view(), condition};
  }

  /// Returns whether the offsets start and end as they do in a matrix that counts from 1.
  bool offsets_count_from_one() const {
    const std::int64_t one = a_.block * a_.block;
    return download_value(a_.offsets, on_) == one &&
           static_cast<std::int64_t>(download_value(a_.offsets + a_.size, on_)) - one == a_.entries;
  }
  /// Returns whether all indices are in [1, size], or those of blocks in the same range of blocks.
  bool indices_count_from_one() const {
    const auto flag = make_buffer<std::uint32_t>(1, on_, memory_.scratch);
    return !simt::any_of(on_, a_.entries,
                         triangle_kernels::is_not_from_one<Index>{a_.indices, a_.size, a_.block},
                         flag.data());
  }

  /// Writes the sources of the entries, in any order within their rows; returns their keys, from `of_keys`.
  template <class Key>
  buffer<Key> scatter_entries(triangle& t, const triangle_form& form, std::int64_t entries,
                              memory_resource& of_keys) const {
    const auto cursors = make_buffer<Offset>(a_.size, on_, memory_.scratch);
    auto keys = make_buffer<Key>(entries, on_, of_keys);
    t.sources = make_buffer<Offset>(entries, on_, memory_.kept);
    on_.copy(cursors.data(), t.row_offsets.data(), cursors.bytes());
    triangle_kernels::for_each_entry(on_, a_.offsets, a_.size, a_.entries,
                                     triangle_kernels::scatter_entries<Index, Offset, Key>{
                                         a_, form, cursors.data(), keys.data(), t.sources.data()});
    return keys;
  }
  /// Sorts the entries of each row on their own.
  void sort_entries_by_rows(triangle& t, const triangle_form& form, report* faults,
                            std::int64_t entries) const {
    t.columns = scatter_entries<Index>(t, form, entries, memory_.kept);
    simt::for_each_by_groups(on_, simt::ceil_power_of_two(static_cast<int>(t.longest_row)), a_.size,
                             triangle_kernels::sort_short_rows<Index, Offset>{t.view(), form, faults});
  }
  /// Sorts by row and column.
  void sort_all_entries(triangle& t, const triangle_form& form, report* faults, std::int64_t entries) const {
    auto keys = scatter_entries<std::uint64_t>(t, form, entries, memory_.scratch);
    const auto size = static_cast<std::uint64_t>(a_.size);
    {
      auto other_keys = make_buffer<std::uint64_t>(entries, on_, memory_.scratch);
      auto other_sources = make_buffer<Offset>(entries, on_, memory_.kept);  // may become t.sources
      on_.sort_pairs_in_place(keys, other_keys, t.sources, other_sources,
                              size == (std::uint64_t{1} << 32) ? 64 : bits_for(size * size), memory_.scratch);
    }
    t.columns = make_buffer<Index>(entries, on_, memory_.kept);
    simt::for_each(
        on_, entries,
        triangle_kernels::take_columns<Index>{keys.data(), t.columns.data(), form, a_.size, faults});
  }

  pattern_view<Index, Offset> a_;
  std::array<triangle_form, N> forms_;
  triangle_kernels::split_limits limits_;
  const Executor& on_;
  analysis_memory memory_;
  buffer<report> reports_;  ///< by triangle
};

/// Builds the triangle of the system in device memory. Synchronises.
template <class Index, class Offset, class Executor>
device_triangle<Index, Offset> build_on_device(const pattern_view<Index, Offset>& a,
                                               const triangle_form& form, const Executor& on,
                                               const analysis_memory& memory) {
  return std::move(triangle_builder<1, Index, Offset, Executor>(a, {form}, {}, on, memory).build()[0]);
}

}  // namespace sptrsv::SPTRSV_ABI::detail
