// Factors of SuperLU as matrices of the library.
#include "sptrsv/interop/superlu.hpp"

#include <gtest/gtest.h>
#include <slu_zdefs.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sptrsv/policy/host_serial.hpp"
#include "sptrsv/policy/supernodal.hpp"
#include "support/emulator_target.hpp"
#include "support/matrices.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {
namespace {

using z = std::complex<double>;

/// An unsymmetric matrix, in host memory, by columns: the pattern and its transpose, with random values.
/// Small diagonal entries make SuperLU choose other pivots.
template <class Value>
csc_matrix<Value> unsymmetric(const pattern& p) {
  std::vector<std::vector<int>> rows(static_cast<std::size_t>(p.size));
  for (std::int64_t i = 0; i < p.size; ++i) {
    rows[static_cast<std::size_t>(i)].push_back(static_cast<int>(i));
  }
  for (const position& e : p.entries) {
    rows[static_cast<std::size_t>(e.column)].push_back(static_cast<int>(e.row));
    rows[static_cast<std::size_t>(e.row)].push_back(static_cast<int>(e.column));
  }
  csc_matrix<Value> a{p.size, p.size, {0}, {}, {}};
  for (std::vector<int>& column : rows) {
    std::sort(column.begin(), column.end());
    a.row_indices.insert(a.row_indices.end(), column.begin(), column.end());
    a.column_offsets.push_back(static_cast<int>(a.row_indices.size()));
  }
  a.values = random_vector<Value>(static_cast<std::int64_t>(a.row_indices.size()), 5);
  return a;
}

/// SuperLU's functions for a type of values.
template <class Value>
struct superlu_of;
template <>
struct superlu_of<double> {
  static constexpr auto create = dCreate_CompCol_Matrix;
  static constexpr auto create_dense = dCreate_Dense_Matrix;
  static constexpr auto solve = dgssv;
  static double* data(double* values) { return values; }
};
template <>
struct superlu_of<z> {
  static constexpr auto create = zCreate_CompCol_Matrix;
  static constexpr auto create_dense = zCreate_Dense_Matrix;
  static constexpr auto solve = zgssv;
  static doublecomplex* data(z* values) { return reinterpret_cast<doublecomplex*>(values); }
};

/// Owns the factors of a matrix.
template <class Value>
class factored {
 public:
  explicit factored(csc_matrix<Value> a)
      : a_(std::move(a)),
        perm_r(static_cast<std::size_t>(a_.rows)),
        perm_c(static_cast<std::size_t>(a_.rows)),
        size(static_cast<int>(a_.rows)) {
    using superlu = superlu_of<Value>;
    superlu_options_t options;
    set_default_options(&options);
    options.ColPerm = COLAMD;
    SuperLUStat_t stat;
    StatInit(&stat);
    SuperMatrix matrix{};
    SuperMatrix b{};
    std::vector<Value> ones(perm_r.size(), Value(1));
    const Dtype_t type = interop::detail::superlu_type<Value>();
    superlu::create(&matrix, size, size, static_cast<int>(a_.values.size()), superlu::data(a_.values.data()),
                    a_.row_indices.data(), a_.column_offsets.data(), SLU_NC, type, SLU_GE);
    superlu::create_dense(&b, size, 1, superlu::data(ones.data()), size, SLU_DN, type, SLU_GE);
    int info = 0;
    superlu::solve(&options, &matrix, perm_c.data(), perm_r.data(), &l, &u, &b, &stat, &info);
    EXPECT_EQ(info, 0);
    Destroy_SuperMatrix_Store(&matrix);
    Destroy_SuperMatrix_Store(&b);
    StatFree(&stat);
  }
  ~factored() {
    Destroy_SuperNode_Matrix(&l);
    Destroy_CompCol_Matrix(&u);
  }
  factored(const factored&) = delete;
  factored& operator=(const factored&) = delete;

  /// Expects that x solves A x = b.
  void expect_solved(const std::vector<Value>& x, const std::vector<Value>& b) const {
    std::vector<Value> residual = b;
    std::vector<double> scale(b.size());
    for (std::size_t j = 0; j < x.size(); ++j) {
      for (auto e = static_cast<std::size_t>(a_.column_offsets[j]);
           e < static_cast<std::size_t>(a_.column_offsets[j + 1]); ++e) {
        const auto i = static_cast<std::size_t>(a_.row_indices[e]);
        residual[i] -= a_.values[e] * x[j];
        scale[i] += std::abs(a_.values[e] * x[j]);
      }
    }
    const double largest = *std::max_element(scale.begin(), scale.end());
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_LE(std::abs(residual[i]), 1000 * std::numeric_limits<double>::epsilon() * largest) << i;
    }
  }

 private:
  csc_matrix<Value> a_;

 public:
  SuperMatrix l{};
  SuperMatrix u{};
  std::vector<int> perm_r;
  std::vector<int> perm_c;
  int size;
};

/// Solves A x = b by both factors: L on the emulator's device, U on the host.
template <class Value>
std::vector<Value> solve(const factored<Value>& f, const std::vector<Value>& b) {
  emulator_target where;
  const auto panels = interop::supernodal_of<Value>(f.l);
  const auto l = to_device(panels.view(), where.stream());
  auto forward = analyze(policy::supernodal{}, l, {uplo::lower, diag::unit}, where.stream());
  const auto row_of = interop::permutation_of(f.perm_r.data(), f.size);
  const auto column_of = interop::permutation_of(f.perm_c.data(), f.size);
  std::vector<Value> permuted(b.size());
  for (std::size_t k = 0; k < b.size(); ++k) {
    permuted[k] = b[static_cast<std::size_t>(row_of[k])];
  }
  const auto from = where.upload(permuted);
  auto to = where.upload(permuted);
  forward.solve(from, to, where.stream());
  const auto u = interop::upper_of<Value>(f.l, f.u);
  auto backward = analyze(policy::host_serial{}, u, {uplo::upper});
  std::vector<Value> solved(b.size());
  backward.solve(where.download(to), solved);
  std::vector<Value> x(b.size());
  for (std::size_t k = 0; k < b.size(); ++k) {
    x[static_cast<std::size_t>(column_of[k])] = solved[k];
  }
  return x;
}

