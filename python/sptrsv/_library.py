"""The C interface of the library (``sptrsv.h``), loaded with ctypes, which releases the interpreter's lock."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p, sizeof
from numbers import Integral
from pathlib import Path
from typing import Literal, get_args

from ._errors import CudaError, Error, InputError, OutOfMemoryError

_CODES = (
    "success",
    "invalid_argument",
    "not_square",
    "offsets_not_monotone",
    "index_out_of_range",
    "duplicate_entry",
    "missing_diagonal",
    "size_mismatch",
    "too_many_rhs",
    "wrong_memory_space",
    "unsupported",
    "out_of_memory",
    "parse_error",
    "io_error",
    "cuda_error",
    "internal_error",
    "peer_failed",
)
_CLASSES: dict[str, type[Error]] = {
    "out_of_memory": OutOfMemoryError,
    "cuda_error": CudaError,
    "io_error": Error,
    "internal_error": Error,
    "peer_failed": Error,
}

SolveKind = Literal["ok", "zero_pivot", "non_finite", "growth"]
STATUS_NAMES: tuple[SolveKind, ...] = get_args(SolveKind)

KrylovMethod = Literal["cg", "bicgstab", "gmres"]
KRYLOV_METHODS: tuple[KrylovMethod, ...] = get_args(KrylovMethod)
KrylovReason = Literal[
    "converged", "iteration_limit", "stagnation", "breakdown", "not_finite", "not_symmetric", "not_positive_definite"
]
KRYLOV_REASONS: tuple[KrylovReason, ...] = get_args(KrylovReason)


class Sized(Structure):
    """A structure that begins with its size, which its constructor sets."""

    def __init__(self, *members: object, **by_name: object) -> None:
        super().__init__(sizeof(self), *members, **by_name)
        names = [field[0] for field in self._fields_[1:]]
        for name, given in (*zip(names, members, strict=False), *by_name.items()):
            if isinstance(getattr(self, name), int) and isinstance(given, Integral) and getattr(self, name) != given:
                raise OverflowError(f"{name} = {given} is out of range")


class Matrix(Structure):
    """``sptrsv_matrix``."""

    _fields_ = (
        ("storage", c_int),
        ("value_type", c_int),
        ("index_type", c_int),
        ("rows", c_int64),
        ("columns", c_int64),
        ("entries", c_int64),
        ("offsets", c_void_p),
        ("indices", c_void_p),
        ("values", c_void_p),
    )


class Options(Sized):
    """``sptrsv_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("part", c_int),
        ("diagonal", c_int),
        ("operation", c_int),
        ("max_rhs", c_int64),
        ("policy", c_char_p),
        ("block_size", c_int64),
    )


class Vectors(Structure):
    """``sptrsv_vectors``."""

    _fields_ = (
        ("data", c_void_p),
        ("columns", c_int64),
        ("row_stride", c_int64),
        ("column_stride", c_int64),
    )


class Factor(Structure):
    """``sptrsv_factor``."""

    _fields_ = (("part", c_int), ("diagonal", c_int), ("operation", c_int))


class FactorsOptions(Sized):
    """``sptrsv_factors_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("first", Factor),
        ("second", Factor),
        ("has_diagonal", c_int),
        ("transposed", c_int),
        ("max_rhs", c_int64),
        ("row_order", c_void_p),
        ("column_order", c_void_p),
        ("row_scale", c_void_p),
        ("column_scale", c_void_p),
        ("policy", c_char_p),
    )


class IncompleteOptions(Sized):
    """``sptrsv_incomplete_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("method", c_int),
        ("fill_level", c_int64),
        ("diagonal_shift", c_double),
        ("boost_below", c_double),
        ("boost_to", c_double),
    )


class BatchOptions(Sized):
    """``sptrsv_batch_options``."""

    _fields_ = (("size", c_size_t), ("systems", c_int64), ("value_stride", c_int64), ("lanes", c_int))


class BatchVectors(Structure):
    """``sptrsv_batch_vectors``."""

    _fields_ = (
        ("data", c_void_p),
        ("columns", c_int64),
        ("row_stride", c_int64),
        ("column_stride", c_int64),
        ("system_stride", c_int64),
    )


class InfoStruct(Sized):
    """``sptrsv_info``."""

    _fields_ = (
        ("size", c_size_t),
        ("policy", c_char_p),
        ("device", c_char_p),
        ("chosen", c_char_p),
        ("path", c_char_p),
        ("plan", c_char_p),
        ("bit_reproducible", c_int),
        ("rows", c_int64),
        ("entries", c_int64),
        ("ignored_entries", c_int64),
        ("levels", c_int64),
        ("solver_bytes", c_uint64),
        ("workspace_bytes", c_uint64),
        ("analysis_peak_bytes", c_uint64),
    )


class KrylovOptions(Sized):
    """``sptrsv_krylov_options``."""

    _fields_ = (
        ("size", c_size_t),
        ("method", c_int),
        ("relative_tolerance", c_double),
        ("absolute_tolerance", c_double),
        ("max_iterations", c_int),
        ("restart", c_int),
        ("check_symmetry", c_int),
        ("factors", c_void_p),
        ("solver", c_void_p),
    )


class KrylovResult(Sized):
    """``sptrsv_krylov_result``."""

    _fields_ = (("size", c_size_t), ("reason", c_int), ("iterations", c_int), ("residual", c_double))


