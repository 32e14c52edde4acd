// Incomplete factorisations, the same on every target. The factors are held against their definition: the
// product agrees with A on the pattern, to within the componentwise rounding errors. Where the target
// computes with the host's arithmetic, LU also gives the bits of the serial factorisation.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "contract/contract_fixture.hpp"
#include "sptrsv/incomplete_cholesky.hpp"
#include "sptrsv/incomplete_lu.hpp"
#include "sptrsv/policy/host_serial.hpp"
#include "support/raw_matrix.hpp"

namespace sptrsv::testing {

using detail::incomplete::method;

/// Few rows at once, small blocks, no rows in registers, and long rows already of a few entries.
struct small_incomplete : experimental::incomplete_tuning {
  static constexpr int block_threads = 32;
  static constexpr std::int64_t levels_at_once = 2;
  static constexpr bool short_rows_in_registers = false;
  static constexpr std::int64_t shared_bytes = 1024;
};
/// As many rows at once as fit the device, all of them long.
struct wide_incomplete : experimental::incomplete_tuning {
  static constexpr int block_threads = 64;
  static constexpr std::int64_t levels_at_once = 1 << 20;
  static constexpr std::int64_t shared_bytes = 0;
};
/// Pieces of few entries of rows that are not long.
struct cut_incomplete : experimental::incomplete_tuning {
  static constexpr int block_threads = 32;
  static constexpr std::int64_t longest_whole_row = 4;
  static constexpr std::int64_t piece_entries = 3;
  static constexpr std::int64_t longest_cut_row = 40;
};

template <class Types>
class incomplete : public on_target<Types> {
 public:
  using typename on_target<Types>::value_type;
  using typename on_target<Types>::index_type;
  using typename on_target<Types>::offset_type;
  using typename on_target<Types>::target;
  using typename on_target<Types>::matrix;
  using real = detail::real_t<value_type>;
  using long_complex = std::complex<long double>;

  template <method Method, class Tuning = experimental::incomplete_tuning,
            class Stream = typename target::stream_type>
  using factorization = incomplete_factorization<Method, value_type, index_type, offset_type, Stream, Tuning>;

  /// Whether the target rounds as the host does.
  static constexpr bool has_bits_of_host = std::string_view(target::name) != "gpu";

  /// Returns a matrix with both triangles, whose diagonal dominates. For Cholesky the diagonal is positive,
  /// and the entries above it have nothing to do with those below.
  static matrix make_system(const pattern& p, bool by_columns, content holds, method of,
                            std::uint64_t seed = 1) {
    form f;
    f.by_columns = by_columns;
    f.holds = holds;
    matrix a = on_target<Types>::make(p, f, seed);
    for (std::int64_t i = 0; i < p.size && of == method::cholesky; ++i) {
      a.set(i, i, make_value<value_type>(3 + static_cast<double>(i % 5) / 8));
    }
    return a;
  }

  /// Returns the factors that the serial factorisation of the host gives.
  template <method Method>
  static std::vector<value_type> on_host(const matrix& a, const pivot_options& pivots = {},
                                         factor_status* status = nullptr) {
    return a.visit([&](const auto& stored) {
      const factorization<Method, experimental::incomplete_tuning, host_stream> made(stored, pivots, {},
                                                                                     nullptr);
      if (status != nullptr) {
        *status = made.status();
      }
      return std::vector<value_type>(made.values().begin(), made.values().end());
    });
  }

  template <class Factorization>
  std::vector<value_type> download(const Factorization& from) {
    if constexpr (std::is_same_v<target, host_target>) {
      return {from.values().begin(), from.values().end()};
    } else {
      return detail::download_array(from.values().data(), static_cast<std::int64_t>(from.values().size()),
                                    this->where.on());
    }
  }

