// cuBLAS on a factor that is a full triangle: trsv, or trsm for several right-hand sides.
#pragma once

#include <cublas_v2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/complete_factors/solver.cuh"
#include "sptrsv/error.hpp"

namespace sptrsv_benchmarks::complete_factors {

/// Throws sptrsv::error if a call of cuBLAS failed.
inline void check_cublas(cublasStatus_t status) {
  SPTRSV_EXPECTS(status == CUBLAS_STATUS_SUCCESS, sptrsv::errc::cuda_error,
                 std::string("cuBLAS failed: ") + cublasGetStatusString(status));
}

/// The solve of a full triangle by cuBLAS, in place.
class cublas_solver final : public factor_solver {
 public:
  explicit cublas_solver(std::shared_ptr<const placed_system> system)
      : factor_solver(std::move(system)), rows_(static_cast<int>(this->system().host->rows())) {
    cublasHandle_t made = nullptr;
    check_cublas(cublasCreate(&made));
    handle_ = {made, cublasDestroy};
    check_cublas(cublasSetStream(made, stream()));
  }

  /// Copies L by columns; the places above its diagonal hold zeros.
  void analyze() override {
    const matrix& lower = system().host->forward.by_rows;
    const auto n = static_cast<std::size_t>(rows_);
    std::vector<double> columns(n * n, 0);
    for (std::size_t row = 0; row < n; ++row) {
      for (auto e = static_cast<std::size_t>(lower.row_offsets[row]);
           e < static_cast<std::size_t>(lower.row_offsets[row + 1]); ++e) {
        columns[static_cast<std::size_t>(lower.column_indices[e]) * n + row] = lower.values[e];
      }
    }
    lower_ = system().where.place(columns);
  }
  void update_values() override {}
  void solve() override {
    const auto transposed = system().which == direction::forward ? CUBLAS_OP_N : CUBLAS_OP_T;
    if (system().rhs == 1) {
      check_cublas(cublasDtrsv(handle_.get(), CUBLAS_FILL_MODE_LOWER, transposed, CUBLAS_DIAG_NON_UNIT, rows_,
                               lower_.data(), rows_, x(), 1));
    } else {
      const double one = 1;
      check_cublas(cublasDtrsm(handle_.get(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, transposed,
                               CUBLAS_DIAG_NON_UNIT, rows_, static_cast<int>(system().rhs), &one,
                               lower_.data(), rows_, x(), rows_));
    }
  }
  void solve_once() override {
    SPTRSV_CUDA_CHECK(
        cudaMemcpyAsync(x(), system().b.data(), system().b.bytes(), cudaMemcpyDeviceToDevice, stream()));
    solve();
  }
  void describe() override {
    row.kernels = {system().rhs == 1 ? "cuBLAS: trsv" : "cuBLAS: trsm"};
    row.kernel_levels = row.kernel_partitions = {0};
    row.solver_bytes = lower_.bytes();
  }

 private:
  int rows_;
  std::shared_ptr<cublasContext> handle_;
  sptrsv::buffer<double> lower_;
};

}  // namespace sptrsv_benchmarks::complete_factors
