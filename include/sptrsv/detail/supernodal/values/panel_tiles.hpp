// SPDX-License-Identifier: Apache-2.0
// Tiles of panels in shared memory. The kernels for wide supernodes share them.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/for_each_entry.hpp"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/supernodal/analysis/columns.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// Loads and stores the panel of one supernode by tiles: the threads of a block together, each with some
/// elements. The rows and columns of a tile are powers of two; the rows of its array may be longer. A thread
/// loads several elements before it stores the first of them to shared memory, so that they travel together.
template <class Context, class Scalar, class Index, class Offset, int Threads>
class panel_tiles {
 public:
  using source = stored_panels<Scalar, Index, Offset>;
  using column = panel_column<Index, Offset>;

  SPTRSV_DEVICE panel_tiles(Context& ctx, const source& from, Scalar* panels, std::int64_t s)
      : ctx_(ctx),
        from_(from),
        node_(from.of.open(ctx, s)),
        masks_(ctx.load_constant(from.masks.begin + s)),
        mask_length_(mask_words(node_.height())),
        first_fundamental_(ctx.load_constant(from.masks.fundamental + s)),
        panel_(panels + node_.panel),
        columns_(static_cast<int>(node_.columns)),
        height_(static_cast<int>(node_.height())) {}

  [[nodiscard]] SPTRSV_DEVICE int columns() const { return columns_; }

  /// Opens the columns [begin, end) of the panel in the stored matrix, at the word that has row `row`.
  SPTRSV_DEVICE void open_columns(column* columns, int begin, int end, int row) {
    for (int j = begin + ctx_.thread_rank(); j < end; j += Threads) {
      columns[j] = open_column(j, row);
    }
  }
  /// Moves the columns [begin, end) of the panel from the word that has row `row` to the next one.
  SPTRSV_DEVICE void advance_columns(column* columns, int begin, int end, int row) {
    for (int j = begin + ctx_.thread_rank(); j < end; j += Threads) {
      columns[j].rank +=
          static_cast<Index>(simt::bit_count(from_.masks.word(ctx_, mask_of(columns[j]), row / 32)));
    }
  }

  /// Loads entries of C: the rows from `row` on, the columns from `first` on. `columns`: those of the panel,
  /// at the word that has row `row`. `use` maps an entry and its row to what the tile gets. Returns whether
  /// all that this thread loads is finite.
  template <int Columns, class Tile, class Use>
  SPTRSV_DEVICE bool load_stored(Tile& to, const column* columns, int row, int first, const Use& use) {
    constexpr int rows = length_of<Tile>;
    static_assert(rows <= 64, "a tile has rows of two words of the masks");
    constexpr int batch = batch_of<rows * Columns>;
    const int w = row / 32;
    const bool has_second = rows > 32 && w < (height_ - 1) / 32;
    bool finite = true;
    for (int begin = ctx_.thread_rank(); begin < rows * Columns; begin += batch * Threads) {
      array_of<column, batch> at;
      array_of<std::uint32_t, batch> bits;
      SPTRSV_UNROLL
      for (int t = 0; t < batch; ++t) {
        const int e = begin + t * Threads;
        const int j = first + e / rows;
        const bool is_second = (row + e % rows) / 32 != w;
        at[t] = columns[j < columns_ ? j : first];
        const std::int64_t mask = mask_of(at[t]);
        const std::uint32_t word = from_.masks.word(ctx_, mask, w);
        const std::uint32_t next = has_second ? from_.masks.word(ctx_, mask, w + 1) : 0;
        at[t].rank += static_cast<Index>(is_second ? simt::bit_count(word) : 0);
        bits[t] = j >= columns_ || j >= row + e % rows ? 0 : is_second ? next : word;
      }
      array_of<Scalar, batch> v;
      SPTRSV_UNROLL
      for (int t = 0; t < batch; ++t) {
        const int e = begin + t * Threads;
        v[t] = at[t].entry(ctx_, from_.stored, bits[t], (row + e % rows) % 32);
      }
      SPTRSV_UNROLL
      for (int t = 0; t < batch; ++t) {
        const int e = begin + t * Threads;
        v[t] = use(v[t], row + e % rows);
        finite = finite & is_finite(v[t]);
        to[e % rows][e / rows] = v[t];
      }
    }
    return finite;
  }

