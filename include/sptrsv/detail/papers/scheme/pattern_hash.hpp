// SPDX-License-Identifier: Apache-2.0
// A hash of the pattern, to find the plan of a system again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sptrsv/detail/analysis/pattern.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/for_each.hpp"
#include "sptrsv/memory/memory_resource.hpp"
#include "sptrsv/options.hpp"

namespace sptrsv::SPTRSV_ABI::detail::schemes {

/// The mixing function of splitmix64.
SPTRSV_HOST_DEVICE std::uint64_t mixed(std::uint64_t v) {
  v += 0x9e3779b97f4a7c15u;
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
  return v ^ (v >> 31);
}

/// Replaces each element by its contribution to the hash. The sum does not depend on the order of additions.
template <class Integer>
struct hash_elements {
  std::uint64_t seed;
  std::int64_t count;
  const Integer* from;
  std::uint64_t* to;

  template <class Context>
  SPTRSV_DEVICE void operator()(Context& ctx, std::int64_t i) const {
    const auto v = i < count ? static_cast<std::uint64_t>(ctx.load_constant(from + i)) : 0;
    ctx.store(to + i, i < count ? mixed(v ^ mixed(seed + static_cast<std::uint64_t>(i))) : 0);
  }
};

/// Returns the sum of the elements' contributions. Synchronises.
template <class Integer, class Executor>
std::uint64_t hash_of(const Integer* elements, std::int64_t count, std::uint64_t seed, const Executor& on,
                      memory_resource& resource) {
  const auto terms = make_buffer<std::uint64_t>(count + 1, on, resource);
  simt::for_each(on, count + 1, hash_elements<Integer>{seed, count, elements, terms.data()});
  on.exclusive_scan(terms.data(), terms.data(), count + 1, resource);
  return last_of(terms, on);
}

/// Returns a hash of the stored pattern, the triangle that is solved, and the widths of the types.
/// Synchronises.
template <class Index, class Offset, class Executor>
std::uint64_t pattern_hash(const pattern_view<Index, Offset>& a, const system_options& options,
                           std::size_t value_bytes, const Executor& on, memory_resource& resource) {
  const triangle_form form(options, a.by_columns);
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(a.size));
  for (const std::uint64_t fact :
       {static_cast<std::uint64_t>(a.entries), std::uint64_t{form.transposed}, std::uint64_t{form.reversed},
        std::uint64_t{form.unit}, static_cast<std::uint64_t>(value_bytes),
        static_cast<std::uint64_t>(sizeof(Index)), static_cast<std::uint64_t>(options.max_rhs)}) {
    hash = mixed(hash ^ fact);
  }
  hash = mixed(hash ^ hash_of(a.offsets, a.size > 0 ? a.size + 1 : 0, 1, on, resource));
  return mixed(hash ^ hash_of(a.indices, a.entries, 2, on, resource));
}

}  // namespace sptrsv::SPTRSV_ABI::detail::schemes
