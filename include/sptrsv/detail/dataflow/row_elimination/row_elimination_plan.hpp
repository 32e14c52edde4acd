// SPDX-License-Identifier: Apache-2.0
// Row elimination on the host side: which rows are rewritten, and the pattern, values and right-hand sides of
// the rewritten system. rows.hpp has the method.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/dataflow/row_elimination/limits.hpp"
#include "sptrsv/detail/dataflow/row_elimination/row_elimination_agents.hpp"
#include "sptrsv/detail/dataflow/row_elimination/row_elimination_rhs_agent.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/detail/simt/scan.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::detail::dataflow::row_elimination {

/// Writes, for each row, how many columns it may have when it is rewritten.
template <class Offset>
struct count_slots {
  const Offset* row_offsets;
  double fill;
  Offset least;
  Offset* counts;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const Offset length = ctx.load_constant(row_offsets + row + 1) - ctx.load_constant(row_offsets + row);
    const auto filled = static_cast<Offset>(fill * static_cast<double>(length));
    const Offset most = filled < least ? least : filled;
    ctx.store(counts + row, most < length ? length : most);
  }
};

/// Copies, for each row, the listed columns, and then the column of its pivot.
template <class Index, class Offset>
struct take_slots {
  const Offset* slots;
  const Index* listed;
  const Offset* lengths;
  const Offset* row_offsets;
  Index* columns;
  bool has_pivot;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const Offset from = ctx.load_constant(slots + row);
    const Offset to = ctx.load_constant(row_offsets + row);
    const Offset length = ctx.load_constant(lengths + row);
    for (Offset i = 0; i < length; ++i) {
      ctx.store(columns + to + i, ctx.load_constant(listed + from + i));
    }
    if (has_pivot) {
      ctx.store(columns + to + length, static_cast<Index>(row));
    }
  }
};

/// The rewritten system in device memory: a lower triangle by rows, in the order of substitution, with
/// ascending columns. Its diagonal is unit if that of the system is.
template <class Scalar, class Index, class Offset, class Executor>
class plan {
 public:
  /// Chooses the rows by the values `stored`. The plan refers to `triangle` until keep() is called.
  /// Synchronises.
  plan(const device_triangle<Index, Offset>& triangle, const Scalar* stored, const triangle_form& form,
       const limits& limits, const Executor& on, const analysis_memory& memory)
      : whole_(&triangle),
        form_(form),
        max_growth_(static_cast<real_t<Scalar>>(
            std::min<double>(limits.growth, std::numeric_limits<real_t<Scalar>>::max() / 2))),
        row_blocks_(simt::ceil_div(triangle.size, row_block_rows)) {
    const double most = limits.fill * static_cast<double>(triangle.entries()) +
                        static_cast<double>((limits.entries + 1) * triangle.size);
    if (triangle.size > 0 && most < static_cast<double>(std::numeric_limits<Offset>::max())) {
      choose(stored, limits, on, memory);
    }
  }

  /// Returns the number of rewritten rows. If it is 0, no other member may be called.
  [[nodiscard]] std::int64_t rewritten() const { return rewritten_; }
  /// Copies the triangle, which may then be freed.
  void keep(const Executor& on, memory_resource& resource) {
    triangle_ = copy_for_values(*whole_, form_.unit, on, resource);
    whole_ = nullptr;
  }

  [[nodiscard]] pattern_view<Index, Offset> pattern() const {
    return {triangle().size, static_cast<std::int64_t>(columns_.size()), row_offsets_.data(), columns_.data(),
            false};
  }
  [[nodiscard]] const Scalar* values() const { return values_.data(); }

  /// Computes the values of the rewritten system and the factors of its right-hand sides.
  void update_values(const Scalar* stored, const Executor& on) {
    on.fill_bytes(first_grown_.data(), 0x7f, first_grown_.bytes());
    using agent = rewrite_rows_agent<Scalar, Index, Offset>;
    // The kernel that chose the rows may have rounded their growth differently.
    const auto max_growth = static_cast<real_t<Scalar>>(1.001) * max_growth_;
    typename agent::params p{};
    p.triangle = valued(stored);
    p.max_growth = max_growth;
    p.eliminated = eliminated_.data();
    p.factor_offsets = factor_offsets_.data();
    p.factors = factors_.data();
    p.row_offsets = row_offsets_.data();
    p.columns = columns_.data();
    p.values = values_.data();
    p.first_grown = first_grown_.data();
    on.template launch<agent>(blocks<agent>(row_blocks_), p);
  }

  /// Returns the first row whose growth is too large by the values that were given last; -1 if there is none.
  /// Synchronises.
  [[nodiscard]] std::int64_t first_grown_index(const Executor& on) const {
    std::int64_t first = 0;
    on.download(&first, first_grown_.data(), sizeof(first));
    return first < triangle().size ? first : -1;
  }

  /// Computes the right-hand sides of the rewritten system. `c`: size x b.columns, column-major, by
  /// substitution index.
  void transform(Scalar alpha, dense_view<const Scalar> b, Scalar* c, const Executor& on) const {
    using agent = eliminated_rhs_agent<Scalar, Offset>;
    typename agent::params p{};
    p.size = triangle().size;
    p.row_blocks = row_blocks_;
    p.reversed = form_.reversed;
    p.eliminated = eliminated_.data();
    p.factor_offsets = factor_offsets_.data();
    p.factors = factors_.data();
    p.alpha = alpha;
    p.b = b;
    p.c = c;
    on.template launch<agent>(blocks<agent>(row_blocks_ * b.columns), p);
  }

