// SPDX-License-Identifier: Apache-2.0
// any_batch: a batch of small systems, on the device or on the host. sptrsv/any/any_policy.hpp has its
// analysis.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "sptrsv/batch.hpp"
#include "sptrsv/detail/any_solver/any_object.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI {

namespace detail {

/// The solver of a batch behind virtual functions.
template <class Value, class Stream>
struct held_batch : held_object<solver_info, Stream> {
  static constexpr const char* moved_from = "the batch was moved from";

  virtual void update_values(span<const Value> values, Stream stream) = 0;
  virtual void solve(batch_view<const Value> b, batch_view<Value> x, Value alpha, Stream stream) = 0;
  virtual std::int64_t systems() const noexcept = 0;
  virtual std::int64_t max_rhs() const noexcept = 0;
};

/// The held_batch of a type of solvers.
template <class Batch, class Stream>
class batch_holder final : public object_holder<Batch, held_batch<typename Batch::value_type, Stream>> {
  using value = typename Batch::value_type;
  using base = object_holder<Batch, held_batch<value, Stream>>;
  using base::object_;
  using base::own;

 public:
  using base::base;

  void update_values(span<const value> values, Stream stream) override {
    object_.update_values(values, own(stream));
  }
  void solve(batch_view<const value> b, batch_view<value> x, value alpha, Stream stream) override {
    object_.solve(b, x, alpha, own(stream));
  }
  std::int64_t systems() const noexcept override { return object_.systems(); }
  std::int64_t max_rhs() const noexcept override { return object_.max_rhs(); }
};

}  // namespace detail

/// Triangular systems with one pattern and different values, with the interface of `batched_solver`, whose
/// comments hold here: each function calls that of the solver that it holds, by one virtual call. On the host
/// one system is solved after the other. `any_batch` is move-only and has no default state.
///
/// @tparam Value float, double, std::complex or cuda::std::complex of one of them.
/// @tparam Index signed integer type of the row and column indices of the matrix.
/// @tparam Offset signed integer type of the row (column) offsets of the matrix.
/// @tparam Stream stream type of the functions: cudaStream_t. Batches on the host ignore the stream.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle>
class any_batch : public detail::any_object<detail::held_batch<Value, Stream>, Value, Index, Offset> {
  using base = detail::any_object<detail::held_batch<Value, Stream>, Value, Index, Offset>;
  using base::held;

 public:
  /// Takes a batched_solver.
  template <class Batch,
            class = std::enable_if_t<!std::is_same_v<std::decay_t<Batch>, any_batch> &&
                                     std::is_same_v<typename std::decay_t<Batch>::value_type, Value>>>
  explicit any_batch(Batch&& from)
      : base(std::make_unique<detail::batch_holder<std::decay_t<Batch>, Stream>>(std::forward<Batch>(from))) {
    static_assert(std::is_rvalue_reference_v<Batch&&>, "a batch is moved");
  }

  /// Replaces the values of all matrices; as batched_solver::update_values.
  void update_values(span<const Value> values, Stream stream = {}) { held().update_values(values, stream); }
  /// Solves op(T_s) x_s = b_s for all systems; as batched_solver::solve.
  void solve(batch_view<const Value> b, batch_view<Value> x, Stream stream = {}) {
    held().solve(b, x, Value(1), stream);
  }
  /// Solves op(T_s) x_s = alpha b_s for all systems; as batched_solver::solve.
  void solve(batch_view<const Value> b, batch_view<Value> x, Value alpha, Stream stream = {}) {
    held().solve(b, x, alpha, stream);
  }
  /// Returns the number of systems. Throws errc::invalid_argument if the object was moved from.
  [[nodiscard]] std::int64_t systems() const { return held().systems(); }
  /// Returns the largest number of right-hand sides of one solve, for each system. Throws
  /// errc::invalid_argument if the object was moved from.
  [[nodiscard]] std::int64_t max_rhs() const { return held().max_rhs(); }
};

}  // namespace sptrsv::SPTRSV_ABI
