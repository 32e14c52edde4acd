// Preconditioners without triangular solves, which parallel machines are often given in place of them:
// products with approximate inverses, and a few Jacobi sweeps in place of each solve. One thread, or one step
// of a loop on the host, works on one row, in the set-up and in each application.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "places.hpp"
#include "sptrsv/incomplete_lu.hpp"
#include "sptrsv/krylov.hpp"

#ifdef __CUDACC__
#define SPTRSV_EXAMPLE_FUNCTION __host__ __device__
#else
#define SPTRSV_EXAMPLE_FUNCTION
#endif

namespace sptrsv_examples {

/// A matrix in CSR as a kernel sees it; columns ascend.
struct csr_pointers {
  std::int32_t rows;
  const std::int32_t* offsets;
  const std::int32_t* columns;
  const double* values;

  SPTRSV_EXAMPLE_FUNCTION double entry(std::int32_t row, std::int32_t column) const {
    std::int32_t begin = offsets[row];
    std::int32_t end = offsets[row + 1];
    while (begin < end) {
      const std::int32_t middle = begin + (end - begin) / 2;
      if (columns[middle] < column) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin < offsets[row + 1] && columns[begin] == column ? values[begin] : 0;
  }
  /// Returns the sum of the products of the entries of a row whose columns fulfil `counts`.
  template <class Counts>
  SPTRSV_EXAMPLE_FUNCTION double product(std::int32_t row, const double* x, const Counts& counts) const {
    double sum = 0;
    for (std::int32_t e = offsets[row]; e < offsets[row + 1]; ++e) {
      sum += counts(columns[e]) ? values[e] * x[columns[e]] : 0;
    }
    return sum;
  }
};

/// z = w r, a diagonal: that of Jacobi, w_i = 1 / a_ii, or of SPAI(0), which minimises the Frobenius norm of
/// I - W A: w_i = a_ii / (sum of a_ij^2).
struct diagonal_weights {
  csr_pointers a;
  bool minimises_norm;
  double* weights;

  SPTRSV_EXAMPLE_FUNCTION void operator()(std::int32_t row) const {
    const double pivot = a.entry(row, row);
    double squares = 0;
    for (std::int32_t e = a.offsets[row]; e < a.offsets[row + 1]; ++e) {
      squares += a.values[e] * a.values[e];
    }
    weights[row] = minimises_norm ? pivot / squares : 1 / pivot;
  }
};
struct apply_diagonal {
  const double* weights;
  const double* r;
  double* z;

  SPTRSV_EXAMPLE_FUNCTION void operator()(std::int32_t row) const { z[row] = weights[row] * r[row]; }
};

/// Block Jacobi: the inverses of diagonal blocks of 16 consecutive rows, by Gauss-Jordan elimination without
/// pivoting. Runs once per block.
struct invert_blocks {
  static constexpr int size = 16;
  csr_pointers a;
  double* inverses;  ///< by row, `size` values each

  SPTRSV_EXAMPLE_FUNCTION void operator()(std::int32_t block) const {
    const std::int32_t first = block * size;
    const int rows = static_cast<int>(a.rows - first < size ? a.rows - first : size);
    double* const to = inverses + std::int64_t{first} * size;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < size; ++j) {
        to[i * size + j] = j < rows ? a.entry(first + i, first + j) : 0;
      }
    }
    for (int k = 0; k < rows; ++k) {
      const double reciprocal = 1 / to[k * size + k];
      to[k * size + k] = 1;
      for (int j = 0; j < rows; ++j) {
        to[k * size + j] *= reciprocal;
      }
      for (int i = 0; i < rows; ++i) {
        if (i != k) {
          const double factor = to[i * size + k];
          to[i * size + k] = 0;
          for (int j = 0; j < rows; ++j) {
            to[i * size + j] -= factor * to[k * size + j];
          }
        }
      }
    }
  }
};
struct apply_blocks {
  std::int32_t rows;
  const double* inverses;
  const double* r;
  double* z;

  SPTRSV_EXAMPLE_FUNCTION void operator()(std::int32_t row) const {
    constexpr int size = invert_blocks::size;
    const std::int32_t first = row / size * size;
    double sum = 0;
    for (int j = 0; j < size && first + j < rows; ++j) {
      sum += inverses[std::int64_t{row} * size + j] * r[first + j];
    }
    z[row] = sum;
  }
};

