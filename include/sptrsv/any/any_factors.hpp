// any_factors: both factors of a matrix, analysed for any policy. sptrsv/any/any_policy.hpp has the analysis
// by a policy that is named at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "sptrsv/factors.hpp"

namespace sptrsv {

namespace detail {

/// Factors behind virtual functions. `Stream` is the stream type of the caller.
template <class Value, class Stream>
struct held_factors {
  struct workspace {
    explicit workspace(std::uint64_t number) : factors_number(number) {}
    workspace(const workspace&) = delete;
    workspace& operator=(const workspace&) = delete;
    virtual ~workspace() = default;
    const std::uint64_t factors_number;  ///< of the held_factors that made it
  };

  held_factors() = default;
  held_factors(const held_factors&) = delete;
  held_factors& operator=(const held_factors&) = delete;
  virtual ~held_factors() = default;
  virtual void update_values(span<const Value> values, Stream stream) = 0;
  virtual void update_values(span<const Value> first_values, span<const Value> second_values,
                             Stream stream) = 0;
  virtual void apply(bool transposed, dense_view<const Value> b, dense_view<Value> x, Stream stream) = 0;
  virtual void apply(bool transposed, dense_view<const Value> b, dense_view<Value> x, workspace& scratch,
                     Stream stream) const = 0;
  virtual std::unique_ptr<workspace> make_workspace(Stream stream, memory_resource* resource) const = 0;
  virtual factors_status status(Stream stream) = 0;
  virtual factors_status status(workspace& scratch, Stream stream) const = 0;
  virtual factors_info info() const = 0;
  virtual std::int64_t rows() const noexcept = 0;
  virtual std::int64_t max_rhs() const noexcept = 0;

  const std::uint64_t number = next_solver_number();
};

/// The held_factors of a type of factors. Factors of the host ignore the stream of the caller.
template <class Factors, class Stream>
class factors_holder final : public held_factors<typename Factors::value_type, Stream> {
  using value = typename Factors::value_type;
  using base = held_factors<value, Stream>;
  using typename base::workspace;

 public:
  explicit factors_holder(Factors&& made) : factors_(std::move(made)) {}

  void update_values(span<const value> values, Stream stream) override {
    factors_.update_values(values, own(stream));
  }
  void update_values(span<const value> first_values, span<const value> second_values,
                     Stream stream) override {
    factors_.update_values(first_values, second_values, own(stream));
  }
  void apply(bool transposed, dense_view<const value> b, dense_view<value> x, Stream stream) override {
    if (transposed) {
      factors_.apply_transpose(b, x, own(stream));
    } else {
      factors_.apply(b, x, own(stream));
    }
  }
  void apply(bool transposed, dense_view<const value> b, dense_view<value> x, workspace& scratch,
             Stream stream) const override {
    if (transposed) {
      factors_.apply_transpose(b, x, own(scratch), own(stream));
    } else {
      factors_.apply(b, x, own(scratch), own(stream));
    }
  }
  std::unique_ptr<workspace> make_workspace(Stream stream, memory_resource* resource) const override {
    return std::make_unique<held_workspace>(this->number, factors_.make_workspace(own(stream), resource));
  }
  factors_status status(Stream stream) override { return factors_.status(own(stream)); }
  factors_status status(workspace& scratch, Stream stream) const override {
    return factors_.status(own(scratch), own(stream));
  }
  factors_info info() const override { return factors_.info(); }
  std::int64_t rows() const noexcept override { return factors_.rows(); }
  std::int64_t max_rhs() const noexcept override { return factors_.max_rhs(); }

 private:
  struct held_workspace final : workspace {
    held_workspace(std::uint64_t number, typename Factors::workspace&& made)
        : workspace(number), held(std::move(made)) {}
    typename Factors::workspace held;
  };

  static typename Factors::stream_type own(Stream stream) {
    if constexpr (std::is_same_v<typename Factors::stream_type, host_stream>) {
      return {};
    } else {
      return stream;
    }
  }
  /// Returns the workspace of the factors; any_factors has checked the number.
  static typename Factors::workspace& own(workspace& scratch) {
    return static_cast<held_workspace&>(scratch).held;
  }