  /// Factorises on the target; `status` may be null.
  template <method Method, class Tuning = experimental::incomplete_tuning>
  std::vector<value_type> on_the_target(const matrix& a, const pivot_options& pivots = {},
                                        factor_status* status = nullptr) {
    return a.visit([&](const auto& stored) {
      const auto there = this->where.upload(stored);
      const factorization<Method, Tuning> made(there, pivots, this->where.stream(), nullptr);
      if (status != nullptr) {
        *status = made.status(this->where.stream());
      }
      return this->download(made);
    });
  }

  /// Returns the entries of the matrix with the given values, by row, columns ascending.
  static std::vector<std::vector<std::pair<std::int64_t, long_complex>>> rows_of(
      const matrix& a, const std::vector<value_type>& values) {
    std::vector<std::vector<std::pair<std::int64_t, long_complex>>> rows(static_cast<std::size_t>(a.size()));
    const auto add = [&](const auto& offsets, const auto& minors) {
      for (std::size_t m = 0; m < rows.size(); ++m) {
        for (auto e = static_cast<std::size_t>(offsets[m]); e < static_cast<std::size_t>(offsets[m + 1]);
             ++e) {
          const auto minor = static_cast<std::size_t>(minors[e]);
          const std::size_t row = a.is_csc ? minor : m;
          const long_complex value(std::real(values[e]), std::imag(values[e]));
          rows[row].push_back({static_cast<std::int64_t>(a.is_csc ? m : minor), value});
        }
      }
    };
    a.is_csc ? add(a.by_columns.column_offsets, a.by_columns.row_indices)
             : add(a.by_rows.row_offsets, a.by_rows.column_indices);
    for (auto& row : rows) {
      std::sort(row.begin(), row.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    }
    return rows;
  }

  /// Checks that the product of the factors agrees with A on the pattern. |A - L U| may be (k + 4) eps
  /// |L| |U|, where k is the number of products of the entry; complex arithmetic has four times the error.
  template <method Method>
  static void expect_factors(const matrix& a, const std::vector<value_type>& factors,
                             const std::string& name) {
    const auto of_a = rows_of(a, a.values());
    const auto f = rows_of(a, factors);
    const auto size = of_a.size();
    std::vector<std::vector<std::pair<std::int64_t, long_complex>>> columns(size);  // of the second factor
    for (std::size_t i = 0; i < size; ++i) {
      for (const auto& [j, value] : f[i]) {
        if (Method == method::lu ? j >= static_cast<std::int64_t>(i) : j <= static_cast<std::int64_t>(i)) {
          columns[static_cast<std::size_t>(Method == method::lu ? j : static_cast<std::int64_t>(i))]
              .push_back(Method == method::lu ? std::pair{static_cast<std::int64_t>(i), value}
                                              : std::pair{j, std::conj(value)});
        }
      }
    }
    const long double eps = std::numeric_limits<real>::epsilon() * (is_complex<value_type> ? 4 : 1);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t e = 0; e < of_a[i].size(); ++e) {
        const auto [j, value] = of_a[i][e];
        if (Method == method::cholesky && j > static_cast<std::int64_t>(i)) {
          ASSERT_EQ(f[i][e].second, value) << name << ": above the diagonal, row " << i << " column " << j;
          continue;
        }
        long_complex product(0);
        long double size_of_terms = 0;
        long double terms = 4;
        const auto& column = columns[static_cast<std::size_t>(j)];
        std::size_t c = 0;
        const auto add = [&](std::int64_t k, long_complex l) {
          while (c < column.size() && column[c].first < k) {
            ++c;
          }
          if (c < column.size() && column[c].first == k) {
            product += l * column[c].second;
            size_of_terms += std::abs(l) * std::abs(column[c].second);
            terms += 1;
          }
        };
        for (const auto& [k, l] : f[i]) {
          if (k < static_cast<std::int64_t>(i) || Method == method::cholesky) {
            add(k, l);
          }
        }
        if (Method == method::lu) {
          add(static_cast<std::int64_t>(i), 1);
        }
        ASSERT_LE(std::abs(value - product), terms * eps * size_of_terms)
            << name << ": row " << i << " column " << j;
      }
    }
  }

