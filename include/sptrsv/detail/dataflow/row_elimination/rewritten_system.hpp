// SPDX-License-Identifier: Apache-2.0
// A system whose rows were rewritten: what rewriting in row blocks (row_elimination_plan.hpp) and in runs of
// levels (level_runs_plan.hpp) have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/row_elimination/row_elimination_rows.hpp"
#include "sptrsv/detail/dataflow/row_per_thread/row_per_thread_params.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/simt/scan.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination {

/// Limits of a rewritten row.
struct limits {
  double growth;             ///< largest growth, as basic_dataflow::max_growth
  double fill;               ///< largest fill, as basic_dataflow::max_fill; at least 1
  std::int64_t entries;      ///< number of entries that a rewritten row may always have
  std::int64_t longest_row;  ///< entries of a row that is rewritten, at most
};

/// The rewritten system in device memory: a lower triangle by rows, in the order of substitution, with
/// ascending columns. Its diagonal is unit if that of the system is. The constructors of derived classes
/// choose the rows by the values of the matrix. If none is chosen, only rewritten() may be called. Otherwise
/// make_pattern(), make_values(), update_values() and keep() follow, in this order.
template <class Scalar, class Index, class Offset, class Executor>
class rewritten_system {
 public:
  rewritten_system(const rewritten_system&) = delete;
  rewritten_system& operator=(const rewritten_system&) = delete;
  virtual ~rewritten_system() = default;

  [[nodiscard]] virtual std::int64_t rewritten() const = 0;
  /// Returns the system before it is rewritten.
  [[nodiscard]] const device_triangle<Index, Offset>& triangle() const {
    return whole_ != nullptr ? *whole_ : triangle_;
  }

  /// Makes the pattern, if it is to be planned.
  virtual void make_pattern(const Executor& on, const analysis_memory& memory) = 0;
  [[nodiscard]] pattern_view<Index, Offset> pattern() const {
    return {triangle().size, static_cast<std::int64_t>(columns_.size()), row_offsets_.data(), columns_.data(),
            false};
  }

  /// Allocates the values: when the system has been planned, which takes memory.
  virtual void make_values(const Executor& on, memory_resource& resource) {
    values_ = make_buffer<Scalar>(static_cast<std::int64_t>(columns_.size()), on, resource);
    first_grown_ = make_buffer<std::int64_t>(1, on, resource);
  }
  /// Computes the values of the rewritten system and what its right-hand sides are computed with.
  virtual void update_values(const Scalar* stored, const Executor& on) = 0;
  [[nodiscard]] const Scalar* values() const { return values_.data(); }
  /// Returns the first row whose growth is too large by the latest values; -1 if there is none. Synchronises.
  [[nodiscard]] std::int64_t first_grown_index(const Executor& on) const {
    const std::int64_t first = download_value(first_grown_.data(), on);
    return first < triangle().size ? first : -1;
  }

  /// Copies what the constructor was given and later values need, which may then be freed.
  virtual void keep(const Executor& on, memory_resource& resource) {
    const device_triangle<Index, Offset>& from = *whole_;
    triangle_.size = from.size;
    triangle_.longest_row = from.longest_row;
    triangle_.rows_are_stored_runs = from.rows_are_stored_runs;
    triangle_.row_offsets = copy_of(from.row_offsets, on, resource);
    triangle_.columns = copy_of(from.columns, on, resource);
    triangle_.diagonal_sources = copy_of(from.diagonal_sources, on, resource);
    if (form_.unit || !from.rows_are_stored_runs) {
      triangle_.sources = copy_of(from.sources, on, resource);
    }
    whole_ = nullptr;
  }

  /// Computes the right-hand sides. `c`: size x b.columns, column-major, by substitution index.
  virtual void transform(Scalar alpha, dense_view<const Scalar> b, Scalar* c, const Executor& on) const = 0;
  /// Returns how many bytes transform() reads and writes for one right-hand side.
  [[nodiscard]] virtual std::size_t transform_bytes() const {
    return 2 * at(triangle().size) * sizeof(Scalar);
  }
  /// Returns the entries of the right-hand sides for a kernel that combines them itself, if one can.
  [[nodiscard]] virtual row_per_thread::rewritten_rhs<Scalar, Index, Offset> rhs() const { return {}; }
  /// Returns how many bytes such a kernel reads, in effect; 0 if no kernel can.
  [[nodiscard]] virtual std::size_t combine_bytes() const { return 0; }
  [[nodiscard]] bool is_combinable() const { return combine_bytes() > 0; }

