"""Arrays and sparse matrices of NumPy, SciPy, CuPy and PyTorch, as addresses, sizes and strides."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

VALUE_TYPES = {
    np.dtype(np.float32): 0,
    np.dtype(np.float64): 1,
    np.dtype(np.complex64): 2,
    np.dtype(np.complex128): 3,
}


class HasDLPack(Protocol):
    """An array of any library, in host memory."""

    def __dlpack__(self, *arguments: Any, **by_name: Any) -> Any: ...


class HasCudaInterface(Protocol):
    """An array of any library, in device memory."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


class HasFormat(Protocol):
    """A sparse matrix of SciPy or CuPy."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def format(self) -> str: ...


class HasLayout(Protocol):
    """A tensor of PyTorch."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def layout(self) -> Any: ...


ArrayLike = npt.ArrayLike | HasDLPack | HasCudaInterface
MatrixLike = HasFormat | HasLayout


class Array(NamedTuple):
    """An array in host or device memory. The strides are in elements."""

    owner: Any
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype
    on_device: bool
    writable: bool


def describe(array: Any) -> Array:
    """Return the description of an array of NumPy, or of any library with ``__cuda_array_interface__``."""
    kind = type(array)
    function = _DESCRIBERS.get(kind)
    if function is None:
        function = _DESCRIBERS[kind] = _describer_of(array)
    return function(array)


def _describer_of(array: Any) -> Callable[[Any], Array]:
    """Return the function that describes arrays of this type: a call of a solver describes two arrays."""
    module = _module(array)
    if module == "torch":
        return _describe_tensor
    if isinstance(array, np.ndarray):
        return _describe_numpy
    if module == "cupy":
        return _describe_cupy
    return _describe_other


def _describe_numpy(array: np.ndarray) -> Array:
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("a masked array has no value where it is masked: pass array.filled(...)")
    flags = array.flags
    if not flags.aligned:
        raise ValueError("the elements of the array are not aligned in memory: pass array.copy()")
    dtype = array.dtype
    address = array.__array_interface__["data"][0]
    strides = _in_elements(array.strides, dtype.itemsize)
    return Array(array, address, array.shape, strides, dtype, False, flags.writeable)


def _describe_cupy(array: Any) -> Array:
    """Return the description of an array of CuPy by its own attributes, which are faster than its interface."""
    dtype = array.dtype
    return Array(array, array.data.ptr, array.shape, _in_elements(array.strides, dtype.itemsize), dtype, True, True)


class Vector(NamedTuple):
    """What a vector of a solver is, apart from its address, if its elements have no gaps."""

    dtype: np.dtype
    shape: tuple[int]
    strides: tuple[int]  # in bytes


def vector_address(array: Any, wanted: Vector, on_device: bool) -> int | None:
    """Return the address of a vector of CuPy or PyTorch, or None if it is not the wanted one.

    It takes a third of the time of `describe`. The first array of a type is not recognised.
    """
    describer = _DESCRIBERS.get(type(array))
    if describer is _describe_cupy:
        if (
            on_device
            and array.dtype == wanted.dtype
            and array.shape == wanted.shape
            and array.strides == wanted.strides
        ):
            return array.data.ptr
    elif describer is _describe_tensor and (
        array.is_cuda == on_device
        and array.shape == wanted.shape
        and array.stride() == (1,)
        and array.dtype in _TENSOR_TYPES
        and _TENSOR_TYPES[array.dtype] == wanted.dtype
        and not (array.requires_grad or array.is_neg() or array.is_conj())
    ):
        return array.data_ptr()
    return None


def _describe_other(array: Any) -> Array:
    """Return the description of an array of another library: each object is asked where it is."""
    if not hasattr(array, "__cuda_array_interface__"):
        return _describe_numpy(_on_host(array))
    interface = array.__cuda_array_interface__
    dtype, shape, strides = np.dtype(interface["typestr"]), tuple(interface["shape"]), interface.get("strides")
    address, read_only = interface["data"]
    if strides is None:
        strides, extent = (), dtype.itemsize
        for count in reversed(shape):
            strides = (extent, *strides)
            extent *= count
    return Array(array, address or 0, shape, _in_elements(strides, dtype.itemsize), dtype, True, not read_only)


