"""The structures, codes and functions of ctypes, and of the Fortran module, are those of sptrsv.h, which this test
reads."""

import ctypes
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import tempfile
import typing
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import scipy.sparse as sp

import sptrsv
from sptrsv import _errors, _factors, _library, _system

HEADER = Path(__file__).parents[2] / "include" / "sptrsv.h"
MODULE = Path(__file__).parents[2] / "src" / "fortran" / "sptrsv.f90"
TYPES = {
    "size_t": ctypes.c_size_t,
    "int": ctypes.c_int,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "double": ctypes.c_double,
    "const void*": ctypes.c_void_p,
    "void*": ctypes.c_void_p,
    "const char*": ctypes.c_char_p,
}
HANDLES = {"sptrsv_solver", "sptrsv_factors"}  # members of structures point to them


def in_header():
    """Return the enumerations, the structures and the functions of the header."""
    text = re.sub(r"/\*.*?\*/", " ", HEADER.read_text(), flags=re.S)
    text = " ".join(line for line in text.split("\n") if not line.startswith("#"))
    text = re.sub(r"static inline [^{]*\{[^}]*\}", " ", re.sub(r"= \{[^}]*\}", "", text))
    text = re.sub(r"\s+", " ", text)
    enums = {
        name: [member.strip() for member in members.split(",")]
        for members, name in re.findall(r"typedef enum \w+ \{([^}]*)\} (\w+);", text)
    }
    structures = {
        name: [member.strip().rpartition(" ")[::2] for member in members.split(";") if member.strip()]
        for members, name in re.findall(r"typedef struct \w+ \{([^}]*)\} (\w+);", text)
    }
    plain = re.sub(r"typedef (enum|struct) \w+ (\{[^}]*\} )?\w+;", " ", text)
    functions = {
        name: (result.strip(), [] if arguments == "void" else [a.strip() for a in arguments.split(",")])
        for result, name, arguments in re.findall(r"([\w ]+\*?) ?\b(sptrsv_\w+)\(([^)]*)\);", plain)
    }
    return enums, structures, functions