  /// Factorises by method and tuning and checks the factors.
  template <method Method, class Tuning = experimental::incomplete_tuning>
  void check(const pattern& p, bool by_columns, content holds, std::uint64_t seed = 1) {
    const std::string name = p.name + (by_columns ? ", CSC" : ", CSR");
    const matrix a = make_system(p, by_columns, holds, Method, seed);
    factor_status status;
    const auto factors = this->template on_the_target<Method, Tuning>(a, {}, &status);
    EXPECT_TRUE(status.ok()) << name << ": row " << status.row.value_or(-1);
    expect_factors<Method>(a, factors, name);
    if (Method == method::lu && has_bits_of_host) {
      EXPECT_TRUE(same_bits(factors, on_host<Method>(a))) << name;
    }
  }

  /// Checks that `seen` is not finite where `expected` is not, and otherwise close to it.
  static void expect_same_finite(const std::vector<value_type>& seen, const std::vector<value_type>& expected,
                                 const std::string& name) {
    for (std::size_t e = 0; e < seen.size(); ++e) {
      const bool finite = std::isfinite(std::real(seen[e])) && std::isfinite(std::imag(seen[e]));
      const bool wanted = std::isfinite(std::real(expected[e])) && std::isfinite(std::imag(expected[e]));
      ASSERT_EQ(finite, wanted) << name << ": entry " << e;
    }
  }

  static void expect_same(const factor_status& seen, const factor_status& expected, const std::string& name) {
    EXPECT_EQ(seen.code, expected.code) << name;
    EXPECT_EQ(seen.row.value_or(-1), expected.row.value_or(-1)) << name;
    EXPECT_EQ(seen.boosted_pivots, expected.boosted_pivots) << name;
  }

  /// Puts `bad` in the place of a diagonal or other entry and compares what the status says.
  template <method Method>
  void check_breakdown(const pattern& p, std::int64_t row, std::int64_t column, value_type bad,
                       const pivot_options& pivots, const std::string& name) {
    matrix a = make_system(p, false, content::general, Method);
    a.set(row, column, bad);
    factor_status expected;
    factor_status seen;
    const auto on_host_factors = on_host<Method>(a, pivots, &expected);
    const auto factors = this->template on_the_target<Method, small_incomplete>(a, pivots, &seen);
    expect_same(seen, expected, name);
    expect_same_finite(factors, on_host_factors, name);
  }

