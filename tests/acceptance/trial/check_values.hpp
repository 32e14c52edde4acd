// Solves with numbers that arithmetic treats in a way of its own: each component must be finite, infinite or
// NaN as in serial substitution on the host, and the status must name the first row that is not finite.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "drawn_systems.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "support/any_solver.hpp"
#include "support/layout.hpp"
#include "support/matrices.hpp"
#include "trial.hpp"

namespace sptrsv_trial {

/// Draws and checks one system for one policy.
template <class Types>
class values_case {
  using value = typename Types::value;
  using real = sptrsv::detail::real_t<value>;
  using limits = std::numeric_limits<real>;
  using kind = sptrsv::solve_status::kind;
  using host_matrix = support::stored_matrix<value, typename Types::index, typename Types::offset>;
  using policy_type = support::tested_policy<Types>;
  static constexpr int solves = 4;

 public:
  values_case(const policy_type& policy, std::uint64_t seed, mode_log& log)
      : policy_(policy), log_(log), source_(source_of_case(seed, policy.case_name)) {
    pattern_ = support::draw_pattern(source_);
    form_ = support::draw_form(source_);
    max_rhs_ = 1 + source_.below(3);
    id_ = {seed, policy.case_name,
           pattern_.name + ", " + form_.name() + ", max_rhs " + std::to_string(max_rhs_)};
    moderate_ = support::make_matrix<value, typename Types::index, typename Types::offset>(pattern_, form_,
                                                                                           source_.bits());
  }

  /// Solves with drawn values, some given to `analyze` and the others to `update_values`.
  void run() {
    log_.count_case();
    host_matrix a = with_extremes();
    auto solver = a.visit([&](const auto& stored) {
      const auto there = where_.upload(stored);
      return policy_.analyze(there, form_.options(max_rhs_), where_.stream());
    });
    for (int k = 0; k < solves; ++k) {
      if (k > 0) {
        a = source_.below(4) == 0 ? moderate_ : with_extremes();
        solver.update_values(where_.upload(a.values()), where_.stream());
      }
      solve(solver, a);
    }
    const std::string left = where_.error();
    log_.expect(left.empty(), id_, "CUDA holds the error " + left);
  }

  [[nodiscard]] const case_id& id() const { return id_; }

 private:
  /// Draws a number that is not finite, or zero.
  value draw_extreme() {
    switch (source_.below(6)) {
      case 0:
        return support::make_value<value>(limits::quiet_NaN());
      case 1:
        return support::make_value<value>(limits::infinity());
      case 2:
        return support::make_value<value>(-limits::infinity());
      case 3:
        return support::make_value<value>(-0.0);
      case 4:
        return support::from_bytes<value>(0xff);  // the NaN that marks unsolved values
      default:
        return value(0);
    }
  }
  value draw_subnormal() {
    return support::make_value<value>((source_.coin() ? 1 : -1) * limits::denorm_min() *
                                      static_cast<double>(1 + source_.below(1000)));
  }
  value draw_alpha() {
    return source_.coin() ? value(1) : source_.coin() ? draw_extreme() : support::make_value<value>(-1.5);
  }

  /// Replaces a few of some numbers.
  void spoil(std::vector<value>& numbers) {
    for (std::int64_t count = source_.below(4); count > 0 && !numbers.empty(); --count) {
      numbers[static_cast<std::size_t>(source_.below(static_cast<std::int64_t>(numbers.size())))] =
          draw_extreme();
    }
  }

  /// Returns the system with a few other values. Subnormal numbers are for real types and for policies that
  /// follow the order of substitution: with others an overflow by a small pivot may differ.
  host_matrix with_extremes() {
    host_matrix a = moderate_;
    spoil(a.values());
    for (std::int64_t count = source_.below(3); form_.stores_diagonal && count > 0 && pattern_.size > 0;
         --count) {
      const std::int64_t row = source_.below(pattern_.size);
      a.set(row, row, source_.coin() ? value(0) : support::make_value<value>(-0.0));
    }
    if (!support::is_complex<value> && policy_.growth == 1 && !a.values().empty()) {
      for (std::int64_t count = source_.below(3); count > 0; --count) {
        a.values()[static_cast<std::size_t>(source_.below(static_cast<std::int64_t>(a.values().size())))] =
            draw_subnormal();
      }
    }
    return a;
  }

