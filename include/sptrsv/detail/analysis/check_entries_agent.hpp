// SPDX-License-Identifier: Apache-2.0
// The kernels that check the stored matrix and measure the rows of the system.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/triangle_kernels.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/simt/scan.hpp"

namespace sptrsv::SPTRSV_ABI::detail::triangle_kernels {

/// The result of check_entries_agent for one triangle of the stored matrix.
template <class Index, class Offset>
struct checked_triangle {
  triangle_form form{system_options{}, false};
  /// As start_rows initialises it: its row offsets get the numbers of strictly lower entries of each row.
  triangle_view<Index, Offset> to{};
  report* found = nullptr;  ///< the findings
};

/// Checks the stored matrix and counts the entries of the rows of one or two systems. A block takes
/// `block_items` stored rows (columns) and as many stored entries:
///
///   1. For each of the rows: check that the offsets are sound.
///   2. Each warp finds the rows of its entries, see majors_of().
///   3. For each of the entries: check its index and its order within the stored row, record the diagonal
///      entry, and count the entry for its row of the system. The lanes of a warp first combine the counts of
///      neighbours in the same row. What two diagonal entries of a row say of each other is looked at last,
///      because an exchange of memory takes long to answer.
///
/// Findings about entries hold only if all offsets are sound, but the kernel never reads outside the arrays.
template <class Index, class Offset, int Triangles = 1>
struct check_entries_agent {
  static constexpr int block_threads = 256;
  static constexpr int thread_items = 4;
  static constexpr int block_items = thread_items * block_threads;
  struct shared_storage {};
  struct params {
    pattern_view<Index, Offset> a;
    array_of<checked_triangle<Index, Offset>, Triangles> triangles;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const std::int64_t begin = static_cast<std::int64_t>(ctx.block_rank()) * block_items;
    for (int k = 0; k < block_items; k += block_threads) {
      const std::int64_t i = begin + k + ctx.thread_rank();
      if (i < p.a.size) {
        check_offsets(ctx, p, i);
      }
    }
    const auto warp = ctx.template group<32>();
    const std::int64_t first = begin + 32 * thread_items * warp.index();
    if (first >= p.a.entries) {
      return;
    }
    std::int64_t majors[thread_items];
    majors_of(ctx, warp, p.a.offsets, p.a.size, first, p.a.entries, majors);
    stored_entry entries[thread_items];
    SPTRSV_UNROLL
    for (int k = 0; k < thread_items; ++k) {
      const std::int64_t e = first + 32 * k + warp.rank();
      if (e < p.a.entries) {
        entries[k] = check_entry(ctx, p, e, majors[k]);
      }
    }
    SPTRSV_UNROLL
    for (int t = 0; t < Triangles; ++t) {
      counted found[thread_items];
      SPTRSV_UNROLL
      for (int k = 0; k < thread_items; ++k) {
        if (entries[k].is_sound) {
          found[k] = classify(ctx, p, p.triangles[t], first + 32 * k + warp.rank(), majors[k], entries[k]);
        }
      }
      SPTRSV_UNROLL
      for (int k = 0; k < thread_items; ++k) {
        add_lengths(ctx, p.triangles[t], found[k]);
        if (found[k].other_diagonal != Offset{-1}) {
          ctx.atomic_min(&p.triangles[t].found->duplicate, majors[k]);
        }
      }
    }
  }

 private:
  /// An entry of the storage.
  struct stored_entry {
    Index minor = 0;
    bool is_sound = false;      ///< whether it exists, and its index is in the matrix
    bool is_duplicate = false;  ///< whether the entry before it is in the same place
  };
  /// A stored entry of the system, if it lies in the strictly lower triangle.
  struct counted {
    Index row = -1;              ///< substitution index; -1 if there is none
    bool is_below = false;       ///< true if the entry lies below the diagonal
    Offset other_diagonal = -1;  ///< another diagonal entry of the same row; -1 if there is none
  };

  template <class Context>
  SPTRSV_DEVICE static void check_offsets(Context& ctx, const params& p, std::int64_t m) {
    const Offset begin = ctx.load_constant(p.a.offsets + m);
    const Offset end = ctx.load_constant(p.a.offsets + m + 1);
    if (begin > end || (m == 0 && begin != 0) ||
        (m == p.a.size - 1 && end != static_cast<Offset>(p.a.entries))) {
      for (const auto& triangle : p.triangles) {
        ctx.atomic_min(&triangle.found->offsets, m);
      }
    }
  }

  /// `m`: the stored row of the entry.
  template <class Context>
  SPTRSV_DEVICE static stored_entry check_entry(Context& ctx, const params& p, std::int64_t e,
                                                std::int64_t m) {
    const Index minor = ctx.load_constant(p.a.indices + e);
    if (minor < 0 || static_cast<std::int64_t>(minor) >= p.a.size) {
      for (const auto& triangle : p.triangles) {
        ctx.atomic_min(&triangle.found->index, m);
      }
      return {};
    }
    bool is_duplicate = false;
    if (e > 0 && e > load_index(ctx, p.a.offsets + m)) {
      const Index before = ctx.load_constant(p.a.indices + e - 1);
      if (before > minor) {
        for (const auto& triangle : p.triangles) {
          ctx.atomic_max(&triangle.found->unsorted, std::uint64_t{1});
        }
      }
      is_duplicate = before == minor;
    }
    return {minor, true, is_duplicate};
  }