/// A step of a Chebyshev polynomial in D^-1 A: d = alpha d + beta D^-1 (r - A z), and z + d is the next z.
struct chebyshev_step {
  csr_pointers a;
  const double* weights;  ///< of Jacobi
  double alpha;
  double beta;
  const double* r;
  const double* z;  ///< null: zero
  double* d;
  double* next;

  SPTRSV_EXAMPLE_FUNCTION void operator()(std::int32_t row) const {
    const double product = z != nullptr ? a.product(row, z, [](std::int32_t) { return true; }) : 0;
    d[row] = alpha * (z != nullptr ? d[row] : 0) + beta * weights[row] * (r[row] - product);
    next[row] = (z != nullptr ? z[row] : 0) + d[row];
  }
};

/// A Jacobi sweep for a triangle of the factors L (unit diagonal) and U in the matrix `lu`:
/// next = D^-1 (r - N z), where D is the diagonal of the triangle and N the rest.
struct triangle_sweep {
  csr_pointers lu;
  bool is_upper;
  const double* r;
  const double* z;  ///< null: zero
  double* next;

  SPTRSV_EXAMPLE_FUNCTION void operator()(std::int32_t row) const {
    double rest = r[row];
    if (z != nullptr) {
      const bool upper = is_upper;
      rest -= lu.product(row, z, [=](std::int32_t column) { return upper ? column > row : column < row; });
    }
    next[row] = is_upper ? rest / lu.entry(row, row) : rest;
  }
};

/// ISAI: sparse approximate inverses of L and U, with their patterns (Anzt et al., Parallel Computing 71,
/// 2018). A row m of the inverse of a triangle T solves m T = e in the columns of its pattern. Of a long row
/// the 32 entries next to the diagonal count.
struct approximate_inverse {
  csr_pointers lu;
  double* inverses;  ///< by entry: below the diagonal of L, else of U

  SPTRSV_EXAMPLE_FUNCTION void operator()(std::int32_t row) const {
    for (std::int32_t e = lu.offsets[row]; e < lu.offsets[row + 1]; ++e) {
      inverses[e] = 0;
    }
    solve_row(row, false);
    solve_row(row, true);
  }

 private:
  SPTRSV_EXAMPLE_FUNCTION double of_triangle(std::int32_t row, std::int32_t column, bool is_upper) const {
    return row == column && !is_upper ? 1 : lu.entry(row, column);
  }
  SPTRSV_EXAMPLE_FUNCTION void solve_row(std::int32_t row, bool is_upper) const {
    constexpr int most = 32;
    std::int32_t entries[most];  // from the diagonal on
    double m[most];
    int count = 0;
    std::int32_t diagonal = lu.offsets[row];
    while (lu.columns[diagonal] < row) {
      ++diagonal;
    }
    for (std::int32_t e = diagonal; e >= lu.offsets[row] && e < lu.offsets[row + 1] && count < most;
         e += is_upper ? 1 : -1) {
      entries[count++] = e;
    }
    for (int k = 0; k < count; ++k) {
      const std::int32_t column = lu.columns[entries[k]];
      double sum = k == 0 ? 1 : 0;
      for (int t = 0; t < k; ++t) {
        sum -= m[t] * of_triangle(lu.columns[entries[t]], column, is_upper);
      }
      m[k] = sum / of_triangle(column, column, is_upper);
      if (k > 0 || is_upper) {
        inverses[entries[k]] = m[k];
      }
    }
  }
};
/// z = inv(L) r, or inv(U) r.
struct apply_inverse {
  csr_pointers inverses;
  bool is_upper;
  const double* r;
  double* z;

  SPTRSV_EXAMPLE_FUNCTION void operator()(std::int32_t row) const {
    const bool upper = is_upper;
    const double sum =
        inverses.product(row, r, [=](std::int32_t column) { return upper ? column >= row : column < row; });
    z[row] = upper ? sum : r[row] + sum;
  }
};

/// A step to the pivots of DILU, with which (D + L) D^-1 (D + U) has the diagonal of A = L + diagonal + U:
/// d_i = a_ii - (sum of a_ij a_ji / d_j over j < i). A step that changes nothing ends the iteration: the
/// pivots are exact then, in whatever order the rows of earlier steps were computed.
struct dilu_step {
  csr_pointers a;
  double* pivots;   ///< at first the diagonal of A
  double* changed;  ///< 1 if a pivot has changed

