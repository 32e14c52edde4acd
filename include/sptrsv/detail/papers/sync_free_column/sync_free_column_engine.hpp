// SPDX-License-Identifier: Apache-2.0
// The engine of sync_free_column: stores the columns of the system and the number of entries of each row.
#pragma once

#include <cstdint>

#include "sptrsv/detail/analysis/device_columns.hpp"
#include "sptrsv/detail/papers/paper_engine.hpp"
#include "sptrsv/detail/papers/sync_free_column/sync_free_column_agent.hpp"
#include "sptrsv/policy/sync_free_column.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_sync_free_column<Tuning>, Scalar, Index, Offset, Executor>
    : public paper_engine<Scalar, Index, Offset, Executor, counted_storage<Scalar, Index>> {
  using base = paper_engine<Scalar, Index, Offset, Executor, counted_storage<Scalar, Index>>;
  template <int Columns>
  using agent = sync_free_column::agent<Tuning, Scalar, Index, Offset, Columns>;
  using for_one = agent<1>;
  using for_several = agent<Tuning::rhs_per_sweep>;

 public:
  engine(const policy::basic_sync_free_column<Tuning>&, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : base(form, max_rhs, on, resource) {
    device_columns<Index, Offset> columns = build_columns_on_device(a, form, on, resource);
    in_degrees_ = count_in_degrees(a.size, columns.column_offsets.data(), columns.rows,
                                   Tuning::shared_updates ? agent<1>::columns_per_block : 0, on, resource);
    this->take_columns(std::move(columns));
    this->triangle_.longest_row = in_degrees_.longest;
    this->allocate_values(on, resource);
    this->blocks_ = simt::block_count(a.size, agent<1>::columns_per_block);
  }

  void solve(Scalar alpha, dense_view<const Scalar> b, dense_view<Scalar> x,
             const typename base::workspace& scratch, const Executor& on) const {
    this->template launch_solve<for_one, for_several>(alpha, b, x, scratch.unknowns(), on,
                                                      in_degrees_.total.data(), in_degrees_.inside.data());
  }

  void describe(solver_info& info, const Executor& on) const {
    this->describe_system(info, on);
    info.kernels = {kernel_info{this->launch_text("sync_free_column", Tuning::block_threads) +
                                "one warp per column, updates through " +
                                (Tuning::shared_updates ? "shared and global memory" : "global memory")}};
    info.bit_reproducible = false;
    info.solver_bytes += in_degrees_.bytes();
  }

 private:
  in_degrees<Index> in_degrees_;
};

}  // namespace sptrsv::SPTRSV_ABI::detail
