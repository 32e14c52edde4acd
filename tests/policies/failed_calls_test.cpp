// Calls of factors, sweeps, incomplete factorisations and batches that fail half way: later calls are right,
// or refuse to work. For solvers see contract/resource_suite.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sptrsv/batched.hpp"
#include "sptrsv/factors.hpp"
#include "sptrsv/incomplete_cholesky.hpp"
#include "sptrsv/incomplete_lu.hpp"
#include "sptrsv/policy.hpp"
#include "sptrsv/policy/dataflow.hpp"
#include "sptrsv/sweeps.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {
namespace {

constexpr std::int32_t size = 40;

/// A symmetric matrix of five diagonals.
csr_matrix<double> five_diagonals() {
  csr_matrix<double> a{size, size, {0}, {}, {}};
  for (std::int32_t row = 0; row < size; ++row) {
    for (const std::int32_t column : {row - 7, row - 1, row, row + 1, row + 7}) {
      if (column >= 0 && column < size) {
        a.column_indices.push_back(column);
        a.values.push_back(column == row ? 5 + row % 3 : -1);
      }
    }
    a.row_offsets.push_back(static_cast<std::int32_t>(a.column_indices.size()));
  }
  return a;
}

class FailedCalls : public ::testing::Test {
 protected:
  using vector = std::vector<double>;

  FailedCalls() {
    for (std::size_t e = 0; e < matrix.values.size(); ++e) {
      new_values.push_back(matrix.values[e] * (e % 2 == 0 ? 1.5 : 1.25));
    }
    for (int i = 0; i < 2 * size; ++i) {
      rhs.push_back(1 + i % 5);
    }
  }

  /// Calls `call` until it succeeds, with a failure one call of the executor later each time. After each
  /// failure calls `after`.
  template <class Call, class After>
  void fail_everywhere(const Call& call, const After& after) {
    bool fails = true;
    for (std::int64_t k = 0; fails; ++k) {
      where.device().calls_before_failure = k;
      try {
        call();
        fails = false;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::cuda_error) << e.what();
      }
      where.device().calls_before_failure = -1;
      if (fails) {
        after();
      }
    }
  }
  /// Tries failures of `apply`, which writes x, and of `update`, which takes values.
  template <class Apply, class Update>
  void try_failures(const Apply& apply, const Update& update) {
    const auto solution = [&] {
      where.overwrite(x, vector(x.size(), -1));
      apply();
      return where.download(x);
    };
    const auto old_values = where.upload(matrix.values);
    const auto values = where.upload(new_values);
    const vector before = solution();
    fail_everywhere(apply, [&] { EXPECT_EQ(solution(), before); });
    EXPECT_EQ(solution(), before);
    update(values);
    const vector after = solution();
    EXPECT_NE(after, before);
    update(old_values);
    fail_everywhere([&] { update(values); },
                    [&] {
                      EXPECT_THROW(apply(), error);
                      update(values);
                      EXPECT_EQ(solution(), after);
                      update(old_values);
                      EXPECT_EQ(solution(), before);
                    });
    EXPECT_EQ(solution(), after);
  }

  emulator_target where;
  csr_matrix<double> matrix = five_diagonals();
  vector new_values;
  vector rhs;
  device_csr_matrix<double> there = where.upload(matrix);
  buffer<double> x = where.upload(vector(2 * size, -1));
};

TEST_F(FailedCalls, OfFactors) {
  const auto b = where.upload(rhs);
  std::vector<std::int32_t> order(size);
  for (std::int32_t i = 0; i < size; ++i) {
    order[static_cast<std::size_t>(i)] = (i * 7) % size;
  }
  const auto permutation = where.upload(order);
  for (const op transposed : {op::none, op::transpose}) {
    factors_options<double> options;
    options.max_rhs = 2;
    options.transposed = transposed;
    options.row_order = span<const std::int32_t>(permutation.data(), permutation.size());
    auto of = analyze_factors(policy::level_set{}, there, options, where.stream());
    try_failures(
        [&] {
          const auto from = dense_view<const double>::column_major(b.data(), size, 2, size);
          const auto to = dense_view<double>::column_major(x.data(), size, 2, size);
          transposed == op::none ? of.apply(from, to, where.stream())
                                 : of.apply_transpose(from, to, where.stream());
        },
        [&](const auto& values) { of.update_values(values, where.stream()); });
  }
}

