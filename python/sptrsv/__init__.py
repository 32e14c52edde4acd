"""Sparse triangular solves on NVIDIA GPUs and on the host: one analysis, many solves.

``analyze`` returns a solver of one triangle, ``analyze_batch`` one of many small triangles with one pattern,
``factors`` one of a system whose factors are known, and ``splu`` one of a factorisation by SciPy or CuPy.
``ilu`` and ``ic`` factorise incompletely, and ``cg``, ``bicgstab`` and ``gmres`` solve a system with any of these as
the preconditioner. ``spsolve_triangular`` has SciPy's signature and keeps solvers by pattern.
"""

from ._batch import BatchSolver, BatchStatus, analyze_batch
from ._cache import CacheInfo, cache_info, clear_cache, set_cache_limit, spsolve_triangular
from ._errors import CudaError, Error, InputError, OutOfMemoryError
from ._factors import Factors, FactorsStatus, factors
from ._incomplete import FactorizationStatus, IncompleteFactors, ic, ilu
from ._krylov import KrylovInfo, bicgstab, cg, gmres
from ._library import policy_names, version
from ._solver import Solver, Status, analyze
from ._splu import LUSolver, from_splu, splu
from ._system import Info

__version__ = version()

__all__ = [
    "BatchSolver",
    "BatchStatus",
    "CacheInfo",
    "CudaError",
    "Error",
    "FactorizationStatus",
    "Factors",
    "FactorsStatus",
    "IncompleteFactors",
    "Info",
    "InputError",
    "KrylovInfo",
    "LUSolver",
    "OutOfMemoryError",
    "Solver",
    "Status",
    "analyze",
    "analyze_batch",
    "bicgstab",
    "cache_info",
    "cg",
    "clear_cache",
    "factors",
    "from_splu",
    "gmres",
    "ic",
    "ilu",
    "policy_names",
    "set_cache_limit",
    "splu",
    "spsolve_triangular",
    "version",
]
