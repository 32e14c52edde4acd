// The classical hand-off: the value, a fence, then a flag; who waits polls the flag and reads the value after
// an acquire.
//
// A flag holds the number of the solve that set it: none is reset, and no launch prepares a solve.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/sync/double_buffer.hpp"

namespace sptrsv::detail {

/// What value_flag is for values that are their own flags.
template <class Scalar>
struct fenced_flag {
  using word = std::uint32_t;

  struct component {
    Scalar* value;
    word* flag;
    word solve;  ///< what the flag holds when the value is there
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

  /// Returns the address of the flag if the component is not known; null otherwise.
  SPTRSV_DEVICE static const word* missing(const component& at, const reading& seen) {
    return seen.known ? nullptr : at.flag;
  }

  template <class Context>
  SPTRSV_DEVICE static void publish(Context& ctx, const component& at, Scalar value) {
    ctx.store(at.value, value);
    if (at.flag != nullptr) {
      ctx.fence_release();
      ctx.store_relaxed(at.flag, at.solve);
    }
  }
};

/// As double_buffer, with values and flags instead of two pages. A `page` is here what fenced_values::half_of
/// says.
template <class Scalar>
struct fenced_values {
  using flag = fenced_flag<Scalar>;

  Scalar* values;
  typename flag::word* flags;
  solve_state* state;
  std::int64_t size;
  bool signals = true;  ///< false: nobody of this launch polls, and later ones need not

  /// 0 is no solve's; odd and even as the solve's number.
  SPTRSV_DEVICE static std::uint32_t half_of(unsigned long long solve) {
    return static_cast<std::uint32_t>(solve) + 2;
  }

  SPTRSV_DEVICE typename flag::component component(std::uint32_t half, std::int64_t column,
                                                   std::int64_t solve_index) const {
    const std::int64_t at = column * size + solve_index;
    return {values + at, signals ? flags + at : nullptr, half};
  }

  template <class Context>
  SPTRSV_DEVICE void reset(Context&, std::uint32_t, std::int64_t, std::int64_t, int, int) const {}

  template <class Context>
  SPTRSV_DEVICE void record_nonfinite(Context& ctx, std::uint32_t half,
                                      std::int64_t substitution_index) const {
    state->record_nonfinite(ctx, half % 2, substitution_index);
  }
};

/// The owner of values and flags, for one solve in flight.
template <class Scalar>
class fenced_storage {
  using word = typename fenced_flag<Scalar>::word;

 public:
  template <class Executor>
  fenced_storage(std::int64_t size, std::int64_t max_columns, const Executor& on, memory_resource& resource)
      : size_(size),
        values_(make_buffer<Scalar>(size * max_columns, on, resource)),
        flags_(make_buffer<word>(size * max_columns, on, resource)) {
    on.fill_bytes(flags_.data(), 0, flags_.bytes());
  }

  [[nodiscard]] fenced_values<Scalar> buffers(solve_state* state, bool signals) const {
    return {values_.data(), flags_.data(), state, size_, signals};
  }

  [[nodiscard]] static std::size_t bytes(std::int64_t size, std::int64_t max_columns) {
    return static_cast<std::size_t>(size * max_columns) * (sizeof(Scalar) + sizeof(word));
  }

 private:
  std::int64_t size_;
  buffer<Scalar> values_;
  buffer<word> flags_;
};

}  // namespace sptrsv::detail
