// The threads of a walk that copy what later steps need from global to shared memory.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/walk_shared.hpp"

namespace sptrsv::detail::dataflow {

/// The threads that copy.
template <class Scalar, class Shape, class Context>
class walk_copier {
 public:
  SPTRSV_DEVICE walk_copier(Context& ctx, const walk_params<Scalar>& p)
      : ctx_(ctx),
        p_(p),
        shared_(ctx.dynamic_shared()),
        thread_(ctx.thread_rank() - Shape::threads),
        count_(p.steps / steps),
        b_(p.b.data + static_cast<std::int64_t>(ctx.block_rank()) * p.b.column_stride),
        x_(p.x.data + static_cast<std::int64_t>(ctx.block_rank()) * p.x.column_stride) {}

  /// At the barrier before chunk c, chunks c and c + 1 are there; then the place of chunk c - 1 is free.
  SPTRSV_DEVICE void run() {
    for (std::int32_t c = 0; c < 2 * chunks - 1; ++c) {
      copy_rows(c);
    }
    ctx_.commit_copies();
    ctx_.template wait_copies<0>();
    for (std::int32_t c = 0; c < chunks - 1; ++c) {
      copy_chunk(c);
      ctx_.commit_copies();
    }
    ctx_.template wait_copies<chunks - 3>();
    ctx_.template barrier<Shape::block_threads>();
    for (std::int32_t c = 0; c < count_ - 1; ++c) {
      copy_rows(c - 1 + 2 * chunks);
      copy_chunk(c - 1 + chunks);
      ctx_.commit_copies();
      ctx_.template wait_copies<chunks - 3>();
      ctx_.template barrier<Shape::block_threads>();
    }
  }

 private:
  static constexpr int steps = Shape::chunk_steps;
  static constexpr int chunks = Shape::chunks;
  static constexpr int rows = Shape::rows * steps;
  static constexpr int slots = walk_shared<Scalar, Shape>::slots * steps;
  static constexpr int inner_entries = Shape::inner_entries * steps;
  using real = real_t<Scalar>;

  /// A thread copies the rows whose sides it copies later: it needs no barrier to see them.
  SPTRSV_DEVICE void copy_rows(std::int32_t c) {
    if (c < count_) {
      copy<sizeof(walk_row), rows>(shared_.rows + c % (2 * chunks) * rows,
                                   p_.rows + static_cast<std::int64_t>(c) * rows);
    }
  }

  SPTRSV_DEVICE void copy_chunk(std::int32_t c) {
    if (c >= count_) {
      return;
    }
    const std::int32_t place = c % chunks;
    const std::int64_t from = c;
    constexpr int turns = (rows + Shape::copy_threads - 1) / Shape::copy_threads;
    std::int32_t source[turns] = {};
    for_each_turn<rows>(
        [&](int turn, int r) { source[turn] = shared_.rows[c % (2 * chunks) * rows + r].source; });
    copy<16, slots>(shared_.values + place * slots, p_.values + from * slots);
    copy<16, slots>(shared_.operands + place * slots, p_.operands + from * slots);
    copy<16, rows>(shared_.reciprocals + place * rows, p_.reciprocals + from * rows);
    if constexpr (inner_entries > 0) {
      copy<16, inner_entries>(shared_.inner + place * inner_entries, p_.inner + from * inner_entries);
    }
    for_each_turn<rows>([&](int turn, int r) { copy_side(shared_.sides + place * rows + r, source[turn]); });
  }

  /// Calls work(turn, i) for i = this thread, and so on by the number of threads that copy, below `Count`.
  template <int Count, class Work>
  SPTRSV_DEVICE void for_each_turn(Work work) const {
    SPTRSV_UNROLL
    for (int first = 0; first < Count; first += Shape::copy_threads) {
      if (first + thread_ < Count) {
        work(first / Shape::copy_threads, first + thread_);
      }
    }
  }

  /// The user's arrays are aligned to a real number only.
  SPTRSV_DEVICE void copy_side(Scalar* side, std::int32_t source) {
    const Scalar* const stored =
        source >= 0 ? b_ + source * p_.b.row_stride : x_ + fetched(source) * p_.x.row_stride;
    const auto from = reinterpret_cast<const real*>(source == no_row ? p_.zero : stored);
    for (std::size_t i = 0; i < sizeof(Scalar) / sizeof(real); ++i) {
      ctx_.template copy_async<sizeof(real)>(reinterpret_cast<real*>(side) + i, from + i);
    }
  }

  /// `Count` elements in pieces of `Piece` bytes; piece i by thread i mod copy_threads.
  template <int Piece, int Count, class T>
  SPTRSV_DEVICE void copy(T* to, const T* from) {
    constexpr int pieces = Count * static_cast<int>(sizeof(T)) / Piece;
    static_assert(Count * sizeof(T) % Piece == 0);
    for_each_turn<pieces>([&](int, int i) {
      ctx_.template copy_async<Piece>(reinterpret_cast<unsigned char*>(to) + i * Piece,
                                      reinterpret_cast<const unsigned char*>(from) + i * Piece);
    });
  }

  Context& ctx_;
  const walk_params<Scalar>& p_;
  walk_shared<Scalar, Shape> shared_;
  int thread_;
  std::int32_t count_;  ///< of chunks
  const Scalar* b_;
  Scalar* x_;
};

}  // namespace sptrsv::detail::dataflow