STRUCTURES: dict[str, type[Structure]] = {
    "sptrsv_matrix": Matrix,
    "sptrsv_options": Options,
    "sptrsv_vectors": Vectors,
    "sptrsv_info": InfoStruct,
    "sptrsv_factor": Factor,
    "sptrsv_factors_options": FactorsOptions,
    "sptrsv_incomplete_options": IncompleteOptions,
    "sptrsv_batch_options": BatchOptions,
    "sptrsv_batch_vectors": BatchVectors,
    "sptrsv_krylov_options": KrylovOptions,
    "sptrsv_krylov_result": KrylovResult,
}


def _load() -> ctypes.CDLL:
    path = os.environ.get("SPTRSV_LIBRARY") or Path(__file__).with_name("libsptrsv.so")
    library = ctypes.CDLL(str(path))
    signatures = {
        "sptrsv_analyze": (c_int, (POINTER(Matrix), POINTER(Options), c_void_p, POINTER(c_void_p))),
        "sptrsv_destroy": (None, (c_void_p,)),
        "sptrsv_update_values": (c_int, (c_void_p, c_void_p, c_int64, c_void_p)),
        "sptrsv_solve": (c_int, (c_void_p, c_void_p, c_void_p, c_void_p)),
        "sptrsv_solve_many": (
            c_int,
            (c_void_p, c_void_p, POINTER(Vectors), POINTER(Vectors), c_void_p, c_void_p),
        ),
        "sptrsv_get_status": (c_int, (c_void_p, c_void_p, c_void_p, POINTER(c_int), POINTER(c_int64))),
        "sptrsv_get_info": (c_int, (c_void_p, POINTER(InfoStruct))),
        "sptrsv_analyze_factors": (
            c_int,
            (POINTER(Matrix), POINTER(Matrix), POINTER(FactorsOptions), c_void_p, POINTER(c_void_p)),
        ),
        "sptrsv_destroy_factors": (None, (c_void_p,)),
        "sptrsv_update_factors": (c_int, (c_void_p, c_void_p, c_int64, c_void_p, c_int64, c_void_p)),
        "sptrsv_apply": (c_int, (c_void_p, POINTER(Vectors), POINTER(Vectors), c_void_p, c_void_p)),
        "sptrsv_apply_transpose": (c_int, (c_void_p, POINTER(Vectors), POINTER(Vectors), c_void_p, c_void_p)),
        "sptrsv_get_factors_status": (
            c_int,
            (c_void_p, c_void_p, c_void_p, POINTER(c_int), POINTER(c_int), POINTER(c_int64)),
        ),
        "sptrsv_get_factors_info": (c_int, (c_void_p, c_int, POINTER(InfoStruct))),
        "sptrsv_analyze_incomplete": (
            c_int,
            (POINTER(Matrix), POINTER(IncompleteOptions), c_void_p, POINTER(c_void_p)),
        ),
        "sptrsv_destroy_incomplete": (None, (c_void_p,)),
        "sptrsv_factorize": (c_int, (c_void_p, c_void_p, c_int64, c_void_p)),
        "sptrsv_get_incomplete_factors": (c_int, (c_void_p, POINTER(Matrix), POINTER(Matrix))),
        "sptrsv_get_incomplete_status": (
            c_int,
            (c_void_p, c_void_p, POINTER(c_int), POINTER(c_int64), POINTER(c_int64)),
        ),
        "sptrsv_analyze_batch": (
            c_int,
            (POINTER(Matrix), POINTER(BatchOptions), POINTER(Options), c_void_p, POINTER(c_void_p)),
        ),
        "sptrsv_destroy_batch": (None, (c_void_p,)),
        "sptrsv_update_batch": (c_int, (c_void_p, c_void_p, c_int64, c_void_p)),
        "sptrsv_solve_batch": (c_int, (c_void_p, c_void_p, POINTER(BatchVectors), POINTER(BatchVectors), c_void_p)),
        "sptrsv_get_batch_status": (c_int, (c_void_p, c_void_p, POINTER(c_int), POINTER(c_int64), POINTER(c_int64))),
        "sptrsv_get_batch_info": (c_int, (c_void_p, POINTER(InfoStruct))),
        "sptrsv_solve_krylov": (
            c_int,
            (POINTER(Matrix), POINTER(KrylovOptions), c_void_p, c_void_p, c_void_p, POINTER(KrylovResult)),
        ),
        "sptrsv_last_error": (c_char_p, ()),
        "sptrsv_last_error_row": (c_int64, ()),
        "sptrsv_policy_names": (c_char_p, ()),
        "sptrsv_version": (c_int, ()),
        "sptrsv_size_of": (c_size_t, (c_char_p,)),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"{path} has no function {name}: it is of another version than this package")
        function.restype = result
        function.argtypes = arguments
    for name, structure in STRUCTURES.items():
        size = library.sptrsv_size_of(name.encode())
        if size != sizeof(structure):
            raise ImportError(
                f"{name} has {size} bytes in {path}, and {sizeof(structure)} in this package: they are of different "
                "versions"
            )
    return library


library = _load()


def check(code: int) -> None:
    """Raise the exception of a code that is not 0."""
    if code == 0:
        return
    name = _CODES[code] if code < len(_CODES) else "internal_error"
    row = library.sptrsv_last_error_row()
    message = library.sptrsv_last_error().decode()
    raise _CLASSES.get(name, InputError)(message, name, row if row >= 0 else None)


def policy_names() -> list[str]:
    """Return the names of the policies that the library was built with."""
    names: str = library.sptrsv_policy_names().decode()
    return names.split(",")


HAS_CUDA = any(not name.startswith("host_") for name in policy_names())


def version() -> str:
    """Return the version of the library."""
    number = library.sptrsv_version()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