  /// Loads V, with its unit diagonal, from `row` and column `first` on. Otherwise as load_stored.
  template <int Columns, class Tile>
  SPTRSV_DEVICE bool load_inverse(Tile& to, int row, int first) {
    return load<Columns>(to, [&](int r, int c) {
      const int i = row + r;
      const int j = first + c;
      const Scalar other = i == j && i < columns_ ? pivot_divisor<Scalar>::one() : Scalar{};
      return i < columns_ && j < i ? ctx_.load(panel_ + i * (i - 1) / 2 + j) : other;
    });
  }
  /// Loads rows below the diagonal block. Rows that are not below it are zero. Otherwise as load_stored.
  template <int Columns, class Tile>
  SPTRSV_DEVICE bool load_below(Tile& to, int row, int first) {
    const Scalar* const begin = below(row, first);
    return load<Columns>(to, [&](int r, int c) {
      const bool exists = row + r >= columns_ && row + r < height_ && first + c < columns_;
      return exists ? ctx_.load(begin + static_cast<std::int64_t>(r) * columns_ + c) : Scalar{};
    });
  }

  template <int Columns, class Tile>
  SPTRSV_DEVICE void store_inverse(const Tile& from, int row, int first) {
    for (int e = ctx_.thread_rank(); e < length_of<Tile> * Columns; e += Threads) {
      const int i = row + e / Columns;
      const int j = first + e % Columns;
      if (i < columns_ && j < i) {
        ctx_.store(panel_ + i * (i - 1) / 2 + j, from[e / Columns][e % Columns]);
      }
    }
  }
  /// Stores an element, if it lies below the diagonal block.
  SPTRSV_DEVICE void store_below(int i, int j, Scalar v) {
    if (i >= columns_ && i < height_ && j < columns_) {
      ctx_.store(below(i, j), v);
    }
  }

  [[nodiscard]] SPTRSV_DEVICE bool depends(int i, int j) { return from_.of.depends(ctx_, node_, i, j); }

 private:
  /// The elements of a tile that a thread loads before it uses the first of them.
  template <int Elements>
  static constexpr int batch_of = Elements < 2 * Threads   ? 1
                                  : Elements < 8 * Threads ? Elements / Threads
                                                           : 8;

  template <int Columns, class Tile, class Get>
  SPTRSV_DEVICE bool load(Tile& to, const Get& get) {
    constexpr int rows = length_of<Tile>;
    constexpr int batch = batch_of<rows * Columns>;
    bool finite = true;
    for (int begin = ctx_.thread_rank(); begin < rows * Columns; begin += batch * Threads) {
      array_of<Scalar, batch> v;
      SPTRSV_UNROLL
      for (int t = 0; t < batch; ++t) {
        v[t] = get((begin + t * Threads) / Columns, (begin + t * Threads) % Columns);
      }
      SPTRSV_UNROLL
      for (int t = 0; t < batch; ++t) {
        const int e = begin + t * Threads;
        finite = finite & is_finite(v[t]);
        to[e / Columns][e % Columns] = v[t];
      }
    }
    return finite;
  }

  [[nodiscard]] SPTRSV_DEVICE Scalar* below(int i, int j) const {
    return panel_ + panel_row(columns_, columns_) + static_cast<std::int64_t>(i - columns_) * columns_ + j;
  }

  [[nodiscard]] SPTRSV_DEVICE std::int64_t mask_of(const column& of) const {
    return masks_ + of.mask * mask_length_;
  }

  SPTRSV_DEVICE column open_column(int j, int row) {
    const std::int64_t number = node_.first + j;
    // The last fundamental supernode that begins at the column or before it.
    const std::int64_t last = first_fundamental_ + j + 1;
    const std::int64_t low = triangle_kernels::last_that(
        first_fundamental_, last < from_.masks.fundamental_count ? last : from_.masks.fundamental_count,
        [&](std::int64_t middle) { return load_index(ctx_, from_.masks.first + middle) <= number; });
    const std::int64_t begin = ctx_.load_constant(from_.masks.first + low);
    column found{from_.stored.open(ctx_, number, low, begin), static_cast<Index>(low - first_fundamental_),
                 0};
    // Bits begin ... number of the mask, as far as it goes, are the columns before the first entry.
    const std::int64_t skipped = number - (begin > node_.first ? begin : node_.first) + 1;
    found.rank = static_cast<Index>(from_.masks.count_before(ctx_, mask_of(found), row / 32) - skipped);
    return found;
  }

  Context& ctx_;
  const source& from_;
  supernode node_;
  std::int64_t masks_;        ///< where those of the supernode begin; see row_masks
  std::int64_t mask_length_;  ///< words of each
  std::int64_t first_fundamental_;
  Scalar* panel_;
  int columns_;
  int height_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
