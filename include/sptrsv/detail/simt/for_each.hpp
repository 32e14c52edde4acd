// SPDX-License-Identifier: Apache-2.0
// Kernels with one thread, or a few lanes, per element. Most of the analysis uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/base/scalar.hpp"
#include "sptrsv/detail/simt/context.hpp"
#include "sptrsv/detail/simt/simt_executor.hpp"
#include "sptrsv/host/executor.hpp"

namespace sptrsv::SPTRSV_ABI::detail::simt {

/// N bodies that run one after the other for one item. The condition of the first, if any, serves all.
template <class Body, std::size_t N>
struct all_of {
  Body of[N];

  template <class Context>
  [[nodiscard]] SPTRSV_DEVICE bool hold(Context& ctx) const {
    return of[0].hold(ctx);
  }
  template <class Context, class... Item>
  SPTRSV_DEVICE void operator()(Context& ctx, Item... item) const {
    SPTRSV_UNROLL
    for (std::size_t k = 0; k < N; ++k) {
      of[k](ctx, item...);
    }
  }
};

SPTRSV_HOST_DEVICE constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Returns the number of thread blocks of a launch that does `work` items, `work_per_block` in each block.
/// Throws errc::unsupported if a launch cannot have so many.
inline std::uint32_t block_count(std::int64_t work, std::int64_t work_per_block) {
  const std::int64_t blocks = work / work_per_block + (work % work_per_block != 0 ? 1 : 0);
  SPTRSV_EXPECTS(blocks <= std::numeric_limits<std::int32_t>::max(), errc::unsupported,
                 "a kernel would need ", blocks, " thread blocks, and a launch takes at most 2^31 - 1");
  return static_cast<std::uint32_t>(blocks);
}

/// Returns the smallest power of two that is not below `v`; 1 for v <= 1.
SPTRSV_HOST_DEVICE constexpr int ceil_power_of_two(int v) {
  int power = 1;
  while (power < v) {
    power *= 2;
  }
  return power;
}

/// Calls `body(ctx, tile, i)` for i in [0, count), with a tile of `Lanes` lanes each, or `body(ctx, i)` with
/// one thread each if `Lanes` is 1. Body is trivially copyable.
template <class Body, int Lanes = 1, int Threads = 256>
struct for_each_agent {
  static constexpr int block_threads = Threads;
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
      if constexpr (Lanes == 1) {
        p.body(ctx, i);
      } else {
        p.body(ctx, tile, i);
      }
    }
  }
};

/// Calls `body` on the device for i in [0, count), see for_each_agent. The calls are independent.
template <int Lanes, int Threads = 256, class Executor, class Body>
void for_each_by_tile(const Executor& on, std::int64_t count, const Body& body) {
  using agent = for_each_agent<Body, Lanes, Threads>;
  if (count > 0) {
    on.template launch<agent>(block_count(count, agent::block_items), {count, body});
  }
}
/// Is true if the executor runs kernels.
template <class Executor>
inline constexpr bool has_kernels = !std::is_same_v<Executor, host_executor>;

/// The memory accesses of a context, on the host. Scalars are accessed as load_scalar does.
struct host_context {
  template <class T>
  T load(const T* p) const {
    if constexpr (std::is_class_v<T>) {
      return load_scalar(p);
    } else {
      return *p;
    }
  }
  template <class T>
  T load_constant(const T* p) const {
    return load(p);
  }
  template <class T>
  void store(T* p, T v) const {
    if constexpr (std::is_class_v<T>) {
      store_scalar(p, v);
    } else {
      *p = v;
    }
  }
};

SPTRSV_BEGIN_ANY_CONTEXT
/// Calls `body(ctx, i)` for i in [0, count), where the executor computes. The calls are independent.
template <class Executor, class Body>
void for_each(const Executor& on, std::int64_t count, const Body& body) {
  if constexpr (has_kernels<Executor>) {
    for_each_by_tile<1>(on, count, body);
  } else {
    host_context ctx;
    for (std::int64_t i = 0; i < count; ++i) {
      body(ctx, i);
    }
  }
}
SPTRSV_END_ANY_CONTEXT

/// An aligned group of lanes of a warp whose number is known when the kernel runs: a power of two, the same
/// in the whole warp. All lanes of the warp call its collectives together.
template <class Warp>
struct lane_group {
  const Warp& warp;
  int lanes;

