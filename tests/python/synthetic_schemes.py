"""Makes results like those of sptrsv_schemes."""

from __future__ import annotations

import pathlib
from typing import Any

import support

REST = "group=rg_sequential warps=ws_hardware alpha_level=inf signal=value buffered=no early_division=yes"
WARP = f"nw=16 ng=1 sw_rnnz=1 trans=none {REST}"
LANE = f"nw=16 ng=1 sw_rnnz=inf trans=merge_fixed(32) {REST}"
AVERAGE = f"nw=16 ng=1 sw_rnnz=8 trans=merge_avg(32,8) {REST}"
DEALT = WARP.replace("ws_hardware", "ws_rr")
REORDERED = WARP.replace("trans=none", "trans=reorder")


def system(name: str, ms: dict[str, float], model_ms: float, rows: float = 1000, family: str = "f") -> dict[str, Any]:
    return {
        "matrix": name,
        "family": family,
        "search_seconds": 0.5,
        "model": {"scheme": WARP, "analysis_ms": 3.0, "ms": model_ms},
        "features": [rows, 3 * rows, 3, 5, 0.5, 30, 60, 0.2, 10, 0.5],
        "schemes": [{"scheme": s, "ms": v} for s, v in ms.items()] + [{"scheme": "nw=2", "refused": "why"}],
    }


TWO = [
    system("one", {WARP: 4, LANE: 8, AVERAGE: 2, DEALT: 1, REORDERED: 0.5}, 0.5),
    system("two", {WARP: 4, LANE: 1, AVERAGE: 4, DEALT: 4, REORDERED: 4}, 2.0, rows=30),
]


class SchemesTest(support.CommandTest):
    def write_systems(self, systems: list[dict[str, Any]]) -> pathlib.Path:
        return pathlib.Path(self.write("schemes.json", {"device": "A GPU", "systems": systems}))
