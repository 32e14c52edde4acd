// SPDX-License-Identifier: Apache-2.0
// any_factors: both factors of a matrix, analysed for any policy. sptrsv/any/any_policy.hpp has the analysis
// by a policy that is named at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sptrsv/detail/any_solver/any_object.hpp"
#include "sptrsv/factors.hpp"

namespace sptrsv::SPTRSV_ABI {

namespace detail {

/// Factors behind virtual functions.
template <class Value, class Stream>
struct held_factors : held_object<factors_info, Stream> {
  static constexpr const char* moved_from = "the factors were moved from";
  static constexpr const char* name = "object";
  static constexpr bool has_workspaces = true;

  /// `second_values`: null if both factors are stored in one matrix.
  virtual void update_values(span<const Value> first_values, const span<const Value>* second_values,
                             Stream stream) = 0;
  virtual void apply(bool transposed, dense_view<const Value> b, dense_view<Value> x, void* scratch,
                     Stream stream) = 0;
  virtual std::int64_t max_rhs() const noexcept = 0;
};

/// The held_factors of a type of factors.
template <class Factors, class Stream>
class factors_holder final
    : public object_holder<Factors, held_factors<typename Factors::value_type, Stream>> {
  using value = typename Factors::value_type;
  using base = object_holder<Factors, held_factors<value, Stream>>;
  using base::object_;
  using base::own;

 public:
  using base::base;

  void update_values(span<const value> first_values, const span<const value>* second_values,
                     Stream stream) override {
    second_values == nullptr ? object_.update_values(first_values, own(stream))
                             : object_.update_values(first_values, *second_values, own(stream));
  }
  void apply(bool transposed, dense_view<const value> b, dense_view<value> x, void* scratch,
             Stream stream) override {
    base::on_workspace(scratch, [&](auto&... given) {
      transposed ? object_.apply_transpose(b, x, given..., own(stream))
                 : object_.apply(b, x, given..., own(stream));
    });
  }
  std::int64_t max_rhs() const noexcept override { return object_.max_rhs(); }
};

}  // namespace detail

/// Both factors of a matrix, analysed for any policy, with the interface of `factors`, whose comments hold
/// here: each function calls that of the object that it holds, by one virtual call. `apply` does not
/// allocate. `any_factors` is move-only and has no default state.
///
/// The type parameters are those of `factors`. Factors of host policies ignore the stream.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle>
class any_factors : public detail::any_object<detail::held_factors<Value, Stream>, Value, Index, Offset> {
  using base = detail::any_object<detail::held_factors<Value, Stream>, Value, Index, Offset>;
  using base::checked;
  using base::held;

 public:
  /// Scratch memory of one application in flight, as factors::workspace.
  using workspace = detail::any_workspace;

  /// Takes factors: of a policy with a tuning of your own, for example.
  template <class Policy, class FactorsStream>
  any_factors(factors<Policy, Value, Index, Offset, FactorsStream>&& from)
      : base(std::make_unique<
             detail::factors_holder<factors<Policy, Value, Index, Offset, FactorsStream>, Stream>>(
            std::move(from))) {
    static_assert(detail::fits_stream<FactorsStream, Stream>, "the factors have another stream type");
  }

  /// Replaces the values of both factors, which are stored in one matrix; as factors::update_values.
  void update_values(span<const Value> values, Stream stream = {}) {
    held().update_values(values, nullptr, stream);
  }
  /// Replaces the values of both factors; as factors::update_values.
  void update_values(span<const Value> first_values, span<const Value> second_values, Stream stream = {}) {
    held().update_values(first_values, &second_values, stream);
  }

  /// Solves A x = b on the object's own workspace; as factors::apply.
  void apply(dense_view<const Value> b, dense_view<Value> x, Stream stream = {}) {
    held().apply(false, b, x, nullptr, stream);
  }
  /// Solves A x = b; as factors::apply.
  void apply(dense_view<const Value> b, dense_view<Value> x, workspace& scratch, Stream stream = {}) const {
    held().apply(false, b, x, checked(scratch), stream);
  }
  /// Solves op(A) x = b on the object's own workspace; as factors::apply_transpose.
  void apply_transpose(dense_view<const Value> b, dense_view<Value> x, Stream stream = {}) {
    held().apply(true, b, x, nullptr, stream);
  }
  /// Solves op(A) x = b; as factors::apply_transpose.
  void apply_transpose(dense_view<const Value> b, dense_view<Value> x, workspace& scratch,
                       Stream stream = {}) const {
    held().apply(true, b, x, checked(scratch), stream);
  }

  using base::make_workspace;
  using base::status;

  /// Returns the largest number of right-hand sides of one application. Throws errc::invalid_argument if the
  /// object was moved from.
  [[nodiscard]] std::int64_t max_rhs() const { return held().max_rhs(); }
};

}  // namespace sptrsv::SPTRSV_ABI
