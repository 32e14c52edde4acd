// Where the contributions of supernodes are added in a forward solve.
#pragma once

#include <cstdint>
#include <string>

#include "sptrsv/detail/analysis/device_triangle.hpp"
#include "sptrsv/detail/supernodal/analysis/structure.hpp"

namespace sptrsv::detail::supernodal {

/// Writes the number of the sum that each contribution belongs to; see solve_params. Runs once per row of the
/// lists.
template <class Index, class Offset>
struct find_targets {
  supernodes<Index> of;
  std::int64_t size;
  std::uint64_t* targets;
  Offset* contributions;  ///< output: 0, 1, 2, ...

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t e) const {
    const std::int64_t s = triangle_kernels::major_of(ctx, of.rows_begin, of.count, e);
    const Index row = ctx.load_constant(of.rows + e);
    // The parent is the supernode of the first row of the list.
    const auto parent =
        of.open(ctx, ctx.load_constant(of.supernode_of +
                                       ctx.load_constant(of.rows + ctx.load_constant(of.rows_begin + s))));
    std::int64_t target = row;
    if (row >= parent.first + parent.columns) {
      const Index* const rows = of.rows + parent.rows_begin;
      const std::int64_t found = triangle_kernels::count_below(ctx, rows, parent.rows, row);
      if (found < parent.rows && ctx.load_constant(rows + found) == row) {
        target = size + parent.rows_begin + found;
      }
    }
    ctx.store(targets + e, static_cast<std::uint64_t>(target));
    ctx.store(contributions + e, static_cast<Offset>(e));
  }
};

/// The contributions that a sum adds, each named by its row in the lists of rows. One or two are named here,
/// so that the solve needs no second load to find them.
template <class Offset>
struct alignas(2 * sizeof(Offset)) named_sources {
  Offset first;   ///< -1: there is none; below: -2 minus where the list begins among all sources
  Offset second;  ///< -1: there is none; if a list begins: its length
};

/// Names the contributions of each sum. Runs once per sum.
template <class Offset>
struct name_sources {
  const std::uint64_t* sorted_targets;
  const Offset* sources;  ///< by the order of targets
  std::int64_t count;
  named_sources<Offset>* named;  ///< by sum

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t sum) const {
    const auto key = static_cast<std::uint64_t>(sum);
    const std::int64_t begin = triangle_kernels::count_below(ctx, sorted_targets, count, key);
    std::int64_t length = 0;
    while (begin + length < count && length < 3 &&
           ctx.load_constant(sorted_targets + begin + length) == key) {
      ++length;
    }
    named_sources<Offset> found{length > 0 ? ctx.load_constant(sources + begin) : Offset{-1},
                                length > 1 ? ctx.load_constant(sources + begin + 1) : Offset{-1}};
    if (length > 2) {
      length = triangle_kernels::count_below(ctx, sorted_targets, count, key + 1) - begin;
      found = {static_cast<Offset>(-2 - begin), static_cast<Offset>(length)};
    }
    ctx.store(named + sum, found);
  }
};

/// Owns the lists of contributions of all sums.
template <class Offset>
class contribution_lists {
 public:
  contribution_lists() = default;

  /// `rows`: rows in all lists of the supernodes. Throws errc::unsupported if Offset cannot count the sums.
  template <class Index, class Executor>
  contribution_lists(const supernodes<Index>& of, std::int64_t size, std::int64_t rows, const Executor& on,
                     memory_resource& resource)
      : named_(make_buffer<named_sources<Offset>>(size + rows, on, resource)),
        sources_(make_buffer<Offset>(rows, on, resource)) {
    SPTRSV_EXPECTS(size + rows <= max_count<Offset>, errc::unsupported,
                   "the supernodes have " + std::to_string(rows) +
                       " rows below them, too many for the offset type of the matrix");
    auto targets = make_buffer<std::uint64_t>(rows, on, resource);
    if (rows > 0) {
      auto other_targets = make_buffer<std::uint64_t>(rows, on, resource);
      auto other_sources = make_buffer<Offset>(rows, on, resource);
      simt::for_each(on, rows, find_targets<Index, Offset>{of, size, targets.data(), sources_.data()});
      on.sort_pairs_in_place(targets, other_targets, sources_, other_sources,
                             bits_for(static_cast<std::uint64_t>(size + rows)), resource);
    }
    simt::for_each(on, size + rows,
                   name_sources<Offset>{targets.data(), sources_.data(), rows, named_.data()});
  }

  [[nodiscard]] const named_sources<Offset>* named() const { return named_.data(); }
  [[nodiscard]] const Offset* sources() const { return sources_.data(); }
  [[nodiscard]] std::size_t bytes() const { return named_.bytes() + sources_.bytes(); }

 private:
  buffer<named_sources<Offset>> named_;
  buffer<Offset> sources_;
};

}  // namespace sptrsv::detail::supernodal
