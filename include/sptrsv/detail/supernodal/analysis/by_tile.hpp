// Kernels in which a few lanes of a warp work on an element together.
#pragma once

#include <cstdint>

#include "sptrsv/detail/simt/for_each.hpp"

namespace sptrsv::detail::supernodal {

/// Calls `body(ctx, tile, i)` for i in [0, count), with a tile of `Lanes` lanes each. Body is trivially
/// copyable.
template <int Lanes, class Body>
struct for_each_by_tile_agent {
  static constexpr int block_threads = 256;
  static constexpr int block_items = block_threads / Lanes;
  struct shared_storage {};
  struct params {
    std::int64_t count;
    Body body;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto tile = ctx.template group<Lanes>();
    const std::int64_t i = static_cast<std::int64_t>(ctx.block_rank()) * block_items + tile.index();
    if (i < p.count) {
      p.body(ctx, tile, i);
    }
  }
};

/// Calls `body(ctx, tile, i)` on the device for i in [0, count), each by a tile of `Lanes` lanes.
template <int Lanes, class Executor, class Body>
void for_each_by_tile(const Executor& on, std::int64_t count, const Body& body) {
  using agent = for_each_by_tile_agent<Lanes, Body>;
  if (count > 0) {
    on.template launch<agent>(simt::block_count(count, agent::block_items), {count, body});
  }
}

}  // namespace sptrsv::detail::supernodal
