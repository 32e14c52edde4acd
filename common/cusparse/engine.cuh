// The engine of the baseline cuSPARSE: calls cuSPARSE and adds what this library's interface promises beyond
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/cusparse/policy.hpp"
#include "common/cusparse/prepared_solve.cuh"
#include "sptrsv/detail/analysis/array_kernels.hpp"
#include "sptrsv/detail/base/make_buffer.hpp"
#include "sptrsv/detail/simt/cuda_executor.cuh"
#include "sptrsv/solver.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

namespace cusparse = sptrsv_common::cusparse;

template <class Scalar, class Index, class Offset>
class engine<cusparse::policy, Scalar, Index, Offset, cuda_executor> {
  /// The cuSPARSE analyses of one workspace.
  struct plans {
    std::optional<cusparse::prepared_solve<Scalar, false>> one_rhs;
    std::optional<cusparse::prepared_solve<Scalar, true>> many_rhs;

    [[nodiscard]] std::size_t bytes() const {
      return (one_rhs ? one_rhs->bytes() : 0) + (many_rhs ? many_rhs->bytes() : 0);
    }
  };

 public:
  struct workspace {
    std::shared_ptr<plans> prepared;  ///< null if there is nothing to solve
    /// For arrays that cuSPARSE cannot use in place.
    buffer<Scalar> packed;
    buffer<std::int64_t> first_nonfinite;
    /// The x of the last solve.
    dense_view<const Scalar> last_x;

    void reset(const cuda_executor&) {}  // no solve uses what an earlier one has left
  };

  engine(const cusparse::policy& policy, const pattern_view<Index, Offset>& a, const triangle_form& form,
         std::int64_t max_rhs, const cuda_executor& on, memory_resource& resource)
      : policy_(policy),
        form_(form),
        max_rhs_(max_rhs),
        system_(policy.validate || a.block > 1 ? cusparse::rows_of_system(a, form, on, resource)
                                               : cusparse::copy_as_stored(a, form, on, resource)),
        values_(make_buffer<Scalar>(system_.entries, on, resource)) {
    if (is_trivial()) {
      return;
    }
    // The analysis of cuSPARSE reads the values, which are not known yet.
    simt::for_each(on, system_.entries,
                   array_kernels::fill_with<Scalar>{pivot_divisor<Scalar>::one(), values_.data()});
    cusparse::check(cusparseCreate(handle_.address()), "cusparseCreate");
  }

