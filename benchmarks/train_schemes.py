#!/usr/bin/env python3
"""The model by which policy::scheme chooses, from measurements of sptrsv_schemes.

A perceptron with two hidden layers of 32 says of each scheme whether it is satisfactory, at least 85 per cent as
fast as the best, as in Hu, Sun, Li and Sun, AG-SpTRSV, ACM TACO 21(4), 2024, section 4.5. Its input are the
logarithms of the features of a system and their products in pairs, normalised; the chosen scheme is the one with
the highest output. The model is written as a header of constants.

It is judged by cross-validation: matrices of one family are never in both the training and the test set, the
schemes that it knows are chosen by the training set, and it is compared with the best of all that were measured.
Needs numpy and scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold
from sklearn.neural_network import MLPClassifier

HIDDEN = (32, 32)
ITERATIONS = 300  # more of them learn the systems by heart
SATISFACTORY = 0.85


class FormatError(Exception):
    pass


@dataclass(frozen=True)
class Data:
    """Systems by row, schemes by column."""

    matrices: list[str]
    families: list[str]
    schemes: list[str]
    features: np.ndarray
    times: np.ndarray  # milliseconds; infinite where a scheme was not measured
    devices: list[str]


def load(paths: Sequence[pathlib.Path]) -> Data:
    devices = []
    by_name: dict[str, Any] = {}  # of systems that stand in several files the last
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
    kept = [s for s, good in zip(systems, solved) if good]
    return Data(
        [s["matrix"] for s in kept],
        [s["family"] for s in kept],
        schemes,
        np.array([s["features"] for s in kept], dtype=float),
        times[solved],
        sorted(set(devices)),
    )


def polynomial(features: np.ndarray) -> np.ndarray:
    """As polynomial_features of include/sptrsv/detail/scheme/model.hpp."""
    logs = np.log1p(features)
    pairs = [logs[:, i] * logs[:, k] for i in range(logs.shape[1]) for k in range(i, logs.shape[1])]
    return np.column_stack([logs, *pairs])


@dataclass(frozen=True)
class Model:
    mean: np.ndarray
    deviation: np.ndarray
    weights: list[np.ndarray]  # out x in
    biases: list[np.ndarray]

    def choose(self, features: np.ndarray) -> np.ndarray:
        x = (polynomial(features) - self.mean) / self.deviation
        for i, (weights, bias) in enumerate(zip(self.weights, self.biases)):
            x = x @ weights.T + bias
            x = np.maximum(x, 0) if i + 1 < len(self.weights) else x
        return x.argmax(axis=1)


def train(features: np.ndarray, times: np.ndarray, seed: int) -> Model:
    x = polynomial(features)
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    deviation[deviation < 1e-12] = 1
    labels = (times.min(axis=1, keepdims=True) / times >= SATISFACTORY).astype(int)
    network = MLPClassifier(HIDDEN, alpha=0.1, max_iter=ITERATIONS, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit((x - mean) / deviation, labels)
    return Model(mean, deviation, [w.T for w in network.coefs_], list(network.intercepts_))


@dataclass(frozen=True)
class Quality:
    satisfactory: float  # share of systems
    mape: float  # mean of the time lost, relative to the best

    @staticmethod
    def of(times: np.ndarray, chosen: np.ndarray) -> Quality:
        best, own = times.min(axis=1), times[np.arange(len(times)), chosen]
        # A scheme that could not be measured counts as ten times the best.
        own = np.where(np.isfinite(own), own, 10 * best)
        return Quality(float((best / own >= SATISFACTORY).mean()), float((1 - best / own).mean()))


def useful(data: Data, most: int) -> np.ndarray:
    """Columns, without those that nobody misses: greedily those that make most systems satisfactory."""
    relative = data.times.min(axis=1, keepdims=True) / data.times
    satisfactory = relative >= SATISFACTORY
    speed = relative.mean(axis=0)  # between equal ones, what loses least on all systems
    kept: list[int] = []
    covered = np.zeros(len(data.times))
    while len(kept) < min(most, len(data.schemes)):
        gain = (satisfactory / (1 + covered[:, None]) ** 2).sum(axis=0) + 1e-3 * speed
        gain[kept] = -1
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
        data.devices,
    )


def cross_validate(data: Data, most: int, folds: int, seed: int) -> tuple[Quality, np.ndarray]:
    """`folds`: at most as many as families; 0 for as many. Also returns the column of what was chosen for each
    system by the model, of at most `most` schemes, that did not know its family."""
    families = len(set(data.families))
    folds = min(folds or families, families)
    if folds < 2:
        raise FormatError("systems of one family cannot be cross-validated")
    chosen = np.zeros(len(data.matrices), dtype=int)
    for known, unknown in GroupKFold(folds).split(data.features, groups=data.families):
        kept = useful(part(data, known, np.arange(len(data.schemes))), most)
        model = train(data.features[known], data.times[np.ix_(known, kept)], seed)
        chosen[unknown] = kept[model.choose(data.features[unknown])]
    return Quality.of(data.times, chosen), chosen


def best_single(data: Data) -> Quality:
    """The scheme that is satisfactory most often, for all systems."""
    satisfactory = data.times.min(axis=1, keepdims=True) / data.times >= SATISFACTORY
    scheme = int(satisfactory.sum(axis=0).argmax())
    return Quality.of(data.times, np.full(len(data.times), scheme))


def number(value: float) -> str:
    text = f"{value:.7g}"
    return (text if any(c in text for c in ".en") else text + ".0") + "f"


def wrapped(items: Sequence[str], indent: str, width: int = 112) -> str:
    lines, line = [], indent
    for item in items:
        if len(line) + len(item) + 2 > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += item + ", "
    return "\n".join([*lines, line.rstrip().rstrip(",")])


def array_of(name: str, values: np.ndarray) -> str:
    shape = "".join(f"[{n}]" for n in values.shape)
    if values.ndim == 1:
        body = wrapped([number(v) for v in values], "      ")
    else:
        body = ",\n".join(
            "      {\n" + wrapped([number(v) for v in row], "          ") + "}" for row in values
        )
    return f"  static constexpr float {name}{shape} = {{\n{body}}};\n"


def header(model: Model, schemes: Sequence[str], origin: str) -> str:
    texts = ",\n".join(f'      "{scheme}"' for scheme in schemes)
    parts = [
        "// What the model of scheme has learned. Written by benchmarks/train_schemes.py.",
        f"// {origin}",
        "// clang-format off",
        "#pragma once",
        "",
        "namespace sptrsv::detail::schemes {",
        "",
        "struct model_table {",
        f"  static constexpr const char* schemes[{len(schemes)}] = {{\n{texts}}};",
        array_of("mean", model.mean)
        + array_of("deviation", model.deviation)
        + "".join(
            array_of(f"weights_{i}", w) + array_of(f"bias_{i}", b)
            for i, (w, b) in enumerate(zip(model.weights, model.biases), 1)
        )
        + "};",
        "",
        "}  // namespace sptrsv::detail::schemes",
    ]
    return "\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path, nargs="+", help="files of sptrsv_schemes")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="header to write")
    parser.add_argument("--origin", help="what the header says of the data; default: devices and systems")
    parser.add_argument("--held-out", type=pathlib.Path, help="file for the choices, for scheme_study.py")
    parser.add_argument("--folds", type=int, default=0, help="of the cross-validation; default: a family each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schemes", type=int, default=48, help="most schemes in the model")
    options = parser.parse_args(arguments)
    try:
        data = load(options.results)
        quality, chosen = cross_validate(data, options.schemes, options.folds, options.seed)
    except FormatError as e:
        print(f"train_schemes.py: {e}", file=sys.stderr)
        return 1
    for name, q in (("one scheme for all", best_single(data)), ("model, unknown families", quality)):
        print(f"{name:24} satisfactory {100 * q.satisfactory:5.1f} %   MAPE {100 * q.mape:5.2f} %")
    lost = 1 - data.times.min(axis=1) / data.times[np.arange(len(chosen)), chosen]
    for i in np.argsort(-lost)[:10]:
        print(f"  {data.matrices[i]:32} loses {100 * lost[i]:5.1f} %: {data.schemes[chosen[i]]}")
    if options.held_out:
        choices = {matrix: data.schemes[i] for matrix, i in zip(data.matrices, chosen)}
        options.held_out.write_text(json.dumps(choices, indent=1) + "\n", encoding="utf-8")
    if options.output:
        origin = options.origin or f"{len(data.matrices)} systems on {', '.join(data.devices)}."
        known = part(data, np.arange(len(data.matrices)), useful(data, options.schemes))
        model = train(known.features, known.times, options.seed)
        options.output.write_text(header(model, known.schemes, origin), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
