// Base classes of the suites: analyse, solve and check on any target.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/host/backward_error.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "sptrsv/solver.hpp"
#include "support/layout.hpp"
#include "support/matrices.hpp"
#include "support/suites.hpp"
#include "support/targets.hpp"

namespace sptrsv::testing {

/// The base of tests that name their policies themselves.
template <class Types>
class on_target : public ::testing::Test {
 public:
  using target = typename Types::target;
  using value_type = typename Types::value;
  using index_type = typename Types::index;
  using offset_type = typename Types::offset;
  using matrix = stored_matrix<value_type, index_type, offset_type>;

  target where;

  static matrix make(const pattern& p, const form& f, std::uint64_t seed = 1) {
    return make_matrix<value_type, index_type, offset_type>(p, f, seed);
  }

  /// Returns the forms that a test tries in its turn `turn`; on a slow target only two of them.
  static std::vector<form> forms_in_turn(std::size_t turn) {
    const std::vector<form> all = covering_forms(turn);
    const std::size_t k = turn / 3 % 3;  // k and k + 3 have the operation in common and nothing else
    return target::is_slow ? std::vector<form>{all[k], all[k + 3]} : all;
  }

  /// Solves with b and x in the layout `shape`. Fills x with a pattern first, and expects it to be left in
  /// the gaps of x.
  template <class Solver>
  std::vector<value_type> solve(Solver& solver, const layout& shape, const std::vector<value_type>& b,
                                value_type alpha = value_type(1)) {
    const auto from = where.upload(b);
    const std::vector<value_type> before = poisoned<value_type>(shape.extent);
    auto to = where.upload(before);
    solver.solve(shape.view(static_cast<const value_type*>(from.data())), shape.view(to.data()), alpha,
                 where.stream());
    std::vector<value_type> x = where.download(to);
    EXPECT_TRUE(gaps_untouched(shape, before, x)) << "wrote between the columns or rows of x";
    EXPECT_TRUE(same_bits(where.download(from), b)) << "wrote to b";
    return x;
  }
  template <class Solver>
  std::vector<value_type> solve(Solver& solver, const std::vector<value_type>& b,
                                value_type alpha = value_type(1)) {
    return solve(solver, single(static_cast<std::int64_t>(b.size())), b, alpha);
  }

  static void expect_solved(const matrix& a, const form& f, const std::string& name, const layout& shape,
                            const std::vector<value_type>& b, const std::vector<value_type>& x,
                            value_type alpha = value_type(1), double growth = 1) {
    const auto result = a.visit([&](const auto& stored) {
      return backward_error(stored, f.options(), shape.view(b.data()), shape.view(x.data()), alpha);
    });
    EXPECT_LE(result.error, growth * result.bound)
        << name << ", " << f.name() << ", " << shape.columns << " columns " << shape.name;
  }
  static void expect_solved(const matrix& a, const form& f, const std::string& name,
                            const std::vector<value_type>& b, const std::vector<value_type>& x,
                            value_type alpha = value_type(1)) {
    expect_solved(a, f, name, single(a.size()), b, x, alpha);
  }

  static bool is_solved(const matrix& a, const form& f, const std::vector<value_type>& b,
                        const std::vector<value_type>& x) {
    const layout shape = single(a.size());
    return a.visit([&](const auto& stored) {
      return backward_error(stored, f.options(), shape.view(b.data()), shape.view(x.data())).ok();
    });
  }

  /// Expects that `x` is a solution; and that it equals `before`, a solution of an equal system, in every bit
  /// if the policy guarantees this.
  template <class Solver>
  static void expect_repeated(const Solver& solver, const matrix& a, const form& f, const std::string& name,
                              const layout& shape, const std::vector<value_type>& b,
                              const std::vector<value_type>& x, const std::vector<value_type>& before) {
    if (solver.info().bit_reproducible) {
      EXPECT_TRUE(same_bits(x, before)) << name << ", " << f.name() << ", " << shape.columns << " columns";
    } else {
      expect_solved(a, f, name, shape, b, x);
    }
  }
  template <class Solver>
  static void expect_repeated(const Solver& solver, const matrix& a, const form& f, const std::string& name,
                              const std::vector<value_type>& b, const std::vector<value_type>& x,
                              const std::vector<value_type>& before) {
    expect_repeated(solver, a, f, name, single(a.size()), b, x, before);
  }

  /// Returns the solution by serial substitution on the host.
  static std::vector<value_type> reference(const matrix& a, const form& f, const std::vector<value_type>& b,
                                           value_type alpha = value_type(1)) {
    return a.visit([&](const auto& stored) {
      auto solver = sptrsv::analyze(policy::host_serial{}, stored, f.options());
      std::vector<value_type> x = poisoned<value_type>(b.size());
      solver.solve(b, x, alpha);
      return x;
    });
  }
};

template <class Types>
class contract : public on_target<Types> {
 public:
  using typename on_target<Types>::matrix;
  using typename on_target<Types>::value_type;

  /// `policy` must outlive the test.
  explicit contract(const tested_policy<Types>& policy) : policy_(policy) {}

  [[nodiscard]] const tested_policy<Types>& policy() const { return policy_; }

  /// Expects a backward error within the bound of the policy.
  void expect_solved(const matrix& a, const form& f, const std::string& name, const layout& shape,
                     const std::vector<value_type>& b, const std::vector<value_type>& x,
                     value_type alpha = value_type(1)) const {
    on_target<Types>::expect_solved(a, f, name, shape, b, x, alpha, policy_.growth);
  }
  void expect_solved(const matrix& a, const form& f, const std::string& name,
                     const std::vector<value_type>& b, const std::vector<value_type>& x,
                     value_type alpha = value_type(1)) const {
    expect_solved(a, f, name, single(a.size()), b, x, alpha);
  }

  /// Returns the forms that this case tries for matrix `i`.
  [[nodiscard]] std::vector<form> forms_for(std::size_t i) const {
    return on_target<Types>::forms_in_turn(i + turn_of(policy_.case_name));
  }

  /// Analyses a copy of `a` in the target's memory; the copy is freed before the call returns.
  any_solver<Types> analyze(const matrix& a, const form& f, std::int64_t max_rhs = 1) {
    return a.visit([&](const auto& stored) {
      const auto there = this->where.upload(stored);
      return policy_.analyze(there, f.options(max_rhs), this->where.stream());
    });
  }

  /// Analyses, solves once and checks.
  void check(const pattern& p, const form& f) {
    const matrix a = this->make(p, f);
    auto solver = analyze(a, f);
    const auto b = random_vector<value_type>(p.size, 7);
    this->expect_solved(a, f, p.name, b, this->solve(solver, b));
  }

 private:
  const tested_policy<Types>& policy_;
};

/// The base of the tests of one policy.
template <class Case>
class contract_of : public contract<typename Case::types> {
 public:
  contract_of() : contract<typename Case::types>(policy_of<Case>()) {}
};

}  // namespace sptrsv::testing
