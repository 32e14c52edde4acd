// The analysis on the device: the same checks and the same triangle as on the host (host_triangle.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "sptrsv/detail/analysis/check_entries_agent.hpp"
#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/array_of.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/scratch_arena.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::detail {

/// The strictly lower triangle of the system by rows, in the order of substitution, columns ascending; in
/// device memory.
template <class Index, class Offset>
struct device_triangle {
  std::int64_t size = 0;
  std::int64_t longest_row = 0;
  std::int64_t partial_rows = -1;  ///< that split_long_rows() makes at first; -1: they have not been counted
  /// True if the entries of each row that have a source are adjacent in the stored matrix, in ascending order
  /// (descending if substitution starts at the last row), and the diagonal entry follows them.
  bool rows_are_stored_runs = false;
  buffer<Offset> row_offsets;  ///< by row, size + 1
  buffer<Index> columns;       ///< by entry: its column
  /// By entry: its index in the stored matrix, or -1, or minus_one_source.
  buffer<Offset> sources;
  /// By row: index of the diagonal entry in the stored matrix; empty if the diagonal is unit.
  buffer<Offset> diagonal_sources;

  [[nodiscard]] std::int64_t entries() const { return static_cast<std::int64_t>(columns.size()); }
  [[nodiscard]] std::size_t bytes() const {
    return row_offsets.bytes() + columns.bytes() + sources.bytes() + diagonal_sources.bytes();
  }
};

/// Returns a copy of the triangle that is allocated from `to`.
template <class Index, class Offset, class Executor>
device_triangle<Index, Offset> copy_of(const device_triangle<Index, Offset>& from, const Executor& on,
                                       memory_resource& to) {
  return {from.size,
          from.longest_row,
          from.partial_rows,
          from.rows_are_stored_runs,
          copy_of(from.row_offsets, on, to),
          copy_of(from.columns, on, to),
          copy_of(from.sources, on, to),
          copy_of(from.diagonal_sources, on, to)};
}

/// Returns the number of bits that represent 0 ... count - 1.
inline int bits_for(std::uint64_t count) {
  int bits = 1;
  while (bits < 64 && (std::uint64_t{1} << bits) < count) {
    ++bits;
  }
  return bits;
}

/// Throws the first fault of `found` in entries of the triangle, in the order of pattern_fault. A row that is
/// not below `size` means no fault.
inline void throw_if_any(const triangle_kernels::report& found, std::int64_t size, bool by_columns) {
  const auto check = [&](pattern_fault fault, std::int64_t major) {
    if (major < size) {
      throw_pattern_fault(fault, major, by_columns);
    }
  };
  check(pattern_fault::duplicate, found.duplicate);
  check(pattern_fault::diagonal, found.diagonal);
}

/// Builds the triangle; synchronises. Throws for the first offending row, as validate_on_host does. The
/// kernels run in this order:
///
///   1. start_rows initialises lengths, diagonal sources and the report.
///   2. check_entries_agent checks the storage and counts the entries of each row.
///   3. A scan turns the lengths into row offsets (finish_rows) and finds missing diagonal entries.
///   4. If the storage is sorted by rows of the system, write_ascending_entries writes the entries. Otherwise
///      write_unsorted_entries and sort_short_rows do, or, where a row is long, write_keys, a sort by (row,
///      column) and take_columns.
template <class Index, class Offset, class Executor>
class device_triangle_builder {
 public:
  device_triangle_builder(const pattern_view<Index, Offset>& a, const triangle_form& form, const Executor& on,
                          const analysis_memory& memory)
      : device_triangle_builder(a, form, nullptr, on, memory) {}
  /// `shared`: the report in device memory; null: the builder allocates its own.
  device_triangle_builder(const pattern_view<Index, Offset>& a, const triangle_form& form,
                          triangle_kernels::report* shared, const Executor& on, const analysis_memory& memory)
      : a_(a),
        form_(form),
        on_(on),
        memory_(memory),
        own_report_(make_buffer<triangle_kernels::report>(shared == nullptr ? 1 : 0, on, memory.scratch)),
        report_(shared == nullptr ? own_report_.data() : shared) {}

  device_triangle<Index, Offset> build() {
    device_triangle<Index, Offset> t = begin();
    finish(t);
    return t;
  }

  /// Enqueues what build() does before it waits for the device, for work between this and finish().
  device_triangle<Index, Offset> begin() {
    device_triangle<Index, Offset> t = allocate_rows();
    if (a_.size == 0) {
      on_.fill_bytes(t.row_offsets.data(), 0, t.row_offsets.bytes());
      return t;
    }
    simt::for_each(on_, a_.size, start_rows(t));
    measure_rows(t, 0);
    return t;
  }
  /// Does the rest of build().
  void finish(device_triangle<Index, Offset>& t) {
    if (a_.size == 0) {
      return;
    }
    const report found = read_report();
    expect_sound(found);
    if (ascends(found)) {
      write_ascending_entries(t, found.entries, {});
    }
    complete(t, found);
  }

