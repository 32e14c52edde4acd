// The kernel that walks: one thread block solves one right-hand side, step after step, with the solved
// components in a window of shared memory. Several right-hand sides are as many blocks.
//
// The block has two kinds of threads. One warp computes, step after step. The others copy: they bring what
// later steps need from global to shared memory, some chunks of steps ahead. What a step needs besides
// components of x is in registers before it (of wide types the entries between its rows are not), so the
// critical path of a step is: read components, multiply and add, sum over the row's lanes, substitute among
// the rows, write.
#pragma once

#include "sptrsv/detail/dataflow/single_block/consumer.hpp"
#include "sptrsv/detail/dataflow/single_block/producer.hpp"

namespace sptrsv::detail::dataflow::single_block {

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

}  // namespace sptrsv::detail::dataflow::single_block
