// usage: poisson_WHAT [GRID]
//
// Solves the 7-point Poisson equation on GRID^3 points (default: 60) with AMGCL's Krylov methods,
// preconditioned by ILU(0), ILU(1), and algebraic multigrid with ILU(0) as the smoother, and prints
// iterations and times. One source for five programs: nvcc makes those of the backend `cuda`, another
// compiler those of `builtin`. With POISSON_SPTRSV, sptrsv solves with the incomplete factors; with
// POISSON_CUSPARSE (`cuda` only), cuSPARSE does, by AMGCL's own header; otherwise AMGCL does. Fails if a
// method does not converge, or, with sptrsv, if a solve with incomplete factors is not that of substitution.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#define AMGCL_NO_BOOST
#ifdef __CUDACC__
#include <amgcl/backend/cuda.hpp>
#else
#include <amgcl/backend/builtin.hpp>
#endif
#ifdef POISSON_SPTRSV
#ifdef __CUDACC__
#include "ilu_solve_cuda.hpp"
#else
#include "ilu_solve_builtin.hpp"
#endif
#endif
#ifdef POISSON_CUSPARSE
#include <amgcl/relaxation/cusparse_ilu0.hpp>
#endif
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/as_preconditioner.hpp>
#include <amgcl/relaxation/ilu0.hpp>
#include <amgcl/relaxation/iluk.hpp>
#include <amgcl/solver/bicgstab.hpp>
#include <amgcl/solver/cg.hpp>