  /// Returns A with a zero where the factors have fill-in up to a level, found from the definition of levels
  /// on a dense matrix. For Cholesky the entries above the diagonal go. Indices ascend.
  static matrix with_fill(const matrix& a, method of, std::int64_t fill_level) {
    const auto rows = rows_of(a, a.values());
    const std::size_t size = rows.size();
    constexpr std::int64_t none = 1 << 20;
    std::vector<std::vector<std::int64_t>> levels(size, std::vector<std::int64_t>(size, none));
    for (std::size_t i = 0; i < size; ++i) {
      for (const auto& [j, value] : rows[i]) {
        const auto column = static_cast<std::size_t>(j);
        if (of == method::lu || column <= i) {
          levels[i][column] = 0;
          levels[column][i] = of == method::lu ? levels[column][i] : 0;
        }
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        for (std::size_t j = k + 1; j < size && levels[i][k] <= fill_level; ++j) {
          if (levels[k][j] <= fill_level) {
            levels[i][j] = std::min(levels[i][j], levels[i][k] + levels[k][j] + 1);
          }
        }
      }
    }
    std::vector<index_type> major;
    std::vector<index_type> minor;
    std::vector<value_type> values;
    for (std::size_t m = 0; m < size; ++m) {
      for (std::size_t n = 0; n < size; ++n) {
        const std::size_t i = a.is_csc ? n : m;
        const std::size_t j = a.is_csc ? m : n;
        if (levels[i][j] <= fill_level && (of == method::lu || j <= i)) {
          major.push_back(static_cast<index_type>(m));
          minor.push_back(static_cast<index_type>(n));
          const auto at = a.index_of(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
          const auto& in_row = rows[i];
          const bool is_stored = std::any_of(in_row.begin(), in_row.end(), [&](const auto& e) {
            return e.first == static_cast<std::int64_t>(j);
          });
          values.push_back(is_stored ? a.values()[at] : value_type(0));
        }
      }
    }
    matrix made;
    made.is_csc = a.is_csc;
    const auto compressed = make_csr<offset_type>(a.size(), a.size(), major, minor, values);
    if (a.is_csc) {
      made.by_columns = {a.size(), a.size(), compressed.row_offsets, compressed.column_indices,
                         compressed.values};
    } else {
      made.by_rows = compressed;
    }
    return made;
  }

  /// Factorises with fill-in and checks pattern and values against the factors, without fill-in, of the
  /// matrix that has the fill-in as zeros.
  template <method Method, class Tuning = experimental::incomplete_tuning>
  void check_fill(const pattern& p, bool by_columns, content holds, std::int64_t fill_level,
                  std::uint64_t seed = 1) {
    const std::string name =
        p.name + (by_columns ? ", CSC, level " : ", CSR, level ") + std::to_string(fill_level);
    const matrix a = make_system(p, by_columns, holds, Method, seed);
    const matrix filled = with_fill(a, Method, fill_level);
    const auto expected = this->template on_the_target<Method, Tuning>(filled);
    a.visit([&](const auto& stored) {
      const auto there = this->where.upload(stored);
      const factorization<Method, Tuning> made(there, incomplete_options::fill(fill_level),
                                               this->where.stream(), nullptr);
      EXPECT_TRUE(made.status(this->where.stream()).ok()) << name;
      const auto view = made.view(there);
      ASSERT_EQ(view.entries, static_cast<std::int64_t>(filled.values().size())) << name;
      EXPECT_EQ(made.info().factor_entries, view.entries) << name;
      const auto found = detail::pattern_of(view);
      const auto at_host = [&](const auto* from, std::int64_t count) {
        using element = std::remove_const_t<std::remove_pointer_t<decltype(from)>>;
        if constexpr (std::is_same_v<target, host_target>) {
          return std::vector<element>(from, from + count);
        } else {
          return detail::download_array(from, count, this->where.on());
        }
      };
      const auto& offsets = by_columns ? filled.by_columns.column_offsets : filled.by_rows.row_offsets;
      const auto& indices = by_columns ? filled.by_columns.row_indices : filled.by_rows.column_indices;
      EXPECT_EQ(at_host(found.offsets, p.size + 1), offsets) << name;
      EXPECT_EQ(at_host(found.indices, view.entries), indices) << name;
      EXPECT_TRUE(same_bits(this->download(made), expected)) << name;
    });
  }

  std::optional<failure> failure_of(const raw_matrix& a, const incomplete_options& options = {}) {
    const raw_arrays<target, value_type, index_type, offset_type> there(this->where, a);
    return there.visit([&](const auto& view) {
      return failure::of([&] { factorization<method::lu>(view, options, this->where.stream(), nullptr); });
    });
  }
};
TYPED_TEST_SUITE_P(incomplete);

/// The value types in double precision, and the other ones; the index types in turn.
template <class Target>
using incomplete_types =
    ::testing::Types<case_types<Target, double, std::int32_t, std::int32_t>,
                     case_types<Target, std::complex<double>, std::int32_t, std::int64_t>>;
template <class Target>
using incomplete_single_types =
    ::testing::Types<case_types<Target, float, std::int64_t, std::int64_t>,
                     case_types<Target, std::complex<float>, std::int32_t, std::int32_t>>;

TYPED_TEST_P(incomplete, of_all_patterns) {
  std::vector<pattern> all = patterns::small();
  all.push_back(patterns::stencil_3d_27(4, 4, 4));
  std::size_t turn = 0;
  for (const pattern& p : all) {
    for (const bool by_columns : {false, true}) {
      if (TestFixture::target::is_slow && by_columns != (turn / 2 % 2 == 0)) {
        ++turn;
        continue;  // each pattern in one of the two ways
      }
      const content holds = turn++ % 3 == 0 ? content::ascending : content::general;
      this->template check<method::lu>(p, by_columns, holds);
      this->template check<method::cholesky>(p, by_columns, turn % 5 == 0 ? content::triangle : holds);
      this->template check<method::lu, small_incomplete>(p, by_columns, holds);
      this->template check<method::cholesky, small_incomplete>(p, by_columns, holds);
      this->template check<method::lu, wide_incomplete>(p, by_columns, holds);
      this->template check<method::cholesky, wide_incomplete>(p, by_columns, holds);
      this->template check<method::lu, cut_incomplete>(p, by_columns, holds);
      this->template check<method::cholesky, cut_incomplete>(p, by_columns, holds);
    }
  }
}

TYPED_TEST_P(incomplete, fills_in_up_to_a_level) {
  std::size_t turn = 0;
  for (const pattern& p :
       {patterns::diagonal(7), patterns::chain(12), patterns::stencil_2d(7, 6), patterns::stencil_3d(4, 3, 4),
        patterns::arrow_row(20), patterns::arrow_column(20), patterns::power_law(60, 2)}) {
    for (std::int64_t fill_level = 1; fill_level <= 4; fill_level += 1 + fill_level / 2) {
      const bool by_columns = turn++ % 2 == 0;
      this->template check_fill<method::lu>(p, by_columns, content::general, fill_level);
      this->template check_fill<method::cholesky>(p, !by_columns, content::general, fill_level);
      this->template check_fill<method::cholesky, small_incomplete>(p, by_columns, content::ascending,
                                                                    fill_level);
    }
  }
  const pattern grid = patterns::stencil_2d(6, 6);  // all fill-in: the factors of the matrix
  this->template check_fill<method::lu, small_incomplete>(grid, false, content::ascending, 1000);
}

/// New values, breakdown and its cures are the same with fill-in as without.
TYPED_TEST_P(incomplete, refactorises_with_fill) {
  using scalar = typename TestFixture::value_type;
  const auto check = [&](auto of) {
    constexpr method Method = decltype(of)::value;
    const pattern p = patterns::stencil_2d(6, 5);
    const auto first = this->make_system(p, false, content::ascending, Method, 1);
    auto second = this->make_system(p, false, content::ascending, Method, 2);
    second.set(11, 11, scalar(0));
    second.set(11, 10, scalar(0));  // so that its pivot is zero or negative
    first.visit([&](const auto& stored) {
      const auto there = this->where.upload(stored);
      typename TestFixture::template factorization<Method> made(there, incomplete_options::fill(2),
                                                                this->where.stream(), nullptr);
      const auto of_first = this->download(made);
      for (const pivot_options& pivots : {pivot_options{}, pivot_options{0, 1e-3, 0.5}}) {
        const auto values = this->where.upload(second.values());
        made.factorize(values, pivots, this->where.stream());
        factor_status expected;
        const auto filled = this->with_fill(second, Method, 2);
        const auto serial = this->template on_host<Method>(filled, pivots, &expected);
        this->expect_same(made.status(this->where.stream()), expected, "with fill-in");
        this->expect_same_finite(this->download(made), serial, "with fill-in");
      }
      made.factorize(there.values, this->where.stream());
      EXPECT_TRUE(same_bits(this->download(made), of_first));
    });
  };
  check(std::integral_constant<method, method::lu>{});
  check(std::integral_constant<method, method::cholesky>{});
}

TYPED_TEST_P(incomplete, follows_new_values) {
  using scalar = typename TestFixture::value_type;
  const auto check = [&](auto of) {
    constexpr method Method = decltype(of)::value;
    const pattern p = patterns::stencil_2d(9, 8);
    const auto first = this->make_system(p, false, content::ascending, Method, 1);
    const auto second = this->make_system(p, false, content::ascending, Method, 2);
    first.visit([&](const auto& stored) {
      const auto there = this->where.upload(stored);
      typename TestFixture::template factorization<Method> made(there, {}, this->where.stream(), nullptr);
      const std::vector<scalar> of_first = this->download(made);
      const auto values = this->where.upload(second.values());
      for (int k = 0; k < 3; ++k) {
        auto moved = std::move(made);
        moved.factorize(values, this->where.stream());
        this->template expect_factors<Method>(second, this->download(moved), "new values");
        const auto old = this->where.upload(first.values());
        moved.factorize(old, this->where.stream());
        EXPECT_TRUE(same_bits(this->download(moved), of_first)) << "repetition " << k;
        made = std::move(moved);
      }
      EXPECT_EQ(made.view(there).values, made.values().data());
    });
  };
  check(std::integral_constant<method, method::lu>{});
  check(std::integral_constant<method, method::cholesky>{});
}

/// Zero pivots, NaN and infinite values act as in the serial factorisation and are reported.
TYPED_TEST_P(incomplete, reports_breakdown) {
  using scalar = typename TestFixture::value_type;
  const auto infinity = std::numeric_limits<typename TestFixture::real>::infinity();
  for (const pattern& p : {patterns::stencil_2d(6, 5), patterns::dense(20), patterns::diagonal(9)}) {
    for (const std::int64_t row : {std::int64_t{0}, p.size / 2, p.size - 1}) {
      for (const scalar bad : {scalar(0), scalar(infinity), scalar(std::nan("")), scalar(-9)}) {
        const std::string name = p.name + ", row " + std::to_string(row);
        const pivot_options boost{0, 1e-3, 0.5};
        for (const pivot_options& pivots : {pivot_options{}, boost}) {
          this->template check_breakdown<method::lu>(p, row, row, bad, pivots, name);
          this->template check_breakdown<method::cholesky>(p, row, row, bad, pivots, name);
        }
      }
    }
  }
}

TYPED_TEST_P(incomplete, names_the_row) {
  using scalar = typename TestFixture::value_type;
  const auto a_with = [&](method of, std::int64_t row, scalar pivot) {
    auto a = this->make_system(patterns::diagonal(40), false, content::general, of);
    a.set(row, row, pivot);
    return a;
  };
  factor_status status;
  this->template on_the_target<method::lu>(a_with(method::lu, 17, scalar(0)), {}, &status);
  EXPECT_EQ(status.code, factor_status::kind::zero_pivot);
  EXPECT_EQ(status.row, 17);
  this->template on_the_target<method::cholesky>(a_with(method::cholesky, 23, scalar(-2)), {}, &status);
  EXPECT_EQ(status.code, factor_status::kind::non_finite);
  EXPECT_EQ(status.row, 23);
  this->template on_the_target<method::cholesky>(a_with(method::cholesky, 23, scalar(-2)), {0, 0, 2},
                                                 &status);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.boosted_pivots, 1);
}

