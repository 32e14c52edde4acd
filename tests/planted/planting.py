"""Puts planted errors into a copy of the sources, each with a switch of its own."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Edit:
    """Replaces `old` by `new` in a file. `old` occurs once in `within`, which occurs once in the file; `within` is
    `old` by default. `at`: where `old` stands in the file instead. `old` is a sequence of whole statements or an
    expression; an expression does not end with ";" or "}"."""

    file: str
    old: str
    new: str
    within: str = ""
    at: int = -1

    def span(self, text: str) -> tuple[int, int]:
        """Returns where `old` stands in the file with this text."""
        if self.old.count("{") != self.old.count("}"):
            raise SystemExit(f"error: planted errors: braces without a partner in {self.file}:\n{self.old}")
        if self.at >= 0:
            return self.at, self.at + len(self.old)
        within = self.within or self.old
        for part, whole, where in ((within, text, self.file), (self.old, within, "the text around it")):
            if whole.count(part) != 1:
                count = whole.count(part)
                raise SystemExit(f"error: planted errors: {where} has this text {count} times, not once:\n{part}")
        begin = text.index(within) + within.index(self.old)
        if text[:begin].rstrip().endswith((".", "->", "::")):
            raise SystemExit(f"error: planted errors: this is the end of an expression in {self.file}:\n{self.old}")
        return begin, begin + len(self.old)

    def switched(self, number: int) -> str:
        """Returns the text in place of `old`: it behaves like `new` if error `number` is on, otherwise like `old`."""
        condition = f"::sptrsv::planted::is_on({number})"
        if self.old.endswith((";", "}")):
            return f"if ({condition}) {{ {self.new} }} else {{ {self.old} }}"
        return f"({condition} ? ({self.new}) : ({self.old}))"


@dataclass(frozen=True)
class Error:
    """An error that one of `programs` must catch, unless `equivalent` says why it changes no result."""

    name: str
    kind: str
    programs: tuple[str, ...]
    edits: tuple[Edit, ...]
    equivalent: str = ""


def layers(root: Path, errors: dict[int, Error]) -> list[dict[int, Error]]:
    """Divides errors, by number, into layers in which no edits overlap: each layer is one program."""
    texts: dict[str, str] = {}
    made: list[dict[int, Error]] = []
    taken: list[list[tuple[str, int, int]]] = []  # by layer: where its edits are
    for number, error in errors.items():
        spans = []
        for edit in error.edits:
            text = texts.setdefault(edit.file, (root / edit.file).read_text())
            spans.append((edit.file, *edit.span(text)))
        free = [i for i, others in enumerate(taken) if not any(overlap(a, b) for a in spans for b in others)]
        if not free:
            made.append({})
            taken.append([])
        index = free[0] if free else len(made) - 1
        made[index][number] = error
        taken[index].extend(spans)
    return made


def overlap(a: tuple[str, int, int], b: tuple[str, int, int]) -> bool:
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]


def plant(root: Path, copy: Path, errors: dict[int, Error]) -> None:
    """Writes the edited files of a layer below `copy`, which has the same layout as `root`."""
    edits: dict[str, list[tuple[int, int, str]]] = {}
    for number, error in errors.items():
        for edit in error.edits:
            begin, end = edit.span((root / edit.file).read_text())
            edits.setdefault(edit.file, []).append((begin, end, edit.switched(number)))
    for file, places in edits.items():
        text = (root / file).read_text()
        for begin, end, switched in sorted(places, reverse=True):
            text = text[:begin] + switched + text[end:]
        (copy / file).write_text(text)
