// SPDX-License-Identifier: Apache-2.0
// The kernel of the single_block path: one thread block solves one right-hand side, tile by tile, with the
// latest components of x in a ring buffer in shared memory. Several right-hand sides are solved by as many
// blocks.
//
// The warps of a block are specialised. One consumer warp solves the tiles (consumer.hpp). The producer warps
// copy what later tiles need from global to shared memory, several pipeline stages ahead (below).
//
//   for each tile, in order (consumer warp):
//     1. load the components of x that the tile needs from the x ring buffer
//     2. meanwhile store the solution of the tile before to x, and load the next tile's data into registers
//     3. subtract the products from the right-hand side and sum over the lanes of each row
//     4. substitute among the rows of the tile, all lanes in the same way
//     5. store the components to the x ring buffer
//
// All that a tile needs except components of x is in registers before the tile begins. (The in-tile entries
// of wide types are not: they would take too many registers.)
#pragma once

#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/dataflow/single_block/consumer.hpp"
#include "sptrsv/detail/dataflow/single_block/single_block_shape.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block {

/// One producer thread.
template <class Scalar, class Shape, class Context>
class producer {
 public:
  SPTRSV_DEVICE producer(Context& ctx, const kernel_params<Scalar>& p)
      : ctx_(ctx),
        p_(p),
        shared_(ctx.dynamic_shared()),
        thread_(ctx.thread_rank() - Shape::threads),
        count_(p.tiles / tiles),
        b_(p.b.data + static_cast<std::int64_t>(ctx.block_rank()) * p.b.column_stride),
        x_(p.x.data + static_cast<std::int64_t>(ctx.block_rank()) * p.x.column_stride) {}

  /// Fills the stages in order. At the barrier before stage c is consumed, the stages c and c + 1 are
  /// complete, and the memory of stage c - 1 becomes free.
  SPTRSV_DEVICE void run() {
    for (std::int32_t c = 0; c < 2 * stages - 1; ++c) {
      copy_rows(c);
    }
    ctx_.commit_copies();
    ctx_.template wait_copies<0>();
    for (std::int32_t c = 0; c < stages - 1; ++c) {
      copy_stage(c);
      ctx_.commit_copies();
    }
    ctx_.template wait_copies<stages - 3>();
    const stage_barriers<Shape, Context> barriers{ctx_};
    const auto warp = ctx_.template group<32>();
    warp.sync();
    barriers.complete_first();
    for (std::int32_t c = 0; c < count_ - 1; ++c) {
      copy_rows(c - 1 + 2 * stages);
      copy_stage(c - 1 + stages);
      ctx_.commit_copies();
      ctx_.template wait_copies<stages - 3>();
      warp.sync();
      barriers.complete();
    }
  }

 private:
  static constexpr int tiles = Shape::stage_tiles;
  static constexpr int stages = Shape::stages;
  static constexpr int rows = Shape::rows * tiles;
  static constexpr int slots = shared_memory<Scalar, Shape>::slots * tiles;
  static constexpr int in_tile_entries = Shape::in_tile_entries * tiles;
  using real = real_t<Scalar>;

  /// Begins to copy the rows of a stage. The same thread copies the right-hand side of a row later, so that
  /// it needs no barrier to read the row.
  SPTRSV_DEVICE void copy_rows(std::int32_t c) {
    if (c < count_) {
      copy<sizeof(tile_row), rows>(shared_.rows + c % (2 * stages) * rows,
                                   p_.rows + static_cast<std::int64_t>(c) * rows);
    }
  }

  SPTRSV_DEVICE void copy_stage(std::int32_t c) {
    if (c >= count_) {
      return;
    }
    const std::int32_t slot = c % stages;
    const std::int64_t from = c;
    constexpr int rounds = (rows + Shape::copy_threads - 1) / Shape::copy_threads;
    array_of<std::int32_t, rounds> source = {};
    for_each_round<rows>(
        [&](int round, int r) { source[round] = shared_.rows[c % (2 * stages) * rows + r].source; });
    copy<16, slots>(shared_.values + slot * slots, p_.values + from * slots);
    copy<16, slots>(shared_.operands + slot * slots, p_.operands + from * slots);
    copy<16, rows>(shared_.reciprocals + slot * rows, p_.reciprocals + from * rows);
    if constexpr (in_tile_entries > 0) {
      copy<16, in_tile_entries>(shared_.in_tile + slot * in_tile_entries,
                                p_.in_tile + from * in_tile_entries);
    }
    for_each_round<rows>([&](int round, int r) { copy_rhs(shared_.rhs + slot * rows + r, source[round]); });
  }

  /// Calls work(round, i) for the numbers i < `Count` of this thread: all producers take them round-robin.
  template <int Count, class Work>
  SPTRSV_DEVICE void for_each_round(Work work) const {
    SPTRSV_UNROLL
    for (int first = 0; first < Count; first += Shape::copy_threads) {
      if (first + thread_ < Count) {
        work(first / Shape::copy_threads, first + thread_);
      }
    }
  }

  /// Begins to copy a right-hand side, real number by real number: user arrays may not be aligned to more.
  SPTRSV_DEVICE void copy_rhs(Scalar* rhs, std::int32_t source) {
    const Scalar* const stored =
        source >= 0 ? b_ + source * p_.b.row_stride : x_ + reload_source(source) * p_.x.row_stride;
    const auto from = reinterpret_cast<const real*>(source == no_row ? p_.zero : stored);
    for (std::size_t i = 0; i < sizeof(Scalar) / sizeof(real); ++i) {
      ctx_.template copy_async<sizeof(real)>(reinterpret_cast<real*>(rhs) + i, from + i);
    }
  }

  /// Begins to copy `Count` elements in pieces of `Piece` bytes; thread i mod copy_threads copies piece i.
  template <int Piece, int Count, class T>
  SPTRSV_DEVICE void copy(T* to, const T* from) {
    constexpr int pieces = Count * static_cast<int>(sizeof(T)) / Piece;
    static_assert(Count * sizeof(T) % Piece == 0);
    for_each_round<pieces>([&](int, int i) {
      ctx_.template copy_async<Piece>(reinterpret_cast<unsigned char*>(to) + i * Piece,
                                      reinterpret_cast<const unsigned char*>(from) + i * Piece);
    });
  }

  Context& ctx_;
  const kernel_params<Scalar>& p_;
  shared_memory<Scalar, Shape> shared_;
  int thread_;
  std::int32_t count_;  ///< number of stages
  const Scalar* b_;
  Scalar* x_;
};

template <class Scalar, class Shape>
struct agent {
  static constexpr int block_threads = Shape::block_threads;
  using params = kernel_params<Scalar>;
  struct shared_storage {};

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    if (ctx.thread_rank() < Shape::threads) {
      consumer<Scalar, Shape, Context>(ctx, p).run();
    } else {
      producer<Scalar, Shape, Context>(ctx, p).run();
    }
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block
