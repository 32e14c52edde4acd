// SPDX-License-Identifier: Apache-2.0
// The policy of solves over several GPUs, and what each of them hands in. The solver is in
// sptrsv/distributed.hpp; policy.hpp does not include this header.
#pragma once

#include <cstdint>

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI {

/// The rows of a distributed matrix that one PE hands in: consecutive ones, in host memory. The rows of PE r
/// follow those of PE r - 1. A PE may have none.
template <class Value, class Index = std::int32_t, class Offset = Index>
struct row_part {
  std::int64_t first_row = 0;             ///< the first of the rows, in the numbering of the whole matrix
  std::int64_t rows = 0;                  ///< number of rows of this PE
  std::int64_t size = 0;                  ///< rows and columns of the whole matrix
  const Offset* row_offsets = nullptr;    ///< by row of this PE, rows + 1, from 0
  const Index* column_indices = nullptr;  ///< by entry, in the numbering of the whole matrix
  const Value* values = nullptr;          ///< by entry
};

/// How supernodes are dealt to PEs.
enum class supernode_dealing {
  automatic,  ///< the one that is predicted to be fastest
  subtrees,   ///< subtrees to PEs; a supernode above them to the PE of its heaviest child
  top,        ///< subtrees to PEs; the supernodes above them one by one, cyclically
  cyclic,     ///< all supernodes one by one, cyclically
  /// Subtrees to PEs; the panels of the supernodes above them are divided, block-cyclically, over a grid of
  /// PEs, as in the paper. If the pattern is not that of a complete factor, all panels are.
  grid
};

/// How a value goes to several PEs, and how partial sums of several PEs are added.
enum class pe_tree {
  automatic,  ///< flat for up to 127 receivers or senders, binary for more
  flat,       ///< each receiver gets the value from the PE that has computed it
  binary      ///< each PE has two others that it passes the value on to, or adds partial sums of
};

/// How values go from one PE to another.
enum class pe_transport {
  automatic,  ///< by direct stores to PEs whose memory is mapped, by puts to others
  direct,     ///< each value by itself, which is its own flag
  puts,       ///< the values of a task together: put, fence, signal
  /// By puts; the first blocks of a solve wait for all signals and hand the values to the others, as the WAIT
  /// kernel of the paper does. For comparison: these blocks must all be resident.
  waiting_blocks
};

namespace policy {

/// Solves by the supernodes of `supernodal`, which are dealt to PEs. Values go from one PE to another where a
/// supernode and its parent in the tree of supernodes belong to different PEs. What policy::basic_supernodal
/// says of solutions holds here, too: backward error, growth, non-finite values, fixed order of additions.
///
/// All PEs know the supernodes and the rows below them. For a complete factor this takes far less memory than
/// its entries; for a pattern without supernodes it is the pattern of the whole matrix.
struct distributed {
  static constexpr const char* name = "distributed";  ///< name of the policy
  /// How many PEs solve for columns; 0: a model of the critical path chooses. All PEs hand in rows and
  /// receive x in any case.
  int pes = 0;
  /// How supernodes are dealt to PEs. If the pattern is not that of a complete factor, it is `cyclic` or
  /// `grid`. `automatic` chooses among `subtrees`, `top` and `grid`.
  supernode_dealing dealing = supernode_dealing::automatic;
  /// Upper bound of the growth of a supernode, as policy::basic_supernodal::max_growth.
  double max_growth = 1000;
  /// How much longer a hop to another PE makes a solve than one within a PE, for the model. The default was
  /// fitted to solves on two H100 with NVLink; a hop by itself takes 581 ns there.
  double remote_hop_ns = 2000;
  /// How values go from one PE to another. `automatic`: by direct stores where the team maps the memory of
  /// the other PE, which is faster, and by puts elsewhere. For comparison, `puts` and `waiting_blocks` send
  /// all values by puts; with `waiting_blocks`, solve() throws errc::unsupported if the blocks that wait are
  /// not all resident beside another one. `direct`: analyze() throws errc::unsupported if the memory of a PE
  /// is not mapped.
  pe_transport transport = pe_transport::automatic;
  /// As remote_hop_ns, for puts: by themselves put, fence and signal take 2,525 ns there.
  double put_hop_ns = 6500;
  /// With `grid`: rows of the grid of PEs, a divisor of the number of PEs that solve; 0: the model chooses.
  /// One row: panels are not divided, and supernodes are dealt as by `top`.
  int grid_rows = 0;
  /// Trees of messages. If the pattern is not that of a complete factor, they are flat.
  pe_tree tree = pe_tree::automatic;
};

}  // namespace policy

}  // namespace sptrsv::SPTRSV_ABI