namespace {

using host_backend = amgcl::backend::builtin<double>;
using host_matrix = host_backend::matrix;
#ifdef __CUDACC__
using backend = amgcl::backend::cuda<double>;
#else
using backend = host_backend;
#endif
using vector = backend::vector;

struct context {
  backend::params params;
  context() {
#ifdef __CUDACC__
    cusparseCreate(&params.cusparse_handle);
#endif
  }
  vector to_backend(const std::vector<double>& v) const { return vector(v.data(), v.data() + v.size()); }
  static void synchronise() {
#ifdef __CUDACC__
    cudaDeviceSynchronize();
#endif
  }
};

struct csr {
  std::vector<std::ptrdiff_t> offsets{0}, columns;
  std::vector<double> values;
  void add(std::ptrdiff_t column, double value) {
    columns.push_back(column);
    values.push_back(value);
  }
  void end_row() { offsets.push_back(static_cast<std::ptrdiff_t>(columns.size())); }
  auto as_tuple() const { return std::tie(rows(), offsets, columns, values); }
  const std::size_t& rows() const { return rows_ = offsets.size() - 1; }
  mutable std::size_t rows_ = 0;
};

csr poisson(std::ptrdiff_t grid) {
  csr a;
  const std::ptrdiff_t strides[] = {grid * grid, grid, 1};
  for (std::ptrdiff_t i = 0; i < grid * grid * grid; ++i) {
    const std::ptrdiff_t at[] = {i / strides[0], i / grid % grid, i % grid};
    for (int d = 0; d < 3; ++d) {
      if (at[d] > 0) {
        a.add(i - strides[d], -1);
      }
    }
    a.add(i, 6);
    for (int d = 2; d >= 0; --d) {
      if (at[d] < grid - 1) {
        a.add(i + strides[d], -1);
      }
    }
    a.end_row();
  }
  return a;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  context::synchronise();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool all_passed = true;

/// Solves a x = 1 twice, so that the second time is without what happens in the first call alone.
template <class Preconditioner, template <class...> class Method>
void solve(const char* name, const csr& a, const context& on) {
  using solver = amgcl::make_solver<Preconditioner, Method<backend>>;
  auto start = std::chrono::steady_clock::now();
  typename solver::params params;
  params.solver.maxiter = 2000;
  params.solver.tol = 1e-8;
  const solver solve_with(a.as_tuple(), params, on.params);
  const double setup_s = seconds_since(start);
  const vector b = on.to_backend(std::vector<double>(a.rows(), 1));
  double solve_s = 0;
  std::size_t iterations = 0;
  double error = 0;
  for (int call = 0; call < 2; ++call) {
    vector x = on.to_backend(std::vector<double>(a.rows(), 0));
    context::synchronise();
    start = std::chrono::steady_clock::now();
    std::tie(iterations, error) = solve_with(b, x);
    solve_s = seconds_since(start);
  }
  std::printf("%-34s %6zu iterations, residual %.1e, setup %9.3f ms, solve %9.3f ms\n", name, iterations,
              error, 1e3 * setup_s, 1e3 * solve_s);
  all_passed = all_passed && error < 1e-8;
}

template <class Backend>
using ilu0 = amgcl::relaxation::as_preconditioner<Backend, amgcl::relaxation::ilu0>;
template <class Backend>
using ilu1 = amgcl::relaxation::as_preconditioner<Backend, amgcl::relaxation::iluk>;
template <class Backend>
using multigrid = amgcl::amg<Backend, amgcl::coarsening::smoothed_aggregation, amgcl::relaxation::ilu0>;

#ifdef POISSON_SPTRSV
/// Solves with drawn factors by AMGCL's class, which is sptrsv's, and by substitution.
void check_solve(const context& on) {
  const std::ptrdiff_t rows = 3000;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> drawn(-1, 1);
  csr triangles[2];
  std::vector<double> inverse_pivots(rows), x(rows);
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    inverse_pivots[i] = 0.5 + 0.4 * drawn(random);
    x[i] = drawn(random);
    for (std::ptrdiff_t step : {700, 31, 1}) {
      if (i >= step && drawn(random) < 0.5) {
        triangles[0].add(i - step, 0.4 * drawn(random));
      }
      if (i + step < rows && drawn(random) < 0.5) {
        triangles[1].add(i + step, 0.4 * drawn(random));
      }
    }
    triangles[0].end_row();
    triangles[1].end_row();
  }

  auto lower = std::make_shared<host_matrix>(triangles[0].as_tuple());
  auto upper = std::make_shared<host_matrix>(triangles[1].as_tuple());
  auto pivots = std::make_shared<amgcl::backend::numa_vector<double>>(inverse_pivots);
  amgcl::relaxation::detail::ilu_solve<backend> solver(lower, upper, pivots, {}, on.params);
  vector found = on.to_backend(x);
  solver.solve(found);

  const auto product = [&](const csr& a, std::ptrdiff_t i) {
    double sum = 0;
    for (auto k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      sum += a.values[k] * x[a.columns[k]];
    }
    return sum;
  };
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    x[i] -= product(triangles[0], i);
  }
  for (std::ptrdiff_t i = rows; i-- > 0;) {
    x[i] = inverse_pivots[i] * (x[i] - product(triangles[1], i));
  }
  double difference = 0, largest = 0;
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    difference = std::fmax(difference, std::fabs(found[i] - x[i]));
    largest = std::fmax(largest, std::fabs(x[i]));
  }
  std::printf(
      "a solve with drawn factors: %.1e from substitution, relative to the largest component; %zu bytes\n",
      difference / largest, solver.bytes());
  all_passed = all_passed && difference < 1e-12 * largest;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const std::ptrdiff_t grid = argc > 1 ? std::atol(argv[1]) : 60;
  const context on;
  std::printf("AMGCL's backend %s, incomplete factors solved by %s\n", backend::name().c_str(),
#if defined(POISSON_SPTRSV)
              "sptrsv");
  check_solve(on);
#elif defined(POISSON_CUSPARSE)
              "cuSPARSE");
#else
              "AMGCL");
#endif
  const csr a = poisson(grid);
  std::printf("7-point Poisson equation, %zu rows\n", a.rows());
  solve<ilu0<backend>, amgcl::solver::cg>("CG, ILU(0)", a, on);
  solve<ilu0<backend>, amgcl::solver::bicgstab>("BiCGStab, ILU(0)", a, on);
#ifndef POISSON_CUSPARSE  // which has ILU(0) only
  solve<ilu1<backend>, amgcl::solver::bicgstab>("BiCGStab, ILU(1)", a, on);
#endif
  solve<multigrid<backend>, amgcl::solver::cg>("CG, multigrid, ILU(0)", a, on);
  return all_passed ? 0 : 1;
}
