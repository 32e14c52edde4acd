// SPDX-License-Identifier: Apache-2.0
// Builds the partitioned path with the chosen partitions and shape.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sptrsv/detail/analysis/split_rows.hpp"
#include "sptrsv/detail/dataflow/partitioned/build/partitioned_planner.hpp"
#include "sptrsv/detail/dataflow/partitioned/choose/partitioned_choice.hpp"
#include "sptrsv/detail/dataflow/partitioned/partitioned_path.hpp"

namespace sptrsv::detail::dataflow::partitioned {

/// Builds the partitioned path of a system with the partitions and the shape of a shape_choice.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class builder {
 public:
  using path_type = path<Tuning, Scalar, Executor>;
  using layout_type = planner<Scalar, Index, Offset, Executor>;

  builder(const shape_choice& chosen, const Executor& on, const analysis_memory& memory)
      : chosen_(chosen), planner_(planner_of(chosen, on, memory)), on_(on) {}

  /// Lays out the rows of a triangle. Returns false if its packed slices are too large.
  bool lay_out(const split_triangle<Index, Offset>& split, const row_levels<Index>& levels) {
    return planner_.lay_out(split, levels, chosen_.tiles, max_bytes);
  }
  /// Enqueues what lay_out() does before it waits; see planner::begin_layout().
  bool begin_layout(const device_triangle<Index, Offset>& triangle, bool has_partial_rows,
                    const row_levels<Index>& levels, std::uint64_t* units) {
    return planner_.begin_layout(triangle, has_partial_rows, levels, chosen_.tiles, units);
  }
  bool end_layout(std::uint64_t units) { return planner_.end_layout(units, max_bytes); }

  const buffer<Index>& columns() const { return planner_.columns(); }

  /// Returns the path of the triangle that was laid out, in memory of `kept`; see planner::pack().
  path_type pack(const split_triangle<Index, Offset>& split, const pattern_view<Index, Offset>& stored,
                 std::int64_t max_rhs, const triangle_form& form, memory_resource& kept) {
    return {planner_.pack(split, stored.size, stored.entries, form.reversed, kept),
            chosen_.shape_index,
            stored.size,
            stored.entries,
            max_rhs,
            form,
            on_};
  }

 private:
  static constexpr std::int64_t max_bytes = std::min(Tuning::partitioned_max_bytes, max_packed_bytes<Scalar>);

  static layout_type planner_of(const shape_choice& chosen, const Executor& on,
                                const analysis_memory& memory) {
    shape_values shape{};
    int warp_groups = 0;
    std::int64_t x_ring_size = 0;
    shapes_of<Tuning>::type::for_each([&](auto s, int index) {
      if (index == chosen.shape_index) {
        using layout = shared_layout<Scalar, decltype(s)>;
        shape = values_of<decltype(s)>();
        warp_groups = layout::warp_groups;
        x_ring_size = layout::x_ring_size(Tuning::partitioned_x_ring_size);
      }
    });
    return {shape, warp_groups, chosen.partitions, chosen.boxes, x_ring_size, on, memory};
  }

  shape_choice chosen_;
  layout_type planner_;
  const Executor& on_;
};

}  // namespace sptrsv::detail::dataflow::partitioned
