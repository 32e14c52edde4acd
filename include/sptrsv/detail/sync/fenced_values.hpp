// SPDX-License-Identifier: Apache-2.0
// The classical hand-off: the producer stores the value, then a fence, then a flag. A consumer polls the flag
// and reads the value after an acquire fence.
//
// Before a solve, the flags of the right-hand sides that the solve before had hold its parity, and all others
// are 0: a solve sets those to 0 that it does not use itself. So no launch prepares a solve.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/sync/double_buffer.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Has the interface of value_flag, with a flag beside each value.
template <class Scalar>
struct fenced_flag {
  using word = std::uint32_t;

  struct component {
    Scalar* value;
    word* flag;
    word solve;  ///< content of the flag when the value is there
  };

  struct reading {
    Scalar seen;
    bool known;

    SPTRSV_HOST_DEVICE Scalar value() const { return seen; }
  };

  SPTRSV_HOST_DEVICE static reading zero() { return {Scalar{}, true}; }
  SPTRSV_HOST_DEVICE static bool is_known(const reading& seen) { return seen.known; }

  /// Returns the component if its flag is set; otherwise a reading that is not known.
  template <class Context>
  SPTRSV_DEVICE static reading try_load(Context& ctx, const component& at) {
    reading seen{Scalar{}, false};
    poll(ctx, at, seen);
    return seen;
  }

  /// Returns a component that an earlier launch has published.
  template <class Context>
  SPTRSV_DEVICE static reading read(Context& ctx, const component& at) {
    return {ctx.load(at.value), true};
  }

  /// Reads the component if it was not known in `seen` and its flag is set.
  template <class Context>
  SPTRSV_DEVICE static void poll(Context& ctx, const component& at, reading& seen) {
    if (!seen.known && ctx.load_relaxed(at.flag) == at.solve) {
      ctx.fence_acquire();
      seen = read(ctx, at);
    }
  }

  SPTRSV_DEVICE static const word* missing(const component& at, const reading& seen) {
    return seen.known ? nullptr : at.flag;
  }

  /// Stores the value, and sets the flag unless the launch does not signal.
  template <class Context>
  SPTRSV_DEVICE static void publish(Context& ctx, const component& at, Scalar value) {
    ctx.store(at.value, value);
    if (at.flag != nullptr) {
      ctx.fence_release();
      ctx.store_relaxed(at.flag, at.solve);
    }
  }
};

/// Has the interface of double_buffer, with an array of values and one of flags. `half`: from half_of.
template <class Scalar>
struct fenced_values {
  using flag = fenced_flag<Scalar>;

  Scalar* values;
  typename flag::word* flags;
  solve_state* state;
  std::int64_t size;
  std::int64_t columns;  ///< right-hand sides of the solve
  bool signals = true;   ///< false if no row of this launch polls; later launches need no flags

  /// Returns what the flags of a solve hold: even if `solve` is even, and not 0.
  SPTRSV_DEVICE static std::uint32_t half_of(unsigned long long solve) {
    return static_cast<std::uint32_t>(solve % 2) + 2;
  }

  SPTRSV_DEVICE typename flag::component component(std::uint32_t half, std::int64_t column,
                                                   std::int64_t solve_index) const {
    const std::int64_t at = column * size + solve_index;
    return {values + at, signals ? flags + at : nullptr, half};
  }

  /// Resets the flags at `solve_index` of right-hand sides that only the solve before had, of `used` in all.
  /// `lanes` threads share the work; this is thread `rank` of them.
  template <class Context>
  SPTRSV_DEVICE void reset(Context& ctx, std::uint32_t, std::int64_t solve_index, std::int64_t used, int rank,
                           int lanes) const {
    for (std::int64_t k = columns + rank; k < used; k += lanes) {
      ctx.store_relaxed(flags + k * size + solve_index, typename flag::word{0});
    }
  }
};

/// Owns the values and flags of a workspace, which serves one solve at a time.
template <class Scalar>
class fenced_storage {
  using word = typename fenced_flag<Scalar>::word;

 public:
  template <class Executor>
  fenced_storage(std::int64_t size, std::int64_t max_columns, const Executor& on, memory_resource& resource)
      : size_(size),
        values_(make_buffer<Scalar>(checked_product(size, max_columns), on, resource)),
        flags_(make_buffer<word>(checked_product(size, max_columns), on, resource)) {
    reset(on);
  }

  template <class Executor>
  void reset(const Executor& on) {
    on.fill_bytes(flags_.data(), 0, flags_.bytes());
  }

  /// Returns the arrays for a kernel. `state`: of the workspace. `columns`: right-hand sides.
  [[nodiscard]] fenced_values<Scalar> buffers(solve_state* state, std::int64_t columns, bool signals) const {
    return {values_.data(), flags_.data(), state, size_, columns, signals};
  }

  [[nodiscard]] static std::size_t bytes(std::int64_t size, std::int64_t max_columns) {
    return at(size * max_columns) * (sizeof(Scalar) + sizeof(word));
  }

 private:
  std::int64_t size_;
  buffer<Scalar> values_;
  buffer<word> flags_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
