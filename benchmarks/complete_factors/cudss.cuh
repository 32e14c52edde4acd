// cuDSS, NVIDIA's direct solver. It factorises a symmetric positive definite matrix itself; the phases
// SOLVE_FWD and SOLVE_BWD are its solves with L and L^T.
#pragma once

#ifdef SPTRSV_WITH_CUDSS

#include <cudss.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "benchmarks/complete_factors/solver.cuh"
#include "sptrsv/error.hpp"

namespace sptrsv_benchmarks::complete_factors {

/// Throws sptrsv::error if a call of cuDSS failed.
inline void check_cudss(cudssStatus_t status, const char* what) {
  SPTRSV_EXPECTS(status == CUDSS_STATUS_SUCCESS, sptrsv::errc::cuda_error,
                 std::string(what) + " of cuDSS failed with status " + std::to_string(status));
}

/// Owner of an object of cuDSS.
template <class Object>
using cudss_owner = std::shared_ptr<std::remove_pointer_t<Object>>;

/// A dense matrix of cuDSS, by columns. Does not own the values.
inline cudss_owner<cudssMatrix_t> cudss_columns(const double* values, std::int64_t rows,
                                                std::int64_t columns) {
  cudssMatrix_t made = nullptr;
  check_cudss(cudssMatrixCreateDn(&made, rows, columns, rows, values, CUDA_R_64F, CUDSS_LAYOUT_COL_MAJOR),
              "a vector");
  return {made, cudssMatrixDestroy};
}

/// A matrix factorised by cuDSS.
class cudss_factor {
 public:
  /// Factorises in cuDSS's own ordering, or, if `same_order`, in that of the system's factor. `rhs`: the
  /// largest number of right-hand sides.
  cudss_factor(const factor_system& system, bool same_order, std::int64_t rhs, device_machine& where)
      : where_(where),
        rows_(system.rows()),
        lower_(where.place(system.factored.lower)),
        handle_(create<cudssHandle_t>(cudssCreate), cudssDestroy),
        config_(create<cudssConfig_t>(cudssConfigCreate), cudssConfigDestroy),
        data_(create<cudssData_t>([&](cudssData_t* made) { return cudssDataCreate(handle_.get(), made); }),
              [handle = handle_](cudssData_t data) { cudssDataDestroy(handle.get(), data); }) {
    check_cudss(cudssSetStream(handle_.get(), where.stream()), "the stream");
    // The host's threads, if CUDSS_THREADING_LIB names the library that starts them.
    static_cast<void>(cudssSetThreadingLayer(handle_.get(), nullptr));
    cudssMatrix_t matrix = nullptr;
    check_cudss(cudssMatrixCreateCsr(
                    &matrix, rows_, rows_, static_cast<std::int64_t>(system.factored.lower.values.size()),
                    lower_.row_offsets.data(), nullptr, lower_.column_indices.data(), lower_.values.data(),
                    CUDA_R_32I, CUDA_R_32I, CUDA_R_64F, CUDSS_MTYPE_SPD, CUDSS_MVIEW_LOWER, CUDSS_BASE_ZERO),
                "the matrix");
    matrix_ = {matrix, cudssMatrixDestroy};
    if (same_order) {
      permutation_ = system.factored.permutation;
      check_cudss(cudssDataSet(handle_.get(), data_.get(), CUDSS_DATA_USER_PERM, permutation_.data(),
                               permutation_.size() * sizeof(permutation_[0])),
                  "the permutation");
    }
    const auto vectors = where.place(std::vector<double>(static_cast<std::size_t>(rows_ * rhs)));
    const auto columns = cudss_columns(vectors.data(), rows_, rhs);
    analysis_ms_ = where.elapsed([&] { run(CUDSS_PHASE_ANALYSIS, columns, columns); });
    factorization_ms_ = where.elapsed([&] { run(CUDSS_PHASE_FACTORIZATION, columns, columns); });
    std::size_t written = 0;
    check_cudss(
        cudssDataGet(handle_.get(), data_.get(), CUDSS_DATA_LU_NNZ, &entries_, sizeof(entries_), &written),
        "the size of the factor");
  }

  /// Runs phases; enqueues a phase of a solve.
  void run(int phases, const cudss_owner<cudssMatrix_t>& x, const cudss_owner<cudssMatrix_t>& b) const {
    check_cudss(
        cudssExecute(handle_.get(), phases, config_.get(), data_.get(), matrix_.get(), x.get(), b.get()),
        "a phase");
  }