  Factors factors_;
};

}  // namespace detail

/// Both factors of a matrix, analysed for any policy, with the interface of `factors`, whose comments hold
/// here: each function calls that of the object that it holds, by one virtual call. `apply` does not
/// allocate. `any_factors` is move-only and has no default state.
///
/// @tparam Value float, double, std::complex or cuda::std::complex of one of them.
/// @tparam Index signed integer type of the row and column indices of the matrix.
/// @tparam Offset signed integer type of the row (column) offsets of the matrix.
/// @tparam Stream stream type of the functions: cudaStream_t. Factors of host policies ignore the stream.
template <class Value, class Index = std::int32_t, class Offset = Index, class Stream = stream_handle>
class any_factors {
  using held_factors = detail::held_factors<Value, Stream>;

 public:
  using value_type = Value;    ///< type of the values of the factors, b and x
  using index_type = Index;    ///< type of indices
  using offset_type = Offset;  ///< type of offsets
  using stream_type = Stream;  ///< type of streams

  /// Scratch memory of one application in flight, as factors::workspace.
  class workspace {
    friend class any_factors;
    explicit workspace(std::unique_ptr<typename held_factors::workspace> made) : held_(std::move(made)) {}
    std::unique_ptr<typename held_factors::workspace> held_;
  };

  /// Takes factors: of a policy with a tuning of your own, for example.
  template <class Policy, class FactorsStream>
  any_factors(factors<Policy, Value, Index, Offset, FactorsStream>&& from)
      : held_(std::make_unique<
              detail::factors_holder<factors<Policy, Value, Index, Offset, FactorsStream>, Stream>>(
            std::move(from))) {
    static_assert(std::is_same_v<FactorsStream, Stream> || std::is_same_v<FactorsStream, host_stream>,
                  "the factors have another stream type");
  }

  /// Replaces the values of both factors, which are stored in one matrix; as factors::update_values.
  void update_values(span<const Value> values, Stream stream = {}) { held().update_values(values, stream); }
  /// Replaces the values of both factors; as factors::update_values.
  void update_values(span<const Value> first_values, span<const Value> second_values, Stream stream = {}) {
    held().update_values(first_values, second_values, stream);
  }

  /// Solves A x = b on the object's own workspace; as factors::apply.
  void apply(dense_view<const Value> b, dense_view<Value> x, Stream stream = {}) {
    held().apply(false, b, x, stream);
  }
  /// Solves A x = b; as factors::apply.
  void apply(dense_view<const Value> b, dense_view<Value> x, workspace& scratch, Stream stream = {}) const {
    std::as_const(held()).apply(false, b, x, checked(scratch), stream);
  }
  /// Solves op(A) x = b on the object's own workspace; as factors::apply_transpose.
  void apply_transpose(dense_view<const Value> b, dense_view<Value> x, Stream stream = {}) {
    held().apply(true, b, x, stream);
  }
  /// Solves op(A) x = b; as factors::apply_transpose.
  void apply_transpose(dense_view<const Value> b, dense_view<Value> x, workspace& scratch,
                       Stream stream = {}) const {
    std::as_const(held()).apply(true, b, x, checked(scratch), stream);
  }

  /// Returns scratch memory for one more application in flight; as factors::make_workspace.
  [[nodiscard]] workspace make_workspace(Stream stream = {}, memory_resource* resource = nullptr) const {
    return workspace(held().make_workspace(stream, resource));
  }

  /// Returns what the last application on the object's own workspace met; as factors::status.
  [[nodiscard]] factors_status status(Stream stream = {}) { return held().status(stream); }
  /// Returns what the last application on `scratch` met; as factors::status.
  [[nodiscard]] factors_status status(workspace& scratch, Stream stream = {}) const {
    return std::as_const(held()).status(checked(scratch), stream);
  }

  /// Returns what the analysis decided for each factor, and how much memory the object holds.
  [[nodiscard]] factors_info info() const { return held().info(); }
  /// Returns the number of rows of the system. Throws errc::invalid_argument if the object was moved from.
  [[nodiscard]] std::int64_t rows() const { return held().rows(); }
  /// Returns the largest number of right-hand sides of one application. Throws errc::invalid_argument if the
  /// object was moved from.
  [[nodiscard]] std::int64_t max_rhs() const { return held().max_rhs(); }

 private:
  held_factors& held() const {
    SPTRSV_EXPECTS(held_ != nullptr, errc::invalid_argument, "the factors were moved from");
    return *held_;
  }
  typename held_factors::workspace& checked(workspace& scratch) const {
    SPTRSV_EXPECTS(scratch.held_ != nullptr, errc::invalid_argument, "the workspace was moved from");
    SPTRSV_EXPECTS(scratch.held_->factors_number == held().number, errc::invalid_argument,
                   "the workspace belongs to another object");
    return *scratch.held_;
  }

  std::unique_ptr<held_factors> held_;
};

}  // namespace sptrsv