def _in_elements(strides: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return strides in bytes as strides in elements."""
    if strides == (size,):
        return (1,)
    if any(stride % size for stride in strides):
        raise ValueError("the strides of the array are no multiples of the size of an element: pass array.copy()")
    return tuple(stride // size for stride in strides)


def _describe_tensor(tensor: Any) -> Array:
    """Return the description of a tensor of PyTorch by its own functions, which are faster than its interfaces.

    A tensor that is only marked as conjugated or negated is copied.
    """
    if tensor.requires_grad:
        raise TypeError("gradients are not computed through a solve: pass tensor.detach(), or see sptrsv.torch")
    if tensor.is_neg() or tensor.is_conj():
        tensor = tensor.resolve_conj().resolve_neg()
    kind = tensor.dtype
    dtype = _TENSOR_TYPES.get(kind)
    if dtype is None:
        name = str(kind).partition(".")[2]
        if not hasattr(np, name):
            raise TypeError(f"the tensor is of {kind}, which NumPy does not know: pass tensor.double()")
        dtype = _TENSOR_TYPES[kind] = np.dtype(name)
    return Array(tensor, tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), dtype, tensor.is_cuda, True)


_DESCRIBERS: dict[type, Callable[[Any], Array]] = {}
_TENSOR_TYPES: dict[Any, np.dtype] = {}


def _on_host(array: Any) -> np.ndarray:
    """Return a view of an array in host memory of another library, or a copy of a sequence."""
    return np.from_dlpack(array) if hasattr(array, "__dlpack__") else np.asarray(array)


def _module(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def current_stream(array: Any) -> int:
    """Return the current stream of the library that the device array belongs to."""
    module = _module(array)
    if module == "torch":
        return tensor_stream(array)
    if module == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    return int(array.__cuda_array_interface__.get("stream") or 0)


def tensor_stream(tensor: Any) -> int:
    """Return the current stream of PyTorch; by its internal function, where it has one, which takes a tenth of the
    time."""
    torch = sys.modules["torch"]
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if raw is not None:
        return raw(tensor.get_device())
    return int(torch.cuda.current_stream(tensor.device).cuda_stream)


def empty_like(array: Any) -> Any:
    """Return an uninitialised array of the same kind, shape and type."""
    if isinstance(array, np.ndarray):
        return np.empty_like(array)
    return sys.modules[_module(array)].empty_like(array)


def convert(array: Any, dtype: np.dtype) -> Any:
    """Return a copy of the array with another type."""
    if _module(array) == "torch":
        return array.to(getattr(sys.modules["torch"], dtype.name))
    return array.astype(dtype)


def conjugated(array: Any) -> Any:
    """Return the complex conjugate of the array."""
    return array.conj().resolve_conj() if _module(array) == "torch" else array.conj()


def arange_like(array: Any) -> Any:
    """Return 0, 1, ... as an array of the same kind, size and type."""
    return (sys.modules["cupy"] if _module(array) == "cupy" else np).arange(len(array), dtype=array.dtype)


def copied(array: Any) -> Any:
    """Return a copy of the array."""
    return array.clone() if _module(array) == "torch" else array.copy()


def contiguous(array: Any) -> Any:
    """Return a copy of the array whose elements are contiguous."""
    return array.contiguous() if _module(array) == "torch" else array.copy()


class Order(NamedTuple):
    """Where the values of a converted matrix come from: duplicate entries are summed."""

    shape: tuple[int, ...]  # of the values in the user's format
    first: Any  # by entry of the converted matrix: an entry of the user's values
    rounds: list[tuple[Any, Any]]  # further entries that are added: to which, and which

    def apply(self, data: Any) -> Any:
        """Return the values by rows (columns) for values in the user's format, and for all systems before it."""
        flat = _flat(data, self.shape)
        values = flat[..., self.first]
        for positions, entries in self.rounds:
            values[..., positions] += flat[..., entries]
        return values


class BlockOrder(NamedTuple):
    """The shape of the values of a matrix of blocks, block after block."""

    shape: tuple[int, ...]

    def apply(self, data: Any) -> Any:
        """Return the values in one dimension."""
        return _flat(data, self.shape)


def _flat(data: Any, shape: tuple[int, ...]) -> Any:
    """Return the values of one system in one dimension, the last one."""
    leading = len(data.shape) - len(shape)
    if leading < 0 or tuple(data.shape[leading:]) != shape:
        raise ValueError(f"the values have the shape {tuple(data.shape)}, those of the matrix {shape}")
    return data.reshape(*data.shape[:leading], math.prod(shape))


class SparseMatrix(NamedTuple):
    """The arrays of a sparse matrix by rows or by columns, or by rows of square blocks of `block_size` rows.

    `order`: None if the arrays are the user's own.
    """

    by_columns: bool
    shape: tuple[int, int]
    offsets: Any
    indices: Any
    values: Any
    order: Order | BlockOrder | None = None
    block_size: int = 0  # 0: no blocks


def sparse_arrays(a: Any, by_columns: bool | None = None, takes_blocks: bool = False) -> SparseMatrix:
    """Return the arrays of a matrix of SciPy, CuPy or PyTorch; other formats are converted, to CSR by default.

    `takes_blocks`: square blocks stay as they are.
    """
    if isinstance(a, SparseMatrix):  # of an object that is copied or loaded
        return a
    is_sparse = "sparse" in str(a.layout) if _module(a) == "torch" else hasattr(a, "format") and hasattr(a, "shape")
    if not is_sparse:
        raise TypeError(f"a sparse matrix of SciPy, CuPy or PyTorch is needed, not {type(a).__name__}")
    shape = tuple(a.shape)
    if len(shape) != 2:
        raise ValueError(f"a matrix has two dimensions, not {len(shape)}")
    if _module(a) == "torch":
        layout = str(a.layout).rpartition("_")[2]
        if layout == "csc" and by_columns is not False:
            return SparseMatrix(True, shape, a.ccol_indices(), a.row_indices(), a.values())
        if layout == "csr" and not by_columns:
            return SparseMatrix(False, shape, a.crow_indices(), a.col_indices(), a.values())
        if layout == "bsr" and takes_blocks and _are_blocks(shape, a.values()):
            return _of_blocks(shape, a.crow_indices(), a.col_indices(), a.values())
    elif a.format in ("csr", "csc") and by_columns in (None, a.format == "csc"):
        return SparseMatrix(a.format == "csc", shape, a.indptr, a.indices, a.data)
    elif a.format == "bsr" and takes_blocks and _are_blocks(shape, a.data) and _are_distinct(a.indptr, a.indices):
        return _of_blocks(shape, a.indptr, a.indices, a.data)
    data, rows, columns, labels, like = _entries(a)
    lines, others = (columns, rows) if by_columns else (rows, columns)
    by_place = np.lexsort((others, lines))
    lines, others, labels = lines[by_place], others[by_place], labels[by_place]
    is_new = np.ones(len(lines), bool)
    is_new[1:] = (lines[1:] != lines[:-1]) | (others[1:] != others[:-1])
    entry = np.cumsum(is_new) - 1
    repeats = np.arange(len(lines)) - np.flatnonzero(is_new)[entry]
    rounds = [
        (like(entry[repeats == again]), like(labels[repeats == again]))
        for again in range(1, int(repeats.max(initial=0)) + 1)
    ]
    order = Order(tuple(data.shape), like(labels[is_new]), rounds)
    count = np.bincount(lines[is_new], minlength=shape[1 if by_columns else 0])
    offsets = like(np.concatenate(([0], np.cumsum(count))).astype(np.int64))
    return SparseMatrix(
        bool(by_columns), shape, offsets, like(others[is_new].astype(np.int64)), order.apply(data), order
    )


def _are_blocks(shape: tuple[int, ...], values: Any) -> bool:
    """Return whether the library takes the blocks of a matrix as they are."""
    block = values.shape[1]
    return tuple(values.shape[1:]) == (block, block) and 1 <= block <= 1024 and all(n % block == 0 for n in shape)


def _are_distinct(offsets: np.ndarray, indices: np.ndarray) -> bool:
    """Return whether no row holds an index twice: others are summed, by a conversion."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((indices, rows)) if len(rows) == len(indices) else []
    return len(order) < 2 or bool(np.any(np.diff(np.stack((rows[order], indices[order]))), axis=0).all())


def _of_blocks(shape: tuple[int, int], offsets: Any, indices: Any, values: Any) -> SparseMatrix:
    order = BlockOrder(tuple(values.shape))
    return SparseMatrix(False, shape, offsets, indices, order.apply(values), order, values.shape[1])


def _entries(a: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, Any]:
    """Return the values of a matrix in its own format, the row, the column and the place in the values of each entry,
    and a function that copies an array to the memory of the matrix."""
    if _module(a) == "torch":
        torch = sys.modules["torch"]
        data = a._values() if a.layout == torch.sparse_coo else a.values()
        labels = torch.arange(data.numel(), device=data.device, dtype=torch.int64).reshape(data.shape)
        if a.layout == torch.sparse_coo:
            where = a._indices()
        else:  # labels from 1 on: none is dropped as a zero
            parts = (
                (a.crow_indices(), a.col_indices())
                if "sparse_csr" in str(a.layout) or "bsr" in str(a.layout)
                else (a.ccol_indices(), a.row_indices())
            )
            placed = torch.sparse_compressed_tensor(*parts, labels + 1, size=a.shape, layout=a.layout).to_sparse_coo()
            where, labels = placed._indices(), placed._values() - 1
        found = (array.cpu().numpy().reshape(-1) for array in (where[0], where[1], labels))
        return data, *found, lambda array: torch.as_tensor(array, device=data.device)
    if not hasattr(a, "data") or a.format in ("lil", "dok"):
        a = a.tocoo()  # these have no array of values: they are taken row by row, or as their dictionary has them
    placed = a.copy()
    placed.data = (
        (sys.modules["cupy"] if _module(a).startswith("cupy") else np).arange(1, a.data.size + 1).reshape(a.data.shape)
    )
    placed = placed.tocoo()
    arrays = (placed.row, placed.col, placed.data - 1)
    if isinstance(a.data, np.ndarray):
        return a.data, *arrays, lambda array: array
    cupy = sys.modules["cupy"]
    return a.data, *(cupy.asnumpy(array) for array in arrays), cupy.asarray