  /// Returns how many bytes `transform` reads and writes for one right-hand side.
  [[nodiscard]] std::size_t transform_bytes() const {
    return factors_.bytes() + eliminated_.bytes() +
           2 * static_cast<std::size_t>(triangle().size) * sizeof(Scalar);
  }

  [[nodiscard]] std::size_t bytes() const {
    return triangle_.bytes() + eliminated_.bytes() + factor_offsets_.bytes() + factors_.bytes() +
           row_offsets_.bytes() + columns_.bytes() + values_.bytes() + first_grown_.bytes();
  }

  [[nodiscard]] kernel_info describe() const {
    kernel_info kernel;
    kernel.warps = row_blocks_;
    kernel.rewritten_rows = rewritten_;
    kernel.text = "dataflow: right-hand sides for " + std::to_string(rewritten_) +
                  " rewritten rows, one warp for each of " + std::to_string(row_blocks_) + " row blocks";
    return kernel;
  }

 private:
  template <class Agent>
  static std::uint32_t blocks(std::int64_t warps) {
    return simt::block_count(warps, Agent::block_threads / 32);
  }

  [[nodiscard]] const device_triangle<Index, Offset>& triangle() const {
    return whole_ != nullptr ? *whole_ : triangle_;
  }
  [[nodiscard]] valued_triangle<Scalar, Index, Offset> valued(const Scalar* stored) const {
    return triangle_with_values(triangle(), stored, form_);
  }

  void choose(const Scalar* stored, const limits& limits, const Executor& on, const analysis_memory& memory) {
    const std::int64_t size = triangle().size;
    const auto slots = make_buffer<Offset>(size + 1, on, memory.scratch);
    simt::for_each(on, size,
                   count_slots<Offset>{triangle().row_offsets.data(), limits.fill,
                                       static_cast<Offset>(limits.entries), slots.data()});
    scan(on, size, place_rows<Offset>{size, slots.data(), 0, slots.data()}, memory);
    const auto listed = make_buffer<Index>(last_of(slots, on), on, memory.scratch);
    const auto lengths = make_buffer<Offset>(size, on, memory.scratch);
    const auto count = make_buffer<std::int64_t>(1, on, memory.scratch);
    on.fill_bytes(count.data(), 0, count.bytes());
    eliminated_ = make_buffer<std::uint32_t>(size, on, memory.kept);
    factor_offsets_ = make_buffer<Offset>(row_blocks_ + 1, on, memory.kept);
    using agent = choose_rows_agent<Scalar, Index, Offset>;
    typename agent::params p{};
    p.triangle = valued(stored);
    p.max_growth = max_growth_;
    p.longest_row = static_cast<Offset>(limits.longest_row);
    p.slots = slots.data();
    p.columns = listed.data();
    p.lengths = lengths.data();
    p.eliminated = eliminated_.data();
    p.eliminated_entries = factor_offsets_.data();
    p.rewritten = count.data();
    on.template launch<agent>(blocks<agent>(row_blocks_), p);
    on.download(&rewritten_, count.data(), sizeof(rewritten_));
    if (rewritten_ == 0) {
      return;
    }
    scan(on, row_blocks_, place_rows<Offset>{row_blocks_, factor_offsets_.data(), 0, factor_offsets_.data()},
         memory);
    factors_ = make_buffer<Scalar>(last_of(factor_offsets_, on), on, memory.kept);
    row_offsets_ = make_buffer<Offset>(size + 1, on, memory.kept);
    scan(on, size,
         place_rows<Offset>{size, lengths.data(), form_.unit ? Offset{0} : Offset{1}, row_offsets_.data()},
         memory);
    columns_ = make_buffer<Index>(last_of(row_offsets_, on), on, memory.kept);
    values_ = make_buffer<Scalar>(static_cast<std::int64_t>(columns_.size()), on, memory.kept);
    first_grown_ = make_buffer<std::int64_t>(1, on, memory.kept);
    simt::for_each(on, size,
                   take_slots<Index, Offset>{slots.data(), listed.data(), lengths.data(), row_offsets_.data(),
                                             columns_.data(), !form_.unit});
  }

  /// Downloads the last offset. Synchronises.
  static std::int64_t last_of(const buffer<Offset>& offsets, const Executor& on) {
    Offset last = 0;
    on.download(&last, offsets.data() + offsets.size() - 1, sizeof(last));
    return static_cast<std::int64_t>(last);
  }

  const device_triangle<Index, Offset>* whole_;  ///< the system before it is rewritten; null after keep()
  device_triangle<Index, Offset> triangle_;      ///< the same after keep()
  triangle_form form_;
  real_t<Scalar> max_growth_;
  std::int64_t row_blocks_;
  std::int64_t rewritten_ = 0;
  buffer<std::uint32_t>
      eliminated_;  ///< by row: one bit for each row of the row block whose entries it eliminates
  buffer<Offset> factor_offsets_;  ///< row blocks + 1
  buffer<Scalar> factors_;
  buffer<Offset> row_offsets_;  ///< size + 1
  buffer<Index> columns_;
  buffer<Scalar> values_;
  buffer<std::int64_t> first_grown_;
};

}  // namespace sptrsv::detail::dataflow::row_elimination
