// Krylov methods, written once for both backends (Saad, Iterative Methods for Sparse Linear Systems).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "host_backend.hpp"
#include "preconditioner.hpp"

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
  one,
  cg
};
}  // namespace slots

/// The conjugate gradient method.
template <class Backend>
solution conjugate_gradients(Backend& on, preconditioner<Backend>& m, const std::vector<double>& b,
                             const stopping& when) {
  using namespace slots;
  const std::vector<double> zeros(b.size(), 0.0);
  auto x = on.put(zeros);
  auto r = on.put(b);
  auto z = on.put(zeros);
  auto p = on.put(zeros);
  auto q = on.put(zeros);
  on.set(one, 1);
  m.apply(r, z, on);
  on.copy(z, p);
  on.dot(r, z, rho);
  on.dot(r, r, residual);
  const auto iterate = on.recorded([&] {
    on.multiply(p, q);
    on.dot(p, q, product);
    on.divide(rho, product, alpha, minus_alpha);
    on.add_scaled(alpha, p, x);
    on.add_scaled(minus_alpha, q, r);
    on.dot(r, r, residual);
    m.apply(r, z, on);
    on.assign(rho, rho_before, unused);
    on.dot(r, z, rho);
    on.divide(rho, rho_before, beta, unused);
    on.scale(beta, p);
    on.add_scaled(one, z, p);
  });
  solution made;
  convergence check(when, std::sqrt(on.value(residual)), made);
  while (check.goes_on(std::sqrt(on.value(residual)))) {
    iterate();
  }
  made.x = on.get(x);
  return made;
}

/// The stabilised biconjugate gradient method (van der Vorst 1992), preconditioned from the right.
template <class Backend>
solution bicgstab(Backend& on, preconditioner<Backend>& m, const std::vector<double>& b,
                  const stopping& when) {
  using namespace slots;
  const std::vector<double> zeros(b.size(), 0.0);
  auto x = on.put(zeros);
  auto r = on.put(b);
  const auto shadow = on.put(b);
  auto p = on.put(b);
  auto v = on.put(zeros);
  auto t = on.put(zeros);
  auto z = on.put(zeros);
  on.set(one, 1);
  on.dot(shadow, r, rho);
  on.dot(r, r, residual);
  const auto iterate = on.recorded([&] {
    m.apply(p, z, on);
    on.multiply(z, v);
    on.dot(shadow, v, product);
    on.divide(rho, product, alpha, minus_alpha);
    on.add_scaled(alpha, z, x);
    on.add_scaled(minus_alpha, v, r);
    m.apply(r, z, on);
    on.multiply(z, t);
    on.dot(t, r, residual);
    on.dot(t, t, product);
    on.divide(residual, product, omega, minus_omega);
    on.add_scaled(omega, z, x);
    on.add_scaled(minus_omega, t, r);
    on.dot(r, r, residual);
    on.assign(rho, rho_before, unused);
    on.dot(shadow, r, rho);
    on.divide(rho, rho_before, beta, unused);
    on.divide(alpha, omega, product, unused);
    on.multiply(beta, product, beta);
    on.add_scaled(minus_omega, v, p);
    on.scale(beta, p);
    on.add_scaled(one, r, p);
  });
  solution made;
  convergence check(when, std::sqrt(on.value(residual)), made);
  while (check.goes_on(std::sqrt(on.value(residual)))) {
    iterate();
  }
  made.x = on.get(x);
  return made;
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

/// Scalars of GMRES: those of the steps follow the ones of slots.
inline std::size_t gmres_slots(int restart) {
  const auto m = static_cast<std::size_t>(restart);
  return slots::cg + 2 * (m + 1) * (m + 1) + 2;
}

/// GMRES with restarts (Saad and Schultz 1986), preconditioned from the right, modified Gram-Schmidt. All
/// steps of a cycle are recorded together; the host reads the Hessenberg matrix after each cycle.
template <class Backend>
solution gmres(Backend& on, preconditioner<Backend>& m, const std::vector<double>& b, int restart,
               const stopping& when) {
  using namespace slots;
  const auto steps = static_cast<std::size_t>(restart);
  const std::vector<double> zeros(b.size(), 0.0);
  auto x = on.put(zeros);
  const auto rhs = on.put(b);
  auto z = on.put(zeros);
  auto update = on.put(zeros);
  std::vector<typename Backend::vector> basis;
  for (std::size_t j = 0; j <= steps; ++j) {
    basis.push_back(on.put(zeros));
  }
  const auto entry = [&](std::size_t i, std::size_t j) { return cg + i * (steps + 1) + j; };
  const auto negative = [&](std::size_t i, std::size_t j) { return entry(i + steps + 1, j); };
  const slot beta_of_cycle = entry(0, steps);
  on.set(one, 1);
  on.set(minus_alpha, -1);
  const auto start_cycle = on.recorded([&] {
    on.multiply(x, z);
    on.copy(rhs, basis[0]);
    on.add_scaled(minus_alpha, z, basis[0]);
    on.dot(basis[0], basis[0], residual);
    on.square_root(residual, beta_of_cycle, product);
    on.scale(product, basis[0]);
  });
  const auto cycle = on.recorded([&] {
    for (std::size_t j = 0; j < steps; ++j) {
      m.apply(basis[j], z, on);
      on.multiply(z, basis[j + 1]);
      for (std::size_t i = 0; i <= j; ++i) {
        on.dot(basis[i], basis[j + 1], entry(i, j));
        on.assign(entry(i, j), entry(i, j), negative(i, j));
        on.add_scaled(negative(i, j), basis[i], basis[j + 1]);
      }
      on.dot(basis[j + 1], basis[j + 1], residual);
      on.square_root(residual, entry(j + 1, j), product);
      on.scale(product, basis[j + 1]);
    }
  });
  solution made;
  start_cycle();
  convergence check(when, on.value(beta_of_cycle), made);
  bool goes_on = check.goes_on(on.value(beta_of_cycle));
  while (goes_on) {
    cycle();
    least_squares problem(on.value(beta_of_cycle));
    std::size_t used = 0;
    while (goes_on && used < steps) {
      std::vector<double> column;
      for (std::size_t i = 0; i < used + 2; ++i) {
        column.push_back(on.value(entry(i, used)));
      }
      ++used;
      goes_on = check.goes_on(problem.add(std::move(column)));
    }
    const std::vector<double> y = problem.solve();
    on.copy(basis[0], update);
    on.set(product, y[0]);
    on.scale(product, update);
    for (std::size_t j = 1; j < used; ++j) {
      on.set(product, y[j]);
      on.add_scaled(product, basis[j], update);
    }
    m.apply(update, z, on);
    on.add_scaled(one, z, x);
    start_cycle();
  }
  made.x = on.get(x);
  return made;
}

}  // namespace sptrsv_examples
