// SPDX-License-Identifier: Apache-2.0
// The pattern of a matrix of blocks by single rows, as analyses take it.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/for_each_entry.hpp"
#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

SPTRSV_BEGIN_ANY_CONTEXT
/// Writes the offsets of the rows from those of the block rows, and the indices of the entries. Runs once per
/// row and for the end of the last row, then once per entry. Wrong offsets and indices of blocks give wrong
/// offsets and indices: those of the same first block row. Nothing is read outside the arrays.
template <class Index, class Offset>
struct expand_blocks {
  block_pattern<Index, Offset> a;
  Offset* offsets;  ///< by row, and the end of the last one; output of the first
  Index* indices;   ///< by entry; output of the second

  template <class Context>
  SPTRSV_HOST_DEVICE void operator()(Context& ctx, std::int64_t row) const {
    const std::int64_t major = row / a.block;
    const std::int64_t inside = row % a.block;
    const std::int64_t begin = load_index(ctx, a.offsets + major);
    std::int64_t offset = within(begin, a.entries) * a.block * a.block;
    if (inside > 0) {  // an offset that a faulty block row has for itself
      const std::int64_t end = load_index(ctx, a.offsets + major + 1);
      const bool is_wrong =
          begin > end || (major == 0 && begin != 0) || (major == a.size - 1 && end != a.entries);
      offset =
          is_wrong ? -1 : offset + inside * (within(end, a.entries) - within(begin, a.entries)) * a.block;
    }
    ctx.store(offsets + row, static_cast<Offset>(offset));
  }
  template <class Context>
  SPTRSV_HOST_DEVICE void operator()(Context& ctx, std::int64_t row, std::int64_t e) const {
    const std::int64_t first = load_index(ctx, a.offsets + row / a.block);
    const std::int64_t k = e - load_index(ctx, static_cast<const Offset*>(offsets) + row);
    const std::int64_t b = first + k / a.block;
    const std::int64_t column =
        k >= 0 && b >= 0 && b < a.entries ? within(load_index(ctx, a.indices + b), a.columns) : -1;
    ctx.store(indices + e, static_cast<Index>(column * a.block + (column < 0 ? 0 : k % a.block)));
  }

 private:
  /// Returns a number between -1 and `last` + 1.
  SPTRSV_HOST_DEVICE static std::int64_t within(std::int64_t v, std::int64_t last) {
    return v < -1 ? -1 : v > last + 1 ? last + 1 : v;
  }
};

/// Copies the values of a matrix into the order of its entries. Runs once per entry.
template <class Scalar, class Index, class Offset>
struct take_block_values {
  pattern_view<Index, Offset> a;
  const Scalar* stored;
  Scalar* values;  ///< output by entry

  template <class Context>
  SPTRSV_HOST_DEVICE void operator()(Context& ctx, std::int64_t row, std::int64_t e) const {
    ctx.store(values + e, ctx.load_constant(stored + a.value_index(ctx, row, e)));
  }
};
SPTRSV_END_ANY_CONTEXT

/// A matrix of blocks by single rows, whose values stay where they are. Analyses take it as other views.
template <class Value, class Index, class Offset>
struct expanded_view {
  using view_type = expanded_view;
  using value_type = Value;
  using index_type = Index;
  using offset_type = Offset;

  std::int64_t rows;
  std::int64_t columns;
  std::int64_t entries;
  const Value* values;
  pattern_view<Index, Offset> pattern;
};
template <class Value, class Index, class Offset>
pattern_view<Index, Offset> pattern_of(const expanded_view<Value, Index, Offset>& a) {
  return a.pattern;
}

/// Returns `use(view)` with a matrix as an analysis takes it: a view by rows or by columns itself, one of
/// blocks by single rows. Their pattern is made where the executor computes, after checks of the sizes and
/// arrays, and is there during the call; the analysis checks it. `taker`: see check_space.
template <class View, class Executor, class Use>
auto with_expanded(const View& a, [[maybe_unused]] const char* taker, [[maybe_unused]] const Executor& on,
                   [[maybe_unused]] memory_resource* resource, const Use& use) {
  if constexpr (!is_block_view<View>) {
    return use(a);
  } else {
    using index = typename View::index_type;
    using offset = typename View::offset_type;
    check_arrays<Executor>(a, taker);
    const auto blocks = pattern_of(a);
    expanded_view<typename View::value_type, index, offset> made{a.rows, a.columns, a.entries, a.values,
                                                                 blocks.of_blocks()};
    if (a.block_size == 1) {
      return use(made);
    }
    memory_resource& memory = resource_or_default(resource, on);
    const auto offsets = make_buffer<offset>(a.rows > 0 ? a.rows + 1 : 0, on, memory);
    const auto indices = make_buffer<index>(a.entries, on, memory);
    if (a.rows > 0) {
      if constexpr (!simt::has_kernels<Executor>) {
        check_on_host(a, taker);
      }
      const expand_blocks<index, offset> expand{blocks, offsets.data(), indices.data()};
      simt::for_each(on, a.rows + 1, expand);
      triangle_kernels::for_each_entry(on, offsets.data(), a.rows, a.entries, expand);
    }
    made.pattern = {a.rows,
                    a.entries,
                    offsets.data(),
                    indices.data(),
                    false,
                    a.block_size,
                    a.order == block_order::by_columns};
    return use(made);
  }
}

/// Copies a matrix of blocks into arrays by single rows. `offsets`: size rows + 1, or empty if the matrix has
/// no rows and no offsets; `indices` and `values`: by entry. Otherwise as with_expanded().
template <class View, class Executor, class Offsets, class Indices, class Values>
void expand_into(const View& a, const char* taker, const Executor& on, memory_resource& resource,
                 Offsets& offsets, Indices& indices, Values& values) {
  using scalar = scalar_t<typename View::value_type>;
  with_expanded(a, taker, on, &resource, [&](const auto& expanded) {
    const auto pattern = pattern_of(expanded);
    on.copy(offsets.data(), pattern.offsets, offsets.size() * sizeof(*pattern.offsets));
    on.copy(indices.data(), pattern.indices, indices.size() * sizeof(*pattern.indices));
    triangle_kernels::for_each_entry(
        on, pattern.offsets, pattern.size, pattern.entries,
        take_block_values<scalar, typename View::index_type, typename View::offset_type>{
            pattern, as_scalar(a.values), as_scalar(values.data())});
  });
}

}  // namespace sptrsv::SPTRSV_ABI::detail
