// The critical-path model: predicts the time of a solve for a grid of PEs, and chooses the grid.
//
// It follows the supernodes in the order of levels (Ding, Williams, Liu and Li 2020). A supernode is solved
// when the sums of all PEs for its rows have arrived. A PE sums when x of its columns has arrived. A message
// costs one remote hop for each edge of its tree, and a hand-off within a PE a local hop. No solve is faster
// than the PE with the most bytes reads them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sptrsv/detail/distributed/plan.hpp"

namespace sptrsv::detail::distributed {

/// The properties of a machine that the model uses.
struct machine_costs {
  double local_hop_ns = 262;   ///< from the store of a value to its use by another block of the PE; measured
  double remote_hop_ns = 673;  ///< the same for another PE; measured between two H200 over NVLink
  double bytes_per_ns = 4800;  ///< memory bandwidth of a PE; of an H200, by its data sheet
  double warp_bytes_per_ns = 4;  ///< bandwidth of one warp; assumed, not measured
};

/// The parts of a predicted time in nanoseconds.
struct predicted_solve {
  double critical_path_ns = 0;
  double bandwidth_ns = 0;  ///< of the PE with the most bytes

  [[nodiscard]] double total_ns() const { return std::max(critical_path_ns, bandwidth_ns); }
};

/// Predicts the time of a solve by a plan with trees. `entry_bytes`: of a value and its index.
inline predicted_solve predict(const shared_plan& plan, const std::vector<block_index>& blocks,
                               const machine_costs& costs, double entry_bytes) {
  const auto count = static_cast<std::size_t>(plan.count());
  std::vector<double> ready(count, 0);
  std::vector<double> bytes(plan.first_row.size() - 1, 0);
  predicted_solve result;
  std::size_t next = 0;  // blocks are sorted by rows, so a supernode is complete before it is needed
  for (std::size_t s = 0; s < count; ++s) {
    for (; next < blocks.size() && blocks[next].row == static_cast<std::int64_t>(s); ++next) {
      const block_index& b = blocks[next];
      const int pe = plan.grid.owner(b.row, b.column);
      const auto column = static_cast<std::size_t>(b.column);
      const int depth = plan.column_trees[column].depth(pe);
      const double read = static_cast<double>(b.entries) * entry_bytes;
      const double arrival = ready[column] + (depth == 0 ? costs.local_hop_ns : depth * costs.remote_hop_ns);
      ready[s] = std::max(ready[s], arrival + read / costs.warp_bytes_per_ns +
                                        plan.row_trees[s].depth(pe) * costs.remote_hop_ns);
      bytes[static_cast<std::size_t>(pe)] += read;
    }
    const auto width = static_cast<double>(plan.first[s + 1] - plan.first[s]);
    const double read = width * (width + 1) / 2 * entry_bytes;
    ready[s] += read / costs.warp_bytes_per_ns;
    bytes[static_cast<std::size_t>(plan.row_trees[s].root())] += read;
    result.critical_path_ns = std::max(result.critical_path_ns, ready[s]);
  }
  for (const double of_pe : bytes) {
    result.bandwidth_ns = std::max(result.bandwidth_ns, of_pe / costs.bytes_per_ns);
  }
  return result;
}

/// Gives the plan the grid, of at most `pes` PEs, that is predicted to be fastest, and its trees. Of two that
/// are equal it takes the one with fewer PEs. Returns the prediction.
inline predicted_solve choose_grid(shared_plan& plan, const std::vector<block_index>& blocks, int pes,
                                   int flat_tree, const machine_costs& costs, double entry_bytes) {
  pe_grid best;
  predicted_solve fastest;
  for (int used = 1; used <= pes; ++used) {
    for (int rows = 1; rows <= used; ++rows) {
      if (used % rows != 0) {
        continue;
      }
      plan.grid = {rows, used / rows};
      make_trees(plan, blocks, flat_tree);
      const predicted_solve now = predict(plan, blocks, costs, entry_bytes);
      if (best.rows == 0 || now.total_ns() < fastest.total_ns()) {
        best = plan.grid;
        fastest = now;
      }
    }
  }
  plan.grid = best;
  make_trees(plan, blocks, flat_tree);
  return fastest;
}

}  // namespace sptrsv::detail::distributed
