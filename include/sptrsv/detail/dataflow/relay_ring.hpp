// The ring in shared memory through which a warp of a relay gets the records of its slices, each a turn or
// two before it is needed.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/relay_shape.hpp"

namespace sptrsv::detail::dataflow {

/// Of a thread, for its warp. A stage of the ring holds what of a record is at hand, room for its rows'
/// right-hand sides, and a word for bulk copies. Stage 0 is this turn's, 1 the next one's, 2 that of the turn
/// after; advance() makes 0 of 1, and so on. The lanes call all of it together.
template <class Scalar, class Shape, class Context, class Warp>
class relay_ring {
  using layout = relay_layout<Scalar, Shape>;
  static_assert(layout::stages == 3);

 public:
  SPTRSV_DEVICE relay_ring(Context& ctx, const Warp& warp, int lane, unsigned char* begin)
      : ctx_(ctx),
        warp_(warp),
        lane_(lane),
        stages_{begin, begin + layout::stage_bytes, begin + 2 * layout::stage_bytes} {}

  /// Before a barrier, and all others.
  SPTRSV_DEVICE void begin() const {
    if (Shape::streams && lane_ < layout::stages) {
      ctx_.begin_bulk(arrival(stages_[0] + lane_ * layout::stage_bytes));
    }
  }

  SPTRSV_DEVICE void read_from(const unsigned char* records) { records_ = records; }

  SPTRSV_DEVICE unsigned char* stage(int number) const { return stages_[number]; }
  /// Of the record that the stage holds.
  SPTRSV_DEVICE const relay_slice& slice(int number) const {
    return *reinterpret_cast<const relay_slice*>(stage(number));
  }
  SPTRSV_DEVICE void advance() {
    unsigned char* const first = stages_[0];
    stages_[0] = stages_[1];
    stages_[1] = stages_[2];
    stages_[2] = first;
    arrivals_ = (arrivals_ >> 1 | arrivals_ << 2) & 7;
  }
  /// A record in memory, from its place in units of 16 bytes.
  SPTRSV_DEVICE const unsigned char* stored(std::uint32_t record) const {
    return records_ + static_cast<std::int64_t>(record) * 16;
  }

  /// A group of copies by itself.
  SPTRSV_DEVICE void copy(int to_stage, std::uint32_t record, int bytes) const {
    if constexpr (Shape::streams) {
      ctx_.copy_bulk(stage(to_stage), stored(record), bytes, arrival(stage(to_stage)), lane_);
    } else {
      unsigned char* const to = stage(to_stage) + 16 * lane_;
      // Through a shuffle: otherwise the compiler computes the address for each copy.
      const unsigned char* const from = warp_.shuffle(stored(record) + 16 * lane_, lane_);
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
  SPTRSV_DEVICE void wait(int number) {
    if constexpr (Shape::streams) {
      ctx_.wait_bulk(arrival(stage(number)), arrivals_ >> number & 1);
      arrivals_ ^= 1 << number;
    } else {
      ctx_.template wait_copies<1>();
    }
    warp_.sync();
  }

 private:
  SPTRSV_DEVICE static std::uint64_t* arrival(unsigned char* stage) {
    return reinterpret_cast<std::uint64_t*>(stage + layout::arrival_offset);
  }

  Context& ctx_;
  Warp warp_;
  int lane_;
  /// That of each turn in a register: from one's number its address would be computed at each use.
  unsigned char* stages_[layout::stages];
  const unsigned char* records_ = nullptr;
  int arrivals_ = 0;  ///< by stage, a bit: how many records have come there, odd or even
};

}  // namespace sptrsv::detail::dataflow
