// SPDX-License-Identifier: Apache-2.0
// The interface between the class of a factorisation and its engines on host and device.
#pragma once

#include <cstdint>

#include "sptrsv/detail/incomplete/method.hpp"

namespace sptrsv::detail::incomplete {

/// What the last factorisation met.
struct findings {
  std::int64_t first_breakdown = -1;  ///< number of the first breakdown (see there); -1: there is none
  std::int64_t boosted_pivots = 0;    ///< pivots that were replaced
};

/// The host side of a factorisation; Scalar is scalar_t<Value>. The second one is for the host.
///
///   engine(const pattern_view<Index, Offset>&, executor, resource);
///   void factorize(const Scalar* values, const pivot_rule<Scalar>&, executor);  // only enqueues
///   const Scalar* factors() const;                                              // by stored entry
///   findings found(executor) const;                                             // synchronises
///   void describe(incomplete_info&, executor) const;
template <class Tuning, method Method, class Scalar, class Index, class Offset, class Executor>
class engine;

}  // namespace sptrsv::detail::incomplete
