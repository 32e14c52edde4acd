// Factors of CHOLMOD as matrices of the library.
#include "sptrsv/interop/cholmod.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "sptrsv/policy/host_serial.hpp"
#include "sptrsv/policy/supernodal.hpp"
#include "support/emulator_target.hpp"
#include "support/matrices.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {
namespace {

using z = std::complex<double>;

/// A Hermitian matrix whose diagonal dominates, in host memory: the lower triangle by columns.
template <class Value, class Index>
csc_matrix<Value, Index> positive_definite(const pattern& p) {
  form f;
  f.by_columns = true;
  auto a = make_matrix<Value, Index, Index>(p, f).by_columns;
  for (std::size_t j = 0; j < static_cast<std::size_t>(p.size); ++j) {
    for (auto e = static_cast<std::size_t>(a.column_offsets[j]);
         e < static_cast<std::size_t>(a.column_offsets[j + 1]); ++e) {
      if (a.row_indices[e] == static_cast<Index>(j)) {
        a.values[e] = Value(4);
      }
    }
  }
  return a;
}

/// CHOLMOD's functions for 32-bit or 64-bit indices.
template <class Index>
struct cholmod_of;
template <>
struct cholmod_of<std::int32_t> {
  static constexpr int itype = CHOLMOD_INT;
  static constexpr auto start = cholmod_start;
  static constexpr auto finish = cholmod_finish;
  static constexpr auto analyze = cholmod_analyze;
  static constexpr auto factorize = cholmod_factorize;
  static constexpr auto free_factor = cholmod_free_factor;
};
template <>
struct cholmod_of<std::int64_t> {
  static constexpr int itype = CHOLMOD_LONG;
  static constexpr auto start = cholmod_l_start;
  static constexpr auto finish = cholmod_l_finish;
  static constexpr auto analyze = cholmod_l_analyze;
  static constexpr auto factorize = cholmod_l_factorize;
  static constexpr auto free_factor = cholmod_l_free_factor;
};

/// Owns a factor of a matrix.
template <class Value, class Index>
class factored {
 public:
  factored(csc_matrix<Value, Index> a, bool supernodal, bool ll = true, bool numeric = true)
      : a_(std::move(a)) {
    cholmod_of<Index>::start(&common_);
    common_.supernodal = supernodal ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    common_.final_ll = ll ? 1 : 0;
    common_.print = 0;
    cholmod_sparse s{};
    s.nrow = s.ncol = static_cast<std::size_t>(a_.rows);
    s.nzmax = a_.values.size();
    s.p = a_.column_offsets.data();
    s.i = a_.row_indices.data();
    s.x = a_.values.data();
    s.stype = -1;
    s.itype = cholmod_of<Index>::itype;
    s.xtype = is_complex<Value> ? CHOLMOD_COMPLEX : CHOLMOD_REAL;
    s.dtype = CHOLMOD_DOUBLE;
    s.packed = 1;
    factor_ = cholmod_of<Index>::analyze(&s, &common_);
    if (numeric) {
      cholmod_of<Index>::factorize(&s, factor_, &common_);
    }
  }
  ~factored() {
    cholmod_of<Index>::free_factor(&factor_, &common_);
    cholmod_of<Index>::finish(&common_);
  }
  factored(const factored&) = delete;
  factored& operator=(const factored&) = delete;

  [[nodiscard]] const cholmod_factor& factor() const { return *factor_; }

  /// Expects that x solves A x = b.
  void expect_solved(const std::vector<Value>& x, const std::vector<Value>& b) const {
    std::vector<Value> residual = b;
    for (std::size_t j = 0; j < x.size(); ++j) {
      for (auto e = static_cast<std::size_t>(a_.column_offsets[j]);
           e < static_cast<std::size_t>(a_.column_offsets[j + 1]); ++e) {
        const auto i = static_cast<std::size_t>(a_.row_indices[e]);
        residual[i] -= a_.values[e] * x[j];
        if (i != j) {
          residual[j] -= conjugate(a_.values[e]) * x[i];
        }
      }
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_LE(std::abs(residual[i]), 100 * std::numeric_limits<double>::epsilon()) << i;
    }
  }

 private:
  static Value conjugate(const Value& v) {
    if constexpr (is_complex<Value>) {
      return std::conj(v);
    } else {
      return v;
    }
  }

