// SPDX-License-Identifier: Apache-2.0
// any_batch: a batch of small systems, on the device or on the host. sptrsv/any/any_policy.hpp has its
// analysis.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sptrsv/any/any_solver.hpp"

namespace sptrsv::SPTRSV_ABI {

/// Triangular systems with one pattern and different values, with the interface of `batched_solver`, whose
/// comments hold here: each function calls that of the solver that it holds, by one virtual call. On the host
/// one system is solved after the other. `any_batch` is move-only and has no default state.
///
/// The type parameters are those of `batched_solver`. Batches on the host ignore the stream.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle>
class any_batch : public detail::any_solving<Value, Index, Offset, Stream, batch_view> {
  using base = detail::any_solving<Value, Index, Offset, Stream, batch_view>;

 public:
  /// Takes a batched_solver.
  template <class Batch,
            class = std::enable_if_t<!std::is_same_v<std::decay_t<Batch>, any_batch> &&
                                     std::is_same_v<typename std::decay_t<Batch>::value_type, Value>>>
  explicit any_batch(Batch&& from) : base(std::forward<Batch>(from)) {
    static_assert(std::is_rvalue_reference_v<Batch&&>, "a batch is moved");
  }

  /// Returns the number of systems. Throws errc::invalid_argument if the object was moved from.
  [[nodiscard]] std::int64_t systems() const { return this->held().systems(); }
};

}  // namespace sptrsv::SPTRSV_ABI