  SPTRSV_EXAMPLE_FUNCTION void operator()(std::int32_t row) const {
    double pivot = a.entry(row, row);
    for (std::int32_t e = a.offsets[row]; e < a.offsets[row + 1] && a.columns[e] < row; ++e) {
      pivot -= a.values[e] * a.entry(a.columns[e], row) / pivots[a.columns[e]];
    }
    if (!(pivot == pivots[row])) {
      *changed = 1;
    }
    pivots[row] = pivot;
  }
};
/// Copies the diagonal of a matrix to an array.
struct take_diagonal {
  csr_pointers a;
  double* diagonal;

  SPTRSV_EXAMPLE_FUNCTION void operator()(std::int32_t row) const { diagonal[row] = a.entry(row, row); }
};
/// Stores values on the diagonal of a matrix.
struct set_diagonal {
  csr_pointers a;
  const double* diagonal;
  double* values;  ///< those of `a`

  SPTRSV_EXAMPLE_FUNCTION void operator()(std::int32_t row) const {
    for (std::int32_t e = a.offsets[row]; e < a.offsets[row + 1]; ++e) {
      if (a.columns[e] == row) {
        values[e] = diagonal[row];
      }
    }
  }
};

/// The preconditioners: those with triangular solves, and the alternatives to them.
enum class preconditioning {
  none,
  ssor,
  dilu,
  ilu0,
  ic0,
  jacobi,
  spai0,
  block_jacobi,
  chebyshev,
  ilu_sweeps,
  isai
};

/// Throws sptrsv::error if a factorisation has broken down.
inline void expect_sound(const std::string& name, const sptrsv::factor_status& status) {
  SPTRSV_EXPECTS(status.ok(), sptrsv::errc::invalid_argument,
                 name + " breaks down in row " + std::to_string(status.row.value_or(-1)));
}

/// Returns a matrix as kernels see it, with these values.
template <class Matrix>
csr_pointers pointers_of(const Matrix& a, const double* values) {
  return {static_cast<std::int32_t>(a.rows), a.row_offsets.data(), a.column_indices.data(), values};
}

/// Returns the values of a matrix with the pivots of DILU on its diagonal: SSOR of that matrix is DILU.
/// Throws sptrsv::error if a pivot is no number, or if there are more levels than steps.
template <class Place>
typename Place::vector dilu_values(const Place& on) {
  auto values = on.copy({on.a.values.data(), on.a.values.size()});
  const csr_pointers a = pointers_of(on.a, on.a.values.data());
  auto pivots = on.put(std::vector<double>(static_cast<std::size_t>(a.rows)));
  on.for_each_row(a.rows, take_diagonal{a, pivots.data()}, on.stream());
  constexpr int most_steps = 10000;
  bool has_changed = true;
  for (int steps = 0; has_changed; ++steps) {
    SPTRSV_EXPECTS(steps < most_steps, sptrsv::errc::invalid_argument,
                   "the pivots of DILU are not found in " + std::to_string(most_steps) + " steps");
    auto changed = on.put(std::vector<double>{0});
    on.for_each_row(a.rows, dilu_step{a, pivots.data(), changed.data()}, on.stream());
    has_changed = on.get(changed)[0] != 0;
  }
  on.for_each_row(a.rows, set_diagonal{a, pivots.data(), values.data()}, on.stream());
  on.synchronize();
  return values;
}

/// A preconditioner without triangular solves: jacobi, or what stands behind it in `preconditioning`.
template <class Place>
class alternative {
  using vector = typename Place::vector;
  using stream_type = typename Place::stream_type;

 public:
  /// `steps`: the degree of the Chebyshev polynomial, or the sweeps in place of each solve. `on` must outlive
  /// this.
  alternative(preconditioning kind, int steps, const Place& on)
      : kind_(kind), steps_(steps), on_(on), a_(pointers_of(on.a, on.a.values.data())) {
    const std::size_t rows = at(a_.rows);
    if (kind == preconditioning::block_jacobi) {
      values_ = zeros(rows * invert_blocks::size);
      for_each((a_.rows + invert_blocks::size - 1) / invert_blocks::size, invert_blocks{a_, values_.data()});
    } else if (kind == preconditioning::ilu_sweeps || kind == preconditioning::isai) {
      factorise();
    } else {
      values_ = zeros(rows);
      for_each(a_.rows, diagonal_weights{a_, kind == preconditioning::spai0, values_.data()});
    }
    if (kind == preconditioning::chebyshev) {
      estimate_largest_eigenvalue();
    }
    if (kind == preconditioning::chebyshev || kind == preconditioning::ilu_sweeps ||
        kind == preconditioning::isai) {
      for (vector& v : between_) {
        v = zeros(rows);
      }
    }
    on.synchronize();
  }

