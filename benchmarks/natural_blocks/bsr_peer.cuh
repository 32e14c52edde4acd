// cuSPARSE's solve in blocked storage (bsrsv2, which has no successor) of a lower triangle.
#pragma once

#define DISABLE_CUSPARSE_DEPRECATED  // no warnings

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/cusparse/handles.cuh"
#include "sptrsv/detail/base/at.hpp"
#include "sptrsv/device_matrix.hpp"
#include "sptrsv/matrix.hpp"

namespace sptrsv_benchmarks::natural_blocks {

/// A triangle in square blocks, and the analysis of cuSPARSE. Rows are added behind the last one, with a one
/// on the diagonal, until blocks fill the matrix.
class bsr_peer {
 public:
  /// `b`: the right-hand side, in host memory. `is_by_levels`: the policy of cuSPARSE.
  bsr_peer(const sptrsv::csr_matrix<double>& lower, int block, const std::vector<double>& b,
           bool is_by_levels)
      : block_(block),
        policy_(is_by_levels ? CUSPARSE_SOLVE_POLICY_USE_LEVEL : CUSPARSE_SOLVE_POLICY_NO_LEVEL) {
    const auto rows = static_cast<int>(lower.rows);
    block_rows_ = (rows + block - 1) / block;
    std::vector<int> offsets{0};
    std::vector<int> columns;
    std::vector<double> values;
    std::vector<int> place(at(block_rows_), -1);  // by block of a row: its number
    for (int i = 0; i < block_rows_; ++i) {
      const int first = offsets.back();
      const auto begin = lower.row_offsets[at(i * block)];
      const auto end = lower.row_offsets[at(std::min((i + 1) * block, rows))];
      for (auto e = begin; e < end; ++e) {
        columns.push_back(lower.column_indices[at(e)] / block);
      }
      std::sort(columns.begin() + first, columns.end());
      columns.erase(std::unique(columns.begin() + first, columns.end()), columns.end());
      for (std::size_t k = at(first); k < columns.size(); ++k) {
        place[at(columns[k])] = static_cast<int>(k);
      }
      offsets.push_back(static_cast<int>(columns.size()));
      values.resize(columns.size() * at(block * block), 0.0);
      const auto value_at = [&](int row, int column) -> double& {
        return values[at((place[at(column / block)] * block + row % block) * block + column % block)];
      };
      for (int row = i * block; row < (i + 1) * block; ++row) {
        for (auto e = row < rows ? lower.row_offsets[at(row)] : 0;
             row < rows && e < lower.row_offsets[at(row) + 1]; ++e) {
          value_at(row, lower.column_indices[at(e)]) = lower.values[at(e)];
        }
        if (row >= rows) {
          value_at(row, row) = 1;
        }
      }
    }
    blocks_ = static_cast<int>(columns.size());
    offsets_ = sptrsv::to_device(offsets, cudaStream_t{});
    columns_ = sptrsv::to_device(columns, cudaStream_t{});
    values_ = sptrsv::to_device(values, cudaStream_t{});
    std::vector<double> padded = b;
    padded.resize(at(block_rows_ * block));
    b_ = sptrsv::to_device(padded, cudaStream_t{});
    x_ = sptrsv::to_device(padded, cudaStream_t{});
    call(cusparseCreate(handle_.address()), "cusparseCreate");
    call(cusparseCreateMatDescr(matrix_.address()), "cusparseCreateMatDescr");
    call(cusparseSetMatFillMode(matrix_.get(), CUSPARSE_FILL_MODE_LOWER), "cusparseSetMatFillMode");
    call(cusparseCreateBsrsv2Info(info_.address()), "cusparseCreateBsrsv2Info");
    int bytes = 0;
    call(cusparseDbsrsv2_bufferSize(handle_.get(), direction, operation, block_rows_, blocks_, matrix_.get(),
                                    values_.data(), offsets_.data(), columns_.data(), block_, info_.get(),
                                    &bytes),
         "cusparseDbsrsv2_bufferSize");
    buffer_ = sptrsv::to_device(std::vector<char>(at(std::max(bytes, 1))), cudaStream_t{});
    call(cusparseDbsrsv2_analysis(handle_.get(), direction, operation, block_rows_, blocks_, matrix_.get(),
                                  values_.data(), offsets_.data(), columns_.data(), block_, info_.get(),
                                  policy_, buffer_.data()),
         "cusparseDbsrsv2_analysis");
  }

  /// Only enqueues.
  void solve() {
    const double one = 1;
    call(cusparseDbsrsv2_solve(handle_.get(), direction, operation, block_rows_, blocks_, &one, matrix_.get(),
                               values_.data(), offsets_.data(), columns_.data(), block_, info_.get(),
                               b_.data(), x_.data(), policy_, buffer_.data()),
         "cusparseDbsrsv2_solve");
  }

  /// Returns the first `rows` components of the last solution. Synchronises.
  [[nodiscard]] std::vector<double> solution(std::size_t rows) const {
    auto x = sptrsv::to_host(x_, cudaStream_t{});
    x.resize(rows);
    return x;
  }
  /// Returns the stored values, zeros included.
  [[nodiscard]] std::int64_t values() const { return std::int64_t{blocks_} * block_ * block_; }

 private:
  template <class Integer>
  static std::size_t at(Integer i) {
    return static_cast<std::size_t>(i);
  }
  static void call(cusparseStatus_t status, const char* what) {
    sptrsv_common::cusparse::check(status, what);
  }
  template <class Handle, auto Destroy>
  using owned = sptrsv::detail::owned<Handle, Destroy>;
  static constexpr auto direction = CUSPARSE_DIRECTION_ROW;
  static constexpr auto operation = CUSPARSE_OPERATION_NON_TRANSPOSE;

  int block_;
  int block_rows_;
  int blocks_;
  cusparseSolvePolicy_t policy_;
  sptrsv::buffer<int> offsets_;
  sptrsv::buffer<int> columns_;
  sptrsv::buffer<double> values_;
  sptrsv::buffer<double> b_;
  sptrsv::buffer<double> x_;
  sptrsv::buffer<char> buffer_;
  owned<cusparseHandle_t, &cusparseDestroy> handle_;
  owned<cusparseMatDescr_t, &cusparseDestroyMatDescr> matrix_;
  owned<bsrsv2Info_t, &cusparseDestroyBsrsv2Info> info_;
};

}  // namespace sptrsv_benchmarks::natural_blocks
