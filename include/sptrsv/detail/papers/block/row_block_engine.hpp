// The engine of row_block.
#pragma once

#include "sptrsv/detail/papers/block/block_engine.hpp"
#include "sptrsv/policy/row_block.hpp"

namespace sptrsv::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_row_block<Tuning>, Scalar, Index, Offset, Executor>
    : public block::engine_base<Tuning, Scalar, Index, Offset, Executor> {
 public:
  engine(const policy::basic_row_block<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : block::engine_base<Tuning, Scalar, Index, Offset, Executor>(
            {block::scheme::rows, policy.blocks, policy.kernels}, a, form, max_rhs, on, resource) {}
};

}  // namespace sptrsv::detail
