// SPDX-License-Identifier: Apache-2.0
// Prefix sums in one kernel together with what computes the counts and what uses the sums: a single-pass scan
// with decoupled look-back (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back,
// NVIDIA NVR-2016-002).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI::detail::simt {

/// What a tile of elements has published, in one word, so that no fence is needed: whether it is the sum
/// of the tile or of all elements up to its end, the number of the scan, and the sum.
struct tile_sum {
  static constexpr int number_bits = 8;

  std::uint64_t word;

  static SPTRSV_DEVICE tile_sum of(std::int64_t sum, std::uint32_t scan_number, bool is_total) {
    return {static_cast<std::uint64_t>(sum) << (number_bits + 1) | std::uint64_t{scan_number} << 1 |
            (is_total ? 1u : 0u)};
  }
  [[nodiscard]] SPTRSV_DEVICE std::int64_t sum() const {
    return static_cast<std::int64_t>(word >> (number_bits + 1));
  }
  [[nodiscard]] SPTRSV_DEVICE std::uint32_t scan_number() const {
    return static_cast<std::uint32_t>(word >> 1) & ((1u << number_bits) - 1);
  }
  [[nodiscard]] SPTRSV_DEVICE bool is_total() const { return (word & 1u) != 0; }
};

/// Elements of a scan that a warp has, see scan_agent.
template <class Body, class = void>
inline constexpr int elements_of_warp = 32;
template <class Body>
inline constexpr int elements_of_warp<Body, std::void_t<decltype(Body::warp_elements)>> = Body::warp_elements;
template <class Body, class = void>
inline constexpr bool uses_warps = false;
template <class Body>
inline constexpr bool uses_warps<Body, std::void_t<decltype(Body::warp_elements)>> = true;

/// One thread for each element. Per block:
///
///   1. Draw a ticket, which is the number of the tile: a block waits for blocks that have started.
///   2. Load the elements and sum up their counts in the block.
///   3. Publish the sum of the tile.
///   4. Look back: each thread waits for what one of the 256 tiles before has published. Sums are added up to
///      the nearest total; without one, the block goes on with the 256 tiles before those.
///   5. Publish the total up to the end of the tile.
///   6. Store what follows from the sum of the counts before each element.
///
/// Body is trivially copyable and has two functions. load() may read what store() overwrites of the same
/// element, but neither may read what another element stores.
///
///   Item load(Context&, std::int64_t i) const;      // Item has a member `count`, not negative
///   void store(Context&, std::int64_t i, const Item&, std::int64_t before) const;
///   void finish(Context&, const Warp&, const Item&) const;
///       Optional. All lanes of the warp call it together at the end; the item of a lane without an element
///       is Item{}.
///
/// A body with the constant `warp_elements`, at most 32, uses the lanes of a warp together. So many lanes of
/// a warp, the first ones, have elements, and all lanes call its two functions:
///
///   Item load(Context&, const Warp&, std::int64_t i, bool is_present) const;
///   void store(Context&, const Warp&, std::int64_t i, bool is_present, Item, std::int64_t before) const;
template <class Body>
struct scan_agent {
  static constexpr int block_threads = 256;
  static constexpr int warps = block_threads / 32;
  static constexpr int tile_elements = warps * elements_of_warp<Body>;
  struct shared_storage {
    std::uint64_t ticket;
    std::int64_t sums[warps];
    bool have_total[warps];
  };
  struct params {
    std::int64_t count;
    Body body;
    std::uint64_t* tickets;  ///< never reset
    std::uint64_t first_ticket;
    std::uint64_t* tiles;       ///< by tile, see tile_sum
    std::uint32_t scan_number;  ///< different from that of earlier scans that have used `tiles`
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage& shared, const params& p) {
    const auto warp = ctx.template group<32>();
    if (ctx.thread_rank() == 0) {
      shared.ticket = ctx.atomic_add(p.tickets, std::uint64_t{1});
    }
    ctx.barrier();
    const auto tile = static_cast<std::int64_t>(shared.ticket - p.first_ticket);
    constexpr int elements = elements_of_warp<Body>;
    const std::int64_t i = tile * tile_elements + warp.index() * elements + warp.rank();
    const bool is_present = warp.rank() < elements && i < p.count;
    auto item = load(ctx, warp, p.body, i, is_present);
    std::int64_t before = exclusive_sum(warp, static_cast<std::int64_t>(item.count));
    if (warp.rank() == 31) {
      shared.sums[warp.index()] = before + item.count;
    }
    ctx.barrier();
    std::int64_t own = 0;
    for (int w = 0; w < warps; ++w) {
      before += w < warp.index() ? shared.sums[w] : 0;
      own += shared.sums[w];
    }
    publish(ctx, p, tile, own, false);
    const std::int64_t of_earlier_tiles = look_back(ctx, warp, shared, p, tile);
    publish(ctx, p, tile, of_earlier_tiles + own, true);
    if constexpr (uses_warps<Body>) {
      p.body.store(ctx, warp, i, is_present, item, of_earlier_tiles + before);
    } else {
      if (is_present) {
        p.body.store(ctx, i, item, of_earlier_tiles + before);
      }
      finish(ctx, warp, p.body, item, 0);
    }
  }