TYPED_TEST_P(incomplete, shifts_the_diagonal) {
  const pattern p = patterns::stencil_2d(5, 4);
  const auto check = [&](auto of) {
    constexpr method Method = decltype(of)::value;
    auto a = this->make_system(p, false, content::general, Method);
    const auto shifted = this->template on_the_target<Method>(a, {0.5, 0, 0});
    for (std::int64_t i = 0; i < p.size; ++i) {
      a.set(i, i, a.values()[a.index_of(i, i)] * typename TestFixture::real(1.5));
    }
    this->template expect_factors<Method>(a, shifted, "shifted");
  };
  check(std::integral_constant<method, method::lu>{});
  check(std::integral_constant<method, method::cholesky>{});
}

/// The factors of a tridiagonal matrix are complete, so solves with them solve the system.
TYPED_TEST_P(incomplete, solves_with_a_policy) {
  using scalar = typename TestFixture::value_type;
  const pattern p = patterns::chain(30);
  form f;
  f.holds = content::general;
  const auto a = this->make(p, f);  // both triangles are chains
  a.visit([&](const auto& stored) {
    const auto lu = analyze_incomplete_lu(stored, {}, host_stream{});
    auto lower = analyze(policy::host_serial{}, lu.view(stored), {uplo::lower, diag::unit});
    auto upper = analyze(policy::host_serial{}, lu.view(stored), {uplo::upper});
    std::vector<scalar> x(static_cast<std::size_t>(p.size), scalar(1));
    std::vector<scalar> b(x.size(), scalar(0));
    const auto rows = this->rows_of(a, a.values());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const auto& [j, value] : rows[i]) {
        b[i] += make_value<scalar>(static_cast<double>(value.real()), static_cast<double>(value.imag()));
      }
    }
    lower.solve(b, b);
    upper.solve(b, b);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_LE(std::abs(b[i] - x[i]), 100 * std::numeric_limits<typename TestFixture::real>::epsilon()) << i;
    }
  });
}