  csc_matrix<Value, Index> a_;
  cholmod_common common_;
  cholmod_factor* factor_;
};

/// Returns v[permutation[k]], or, if `back`, the inverse.
template <class Value, class Index>
std::vector<Value> permuted(const std::vector<Value>& v, const std::vector<Index>& permutation,
                            bool back = false) {
  std::vector<Value> made(v.size());
  for (std::size_t k = 0; k < v.size(); ++k) {
    const auto i = static_cast<std::size_t>(permutation[k]);
    made[back ? i : k] = v[back ? k : i];
  }
  return made;
}

/// Solves with a copy of L in the emulator's device.
template <class Value, class Index, class Policy, class Matrix>
std::vector<Value> solve_with(const Policy& policy, const Matrix& l, const std::vector<Value>& b,
                              const system_options& options) {
  emulator_target where;
  const auto there = to_device(l, where.stream());
  auto solver = analyze(policy, there, options, where.stream());
  const auto from = where.upload(b);
  auto x = where.upload(b);
  solver.solve(from, x, where.stream());
  return where.download(x);
}

template <class Value>
std::vector<Value> solve_on_host(const csc_matrix<Value, std::int64_t>& l, const std::vector<Value>& b,
                                 const system_options& options) {
  auto solver = analyze(policy::host_serial{}, l, options);
  std::vector<Value> x(b.size());
  solver.solve(b, x);
  return x;
}

TEST(Cholmod, SupernodalFactorsAreSolvedFromTheirPanels) {
  const pattern p = patterns::stencil_2d(13, 12);
  const factored<double, std::int32_t> f(positive_definite<double, std::int32_t>(p), true);
  ASSERT_NE(f.factor().is_super, 0);
  const auto panels = interop::supernodal_of<double, std::int32_t>(f.factor());
  EXPECT_LT(panels.supernodes, p.size);
  const auto permutation = interop::permutation_of<std::int32_t>(f.factor());
  const auto b = random_vector<double>(p.size, 3);
  const auto y = solve_with<double, std::int32_t>(policy::supernodal{}, panels, permuted(b, permutation), {});
  const auto x = solve_with<double, std::int32_t>(policy::supernodal{}, panels, y,
                                                  {uplo::lower, diag::non_unit, op::transpose});
  f.expect_solved(permuted(x, permutation, true), b);
}

/// The panels of a complex factor, with 64-bit indices, have the values of the simplicial one.
TEST(Cholmod, PanelsHoldTheFactor) {
  const auto a = positive_definite<z, std::int64_t>(patterns::stencil_2d(9, 8));
  const factored<z, std::int64_t> supernodal(a, true);
  const auto panels = interop::supernodal_of<z, std::int64_t>(supernodal.factor());
  std::vector<z> product(static_cast<std::size_t>(a.rows * a.rows));
  for (std::int64_t s = 0; s < panels.supernodes; ++s) {
    const std::int64_t first = panels.first_columns[s];
    const std::int64_t* rows = panels.row_indices + panels.row_offsets[s];
    const std::int64_t height = panels.row_offsets[s + 1] - panels.row_offsets[s];
    for (std::int64_t j = 0; j < panels.first_columns[s + 1] - first; ++j) {
      const z* column = panels.values + panels.value_offsets[s] + j * height;
      for (std::int64_t i = j; i < height; ++i) {
        for (std::int64_t k = j; k < height; ++k) {
          product[static_cast<std::size_t>(rows[i] * a.rows + rows[k])] += column[i] * std::conj(column[k]);
        }
      }
    }
  }
  const auto permutation = interop::permutation_of<std::int64_t>(supernodal.factor());
  std::vector<z> expected(product.size());
  for (std::size_t j = 0; j < static_cast<std::size_t>(a.rows); ++j) {
    for (auto e = a.column_offsets[j]; e < a.column_offsets[j + 1]; ++e) {
      const auto i = static_cast<std::size_t>(a.row_indices[static_cast<std::size_t>(e)]);
      const z value = a.values[static_cast<std::size_t>(e)];
      expected[i * static_cast<std::size_t>(a.rows) + j] = value;
      expected[j * static_cast<std::size_t>(a.rows) + i] = std::conj(value);
    }
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(a.rows); ++j) {
      const auto of_a = expected[static_cast<std::size_t>(permutation[i]) * static_cast<std::size_t>(a.rows) +
                                 static_cast<std::size_t>(permutation[j])];
      EXPECT_LE(std::abs(product[i * static_cast<std::size_t>(a.rows) + j] - of_a),
                100 * std::numeric_limits<double>::epsilon());
    }
  }
}

TEST(Cholmod, SimplicialFactorsAreCopied) {
  const pattern p = patterns::stencil_2d(9, 8);
  for (const bool ll : {true, false}) {
    const factored<z, std::int64_t> f(positive_definite<z, std::int64_t>(p), false, ll);
    const auto made = interop::simplicial_of<z, std::int64_t>(f.factor());
    EXPECT_EQ(made.d.size(), ll ? 0u : static_cast<std::size_t>(p.size));
    const auto permutation = interop::permutation_of<std::int64_t>(f.factor());
    const auto b = random_vector<z>(p.size, 3);
    auto y = solve_on_host(made.l, permuted(b, permutation), {});
    for (std::size_t i = 0; i < made.d.size(); ++i) {
      y[i] /= made.d[i];
    }
    const auto x = solve_on_host(made.l, y, {uplo::lower, diag::non_unit, op::conj_transpose});
    f.expect_solved(permuted(x, permutation, true), b);
  }
}

TEST(Cholmod, OtherFactorsAreRefused) {
  const pattern p = patterns::stencil_2d(5, 4);
  const auto a = positive_definite<double, std::int32_t>(p);
  const factored<double, std::int32_t> supernodal(a, true);
  const factored<double, std::int32_t> simplicial(a, false);
  const factored<double, std::int32_t> symbolic(a, true, true, false);
  auto indefinite = a;
  indefinite.values[0] = -1;
  const factored<double, std::int32_t> failed(indefinite, true);
  const auto expect = [](const std::string& part, const auto& call) {
    const auto seen = failure::of(call);
    ASSERT_TRUE(seen.has_value()) << part;
    EXPECT_EQ(seen->code, errc::invalid_argument) << part;
    EXPECT_NE(seen->message.find(part), std::string::npos) << seen->message;
  };
  expect("simplicial", [&] { interop::supernodal_of<double, std::int32_t>(simplicial.factor()); });
  expect("supernodal", [&] { interop::simplicial_of<double, std::int32_t>(supernodal.factor()); });
  expect("symbolic", [&] { interop::supernodal_of<double, std::int32_t>(symbolic.factor()); });
  expect("std::complex<double>", [&] { interop::supernodal_of<z, std::int32_t>(supernodal.factor()); });
  expect("64 bits", [&] { interop::supernodal_of<double, std::int64_t>(supernodal.factor()); });
  expect("64 bits", [&] { interop::permutation_of<std::int64_t>(supernodal.factor()); });
  expect("not positive definite", [&] { interop::supernodal_of<double, std::int32_t>(failed.factor()); });
}

}  // namespace
}  // namespace sptrsv::testing