  [[nodiscard]] SPTRSV_DEVICE int rank() const { return warp.rank() & (lanes - 1); }
  /// Returns the lanes of the group with `v` true, one bit each.
  [[nodiscard]] SPTRSV_DEVICE std::uint32_t ballot(bool v) const {
    return warp.ballot(v) >> (warp.rank() - rank()) & (lanes < 32 ? (1u << lanes) - 1u : ~0u);
  }
  template <class T>
  [[nodiscard]] SPTRSV_DEVICE T shuffle(T v, int lane) const {
    return warp.shuffle(v, warp.rank() - rank() + lane);
  }
  /// Returns whether `v` is true in any lane of the warp.
  [[nodiscard]] SPTRSV_DEVICE bool any_of_warp(bool v) const { return warp.any(v); }
  /// Returns the sum of `v` over the lanes of the group.
  template <class T>
  [[nodiscard]] SPTRSV_DEVICE T sum(T v) const {
    return reduce(warp, v, lanes, plus{});
  }
};

/// Calls `body(ctx, group, i)` with `lanes` lanes for each i in [0, count), and in the last warp also for i
/// from `count` on, because the body calls collectives of the group. Body is trivially copyable.
template <class Body>
struct for_each_by_groups_agent {
  static constexpr int block_threads = 256;
  struct shared_storage {};
  struct params {
    int lanes;
    std::int64_t count;
    Body body;
  };

  template <class Context>
  SPTRSV_DEVICE static void run(Context& ctx, shared_storage&, const params& p) {
    const auto warp = ctx.template group<32>();
    const std::int64_t thread =
        static_cast<std::int64_t>(ctx.block_rank()) * block_threads + ctx.thread_rank();
    if ((thread - warp.rank()) / p.lanes < p.count) {
      p.body(ctx, lane_group<decltype(warp)>{warp, p.lanes}, thread / p.lanes);
    }
  }
};

/// Calls `body(ctx, group, i)` on the device for i in [0, count), see for_each_by_groups_agent. `lanes`: of a
/// group; a power of two, at most 32.
template <class Executor, class Body>
void for_each_by_groups(const Executor& on, int lanes, std::int64_t count, const Body& body) {
  using agent = for_each_by_groups_agent<Body>;
  if (count > 0) {
    on.template launch<agent>(block_count(count, agent::block_threads / lanes), {lanes, count, body});
  }
}

/// Raises *largest to the largest value of the warp. Few warps update the word, because updates of one word
/// are served one after the other. Returns the largest value of the warp.
template <class Context, class Warp, class T>
SPTRSV_DEVICE T raise_largest(Context& ctx, const Warp& warp, T value, T* largest) {
  const T of_warp = reduce(warp, value, 32, maximum{});
  if (warp.rank() == 0 && ctx.load_relaxed(largest) < of_warp) {
    ctx.atomic_max(largest, of_warp);
  }
  return of_warp;
}

/// Raises *largest to the largest value of a run of elements. Runs once per run, by a warp.
template <class T, class Body>
struct raise_to_run {
  static constexpr std::int64_t elements = 256;

  std::int64_t count;
  Body body;
  T* largest;

  template <class Context, class Warp>
  SPTRSV_DEVICE void operator()(Context& ctx, const Warp& warp, std::int64_t run) const {
    const std::int64_t begin = run * elements;
    const std::int64_t end = count - begin > elements ? begin + elements : count;
    T value{};
    for (std::int64_t i = begin + warp.rank(); i < end; i += 32) {
      value = maximum{}(value, static_cast<T>(body(ctx, i)));
    }
    raise_largest(ctx, warp, value, largest);
  }
};

/// Sets *largest to the maximum of itself and of body(ctx, i) for i in [0, count). No value is negative.
template <class Executor, class Body, class T>
void find_largest(const Executor& on, std::int64_t count, const Body& body, T* largest) {
  using raise = raise_to_run<T, Body>;
  for_each_by_tile<32>(on, ceil_div(count, raise::elements), raise{count, body, largest});
}

/// Returns whether predicate(ctx, i) is true for an i in [0, count). `flag`: a word of device memory that
/// this function may overwrite. Synchronises.
template <class Executor, class Predicate>
[[nodiscard]] bool any_of(const Executor& on, std::int64_t count, const Predicate& predicate,
                          std::uint32_t* flag) {
  on.fill_bytes(flag, 0, sizeof(*flag));
  find_largest(on, count, predicate, flag);
  return download_value(flag, on) != 0;
}

}  // namespace sptrsv::SPTRSV_ABI::detail::simt
