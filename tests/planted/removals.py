"""The removal of each single barrier, sync, fence and wait from the kernels, found in their sources."""

import re
from pathlib import Path

from planting import Edit, Error

LIBRARY = "include/sptrsv/detail"

# A statement that only synchronises, alone on its line; a comment may follow.
STATEMENT = re.compile(
    r"^[ ]*(?P<statement>(?:ctx_?|warp_?|team|tile|barrier_|pipeline_)\.(?:template )?"
    r"(?:barrier|sync|fence|fence_acquire|fence_release|fence_block|wait|wait_bulk|wait_copies|commit_copies|begin_bulk"
    r"|arrive_next)(?:<[^;]*>)?\([^;]*\);)[ ]*(?://.*)?$",
    re.MULTILINE,
)

# The programs whose kernels use a file, by the beginning of its path; the first one that fits. The folder of a paper
# has the name of its program.
PROGRAMS_OF = {
    "analysis/": ("analysis",),
    "batched/": ("batched",),
    "dataflow/natural_blocks/": ("natural_blocks",),
    "dataflow/partitioned/choose/": ("predictions",),
    "dataflow/partitioned/": ("partitioned",),
    "dataflow/row_elimination/": ("row_elimination", "row_elimination_rows"),
    "dataflow/row_per_thread/": ("row_per_thread",),
    "dataflow/single_block/": ("single_block",),
    "distributed/": ("distributed",),
    "incomplete/": ("incomplete",),
    "krylov/": ("krylov",),
    "papers/row_wise/": ("sync_free_warp", "sync_free_thread", "sync_free_fused"),
    "simt/": ("analysis",),
    "sync/counted_unknowns": ("sync_free_column", "self_scheduled"),
    "sync/fenced_values": ("scheme",),
    "sync/tickets": ("analysis", "self_scheduled"),
    "supernodal/": ("supernodal", "supernodal_factors", "supernodal_merge"),
    "sync/": ("sync_free_warp",),
}

# Statements that may go without a wrong result, and why they stay; by the name of the removal.
REUNITES = "the lanes of the warp go on together after loops and branches, for speed; no memory needs the order"
CONVERGES = "numbered barriers of the hardware need converged warps, those of the emulator do not"
SHUFFLES = "shuffles of the whole warp beside it order memory in the emulator; CUDA does not promise that"
EQUIVALENT: dict[str, str] = {
    "analysis/triangle_kernels.hpp: warp.sync(); #1": SHUFFLES,
    "dataflow/natural_blocks/natural_blocks_agent.hpp: warp_.sync(); #1": CONVERGES,
    "dataflow/natural_blocks/natural_blocks_agent.hpp: warp_.sync(); #2": CONVERGES,
    "dataflow/single_block/consumer.hpp: warp_.sync(); #1": CONVERGES,
    "dataflow/single_block/consumer.hpp: warp_.sync(); #2": CONVERGES,
    "dataflow/single_block/single_block_agent.hpp: warp.sync(); #1": CONVERGES,
    "dataflow/single_block/single_block_agent.hpp: warp.sync(); #2": CONVERGES,
    "incomplete/incomplete_agent.hpp: warp.sync(); #1": REUNITES,
    "incomplete/operand_batches.hpp: warp.sync(); #1": REUNITES,
    "incomplete/operand_batches.hpp: warp.sync(); #2": REUNITES,
    "incomplete/operand_batches.hpp: warp.sync(); #3": REUNITES,
    "incomplete/piece_row.hpp: warp.sync(); #1": REUNITES,
    "incomplete/piece_row.hpp: warp.sync(); #2": REUNITES,
    "incomplete/piece_row.hpp: warp.sync(); #3": REUNITES,
    "incomplete/piece_row.hpp: warp.sync(); #4": REUNITES,
    "incomplete/row_state.hpp: warp.sync(); #1": REUNITES,
    "incomplete/short_row.hpp: warp.sync(); #1": REUNITES,
    "incomplete/short_row.hpp: warp.sync(); #2": REUNITES,
    "incomplete/warp_row.hpp: warp.sync(); #2": SHUFFLES,
    "incomplete/warp_row.hpp: warp.sync(); #3": REUNITES,
    "papers/row_wise/rows.hpp: warp.sync(); #1": REUNITES,
    "papers/row_wise/rows.hpp: warp.sync(); #2": REUNITES,
    "papers/sync_free_warp/sync_free_warp_engine.hpp: warp.sync(); #1": REUNITES,
}


def removals(root: Path) -> list[Error]:
    """Returns an error for each statement; its name has the number of the statement among equal ones of the file."""
    found = []
    for path in sorted((root / LIBRARY).rglob("*.hpp")):
        inside = path.relative_to(root / LIBRARY).as_posix()
        text = path.read_text()
        seen: dict[str, int] = {}
        for match in STATEMENT.finditer(text):
            statement = match["statement"]
            seen[statement] = seen.get(statement, 0) + 1
            name = f"{inside}: {statement} #{seen[statement]}"
            of_paper = (inside.split("/")[1],) if inside.startswith("papers/") else None
            programs = next((p for prefix, p in PROGRAMS_OF.items() if inside.startswith(prefix)), of_paper)
            if programs is None:
                raise SystemExit(f"error: removals.py names no program for {LIBRARY}/{inside}")
            edit = Edit(f"{LIBRARY}/{inside}", statement, "", at=match.start("statement"))
            found.append(Error(name, "removed", programs, (edit,), EQUIVALENT.get(name, "")))
    unknown = EQUIVALENT.keys() - {error.name for error in found}
    if unknown:
        raise SystemExit("error: removals.py: no such statement any more: " + "; ".join(sorted(unknown)))
    return found