TYPED_TEST_P(incomplete, refuses_bad_input) {
  const auto expect = [&](const std::optional<failure>& seen, errc code, std::int64_t row,
                          const std::string& name) {
    ASSERT_TRUE(seen.has_value()) << name << ": accepted";
    EXPECT_EQ(seen->code, code) << name << ": " << seen->message;
    EXPECT_EQ(seen->row.value_or(-1), row) << name << ": " << seen->message;
  };
  const auto of = [](const std::vector<std::vector<std::int64_t>>& rows) { return raw_matrix::of(rows); };
  for (const std::int64_t fill : {0, 1}) {
    const auto with = incomplete_options::fill(fill);
    expect(this->failure_of(of({{0, 1}, {0}, {2}}), with), errc::missing_diagonal, 1, "no pivot");
    expect(this->failure_of(of({{0, 1}, {0, 0, 1}, {2}}), with), errc::duplicate_entry, 1,
           "below the diagonal");
    expect(this->failure_of(of({{0, 2, 2}, {1}, {2}}), with), errc::duplicate_entry, 0, "above the diagonal");
    expect(this->failure_of(of({{0}, {1, 1}, {2}}), with), errc::duplicate_entry, 1, "on the diagonal");
    expect(this->failure_of(of({{0}, {1, 3}, {2}}), with), errc::index_out_of_range, 1, "a column too far");
  }
  expect(this->failure_of(of({{0}, {1}}), incomplete_options::fill(-1)), errc::invalid_argument, -1,
         "a negative level");
  raw_matrix rectangular = of({{0}, {1}});
  rectangular.columns = 3;
  expect(this->failure_of(rectangular), errc::not_square, -1, "not square");
  const raw_matrix good = of({{1, 0}, {0, 1}});
  EXPECT_FALSE(this->failure_of(good).has_value());
  for (const pivot_options& bad : {pivot_options{-1, 0, 0}, pivot_options{0, -1, 0},
                                   pivot_options{0, 0, HUGE_VAL}, pivot_options{std::nan(""), 0, 0}}) {
    expect(this->failure_of(good, bad), errc::invalid_argument, -1, "an option");
  }

  const auto a = this->make_system(patterns::chain(4), false, content::general, method::lu);
  a.visit([&](const auto& stored) {
    const auto there = this->where.upload(stored);
    typename TestFixture::template factorization<method::lu> made(there, {}, this->where.stream(), nullptr);
    const auto few = this->where.upload(std::vector<typename TestFixture::value_type>(3));
    const auto factorize = [&](const auto& values) {
      return failure::of([&] { made.factorize(values, this->where.stream()); });
    };
    expect(factorize(few), errc::size_mismatch, -1, "few values");
    expect(factorize(made.values()), errc::invalid_argument, -1, "its own values");
    const auto moved = std::move(made);
    expect(failure::of([&] { static_cast<void>(made.values()); }), errc::invalid_argument, -1, "moved from");
    EXPECT_EQ(moved.info().entries, static_cast<std::int64_t>(stored.values.size()));
  });
}

