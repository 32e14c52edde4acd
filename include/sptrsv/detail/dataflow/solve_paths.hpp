// What solves a system on the paths of dataflow: one of them, or the grid and then a relay.
#pragma once

#include <cstdint>
#include <optional>

#include "sptrsv/detail/dataflow/grid_path.hpp"
#include "sptrsv/detail/dataflow/relay_path.hpp"
#include "sptrsv/detail/dataflow/tuning.hpp"
#include "sptrsv/detail/dataflow/walk_path.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail::dataflow {

/// Nothing at first: whoever plans puts the paths in. Grid and relay, if both are there, share the pages of a
/// workspace, see launch_share.
template <class Tuning, class Scalar, class Index, class Offset, class Executor>
struct solve_paths {
  using grid_type = grid_path<Tuning, Scalar, Index, Offset, Executor>;
  using relay_type = relay_path<typename Tuning::relay_shapes, Scalar, Executor>;
  using walk_type = walk_path<typename Tuning::walk_shapes, Scalar, Offset, Executor>;

  /// Of the paths that are taken.
  struct workspace {
    std::optional<page_memory<Scalar>> pages;
    std::optional<walk_memory> walk;
  };

  std::int64_t max_rhs;
  std::optional<walk_type> walk;
  std::optional<grid_type> grid;
  std::optional<relay_type> relay;

  [[nodiscard]] bool is_empty() const { return !walk && !grid && !relay; }

  void update_values(const Scalar* values, const Executor& on) {
    for_each([&](auto& path) { path.update_values(values, on); });
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    workspace made;
    if (walk) {
      made.walk.emplace(max_rhs, on, resource);
    } else {
      made.pages.emplace(places(), page_columns(), on, resource);
    }
    return made;
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    if (walk) {
      walk->solve(alpha, b, x, *scratch.walk, on);
    }
    if (grid) {
      grid->solve(alpha, b, x, *scratch.pages, on);
    }
    if (relay) {
      relay->solve(alpha, b, x, *scratch.pages, on);
    }
  }

  std::int64_t first_bad_position(const workspace& scratch, const Executor& on) const {
    return walk ? scratch.walk->first_bad_position(on) : scratch.pages->first_bad_position(blocks(), on);
  }

  bool is_zero_pivot(std::int64_t position, const Executor& on) const {
    bool zero = false;
    for_each([&](const auto& path) { zero = zero || path.is_zero_pivot(position, on); });
    return zero;
  }

  void describe(solver_info& info) const {
    info.kernels.clear();
    info.solver_bytes = 0;
    for_each([&](const auto& path) {
      info.kernels.push_back(path.describe());
      info.solver_bytes += path.bytes();
    });
    info.workspace_bytes =
        walk ? walk_memory::bytes(max_rhs) : page_memory<Scalar>::bytes(places(), page_columns());
  }

  /// Tells grid and relay of each other.
  void share() {
    grid->share({0, blocks(), relay->places()});
    relay->share({grid->blocks(), blocks(), 0});
  }

 private:
  /// In the order of execution.
  template <class Visit>
  void for_each(Visit&& visit) {
    walk ? visit(*walk) : void();
    grid ? visit(*grid) : void();
    relay ? visit(*relay) : void();
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    walk ? visit(*walk) : void();
    grid ? visit(*grid) : void();
    relay ? visit(*relay) : void();
  }

  /// Of all launches of a solve.
  [[nodiscard]] std::uint32_t blocks() const {
    return (grid ? grid->blocks() : 0) + (relay ? relay->blocks() : 0);
  }
  /// Of the pages of a workspace.
  [[nodiscard]] std::int64_t places() const {
    return (grid ? grid->places() : 0) + (relay ? relay->places() : 0);
  }
  [[nodiscard]] std::int64_t page_columns() const {
    const std::int64_t together = relay ? relay->columns() : grid->columns();
    return simt::ceil_div(max_rhs, together) * together;
  }
};

}  // namespace sptrsv::detail::dataflow
