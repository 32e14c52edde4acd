// The policy row_block.
#pragma once

#include "sptrsv/detail/block/engine.hpp"

namespace sptrsv {
namespace policy {

/// The row block algorithm (Lu, Niu, Liu 2020, Algorithm 5): before a diagonal block is solved, all that lies
/// left of it is multiplied by the x of the blocks before. Updates each sum once, and reads x once for each
/// block below it.
///
/// The whole triangle is renumbered in level order, and every diagonal block again by its own levels.
/// Diagonal blocks are solved level by level, by rows that poll one another, or by one thread block; what
/// lies between them is multiplied by a thread or several lanes a row, without its empty rows where they are
/// many: `kernels` says who chooses. All steps are one launch. Additions come in a fixed order: the result is
/// the same in every bit from solve to solve.
template <class Tuning = block_tuning>
struct basic_row_block {
  static constexpr const char* name = "row_block";
  using default_stream = stream_handle;
  using tuning = Tuning;

  /// Diagonal blocks, at most as many as rows; 0: 4 where rows are long and blocks fill the device, else 1.
  int blocks = 0;
  block_kernels kernels{};
};
using row_block = basic_row_block<>;

}  // namespace policy

namespace detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_row_block<Tuning>, Scalar, Index, Offset, Executor>
    : public block::engine_base<Tuning, Scalar, Index, Offset, Executor> {
 public:
  engine(const policy::basic_row_block<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : block::engine_base<Tuning, Scalar, Index, Offset, Executor>(
            {block::scheme::rows, policy.blocks, policy.kernels}, a, form, max_rhs, on, resource) {}
};

}  // namespace detail
}  // namespace sptrsv