TYPED_TEST_P(incomplete, describes_itself) {
  const pattern p = patterns::stencil_2d(8, 6);
  const auto a = this->make_system(p, false, content::ascending, method::lu);
  a.visit([&](const auto& stored) {
    const auto there = this->where.upload(stored);
    const typename TestFixture::template factorization<method::lu> made(there, {}, this->where.stream(),
                                                                        nullptr);
    const incomplete_info info = made.info();
    EXPECT_EQ(info.rows, p.size);
    EXPECT_EQ(info.entries, static_cast<std::int64_t>(stored.values.size()));
    EXPECT_EQ(info.levels, 8 + 6 - 1);
    EXPECT_EQ(info.longest_row, 5);
    EXPECT_GT(info.bytes, stored.values.size() * sizeof(typename TestFixture::value_type));
    if (!std::is_same_v<typename TestFixture::target, host_target>) {
      EXPECT_GE(info.analysis_peak_bytes, info.bytes);
      EXPECT_GE(info.lanes_per_row, 4);
    }
  });
}

/// The factors of a matrix of blocks are those of the same matrix by single rows, in the order of its values.
TYPED_TEST_P(incomplete, of_matrices_of_blocks) {
  using index = typename TestFixture::index_type;
  using offset = typename TestFixture::offset_type;
  const auto stream = this->where.stream();
  const auto check = [&](auto of, const auto& analyze) {
    constexpr method checked = decltype(of)::value;
    for (const pattern& p : {patterns::stencil_2d(6, 5), patterns::random(60, 4, 2), patterns::dense(30)}) {
      const auto a = this->make_system(p, false, content::general, checked).by_rows;
      for (const std::int64_t block : {2, 3}) {
        for (const std::int64_t fill_level : {0, 1}) {
          auto blocks = to_bsr(a, block, block == 2 ? block_order::by_rows : block_order::by_columns);
          const auto rows = to_csr(blocks);
          const auto there = this->where.upload(blocks);
          const auto rows_there = this->where.upload(rows);
          incomplete_options options;
          options.fill_level = fill_level;
          auto factors = analyze(there, options);
          auto expected = analyze(rows_there, options);
          EXPECT_TRUE(factors.status(stream).ok());
          const auto taken = [&](const auto& of_matrix) {
            const span<const typename TestFixture::value_type> v = of_matrix.values();
            return detail::download_array(v.data(), static_cast<std::int64_t>(v.size()), this->where.on());
          };
          factors.factorize(there.values, stream);
          if (fill_level == 0) {
            blocks.values = taken(factors);
            EXPECT_TRUE(same_bits(to_csr(blocks).values, taken(expected)))
                << p.name << ", blocks of " << block;
          } else {
            EXPECT_TRUE(same_bits(taken(factors), taken(expected))) << p.name << ", blocks of " << block;
            const bsr_view<typename TestFixture::value_type, index, offset> filled = factors.view(there);
            EXPECT_EQ(filled.block_size, 1);
          }
        }
      }
    }
  };
  check(std::integral_constant<method, method::lu>{},
        [&](const auto& a, const auto& options) { return analyze_incomplete_lu(a, options, stream); });
  check(std::integral_constant<method, method::cholesky>{},
        [&](const auto& a, const auto& options) { return analyze_incomplete_cholesky(a, options, stream); });
}

REGISTER_TYPED_TEST_SUITE_P(incomplete, of_all_patterns, fills_in_up_to_a_level, refactorises_with_fill,
                            follows_new_values, reports_breakdown, names_the_row, shifts_the_diagonal,
                            solves_with_a_policy, refuses_bad_input, describes_itself, of_matrices_of_blocks);

}  // namespace sptrsv::testing
