// SPDX-License-Identifier: Apache-2.0
// The kernel that computes the panels of narrow supernodes from the values of the stored matrix.
#pragma once

#include <cstdint>

#include "sptrsv/detail/supernodal/analysis/columns.hpp"
#include "sptrsv/detail/supernodal/panels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// One warp for each supernode; those of more than `max_columns` columns are left out. A lane computes a row
/// of the panel in registers. For 32 rows at a time:
///
///   1. Load the row of C. The rows of the diagonal block are divided by their pivots: they are those of
///      I + N, and stand in shared memory from then on.
///   2. Solve W (I + N) = B for the row, from the last column to the first. In the diagonal block B = I, so
///      that W = V; below it B = -C.
///   3. Store the row.
///
/// Entries of N and V that are zero by structure (supernodes::first_descendant) take no part where values are
/// not finite: zero times infinity would make components NaN that substitution leaves finite.
template <class Scalar, class Index, class Offset>
struct narrow_agent {
  static constexpr int max_columns = 8;
  static constexpr int block_threads = 256;
  static constexpr int warps = block_threads / 32;
  static constexpr int warps_per_processor = 32;
  using real = real_t<Scalar>;
  struct shared_storage {
    Scalar n[warps][max_columns][max_columns];  ///< N; zero on and above the diagonal, and where it ends
  };
  struct params {
    stored_panels<Scalar, Index, Offset> from;
    Scalar* panels;
    block_norms<real>* norms;  ///< by supernode
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t s = static_cast<std::int64_t>(ctx.block_rank()) * warps + warp.index();
    if (s >= p.from.of.count) {
      return;
    }
    const supernode node = p.from.of.open(ctx, s);
    if (node.columns <= max_columns) {
      compute(ctx, warp, p, s, node, shared.n[warp.index()]);
    }
  }

 private:
  using block = Scalar (&)[max_columns][max_columns];
  using row_entries = Scalar (&)[max_columns];
  using column = panel_column<Index, Offset>;

  template <class Context, class Warp>
  SPTRSV_DEVICE static void compute(Context& ctx, const Warp& warp, const params& p, std::int64_t s,
                                    const supernode& node, block n) {
    const int k = static_cast<int>(node.columns);
    const std::int64_t masks = ctx.load_constant(p.from.masks.begin + s);
    const std::int64_t mask_length = mask_words(node.height());
    column columns[max_columns] = {};
    open_columns(ctx, warp, p.from, s, node, columns);
    bool finite_n = true;
    for (std::int64_t first = 0; first < node.height(); first += 32) {
      const std::int64_t row = first + warp.rank();
      const bool in_block = row < k;
      std::uint32_t bits[max_columns];
      Scalar w[max_columns];
      SPTRSV_UNROLL
      for (int j = 0; j < max_columns; ++j) {
        bits[j] = j < k ? p.from.masks.word(ctx, masks + columns[j].mask * mask_length, first / 32) : 0;
      }
      SPTRSV_UNROLL
      for (int j = 0; j < max_columns; ++j) {
        w[j] = columns[j].entry(ctx, p.from.stored, row > j ? bits[j] : 0u, warp.rank());
        columns[j].rank += static_cast<Index>(simt::bit_count(bits[j]));
      }
      if (in_block) {
        SPTRSV_UNROLL
        for (int j = 0; j < max_columns; ++j) {
          w[j] = p.from.scaled(ctx, w[j], node.first + row);
        }
      }
      bool finite = true;
      SPTRSV_UNROLL
      for (int j = 0; j < max_columns; ++j) {
        finite = finite & is_finite(w[j]);
      }
      if (first == 0) {
        store_block(warp, w, in_block, n);
        raise(ctx, warp, in_block, w, static_cast<int>(row), &p.norms[s].of_block);
        finite_n = warp.all(!in_block || finite);
      }
      SPTRSV_UNROLL
      for (int j = 0; j < max_columns; ++j) {
        w[j] = in_block ? (j == row ? pivot_divisor<Scalar>::one() : Scalar{}) : Scalar{} - w[j];
      }
      if (warp.all(finite) && finite_n) {
        solve(n, w);
      } else {
        solve_by_structure(ctx, p.from, node, row, n, w);
      }
      if (first == 0) {
        raise(ctx, warp, in_block, w, static_cast<int>(row), &p.norms[s].of_inverse);
      }
      Scalar* const to = p.panels + node.panel + panel_row(row, k);
      const std::int64_t count = row < node.height() ? panel_row_entries(row, k) : 0;
      SPTRSV_UNROLL
      for (int j = 0; j < max_columns; ++j) {
        if (j < count) {
          ctx.store(to + j, w[j]);
        }
      }
    }
  }

