// What the analyses of both triangles of a matrix begin with.
#pragma once

#include <cstdint>

#include "sptrsv/detail/dataflow/planner.hpp"

namespace sptrsv::detail::dataflow {

/// Both triangles of a matrix, prepared for their planners with what they can share. `Policy`: a
/// policy::basic_dataflow.
template <class Policy, class Scalar, class Index, class Offset, class Executor>
class joint_analysis {
  using planner_type = planner<Policy, Scalar, Index, Offset, Executor>;

 public:
  /// `a`: the pattern of the stored matrix, without faults in its shape. `kept`: the resource of the analyses
  /// that follow; it outlives them. `scratch`: of what ends with this object. Synchronises.
  joint_analysis(const Policy& policy, const pattern_view<Index, Offset>& a, const triangle_form (&forms)[2],
                 std::int64_t max_rhs, const Executor& on, memory_resource& kept, memory_resource& scratch)
      : arena_(2 * arena_bytes<Executor>(a.size, a.entries, sizeof(Offset)), scratch, on.stream()),
        words_(arena_),
        is_prepared_(
            planner_type::prepare_both(policy, a, forms, max_rhs, on, {kept, arena_, &words_}, triangles_)) {}
  joint_analysis(const joint_analysis&) = delete;
  joint_analysis& operator=(const joint_analysis&) = delete;

  /// Returns whether the triangles are prepared. If not, each of them is to be analysed alone.
  [[nodiscard]] bool is_prepared() const { return is_prepared_; }
  /// Returns a triangle that may be analysed once, with pattern_view::prepared.
  [[nodiscard]] prepared_triangle<Index, Offset>& triangle(int k) { return triangles_[k]; }

 private:
  scratch_arena arena_;
  simt::scan_words words_;
  prepared_triangle<Index, Offset> triangles_[2];
  bool is_prepared_;
};

}  // namespace sptrsv::detail::dataflow
