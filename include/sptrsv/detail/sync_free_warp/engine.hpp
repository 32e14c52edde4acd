// The engine of sync_free_warp.
#pragma once

#include <cstdint>

#include "sptrsv/detail/row_wise/engine.hpp"
#include "sptrsv/detail/sync_free_warp/agent.hpp"
#include "sptrsv/detail/sync_free_warp/tuning.hpp"

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
class engine<policy::basic_sync_free_warp<Tuning>, Scalar, Index, Offset, Executor>
    : public row_wise::engine_base<Scalar, Index, Offset, Executor> {
  using base = row_wise::engine_base<Scalar, Index, Offset, Executor>;
  template <int Columns>
  using agent = sync_free_warp::agent<Tuning, Scalar, Index, Offset, Columns>;

 public:
  engine(const policy::basic_sync_free_warp<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(a, form, max_rhs, on, resource) {
    this->renumber(policy.order, on, resource);
    this->launch_with(a.size, agent<1>::rows_per_block);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const typename base::workspace& scratch, const Executor& on) const {
    const auto system = this->system(alpha, b, x, scratch);
    if (x.columns == 1) {
      on.template launch<agent<1>>(this->blocks(), system);
    } else {
      on.template launch<agent<Tuning::columns_per_sweep>>(this->blocks(), system);
    }
  }

  void describe(solver_info& info, const Executor& on) const {
    this->describe_rows(info, "sync_free_warp", Tuning::block_threads, "a warp a row", on);
  }
};

}  // namespace detail
}  // namespace sptrsv