  // The steps of build(), for build_with_levels(). The system has rows.

  using report = triangle_kernels::report;

  device_triangle<Index, Offset> allocate_rows() const {
    SPTRSV_EXPECTS(a_.size <= (std::int64_t{1} << 32), errc::unsupported,
                   "the analysis on the device takes at most 2^32 rows");
    device_triangle<Index, Offset> t;
    t.size = a_.size;
    t.row_offsets = make_buffer<Offset>(a_.size + 1, on_, memory_.kept);
    t.diagonal_sources = make_buffer<Offset>(form_.unit ? 0 : a_.size, on_, memory_.kept);
    return t;
  }

  /// Returns the kernel of step 1.
  triangle_kernels::start_rows<Offset> start_rows(const device_triangle<Index, Offset>& t) const {
    return {t.row_offsets.data(), t.diagonal_sources.data(), report_};
  }

  /// Enqueues steps 2 and 3. `longest_row`: see finish_rows.
  void measure_rows(const device_triangle<Index, Offset>& t, std::int64_t longest_row) const {
    check_entries<1>({checked(t)});
    finish_rows(t, longest_row);
  }
  /// Enqueues steps 2 and 3 of both triangles of a matrix, which is read once.
  static void measure_rows_of_both(const device_triangle_builder (&of)[2],
                                   const device_triangle<Index, Offset> (&t)[2], std::int64_t longest_row) {
    of[0].template check_entries<2>({of[0].checked(t[0]), of[1].checked(t[1])});
    of[0].finish_rows(t[0], longest_row);
    of[1].finish_rows(t[1], longest_row);
  }

  /// Enqueues step 4 for sorted storage. `room`: at least the number of entries of the triangle.
  void write_ascending_entries(device_triangle<Index, Offset>& t, std::int64_t room,
                               const triangle_kernels::sound_rows& condition) const {
    triangle_kernels::for_each_entry(on_, a_.offsets, a_.size, a_.entries, writer_of(t, room, condition));
  }
  /// Enqueues step 4 for both triangles of sorted storage, which is read once. `condition`: of both.
  static void write_ascending_entries_of_both(const device_triangle_builder (&of)[2],
                                              device_triangle<Index, Offset> (&t)[2],
                                              const std::int64_t (&room)[2],
                                              const triangle_kernels::sound_rows& condition) {
    const pattern_view<Index, Offset>& a = of[0].a_;
    triangle_kernels::for_each_entry(
        of[0].on_, a.offsets, a.size, a.entries,
        triangle_kernels::write_ascending_entries_of_both<Index, Offset>{
            {of[0].writer_of(t[0], room[0], condition), of[1].writer_of(t[1], room[1], condition)}});
  }

  /// Returns the report in device memory.
  [[nodiscard]] report* report_on_device() const { return report_; }

  /// Synchronises.
  [[nodiscard]] report read_report() const {
    report found;
    on_.download(&found, report_, sizeof(report));
    return found;
  }

  /// Throws if the storage has a fault that was found in steps 2 and 3.
  void expect_sound(const report& found) const {
    if (found.offsets < a_.size) {
      throw_pattern_fault(pattern_fault::offsets, found.offsets, a_.by_columns, offsets_count_from_one());
    }
    if (found.index < a_.size) {
      throw_pattern_fault(pattern_fault::index, found.index, a_.by_columns, indices_count_from_one());
    }
    if (ascends(found)) {
      throw_if_any(found, a_.size, a_.by_columns);
    }
  }

  /// Returns whether steps 2 and 3 have found no fault: those that expect_sound() throws.
  [[nodiscard]] bool is_sound(const report& found) const {
    return std::min(found.offsets, found.index) >= a_.size &&
           (!ascends(found) || std::min(found.duplicate, found.diagonal) >= a_.size);
  }

  /// Returns whether the storage is sorted by rows of the system.
  [[nodiscard]] bool ascends(const report& found) const { return !form_.transposed && found.unsorted == 0; }

  /// Completes the triangle. If the storage is sorted by rows of the system, nothing is written.
  void complete(device_triangle<Index, Offset>& t, const report& found) const {
    t.longest_row = found.longest_row;
    t.rows_are_stored_runs = ascends(found);
    if (!t.rows_are_stored_runs) {
      sort_entries(t, found.entries);
      throw_if_any(read_report(), a_.size, a_.by_columns);
    }
  }

