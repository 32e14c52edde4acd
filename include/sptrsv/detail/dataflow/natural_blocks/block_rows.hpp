// SPDX-License-Identifier: Apache-2.0
// Runs of rows with the same structure: each row has the columns of the row before it, and this row. Natural
// blocks are pieces of these runs.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/levels/level_order.hpp"
#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks {

/// The runs of a triangle, in host memory: the columns of their first rows tell those of the others.
template <class Index, class Offset>
struct block_rows {
  std::vector<Index> first_rows;  ///< by run, and one more: the number of rows
  std::vector<Offset> offsets;    ///< by run, and one more, of its columns
  std::vector<Index> columns;     ///< of the first rows, ascending

  [[nodiscard]] std::int64_t rows() const { return first_rows.back(); }
  [[nodiscard]] std::int64_t runs() const { return count_of(first_rows) - 1; }
};

/// Writes whether a row begins a run. Runs once per row, by a warp.
template <class Index, class Offset>
struct mark_first_rows {
  triangle_view<Index, Offset> t;
  char* is_first;

  template <class Context, class Warp>
  SPTRSV_DEVICE void operator()(Context& ctx, const Warp& warp, std::int64_t row) const {
    const Offset begin = ctx.load_constant(t.row_offsets + row);
    const Offset before = ctx.load_constant(t.row_offsets + (row > 0 ? row - 1 : 0));
    const auto same = static_cast<std::int64_t>(begin - before);  // as many columns are compared
    const Offset end = ctx.load_constant(t.row_offsets + row + 1);
    bool joins = row > 0 && static_cast<std::int64_t>(end - begin) == same + 1 &&
                 static_cast<std::int64_t>(ctx.load_constant(t.columns + end - 1)) == row - 1;
    for (std::int64_t e = warp.rank(); warp.any(joins && e < same); e += 32) {
      const bool differs =
          e < same && ctx.load_constant(t.columns + begin + e) != ctx.load_constant(t.columns + before + e);
      joins = joins && !warp.any(differs);
    }
    if (warp.rank() == 0) {
      ctx.store(is_first + row, static_cast<char>(joins ? 0 : 1));
    }
  }
};

/// Finds the runs; their columns only if they have `least_rows` rows on average, else `offsets` is empty.
/// Synchronises.
template <class Index, class Offset, class Executor>
block_rows<Index, Offset> find_block_rows(const device_triangle<Index, Offset>& t, double least_rows,
                                          const Executor& on, const analysis_memory& memory) {
  const auto is_first = make_buffer<char>(t.size, on, memory.scratch);
  simt::for_each_by_tile<32>(on, t.size, mark_first_rows<Index, Offset>{t.view(), is_first.data()});
  const auto found =
      make_runs<Index>(t.size, array_kernels::element_of<char>{is_first.data()}, on, memory.all_scratch());
  block_rows<Index, Offset> made;
  if (static_cast<double>(t.size) < least_rows * static_cast<double>(found.count)) {
    return made;
  }
  const auto numbers = make_buffer<Index>(t.size, on, memory.scratch);  // columns stay as they are
  simt::for_each(on, t.size, array_kernels::write_iota<Index>{numbers.data()});
  const auto first =
      select_rows(t, row_selection<Index>{found.count, found.first.data(), numbers.data(), -1, true}, on,
                  memory.all_scratch());
  made.first_rows = download_array(found.first, on);
  made.offsets = download_array(first.row_offsets, on);
  made.columns = download_array(first.columns, on);
  return made;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::natural_blocks
