// SPDX-License-Identifier: Apache-2.0
// The work of a solve, in tasks of thread blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "sptrsv/detail/supernodal/panels.hpp"

namespace sptrsv::SPTRSV_ABI::detail::supernodal {

/// What a thread block does. A large panel is shared by several blocks, each with one tile of its rows.
enum class task_kind : std::int32_t {
  warps,  ///< each warp solves one supernode
  whole,  ///< the block solves one supernode
  /// Forward: begins the sums for some columns of a supernode, which its tiles complete. Backward: sums what
  /// the tiles of a supernode have computed for some of its columns.
  sums,
  tile,  ///< the product with some rows of a panel
  /// Backward: the product with some rows of some columns of a panel, below the diagonal block.
  strip,
  /// The same with the first of these rows, among them those of the parent. It adds what the tiles and the
  /// other strips of the supernode have computed for its columns, so that its block solves for them.
  last_strip,
  pass  ///< of a distributed solve: passes values of other PEs on, those with the numbers [begin, end)
};

/// Columns of a strip, a lane for each.
inline constexpr int strip_columns = 32;

/// The task of a thread block. Kind `warps`: warp w solves supernode small[begin + w], if begin + w < end.
/// Otherwise the block works for `node`, and [begin, end) are columns of it (sums) or rows of its panel. A
/// strip has up to strip_columns columns from `column` on.
struct task {
  supernode node;
  std::int64_t begin;
  std::int64_t end;
  /// Backward, tile and strip: where its partial sums stand among all, one per column of the supernode; sums
  /// and last_strip: those of the first tile.
  std::int64_t partials;
  std::int32_t tiles;  ///< backward, sums and last_strip: number of tiles, or tiles and rows of strips
  std::int32_t column;
  task_kind kind;
};

/// The tasks of a solve in the order of tickets: a task waits for earlier ones only.
struct task_list {
  std::vector<task> tasks;
  std::vector<supernode> small;  ///< supernodes that warps solve
  std::int64_t partials = 0;     ///< partial sums of all tiles; backward only
  std::int64_t levels = 0;       ///< of the tree
  std::uint32_t sharers = 1;     ///< blocks of a task, which share the right-hand sides

  /// Returns the number of blocks of a solve.
  [[nodiscard]] std::int64_t blocks() const { return static_cast<std::int64_t>(tasks.size()) * sharers; }
};

/// The limits of the memory of a block; see panel_space.
struct task_limits {
  std::int64_t block_threads;
  std::int64_t warp_entries;  ///< largest panel that a warp takes
  std::int64_t tile_entries;  ///< largest part of a panel that a block takes
  std::int64_t sum_columns;   ///< largest number of columns of a task of kind `sums`
  /// Backward: the blocks that share a panel take strips of so many columns and rows; 0: tiles of rows.
  std::int64_t strip_columns = 0;
  std::int64_t strip_rows = 0;
  std::int64_t lookahead =
      0;  ///< half levels by which parts of large panels are solved later or earlier, at most
  /// Forward: whether supernodes in forests have sums, too. Solves in packs need them.
  bool sums_in_forests = false;
};

}  // namespace sptrsv::SPTRSV_ABI::detail::supernodal
