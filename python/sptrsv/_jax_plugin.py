"""The plug-in of `sptrsv.jax` (``plugins/jax``), whose handlers XLA calls."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import jax


def _load() -> ctypes.CDLL:
    """Return the plug-in; XLA gets its handlers."""
    path = os.environ.get("SPTRSV_JAX_LIBRARY") or str(Path(__file__).with_name("libsptrsv_jax.so"))
    if not os.path.exists(path):
        raise ImportError(
            f"sptrsv.jax needs {path}, which was not built with this package. In a checkout of the repository, this "
            "builds both: pip install ./python --config-settings=cmake.define.SPTRSV_JAX_INCLUDE_DIR="
            "$(python3 -c 'import jax; print(jax.ffi.include_dir())')"
        )
    library = ctypes.CDLL(path)
    for platform, place in (("cpu", "host"), ("CUDA", "device")):
        for name in ("solve", "factorize"):
            handler = jax.ffi.pycapsule(getattr(library, f"sptrsv_jax_{name}_{place}"))
            jax.ffi.register_ffi_target(f"sptrsv_{name}", handler, platform)
    return library


plugin = _load()