  template <class Context>
  SPTRSV_DEVICE static counted classify(Context& ctx, const params& p,
                                        const checked_triangle<Index, Offset>& triangle, std::int64_t e,
                                        std::int64_t m, const stored_entry& stored) {
    const auto at = triangle_entry_of(triangle.form, static_cast<Index>(p.a.size - 1), static_cast<Index>(m),
                                      stored.minor);
    if (stored.is_duplicate && at.column < at.row) {
      ctx.atomic_min(&triangle.found->duplicate, m);
    }
    counted entry{at.row, at.column < at.row, Offset{-1}};
    if (at.column == at.row && triangle.to.diagonal_sources != nullptr) {
      entry.other_diagonal =
          ctx.atomic_exchange(triangle.to.diagonal_sources + at.row, p.a.value_index(ctx, m, e));
    }
    return entry;
  }

  /// Adds the entries of the warp to the lengths of their rows: one atomic addition per run of lanes with the
  /// same row, because additions to the same word are serialised.
  template <class Context>
  SPTRSV_DEVICE static void add_lengths(Context& ctx, const checked_triangle<Index, Offset>& triangle,
                                        const counted& entry) {
    const auto warp = ctx.template group<32>();
    const int rank = warp.rank();
    const Index row_before = warp.shuffle(entry.row, rank > 0 ? rank - 1 : 0);
    const std::uint32_t below = warp.ballot(entry.is_below);
    const std::uint32_t firsts = warp.ballot(rank == 0 || row_before != entry.row);
    if ((firsts >> rank & 1u) == 0) {
      return;
    }
    // The lowest bit is the first lane of the next row.
    const std::uint32_t next = rank < 31 ? firsts >> (rank + 1) : 0u;
    const int lanes = next != 0 ? simt::lowest_bit(next) + 1 : 32 - rank;
    const std::uint32_t own = below >> rank & (lanes < 32 ? (1u << lanes) - 1u : ~0u);
    if (own != 0) {
      ctx.atomic_add(triangle.to.row_offsets + entry.row, static_cast<Offset>(simt::bit_count(own)));
    }
  }
};

/// The body of the scan after check_entries_agent: turns the lengths of the rows into row offsets, and
/// records missing diagonal entries and the number of entries.
template <class Index, class Offset>
struct finish_rows {
  triangle_view<Index, Offset> to;  ///< its row offsets hold the lengths before
  bool reversed;
  report* found;
  split_limits limits;  ///< of the rows whose partial rows are counted; `part` 0: none

  template <class Context>
  SPTRSV_DEVICE simt::counted load(Context& ctx, std::int64_t r) const {
    return {static_cast<std::int64_t>(ctx.load(to.row_offsets + r))};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t r, const simt::counted& own,
                           std::int64_t before) const {
    ctx.store(to.row_offsets + r, static_cast<Offset>(before));
    if (r == to.size - 1) {
      ctx.store(to.row_offsets + to.size, static_cast<Offset>(before + own.count));
      ctx.store(&found->entries, before + own.count);
    }
    if (to.diagonal_sources != nullptr && ctx.load_constant(to.diagonal_sources + r) == Offset{-1}) {
      ctx.atomic_min(&found->diagonal, reversed ? to.size - 1 - r : r);
    }
  }
  /// Finds the longest row, and counts the partial rows and the longer rows. (It misses one of 32 rows.)
  template <class Context, class Warp>
  SPTRSV_DEVICE void finish(Context& ctx, const Warp& warp, const simt::counted& own) const {
    const std::int64_t longest = simt::raise_largest(ctx, warp, own.count, &found->longest_row);
    if (to.size <= most_rows_to_compare) {
      const int rank = warp.rank();
      const std::int64_t before = warp.shuffle(own.count, rank > 0 ? rank - 1 : 0);
      const std::uint32_t longer = warp.ballot(rank > 0 && own.count == before + 1);
      if (rank == 0 && longer != 0) {
        ctx.reduce_add(&found->longer_rows, std::int64_t{simt::bit_count(longer)});
      }
    }
    if (limits.part == 0 || longest <= limits.whole) {
      return;
    }
    const std::int64_t parts = simt::reduce(warp, limits.partial_rows_of(own.count), 32, simt::plus{});
    const std::uint32_t split = warp.ballot(own.count > limits.whole);
    if (warp.rank() == 0) {
      ctx.reduce_add(&found->partial_rows, parts);
      ctx.reduce_add(&found->split_rows, std::int64_t{simt::bit_count(split)});
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::triangle_kernels
