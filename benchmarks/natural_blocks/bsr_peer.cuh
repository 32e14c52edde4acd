// cuSPARSE's solve in blocked storage (bsrsv2, which has no successor) of a lower triangle.
#pragma once

#define DISABLE_CUSPARSE_DEPRECATED  // no warnings

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/cusparse/handles.cuh"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv_benchmarks::natural_blocks {

/// Returns a lower triangle in square blocks. Rows are added behind the last one, with a one on the diagonal,
/// until blocks fill the matrix.
inline sptrsv::bsr_matrix<double> in_blocks(sptrsv::csr_matrix<double> lower, std::int64_t block) {
  while (lower.rows % block != 0) {
    lower.column_indices.push_back(static_cast<std::int32_t>(lower.rows));
    lower.values.push_back(1);
    lower.row_offsets.push_back(static_cast<std::int32_t>(lower.values.size()));
    lower.columns = ++lower.rows;
  }
  return sptrsv::to_bsr(lower, block);
}

/// The analysis of cuSPARSE of a triangle in blocks.
class bsr_peer {
 public:
  using blocks = sptrsv::device_bsr_matrix<double>;

  /// `a` and `b`, the right-hand side, must outlive this. `is_by_levels`: the policy of cuSPARSE.
  bsr_peer(const blocks& a, const sptrsv::buffer<double>& b, bool is_by_levels)
      : a_(a),
        b_(b),
        block_rows_(static_cast<int>(a.rows / a.block_size)),
        blocks_(static_cast<int>(a.column_indices.size())),
        block_(static_cast<int>(a.block_size)),
        policy_(is_by_levels ? CUSPARSE_SOLVE_POLICY_USE_LEVEL : CUSPARSE_SOLVE_POLICY_NO_LEVEL),
        x_(sptrsv::to_device(std::vector<double>(b.size()), cudaStream_t{})) {
    call(cusparseCreate(handle_.address()), "cusparseCreate");
    call(cusparseCreateMatDescr(matrix_.address()), "cusparseCreateMatDescr");
    call(cusparseSetMatFillMode(matrix_.get(), CUSPARSE_FILL_MODE_LOWER), "cusparseSetMatFillMode");
    call(cusparseCreateBsrsv2Info(info_.address()), "cusparseCreateBsrsv2Info");
    int bytes = 0;
    call(cusparseDbsrsv2_bufferSize(handle_.get(), direction, operation, block_rows_, blocks_, matrix_.get(),
                                    values(), a_.row_offsets.data(), a_.column_indices.data(), block_,
                                    info_.get(), &bytes),
         "cusparseDbsrsv2_bufferSize");
    buffer_ =
        sptrsv::to_device(std::vector<char>(static_cast<std::size_t>(std::max(bytes, 1))), cudaStream_t{});
    call(cusparseDbsrsv2_analysis(handle_.get(), direction, operation, block_rows_, blocks_, matrix_.get(),
                                  values(), a_.row_offsets.data(), a_.column_indices.data(), block_,
                                  info_.get(), policy_, buffer_.data()),
         "cusparseDbsrsv2_analysis");
  }

  /// Only enqueues.
  void solve() {
    const double one = 1;
    call(cusparseDbsrsv2_solve(handle_.get(), direction, operation, block_rows_, blocks_, &one, matrix_.get(),
                               values(), a_.row_offsets.data(), a_.column_indices.data(), block_, info_.get(),
                               b_.data(), x_.data(), policy_, buffer_.data()),
         "cusparseDbsrsv2_solve");
  }

  /// Returns the last solution. Synchronises.
  [[nodiscard]] std::vector<double> solution() const { return sptrsv::to_host(x_, cudaStream_t{}); }

 private:
  /// Returns the values of A, which the functions take as variables.
  [[nodiscard]] double* values() const { return const_cast<double*>(a_.values.data()); }
  static void call(cusparseStatus_t status, const char* what) {
    sptrsv_common::cusparse::check(status, what);
  }
  template <class Handle, auto Destroy>
  using owned = sptrsv::detail::owned<Handle, Destroy>;
  static constexpr auto direction = CUSPARSE_DIRECTION_ROW;
  static constexpr auto operation = CUSPARSE_OPERATION_NON_TRANSPOSE;

  const blocks& a_;
  const sptrsv::buffer<double>& b_;
  int block_rows_;
  int blocks_;
  int block_;
  cusparseSolvePolicy_t policy_;
  sptrsv::buffer<double> x_;
  sptrsv::buffer<char> buffer_;
  owned<cusparseHandle_t, &cusparseDestroy> handle_;
  owned<cusparseMatDescr_t, &cusparseDestroyMatDescr> matrix_;
  owned<bsrsv2Info_t, &cusparseDestroyBsrsv2Info> info_;
};

}  // namespace sptrsv_benchmarks::natural_blocks