  /// Returns the class of a component: 0 finite, else as far as policies must agree with substitution.
  [[nodiscard]] int class_of(const value& v) const {
    if (sptrsv::detail::is_finite(sptrsv::detail::load_scalar(sptrsv::detail::as_scalar(&v)))) {
      return 0;
    }
    if constexpr (!support::is_complex<value>) {
      if (policy_.growth == 1) {
        return std::isnan(v) ? 2 : v > 0 ? 3 : 4;
      }
    }
    return 1;
  }

  /// Returns the solution by serial substitution.
  std::vector<value> reference(const host_matrix& a, const support::layout& shape,
                               const std::vector<value>& b, value alpha) const {
    return a.visit([&](const auto& stored) {
      auto solver = sptrsv::analyze(sptrsv::policy::host_serial{}, stored, form_.options(max_rhs_));
      std::vector<value> x = support::poisoned<value>(shape.extent);
      solver.solve(shape.view(b.data()), shape.view(x.data()), alpha);
      return x;
    });
  }

  template <class Solver>
  void solve(Solver& solver, const host_matrix& a) {
    const support::layout shape = support::column_major(pattern_.size, 1 + source_.below(max_rhs_));
    auto b = support::random_vector<value>(static_cast<std::int64_t>(shape.extent), source_.bits());
    if (source_.coin()) {
      spoil(b);
    }
    const value alpha = draw_alpha();
    const auto from = where_.upload(b);
    auto to = where_.upload(support::poisoned<value>(shape.extent));
    solver.solve(shape.view(static_cast<const value*>(from.data())), shape.view(to.data()), alpha,
                 where_.stream());
    const std::vector<value> x = where_.download(to);
    const std::vector<value> expected = reference(a, shape, b, alpha);
    log_.count_solve(x.size());
    std::string differing;
    for (std::size_t i = 0; i < x.size() && differing.empty(); ++i) {
      if (class_of(x[i]) != class_of(expected[i])) {
        differing = "element " + std::to_string(i) + " of x has the class " + std::to_string(class_of(x[i])) +
                    " instead of " + std::to_string(class_of(expected[i]));
      }
    }
    log_.expect(differing.empty(), id_, differing);
    check_status(solver.status(where_.stream()), a, shape, expected);
  }

  void check_status(const sptrsv::solve_status& status, const host_matrix& a, const support::layout& shape,
                    const std::vector<value>& expected) {
    const bool ascending = (form_.part == sptrsv::uplo::lower) == (form_.operation == sptrsv::op::none);
    std::optional<std::int64_t> first;
    for (std::int64_t k = 0; k < shape.rows && !first; ++k) {
      const std::int64_t row = ascending ? k : shape.rows - 1 - k;
      for (std::int64_t j = 0; j < shape.columns; ++j) {
        if (class_of(expected[shape.at(row, j)]) != 0) {
          first = row;
        }
      }
    }
    kind code = kind::ok;
    if (first) {
      const bool zero_pivot =
          form_.diagonal == sptrsv::diag::non_unit && a.values()[a.index_of(*first, *first)] == value(0);
      code = zero_pivot ? kind::zero_pivot : kind::non_finite;
    } else if (policy_.growth > 1 && status.code == kind::growth) {
      return;  // the values do not suit the plan
    }
    log_.expect(status.code == code && status.row == first, id_,
                "the status is " + std::to_string(static_cast<int>(status.code)) + " of row " +
                    std::to_string(status.row.value_or(-1)) + " instead of " +
                    std::to_string(static_cast<int>(code)) + " of row " + std::to_string(first.value_or(-1)));
  }

  const policy_type& policy_;
  mode_log& log_;
  support::random_source source_;
  support::pattern pattern_;
  support::form form_;
  std::int64_t max_rhs_ = 1;
  case_id id_;
  host_matrix moderate_;
  typename Types::target where_;
};

}  // namespace sptrsv_trial
