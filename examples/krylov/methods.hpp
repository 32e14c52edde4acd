// Krylov methods, written once for both backends (Saad, Iterative Methods for Sparse Linear Systems).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "host_backend.hpp"

namespace sptrsv_examples {

/// When a method stops, and what it tells.
struct stopping {
  double tolerance = 1e-8;  ///< of the residual, relative to b
  int max_iterations = 10000;
  std::function<void(int iterations, double residual)> report;
};

/// The result of a method.
struct solution {
  std::vector<double> x;
  std::vector<double> residuals;  ///< relative, by iteration; the first one is that of x = 0

  [[nodiscard]] int iterations() const { return static_cast<int>(residuals.size()) - 1; }
};

/// Adds residuals to a solution until the method must stop.
class convergence {
 public:
  convergence(const stopping& when, double b_norm, solution& to) : when_(when), b_norm_(b_norm), to_(to) {}

  /// Records a residual. Returns whether the method goes on.
  bool goes_on(double norm) {
    const double relative = b_norm_ > 0 ? norm / b_norm_ : 0;
    to_.residuals.push_back(relative);
    if (when_.report) {
      when_.report(to_.iterations(), relative);
    }
    return relative > when_.tolerance && std::isfinite(relative) && to_.iterations() < when_.max_iterations;
  }

 private:
  const stopping& when_;
  double b_norm_;
  solution& to_;
};

/// Scalars of the methods.
namespace slots {
enum : slot {
  rho,
  rho_before,
  product,
  alpha,
  minus_alpha,
  beta,
  residual,
  omega,
  minus_omega,
  unused,
  limit,  ///< the square of the residual that is small enough
  one,
  minus_one,
  cg
};
}  // namespace slots

/// Calls `iterate` until the residual, whose square it leaves in slots::residual, is small enough: at most
/// slots::limit. One more iteration may be under way then. It must not change x, because the residuals of
/// both methods may grow from one iteration to the next.
template <class Backend, class Iterate>
solution run_iterations(Backend& on, const stopping& when, typename Backend::vector& x,
                        const Iterate& iterate) {
  const auto iteration = on.repeated(iterate);
  const double square = on.value(slots::residual);
  const double b_norm = std::sqrt(square);
  // A bit less, so that no iteration is the last one by its rounding and not by that of `check`.
  on.set(slots::limit, {when.tolerance < 0 ? -1 : when.tolerance * when.tolerance * square * (1 - 1e-12)});
  solution made;
  convergence check(when, b_norm, made);
  if (check.goes_on(b_norm)) {
    on.run_steps(
        std::numeric_limits<std::size_t>::max(), [&](std::size_t) { iteration(); },
        [](std::size_t) { return slot_range{slots::residual}; },
        [&](const_view reached) { return check.goes_on(std::sqrt(reached[0])); });
  }
  made.x = on.get(x);
  return made;
}

/// The conjugate gradient method.
template <class Backend, class Preconditioner>
solution conjugate_gradients(Backend& on, Preconditioner& m, const std::vector<double>& b,
                             const stopping& when) {
  using namespace slots;
  auto x = on.zeros(b.size());
  auto r = on.put(b);
  auto z = on.zeros(b.size());
  auto p = on.zeros(b.size());
  auto q = on.zeros(b.size());
  m.apply(r, z, on);
  on.copy(z, p);
  on.dot(r, z, rho);
  on.dot(r, r, residual);
  return run_iterations(on, when, x, [&] {
    on.multiply(p, q);
    on.dot(p, q, product);
    on.divide_above(residual, limit, rho, product, alpha, minus_alpha);
    on.add_scaled(alpha, p, x);
    on.add_scaled(minus_alpha, q, r);
    on.dot(r, r, residual);
    m.apply(r, z, on);
    on.assign(rho, rho_before);
    on.dot(r, z, rho);
    on.divide(rho, rho_before, beta, unused);
    on.scale_and_add(beta, z, p);
  });
}

/// The stabilised biconjugate gradient method (van der Vorst 1992), preconditioned from the right.
template <class Backend, class Preconditioner>
solution bicgstab(Backend& on, Preconditioner& m, const std::vector<double>& b, const stopping& when) {
  using namespace slots;
  auto x = on.zeros(b.size());
  auto r = on.put(b);
  const auto shadow = on.put(b);
  auto p = on.put(b);
  auto v = on.zeros(b.size());
  auto t = on.zeros(b.size());
  auto z = on.zeros(b.size());
  on.dot(shadow, r, rho);
  on.dot(r, r, residual);
  return run_iterations(on, when, x, [&] {
    m.apply(p, z, on);
    on.multiply(z, v);
    on.dot(shadow, v, product);
    on.divide_above(residual, limit, rho, product, alpha, minus_alpha);
    on.add_scaled(alpha, z, x);
    on.add_scaled(minus_alpha, v, r);
    m.apply(r, z, on);
    on.multiply(z, t);
    on.dot(t, r, beta);
    on.dot(t, t, product);
    on.divide_above(residual, limit, beta, product, omega, minus_omega);
    on.add_scaled(omega, z, x);
    on.add_scaled(minus_omega, t, r);
    on.dot(r, r, residual);
    on.assign(rho, rho_before);
    on.dot(shadow, r, rho);
    on.divide(rho, rho_before, beta, unused);
    on.divide(alpha, omega, product, unused);
    on.multiply(beta, product, beta);
    on.add_scaled(minus_omega, v, p);
    on.scale_and_add(beta, r, p);
  });
}

/// Solves the least-squares problems of the steps of one cycle: the Hessenberg matrix is made triangular by
/// Givens rotations.
class least_squares {
 public:
  explicit least_squares(double beta) : right_{beta} {}

