// SPDX-License-Identifier: Apache-2.0
// Rewriting in row blocks of 32 rows on the host side: which rows are rewritten, and the pattern, values and
// right-hand sides of the rewritten system. row_elimination_rows.hpp has the method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sptrsv/detail/dataflow/row_elimination/rewritten_system.hpp"
#include "sptrsv/detail/dataflow/row_elimination/row_elimination_agents.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination {

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

/// A system whose rows are rewritten in row blocks.
template <class Scalar, class Index, class Offset, class Executor>
class plan : public rewritten_system<Scalar, Index, Offset, Executor> {
  using base = rewritten_system<Scalar, Index, Offset, Executor>;

 public:
  /// Chooses the rows by the values `stored`. Synchronises.
  plan(const device_triangle<Index, Offset>& whole, const Scalar* stored, const triangle_form& form,
       const limits& limits, const Executor& on, const analysis_memory& memory)
      : base(whole, form, limits.growth), row_blocks_(simt::ceil_div(whole.size, row_block_rows)) {
    if (base::most_listed(limits) > 0) {
      choose(stored, limits, on, memory);
    }
  }

  [[nodiscard]] std::int64_t rewritten() const override { return rewritten_; }

  void make_pattern(const Executor& on, const analysis_memory& memory) override {
    base::place_counted(factor_offsets_, on, memory);
    factors_ = make_buffer<Scalar>(last_of(factor_offsets_, on), on, memory.kept);
    base::place_rewritten_rows(on, memory);
    base::columns_ = make_buffer<Index>(last_of(base::row_offsets_, on), on, memory.kept);
    simt::for_each(
        on, base::triangle().size,
        take_slots<Index, Offset>{base::slots_.data(), base::listed_.data(), base::lengths_.data(),
                                  base::row_offsets_.data(), base::columns_.data(), !base::form_.unit});
    base::free_lists();
  }

  void update_values(const Scalar* stored, const Executor& on) override {
    base::clear_first_grown(on);
    base::template launch_warps<rewrite_rows_agent<Scalar, Index, Offset>>(
        row_blocks_,
        {base::valued(stored), base::max_later_growth(), eliminated_.data(), factor_offsets_.data(),
         factors_.data(), base::row_offsets_.data(), base::columns_.data(), base::values_.data(),
         base::first_grown_.data()},
        on);
  }

  void transform(Scalar alpha, dense_view<const Scalar> b, Scalar* c, const Executor& on) const override {
    base::template launch_warps<eliminated_rhs_agent<Scalar, Offset>>(
        row_blocks_ * b.columns,
        {base::triangle().size, row_blocks_, base::form_.reversed, eliminated_.data(), factor_offsets_.data(),
         factors_.data(), alpha, b, c},
        on);
  }
  [[nodiscard]] std::size_t transform_bytes() const override {
    return base::transform_bytes() + factors_.bytes() + eliminated_.bytes();
  }

  [[nodiscard]] std::size_t bytes() const override {
    return base::bytes() + eliminated_.bytes() + factor_offsets_.bytes() + factors_.bytes();
  }
  [[nodiscard]] kernel_info describe() const override {
    kernel_info kernel;
    kernel.warps = row_blocks_;
    kernel.rewritten_rows = rewritten_;
    kernel.text = "dataflow: right-hand sides for " + std::to_string(rewritten_) +
                  " rewritten rows, one warp for each of " + std::to_string(row_blocks_) + " row blocks";
    return kernel;
  }

 private:
  void choose(const Scalar* stored, const limits& limits, const Executor& on, const analysis_memory& memory) {
    const std::int64_t size = base::triangle().size;
    base::slots_ = make_buffer<Offset>(size + 1, on, memory.scratch);
    simt::for_each(on, size,
                   count_slots<Offset>{base::triangle().row_offsets.data(), limits.fill,
                                       static_cast<Offset>(limits.entries), base::slots_.data()});
    base::place_counted(base::slots_, on, memory);
    base::listed_ = make_buffer<Index>(last_of(base::slots_, on), on, memory.scratch);
    base::lengths_ = make_buffer<Offset>(size, on, memory.scratch);
    const auto count = make_buffer<std::int64_t>(1, on, memory.scratch);
    on.fill_bytes(count.data(), 0, count.bytes());
    eliminated_ = make_buffer<std::uint32_t>(size, on, memory.kept);
    factor_offsets_ = make_buffer<Offset>(row_blocks_ + 1, on, memory.kept);
    base::template launch_warps<choose_rows_agent<Scalar, Index, Offset>>(
        row_blocks_,
        {base::valued(stored), base::max_growth_, static_cast<Offset>(limits.longest_row),
         base::slots_.data(), base::listed_.data(), base::lengths_.data(), eliminated_.data(),
         factor_offsets_.data(), count.data()},
        on);
    rewritten_ = download_value(count.data(), on);
  }

  std::int64_t row_blocks_;
  std::int64_t rewritten_ = 0;
  buffer<std::uint32_t> eliminated_;  ///< by row: a bit for each row of its row block that it eliminates
  buffer<Offset> factor_offsets_;     ///< row blocks + 1; their counts until make_pattern()
  buffer<Scalar> factors_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::row_elimination
