"""Trains the model by which policy::scheme chooses a scheme, on measurements of sptrsv_schemes.

The model: multilayer perceptrons with two hidden layers predict for each scheme how likely it is satisfactory, which
means at least 85 % as fast as the best scheme (Hu, Sun, Li and Sun, AG-SpTRSV, ACM TACO 21(4), 2024, section 4.5).
Their inputs are the normalised logarithms of the features of a system. They differ only in their random start; the
model chooses the scheme with the highest mean likelihood. The weight of a system is 1 / sqrt(systems of its family).
--output writes the model as a header of constants.

Its quality: nested cross-validation, in which no family of systems is in both the training set and the test set. The
training set alone decides which schemes the model knows and, by an inner cross-validation, the training's settings.
The command prints how the chosen scheme compares with the best of all measured schemes, and how the fastest of the few
likeliest schemes does, which a search among these finds. Systems in other orders (sptrsv_schemes --renumbered) belong
to the family of their matrix. They are in training sets, but the quality and the choice of the settings count only
systems in their own order.

Needs numpy and scikit-learn 1.7.
"""

from __future__ import annotations

import json
import math
import pathlib
import string
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold
from sklearn.neural_network import MLPClassifier

from sptrsv_results.cli import new_parser
from sptrsv_results.format import FormatError

HIDDEN = (24, 24)
MEMBERS = 5
SATISFACTORY = 0.85
INNER_FOLDS = 4
INNER_MEMBERS = 2


@dataclass(frozen=True)
class Data:
    """Measurements: one row per system, one column per scheme."""

    matrices: list[str]
    families: list[str]
    schemes: list[str]
    features: np.ndarray
    times: np.ndarray  # milliseconds; infinite where a scheme was not measured
    own_order: np.ndarray  # by system: whether it is not a renumbering of another system
    tried: np.ndarray  # by scheme: whether it was tried on all systems
    devices: list[str]


def load(paths: Sequence[pathlib.Path]) -> Data:
    devices = []
    by_name: dict[str, Any] = {}  # a later file replaces the systems of an earlier file
    for path in paths:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            devices.append(content["device"])
            by_name.update((s["matrix"], s) for s in content["systems"])
        except (OSError, ValueError, KeyError, TypeError) as e:
            raise FormatError(f"{path}: {e}") from e
    systems = list(by_name.values())
    schemes = list(dict.fromkeys(m["scheme"] for s in systems for m in s["schemes"]))
    column = {scheme: i for i, scheme in enumerate(schemes)}
    times = np.full((len(systems), len(schemes)), math.inf)
    for row, system in enumerate(systems):
        for measured in system["schemes"]:
            if measured.get("ms") is not None:
                times[row, column[measured["scheme"]]] = measured["ms"]
    solved = np.isfinite(times).any(axis=1)
    if not solved.any():
        raise FormatError("no system was solved")
    spaces = {frozenset(m["scheme"] for m in s["schemes"]) for s in systems}
    kept = [s for s, good in zip(systems, solved, strict=True) if good]
    return Data(
        [s["matrix"] for s in kept],
        [s["family"] for s in kept],
        schemes,
        np.array([s["features"] for s in kept], dtype=float),
        times[solved],
        np.array([not s.get("renumbering") for s in kept]),
        np.array([all(scheme in tried for tried in spaces) for scheme in schemes]),
        sorted(set(devices)),
    )


@dataclass(frozen=True)
class Settings:
    """Settings of the training."""

    alpha: float  # penalty of large weights
    iterations: int  # at most; too many overfit


SETTINGS = tuple(Settings(alpha, iterations) for alpha in (0.1, 1.0) for iterations in (800, 2000))


