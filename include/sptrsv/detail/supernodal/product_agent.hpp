// The kernel that multiplies panels with the inverses of their diagonal blocks, in place.
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/supernodal/panels.hpp"

namespace sptrsv::detail::supernodal {

/// Rows of a panel that one block computes: at most Tuning::product_rows. All lie in the diagonal block, or
/// all below it.
struct row_tile {
  std::int64_t supernode;
  std::int64_t begin;  ///< first row
};

/// Solves W (I + N) = B for a tile of rows of a panel. Below the diagonal block, B is what the panel holds.
/// In the diagonal block, B = I, so that W is V = inv(I + N), and the panel holds N.
///
/// Column blocks are computed from the last to the first. For one of them:
///
///   1. Sum the products of W in later columns with the rows of N there, tile by tile.
///   2. Solve with the triangle of N in the column block: one thread per row.
///   3. Store the block to the panel.
///
/// A tile of the diagonal block overwrites its rows of N. Tiles that need them, which are the later ones of
/// the diagonal block and all below it, must be done before: by earlier launches. Of its own rows of N a tile
/// reads only the column block that it overwrites next.
///
/// Entries of N and V that are zero by structure (supernodes::first_descendant) take no part where values are
/// not finite: zero times infinity would make components NaN that substitution leaves finite.
template <class Tuning, class Scalar, class Index>
struct product_agent {
  static constexpr int rows = Tuning::product_rows;
  static constexpr int columns = sizeof(Scalar) > 8 ? Tuning::product_columns / 2 : Tuning::product_columns;
  static_assert(
      rows * columns >= 32 && (rows & (rows - 1)) == 0 && columns > 0 && (columns & (columns - 1)) == 0,
      "supernodal_tuning: product_rows and product_columns must be powers of two whose product is at "
      "least 64");
  static constexpr int per_thread = rows * columns >= 512 ? 16 : 1;
  static constexpr int thread_columns = per_thread == 16 && columns >= 4 ? 4 : 1;
  static constexpr int thread_rows = per_thread == 16 ? 16 / thread_columns : 1;
  static constexpr int block_threads = rows * columns / (thread_rows * thread_columns);
  static_assert(rows % thread_rows == 0 && block_threads <= 1024,
                "supernodal_tuning: product_rows and product_columns are out of proportion");
  static constexpr int row_stride = rows / thread_rows;           ///< distance of the rows of a thread
  static constexpr int column_stride = columns / thread_columns;  ///< distance of the columns of a thread

  struct shared_storage {
    Scalar w[rows][columns + 1];
    Scalar n[columns][columns + 1];
    std::int64_t first_descendant[columns];  ///< of the rows of n, counted from the first column
    bool is_finite[block_threads / 32];      ///< by warp: what it loaded
  };
  struct params {
    supernodes<Index> of;
    const row_tile* tiles;
    Scalar* panels;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const row_tile at{ctx.load_constant(&p.tiles[ctx.block_rank()].supernode),
                      ctx.load_constant(&p.tiles[ctx.block_rank()].begin)};
    tile<Context> work(ctx, shared, p, p.of.open(ctx, at.supernode), at.begin);
    work.compute();
  }

 private:
  template <class Context>
  class tile {
   public:
    SPTRSV_DEVICE tile(Context& ctx, shared_storage& shared, const params& p, const supernode& node,
                       std::int64_t begin)
        : ctx_(ctx),
          shared_(shared),
          p_(p),
          node_(node),
          panel_(p.panels + node.panel),
          begin_(begin),
          in_diagonal_(begin < node.columns) {
      const std::int64_t all = in_diagonal_ ? node.columns : node.height();
      end_ = all - begin < rows ? all : begin + rows;
    }

    SPTRSV_DEVICE void compute() {
      const std::int64_t needed = in_diagonal_ ? end_ : node_.columns;
      for (std::int64_t first = (needed - 1) / columns * columns; first >= 0; first -= columns) {
        add_later_columns(first, needed);
        solve_block(first);
        store_block(first);  // each thread stores what it loads again for the next block
      }
    }

   private:
    /// Leaves in w what the products with later columns subtract from column block `first`.
    SPTRSV_DEVICE void add_later_columns(std::int64_t first, std::int64_t needed) {
      Scalar sums[thread_rows][thread_columns] = {};
      const int row = ctx_.thread_rank() / column_stride;
      const int column = ctx_.thread_rank() % column_stride;
      for (std::int64_t later = first + columns; later < needed; later += columns) {
        const bool finite_w = load_w(later, needed);
        const bool finite_n = load_n(later, first);
        vote(finite_w && finite_n);
        ctx_.barrier();
        if (is_finite()) {
          for (int l = 0; l < columns; ++l) {
            SPTRSV_UNROLL
            for (int i = 0; i < thread_rows; ++i) {
              SPTRSV_UNROLL
              for (int j = 0; j < thread_columns; ++j) {
                sums[i][j] = sums[i][j] +
                             shared_.w[row + i * row_stride][l] * shared_.n[l][column + j * column_stride];
              }
            }
          }
        } else {
          for (int l = 0; l < columns; ++l) {
            for (int i = 0; i < thread_rows; ++i) {
              for (int j = 0; j < thread_columns; ++j) {
                // Above the diagonal, W is zero.
                const bool is_above = in_diagonal_ && later + l > begin_ + row + i * row_stride;
                if (!is_above && takes_part(first + column + j * column_stride, l)) {
                  sums[i][j] = sums[i][j] +
                               shared_.w[row + i * row_stride][l] * shared_.n[l][column + j * column_stride];
                }
              }
            }
          }
        }
        ctx_.barrier();
      }
      for (int i = 0; i < thread_rows; ++i) {
        for (int j = 0; j < thread_columns; ++j) {
          shared_.w[row + i * row_stride][column + j * column_stride] = sums[i][j];
        }
      }
      load_n(first, first);
      ctx_.barrier();
    }

