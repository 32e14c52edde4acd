// SPDX-License-Identifier: Apache-2.0
// The policy supernodal: complete factors, whose columns form dense panels.
#pragma once

#include "sptrsv/memory/memory_resource.hpp"

namespace sptrsv::SPTRSV_ABI::experimental {

/// Tuning constants of supernodal. To change some, derive a struct from this one, redefine these members, and
/// give the struct to policy::basic_supernodal.
struct supernodal_tuning {
  /// Threads of a block: a power of two from 32 to 1024.
  static constexpr int block_threads = 256;
  /// Largest number of columns of a supernode. A wider one becomes a chain of several. More columns make
  /// fewer hand-offs, and more shared memory per block.
  static constexpr int max_width = 256;
  /// A supernode becomes part of its parent if at most this share of the merged panel is zeros.
  static constexpr double max_padding = 0.1;
  /// The same for merged panels of at most `narrow_width` columns, whose hand-offs cost more than their
  /// bytes.
  static constexpr double max_narrow_padding = 0.4;
  /// Largest number of columns of a narrow panel.
  static constexpr int narrow_width = 8;
  /// Shared memory of a block for parts of panels, in bytes; less where the GPU has less. A larger panel is
  /// shared by several blocks. Subtrees that fit it are solved by one block. Outside of them a panel of at
  /// most 32 columns that fits the share of a warp is solved by a warp.
  static constexpr int tile_bytes = 65536;
  /// Parts of a large panel whose rows belong to supernodes far above are solved later than the rest forward,
  /// and earlier backward: by half a level of the tree for each supernode in between, at most so many halves.
  static constexpr int lookahead = 17;
  /// Warps on an SM for which the compiler leaves registers in the kernels for one right-hand side; half as
  /// many in those for `rhs_per_sweep`.
  static constexpr int warps_per_processor = 24;
  /// Right-hand sides that are solved together in one sweep over a panel: 1, 2 or 4. More of them are solved
  /// in packs of 8, on the fp64 tensor cores where there are any.
  static constexpr int rhs_per_sweep = 4;
  /// Threads of a block in the kernels for packs, as `block_threads`.
  static constexpr int pack_block_threads = 256;
  /// Shared memory of a block for parts of panels in the kernels for packs, in bytes, as `tile_bytes`.
  static constexpr int pack_tile_bytes = 65536;
  /// If a tree has few tasks, several blocks take each task and share its packs, as long as a solve has at
  /// most so many times the blocks that the GPU runs at once.
  static constexpr int pack_sharing = 4;
  /// Warps on an SM for which the compiler leaves registers in the kernels for packs.
  static constexpr int pack_warps_per_processor = 16;
  /// Rows of the tiles in which `update_values` multiplies panels with inverse diagonal blocks: a power of
  /// two, at most 64.
  static constexpr int product_rows = 64;
  /// Columns of these tiles, for values of at most 8 bytes; half as many for larger ones. A power of two; the
  /// tile has at least 64 entries.
  static constexpr int product_columns = 32;
  /// If there are at most so many tiles with more than 16 columns, blocks share the columns of each of them.
  static constexpr int shared_products = 256;
  /// The analysis cuts merged supernodes on the host if there are at most so many of them, otherwise on the
  /// device.
  static constexpr int supernodes_on_host = 4096;
};

}  // namespace sptrsv::SPTRSV_ABI::experimental

namespace sptrsv::SPTRSV_ABI::policy {

/// Supernodes: for complete factors, as direct solvers compute them. Consecutive columns with the same
/// structure form a supernode, a dense panel; supernodes form a tree. The analysis finds the supernodes,
/// merges small ones with their parents, and `update_values` multiplies each panel with the inverse of its
/// diagonal block. A solve is then one product per supernode, and waits once per level of the tree instead of
/// once per level of the rows (the supernodal and partitioned-inverse forms of sptrsv in SuperLU_DIST and
/// KokkosKernels; partitioned inverse: Alvarado and Schreiber, SIAM J. Sci. Comput. 14(2), 1993).
///
/// A lower triangle L is solved by the supernodes of its columns, an upper triangle U by those of its rows.
/// So L and its transpose have the same supernodes. Patterns without supernodes, such as incomplete factors,
/// are solved correctly, but slower than by policy::dataflow.
///
/// The solver holds the panels, one list of rows per supernode, and a bit for each pair of a row of a panel
/// and a fundamental supernode in it, which says which entries are zeros that pad the panel. So new values
/// need no index per entry, if the columns of L (rows of U) are stored as columns or rows whose entries
/// ascend: L by columns, U by rows, and the other triangle for their transposes. Otherwise the solver holds
/// an Offset for each entry, too.
///
/// Additions are done in a fixed order: the result is the same in every bit from solve to solve. Inverses
/// change what a solution is:
///
/// - Its backward error may be up to `max_growth` times that of substitution, and is bounded for the rows of
///   a supernode together, relative to the largest of them, not for each row by itself.
/// - A component is non-finite where that of substitution is non-finite, unless finite values overflow there;
///   but an infinite component may be NaN.
/// - `analyze` cuts a supernode into smaller ones as long as its growth, computed from the values, exceeds
///   `max_growth`. A supernode of one column is solved as in substitution. If values given to `update_values`
///   later exceed the bound, solutions may be inaccurate, and `status()` reports solve_status::kind::growth.
///   Such values need another `analyze`.
///
/// @tparam Tuning supernodal_tuning, or a struct derived from it.
template <class Tuning = experimental::supernodal_tuning>
struct basic_supernodal {
  static_assert(Tuning::block_threads >= 32 && Tuning::block_threads <= 1024 &&
                    (Tuning::block_threads & (Tuning::block_threads - 1)) == 0,
                "supernodal_tuning: block_threads must be a power of two from 32 to 1024");
  static_assert(Tuning::max_width >= 1, "supernodal_tuning: max_width must be at least 1");
  static_assert(Tuning::rhs_per_sweep == 1 || Tuning::rhs_per_sweep == 2 || Tuning::rhs_per_sweep == 4,
                "supernodal_tuning: rhs_per_sweep must be 1, 2 or 4");
  static_assert(Tuning::lookahead >= 0, "supernodal_tuning: lookahead must not be negative");
  static_assert(Tuning::pack_block_threads >= 32 && Tuning::pack_block_threads <= 1024 &&
                    (Tuning::pack_block_threads & (Tuning::pack_block_threads - 1)) == 0,
                "supernodal_tuning: pack_block_threads must be a power of two from 32 to 1024");
  static_assert(Tuning::pack_sharing >= 0, "supernodal_tuning: pack_sharing must not be negative");

  static constexpr const char* name = "supernodal";  ///< in solver_info and in messages
  using default_stream = stream_handle;              ///< stream type of the solver: cudaStream_t
  using tuning = Tuning;                             ///< the tuning constants

  /// Upper bound of the growth of a supernode: the condition number ||U|| ||inv(U)|| in the maximum norm of
  /// its diagonal block U, its rows scaled to a unit diagonal.
  double max_growth = 1000;
};
/// supernodal with its own tuning constants.
using supernodal = basic_supernodal<>;

}  // namespace sptrsv::SPTRSV_ABI::policy

#include "sptrsv/detail/supernodal/supernodal_engine.hpp"
