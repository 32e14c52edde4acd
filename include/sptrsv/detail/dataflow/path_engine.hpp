// A system on the path of dataflow that promises to be fastest.
#pragma once

#include <cstdint>
#include <utility>

#include "sptrsv/detail/dataflow/path_planner.hpp"
#include "sptrsv/detail/dataflow/policy.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail::dataflow {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class path_engine {
  using own_paths = solve_paths<Tuning, Scalar, Index, Offset, Executor>;
  using path_name = policy::dataflow_path;
  static_assert(2 * Tuning::longest_row <= relay_slice::most_early_planes);

 public:
  using workspace = typename own_paths::workspace;

  path_engine(const policy::basic_dataflow<Tuning>& policy, const pattern_view<Index, Offset>& a,
              const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : plan_{own_paths{max_rhs, {}, {}, {}}, 0, 0, {}} {
    scratch_arena arena(arena_bytes<Executor>(a.size, a.entries, sizeof(Offset)), resource, on.stream());
    const analysis_memory memory(resource, arena);
    device_triangle<Index, Offset> triangle = build_on_device(a, form, on, memory.all_scratch());
    longest_row_ = triangle.longest_row;
    entries_ = triangle.entries() + (form.unit ? 0 : a.size);
    plan_ = path_planner<Tuning, Scalar, Index, Offset, Executor>(policy, form, a.size, a.entries, max_rhs,
                                                                  on, memory)
                .plan(std::move(triangle));
  }

  /// Whether the path that was asked for can be taken; if not, nothing else may be called.
  [[nodiscard]] bool is_planned() const { return !plan_.paths.is_empty(); }
  [[nodiscard]] bool is_grid() const { return plan_.paths.grid && !plan_.paths.relay; }
  void expect_planned(const policy::basic_dataflow<Tuning>& policy) const {
    SPTRSV_EXPECTS(
        is_planned() || policy.path != path_name::walk, errc::unsupported,
        "dataflow: this system cannot be walked: too large, the window too short for its rows, or no such "
        "shape");
    SPTRSV_EXPECTS(is_planned() || policy.path != path_name::relay, errc::unsupported,
                   "dataflow: no relay of this system: too large, more than 256 parts, too little shared "
                   "memory, or no such "
                   "shape");
  }

  void update_values(const Scalar* values, const Executor& on) { plan_.paths.update_values(values, on); }
  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return plan_.paths.make_workspace(on, resource);
  }
  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    plan_.paths.solve(alpha, b, x, scratch, on);
  }
  std::int64_t first_bad_position(const workspace& scratch, const Executor& on) const {
    return plan_.paths.first_bad_position(scratch, on);
  }
  bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    return plan_.paths.is_zero_pivot(position, on);
  }

  /// Of a solve with `max_rhs` right-hand sides, where a choice among the paths was made.
  [[nodiscard]] double predicted_nanoseconds() const { return plan_.nanoseconds; }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.entries = entries_;
    info.levels = plan_.levels;
    info.longest_row = longest_row_;
    info.plan = plan_.text;
    plan_.paths.describe(info);
  }

 private:
  std::int64_t longest_row_ = 0;
  std::int64_t entries_ = 0;
  path_plan<own_paths> plan_;
};

}  // namespace sptrsv::detail::dataflow