TEST_F(FailedCalls, OfSweeps) {
  const auto b = where.upload(rhs);
  for (const double relaxation : {1.0, 1.25}) {
    sweep_options options;
    options.relaxation = relaxation;
    auto of = analyze_sweeps(policy::dataflow{}, there, options, where.stream());
    const span<const double> from(b.data(), size);
    const span<double> to(x.data(), size);
    const auto update = [&](const auto& values) { of.update_values(values, where.stream()); };
    try_failures([&] { of.apply(from, to, where.stream()); }, update);
    of.update_values(there.values, where.stream());
    try_failures(
        [&] {
          where.overwrite(x, std::vector<double>(x.size(), 0.5));
          of.relax(sweep_direction::symmetric, from, to, 2, where.stream());
        },
        update);
  }
}

template <class Factorization, class Where>
std::vector<double> factors_of(const Factorization& of, Where& where, std::size_t count) {
  std::vector<double> values(count);
  where.on().download(values.data(), of.values().data(), count * sizeof(double));
  return values;
}

TEST_F(FailedCalls, OfIncompleteFactorisations) {
  const auto old_values = where.upload(matrix.values);
  const auto values = where.upload(new_values);
  const auto try_method = [&](auto of) {
    const auto count = static_cast<std::size_t>(of.info().factor_entries);
    of.factorize(values, where.stream());
    const std::vector<double> right = factors_of(of, where, count);
    of.factorize(old_values, where.stream());
    fail_everywhere([&] { of.factorize(values, where.stream()); },
                    [&] {
                      EXPECT_THROW(static_cast<void>(of.status(where.stream())), error);
                      EXPECT_THROW(static_cast<void>(of.view(there)), error);
                      of.factorize(values, where.stream());
                      EXPECT_TRUE(of.status(where.stream()).ok());
                      EXPECT_EQ(factors_of(of, where, count), right);
                      of.factorize(old_values, where.stream());
                    });
    EXPECT_EQ(factors_of(of, where, count), right);
  };
  for (const std::int64_t level : {0, 1}) {
    const auto options = incomplete_options::fill(level);
    try_method(analyze_incomplete_lu(there, options, where.stream()));
    try_method(analyze_incomplete_cholesky(there, options, where.stream()));
  }
}

/// Values of a batch are replaced by one launch: after a failure the values of before are there.
TEST_F(FailedCalls, OfBatches) {
  const auto b = where.upload(rhs);
  batch_options batch;
  batch.systems = 2;
  std::vector<double> both = matrix.values;
  both.insert(both.end(), new_values.begin(), new_values.end());
  const auto old_values = where.upload(both);
  std::rotate(both.begin(), both.begin() + static_cast<std::ptrdiff_t>(new_values.size()), both.end());
  const auto values = where.upload(both);
  auto of = analyze_batch(there, old_values, batch, {}, where.stream());
  const auto apply = [&] {
    of.solve(batch_view<const double>::contiguous(b.data(), 2, size, 1),
             batch_view<double>::contiguous(x.data(), 2, size, 1), where.stream());
  };
  const auto solution = [&] {
    where.overwrite(x, std::vector<double>(x.size(), -1));
    apply();
    return where.download(x);
  };
  const auto before = solution();
  fail_everywhere(apply, [&] { EXPECT_EQ(solution(), before); });
  fail_everywhere([&] { of.update_values(values, where.stream()); }, [&] { EXPECT_EQ(solution(), before); });
  EXPECT_NE(solution(), before);
}

}  // namespace
}  // namespace sptrsv::testing