 private:
  /// Returns where step 2 writes what it finds.
  triangle_kernels::checked_triangle<Offset> checked(const device_triangle<Index, Offset>& t) const {
    return {form_, t.row_offsets.data(), t.diagonal_sources.data(), report_};
  }
  /// Enqueues step 2 for one or two triangles of the storage.
  template <int Triangles>
  void check_entries(const array_of<triangle_kernels::checked_triangle<Offset>, Triangles>& to) const {
    using agent = triangle_kernels::check_entries_agent<Index, Offset, Triangles>;
    typename agent::params p{a_, {}};
    std::copy(std::begin(to), std::end(to), p.triangles);
    on_.template launch<agent>(simt::block_count(std::max(a_.size, a_.entries), agent::block_items), p);
  }
  /// Enqueues step 3. `longest_row`: see triangle_kernels::finish_rows.
  void finish_rows(const device_triangle<Index, Offset>& t, std::int64_t longest_row) const {
    scan(on_, a_.size,
         triangle_kernels::finish_rows<Offset>{t.row_offsets.data(), t.diagonal_sources.data(), a_.size,
                                               form_.reversed, report_, longest_row},
         memory_, &report_->longest_row);
  }
  /// Allocates the entries of the triangle and returns the kernel body that writes them.
  triangle_kernels::write_ascending_entries<Index, Offset> writer_of(
      device_triangle<Index, Offset>& t, std::int64_t room,
      const triangle_kernels::sound_rows& condition) const {
    t.columns = make_buffer<Index>(room, on_, memory_.kept);
    t.sources = make_buffer<Offset>(room, on_, memory_.kept);
    return {a_, form_, t.row_offsets.data(), t.columns.data(), t.sources.data(), condition};
  }

  /// Returns whether the offsets start and end as they do in a matrix that counts from 1.
  bool offsets_count_from_one() const {
    Offset first = 0;
    Offset last = 0;
    on_.download(&first, a_.offsets, sizeof(first));
    on_.download(&last, a_.offsets + a_.size, sizeof(last));
    return first == 1 && static_cast<std::int64_t>(last) - 1 == a_.entries;
  }
  /// Returns whether all indices are in [1, size].
  bool indices_count_from_one() const {
    const auto faults = make_buffer<std::int64_t>(1, on_, memory_.scratch);
    on_.fill_bytes(faults.data(), 0, faults.bytes());
    simt::find_largest(on_, a_.entries, triangle_kernels::is_not_from_one<Index>{a_.indices, a_.size},
                       faults.data());
    std::int64_t found = 0;
    on_.download(&found, faults.data(), sizeof(found));
    return found == 0;
  }

  void sort_entries(device_triangle<Index, Offset>& t, std::int64_t entries) const {
    if (t.longest_row <= triangle_kernels::sort_short_rows<Index, Offset>::longest_row) {
      sort_entries_by_rows(t, entries);
    } else {
      sort_all_entries(t, entries);
    }
  }
  /// Writes the entries in any order within their rows, and sorts each row on its own.
  void sort_entries_by_rows(device_triangle<Index, Offset>& t, std::int64_t entries) const {
    const auto cursors = make_buffer<Offset>(a_.size, on_, memory_.scratch);
    on_.copy(cursors.data(), t.row_offsets.data(), cursors.bytes());
    t.columns = make_buffer<Index>(entries, on_, memory_.kept);
    t.sources = make_buffer<Offset>(entries, on_, memory_.kept);
    triangle_kernels::for_each_entry(on_, a_.offsets, a_.size, a_.entries,
                                     triangle_kernels::write_unsorted_entries<Index, Offset>{
                                         a_, form_, cursors.data(), t.columns.data(), t.sources.data()});
    simt::for_each_by_groups(
        on_, simt::ceil_power_of_two(static_cast<int>(t.longest_row)), a_.size,
        triangle_kernels::sort_short_rows<Index, Offset>{t.row_offsets.data(), t.columns.data(),
                                                         t.sources.data(), form_, a_.size, report_});
  }
  /// Sorts by row and column.
  void sort_all_entries(device_triangle<Index, Offset>& t, std::int64_t entries) const {
    auto cursors = make_buffer<Offset>(a_.size, on_, memory_.scratch);
    auto keys = make_buffer<std::uint64_t>(entries, on_, memory_.scratch);
    t.sources = make_buffer<Offset>(entries, on_, memory_.kept);
    on_.copy(cursors.data(), t.row_offsets.data(), cursors.bytes());
    triangle_kernels::for_each_entry(on_, a_.offsets, a_.size, a_.entries,
                                     triangle_kernels::write_keys<Index, Offset>{
                                         a_, form_, cursors.data(), keys.data(), t.sources.data()});
    cursors = {};
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
        triangle_kernels::take_columns<Index>{keys.data(), t.columns.data(), form_, a_.size, report_});
  }

  pattern_view<Index, Offset> a_;
  triangle_form form_;
  const Executor& on_;
  analysis_memory memory_;
  buffer<report> own_report_;
  report* report_;  ///< in device memory
};

/// Builds the triangle of the system in device memory. Synchronises.
template <class Index, class Offset, class Executor>
device_triangle<Index, Offset> build_on_device(const pattern_view<Index, Offset>& a,
                                               const triangle_form& form, const Executor& on,
                                               const analysis_memory& memory) {
  return device_triangle_builder<Index, Offset, Executor>(a, form, on, memory).build();
}

}  // namespace sptrsv::detail
