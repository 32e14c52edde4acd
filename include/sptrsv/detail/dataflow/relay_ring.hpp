// The ring in shared memory through which a warp of a relay gets the records of its slices, each a turn or
// two before it is needed.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/relay_shape.hpp"

namespace sptrsv::detail::dataflow {

/// Of a thread, for its warp. A stage of the ring holds what of a record is at hand, room for its rows'
/// right-hand sides, and a word for bulk copies. The lanes call all of it together.
template <class Scalar, class Shape, class Context, class Warp>
class relay_ring {
  using layout = relay_layout<Scalar, Shape>;

 public:
  SPTRSV_DEVICE relay_ring(Context& ctx, const Warp& warp, int lane, unsigned char* begin,
                           const unsigned char* records)
      : ctx_(ctx), warp_(warp), lane_(lane), begin_(begin), records_(records) {}

  /// Before a barrier, and all others.
  SPTRSV_DEVICE void begin() const {
    if (Shape::streams && lane_ < layout::stages) {
      ctx_.begin_bulk(arrival(lane_));
    }
  }

  SPTRSV_DEVICE static int after(int stage) { return stage == layout::stages - 1 ? 0 : stage + 1; }
  SPTRSV_DEVICE unsigned char* stage(int number) const { return begin_ + number * layout::stage_bytes; }
  /// Of the record that the stage holds.
  SPTRSV_DEVICE const relay_slice& slice(int number) const {
    return *reinterpret_cast<const relay_slice*>(stage(number));
  }
  /// A record in memory, from its place in units of 16 bytes.
  SPTRSV_DEVICE const unsigned char* stored(std::uint32_t record) const {
    return records_ + static_cast<std::int64_t>(record) * 16;
  }

  /// A group of copies by itself.
  SPTRSV_DEVICE void copy(int to_stage, std::uint32_t record, int bytes) const {
    if constexpr (Shape::streams) {
      ctx_.copy_bulk(stage(to_stage), stored(record), bytes, arrival(to_stage), lane_);
    } else {
      unsigned char* const to = stage(to_stage) + 16 * lane_;
      const unsigned char* const from = stored(record) + 16 * lane_;
      SPTRSV_UNROLL
      for (int at = 0; at < layout::record_bytes; at += 512) {
        if (at + 16 * lane_ < bytes) {
          ctx_.template copy_async<16>(to + at, from + at);
        }
      }
    }
    ctx_.commit_copies();
  }

  /// For the stage's record, each time that it has been copied there. One group may have begun since. Orders
  /// what the lanes have done before, too.
  SPTRSV_DEVICE void wait(int stage) {
    if constexpr (Shape::streams) {
      ctx_.wait_bulk(arrival(stage), arrivals_ >> stage & 1);
      arrivals_ ^= 1 << stage;
    } else {
      ctx_.template wait_copies<1>();
    }
    warp_.sync();
  }

 private:
  SPTRSV_DEVICE std::uint64_t* arrival(int number) const {
    return reinterpret_cast<std::uint64_t*>(stage(number) + layout::arrival_offset);
  }

  Context& ctx_;
  Warp warp_;
  int lane_;
  unsigned char* begin_;
  const unsigned char* records_;
  int arrivals_ = 0;  ///< by stage, a bit: how many records have come there, odd or even
};

}  // namespace sptrsv::detail::dataflow