  /// Returns how rows are rewritten, as a part of a sentence.
  [[nodiscard]] virtual std::string kind() const { return ""; }
  [[nodiscard]] virtual std::size_t bytes() const {
    return triangle_.bytes() + row_offsets_.bytes() + columns_.bytes() + values_.bytes() +
           first_grown_.bytes();
  }
  [[nodiscard]] virtual kernel_info describe() const = 0;

 protected:
  /// Refers to `whole` until keep() is called.
  rewritten_system(const device_triangle<Index, Offset>& whole, const triangle_form& form, double growth)
      : form_(form),
        max_growth_(static_cast<real_t<Scalar>>(
            std::min<double>(growth, std::numeric_limits<real_t<Scalar>>::max() / 2))),
        whole_(&whole) {}

  /// Returns how many columns are listed at most; 0 if there are no rows, or if Offset cannot count them.
  [[nodiscard]] std::int64_t most_listed(const limits& limits) const {
    const double most = limits.fill * static_cast<double>(triangle().entries()) +
                        static_cast<double>((limits.entries + 1) * triangle().size);
    return most < static_cast<double>(std::numeric_limits<Offset>::max()) ? static_cast<std::int64_t>(most)
                                                                          : 0;
  }
  [[nodiscard]] valued_triangle<Scalar, Index, Offset> valued(const Scalar* stored) const {
    const device_triangle<Index, Offset>& t = triangle();
    return {t.size,
            t.row_offsets.data(),
            t.columns.data(),
            t.sources.size() == 0 ? nullptr : t.sources.data(),
            t.diagonal_sources.data(),
            stored,
            form_.conjugated,
            form_.reversed};
  }
  /// Returns the limit for later values: the kernel that chose the rows may round growth differently.
  [[nodiscard]] real_t<Scalar> max_later_growth() const {
    return static_cast<real_t<Scalar>>(1.001) * max_growth_;
  }
  /// Finds where the rows begin by `lengths_`, in the rewritten system.
  void place_rewritten_rows(const Executor& on, const analysis_memory& memory) {
    row_offsets_ = make_buffer<Offset>(triangle().size + 1, on, memory.kept);
    scan(on, triangle().size,
         place_rows<Offset>{triangle().size, lengths_.data(), form_.unit ? Offset{0} : Offset{1},
                            row_offsets_.data()},
         memory);
  }
  /// Turns counts into offsets, in place.
  static void place_counted(const buffer<Offset>& counts, const Executor& on, const analysis_memory& memory) {
    const std::int64_t size = static_cast<std::int64_t>(counts.size()) - 1;
    scan(on, size, place_rows<Offset>{size, counts.data(), 0, counts.data()}, memory);
  }
  void free_lists() {
    slots_ = {};
    listed_ = {};
    lengths_ = {};
  }
  void clear_first_grown(const Executor& on) const {
    on.fill_bytes(first_grown_.data(), 0x7f, first_grown_.bytes());
  }
  template <class Agent>
  static void launch_warps(std::int64_t tasks, const typename Agent::params& p, const Executor& on) {
    on.template launch<Agent>(simt::block_count(tasks, Agent::block_threads / 32), p);
  }

  triangle_form form_;
  real_t<Scalar> max_growth_;
  buffer<Offset> slots_;    ///< size + 1: where the columns of each row are listed; until make_pattern()
  buffer<Index> listed_;    ///< the listed columns; until make_pattern()
  buffer<Offset> lengths_;  ///< by row: entries without the pivot; until make_pattern()
  buffer<Offset> row_offsets_;
  buffer<Index> columns_;
  buffer<Scalar> values_;
  buffer<std::int64_t> first_grown_;

 private:
  const device_triangle<Index, Offset>* whole_;  ///< the system before it is rewritten; null after keep()
  device_triangle<Index, Offset> triangle_;      ///< the same after keep()
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination
