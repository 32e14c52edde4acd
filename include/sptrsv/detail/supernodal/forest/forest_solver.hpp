// How a thread block solves a forest, in either direction.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/supernodal/forest/backward_forest.hpp"
#include "sptrsv/detail/supernodal/forest/forward_forest.hpp"

namespace sptrsv::detail::supernodal {

template <class Tuning, class Scalar, class Index, class Offset, bool Backward, class Params>
class forest_solver {
  static constexpr int threads = Tuning::block_threads;
  using params = Params;
  using direction = std::conditional_t<Backward, backward_forest<Tuning, Scalar, Index, Offset, Params>,
                                       forward_forest<Tuning, Scalar, Index, Offset, Params>>;
  using memory = typename direction::memory;

 public:
  /// Words for copy_bulk.
  static constexpr int arrivals = memory::arrivals;

  /// The words at `arrival` are prepared.
  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, const params& p, const block_start& start, std::int64_t number,
                                std::uint64_t* arrival) {
    const memory at = memory::prepare(ctx, p, ctx.load_constant(p.forests.forests + number), arrival);
    for (std::int64_t rhs = 0; rhs < p.x.columns; ++rhs) {
      if (rhs > 0) {
        ctx.barrier();
      }
      direction::solve(ctx, p, start.half, rhs, at, rhs == 0 ? arrival : nullptr);
    }
    for (int q = ctx.thread_rank(); !Backward && q < at.f.outside_count; q += threads) {
      p.buffers.reset(ctx, start.half ^ 1u, at.outside_row(ctx, p, q), start.rhs_to_reset, 0, 1);
    }
  }
};

}  // namespace sptrsv::detail::supernodal