  /// Adds column j, which has j + 2 entries. Returns the norm of the residual.
  double add(std::vector<double> column) {
    const std::size_t j = cosines_.size();
    for (std::size_t i = 0; i < j; ++i) {
      const double upper = column[i];
      column[i] = cosines_[i] * upper + sines_[i] * column[i + 1];
      column[i + 1] = cosines_[i] * column[i + 1] - sines_[i] * upper;
    }
    const double length = std::hypot(column[j], column[j + 1]);
    cosines_.push_back(length > 0 ? column[j] / length : 1);
    sines_.push_back(length > 0 ? column[j + 1] / length : 0);
    column[j] = length;
    columns_.push_back(std::move(column));
    right_.push_back(-sines_[j] * right_[j]);
    right_[j] *= cosines_[j];
    return std::abs(right_[j + 1]);
  }
  /// Returns the coefficients of the basis vectors.
  [[nodiscard]] std::vector<double> solve() const {
    std::vector<double> y(columns_.size());
    for (std::size_t j = y.size(); j-- > 0;) {
      double sum = right_[j];
      for (std::size_t k = j + 1; k < y.size(); ++k) {
        sum -= columns_[k][j] * y[k];
      }
      y[j] = sum / columns_[j][j];
    }
    return y;
  }

 private:
  std::vector<std::vector<double>> columns_;
  std::vector<double> cosines_;
  std::vector<double> sines_;
  std::vector<double> right_;
};

/// Scalars of GMRES: the Hessenberg matrix, by columns, and two columns for sums follow the ones of slots.
inline std::size_t gmres_slots(int restart) {
  const auto m = static_cast<std::size_t>(restart);
  return slots::cg + (m + 2) * (m + 1);
}

/// GMRES with restarts (Saad and Schultz 1986), preconditioned from the right, with classical Gram-Schmidt
/// done twice: four products with the basis per step. The host reads one column of the Hessenberg matrix per
/// step.
template <class Backend, class Preconditioner>
solution gmres(Backend& on, Preconditioner& m, const std::vector<double>& b, int restart,
               const stopping& when) {
  using namespace slots;
  const auto steps = static_cast<std::size_t>(restart);
  auto x = on.zeros(b.size());
  const auto rhs = on.put(b);
  auto z = on.zeros(b.size());
  auto update = on.zeros(b.size());
  const std::size_t stride = b.size() + b.size() % 2;  // cuSPARSE takes vectors at multiples of 16 bytes
  auto memory = on.zeros(stride * (steps + 1));
  const basis_view basis{memory.data(), b.size(), stride};
  const auto column_of = [&](std::size_t j) { return slot_range{cg + j * (steps + 1), j + 2}; };
  const slot sums = column_of(steps).first;
  const slot beta_of_cycle = sums + steps + 1;
  on.set(one, {1});
  on.set(minus_one, {-1});
  const auto start_cycle = on.repeated([&] {
    on.multiply(x, basis.column(0));
    on.scale_and_add(minus_one, rhs, basis.column(0));
    on.dot(basis.column(0), basis.column(0), residual);
    on.square_root(residual, beta_of_cycle, product);
    on.scale(product, basis.column(0));
  });
  std::vector<std::function<void()>> step;
  for (std::size_t j = 0; j < steps; ++j) {
    step.emplace_back(on.repeated([&, j] {
      const view next = basis.column(j + 1);
      const slot_range column{column_of(j).first, j + 1};
      m.apply(basis.column(j), z, on);
      on.multiply(z, next);
      on.project(basis, next, column);
      on.subtract_combination(basis, column, next);
      on.project(basis, next, {sums, j + 1});
      on.subtract_combination(basis, {sums, j + 1}, next);
      on.add({sums, j + 1}, column.first);
      on.dot(next, next, residual);
      on.square_root(residual, column.first + j + 1, product);
      on.scale(product, next);
    }));
  }
  solution made;
  start_cycle();
  convergence check(when, on.value(beta_of_cycle), made);
  bool goes_on = check.goes_on(on.value(beta_of_cycle));
  while (goes_on) {
    least_squares problem(on.value(beta_of_cycle));
    on.run_steps(
        steps, [&](std::size_t j) { step[j](); }, column_of,
        [&](const_view column) {
          goes_on = check.goes_on(problem.add({column.begin(), column.end()}));
          return goes_on;
        });
    const std::vector<double> y = problem.solve();
    on.set(sums, y);
    on.combine(basis, {sums, y.size()}, update);
    m.apply(update, z, on);
    on.add_scaled(one, z, x);
    start_cycle();
  }
  made.x = on.get(x);
  return made;
}

}  // namespace sptrsv_examples