  [[nodiscard]] std::int64_t entries() const { return entries_; }
  [[nodiscard]] double analysis_ms() const { return analysis_ms_; }
  [[nodiscard]] double factorization_ms() const { return factorization_ms_; }

 private:
  template <class Object, class Create>
  static Object create(const Create& make) {
    Object made = nullptr;
    check_cudss(make(&made), "an object");
    return made;
  }

  device_machine& where_;
  std::int64_t rows_;
  sptrsv::device_csr_matrix<double, std::int32_t> lower_;
  std::vector<std::int32_t> permutation_;
  cudss_owner<cudssHandle_t> handle_;
  cudss_owner<cudssConfig_t> config_;
  cudss_owner<cudssData_t> data_;
  cudss_owner<cudssMatrix_t> matrix_;
  std::int64_t entries_ = 0;
  double analysis_ms_ = 0;
  double factorization_ms_ = 0;
};

/// Returns the largest component of b - A x over the largest of |A| |x| + |b|, which a stable factorisation
/// keeps small. `lower`: the lower triangle of A.
inline sptrsv::backward_error_result error_for_all_rows(const matrix& lower, const double* b,
                                                        const double* x) {
  const auto n = static_cast<std::size_t>(lower.rows);
  std::vector<long double> residual(b, b + n);
  std::vector<long double> size(n);
  std::transform(b, b + n, size.begin(), [](double v) { return std::abs(v); });
  const auto add = [&](std::size_t row, long double value, std::size_t column) {
    residual[row] -= value * x[column];
    size[row] += std::abs(value * x[column]);
  };
  for (std::size_t row = 0; row < n; ++row) {
    for (auto e = static_cast<std::size_t>(lower.row_offsets[row]);
         e < static_cast<std::size_t>(lower.row_offsets[row + 1]); ++e) {
      const auto column = static_cast<std::size_t>(lower.column_indices[e]);
      add(row, lower.values[e], column);
      if (column != row) {
        add(column, lower.values[e], row);
      }
    }
  }
  const long double largest = *std::max_element(size.begin(), size.end());
  sptrsv::backward_error_result found;
  found.bound = 1e-12;
  for (const long double r : residual) {
    found.error = std::isfinite(r) ? std::max(found.error, static_cast<double>(std::abs(r) / largest))
                                   : std::numeric_limits<double>::infinity();
  }
  return found;
}

/// The forward or backward solve of cuDSS with its own factor of the system's matrix.
class cudss_solver final : public factor_solver {
 public:
  cudss_solver(std::shared_ptr<const cudss_factor> factor, std::shared_ptr<const placed_system> system)
      : factor_solver(std::move(system)),
        factor_(std::move(factor)),
        x_(cudss_columns(x(), this->system().host->rows(), this->system().rhs)),
        b_(cudss_columns(this->system().b.data(), this->system().host->rows(), this->system().rhs)) {}

  void analyze() override {}
  void update_values() override {}
  void solve() override {
    factor_->run(system().which == direction::forward ? CUDSS_PHASE_SOLVE_FWD : CUDSS_PHASE_SOLVE_BWD, x_,
                 b_);
  }
  /// The factor is known to cuDSS only, so the whole solve of the matrix is checked.
  void solve_once() override { factor_->run(CUDSS_PHASE_SOLVE, x_, b_); }
  void describe() override {
    row.kernels = {"cuDSS: " + std::to_string(factor_->entries()) + " entries in the factor"};
    row.kernel_levels = row.kernel_partitions = {0};
    row.system.structure = {row.system.structure.rows, factor_->entries(), 0, 0, 0, 0};
    row.analysis = {factor_->analysis_ms()};
    row.update = {factor_->factorization_ms()};
  }
  [[nodiscard]] error_function error_of_solutions() const override {
    return [host = system().host](const double* b, const double* x) {
      return error_for_all_rows(host->factored.lower, b, x);
    };
  }

 private:
  std::shared_ptr<const cudss_factor> factor_;
  cudss_owner<cudssMatrix_t> x_;
  cudss_owner<cudssMatrix_t> b_;
};

}  // namespace sptrsv_benchmarks::complete_factors

#endif
