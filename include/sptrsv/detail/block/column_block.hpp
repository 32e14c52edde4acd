// The policy column_block.
#pragma once

#include "sptrsv/detail/block/engine.hpp"

namespace sptrsv {
namespace policy {

/// The column block algorithm (Lu, Niu, Liu 2020, Algorithm 4): a diagonal block is solved, then all that
/// lies below it is multiplied by its part of x and added to what the rows there have summed up. Reads each
/// component of x about once, and updates sums once for each block above a row.
///
/// The whole triangle is renumbered in level order, and every diagonal block again by its own levels.
/// Diagonal blocks are solved level by level, by rows that poll one another, or by one thread block; what
/// lies between them is multiplied by a thread or several lanes a row, without its empty rows where they are
/// many: `kernels` says who chooses. All steps are one launch. Additions come in a fixed order: the result is
/// the same in every bit from solve to solve.
template <class Tuning = block_tuning>
struct basic_column_block {
  static constexpr const char* name = "column_block";
  using default_stream = stream_handle;
  using tuning = Tuning;

  /// Diagonal blocks, at most as many as rows; 0: 4 where rows are long and blocks fill the device, else 1.
  int blocks = 0;
  block_kernels kernels{};
};
using column_block = basic_column_block<>;

}  // namespace policy

namespace detail {

template <class Tuning, class Scalar, class Index, class Offset, class Executor>
class engine<policy::basic_column_block<Tuning>, Scalar, Index, Offset, Executor>
    : public block::engine_base<Tuning, Scalar, Index, Offset, Executor> {
 public:
  engine(const policy::basic_column_block<Tuning>& policy, const pattern_view<Index, Offset>& a,
         const triangle_form& form, std::int64_t max_rhs, const Executor& on, memory_resource& resource)
      : block::engine_base<Tuning, Scalar, Index, Offset, Executor>(
            {block::scheme::columns, policy.blocks, policy.kernels}, a, form, max_rhs, on, resource) {}
};

}  // namespace detail
}  // namespace sptrsv