template <class Value>
void expect_factors_solve() {
  const pattern p = patterns::stencil_2d(13, 12);
  const factored<Value> f(unsymmetric<Value>(p));
  const auto panels = interop::supernodal_of<Value>(f.l);
  EXPECT_LT(static_cast<std::int64_t>(panels.first_columns.size()), p.size);
  EXPECT_NE(f.perm_r, f.perm_c);  // the pivots are not those of the diagonal
  const auto b = random_vector<Value>(p.size, 3);
  f.expect_solved(solve(f, b), b);
}

TEST(SuperLU, FactorsSolveTheSystem) { expect_factors_solve<double>(); }
TEST(SuperLU, ComplexFactorsSolveTheSystem) { expect_factors_solve<z>(); }

/// L U is A with its rows and columns permuted, entry by entry.
TEST(SuperLU, CopiesHoldTheFactors) {
  const auto a = unsymmetric<double>(patterns::stencil_2d(6, 5));
  const factored<double> f(a);
  const auto size = static_cast<std::size_t>(a.rows);
  const auto panels = interop::supernodal_of<double>(f.l);
  const auto u = interop::upper_of<double>(f.l, f.u);
  std::vector<double> difference(size * size);
  std::vector<double> lower(size * size);
  for (std::size_t s = 0; s + 1 < panels.first_columns.size(); ++s) {
    const auto rows = static_cast<std::size_t>(panels.row_offsets[s]);
    const auto height = static_cast<std::size_t>(panels.row_offsets[s + 1]) - rows;
    for (int j = panels.first_columns[s]; j < panels.first_columns[s + 1]; ++j) {
      const auto k = static_cast<std::size_t>(j - panels.first_columns[s]);
      lower[static_cast<std::size_t>(j) * (size + 1)] = 1;
      for (std::size_t i = k + 1; i < height; ++i) {
        lower[static_cast<std::size_t>(panels.row_indices[rows + i]) * size + static_cast<std::size_t>(j)] =
            panels.values[static_cast<std::size_t>(panels.value_offsets[s]) + k * height + i];
      }
    }
  }
  for (std::size_t j = 0; j < size; ++j) {
    for (auto e = static_cast<std::size_t>(u.column_offsets[j]);
         e < static_cast<std::size_t>(u.column_offsets[j + 1]); ++e) {
      const bool is_last = e + 1 == static_cast<std::size_t>(u.column_offsets[j + 1]);
      EXPECT_LT(u.row_indices[e], is_last ? static_cast<int>(j) + 1 : u.row_indices[e + 1]);
      for (std::size_t i = 0; i < size; ++i) {
        difference[i * size + j] +=
            lower[i * size + static_cast<std::size_t>(u.row_indices[e])] * u.values[e];
      }
    }
    for (auto e = static_cast<std::size_t>(a.column_offsets[j]);
         e < static_cast<std::size_t>(a.column_offsets[j + 1]); ++e) {
      const auto row = static_cast<std::size_t>(f.perm_r[static_cast<std::size_t>(a.row_indices[e])]);
      difference[row * size + static_cast<std::size_t>(f.perm_c[j])] -= a.values[e];
    }
  }
  for (const double d : difference) {
    EXPECT_LE(std::abs(d), 1e-13);
  }
}

TEST(SuperLU, OtherFactorsAreRefused) {
  const factored<double> f(unsymmetric<double>(patterns::stencil_2d(9, 8)));
  const auto expect = [](const std::string& part, errc code, const auto& call) {
    const auto seen = failure::of(call);
    ASSERT_TRUE(seen.has_value()) << part;
    EXPECT_EQ(seen->code, code) << part;
    EXPECT_NE(seen->message.find(part), std::string::npos) << seen->message;
  };
  expect("factor L", errc::invalid_argument, [&] { interop::supernodal_of<double>(f.u); });
  expect("factor U", errc::invalid_argument, [&] { interop::upper_of<double>(f.l, f.l); });
  expect("values of another type", errc::invalid_argument, [&] { interop::supernodal_of<z>(f.l); });
  expect("too many", errc::unsupported, [&] { interop::supernodal_of<double, std::int8_t>(f.l); });
  expect("too many", errc::unsupported, [&] { interop::upper_of<double, std::int8_t>(f.l, f.u); });
  SuperMatrix wide = f.l;
  ++wide.ncol;
  expect("columns", errc::not_square, [&] { interop::supernodal_of<double>(wide); });
  SuperMatrix larger = f.u;
  ++larger.nrow;
  ++larger.ncol;
  expect("72 and 73 rows", errc::size_mismatch, [&] { interop::upper_of<double>(f.l, larger); });
  auto* const rows = static_cast<SCformat*>(f.l.Store)->rowind;
  std::swap(rows[0], rows[1]);
  expect("do not begin with its columns", errc::invalid_argument,
         [&] { interop::supernodal_of<double>(f.l); });
  const std::vector<int> twice{1, 1, 0};
  expect("repeats row", errc::invalid_argument, [&] { interop::permutation_of(twice.data(), 3); });
}

}  // namespace
}  // namespace sptrsv::testing
