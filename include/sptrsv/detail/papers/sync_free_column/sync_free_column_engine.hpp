// The engine of sync_free_column: stores the columns of the system and the number of entries of each row.
#pragma once

#include <cstdint>
#include <string>

#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/analysis/device_values.hpp"
#include "sptrsv/detail/papers/sync_free_column/sync_free_column_agent.hpp"
#include "sptrsv/policy/sync_free_column.hpp"
#include "sptrsv/solver.hpp"

namespace sptrsv::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_sync_free_column<Tuning>, Scalar, Index, Offset, Executor> {
  template <int Columns>
  using agent = sync_free_column::agent<Tuning, Scalar, Index, Offset, Columns>;

 public:
  using workspace = counted_storage<Scalar, Index>;

  engine(const policy::basic_sync_free_column<Tuning>&, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : form_(form),
        max_rhs_(max_rhs),
        columns_(build_columns_on_device(a, form, on, resource)),
        in_degrees_(count_in_degrees_on_device(
            columns_, Tuning::shared_updates ? agent<1>::columns_per_block : 0, on, resource)),
        values_(columns_.entries(), form.unit ? 0 : a.size, on, resource) {}

  void update_values(const Scalar* values, const Executor& on) {
    values_.gather(values, columns_.sources.data(), columns_.diagonal_sources.data(), form_.conjugated, on);
  }

  workspace make_workspace(const Executor& on, memory_resource& resource) const {
    return {columns_.size, max_rhs_, on, resource};
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x, workspace& scratch,
             const Executor& on) const {
    sync_free_column::system_params<Scalar, Index, Offset> p{};
    p.size = columns_.size;
    p.reversed = form_.reversed;
    p.column_offsets = columns_.column_offsets.data();
    p.rows = columns_.rows.data();
    p.values = values_.values();
    p.diagonal = values_.diagonal();
    p.in_degree = in_degrees_.total.data();
    p.in_degree_inside = in_degrees_.inside.data();
    p.far = scratch.unknowns();
    p.alpha = alpha;
    p.b = b;
    p.x = x;
    if (x.columns == 1) {
      on.template launch<agent<1>>(blocks(), p);
    } else {
      on.template launch<agent<Tuning::rhs_per_sweep>>(blocks(), p);
    }
  }

  std::int64_t first_nonfinite_index(const workspace& scratch, const Executor& on) const {
    return scratch.first_nonfinite_index(blocks(), on);
  }

  bool is_zero_pivot(std::int64_t substitution_index, const workspace& scratch, const Executor& on) const {
    const Index* const in_substitution_order = nullptr;
    return values_.is_zero_pivot(substitution_index, in_substitution_order, scratch.status_flag(), on);
  }

  void describe(solver_info& info, const Executor& on) const {
    info.device = on.device_name();
    info.kernels = {kernel_info{"sync_free_column: " + std::to_string(blocks()) + " blocks of " +
                                std::to_string(Tuning::block_threads) +
                                " threads, one warp per column, updates through " +
                                (Tuning::shared_updates ? "shared and global memory" : "global memory")}};
    info.bit_reproducible = false;
    info.entries = columns_.entries() + (form_.unit ? 0 : columns_.size);
    info.longest_row = in_degrees_.longest;
    info.solver_bytes = columns_.bytes() + in_degrees_.bytes() + values_.bytes();
    info.workspace_bytes = workspace::bytes(columns_.size, max_rhs_);
  }

 private:
  [[nodiscard]] std::uint32_t blocks() const {
    return simt::block_count(columns_.size, agent<1>::columns_per_block);
  }

  triangle_form form_;
  std::int64_t max_rhs_;
  device_columns<Index, Offset> columns_;
  in_degrees<Index> in_degrees_;
  device_values<Scalar, Executor> values_;
};

}  // namespace sptrsv::detail