class Interface(unittest.TestCase):
    def setUp(self):
        self.enums, self.structures, self.functions = in_header()

    def type_of(self, name):
        """Return what ctypes has for a type of the header."""
        if name in self.enums:
            return ctypes.c_int
        if name.rstrip("*") in HANDLES and name.endswith("*"):
            return ctypes.c_void_p
        return TYPES[name] if name in TYPES else _library.STRUCTURES[name]

    def test_structures_have_the_same_members(self):
        self.assertEqual(set(self.structures), set(_library.STRUCTURES))
        for name, members in self.structures.items():
            with self.subTest(name):
                expected = [(member, self.type_of(kind)) for kind, member in members]
                self.assertEqual(list(_library.STRUCTURES[name]._fields_), expected)

    def test_codes_have_the_same_order(self):
        lists = {
            "sptrsv_code": (_library._CODES, "SPTRSV_"),
            "sptrsv_solve_status": (_library.STATUS_NAMES, "SPTRSV_"),
            "sptrsv_factor_part": (_factors._PARTS, "SPTRSV_"),
            "sptrsv_storage": (("csr", "csc", "bsr", "bsr_by_columns"), "SPTRSV_"),
            "sptrsv_part": (("lower", "upper"), "SPTRSV_"),
            "sptrsv_diagonal": (("non_unit", "unit"), "SPTRSV_"),
            "sptrsv_incomplete_method": (("lu", "cholesky"), "SPTRSV_INCOMPLETE_"),
            "sptrsv_krylov_method": (_library.KRYLOV_METHODS, "SPTRSV_KRYLOV_"),
            "sptrsv_krylov_reason": (_library.KRYLOV_REASONS, "SPTRSV_KRYLOV_"),
        }
        for name, (words, prefix) in lists.items():
            with self.subTest(name):
                self.assertEqual(self.enums[name], [prefix + word.upper() for word in words])
        numbered = {
            "sptrsv_value_type": ({str(t): n for t, n in _system.VALUE_TYPES.items()}, {
                "float32": "SPTRSV_FLOAT",
                "float64": "SPTRSV_DOUBLE",
                "complex64": "SPTRSV_COMPLEX_FLOAT",
                "complex128": "SPTRSV_COMPLEX_DOUBLE",
            }),
            "sptrsv_index_type": ({str(t): n for t, n in _system.INDEX_TYPES.items()}, {
                "int32": "SPTRSV_INT32",
                "int64": "SPTRSV_INT64",
            }),
            "sptrsv_operation": (_system.OPERATIONS, {
                "N": "SPTRSV_NONE",
                "T": "SPTRSV_TRANSPOSE",
                "H": "SPTRSV_CONJ_TRANSPOSE",
            }),
        }  # fmt: skip
        for name, (numbers, names) in numbered.items():
            with self.subTest(name):
                self.assertEqual({names[key]: number for key, number in numbers.items()},
                                 {member: number for number, member in enumerate(self.enums[name])})  # fmt: skip
        self.assertEqual(set(self.enums), set(lists) | set(numbered))

    def test_functions_take_the_same_types(self):
        used = {name for name in self.functions if name in _library.library.__dict__}
        self.assertLessEqual({"sptrsv_solve", "sptrsv_apply", "sptrsv_solve_batch", "sptrsv_size_of"}, used)
        for name in used:
            result, arguments = self.functions[name]
            function = getattr(_library.library, name)
            with self.subTest(name):
                self.assertEqual(function.restype, None if result == "void" else self.type_of(result))
                self.assertEqual(len(function.argtypes), len(arguments))
                for given, argument in zip(function.argtypes, arguments, strict=True):
                    kind = argument.rpartition(" ")[0].removeprefix("const ")
                    if kind in ("int64_t", "int", "char*"):
                        self.assertEqual(given, TYPES.get(kind, ctypes.c_char_p))
                    elif kind.endswith("**"):
                        self.assertEqual(given, ctypes.POINTER(ctypes.c_void_p))
                    elif kind[:-1] in _library.STRUCTURES or kind[:-1] in self.enums or kind == "int64_t*":
                        target = ctypes.c_int64 if kind == "int64_t*" else self.type_of(kind[:-1])
                        self.assertEqual(given, ctypes.POINTER(target))
                    else:
                        self.assertEqual(given, ctypes.c_void_p)

    def test_a_library_of_another_version_is_refused(self):
        for name, structure in _library.STRUCTURES.items():
            longer = type("Longer", (structure,), {"_fields_": (("appended", ctypes.c_int64),)})
            with (
                self.subTest(name),
                mock.patch.dict(_library.STRUCTURES, {name: longer}),
                self.assertRaisesRegex(ImportError, f"{name} has .* different versions"),
            ):
                _library._load()

    def test_every_code_has_an_exception(self):
        for code in range(1, len(_library._CODES) + 1):  # one more than this package knows
            with self.subTest(code), self.assertRaises(_errors.Error):
                _library.check(code)

    def test_a_build_without_cuda_says_so(self):
        class OnDevice:
            def __init__(self, array):
                self.__cuda_array_interface__ = array.__array_interface__
                self.array = array

        a = sp.csr_matrix(np.eye(3))
        on_device = mock.Mock(format="csr", shape=a.shape)
        on_device.indptr, on_device.indices, on_device.data = map(OnDevice, (a.indptr, a.indices, a.data))
        calls = (
            *(sptrsv.analyze, sptrsv.factors, sptrsv.ilu, sptrsv.ic, lambda m: sptrsv.analyze_batch(m, m.data)),
            lambda m: sptrsv.cg(m, np.ones(3)),
        )
        for number, call in enumerate(calls):
            with (
                self.subTest(number),
                mock.patch.object(_library, "HAS_CUDA", False),
                self.assertRaisesRegex(ValueError, "has no CUDA: copy the matrix to host memory, or install"),
            ):
                call(on_device)
        if not _library.HAS_CUDA:
            for call in calls[:3]:
                with self.assertRaisesRegex(sptrsv.InputError, "has no CUDA, .* build the library where nvcc is"):
                    call(a, policy="dataflow")


class FortranModule(unittest.TestCase):
    KINDS: typing.ClassVar = {
        "size_t": "integer(c_size_t)",
        "int": "integer(c_int)",
        "int64_t": "integer(c_int64_t)",
        "uint64_t": "integer(c_int64_t)",
        "double": "real(c_double)",
    }

    def setUp(self):
        self.enums, self.structures, self.functions = in_header()
        self.text = re.sub(r"\s*!.*", "", re.sub(r"&\n\s*", "", MODULE.read_text()))

    def kind_of(self, c_type):
        """Return the Fortran type of a member, an argument or a result."""
        c_type = c_type.removeprefix("const ").strip()
        if c_type.endswith("*"):
            return "type(c_ptr)"
        return "integer(c_int)" if c_type in self.enums else self.KINDS.get(c_type, f"type({c_type})")

    def test_enumerators_have_the_same_order(self):
        found = [re.findall(r"enumerator :: (\w+)", body) for body in self.text.split("enum, bind(c)")[1:]]
        found = [[name.upper() for name in names] for names in found]
        self.assertEqual(sorted(found), sorted(self.enums.values()))

    def test_structures_have_the_same_members(self):
        found = dict(re.findall(r"type, bind\(c\) :: (\w+)\n(.*?)end type", self.text, re.S))
        self.assertEqual(set(found), set(self.structures))
        for name, members in self.structures.items():
            with self.subTest(name):
                given = re.findall(r"(\S+) :: (\w+)", found[name])
                self.assertEqual(given, [(self.kind_of(kind), member) for kind, member in members])

    def test_functions_take_the_same_arguments(self):
        heads = re.findall(r"(function|subroutine) (\w+)\(([^)]*)\) bind\(c\)(.*?)end \1 \2", self.text, re.S)
        found = {name: (names.split(", ") if names else [], body) for _, name, names, body in heads}
        self.assertEqual(set(found), set(self.functions))
        for name, (result, arguments) in self.functions.items():
            names, body = found[name]
            declared = {
                variable: kind
                for kind, variable in re.findall(r"(\S.*?) :: (\w+)", body.replace("import ::", "import"))
            }
            returned = re.findall(r"result\((\w+)\)", body)
            with self.subTest(name):
                self.assertEqual(names, [argument.rpartition(" ")[2].strip("*") for argument in arguments])
                self.assertEqual(
                    [declared[variable] for variable in returned], [] if result == "void" else [self.kind_of(result)]
                )
                for argument in arguments:
                    c_type, _, of = argument.rpartition(" ")
                    c_type, of = c_type + "*" * of.count("*"), of.strip("*")
                    kind, *attributes = declared[of].split(", ")
                    base = c_type.removeprefix("const ").rstrip("*")
                    if "*" not in c_type:
                        self.assertEqual([kind, *attributes], [self.kind_of(c_type), "value"])
                    elif c_type == "const char*":
                        self.assertEqual([kind, *attributes], ["character(kind=c_char)", "intent(in)"])
                    elif kind == "type(c_ptr)":
                        self.assertEqual(attributes, ["intent(out)"] if c_type.endswith("**") else ["value"])
                    else:
                        self.assertEqual(kind, self.kind_of(base))
                        self.assertEqual(attributes == ["intent(in)"], c_type.startswith("const"))
                        self.assertNotIn("value", attributes)