@dataclass(frozen=True)
class Model:
    """The perceptrons (members). Layer i has `weights[i]`, member x out x in, and `biases[i]`, member x out."""

    mean: np.ndarray
    deviation: np.ndarray
    weights: list[np.ndarray]
    biases: list[np.ndarray]

    def order(self, features: np.ndarray) -> np.ndarray:
        """Returns the schemes by falling likelihood, as likeliest_schemes of detail/papers/scheme/model.hpp."""
        start = (np.log1p(features) - self.mean) / self.deviation
        likely = np.zeros((len(features), self.biases[-1].shape[1]))
        for member in range(len(self.biases[0])):
            x = start
            for i, (weights, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
                x = x @ weights[member].T + bias[member]
                x = np.maximum(x, 0) if i + 1 < len(self.weights) else x
            likely += 1 / (1 + np.exp(-x))
        return np.argsort(-likely, axis=1, kind="stable")


def train(data: Data, settings: Settings, seed: int, members: int = MEMBERS) -> Model:
    x = np.log1p(data.features)
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    deviation[deviation < 1e-12] = 1
    labels = (data.times.min(axis=1, keepdims=True) / data.times >= SATISFACTORY).astype(int)
    size = Counter(data.families)
    weight = np.array([size[family] ** -0.5 for family in data.families])
    networks = []
    for member in range(members):
        network = MLPClassifier(
            HIDDEN,
            alpha=settings.alpha,
            max_iter=settings.iterations,
            random_state=seed * MEMBERS + member,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit((x - mean) / deviation, labels, sample_weight=weight / weight.mean())
        networks.append(network)
    layers = range(len(HIDDEN) + 1)
    return Model(
        mean,
        deviation,
        [np.stack([n.coefs_[i].T for n in networks]) for i in layers],
        [np.stack([n.intercepts_[i] for n in networks]) for i in layers],
    )


@dataclass(frozen=True)
class Quality:
    satisfactory: float  # share of the systems
    mape: float  # mean share of the speed that is lost

    @staticmethod
    def of(times: np.ndarray, chosen: np.ndarray) -> Quality:
        best, own = times.min(axis=1), times[np.arange(len(times)), chosen]
        # A scheme that could not be measured counts as ten times the best.
        own = np.where(np.isfinite(own), own, 10 * best)
        return Quality(float((best / own >= SATISFACTORY).mean()), float((1 - best / own).mean()))


def useful(data: Data, most: int) -> np.ndarray:
    """Returns the columns of at most `most` schemes for the model, of those that were tried on all systems.

    Greedily takes the scheme that is satisfactory on most systems, where a system counts less the more of the schemes
    taken so far are satisfactory on it.
    """
    relative = data.times.min(axis=1, keepdims=True) / data.times
    satisfactory = relative >= SATISFACTORY
    speed = relative.mean(axis=0)  # decides between schemes of equal gain
    kept: list[int] = []
    covered = np.zeros(len(data.times))
    while len(kept) < min(most, int(data.tried.sum())):
        gain = (satisfactory / (1 + covered[:, None]) ** 2).sum(axis=0) + 1e-3 * speed
        gain[kept] = -1
        gain[~data.tried] = -1
        kept.append(int(gain.argmax()))
        covered += satisfactory[:, kept[-1]]
    return np.array(kept)


def part(data: Data, rows: np.ndarray, columns: np.ndarray) -> Data:
    return Data(
        [data.matrices[i] for i in rows],
        [data.families[i] for i in rows],
        [data.schemes[i] for i in columns],
        data.features[rows],
        data.times[np.ix_(rows, columns)],
        data.own_order[rows],
        data.tried[columns],
        data.devices,
    )


def all_columns(data: Data) -> np.ndarray:
    return np.arange(len(data.schemes))


def best_settings(data: Data, most: int, seed: int, settings: Sequence[Settings]) -> Settings:
    """Returns the settings with the best quality in a cross-validation with fewer members."""
    if len(settings) == 1 or len(set(data.families)) < 2:
        return settings[0]

    def merit(one: Settings) -> float:
        quality, _ = cross_validate(data, most, INNER_FOLDS, seed, [one], INNER_MEMBERS)
        return quality.satisfactory - quality.mape

    return max(settings, key=merit)


def cross_validate(
    data: Data,
    most: int,
    folds: int,
    seed: int,
    settings: Sequence[Settings],
    members: int = MEMBERS,
) -> tuple[Quality, list[np.ndarray]]:
    """Returns the quality of the model on systems in their own order, and for each system its order of schemes.

    An order has the columns of at most `most` schemes by falling likelihood, by a model that was trained without the
    family of the system.
    `folds`: at most the number of families, which 0 stands for.
    """
    families = len(set(data.families))
    folds = min(folds or families, families)
    if folds < 2:
        raise FormatError("systems of one family cannot be cross-validated")
    order: list[np.ndarray] = [np.empty(0, dtype=int)] * len(data.matrices)
    for known, unknown in GroupKFold(folds).split(data.features, groups=data.families):
        seen = part(data, known, all_columns(data))
        own = best_settings(seen, most, seed, settings)
        kept = useful(seen, most)
        model = train(part(data, known, kept), own, seed, members)
        for system, ranks in zip(unknown, model.order(data.features[unknown]), strict=True):
            order[system] = kept[ranks]
    chosen = fastest_of(data, order, 1)
    return Quality.of(data.times[data.own_order], chosen[data.own_order]), order


def fastest_of(data: Data, order: Sequence[np.ndarray], count: int) -> np.ndarray:
    """Returns for each system the column of the fastest of its first `count` schemes in `order`."""
    return np.array([columns[data.times[i, columns[:count]].argmin()] for i, columns in enumerate(order)])


def best_single(data: Data) -> Quality:
    """Returns the quality of one scheme for all systems: the scheme that is satisfactory most often."""
    satisfactory = data.times.min(axis=1, keepdims=True) / data.times >= SATISFACTORY
    scheme = int(satisfactory.sum(axis=0).argmax())
    return Quality.of(data.times, np.full(len(data.times), scheme))


DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase


def triple(value: int) -> str:
    """Returns three digits of base 62."""
    return DIGITS[value // 62**2] + DIGITS[value // 62 % 62] + DIGITS[value % 62]


def packed(value: float) -> str:
    """Returns the text of a number of four decimal digits, m / 10^e, as packed_numbers of model.hpp reads it."""
    mantissa, exponent = f"{value:.3e}".split("e")
    shift = 3 - int(exponent)
    if not 0 <= shift < 62**3:
        raise ValueError(f"{value} is too large for the table")
    code = triple(20000 * min(shift, 10) + 10000 + int(mantissa.replace(".", "")))
    return code + (triple(shift) if shift > 9 else "")


def header(model: Model, schemes: Sequence[str], origin: str, width: int = 240) -> str:
    """Returns the text of model_table.hpp, with `width` characters of numbers in a line."""
    arrays = [model.mean, model.deviation]
    for weights, biases in zip(model.weights, model.biases, strict=True):
        arrays += [weights, biases]
    numbers = "".join(packed(value) for values in arrays for value in values.flat)
    lines = [numbers[at : at + width] for at in range(0, len(numbers), width)]
    widths = [len(model.mean)] + [biases.shape[1] for biases in model.biases]
    parts = [
        "// SPDX-License-Identifier: Apache-2.0",
        "// The constants of the model of policy::scheme. Written by `python3 benchmarks/python train-schemes`, read",
        f"// by trained_model. {origin}",
        "// clang-format off",
        "#pragma once",
        "",
        "namespace sptrsv::SPTRSV_ABI::detail::schemes::model_table {",
        "",
        f"inline constexpr const char* schemes[{len(schemes)}] = {{",
        ",\n".join(f'    "{scheme}"' for scheme in schemes) + "};",
        f"inline constexpr int members = {len(model.biases[0])};",
        f"inline constexpr int widths[{len(widths)}] = {{{', '.join(str(count) for count in widths)}}};",
        "inline constexpr const char* numbers =",
        "\n".join(f'"{line}"' for line in lines) + ";",
        "",
        "}  // namespace sptrsv::SPTRSV_ABI::detail::schemes::model_table",
    ]
    return "\n".join(parts) + "\n"


def print_quality(name: str, q: Quality, systems: int) -> None:
    print(f"{name:23} {systems:4} systems  satisfactory {100 * q.satisfactory:5.1f} %   MAPE {100 * q.mape:5.2f} %")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = new_parser("train-schemes", __doc__)
    parser.add_argument(
        "results", type=pathlib.Path, metavar="SCHEMES.json", nargs="+", help="written by sptrsv_schemes"
    )
    parser.add_argument(
        "-o", "--output", type=pathlib.Path, metavar="FILE.hpp", help="write the model into this header"
    )
    parser.add_argument(
        "--origin", metavar="TEXT", help="what the header says of the data (default: number of systems and devices)"
    )
    parser.add_argument(
        "--held-out",
        type=pathlib.Path,
        metavar="CHOICES.json",
        help="write the choices of the cross-validation into this file, for scheme-study --held-out",
    )
    parser.add_argument(
        "--folds",
        type=int,
        default=15,
        metavar="N",
        help="folds of the cross-validation; 0: one for each family (default: 15)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the random starts (default: 1)")
    parser.add_argument(
        "--schemes", type=int, default=16, metavar="N", help="the most schemes in the model (default: 16)"
    )
    options = parser.parse_args(arguments)
    try:
        data = load(options.results)
        _, order = cross_validate(data, options.schemes, options.folds, options.seed, SETTINGS)
    except FormatError as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    chosen = fastest_of(data, order, 1)
    own = np.flatnonzero(data.own_order)
    print_quality("one scheme for all", best_single(part(data, own, all_columns(data))), len(own))
    from_files = np.array([family.startswith("file ") for family in data.families])
    for name, rows in (
        ("all", data.own_order),
        ("real", data.own_order & from_files),
        ("generated", data.own_order & ~from_files),
        ("renumbered", ~data.own_order),
    ):
        for count in (1, 2, 3, 5) if rows.any() else ():
            what = f"model, {name}" if count == 1 else f"fastest of {count}, {name}"
            fastest = fastest_of(data, order, count)[rows]
            print_quality(what, Quality.of(data.times[rows], fastest), int(rows.sum()))
    lost = 1 - data.times.min(axis=1) / data.times[np.arange(len(chosen)), chosen]
    for i in own[np.argsort(-lost[own])[:10]]:
        print(f"  {data.matrices[i]:32} loses {100 * lost[i]:5.1f} %: {data.schemes[chosen[i]]}")
    if options.held_out:
        choices = {data.matrices[i]: data.schemes[chosen[i]] for i in own}
        options.held_out.write_text(json.dumps(choices, indent=1) + "\n", encoding="utf-8")
    if options.output:
        origin = options.origin or f"{len(data.matrices)} systems on {', '.join(data.devices)}."
        known = part(data, np.arange(len(data.matrices)), useful(data, options.schemes))
        settings = best_settings(data, options.schemes, options.seed, SETTINGS)
        print(f"trained with {settings}")
        model = train(known, settings, options.seed)
        options.output.write_text(header(model, known.schemes, origin), encoding="utf-8")
    return 0
