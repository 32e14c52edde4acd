"""Cross-validation on two halves of the systems: what is fitted on one half is judged on the other, both in turn.

The half of a system is a hash of its name. So it depends neither on the order of the systems nor on what else was
measured, and all rows of a system are in one half.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from sptrsv_results.format import geometric_mean

Item = TypeVar("Item")
Fitted = TypeVar("Fitted")


def half_of(system: str) -> int:
    """Returns 0 or 1."""
    return hashlib.sha256(system.encode()).digest()[0] % 2


def held_out(
    items: Sequence[Item], system_of: Callable[[Item], str], fit: Callable[[Sequence[Item]], Fitted]
) -> Iterator[tuple[Item, Fitted]]:
    """Returns each item with what was fitted on the other half; nothing if a half is empty."""
    halves: tuple[list[Item], list[Item]] = ([], [])
    for item in items:
        halves[half_of(system_of(item))].append(item)
    if all(halves):
        for known, unknown in (halves, halves[::-1]):
            fitted = fit(known)
            yield from ((item, fitted) for item in unknown)


def summary(errors: Iterable[tuple[str, float]]) -> str:
    """Returns the geometric mean of factors, each with its system, and the worst."""
    known = list(errors)
    if not known:
        return "no systems in one of the halves"
    system, worst = max(known, key=lambda error: error[1])
    return f"mean {geometric_mean(factor for _, factor in known):.3f}, worst {worst:.2f} ({system})"