 private:
  template <class Context, class Warp>
  SPTRSV_DEVICE static auto load(Context& ctx, const Warp& warp, const Body& body, std::int64_t i,
                                 bool is_present) {
    if constexpr (uses_warps<Body>) {
      return body.load(ctx, warp, i, is_present);
    } else {
      decltype(body.load(ctx, i)) item{};
      if (is_present) {
        item = body.load(ctx, i);
      }
      return item;
    }
  }

  template <class Context>
  SPTRSV_DEVICE static void publish(Context& ctx, const params& p, std::int64_t tile, std::int64_t sum,
                                    bool is_total) {
    if (ctx.thread_rank() == 0) {
      ctx.store_relaxed(p.tiles + tile, tile_sum::of(sum, p.scan_number, is_total).word);
    }
  }

  /// Returns the sum of the counts in all tiles before `tile`.
  template <class Context, class Warp>
  SPTRSV_DEVICE static std::int64_t look_back(Context& ctx, const Warp& warp, shared_storage& shared,
                                              const params& p, std::int64_t tile) {
    std::int64_t sum = 0;
    for (std::int64_t nearest = tile - 1;; nearest -= block_threads) {
      const std::int64_t other = nearest - ctx.thread_rank();
      const tile_sum found =
          other < 0 ? tile_sum::of(0, p.scan_number, true) : wait_for(ctx, p, p.tiles + other);
      const std::uint32_t totals = warp.ballot(found.is_total());
      const bool counts = totals == 0 || warp.rank() <= lowest_bit(totals);
      const std::int64_t of_warp = reduce(warp, counts ? found.sum() : 0, 32, plus{});
      ctx.barrier();  // the sums of before have been read
      if (warp.rank() == 0) {
        shared.sums[warp.index()] = of_warp;
        shared.have_total[warp.index()] = totals != 0;
      }
      ctx.barrier();
      for (int w = 0; w < warps; ++w) {
        sum += shared.sums[w];
        if (shared.have_total[w]) {
          return sum;
        }
      }
    }
  }

  template <class Context>
  SPTRSV_DEVICE static tile_sum wait_for(Context& ctx, const params& p, const std::uint64_t* tile) {
    tile_sum found{ctx.load_relaxed(tile)};
    while (found.scan_number() != p.scan_number) {
      ctx.spin(tile);
      found.word = ctx.load_relaxed(tile);
    }
    return found;
  }

  /// Calls the function of the body, if there is one.
  template <class Context, class Warp, class Of, class Item>
  SPTRSV_DEVICE static auto finish(Context& ctx, const Warp& warp, const Of& body, const Item& item, int)
      -> decltype(body.finish(ctx, warp, item)) {
    body.finish(ctx, warp, item);
  }
  template <class Context, class Warp, class Of, class Item>
  SPTRSV_DEVICE static void finish(Context&, const Warp&, const Of&, const Item&, long) {}
};

/// An element of a scan that has a count and nothing else.
struct counted {
  std::int64_t count;
};

/// Body of a scan that writes the sum of the elements before each element. `to` may be `from`.
template <class T>
struct sum_before {
  const T* from;
  T* to;
  std::int64_t last = -1;       ///< an element for which
  std::int64_t* sum = nullptr;  ///< gets the sum, too

  template <class Context>
  SPTRSV_DEVICE counted load(Context& ctx, std::int64_t i) const {
    return {static_cast<std::int64_t>(ctx.load(from + i))};
  }
  template <class Context>
  SPTRSV_DEVICE void store(Context& ctx, std::int64_t i, const counted&, std::int64_t before) const {
    ctx.store(to + i, static_cast<T>(before));
    if (i == last) {
      ctx.store(sum, before);
    }
  }
};

/// The words that the scans of a stream share, zeroed once for many scans: each has its own number.
class scan_words {
 public:
  explicit scan_words(memory_resource& resource) : resource_(resource) {}

  /// Passes on, for each i in [0, count), the sum of the counts of the elements before: see scan_agent.
  template <class Executor, class Body>
  void scan(const Executor& on, std::int64_t count, const Body& body) {
    using agent = scan_agent<Body>;
    if (count == 0) {
      return;
    }
    const std::uint32_t tiles = block_count(count, agent::tile_elements);
    constexpr std::uint32_t last_number = (1u << tile_sum::number_bits) - 1;
    if (words_.size() < std::size_t{tiles} + 1 || number_ == last_number) {
      constexpr std::int64_t least_words = 512;
      words_ = {};
      words_ = make_zeros<std::uint64_t>(std::max<std::int64_t>(std::int64_t{tiles} + 1, least_words), on,
                                         resource_);
      number_ = 0;
      next_ticket_ = 0;
    }
    ++number_;
    on.template launch<agent>(tiles, {count, body, words_.data(), next_ticket_, words_.data() + 1, number_});
    next_ticket_ += tiles;
  }

 private:
  memory_resource& resource_;
  buffer<std::uint64_t> words_;  ///< the tickets, then a word for each tile
  std::uint32_t number_ = 0;     ///< of the last scan
  std::uint64_t next_ticket_ = 0;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::simt
