// The engine of sync_free_warp.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/analysis/level_order.hpp"
#include "sptrsv/detail/choices.hpp"
#include "sptrsv/detail/sync_free_warp/agent.hpp"
#include "sptrsv/detail/sync_free_warp/tuning.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv {
namespace policy {

/// Row-wise and synchronisation-free: one warp a row, each row waits for the values that it needs and for
/// nothing else (Dufrechou and Ezzatti 2018; with rows in level order, 2020). Every value of x is its own
/// flag, rows are taken by ticket, and the order of additions is fixed: the result is the same in every bit
/// from solve to solve.
template <class Tuning = sync_free_warp_tuning>
struct basic_sync_free_warp {
  static constexpr const char* name = "sync_free_warp";
  using default_stream = stream_handle;
  using tuning = Tuning;

  row_order order = row_order::levels;
};
using sync_free_warp = basic_sync_free_warp<>;

}  // namespace policy

namespace detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_sync_free_warp<Tuning>, Scalar, Index, Offset, Executor> {
  template <int Columns>
  using agent = sync_free_warp::agent<Tuning, Scalar, Index, Offset, Columns>;

 public:
  using workspace = page_memory<Scalar>;

  engine(const policy::basic_sync_free_warp<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : form_(form),
        max_rhs_(max_rhs),
        triangle_(build_on_device(a, form, on, resource)),
        numbers_(triangle_.entries(), form.unit ? 0 : a.size, on, resource) {
    if (policy.order == policy::row_order::levels) {
      levels_ = levels_on_device(triangle_, on, resource);
      triangle_ = in_level_order(triangle_, levels_, on, resource);
    }
  }

  void update_values(const Scalar* values, const Executor& on) {
    numbers_.gather(values, triangle_.sources.data(), triangle_.diagonal_sources.data(), form_.conjugated,
                    on);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return {triangle_.size, max_rhs_, on, resource};
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    const sync_free_warp::system_params<Scalar, Index, Offset> p{triangle_.size,
                                                                 form_.reversed,
                                                                 triangle_.row_offsets.data(),
                                                                 triangle_.columns.data(),
                                                                 numbers_.values(),
                                                                 numbers_.diagonal(),
                                                                 levels_.rows.data(),
                                                                 scratch.pages(),
                                                                 alpha,
                                                                 b,
                                                                 x};
    if (x.columns == 1) {
      on.template launch<agent<1>>(blocks(), p);
    } else {
      on.template launch<agent<Tuning::columns_per_sweep>>(blocks(), p);
    }
  }

  std::int64_t first_bad_position(const workspace& scratch, const Executor& on) const {
    return scratch.first_bad_position(blocks(), on);
  }

  bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    return numbers_.is_zero_pivot(levels_.place_of(position, on), on);
  }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.kernels = {"sync_free_warp: " + std::to_string(blocks()) + " blocks of " +
                    std::to_string(Tuning::block_threads) + " threads, a warp a row, in " +
                    (levels_.rows.size() > 0 ? "level order" : "natural order")};
    info.entries = triangle_.entries() + (form_.unit ? 0 : triangle_.size);
    info.levels = levels_.count;
    info.longest_row = triangle_.longest_row;
    info.solver_bytes = triangle_.bytes() + numbers_.bytes() + levels_.bytes();
    info.workspace_bytes = page_memory<Scalar>::bytes(triangle_.size, max_rhs_);
  }

 private:
  [[nodiscard]] std::uint32_t blocks() const {
    return static_cast<std::uint32_t>(simt::ceil_div(triangle_.size, agent<1>::rows_per_block));
  }

  triangle_form form_;
  std::int64_t max_rhs_;
  device_levels<Index> levels_;  ///< empty where rows keep the order of substitution
  device_triangle<Index, Offset> triangle_;
  device_values<Scalar, Executor> numbers_;
};

}  // namespace detail
}  // namespace sptrsv