    /// Solves for column block `first` in w, one thread per row.
    SPTRSV_DEVICE void solve_block(std::int64_t first) {
      for (std::int64_t i = ctx_.thread_rank(); i < end_ - begin_; i += block_threads) {
        Scalar* const w = shared_.w[i];
        const std::int64_t row = begin_ + i;
        const Scalar* const stored = panel_ + panel_row(row, node_.columns) + first;
        const std::int64_t left = (in_diagonal_ ? row : node_.columns) - first;
        const int count = left < columns ? static_cast<int>(left) : columns;
        for (int j = count - 1; j >= 0; --j) {
          // The unit diagonal of W is not stored: it multiplies row `row` of N.
          Scalar sum = w[j];
          if (in_diagonal_ && left < columns) {
            sum = sum + shared_.n[left][j];
          }
          for (int l = count - 1; l > j; --l) {
            if (takes_part(first + j, l)) {
              sum = sum + w[l] * shared_.n[l][j];
            }
          }
          w[j] = in_diagonal_ ? Scalar{} - sum : ctx_.load(stored + j) - sum;
        }
      }
      ctx_.barrier();
    }

    SPTRSV_DEVICE void store_block(std::int64_t first) {
      for (int e = ctx_.thread_rank(); e < rows * columns; e += block_threads) {
        const std::int64_t row = begin_ + e / columns;
        const std::int64_t column = first + e % columns;
        if (row >= end_ || column >= (in_diagonal_ ? row : node_.columns)) {
          continue;
        }
        const bool is_zero = row < node_.range_columns && column < first_descendant(row);
        ctx_.store(panel_ + panel_row(row, node_.columns) + column,
                   is_zero ? Scalar{} : shared_.w[e / columns][e % columns]);
      }
    }

    /// Loads W in the columns from `later` on, with its unit diagonal. Returns whether all that this thread
    /// loads is finite.
    SPTRSV_DEVICE bool load_w(std::int64_t later, std::int64_t needed) {
      bool finite = true;
      for (int e = ctx_.thread_rank(); e < rows * columns; e += block_threads) {
        const std::int64_t row = begin_ + e / columns;
        const std::int64_t column = later + e % columns;
        Scalar v{};
        if (row < end_ && column < needed) {
          if (in_diagonal_ && column >= row) {
            v = column == row ? pivot_divisor<Scalar>::one() : Scalar{};
          } else {
            v = ctx_.load(panel_ + panel_row(row, node_.columns) + column);
          }
        }
        finite = finite && detail::is_finite(v);
        shared_.w[e / columns][e % columns] = v;
      }
      return finite;
    }

    /// Loads N in the rows from `later` on and the columns from `first` on; otherwise as load_w.
    SPTRSV_DEVICE bool load_n(std::int64_t later, std::int64_t first) {
      bool finite = true;
      for (int e = ctx_.thread_rank(); e < columns * columns; e += block_threads) {
        const std::int64_t row = later + e / columns;
        const std::int64_t column = first + e % columns;
        const bool stored = row < node_.columns && column < row;
        const Scalar v = stored ? ctx_.load(panel_ + panel_row(row, node_.columns) + column) : Scalar{};
        finite = finite && detail::is_finite(v);
        shared_.n[e / columns][e % columns] = v;
      }
      for (int l = ctx_.thread_rank(); l < columns; l += block_threads) {
        shared_.first_descendant[l] = later + l < node_.columns ? first_descendant(later + l) : 0;
      }
      return finite;
    }

    /// Records whether what the warp loaded is finite; is_finite() says so of the block, after a barrier.
    SPTRSV_DEVICE void vote(bool finite) {
      const auto warp = ctx_.template group<32>();
      const bool all = warp.all(finite);
      if (warp.rank() == 0) {
        shared_.is_finite[warp.index()] = all;
      }
    }

    /// Returns the first column that row `row` of the diagonal block depends on.
    SPTRSV_DEVICE std::int64_t first_descendant(std::int64_t row) const {
      return static_cast<std::int64_t>(ctx_.load_constant(p_.of.first_descendant + node_.first + row)) -
             node_.first;
    }
    /// Returns whether row `l` of n has an entry in `column` by structure.
    SPTRSV_DEVICE bool takes_part(std::int64_t column, int l) const {
      return column >= shared_.first_descendant[l];
    }
    SPTRSV_DEVICE bool is_finite() const {
      bool all = true;
      for (const bool of_warp : shared_.is_finite) {
        all = all && of_warp;
      }
      return all;
    }

    Context& ctx_;
    shared_storage& shared_;
    const params& p_;
    supernode node_;
    Scalar* panel_;
    std::int64_t begin_;
    std::int64_t end_;
    bool in_diagonal_;
  };
};

}  // namespace sptrsv::detail::supernodal
