"""The planted errors: small changes of the kernels, as a person would make them by mistake."""

from planting import Edit, Error

D = "include/sptrsv/detail/"
PARTITIONED = D + "dataflow/partitioned/kernel/"
SINGLE_BLOCK = D + "dataflow/single_block/"
NATURAL_BLOCKS = D + "dataflow/natural_blocks/"
ROW_PER_THREAD = D + "dataflow/row_per_thread/row_per_thread_agent.hpp"
ELIMINATION = D + "dataflow/row_elimination/"
BLOCK = D + "papers/block/block_agent.hpp"
SCHEME = D + "papers/scheme/"
SN = D + "supernodal/"
PARTITIONED_SLICES = D + "dataflow/partitioned/build/slices.hpp"
LEVELS = D + "levels/levels_agent.hpp"
BATCHED = D + "batched/"
INCOMPLETE = D + "incomplete/"
DISTRIBUTED = D + "distributed/"
KRYLOV = D + "krylov/"


def error(name: str, kind: str, programs: str, *edits: Edit, equivalent: str = "") -> Error:
    return Error(name, kind, tuple(programs.split()), edits, equivalent)


ERRORS = (
    # Values that are their own flags, double buffers and tickets.
    error(
        "sync_free_warp does not reset the other buffer",
        "reset",
        "sync_free_warp",
        Edit(
            D + "papers/sync_free_warp/sync_free_warp_engine.hpp",
            "p.buffers.reset(ctx, start.half ^ 1u, solve_index, start.rhs_to_reset, warp.rank(), 32);",
            "",
        ),
    ),
    error(
        "sync_free_warp resets its own buffer",
        "parity",
        "sync_free_warp",
        Edit(
            D + "papers/sync_free_warp/sync_free_warp_engine.hpp",
            "start.half ^ 1u",
            "start.half",
            within="start.half ^ 1u, solve_index, start.rhs_to_reset, warp.rank(), 32",
        ),
    ),
    error(
        "the numbers of right-hand sides to reset are swapped",
        "parity",
        "sync_free_warp",
        Edit(
            D + "sync/double_buffer.hpp", "start.half == 0 ? used[1] : used[0]", "start.half == 0 ? used[0] : used[1]"
        ),
    ),
    error(
        "the number of right-hand sides is recorded for the other buffer",
        "parity",
        "sync_free_warp",
        Edit(D + "sync/double_buffer.hpp", "start.half", "start.half ^ 1u", within="used_rhs[start.half], columns"),
    ),
    error(
        "a computed NaN may be the reserved one",
        "flag",
        "sync_free_warp",
        Edit(D + "sync/value_flag.hpp", "seen.bits[w] == pending ? canonical_nan : seen.bits[w]", "seen.bits[w]"),
    ),
    error(
        "the first row that is not finite is reset for this solve",
        "parity",
        "sync_free_warp",
        Edit(D + "sync/tickets.hpp", "to.half ^ 1u", "to.half"),
    ),
    error(
        "the parity of a solve is that of the next one",
        "parity",
        "sync_free_warp",
        Edit(D + "sync/tickets.hpp", "drawn.solve % 2", "(drawn.solve + 1) % 2"),
    ),
    error(
        "a ticket is off by one",
        "ticket",
        "sync_free_warp",
        Edit(D + "sync/tickets.hpp", "number - solve * blocks", "(number + 1) % blocks"),
    ),
    error(
        "a batch is known when its last component is",
        "flag",
        "sync_free_warp",
        Edit(D + "sync/polled_batch.hpp", "known && Flag::is_known(seen_[i])", "Flag::is_known(seen_[i])"),
    ),
    error(
        "a batch does not poll again",
        "flag",
        "sync_free_warp",
        Edit(D + "sync/polled_batch.hpp", "Flag::poll(ctx, at(i), seen_[i]);", ""),
    ),
    # sync_free_warp
    error(
        "sync_free_warp drops the tail of a long row",
        "tail",
        "sync_free_warp",
        Edit(
            D + "papers/sync_free_warp/sync_free_warp_engine.hpp",
            "e < r.end",
            "e + 32 < r.end",
            within="for (; e < r.end; e += 32)",
        ),
    ),
    error(
        "sync_free_warp drops the last row",
        "bounds",
        "sync_free_warp",
        Edit(D + "papers/sync_free_warp/sync_free_warp_engine.hpp", "solve_index < p.size", "solve_index + 1 < p.size"),
    ),
    error(
        "a shared warp counts its lanes by a wrong mask",
        "lanes",
        "sync_free_warp",
        Edit(D + "papers/row_wise/rows.hpp", "lanes - 1", "lanes", within="warp.rank() & (lanes - 1)"),
    ),
    error(
        "a shared warp sums half of its lanes",
        "lanes",
        "sync_free_warp",
        Edit(
            D + "papers/row_wise/rows.hpp",
            "summed_lanes",
            "summed_lanes / 2",
            within="simt::reduce(warp, sums[k], summed_lanes, simt::plus{})",
        ),
    ),
    error(
        "rows that share a warp reset the buffer that they write",
        "parity",
        "sync_free_warp",
        Edit(
            D + "papers/sync_free_warp/sync_free_warp_engine.hpp",
            "start.half ^ 1u",
            "start.half",
            within="start.half ^ 1u, solve_index, start.rhs_to_reset, warp.rank() % lanes, lanes",
        ),
    ),
    # sync_free_thread and sync_free_fused
    error(
        "sync_free_thread takes rows by block and not by ticket",
        "ticket",
        "sync_free_thread",
        Edit(
            D + "papers/sync_free_thread/sync_free_thread_engine.hpp",
            "start.block * block_threads",
            "static_cast<std::int64_t>(ctx.block_rank()) * block_threads",
        ),
    ),
    error(
        "a lane waits in a loop of its own for rows of its warp",
        "progress",
        "sync_free_thread",
        Edit(
            D + "papers/row_wise/rows.hpp",
            "entries.take(ctx, e, r.end, 1, {0, earlier})",
            "entries.take(ctx, e, r.end, 1, {0, earlier + 32})",
        ),
    ),
    error(
        "a lane drops the tail of its row",
        "tail",
        "sync_free_thread",
        Edit(D + "papers/row_wise/rows.hpp", "end - e <= Entries", "end - e <= Entries + 1"),
    ),
    error(
        "sync_free_thread does not reset the other buffer",
        "reset",
        "sync_free_thread",
        Edit(
            D + "papers/sync_free_thread/sync_free_thread_engine.hpp",
            "p.system.buffers.reset(ctx, start.half ^ 1u, solve_index, start.rhs_to_reset, 0, 1);",
            "",
        ),
    ),
    error(
        "sync_free_fused resets its own buffer",
        "parity",
        "sync_free_fused",
        Edit(D + "papers/row_wise/tasks.hpp", "start.half ^ 1u", "start.half"),
    ),
    error(
        "sync_free_fused drops the last row of a warp",
        "bounds",
        "sync_free_fused",
        Edit(D + "papers/row_wise/tasks.hpp", "solve_index < end_solve_index", "solve_index + 1 < end_solve_index"),
    ),
    error(
        "sync_free_fused drops the last warp",
        "bounds",
        "sync_free_fused",
        Edit(D + "papers/row_wise/tasks.hpp", "number < p.warps", "number + 1 < p.warps"),
    ),
    # Counted unknowns: sync_free_column and self_scheduled.
    error(
        "a counter is waited for one too little",
        "count",
        "sync_free_column self_scheduled",
        Edit(D + "sync/counted_unknowns.hpp", "count == in_degree", "count + 1 >= in_degree"),
    ),
    error(
        "sync_free_column does not reset a sum",
        "reset",
        "sync_free_column",
        Edit(D + "papers/sync_free_column/sync_free_column_engine.hpp", "p.buffers.restore_sum(ctx, i, mine);", ""),
    ),
    error(
        "sync_free_column does not reset a counter",
        "reset",
        "sync_free_column",
        Edit(
            D + "papers/sync_free_column/sync_free_column_engine.hpp", "p.buffers.restore_count(ctx, i, outside);", ""
        ),
    ),
    error(
        "sync_free_column counts the next block's first row as its own",
        "bounds",
        "sync_free_column",
        Edit(
            D + "papers/sync_free_column/sync_free_column_engine.hpp",
            "column.first_index() - first_of_block < columns_per_block",
            "column.first_index() - first_of_block <= columns_per_block",
        ),
    ),
    error(
        "sync_free_column waits for one column of its block only",
        "count",
        "sync_free_column",
        Edit(
            D + "papers/sync_free_column/sync_free_column_engine.hpp",
            "ctx.load_shared(count) != inside",
            "ctx.load_shared(count) == 0",
        ),
    ),
    error(
        "sync_free_column counts in shared memory before it adds",
        "flag",
        "sync_free_column",
        Edit(
            D + "papers/sync_free_column/sync_free_column_engine.hpp",
            "for (int k = 0; k < Columns; ++k) {\n      add_words(ctx, "
            "&shared.left_sum[rid][k], column.first_value() * solved[k]);\n    }",
            "ctx.reduce_add(&shared.in_degree[rid], Index{1}); ctx.fence_block(); for (int k = 0; k < Columns; ++k) "
            "{ add_words(ctx, &shared.left_sum[rid][k], column.first_value() * solved[k]); }",
        ),
        Edit(
            D + "papers/sync_free_column/sync_free_column_engine.hpp",
            "ctx.reduce_add(&shared.in_degree[rid], Index{1});",
            "",
        ),
    ),
    error(
        "sync_free_column reads the sum of another right-hand side",
        "index",
        "sync_free_column",
        Edit(
            D + "papers/sync_free_column/sync_free_column_engine.hpp",
            "warp.rank()",
            "0",
            within="&shared.left_sum[warp.index()][warp.rank()]",
        ),
    ),
    error(
        "sync_free_column waits for all columns in global memory",
        "count",
        "sync_free_column",
        Edit(
            D + "papers/sync_free_column/sync_free_column_engine.hpp",
            "ctx.load_constant(p.in_degree + i) - inside",
            "ctx.load_constant(p.in_degree + i)",
        ),
    ),
    error(
        "self_scheduled polls the counter of the unknown before",
        "index",
        "self_scheduled",
        Edit(
            D + "papers/self_scheduled/self_scheduled_agent.hpp",
            "ctx.load_relaxed(p.buffers.counts + wid)",
            "ctx.load_relaxed(p.buffers.counts + (wid > 0 ? wid - 1 : wid))",
        ),
    ),
    error(
        "SLFR counts for its own unknown",
        "index",
        "self_scheduled",
        Edit(
            D + "papers/self_scheduled/self_scheduled_agent.hpp",
            "p.buffers.counts + j",
            "p.buffers.counts + (solver::stores_x ? static_cast<Index>(unknown.wid) : j)",
        ),
    ),
    error(
        "SLFR stores its component after it has counted",
        "flag",
        "self_scheduled",
        Edit(
            D + "papers/self_scheduled/self_scheduled_agent.hpp",
            "ctx.store(p.buffers.value(of.wid, first + tile.rank()), x);",
            "",
        ),
        Edit(
            D + "papers/self_scheduled/self_scheduled_agent.hpp",
            "finish((unknown.columns(p) - 1) / rhs_per_sweep * rhs_per_sweep);",
            "finish((unknown.columns(p) - 1) / rhs_per_sweep * rhs_per_sweep); "
            "if (solver::stores_x && unknown.finishes(p, 0, tile.rank())) "
            "{ ctx.store(p.buffers.value(unknown.wid, tile.rank()), x); }",
        ),
    ),
    error(
        "SLFC does not reset a sum",
        "reset",
        "self_scheduled",
        Edit(
            D + "papers/self_scheduled/self_scheduled_agent.hpp",
            "p.buffers.restore_sum(ctx, of.wid, rhs);",
            "",
        ),
    ),
    error(
        "self_scheduled does not reset a counter",
        "reset",
        "self_scheduled",
        Edit(
            D + "papers/self_scheduled/self_scheduled_agent.hpp",
            "p.buffers.restore_count(ctx, wid, solve.in_degree);",
            "",
        ),
    ),
    error(
        "SLFC shuffles the solution of the first right-hand side",
        "lanes",
        "self_scheduled",
        Edit(D + "papers/self_scheduled/self_scheduled_agent.hpp", "tile.shuffle(x, k)", "tile.shuffle(x, 0)"),
    ),
    # level_set
    error(
        "level_set drops the last row of a level",
        "bounds",
        "level_set",
        Edit(D + "papers/level_set/level_set_agent.hpp", "row < p.last_row", "row + 1 < p.last_row"),
    ),
    error(
        "level_set steps too far from row to row",
        "bounds",
        "level_set",
        Edit(
            D + "papers/level_set/level_set_agent.hpp",
            "block_threads / Lanes",
            "block_threads",
            within="row += block_threads / Lanes",
        ),
    ),
    error(
        "LEVC shuffles from a wrong lane",
        "lanes",
        "level_set",
        Edit(D + "papers/level_set/level_set_agent.hpp", "tile.shuffle(x, k % Tile::lanes)", "tile.shuffle(x, 0)"),
    ),
    error(
        "LEVC updates components without atomics",
        "atomic",
        "level_set",
        Edit(
            D + "papers/level_set/level_set_agent.hpp",
            "add_words(ctx, sum, Scalar{} - value * solved[k]);",
            "ctx.store(sum, ctx.load(sum) - value * solved[k]);",
        ),
    ),
    # The block policies.
    error(
        "a block waits for the tasks of earlier solves only",
        "count",
        "block",
        Edit(BLOCK, "shared.start.solve + 1", "shared.start.solve"),
    ),
    error(
        "a block waits for its own step",
        "index",
        "block",
        Edit(BLOCK, "p.finished + number - 1", "p.finished + number"),
    ),
    error(
        "a block counts its task before it has taken it",
        "early",
        "block",
        Edit(
            BLOCK,
            "take(ctx, shared, p);",
            "if (shared.number < p.last_step && ctx.thread_rank() == 0) { ctx.fence_release(); "
            "ctx.reduce_add(p.finished + shared.number, 1ull); } take(ctx, shared, p);",
        ),
        Edit(BLOCK, "ctx.reduce_add(p.finished + shared.number, 1ull);", ""),
    ),
    error(
        "the sum of a row's squares is not reset",
        "reset",
        "block",
        Edit(D + "papers/block/block_rows.hpp", "ctx.store(sum, Scalar{});", ""),
    ),
    error("the mask of wide rows has a wrong bit", "lanes", "block", Edit(BLOCK, "1u << bit % 32", "1u << bit % 16")),
    error(
        "the sum of the last warp is dropped",
        "tail",
        "block",
        Edit(BLOCK, "w < warps_per_block", "w < warps_per_block - 1"),
    ),
    error(
        "the last lane's row is not shared by the warp",
        "lanes",
        "block",
        Edit(D + "papers/block/block_rows.hpp", "warp.ballot(is_shared)", "warp.ballot(is_shared) & 0x7fffffffu"),
    ),
    error(
        "a square stores its sum instead of adding it", "value", "block", Edit(BLOCK, "ctx.load(known) + sum", "sum")
    ),
    # scheme
    error(
        "a fenced flag is set before its value",
        "flag",
        "scheme",
        Edit(
            D + "sync/fenced_values.hpp",
            "ctx.store(at.value, value);\n    if (at.flag != nullptr) {\n      ctx.fence_release();\n      "
            "ctx.store_relaxed(at.flag, at.solve);\n    }",
            "if (at.flag != nullptr) { ctx.fence_release(); ctx.store_relaxed(at.flag, at.solve); } "
            "ctx.store(at.value, value);",
        ),
    ),
    error(
        "two fenced values share a flag",
        "index",
        "scheme",
        Edit(
            D + "sync/fenced_values.hpp", "flags + at", "flags + (at - at % 2)", within="signals ? flags + at : nullptr"
        ),
    ),
    error(
        "a fenced flag says nothing of the solve",
        "parity",
        "scheme",
        Edit(
            D + "sync/fenced_values.hpp",
            "static_cast<std::uint32_t>(solve % 2) + 2",
            "static_cast<std::uint32_t>(0 * solve) + 2",
        ),
    ),
    error(
        "the fenced flags of right-hand sides that a solve does not use are kept",
        "unused_flags",
        "scheme",
        Edit(D + "sync/fenced_values.hpp", "k < used", "k < columns"),
    ),
    error(
        "groups are taken as assigned although not all blocks have started",
        "progress",
        "scheme",
        Edit(
            SCHEME + "assignment.hpp",
            "all_started ? decision::as_assigned : decision::by_ticket",
            "decision::as_assigned",
        ),
    ),
    error(
        "tickets of groups are not reset",
        "reset",
        "scheme",
        Edit(SCHEME + "assignment.hpp", "ctx.store_relaxed(&state.tickets[parity ^ 1u], std::uint32_t{0});", ""),
    ),
    error(
        "the vote of a solve is not reset",
        "reset",
        "scheme scheme_decisions",
        Edit(SCHEME + "assignment.hpp", "ctx.store_relaxed(&state.decided[parity ^ 1u], std::uint32_t{0});", ""),
    ),
    error(
        "groups draw tickets of the other parity",
        "parity",
        "scheme",
        Edit(SCHEME + "assignment.hpp", "a.state->tickets[parity]", "a.state->tickets[parity ^ 1u]"),
        equivalent="the block that resets this counter draws from it afterwards, so its warps take all groups that "
        "other blocks have missed; groups that are taken twice get the same bits",
    ),
    error(
        "a sub-warp finds its buffered entries behind its own",
        "index",
        "scheme",
        Edit(
            SCHEME + "scheme_agent.hpp", "other < warp.rank() / lanes * lanes", "other <= warp.rank() / lanes * lanes"
        ),
    ),
    error(
        "the last buffered entry of a node is not copied",
        "tail",
        "scheme",
        Edit(SCHEME + "scheme_agent.hpp", "k < entries", "k + 1 < entries"),
    ),
    # dataflow, row_per_thread path
    error(
        "row_per_thread does not reset the other buffer",
        "reset",
        "row_per_thread",
        Edit(ROW_PER_THREAD, "flag::reset(ctx, other + column * pack_words(p));", ""),
    ),
    error(
        "row_per_thread drops the last batch of a row",
        "tail",
        "row_per_thread",
        Edit(ROW_PER_THREAD, "e >= end", "e + stride >= end", within="done = e >= end"),
    ),
    error(
        "row_per_thread drops the first entry of a row",
        "bounds",
        "row_per_thread",
        Edit(ROW_PER_THREAD, "slot >= entries.begin", "slot > entries.begin"),
    ),
    error(
        "row_per_thread takes rows by block and not by ticket",
        "ticket",
        "row_per_thread",
        Edit(
            ROW_PER_THREAD,
            "start.block",
            "static_cast<std::int64_t>(ctx.block_rank())",
            within="const auto block = static_cast<std::uint32_t>(start.block);",
        ),
    ),
    error(
        "row_per_thread uses components that are pending",
        "flag",
        "row_per_thread",
        Edit(ROW_PER_THREAD, "!done && known", "!done"),
    ),
    error(
        "row_per_thread publishes to the neighbour's component",
        "index",
        "row_per_thread",
        Edit(
            ROW_PER_THREAD,
            "flag::publish(ctx, solved.at(solve_index), rest);",
            "flag::publish(ctx, solved.at(solve_index ^ 1), rest);",
        ),
    ),
    error(
        "row_per_thread lets lanes without right-hand sides solve",
        "bounds",
        "row_per_thread",
        Edit(ROW_PER_THREAD, "first_pack + pack >= packs", "first_pack + pack > packs"),
    ),
    error(
        "the last sweep of row_per_thread leaves room for lanes that have no right-hand sides",
        "index",
        "row_per_thread",
        Edit(
            ROW_PER_THREAD,
            "left >> lane_bits(p) == 0 ? static_cast<int>(left) : 1 << lane_bits(p)",
            "1 << lane_bits(p)",
        ),
    ),
    error(
        "the first block of a large diagonal system draws one ticket only",
        "ticket",
        "row_per_thread",
        Edit(
            D + "dataflow/row_per_thread/diagonal_agent.hpp",
            "block == 0 ? p.share.solve_blocks - ctx.grid_blocks() + 1 : 1",
            "1",
        ),
    ),
    error(
        "a copy of right-hand sides by rows has eight columns at most",
        "tail",
        "row_per_thread",
        Edit(
            D + "dataflow/row_per_thread/row_per_thread_params.hpp",
            "column < from.columns",
            "column < (from.columns < 8 ? from.columns : 8)",
        ),
    ),
    # dataflow, partitioned path
    error(
        "a warp group hands on its turn before it stores its components",
        "early",
        "partitioned",
        Edit(
            PARTITIONED + "partitioned_agent.hpp",
            "if (writes) {\n      ctx_.store_shared_at(target, x);\n    }",
            "barrier_.arrive_next(); if (writes) { ctx_.store_shared_at(target, x); }",
        ),
        Edit(
            PARTITIONED + "partitioned_agent.hpp",
            "barrier_.arrive_next();",
            "",
            within="barrier_.arrive_next();\n    if (writes) {\n      flag::publish",
        ),
    ),
    error(
        "the x ring buffer is used by half",
        "index",
        "partitioned",
        Edit(
            PARTITIONED + "partitioned_agent.hpp",
            "zero_slot_ - 1",
            "zero_slot_ / 2 - 1",
            within="solve_index & (zero_slot_ - 1)",
        ),
    ),
    error(
        "partitioned does not reset the other buffer",
        "reset",
        "partitioned",
        Edit(PARTITIONED + "partitioned_agent.hpp", "flag::reset(ctx_, flag::address(other_, solve_index));", ""),
    ),
    error(
        "partitioned does not reset the columns of earlier solves",
        "reset",
        "partitioned",
        Edit(PARTITIONED + "partitioned_agent.hpp", "group * rhs_together < start_.rhs_to_reset", "group < 0"),
    ),
    error(
        "the wait for right-hand sides leaves one group too many",
        "copies",
        "partitioned",
        Edit(
            PARTITIONED + "partitioned_agent.hpp", "ctx_.template wait_copies<2>();", "ctx_.template wait_copies<3>();"
        ),
    ),
    error(
        "the wait for a packed slice leaves one group too many",
        "copies",
        "partitioned",
        Edit(PARTITIONED + "pipeline.hpp", "ctx_.template wait_copies<1>();", "ctx_.template wait_copies<2>();"),
    ),
    error(
        "the parities of bulk copies do not move with the stages",
        "parity",
        "partitioned",
        Edit(PARTITIONED + "pipeline.hpp", "arrivals_ = (arrivals_ >> 1 | arrivals_ << 2) & 7;", ""),
    ),
    error(
        "a packed slice is copied to the stage of the next tile",
        "index",
        "partitioned",
        Edit(
            PARTITIONED + "partitioned_agent.hpp",
            "pipeline_.copy(2, now.next, now.next_bytes());",
            "pipeline_.copy(1, now.next, now.next_bytes());",
        ),
    ),
    error(
        "right-hand sides are copied to the stage of this tile",
        "index",
        "partitioned",
        Edit(
            PARTITIONED + "partitioned_agent.hpp",
            "prefetch_rhs(pipeline_.stage(1), next);",
            "prefetch_rhs(pipeline_.stage(0), next);",
        ),
    ),
    error(
        "the last tile of a warp group is dropped",
        "bounds",
        "partitioned",
        Edit(PARTITIONED + "partitioned_agent.hpp", "tile >= tiles_", "tile + warp_groups >= tiles_"),
    ),
    error(
        "the last warp group hands on its turn to itself",
        "index",
        "partitioned",
        Edit(
            PARTITIONED + "pipeline.hpp",
            "warp_group + 1 == WarpGroups ? 1 : 2 + warp_group",
            "warp_group + 1 == WarpGroups ? 1 + warp_group : 2 + warp_group",
        ),
    ),
    error(
        "components of other partitions are not polled",
        "flag",
        "partitioned",
        Edit(PARTITIONED + "pipeline.hpp", "components.wait_together(ctx_, warp_, addresses);", ""),
    ),
    error(
        "a partition is taken by block and not by ticket",
        "ticket",
        "partitioned",
        Edit(PARTITIONED + "partitioned_agent.hpp", "static_cast<std::uint32_t>(start_.block)", "ctx_.block_rank()"),
    ),
    # dataflow, single_block path
    error(
        "the rows of a stage are read from the stage before",
        "index",
        "single_block",
        Edit(
            SINGLE_BLOCK + "single_block_agent.hpp",
            "c % (2 * stages)",
            "c % stages",
            within="source[round] = shared_.rows[c % (2 * stages) * rows + r]",
        ),
    ),
    error(
        "producers wait for one stage too few",
        "copies",
        "single_block",
        Edit(
            SINGLE_BLOCK + "single_block_agent.hpp",
            "ctx_.template wait_copies<stages - 3>();",
            "ctx_.template wait_copies<stages - 2>();",
            within="ctx_.commit_copies();\n      ctx_.template wait_copies<stages - 3>();",
        ),
    ),
    error(
        "producers copy to the stage that is consumed",
        "early",
        "single_block",
        Edit(
            SINGLE_BLOCK + "single_block_agent.hpp",
            "c - 1 + stages",
            "c + stages",
            within="copy_stage(c - 1 + stages);",
        ),
    ),
    error(
        "producers copy rows one stage too early",
        "early",
        "single_block",
        Edit(SINGLE_BLOCK + "single_block_agent.hpp", "c - 1 + 2 * stages", "c + 2 * stages"),
    ),
    error(
        "the consumer hands back a stage before it waits for another one",
        "early",
        "single_block",
        Edit(
            SINGLE_BLOCK + "single_block_shape.hpp",
            "ctx.template barrier_wait<Shape::block_threads>(filled);\n"
            "    ctx.template barrier_arrive<Shape::block_threads>(emptied);",
            "ctx.template barrier_arrive<Shape::block_threads>(emptied);\n"
            "    ctx.template barrier_wait<Shape::block_threads>(filled);",
        ),
    ),
    error(
        "producers do not wait for a stage that is handed back",
        "early",
        "single_block",
        Edit(
            SINGLE_BLOCK + "single_block_shape.hpp",
            "ctx.template barrier_wait<Shape::block_threads>(emptied);",
            "",
        ),
    ),
    error(
        "the x ring buffer wraps one row too late",
        "bounds",
        "single_block",
        Edit(SINGLE_BLOCK + "consumer.hpp", "solved >= end", "solved > end"),
    ),
    error(
        "the components of the last tile are not stored",
        "tail",
        "single_block",
        Edit(
            SINGLE_BLOCK + "consumer.hpp",
            "store_to_x(last);",
            "",
            within="    }\n    store_to_x(last);\n  }\n\n private:",
        ),
    ),
    error(
        "the nearest row of the reach is dropped",
        "bounds",
        "single_block",
        Edit(SINGLE_BLOCK + "consumer.hpp", "r <= q + Shape::reach", "r < q + Shape::reach"),
    ),
    error(
        "a reloaded component is taken for present one tile too long",
        "bounds",
        "single_block_schedule single_block",
        Edit(
            SINGLE_BLOCK + "single_block_schedule.hpp",
            "known->second >= oldest_slot(tile)",
            "known->second >= oldest_slot(tile - 1)",
        ),
    ),
    # dataflow, natural_blocks path
    error(
        "a group does not wait for the step before its own",
        "early",
        "natural_blocks",
        Edit(
            NATURAL_BLOCKS + "natural_blocks_agent.hpp",
            "ctx_.template barrier_wait<2 * Shape::group_threads>(1 + group_);",
            "",
        ),
    ),
    error(
        "a group stores its components after it has let the next one go on",
        "early",
        "natural_blocks",
        Edit(
            NATURAL_BLOCKS + "natural_blocks_agent.hpp",
            "store_to_ring(now, x);",
            "",
            within="solve<false>(now, s, components, rest, x);\n      store_to_ring(now, x);",
        ),
        Edit(
            NATURAL_BLOCKS + "natural_blocks_agent.hpp",
            "store_to_x(now, x);",
            "store_to_ring(now, x), store_to_x(now, x);",
        ),
    ),
    error(
        "rows of the next step are read from the step after it",
        "index",
        "natural_blocks",
        Edit(NATURAL_BLOCKS + "natural_blocks_agent.hpp", "read_rows(s + 2 * groups)", "read_rows(s + 3 * groups)"),
    ),
    error(
        "absent entries meet infinite components",
        "ieee",
        "natural_blocks",
        Edit(NATURAL_BLOCKS + "natural_blocks_agent.hpp", "(present >> k & 1u) != 0", "true"),
    ),
    error(
        "entries inside a block are not unscaled before a division",
        "ieee",
        "natural_blocks",
        Edit(NATURAL_BLOCKS + "natural_blocks_agent.hpp", "(scaled ? entry * pivot : entry)", "entry"),
    ),
    error(
        "a component may leave the ring buffer in the step that needs it",
        "bounds",
        "natural_blocks_steps",
        Edit(
            NATURAL_BLOCKS + "natural_blocks_placement.hpp",
            "first_of_step[at(b.step) + 1] - max_ring_blocks",
            "first_of_step[at(b.step)] - max_ring_blocks",
        ),
    ),
    error(
        "rows with other columns join a block",
        "bounds",
        "natural_blocks_steps",
        Edit(NATURAL_BLOCKS + "natural_blocks_placement.hpp", "joins && !warp.any(differs)", "joins"),
    ),
    error(
        "the entries of a later row of a block are placed as if all rows had as many",
        "index",
        "natural_blocks",
        Edit(D + "dataflow/scheduled_paths.hpp", "static_cast<Offset>(length + r)", "static_cast<Offset>(length)"),
    ),
    error(
        "links to partial blocks are taken for absent entries",
        "ieee",
        "natural_blocks",
        Edit(D + "dataflow/scheduled_paths.hpp", "ctx.store(present + tile_of(first), found);", ""),
    ),
    error(
        "a block stands in the step of a block that it needs",
        "early",
        "natural_blocks",
        Edit(
            NATURAL_BLOCKS + "natural_blocks_placement.hpp",
            "step = std::max(step, from->first + 1);",
            "step = std::max(step, from->first);",
        ),
    ),
    # dataflow, hybrid path and row elimination
    error(
        "the second launch of a solve counts its blocks from the first",
        "ticket",
        "hybrid",
        Edit(
            PARTITIONED + "partitioned_agent.hpp",
            "static_cast<std::uint32_t>(start_.block) - p_.share.first_block",
            "static_cast<std::uint32_t>(start_.block)",
        ),
    ),
    error(
        "a launch takes its blocks for those of the solve",
        "ticket",
        "hybrid",
        Edit(PARTITIONED + "partitioned_agent.hpp", "p.share.solve_blocks", "ctx.grid_blocks()"),
    ),
    error(
        "the first launch of a solve takes its blocks for those of the solve",
        "ticket",
        "hybrid",
        Edit(ROW_PER_THREAD, "p.share.solve_blocks", "ctx.grid_blocks()"),
    ),
    error(
        "lanes that share a rewritten right-hand side use entries twice",
        "lanes",
        "row_elimination",
        Edit(ELIMINATION + "runs.hpp", "e += static_cast<Offset>(lanes)", "e += 1"),
    ),
    error(
        "rewritten right-hand sides are stored by rows",
        "index",
        "row_elimination",
        Edit(ELIMINATION + "runs.hpp", "column * p.size + row", "row * p.b.columns + column"),
    ),
    error(
        "the growth of a row is computed without those that it eliminates",
        "index",
        "row_elimination_rows",
        Edit(ELIMINATION + "row_elimination_rows.hpp", "inverse_sums + r.needs", "inverse_sums + row"),
    ),
    error(
        "lanes take eliminated entries of a later chunk as if they were of the first one",
        "lanes",
        "level_runs",
        Edit(ELIMINATION + "runs.hpp", "warp.rank() - 1 - made.eliminated", "warp.rank() - 1"),
    ),
    error(
        "the list of a rewritten right-hand side begins with that of the row",
        "index",
        "level_runs",
        Edit(
            ELIMINATION + "rewrite_rows.hpp",
            "ctx.load_constant(slots + r.needs) + (of_rhs ? length : Offset{0})",
            "ctx.load_constant(slots + r.needs)",
        ),
    ),
    error(
        "eliminated rows are subtracted with the factor of another lane",
        "lanes",
        "row_elimination",
        Edit(
            ELIMINATION + "row_elimination_rows.hpp",
            "warp.shuffle(eliminated.factor, lane)",
            "warp.shuffle(eliminated.factor, 1)",
        ),
    ),
    error(
        "further entries of a rewritten right-hand side are those of the first right-hand side",
        "index",
        "level_runs",
        Edit(ELIMINATION + "runs.hpp", "rhs(ctx, p, needs, column)", "rhs(ctx, p, needs, 0)"),
    ),
    error(
        "the kernel combines right-hand sides without alpha",
        "index",
        "level_runs",
        Edit(ROW_PER_THREAD, "rest = rest - p.alpha * products;", "rest = rest - products;"),
    ),
    # Kernels of the analysis.
    error(
        "the levels kernel takes rows by block and not by ticket",
        "ticket",
        "analysis",
        Edit(
            LEVELS,
            "static_cast<std::int64_t>(ticket)",
            "static_cast<std::int64_t>(ctx.block_rank() + 0 * ticket)",
            within="static_cast<std::int64_t>(ticket) * block_threads",
        ),
    ),
    error(
        "a row waits for a shuffle of a level that has been shuffled",
        "flag",
        "analysis",
        Edit(LEVELS, "(1u << inside) & ~known_rows", "(1u << inside)"),
    ),
    error(
        "a level is known before it has been polled",
        "flag",
        "analysis",
        Edit(LEVELS, "row.waits = true;", "row.waits = false;"),
    ),
    error(
        "half of the warp's lanes tell which rows a long row needs",
        "lanes",
        "analysis",
        Edit(LEVELS, "32", "16", within="simt::reduce(warp, share.needs, 32, simt::bit_or{})"),
    ),
    error("the last entry of a batch is not taken", "tail", "analysis", Edit(LEVELS, "e < row.end", "e + 1 < row.end")),
    error(
        "late search: its levels are taken although it was given up",
        "flag",
        "analysis",
        Edit(D + "levels/level_searches.hpp", "found[0].given_up != 0", "false"),
    ),
    error(
        "late search: a warp that gives up publishes nothing",
        "flag",
        "analysis",
        Edit(LEVELS, "ctx.store_relaxed(p.levels + base + warp.rank(), Index{1});", ";"),
    ),
    error(
        "late search: levels are searched in rows with faults",
        "flag",
        "analysis",
        Edit(LEVELS, "!p.condition.hold(ctx)", "false", within="base >= p.of.size || !p.condition.hold(ctx)"),
    ),
    error(
        "both analyses: the second triangle gets a schedule of the first one",
        "offset",
        "both_triangles",
        Edit(
            D + "dataflow/predict.hpp",
            "wanted[at(k)]",
            "wanted[0]",
        ),
    ),
    error(
        "both analyses: tables and tasks of the second triangle are counted from the first block on",
        "offset",
        "both_triangles",
        Edit(
            D + "dataflow/partitioned/choose/level_counts.hpp",
            "Agent::run_block(ctx, shared, p.of[1], block - p.first_blocks)",
            "Agent::run_block(ctx, shared, p.of[1], block)",
        ),
    ),
    error(
        "both analyses: the levels of rows that are to be split are taken",
        "flag",
        "both_triangles",
        Edit(
            D + "levels/device_levels.hpp",
            "builder.ascends(found, k) && wanted.have(found[k].longest_row, found[k].split_rows)",
            "builder.ascends(found, k)",
        ),
    ),
    error(
        "both analyses: whole rows that another path needs are freed",
        "lifetime",
        "both_triangles",
        Edit(
            D + "dataflow/predict.hpp",
            "!of.has_schedule()",
            "true",
        ),
    ),
    error(
        "rows sorted on their own: equal columns take the same place",
        "index",
        "analysis",
        Edit(D + "analysis/triangle_kernels.hpp", "other < column", "other <= column"),
    ),
    error(
        "blocks: values by columns are taken by rows",
        "index",
        "row_per_thread",
        Edit(D + "analysis/pattern.hpp", "k % block * block + row", "row * block + k % block"),
    ),
    error(
        "blocks: rows that are sorted count as rows whose values are adjacent",
        "index",
        "row_per_thread",
        Edit(D + "analysis/triangle_builder.hpp", "a_.block == 1", "true"),
    ),
    error(
        "blocks: the rows of a block row begin where the first one does",
        "index",
        "row_per_thread",
        Edit(D + "analysis/expanded_view.hpp", "within(end, a.entries) - within(begin, a.entries)", "std::int64_t{0}"),
    ),
    error(
        "blocks: the values of factors with fill-in are taken as those of blocks",
        "index",
        "incomplete",
        Edit(D + "incomplete/fill_levels.hpp", "pattern_.block = 1;", ""),
    ),
    error(
        "the last row of a run of equal rows is not counted",
        "tail",
        "analysis",
        Edit(D + "analysis/check_entries_agent.hpp", "simt::lowest_bit(next) + 1", "simt::lowest_bit(next)"),
    ),
    error(
        "the last lane of a warp is not counted",
        "lanes",
        "analysis",
        Edit(D + "analysis/check_entries_agent.hpp", "32 - rank", "31 - rank"),
    ),
    error(
        "a scan leaves out the nearest total",
        "tail",
        "analysis",
        Edit(
            D + "simt/scan.hpp",
            "warp.rank() <= lowest_bit(totals)",
            "warp.rank() < lowest_bit(totals)",
        ),
    ),
    error(
        "the largest of a warp is that of half of its lanes",
        "tail",
        "analysis",
        Edit(D + "simt/for_each.hpp", "reduce(warp, value, 32, maximum{})", "reduce(warp, value, 16, maximum{})"),
    ),
    error(
        "the search of a warp for the rows of its entries leaves out the last row",
        "tail",
        "analysis",
        Edit(
            D + "analysis/for_each_entry.hpp",
            "ahead < rows",
            "ahead + 1 < rows",
        ),
    ),
    error(
        "a lane counts its own shared entry among those before it",
        "lanes",
        "partitioned_plan",
        Edit(PARTITIONED_SLICES, "(1u << group.rank()) - 1u", "(2u << group.rank()) - 1u"),
    ),
    error(
        "a group takes the votes of the first group of its warp",
        "lanes",
        "partitioned_plan",
        Edit(D + "simt/for_each.hpp", "warp.ballot(v) >> (warp.rank() - rank())", "warp.ballot(v)"),
    ),
    error(
        "the latest components of a long row are not counted by the last lanes",
        "tail",
        "partitioned_plan",
        Edit(
            PARTITIONED_SLICES,
            "i += group.lanes",
            "i += 2 * group.lanes",
            within="i < at.length(); i += group.lanes) {\n      candidates",
        ),
    ),
    # supernodal
    error(
        "supernodal takes tasks by block and not by ticket",
        "ticket",
        "supernodal",
        Edit(
            SN + "solve/forward_agent.hpp",
            "p.tasks + shared.start.block - p.forests.count",
            "p.tasks + ctx.block_rank() - p.forests.count",
        ),
    ),
    error(
        "supernodal, backward, takes tasks by block and not by ticket",
        "ticket",
        "supernodal",
        Edit(SN + "solve/backward_agent.hpp", "p.tasks + shared.start.block", "p.tasks + ctx.block_rank()"),
    ),
    error(
        "a supernode does not reset its contributions",
        "reset",
        "supernodal",
        Edit(
            SN + "solve/forward_agent.hpp",
            "p.buffers.reset(ctx, half ^ 1u, node.rows_begin + i - k, start.rhs_to_reset, 0, 1);",
            "",
        ),
    ),
    error(
        "supernodal does not reset the right-hand sides that tiles share",
        "reset",
        "supernodal_factors",
        Edit(
            SN + "solve/forward_agent.hpp",
            "p.buffers.reset(ctx, start.half ^ 1u, at, start.rhs_to_reset, 0, 1);",
            "",
        ),
    ),
    error(
        "supernodal resets its own partial sums",
        "parity",
        "supernodal",
        Edit(
            SN + "solve/backward_agent.hpp",
            "half ^ 1u",
            "half",
            within="p.buffers.reset(ctx, half ^ 1u, at + team.rank()",
        ),
    ),
    error(
        "a contribution is sent to the row of the parent after its own",
        "address",
        "supernodal supernodal_factors",
        Edit(
            SN + "solve/tasks.hpp",
            "panel_row = target.columns + found;",
            "panel_row = target.columns;",
        ),
    ),
    error(
        "a sum is numbered without those that a forest before has no need of",
        "address",
        "supernodal supernodal_factors",
        Edit(SN + "solve/tasks.hpp", "f.items + f.columns + f.rows", "f.items"),
    ),
    error(
        "contributions after a forest are numbered with those inside it",
        "address",
        "supernodal supernodal_factors",
        Edit(SN + "solve/tasks.hpp", "f.rows_begin + f.rows + t - f.outside_count", "f.rows_begin + t"),
    ),
    error(
        "zeros by structure take part where values are not finite",
        "values",
        "supernodal",
        Edit(SN + "panels.hpp", "i >= node.range_columns", "i >= 0"),
    ),
    error(
        "an inverse keeps what is zero by structure",
        "values",
        "supernodal supernodal_factors",
        Edit(SN + "values/narrow_agent.hpp", "w[j] = is_entry ? w[j] : Scalar{};", ""),
    ),
    error(
        "the entries of a column are counted from a column before the supernode",
        "structure",
        "supernodal supernodal_factors",
        Edit(SN + "values/panel_tiles.hpp", "(begin > node_.first ? begin : node_.first)", "begin"),
    ),
    error(
        "the second word of a mask is read without the entries of the first",
        "structure",
        "supernodal_factors",
        Edit(SN + "values/panel_tiles.hpp", "is_second ? simt::bit_count(word) : 0", "0"),
    ),
    error(
        "the count in a mask is that behind its words",
        "structure",
        "supernodal_factors",
        Edit(SN + "panels.hpp", "word_index(mask, group) - 1", "word_index(mask, group)"),
    ),
    error(
        "the first child that is done goes on with its parent",
        "order",
        "supernodal_merge",
        Edit(
            SN + "analysis/device_merge.hpp",
            "children",
            "Index{1}",
            within="+ 1 < children",
        ),
    ),
    error(
        "descendants of a supernode between it and the root do not learn of a merge",
        "structure",
        "supernodal_merge",
        Edit(SN + "analysis/device_merge.hpp", "a = ctx.load_constant(state.of.parent + a)", "a = node"),
    ),
    error(
        "a supernode is merged although its parent lacks one of its rows",
        "structure",
        "supernodal",
        Edit(SN + "analysis/tree.hpp", "!f.nested[at(child.end - 1)]", "false"),
    ),
    error(
        "the sums of the last tile are dropped",
        "tail",
        "supernodal supernodal_factors",
        Edit(
            SN + "solve/supernodal_team.hpp",
            "t < work.tiles",
            "t + 1 < work.tiles",
            within="t < work.tiles; t += AtOnce * step",
        ),
    ),
    error(
        "a block starts before its panel has arrived",
        "copy",
        "supernodal",
        Edit(SN + "solve/forward_agent.hpp", "ctx.wait_bulk(arrival, false);", ""),
    ),
    error(
        "a strip resets its own partial sums",
        "parity",
        "supernodal",
        Edit(
            SN + "solve/backward_agent.hpp",
            "half ^ 1u",
            "half",
            within="p.buffers.reset(ctx, half ^ 1u, is_last",
        ),
    ),
    error(
        "a strip multiplies entries before they have been copied",
        "copy",
        "supernodal",
        Edit(SN + "solve/backward_agent.hpp", "ctx.template wait_copies<0>();", ""),
    ),
    error(
        "a forest does not reset its contributions",
        "reset",
        "supernodal_factors",
        Edit(
            SN + "forest/forest_solver.hpp",
            "p.buffers.reset(ctx, start.half ^ 1u, at.outside_row(q), start.rhs_to_reset, 0, 1);",
            "",
        ),
    ),
    error(
        "a level of a forest begins before the one before it has ended",
        "barrier",
        "supernodal_factors",
        Edit(
            SN + "forest/forest_solver.hpp",
            "ctx.barrier();",
            "",
            within="});\n      ctx.barrier();\n    }\n    for (int q",
        ),
    ),
    error(
        "a component of a forest is divided by its pivot too early",
        "order",
        "supernodal_factors",
        Edit(
            SN + "forest/list_agent.hpp",
            "ctx.atomic_max(p.last_level + row, place.level + 1);",
            "ctx.store_relaxed(p.last_level + row, 1);",
        ),
    ),
    error(
        "the items of a forest that earlier warps sort are not counted",
        "order",
        "supernodal_factors",
        Edit(
            SN + "forest/list_agent.hpp",
            "next += w < warp.index() ? shared.counts[w][warp.rank()] : 0;",
            "next += 0;",
        ),
    ),
    error(
        "columns of a run have the values of its first column",
        "address",
        "supernodal_factors",
        Edit(SN + "analysis/columns.hpp", "static_cast<Index>(step) * before", "0 * before"),
    ),
    error(
        "the pivot of a column is read where its first entry stands",
        "address",
        "supernodal_factors",
        Edit(SN + "analysis/columns.hpp", "value(ctx, of, -1)", "value(ctx, of, 0)"),
    ),
    error(
        "the rows below the second root of a forest get the numbers of those below the first",
        "address",
        "supernodal_factors",
        Edit(
            SN + "forest/forests.hpp",
            "local",
            "made.columns",
            within="static_cast<std::int32_t>(*root), local}",
        ),
    ),
    error(
        "tiles leave out contributions that no task has added",
        "hand-off",
        "supernodal_factors",
        Edit(SN + "solve/forward_agent.hpp", "list.is_long()", "true", within="is_tile && list.is_long() ?"),
    ),
    error(
        "supernodal, packs, takes tasks by block and not by ticket",
        "ticket",
        "supernodal",
        Edit(SN + "pack/pack_panel.hpp", "p.tasks + block / p.sharers", "p.tasks + ctx.block_rank() / p.sharers"),
    ),
    error(
        "packs of supernodes do not reset their contributions",
        "reset",
        "supernodal",
        Edit(
            SN + "pack/pack_forward_agent.hpp",
            "p.reset(ctx, shared.start, shared.sharer, pair_of_lane, node.rows_begin + i - k);",
            "",
        ),
    ),
    error(
        "packs of supernodes do not reset the right-hand sides that tiles share",
        "reset",
        "supernodal supernodal_factors",
        Edit(
            SN + "pack/pack_forward_agent.hpp",
            "p.reset(ctx, shared.start, shared.sharer, pair_of_lane, p.rows + work.node.first + mine);",
            "",
        ),
    ),
    error(
        "packs of supernodes reset the buffer that they write",
        "parity",
        "supernodal",
        Edit(SN + "pack/supernodal_pack.hpp", "start.half ^ 1u", "start.half"),
    ),
    error(
        "packs of supernodes do not reset x or partial sums",
        "reset",
        "supernodal",
        Edit(
            SN + "pack/pack_backward_agent.hpp",
            "p.reset(ctx, shared.start, shared.sharer, pair_of_lane, handed_over + j);",
            "",
        ),
    ),
    error(
        "packs of supernodes are multiplied before the panel has arrived",
        "copy",
        "supernodal supernodal_factors",
        Edit(SN + "pack/pack_forward_agent.hpp", "wait_part(ctx, team, part, arrival);", ""),
    ),
    error(
        "packs of supernodes have no zeros behind their last row",
        "tail",
        "supernodal",
        Edit(SN + "pack/pack_forward_agent.hpp", "pair_at(memory.pack, k + padding, pair_of_lane) = pair{};", ""),
    ),
    error(
        "packs of supernodes use zeros by structure where values are not finite",
        "values",
        "supernodal supernodal_factors",
        Edit(SN + "pack/pack_product.hpp", "!all_finite", "false"),
    ),
    error(
        "the warps of an octet do not wait for each other's part of a pack",
        "barrier",
        "supernodal supernodal_factors",
        Edit(SN + "pack/pack_product.hpp", "team.sync();", "", within="products[team.rank()] = sum;\n    team.sync();"),
    ),
    error(
        "all blocks of a task solve the same packs of supernodes",
        "state",
        "supernodal_factors",
        Edit(SN + "pack/pack_panel.hpp", "block % p.sharers", "0"),
    ),
    error(
        "packs of supernodes do not find out which solves came before",
        "state",
        "supernodal_factors",
        Edit(SN + "pack/pack_panel.hpp", "ctx.store(p.found_tickets, ctx.load(p.sweep_tickets));", ""),
    ),
    # Incomplete factorisations
    error(
        "lanes write their steps of a long row to one place",
        "order",
        "incomplete",
        Edit(INCOMPLETE + "place_pieces.hpp", "simt::bit_count(kept & bits_below(warp.rank()))", "0"),
    ),
    error(
        "an operand of a long row is the one after it",
        "order",
        "incomplete",
        Edit(
            INCOMPLETE + "place_pieces.hpp",
            "simt::bit_count(columns & bits_below(bit))",
            "simt::bit_count(columns & bits_below(bit + 1))",
        ),
    ),
    error(
        "operands of a long row that do not follow each other are not listed",
        "order",
        "incomplete",
        Edit(INCOMPLETE + "place_pieces.hpp", "last - own.first + 1 != operands", "false"),
    ),
    error(
        "half of the lanes tell the level of a row that has a warp of its own",
        "lanes",
        "incomplete",
        Edit(
            D + "levels/row_levels_agent.hpp",
            "32",
            "16",
            within="simt::reduce(warp, share.level, 32, simt::maximum{}) + 1",
        ),
    ),
    error(
        "warps skip steps of long rows",
        "order",
        "incomplete",
        Edit(
            INCOMPLETE + "place_pieces.hpp",
            "warp.index() * share_steps",
            "warp.index() * (share_steps + 1)",
        ),
    ),
    error(
        "the piece with the pivot lacks steps without products",
        "value",
        "incomplete",
        Edit(
            INCOMPLETE + "place_pieces.hpp",
            "(operands > 0 || slot >= piece.slot || has_all_steps)",
            "(operands > 0 || slot >= piece.slot)",
        ),
    ),
    error(
        "a piece of a long row does not wait for its operands",
        "flag",
        "incomplete",
        Edit(INCOMPLETE + "piece_row.hpp", "needs_factor || !operands[i].is_known()", "needs_factor"),
    ),
    error(
        "a piece of a long row does not wait for its multipliers",
        "flag",
        "incomplete",
        Edit(INCOMPLETE + "piece_row.hpp", "lane_ == step && !factor_.is_known()", "false"),
    ),
    error(
        "Cholesky does not conjugate in a piece of a long row",
        "value",
        "incomplete",
        Edit(INCOMPLETE + "piece_row.hpp", "conjugate(operand)", "operand"),
    ),
    error(
        "a piece of a long row keeps its multipliers until its end",
        "progress",
        "incomplete",
        Edit(INCOMPLETE + "piece_row.hpp", "flag::publish(ctx, flag::address(p.factors, target_), factor);", ""),
    ),
    error(
        "a step of a factorisation does not wait for its operands",
        "flag",
        "incomplete",
        Edit(INCOMPLETE + "incomplete_agent.hpp", "(known & needed) == needed", "true"),
    ),
    error(
        "a step of an LU row in registers does not wait for its operands",
        "flag",
        "incomplete",
        Edit(
            INCOMPLETE + "short_row.hpp",
            "this->wait(ctx, warp, step.used);",
            "",
            within="this->wait(ctx, warp, step.used);\n      this->prepare_pivot();",
        ),
    ),
    error(
        "a step of a Cholesky row in registers does not wait for its operands",
        "flag",
        "incomplete",
        Edit(
            INCOMPLETE + "short_row.hpp",
            "this->wait(ctx, warp, step.used);",
            "",
            within="this->wait(ctx, warp, step.used);\n      substitute(",
        ),
    ),
    error(
        "the products of a Cholesky row in registers do not wait for their operands",
        "flag",
        "incomplete",
        Edit(INCOMPLETE + "short_row.hpp", "this->wait(ctx, warp, step.products);", ""),
    ),
    error(
        "a step of several LU rows in registers does not wait for its operands",
        "flag",
        "incomplete",
        Edit(
            INCOMPLETE + "short_row.hpp",
            "(known & step.used) == step.used",
            "(Method == method::lu || (known & step.used) == step.used)",
        ),
    ),
    error(
        "a step of several Cholesky rows in registers does not wait for its operands",
        "flag",
        "incomplete",
        Edit(
            INCOMPLETE + "short_row.hpp",
            "(known & step.used) == step.used",
            "(Method == method::cholesky || (known & step.used) == step.used)",
        ),
    ),
    error(
        "a step of an LU row of a warp does not wait for its operands",
        "flag",
        "incomplete",
        Edit(INCOMPLETE + "warp_row.hpp", "this->wait(ctx, warp, used);", ""),
    ),
    error(
        "the products of a Cholesky row of a warp do not wait for their operands",
        "flag",
        "incomplete",
        Edit(INCOMPLETE + "warp_row.hpp", "this->wait(ctx, warp, products);", ""),
    ),
    error(
        "the entries of a Cholesky row of a warp do not wait for their pivots",
        "flag",
        "incomplete",
        Edit(INCOMPLETE + "warp_row.hpp", "this->wait(ctx, warp, solved_here);", ""),
    ),
    error(
        "a batch of operands ends within a step of LU",
        "bounds",
        "incomplete",
        Edit(INCOMPLETE + "row_data.hpp", "pivots > 1 ? simt::highest_bit(pivots) : 32", "32"),
    ),
    error(
        "a batch of operands ends within a step of Cholesky",
        "bounds",
        "incomplete",
        Edit(INCOMPLETE + "row_data.hpp", "pivots != 0 ? simt::highest_bit(pivots) + 1 : 32", "32"),
    ),
    error(
        "a step of a row in registers leaves out its last operand",
        "bounds",
        "incomplete",
        Edit(INCOMPLETE + "short_row.hpp", "later & (0u - later)", "(later & (0u - later)) / 2"),
    ),
    error(
        "the sum of the products of a step is not carried to the next batch",
        "value",
        "incomplete",
        Edit(
            INCOMPLETE + "warp_row.hpp",
            "carried_ + simt::reduce(warp, product, lanes, simt::plus{})",
            "simt::reduce(warp, product, lanes, simt::plus{})",
        ),
    ),
    error(
        "the products of rows that share a warp are added up over too few lanes",
        "bounds",
        "incomplete",
        Edit(INCOMPLETE + "short_row.hpp", "longest_ = 1;", "longest_ = 0;"),
    ),
    error(
        "Cholesky does not conjugate in registers",
        "value",
        "incomplete",
        Edit(INCOMPLETE + "short_row.hpp", "conjugate(own_.seen.value())", "own_.seen.value()"),
    ),
    error(
        "Cholesky does not conjugate in a row of a warp",
        "value",
        "incomplete",
        Edit(INCOMPLETE + "warp_row.hpp", "conjugate(own_.seen.value())", "own_.seen.value()"),
    ),
    error(
        "a row of a warp ends before its last batch of operands",
        "bounds",
        "incomplete",
        Edit(INCOMPLETE + "operand_batches.hpp", "ahead_.count == 0", "next_ >= end_"),
    ),
    error(
        "a pivot in registers without a safe reciprocal is not divided by",
        "value",
        "incomplete",
        Edit(
            INCOMPLETE + "operand_batches.hpp",
            "incomplete::prepare_pivot<Scalar>(own_, is_prepared_, divides_);",
            "incomplete::prepare_pivot<Scalar>(own_, is_prepared_, divides_); divides_ = false;",
        ),
    ),
    error(
        "factors are not reset before they are computed again",
        "reset",
        "incomplete",
        Edit(
            INCOMPLETE + "device_engine.hpp",
            "on.fill_bytes(factors_.data(), 0xff, factors_.bytes());",
            "",
        ),
    ),
    error(
        "Cholesky factors are not reset",
        "reset",
        "incomplete",
        Edit(
            INCOMPLETE + "device_engine.hpp",
            "is_reset ? flag::pending : ctx.load_constant(a + w)",
            "ctx.load_constant(a + w)",
        ),
    ),
    error(
        "the reciprocals of pivots are not reset",
        "reset",
        "incomplete",
        Edit(
            INCOMPLETE + "device_engine.hpp",
            "flag::reset(ctx, flag::address(reciprocals, e));",
            "",
        ),
    ),
    error(
        "a row of several takes a reading of the next batch for one of the current batch",
        "flag",
        "incomplete",
        Edit(
            INCOMPLETE + "row_state.hpp",
            "flag::poll(ctx, ahead.component(p), ahead.seen);",
            "flag::poll(ctx, ahead.component(p), now.seen);",
        ),
    ),
    error(
        "a row of a warp takes a reading of the next batch for one of the current batch",
        "flag",
        "incomplete",
        Edit(
            INCOMPLETE + "operand_batches.hpp",
            "flag::poll(ctx, ahead_.component, ahead_.seen);",
            "flag::poll(ctx, ahead_.component, own_.seen);",
        ),
    ),
    error(
        "rows of a factorisation are taken by block and not by ticket",
        "ticket",
        "incomplete",
        Edit(
            INCOMPLETE + "incomplete_agent.hpp",
            "warp.shuffle(ticket.block, 0)",
            "warp.shuffle(ticket.block, 0) == 0 ? p.tasks - 1 : warp.shuffle(ticket.block, 0) - 1",
        ),
    ),
    error(
        "a batch of operands is skipped",
        "bounds",
        "incomplete",
        Edit(
            INCOMPLETE + "row_state.hpp",
            "operand_at(ctx, p, 2)",
            "operand_at(ctx, p, 3)",
            within="ahead = load_value(ctx, p, later);\n    later = operand_at(ctx, p, 2);",
        ),
    ),
    error(
        "a step takes the first operand of the next one",
        "bounds",
        "incomplete",
        Edit(
            INCOMPLETE + "incomplete_agent.hpp",
            "simt::lowest_bit(after)",
            "simt::lowest_bit(after) + 1",
        ),
    ),
    error(
        "a row of one entry too many is in shared memory",
        "bounds",
        "incomplete",
        Edit(INCOMPLETE + "row_data.hpp", "p.shared_slots", "p.shared_slots + 1", within="> p.shared_slots"),
    ),
    error(
        "the pivots that a factorisation replaces are counted for the next one",
        "parity",
        "incomplete",
        Edit(
            INCOMPLETE + "row_data.hpp",
            "half",
            "half ^ 1u",
            within="ctx.reduce_add(&p.state->boosted_pivots[half]",
        ),
    ),
    error(
        "the first breakdown is reset for this factorisation",
        "parity",
        "incomplete",
        Edit(INCOMPLETE + "incomplete_agent.hpp", "half ^ 1u", "half", within="first_breakdown[half ^ 1u], all_finite"),
    ),
    error(
        "Cholesky does not conjugate",
        "value",
        "incomplete",
        Edit(INCOMPLETE + "incomplete_agent.hpp", "conjugate(row.now.seen.value())", "row.now.seen.value()"),
    ),
    error(
        "a pivot without a safe reciprocal is not divided by",
        "value",
        "incomplete",
        Edit(
            INCOMPLETE + "incomplete_agent.hpp",
            "prepare_pivot<Scalar>(row.now, row.is_prepared, row.divides);",
            "prepare_pivot<Scalar>(row.now, row.is_prepared, row.divides); row.divides = false;",
        ),
    ),
    error(
        "the operands of a step leave out the last entry of a row",
        "bounds",
        "incomplete",
        Edit(
            INCOMPLETE + "place_operands.hpp",
            "static_cast<std::int64_t>(own.few.end - own.few.begin) + 1",
            "static_cast<std::int64_t>(own.few.end - own.few.begin)",
        ),
    ),
    # Batches
    error(
        "a batch does not wait for its right-hand sides",
        "copy",
        "batched",
        Edit(BATCHED + "batched_agent.hpp", "ctx.template wait_copies<0>();", "ctx.template wait_copies<1>();"),
    ),
    error(
        "the plan of a batch leaves out the last lane",
        "bounds",
        "batched",
        Edit(
            BATCHED + "batched_plan.hpp",
            "static_cast<std::uint32_t>(count)",
            "static_cast<std::uint32_t>(count > 1 ? count - 1 : count)",
        ),
    ),
    error(
        "the plan of a batch announces values a step too late",
        "order",
        "batched",
        Edit(BATCHED + "batched_plan.hpp", "lane - values_ahead * lanes()", "lane - (values_ahead - 1) * lanes()"),
    ),
    error(
        "the lanes of a batch keep the sum of the row before",
        "reset",
        "batched",
        Edit(BATCHED + "batched_agent.hpp", "return step.is_last() ? pack{} : sum;", "return sum;"),
    ),
    error(
        "lanes of a batch without systems read past the values",
        "bounds",
        "batched",
        Edit(BATCHED + "batched_agent.hpp", "own < groups", "true"),
    ),
    error(
        "the systems of a batch that are solved together have the values of one",
        "value",
        "batched",
        Edit(
            BATCHED + "batched_values.hpp",
            "values.of[u]",
            "values.of[0]",
        ),
    ),
    error(
        "a batch does not divide by pivots without a safe reciprocal",
        "value",
        "batched",
        Edit(BATCHED + "batched_agent.hpp", "!is_finite(solved.of[u])", "false"),
    ),
    error(
        "the status of a batch is that of the last right-hand side",
        "value",
        "batched",
        Edit(BATCHED + "batched_agent.hpp", "found < first_nonfinite[u] ? found : first_nonfinite[u]", "found"),
    ),
    # Solves over several devices.
    error(
        "a PE resets the buffer of the solve that runs",
        "parity",
        "distributed",
        Edit(DISTRIBUTED + "distributed_engine.hpp", "buffer_of(solves_ + inbox_buffers - 1)", "buffer_of(solves_)"),
    ),
    error(
        "a PE does not reset what it has received",
        "reset",
        "distributed",
        Edit(DISTRIBUTED + "distributed_agent.hpp", "i < p.received_count", "i < 0"),
    ),
    error(
        "a forest has columns of another PE",
        "order",
        "distributed",
        Edit(SN + "forest/forests.hpp", "apart_[at(s)] == 0", "true"),
    ),
    error(
        "a contribution goes to the wrong row of the parent in the tree",
        "bounds",
        "distributed",
        Edit(
            DISTRIBUTED + "messages.hpp",
            "sum = size + local_.tree.rows_begin[at(here)] + near",
            "sum = size + local_.tree.rows_begin[at(here)] + (near > 0 ? near - 1 : 0)",
        ),
    ),
    error(
        "a PE takes x of another one for its own",
        "order",
        "distributed",
        Edit(DISTRIBUTED + "parameters.hpp", "range.first >= 0 && m < range.count", "false"),
    ),
    error(
        "a PE leaves too little room on its device for the kernels of others",
        "order",
        "distributed",
        Edit(DISTRIBUTED + "distributed_engine.hpp", "std::min(share_of_device_, share)", "share_of_device_"),
    ),
    error(
        "a PE does not wait for others that are behind",
        "order",
        "distributed",
        Edit(DISTRIBUTED + "parameters.hpp", "polls.load_relaxed(others) < solve", "false"),
    ),
    error(
        "a PE waits for others one solve too short",
        "bounds",
        "distributed",
        Edit(
            DISTRIBUTED + "parameters.hpp",
            "polls.load_relaxed(others) < solve",
            "polls.load_relaxed(others) + 1 < solve",
        ),
    ),
    error(
        "a PE resets one right-hand side too few",
        "bounds",
        "distributed",
        Edit(DISTRIBUTED + "distributed_engine.hpp", "used_rhs_ = p.x.columns", "used_rhs_ = p.x.columns - 1"),
    ),
    error(
        "a PE signals before its values have arrived",
        "order",
        "distributed",
        Edit(
            DISTRIBUTED + "puts.hpp",
            "puts.fence(ctx)",
            "static_cast<void>(0)",
            within="puts.fence(ctx);\n      for_own",
        ),
    ),
    error(
        "signals are not told apart by solves",
        "reset",
        "distributed",
        Edit(
            DISTRIBUTED + "puts.hpp",
            "scope.load_acquire(signals + place.signal) >= solve",
            "scope.load_acquire(signals + place.signal) > 0",
        ),
        Edit(
            DISTRIBUTED + "puts.hpp",
            "polls.load_acquire(signals + place.signal) < solve",
            "polls.load_acquire(signals + place.signal) == 0",
        ),
    ),
    error(
        "the signal of the solve before counts",
        "parity",
        "distributed",
        Edit(
            DISTRIBUTED + "puts.hpp",
            "polls.load_acquire(signals + place.signal) < solve",
            "polls.load_acquire(signals + place.signal) + 1 < solve",
        ),
    ),
    error(
        "a block sends before its threads have computed",
        "order",
        "distributed",
        Edit(DISTRIBUTED + "puts.hpp", "ctx.barrier()", "static_cast<void>(0)"),
    ),
    error(
        "a message begins at the place of another one",
        "bounds",
        "distributed",
        Edit(DISTRIBUTED + "mail_plan.hpp", "r.to += begin_of[at(r.pe)][0].mail", "r.to += 0"),
    ),
    error(
        "the first value that comes in a message counts as one of the own PE",
        "bounds",
        "distributed",
        Edit(DISTRIBUTED + "puts.hpp", "index < first_place", "index <= first_place"),
    ),
    error(
        "a message of a block has more values than it says",
        "bounds",
        "distributed",
        Edit(DISTRIBUTED + "puts.hpp", "r.count * columns * flag::words", "(r.count - 1) * columns * flag::words"),
    ),
    error(
        "a waiting block hands over values that have not come",
        "order",
        "distributed",
        Edit(DISTRIBUTED + "puts.hpp", "is_pending && polls.load_acquire(signals + number) >= solve", "is_pending"),
    ),
    error(
        "a tree of messages has a wrong child",
        "order",
        "distributed",
        Edit(DISTRIBUTED + "supernodes/dealing.hpp", "std::min(count, 2 * i + 1)", "std::min(count, 2 * i + 2)"),
        Edit(DISTRIBUTED + "supernodes/dealing.hpp", "std::min(count, 2 * i + 3)", "std::min(count, 2 * i + 4)"),
    ),
    error(
        "a partial sum is lost",
        "bounds",
        "distributed",
        Edit(DISTRIBUTED + "parameters.hpp", "list.add(from, list.try_load(from), v)", "v"),
    ),
    error(
        "a sum is sent before all contributions are added",
        "value",
        "distributed",
        Edit(SN + "solve/forward_agent.hpp", "p.pass_sum(ctx, c, column, v)", "p.pass_sum(ctx, c, column, g[0])"),
    ),
    error(
        "the tasks of PEs that share a panel come in the order of levels only",
        "order",
        "distributed",
        Edit(DISTRIBUTED + "supernodes/dealing.hpp", "(backward ? height - depth : depth)", "0"),
    ),
    error(
        "a value is passed on to one PE too few",
        "bounds",
        "distributed",
        Edit(DISTRIBUTED + "messages.hpp", "++made_.passed.back().to.count", "made_.passed.back().to.count = 1"),
    ),
    error(
        "a supernode takes the columns of a share for those of its merged range",
        "value",
        "distributed",
        Edit(
            DISTRIBUTED + "local_plan.hpp",
            "!owners_.is_divided(of_.supernode_at(of_.range_end(s) - 1))",
            "true",
        ),
    ),
    error(
        "a PE waits for a value although another one has failed",
        "order",
        "distributed_failure",
        Edit(
            DISTRIBUTED + "polling_scope.hpp",
            "has_failed_ ? failed<T> : ctx_.system_scope().load_relaxed(p)",
            "ctx_.system_scope().load_relaxed(p)",
        ),
    ),
    error(
        "a PE waits for a signal although another one has failed",
        "order",
        "distributed_failure",
        Edit(
            DISTRIBUTED + "polling_scope.hpp",
            "has_failed_ ? failed<T> : ctx_.system_scope().load_acquire(p)",
            "ctx_.system_scope().load_acquire(p)",
        ),
    ),
    error(
        "a warp hands on a message that has not come",
        "order",
        "distributed_failure",
        Edit(DISTRIBUTED + "puts.hpp", "warp.shuffle(polls.has_failed() ? 1 : 0, lane) != 0", "false"),
    ),
    # Krylov methods.
    error(
        "a sum over all rows lacks its last part",
        "bounds",
        "krylov",
        Edit(KRYLOV + "block.hpp", "k < parts", "k < parts - 1"),
    ),
    error(
        "an inner product is not conjugated",
        "value",
        "krylov",
        Edit(KRYLOV + "block.hpp", "conjugate(widen(x))", "widen(x)"),
    ),
    error(
        "kernels go on after the method has ended",
        "order",
        "krylov",
        Edit(KRYLOV + "block.hpp", "shared.stop != 0", "false"),
    ),
    error(
        "CG divides by the inner product of this iteration",
        "value",
        "krylov",
        Edit(
            KRYLOV + "vector_step.hpp", "divide(total[0], ctx.load(&state->rho_before))", "divide(total[0], total[0])"
        ),
    ),
    error(
        "GMRES subtracts the first projection twice",
        "value",
        "krylov",
        Edit(
            KRYLOV + "gmres.hpp",
            "subtract(thread, second_pass, j + 1, true)",
            "subtract(thread, slot::basis, j + 1, true)",
        ),
    ),
)