SNIPPET = """
import numpy as np
import sptrsv

class Matrix:
    shape = (2, 2)
    format = "csr"

f = sptrsv.analyze(Matrix(), transpose="T")
f.solve(np.ones(2)), f.solve([1.0, 2.0]), f @ np.ones((2, 1)), f.update_values([1.0])
sptrsv.factors(Matrix(), kind="ldl", transposed="H", row_order=np.arange(2))
sptrsv.analyze_batch(Matrix(), np.ones((1, 2)), lanes=4)
sptrsv.spsolve_triangular([[1.0]], [1.0])
x, info = sptrsv.cg(Matrix(), np.ones(2), M=f)
if info.reason == "breakdown" or info > 0: print(info.residual)
if f.status().kind == "zero_pivot": print(f.info.policy)
sptrsv.analyze(Matrix(), transpose="C")  # wrong
sptrsv.analyze(np.eye(2))  # wrong
sptrsv.factors(Matrix(), kind="qr")  # wrong
sptrsv.ilu(Matrix(), transposed=True)  # wrong
sptrsv.analyze_batch(Matrix(), np.ones((1, 2)), lanes=5)  # wrong
f.solve(None)  # wrong
sptrsv.gmres(Matrix(), np.ones(2), M=np.eye(2))  # wrong
if info.reason == "broke": print()  # wrong
if f.status().kind == "zero": print()  # wrong
"""


class Hints(unittest.TestCase):
    def public(self):
        """Return the public functions and methods with their parameters and hints."""
        for name in sptrsv.__all__:
            found = getattr(sptrsv, name)
            members = inspect.getmembers(found) if inspect.isclass(found) else [("", found)]
            for member, value in members:
                function = value.fget if isinstance(value, property) else value
                if not member.startswith("_") and inspect.isfunction(function):
                    parameters = set(inspect.signature(function).parameters) - {"self"}
                    yield f"{name}.{member}", parameters, typing.get_type_hints(function)

    def test_every_parameter_but_out_says_what_it_takes(self):
        seen = 0
        for name, parameters, hints in self.public():
            with self.subTest(name):
                self.assertEqual(set(hints), parameters | {"return"})
                self.assertLessEqual({p for p in parameters if hints[p] is typing.Any}, {"out"})
                seen += 1
        self.assertGreater(seen, 30)

    def test_words_are_those_that_the_functions_take(self):
        operations = set(_system.OPERATIONS)
        words = {
            "transpose": operations,
            "transposed": operations,
            "trans": operations,
            "kind": set(_factors.KINDS),
            "lanes": {0, 4, 8, 16, 32},
        }
        for name, parameters, hints in self.public():
            for parameter in parameters & set(words):
                with self.subTest(name, parameter=parameter):
                    self.assertEqual(set(typing.get_args(hints[parameter])), words[parameter])

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "needs mypy")
    def test_a_type_checker_sees_wrong_words_and_matrices(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "snippet.py"
            path.write_text(SNIPPET)
            call = [sys.executable, "-m", "mypy", "--strict-equality", "--cache-dir", folder, str(path)]
            environment = os.environ | {"MYPYPATH": str(Path(sptrsv.__file__).parents[1])}
            told = subprocess.run(call, env=environment, capture_output=True, text=True, check=False).stdout
        wrong = {n for n, line in enumerate(SNIPPET.split("\n"), 1) if "# wrong" in line}
        self.assertEqual({int(n) for n in re.findall(r"snippet\.py:(\d+): error", told)}, wrong, told)


if __name__ == "__main__":
    unittest.main()
