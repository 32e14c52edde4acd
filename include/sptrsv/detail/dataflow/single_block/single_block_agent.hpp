// SPDX-License-Identifier: Apache-2.0
// The kernel of the single_block path: one thread block solves one right-hand side, tile by tile, with the
// latest components of x in a ring buffer in shared memory. Several right-hand sides are solved by as many
// blocks.
//
// The warps of a block are specialised. One consumer warp solves the tiles (consumer.hpp). The producer warps
// copy what later tiles need from global to shared memory, several pipeline stages ahead (producer.hpp).
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

#include "sptrsv/detail/dataflow/single_block/consumer.hpp"
#include "sptrsv/detail/dataflow/single_block/producer.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow::single_block {

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
