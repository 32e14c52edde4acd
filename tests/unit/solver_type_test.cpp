// The type of a solver has a name, so that a class may have a solver as a member.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptrsv/policy/host_parallel.hpp"
#include "sptrsv/policy/host_serial.hpp"

namespace sptrsv::testing {
namespace {

template <class Policy, class Matrix>
using analysed = decltype(analyze(std::declval<const Policy&>(), std::declval<const Matrix&>()));

// analyze returns the solver of the policy and of the types of the matrix, and the defaults are those types.
static_assert(std::is_same_v<analysed<policy::host_serial, csr_matrix<double>>,  //
                             solver<policy::host_serial, double>>);
static_assert(std::is_same_v<analysed<policy::host_serial, csc_view<std::complex<float>>>,
                             solver<policy::host_serial, std::complex<float>>>);
static_assert(std::is_same_v<analysed<policy::host_parallel, csr_matrix<float, std::int64_t>>,
                             solver<policy::host_parallel, float, std::int64_t>>);
static_assert(std::is_same_v<analysed<policy::host_parallel, csr_view<double, std::int32_t, std::int64_t>>,
                             solver<policy::host_parallel, double, std::int32_t, std::int64_t>>);
static_assert(std::is_same_v<solver<policy::host_serial, double>,
                             solver<policy::host_serial, double, std::int32_t, std::int32_t, host_stream>>);

// A solver is ready, and owns what it needs.
static_assert(!std::is_default_constructible_v<solver<policy::host_serial, double>>);
static_assert(!std::is_copy_constructible_v<solver<policy::host_serial, double>>);
static_assert(std::is_nothrow_move_constructible_v<solver<policy::host_serial, double>>);
static_assert(std::is_nothrow_move_assignable_v<solver<policy::host_serial, double>>);

csr_matrix<double> diagonal(double value) { return {2, 2, {0, 1, 2}, {0, 1}, {value, value}}; }

/// A member that analyze initialises.
class preconditioner {
 public:
  explicit preconditioner(const csr_matrix<double>& lower) : solver_(analyze(policy::host_serial{}, lower)) {}

  std::vector<double> apply(const std::vector<double>& r) {
    std::vector<double> z(r.size());
    solver_.solve(r, z);
    return z;
  }

 private:
  solver<policy::host_serial, double> solver_;
};

/// A member that is empty until there is a matrix.
struct late_preconditioner {
  std::optional<solver<policy::host_parallel, double>> lower;
};

TEST(SolverType, IsThatOfAMember) {
  preconditioner first(diagonal(2));
  EXPECT_EQ(first.apply({4, 6}), (std::vector<double>{2, 3}));
  preconditioner moved = std::move(first);
  EXPECT_EQ(moved.apply({8, 2}), (std::vector<double>{4, 1}));
  moved = preconditioner(diagonal(4));
  EXPECT_EQ(moved.apply({8, 4}), (std::vector<double>{2, 1}));
}

TEST(SolverType, MayBeOptional) {
  late_preconditioner late;
  EXPECT_FALSE(late.lower.has_value());
  late.lower = analyze(policy::host_parallel{}, diagonal(2));
  std::vector<double> x{2, 4};
  late.lower->solve(x, x);
  EXPECT_EQ(x, (std::vector<double>{1, 2}));
  late.lower.emplace(analyze(policy::host_parallel{}, diagonal(4)));
  late.lower->solve(x, x);
  EXPECT_EQ(x, (std::vector<double>{0.25, 0.5}));
}

TEST(SolverType, RefusesAWorkspaceThatWasMovedFrom) {
  auto solver = analyze(policy::host_parallel{2}, diagonal(2));
  auto first = solver.make_workspace();
  auto second = std::move(first);
  std::vector<double> x{2, 4};
  solver.solve(x, x, 1.0, second);
  EXPECT_EQ(x, (std::vector<double>{1, 2}));
  const auto refused = [](const auto& call) {
    try {
      call();
    } catch (const error& e) {
      return e.code() == errc::invalid_argument;
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { solver.solve(x, x, 1.0, first); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(solver.status(first)); }));
  first = std::move(second);
  solver.solve(x, x, 1.0, first);
  EXPECT_EQ(x, (std::vector<double>{0.5, 1}));
  EXPECT_TRUE(refused([&] { solver.solve(x, x, 1.0, second); }));
}

}  // namespace
}  // namespace sptrsv::testing
