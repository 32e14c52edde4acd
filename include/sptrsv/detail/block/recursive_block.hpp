// The policy recursive_block.
#pragma once

#include "sptrsv/detail/block/engine.hpp"

namespace sptrsv {
namespace policy {

/// The recursive block algorithm (Lu, Niu, Liu 2020, Algorithms 6 and 7): the triangle is halved into two
/// triangles and a square between them, the triangles likewise, `depth` times; the recursion is a loop over
/// 2^depth triangles and as many squares less one. Reads of x and updates of sums grow with the depth only.
///
/// The whole triangle is renumbered in level order, and every diagonal block again by its own levels.
/// Diagonal blocks are solved level by level, by rows that poll one another, or by one thread block; what
/// lies between them is multiplied by a thread or several lanes a row, without its empty rows where they are
/// many: `kernels` says who chooses. All steps are one launch. Additions come in a fixed order: the result is
/// the same in every bit from solve to solve.
template <class Tuning = block_tuning>
struct basic_recursive_block {
  static constexpr const char* name = "recursive_block";
  using default_stream = stream_handle;
  using tuning = Tuning;

  /// Halvings, 0 to 30, as far as there are rows; -1: 2 where rows are long and blocks fill the device,
  /// else 0.
  int depth = -1;
  block_kernels kernels{};
};
using recursive_block = basic_recursive_block<>;

}  // namespace policy

namespace detail {

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

}  // namespace detail
}  // namespace sptrsv