  /// z = M^-1 r. Only enqueues.
  void apply(sptrsv::span<const double> r, sptrsv::span<double> z, stream_type stream) {
    const auto run = [&](const auto& body) { on_.for_each_row(a_.rows, body, stream); };
    switch (kind_) {
      case preconditioning::block_jacobi:
        run(apply_blocks{a_.rows, values_.data(), r.data(), z.data()});
        break;
      case preconditioning::chebyshev:
        apply_chebyshev(r.data(), z.data(), run);
        break;
      case preconditioning::ilu_sweeps:
        sweep(false, r.data(), between_[2].data(), run);
        sweep(true, between_[2].data(), z.data(), run);
        break;
      case preconditioning::isai:
        run(apply_inverse{inverses_, false, r.data(), between_[0].data()});
        run(apply_inverse{inverses_, true, between_[0].data(), z.data()});
        break;
      default:
        run(apply_diagonal{values_.data(), r.data(), z.data()});
    }
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] vector zeros(std::size_t count) const { return on_.put(std::vector<double>(count)); }
  template <class Body>
  void for_each(std::int32_t count, const Body& body) const {
    on_.for_each_row(count, body, on_.stream());
  }
  void factorise() {
    const auto ilu = sptrsv::analyze_incomplete_lu(on_.a, {}, on_.stream());
    expect_sound("ILU(0)", ilu.status(on_.stream()));
    values_ = on_.copy(ilu.values());
    lu_ = pointers_of(on_.a, values_.data());
    if (kind_ == preconditioning::isai) {
      inverse_values_ = zeros(on_.a.values.size());
      inverses_ = pointers_of(on_.a, inverse_values_.data());
      for_each(a_.rows, approximate_inverse{lu_, inverse_values_.data()});
    }
  }
  /// By 15 steps of the power method on D^-1 A, with a tenth added.
  void estimate_largest_eigenvalue() {
    std::vector<double> x(at(a_.rows));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = 1 + static_cast<double>(i * 7919 % 1009) / 1009;
    }
    for (int step = 0; step < 15; ++step) {
      const vector now = on_.put(x);
      const vector zero = zeros(x.size());
      vector product = zeros(x.size());
      vector unused = zeros(x.size());
      for_each(a_.rows, chebyshev_step{a_, values_.data(), 0, -1, zero.data(), now.data(), product.data(),
                                       unused.data()});
      x = on_.get(product);  // D^-1 A x
      double norm = 0;
      for (const double v : x) {
        norm += v * v;
      }
      largest_ = std::sqrt(norm);
      for (double& v : x) {
        v /= largest_;
      }
    }
    largest_ *= 1.1;
  }

  template <class Run>
  void apply_chebyshev(const double* r, double* z, const Run& run) {
    const double theta = largest_ * (1 + 1.0 / eigenvalue_ratio) / 2;
    const double delta = largest_ * (1 - 1.0 / eigenvalue_ratio) / 2;
    double rho = delta / theta;
    const double* now = nullptr;
    for (int step = 0; step < steps_; ++step) {
      const double next_rho = step == 0 ? rho : 1 / (2 * theta / delta - rho);
      double* const next = step + 1 == steps_ ? z : between_[step % 2].data();
      run(chebyshev_step{a_, values_.data(), step == 0 ? 0 : next_rho * rho,
                         step == 0 ? 1 / theta : 2 * next_rho / delta, r, now, between_[2].data(), next});
      rho = next_rho;
      now = next;
    }
  }
  template <class Run>
  void sweep(bool is_upper, const double* r, double* z, const Run& run) {
    const double* now = nullptr;
    for (int step = 0; step <= steps_; ++step) {  // the first one starts from zero: r times the inverse of D
      double* const next = step == steps_ ? z : between_[step % 2].data();
      run(triangle_sweep{lu_, is_upper, r, now, next});
      now = next;
    }
  }

  static constexpr double eigenvalue_ratio = 30;  ///< of the interval in which the polynomial is small

  preconditioning kind_;
  int steps_;
  const Place& on_;
  csr_pointers a_;
  csr_pointers lu_{};
  csr_pointers inverses_{};
  vector values_;          ///< weights, inverses of blocks, or factors
  vector inverse_values_;  ///< of isai
  vector between_[3];
  double largest_ = 0;
};

}  // namespace sptrsv_examples