  void update_values(const Scalar* values, const cuda_executor& on) {
    system_.take_values(values, values_, on);
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::weak_ptr<plans>& known : live_) {
      if (const std::shared_ptr<plans> prepared = known.lock()) {
        use_stream(on);
        prepared->one_rhs->update(handle_.get(), values_);
        if (prepared->many_rhs) {
          prepared->many_rhs->update(handle_.get(), values_);
        }
      }
    }
  }

  workspace make_workspace(const cuda_executor& on, memory_resource& resource) const {
    workspace made{nullptr,
                   buffer<Scalar>(packed_size(), resource, on.stream()),
                   buffer<std::int64_t>(1, resource, on.stream()),
                   {}};
    on.fill_bytes(made.first_nonfinite.data(), cusparse::all_finite_byte, made.first_nonfinite.bytes());
    if (is_trivial()) {
      return made;
    }
    on.fill_bytes(made.packed.data(), 0, made.packed.bytes());
    made.prepared = std::make_shared<plans>();
    const std::lock_guard<std::mutex> lock(mutex_);
    use_stream(on);
    made.prepared->one_rhs.emplace(handle_.get(), system_, values_,
                                   packed_view(made, 1, cusparse::rhs_layout::column_major), resource,
                                   on.stream());
    if (max_rhs_ > 1) {
      made.prepared->many_rhs.emplace(handle_.get(), system_, values_,
                                      packed_view(made, max_rhs_, policy_.layout), resource, on.stream());
    }
    on.synchronize();  // later solves may run on other streams
    live_.erase(std::remove_if(live_.begin(), live_.end(), [](const auto& known) { return known.expired(); }),
                live_.end());
    live_.push_back(made.prepared);
    plan_bytes_ = made.prepared->bytes();
    return made;
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const cuda_executor& on) const {
    if (is_trivial()) {
      copy(b, x, on, true, alpha);
    } else if (can_take(b) && can_take(x)) {
      solve_in(scratch, alpha, b, x, on);
    } else {
      const dense_view<Scalar> packed = packed_view(
          scratch, x.columns, is_whole(x.columns) ? policy_.layout : cusparse::rhs_layout::column_major);
      copy(b, packed, on);
      solve_in(scratch, alpha, packed, packed, on);
      copy(packed, x, on);
    }
    scratch.last_x = x;
    if (policy_.watch) {
      find_nonfinite(scratch, on);
    }
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const cuda_executor& on) const {
    if (!policy_.watch && scratch.last_x.columns > 0) {
      find_nonfinite(scratch, on);
    }
    const std::int64_t bad = download_value(scratch.first_nonfinite.data(), on);
    return bad == cusparse::all_finite ? -1 : bad;
  }

  bool is_zero_pivot(std::int64_t substitution_index, const workspace&, const cuda_executor& on) const {
    if (system_.unit) {
      return false;
    }
    const std::int64_t entry = system_.find_diagonal(
        form_.reversed ? system_.size - 1 - substitution_index : substitution_index, on);
    return entry < 0 || download_value(values_.data() + entry, on) == Scalar{};
  }

  void describe(solver_info& info, const cuda_executor& on) const {
    info.device = on.device_name();
    const std::string version = " of cuSPARSE " + cusparse::version();
    const std::string system = std::string(", ") +
                               (system_.sources.size() > 0 ? "the rows of op(T)" : "A as stored") +
                               (system_.transposed ? ", transposed" : "");
    if (is_trivial()) {
      info.kernels = {kernel_info{"copy_dense: no entries, nothing for cuSPARSE"}};
    } else {
      info.kernels = {kernel_info{"cusparseSpSV" + version + system}};
    }
    if (!is_trivial() && max_rhs_ > 1) {
      info.kernels.push_back(kernel_info{
          "cusparseSpSM" + version + system + ", for " + std::to_string(max_rhs_) + " right-hand sides, " +
          (policy_.layout == cusparse::rhs_layout::row_major ? "row-major" : "column-major")});
    }
    if (policy_.watch) {
      info.kernels.push_back(kernel_info{"find_nonfinite"});
    }
    info.entries = system_.entries;
    info.longest_row = system_.longest_row;
    info.solver_bytes = system_.bytes() + values_.bytes();
    info.workspace_bytes = packed_size() * sizeof(Scalar) + sizeof(std::int64_t) + plan_bytes_;
  }

 private:
  /// cuSPARSE requires arrays to be aligned to the size of an element, which for complex values is more than
  /// C++ requires. 16 bytes is the largest element size and permits vector loads.
  static constexpr std::int64_t alignment = 16;
  static constexpr std::int64_t aligned_elements =
      sizeof(Scalar) < alignment ? alignment / static_cast<std::int64_t>(sizeof(Scalar)) : 1;

  /// Returns true if the stored matrix has no entries (an empty triangle with a unit diagonal, or size 0):
  /// then x = alpha b.
  [[nodiscard]] bool is_trivial() const { return system_.entries == 0; }

  /// Returns true if SpSM solves this number of columns.
  [[nodiscard]] bool is_whole(std::int64_t columns) const { return columns > 1 && columns == max_rhs_; }

  static std::int64_t padded(std::int64_t count) {
    return simt::ceil_div(count, aligned_elements) * aligned_elements;
  }
  [[nodiscard]] std::size_t packed_size() const {
    const std::int64_t by_columns = checked_product(padded(system_.size), max_rhs_);
    const std::int64_t by_rows = policy_.layout == cusparse::rhs_layout::row_major
                                     ? checked_product(system_.size, padded(max_rhs_))
                                     : 0;
    return static_cast<std::size_t>(std::max(by_columns, by_rows));
  }
  [[nodiscard]] dense_view<Scalar> packed_view(const workspace& scratch, std::int64_t columns,
                                               cusparse::rhs_layout layout) const {
    return layout == cusparse::rhs_layout::row_major
               ? dense_view<Scalar>::row_major(scratch.packed.data(), system_.size, columns, padded(columns))
               : dense_view<Scalar>::column_major(scratch.packed.data(), system_.size, columns,
                                                  padded(system_.size));
  }

  /// Returns true if cuSPARSE can use the array in place.
  [[nodiscard]] bool can_take(dense_view<const Scalar> v) const {
    if (reinterpret_cast<std::uintptr_t>(v.data) % alignment != 0) {
      return false;
    }
    if (is_whole(v.columns)) {
      return policy_.layout == cusparse::rhs_layout::row_major
                 ? v.column_stride == 1 && v.row_stride >= v.columns
                 : v.row_stride == 1 && v.column_stride >= v.rows;
    }
    return v.row_stride == 1 && (v.columns == 1 || v.column_stride % aligned_elements == 0);
  }

  /// Solves with arrays that cuSPARSE can use in place (can_take).
  void solve_in(const workspace& scratch, const Scalar& alpha, dense_view<const Scalar> b,
                dense_view<Scalar> x, const cuda_executor& on) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    use_stream(on);
    if (is_whole(x.columns)) {
      scratch.prepared->many_rhs->solve(handle_.get(), alpha, b, x);
      return;
    }
    for (std::int64_t j = 0; j < x.columns; ++j) {
      scratch.prepared->one_rhs->solve(handle_.get(), alpha, column_of(b, j), column_of(x, j));
    }
  }
  template <class T>
  static dense_view<T> column_of(const dense_view<T>& v, std::int64_t j) {
    return dense_view<T>::column_major(v.data + j * v.column_stride, v.rows, 1, v.rows);
  }

  static void copy(dense_view<const Scalar> from, dense_view<Scalar> to, const cuda_executor& on,
                   bool scaled = false, Scalar alpha = {}) {
    simt::for_each(on, to.rows * to.columns, cusparse::copy_dense<Scalar>{from, to, scaled, alpha});
  }

  void find_nonfinite(const workspace& scratch, const cuda_executor& on) const {
    const dense_view<const Scalar>& x = scratch.last_x;
    on.fill_bytes(scratch.first_nonfinite.data(), cusparse::all_finite_byte, scratch.first_nonfinite.bytes());
    simt::for_each(on, x.rows * x.columns,
                   cusparse::find_nonfinite<Scalar>{x, form_.reversed, scratch.first_nonfinite.data()});
  }

  void use_stream(const cuda_executor& on) const {
    cusparse::check(cusparseSetStream(handle_.get(), on.stream()), "cusparseSetStream");
  }

  cusparse::policy policy_;
  triangle_form form_;
  std::int64_t max_rhs_;
  cusparse::csr_system<Index, Offset> system_;
  buffer<Scalar> values_;
  cusparse::library_handle handle_;
  mutable std::mutex mutex_;  ///< protects the handle and the two members below
  /// The analyses of all workspaces that exist.
  mutable std::vector<std::weak_ptr<plans>> live_;
  mutable std::size_t plan_bytes_ = 0;  ///< bytes of the last analysis
};

}  // namespace sptrsv::SPTRSV_ABI::detail
