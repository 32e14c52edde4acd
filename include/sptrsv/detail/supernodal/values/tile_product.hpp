// SPDX-License-Identifier: Apache-2.0
// Products of tiles in shared memory.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "sptrsv/detail/base/at.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// The sums of `Rows` x `Columns` elements, of which a thread has `ThreadRows` x `ThreadColumns`. They are
/// `row_stride` and `column_stride` apart, so that the lanes of a warp read few rows of the tiles together.
template <class Scalar, int Rows, int Columns, int ThreadRows, int ThreadColumns>
class thread_product {
 public:
  static constexpr int row_stride = Rows / ThreadRows;
  static constexpr int column_stride = Columns / ThreadColumns;

  template <class Context>
  SPTRSV_DEVICE explicit thread_product(Context& ctx)
      : row_(ctx.thread_rank() / column_stride), column_(ctx.thread_rank() % column_stride), sums_{} {}

  /// Adds left * right, where `left` has `Depth` columns and `right` as many rows.
  template <int Depth, class Left, class Right>
  SPTRSV_DEVICE void add(const Left& left, const Right& right) {
    for (int l = 0; l < Depth; ++l) {
      array_of<Scalar, ThreadColumns> of_right;
      SPTRSV_UNROLL
      for (int j = 0; j < ThreadColumns; ++j) {
        of_right[j] = right[l][column_ + j * column_stride];
      }
      SPTRSV_UNROLL
      for (int i = 0; i < ThreadRows; ++i) {
        const Scalar of_left = left[row_ + i * row_stride][l];
        SPTRSV_UNROLL
        for (int j = 0; j < ThreadColumns; ++j) {
          sums_[i][j] = sums_[i][j] + of_left * of_right[j];
        }
      }
    }
  }
  template <class Use>
  SPTRSV_DEVICE void for_each(const Use& use) {
    SPTRSV_UNROLL
    for (int i = 0; i < ThreadRows; ++i) {
      SPTRSV_UNROLL
      for (int j = 0; j < ThreadColumns; ++j) {
        use(row_ + i * row_stride, column_ + j * column_stride, sums_[i][j]);
      }
    }
  }

 private:
  int row_;
  int column_;
  array_of<Scalar, ThreadRows, ThreadColumns> sums_;
};

/// The same on the tensor cores: the warps of a block have equal parts of the elements.
template <class Scalar, class Warp, int Rows, int Columns, int Warps>
class warp_product {
  static constexpr int warp_columns = Warps >= 4 ? 2 : 1;  ///< warps side by side
  static constexpr int tile_rows = Rows / 8 / (Warps / warp_columns);
  static constexpr int tile_columns = Columns / 8 / warp_columns;

 public:
  /// Whether the parts are equal and consist of whole tiles.
  static constexpr bool fits =
      tile_rows * (Warps / warp_columns) * 8 == Rows && tile_columns * warp_columns * 8 == Columns;

  template <class Context>
  SPTRSV_DEVICE explicit warp_product(Context& ctx)
      : warp_(ctx.template group<32>()),
        row_(warp_.index() / warp_columns * tile_rows * 8),
        column_(warp_.index() % warp_columns * tile_columns * 8),
        sums_{} {}

  template <int Depth, class Left, class Right>
  SPTRSV_DEVICE void add(const Left& left, const Right& right) {
    static_assert(Depth % 4 == 0);
    const int outer = warp_.rank() / 4;
    const int inner = warp_.rank() % 4;
    for (int l = 0; l < Depth; l += 4) {
      array_of<Scalar, tile_columns> of_right;
      SPTRSV_UNROLL
      for (int j = 0; j < tile_columns; ++j) {
        of_right[j] = right[l + inner][column_ + j * 8 + outer];
      }
      SPTRSV_UNROLL
      for (int i = 0; i < tile_rows; ++i) {
        const Scalar of_left = left[row_ + i * 8 + outer][l + inner];
        SPTRSV_UNROLL
        for (int j = 0; j < tile_columns; ++j) {
          warp_.multiply_add(of_left, of_right[j], sums_[i][j]);
        }
      }
    }
  }
  template <class Use>
  SPTRSV_DEVICE void for_each(const Use& use) {
    SPTRSV_UNROLL
    for (int i = 0; i < tile_rows; ++i) {
      SPTRSV_UNROLL
      for (int j = 0; j < tile_columns; ++j) {
        SPTRSV_UNROLL
        for (int n = 0; n < 2; ++n) {
          use(row_ + i * 8 + warp_.rank() / 4, column_ + j * 8 + 2 * (warp_.rank() % 4) + n, sums_[i][j][n]);
        }
      }
    }
  }

 private:
  Warp warp_;
  int row_;
  int column_;
  array_of<Scalar, std::max(tile_rows, 1), std::max(tile_columns, 1), 2> sums_;
};

/// warp_product where tensor cores multiply values of the type, otherwise thread_product.
template <class Context, class Scalar, int Rows, int Columns, int ThreadRows, int ThreadColumns>
struct tile_product_of {
  using warp = std::decay_t<decltype(std::declval<Context&>().template group<32>())>;
  static constexpr int threads = Rows * Columns / (ThreadRows * ThreadColumns);
  using on_tensor_cores = warp_product<Scalar, warp, Rows, Columns, threads / 32>;
  using type =
      std::conditional_t<warp::template has_multiply_add<Scalar> && on_tensor_cores::fits, on_tensor_cores,
                         thread_product<Scalar, Rows, Columns, ThreadRows, ThreadColumns>>;
};
template <class Context, class Scalar, int Rows, int Columns, int ThreadRows, int ThreadColumns>
using tile_product =
    typename tile_product_of<Context, Scalar, Rows, Columns, ThreadRows, ThreadColumns>::type;

/// Adds the products of `depth` columns of `left`, without terms for which takes_part(l, column) is false.
template <class Product, class Left, class Right, class TakesPart>
SPTRSV_DEVICE void add_products_if(Product& sums, const Left& left, const Right& right, int depth,
                                   const TakesPart& takes_part) {
  sums.for_each([&](int i, int j, auto& sum) {
    for (int l = 0; l < depth; ++l) {
      if (takes_part(l, j)) {
        sum = sum + left[i][l] * right[l][j];
      }
    }
  });
}

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
