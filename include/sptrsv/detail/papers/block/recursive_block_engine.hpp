// The engine of recursive_block.
#pragma once

#include "sptrsv/detail/papers/block/block_engine.hpp"
#include "sptrsv/policy/recursive_block.hpp"

namespace sptrsv::detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_recursive_block<Tuning>, Scalar, Index, Offset, Executor>
    : public block::engine_base<Tuning, Scalar, Index, Offset, Executor> {
 public:
  engine(const policy::basic_recursive_block<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : block::engine_base<Tuning, Scalar, Index, Offset, Executor>(
            {block::scheme::recursive, blocks_of(policy.depth), policy.kernels}, a, form, max_rhs, on,
            resource) {}

 private:
  static std::int64_t blocks_of(int depth) {
    SPTRSV_EXPECTS(depth <= 30, errc::invalid_argument, "recursive_block: a depth above 30");
    return depth < 0 ? 0 : std::int64_t{1} << depth;
  }
};

}  // namespace sptrsv::detail
