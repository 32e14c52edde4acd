// SPDX-License-Identifier: Apache-2.0
// Operations over the lanes of a tile (context.hpp), made of shuffles.
#pragma once

#include "sptrsv/detail/simt/context.hpp"

namespace sptrsv::SPTRSV_ABI::detail::simt {

/// Operation for reduce(): the sum.
struct plus {
  template <class T>
  SPTRSV_DEVICE T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
/// Operation for reduce(): the smaller value.
struct minimum {
  template <class T>
  SPTRSV_DEVICE T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
/// Operation for reduce(): the larger value.
struct maximum {
  template <class T>
  SPTRSV_DEVICE T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
/// Operation for reduce(): the bitwise or.
struct bit_or {
  template <class T>
  SPTRSV_DEVICE T operator()(const T& a, const T& b) const {
    return a | b;
  }
};

/// Returns the reduction of `value` by `op` over each aligned group of `width` lanes of the tile. `width` is
/// a power of two, at most the size of the tile, and the same in every lane. `op` is commutative. The lanes
/// combine values in a butterfly: the order is fixed, and all lanes of a group get the same bits.
template <class Tile, class T, class Op>
SPTRSV_DEVICE T reduce(const Tile& tile, T value, int width, Op op) {
  for (int mask = width / 2; mask > 0; mask /= 2) {
    value = op(value, tile.shuffle_xor(value, mask));
  }
  return value;
}

/// Returns the sum of `value` over the lanes of the tile with a smaller rank.
template <class Tile, class T>
SPTRSV_DEVICE T exclusive_sum(const Tile& tile, T value) {
  T sum = value;
  for (int distance = 1; distance < Tile::lanes; distance *= 2) {
    const T other = tile.shuffle(sum, tile.rank() < distance ? 0 : tile.rank() - distance);
    sum += tile.rank() < distance ? T{} : other;
  }
  return sum - value;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::simt
