// What the contract's suites share: to analyse, solve and check on any target.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sptrsv/host/backward_error.hpp"
#include "support/layout.hpp"
#include "support/matrices.hpp"
#include "support/subjects.hpp"
#include "support/targets.hpp"

namespace sptrsv::testing {

template <class Case>
class contract : public ::testing::Test {
 public:
  using target = typename Case::target;
  using value_type = typename Case::value;
  using index_type = typename Case::index;
  using offset_type = typename Case::offset;
  using matrix = stored_matrix<value_type, index_type, offset_type>;

  target where;

  static matrix make(const pattern& p, const form& f, std::uint64_t seed = 1) {
    return make_matrix<value_type, index_type, offset_type>(p, f, seed);
  }

  /// The forms that this case tries for the matrix number `i`; a slow target leaves most to other cases.
  static std::vector<form> forms_for(std::size_t i) {
    const std::size_t turn = i + Case::turn();
    const std::vector<form> all = covering_forms(turn);
    const std::size_t k = turn / 3 % 3;  // k and k + 3 have the operation in common and nothing else
    return target::is_slow ? std::vector<form>{all[k], all[k + 3]} : all;
  }

  /// The target's copy of `a` does not outlive the call.
  auto analyze(const matrix& a, const form& f, std::int64_t max_rhs = 1) {
    return a.visit([&](const auto& stored) {
      const auto there = where.upload(stored);
      return sptrsv::analyze(Case::subject::make(), there, f.options(max_rhs), where.stream());
    });
  }

  /// b and x as `shape` says; x was poisoned, and its gaps must still be.
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
                            value_type alpha = value_type(1)) {
    const auto result = a.visit([&](const auto& stored) {
      return backward_error(stored, f.options(), shape.view(b.data()), shape.view(x.data()), alpha);
    });
    EXPECT_LE(result.error, result.bound)
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

  /// `x` is a solution, and where the policy promises it the same in every bit as `before`, that of an equal
  /// system.
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

  /// Analyses, solves once and checks.
  void check(const pattern& p, const form& f) {
    const matrix a = make(p, f);
    auto solver = analyze(a, f);
    const auto b = random_vector<value_type>(p.size, 7);
    expect_solved(a, f, p.name, b, solve(solver, b));
  }

  /// What serial substitution on the host gives.
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

}  // namespace sptrsv::testing