  /// Opens the columns at the first row. Lane q finds where the q-th fundamental supernode begins.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void open_columns(Context& ctx, const Warp& warp,
                                         const stored_panels<Scalar, Index, Offset>& from, std::int64_t s,
                                         const supernode& node, column (&columns)[max_columns]) {
    const auto fundamental = load_index(ctx, from.masks.fundamental + s);
    const std::int64_t mine = fundamental + warp.rank();
    const bool exists = warp.rank() <= max_columns && mine < from.masks.fundamental_count;
    const std::int64_t begin = exists ? load_index(ctx, from.masks.first + mine) - node.first : node.columns;
    SPTRSV_UNROLL
    for (int j = 0; j < max_columns; ++j) {
      const int number = simt::bit_count(warp.ballot(warp.rank() > 0 && begin <= j));
      const std::int64_t lead = warp.shuffle(begin, number < max_columns ? number : max_columns);
      if (j < node.columns) {
        const auto stored = from.stored.open(ctx, node.first + j, fundamental + number, node.first + lead);
        // Bits `lead` ... j of the mask are the columns before the first entry.
        columns[j] = {stored, static_cast<Index>(number), static_cast<Index>((lead > 0 ? lead : 0) - j - 1)};
      }
    }
  }

  template <class Warp>
  SPTRSV_DEVICE static void store_block(const Warp& warp, row_entries w, bool in_block, block n) {
    if (warp.rank() < max_columns) {
      SPTRSV_UNROLL
      for (int j = 0; j < max_columns; ++j) {
        n[warp.rank()][j] = in_block ? w[j] : Scalar{};
      }
    }
    warp.sync();
  }

  /// Takes the rows of the diagonal block, with its unit diagonal, into a norm.
  template <class Context, class Warp>
  SPTRSV_DEVICE static void raise(Context& ctx, const Warp& warp, bool in_block, row_entries w, int row,
                                  typename block_norms<real>::word* norm) {
    real sum = 1;
    SPTRSV_UNROLL
    for (int j = 0; j < max_columns; ++j) {
      sum += in_block && j < row ? magnitude(w[j]) : real{0};
    }
    raise_norm(ctx, warp, norm, sum);
  }

  SPTRSV_DEVICE static void solve(block n, row_entries w) {
    SPTRSV_UNROLL
    for (int j = max_columns - 2; j >= 0; --j) {
      SPTRSV_UNROLL
      for (int l = j + 1; l < max_columns; ++l) {
        w[j] = w[j] - w[l] * n[l][j];
      }
    }
  }

  template <class Context>
  SPTRSV_DEVICE static void solve_by_structure(Context& ctx, const stored_panels<Scalar, Index, Offset>& from,
                                               const supernode& node, std::int64_t row, block n,
                                               row_entries w) {
    const int k = static_cast<int>(node.columns);
    const int last = row < k ? static_cast<int>(row) : k - 1;  // W has no entries behind it
    SPTRSV_UNROLL
    for (int j = max_columns - 2; j >= 0; --j) {
      if (j >= k || j > last) {
        continue;
      }
      const bool is_entry = from.of.depends(ctx, node, row, j);
      SPTRSV_UNROLL
      for (int l = j + 1; l < max_columns; ++l) {
        if (l <= last && from.of.depends(ctx, node, l, j)) {
          w[j] = w[j] - w[l] * n[l][j];
        }
      }
      w[j] = is_entry ? w[j] : Scalar{};
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
