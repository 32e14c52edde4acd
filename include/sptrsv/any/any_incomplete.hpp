// SPDX-License-Identifier: Apache-2.0
// any_incomplete: an incomplete factorisation whose method is chosen at run time, on the device or on the
// host. sptrsv/any/any_policy.hpp has its analysis.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sptrsv/detail/any_solver/any_object.hpp"
#include "sptrsv/incomplete_cholesky.hpp"
#include "sptrsv/incomplete_lu.hpp"

namespace sptrsv::SPTRSV_ABI {

namespace detail {

/// An incomplete factorisation behind virtual functions.
template <class Value, class Index, class Offset, class Stream>
struct held_incomplete : held_object<incomplete_info, Stream> {
  static constexpr const char* moved_from = "the factorisation was moved from";
  static constexpr bool has_workspaces = false;
  using by_rows = csr_view<Value, Index, Offset>;
  using by_columns = csc_view<Value, Index, Offset>;

  virtual void factorize(span<const Value> values, const pivot_options* pivots, Stream stream) = 0;
  virtual span<const Value> values() const = 0;
  virtual by_rows view(const by_rows& a) const = 0;
  virtual by_columns view(const by_columns& a) const = 0;
};

/// The interface that holds a type of factorisations.
template <class Factorization, class Stream>
using held_of = held_incomplete<typename Factorization::value_type, typename Factorization::index_type,
                                typename Factorization::offset_type, Stream>;

/// The held_incomplete of a type of factorisations.
template <class Factorization, class Stream>
class incomplete_holder final : public object_holder<Factorization, held_of<Factorization, Stream>> {
  using value = typename Factorization::value_type;
  using base = object_holder<Factorization, held_of<Factorization, Stream>>;
  using base::object_;
  using base::own;
  using typename base::by_columns;
  using typename base::by_rows;

 public:
  using base::base;

  void factorize(span<const value> values, const pivot_options* pivots, Stream stream) override {
    pivots == nullptr ? object_.factorize(values, own(stream))
                      : object_.factorize(values, *pivots, own(stream));
  }
  span<const value> values() const override { return object_.values(); }
  by_rows view(const by_rows& a) const override { return object_.view(a); }
  by_columns view(const by_columns& a) const override { return object_.view(a); }
};

}  // namespace detail

/// An incomplete factorisation of any method, on the device or on the host, with the interface of
/// `incomplete_factorization`, whose comments hold here: each function calls that of the object that it
/// holds, by one virtual call. `any_incomplete` is move-only and has no default state.
///
/// The type parameters are those of `incomplete_factorization`. Factorisations on the host ignore the stream.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle>
class any_incomplete
    : public detail::any_object<detail::held_incomplete<Value, Index, Offset, Stream>, Value, Index, Offset> {
  using base =
      detail::any_object<detail::held_incomplete<Value, Index, Offset, Stream>, Value, Index, Offset>;
  using base::held;

 public:
  /// Takes a factorisation.
  template <incomplete_method Method, class FactorizationStream, class Tuning>
  any_incomplete(incomplete_factorization<Method, Value, Index, Offset, FactorizationStream, Tuning>&& from)
      : base(
            std::make_unique<detail::incomplete_holder<
                incomplete_factorization<Method, Value, Index, Offset, FactorizationStream, Tuning>, Stream>>(
                std::move(from))) {
    static_assert(detail::fits_stream<FactorizationStream, Stream>,
                  "the factorisation has another stream type");
  }

  /// Computes the factors of new values; as incomplete_factorization::factorize.
  void factorize(span<const Value> values, Stream stream = {}) { held().factorize(values, nullptr, stream); }
  /// Computes the factors of new values with these options; as incomplete_factorization::factorize.
  void factorize(span<const Value> values, const pivot_options& pivots, Stream stream = {}) {
    held().factorize(values, &pivots, stream);
  }

  /// Returns the values of the factors; as incomplete_factorization::values.
  [[nodiscard]] span<const Value> values() const { return held().values(); }
  /// Returns a view of the factors; as incomplete_factorization::view.
  template <class Matrix>
  [[nodiscard]] auto view(const Matrix& a) const {
    return held().view(detail::view_of(a));
  }
};

}  // namespace sptrsv::SPTRSV_ABI
