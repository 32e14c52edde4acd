"""The recipes in packaging/, without the package managers: stubs stand for what these provide.

The arguments that the recipes give to CMake are used: CMake configures the library with them and must know them all.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
from pathlib import Path

try:
    import yaml
except ImportError:
    yaml = None

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"


def version():
    """Return the version of the library."""
    text = (ROOT / "include/sptrsv/version.hpp").read_text()
    return ".".join(re.search(rf"_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


class Recipe(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def configure(self, arguments):
        """Configure the library without CUDA, and return the values of the cache."""
        command = ["cmake", "-S", ROOT, "-B", self.folder / "build", *arguments, "-DSPTRSV_ENABLE_CUDA=OFF"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("were not used by the project", done.stderr)
        cache = (self.folder / "build/CMakeCache.txt").read_text()
        return dict(re.findall(r"^(\w+):\w+=(.*)$", cache, re.MULTILINE))

    def expect_library_alone(self, cache):
        for part in ("TESTS", "EXAMPLES", "BENCHMARKS"):
            self.assertIn(cache[f"SPTRSV_BUILD_{part}"], ("OFF", "0"))


class Spack(Recipe):
    """The directives are functions that record their arguments."""

    def load(self, chosen):
        """Return the recipe's class and the directives that it used, for a spec with these variants."""
        directives = []
        package = types.ModuleType("spack.package")
        for name in ("version", "variant", "depends_on", "conflicts", "license"):
            setattr(package, name, lambda *args, _name=name, **options: directives.append((_name, args, options)))

        values = {name: types.SimpleNamespace(value=value) for name, value in chosen.items()}

        class CMakePackage:
            spec = types.SimpleNamespace(variants=values, satisfies=lambda text: bool(chosen.get(text.lstrip("+"))))

            @staticmethod
            def define(name, value):
                text = ";".join(value) if isinstance(value, tuple) else "ON" if value is True else "OFF"
                return f"-D{name}={text}"

            def define_from_variant(self, name, variant):
                return self.define(name, chosen[variant]) if variant in chosen else ""

        package.CMakePackage = CMakePackage
        package.CudaPackage = type("CudaPackage", (), {})
        modules = {"spack": types.ModuleType("spack"), "spack.package": package}
        source = PACKAGING / "spack/packages/sptrsv/package.py"
        with unittest.mock.patch.dict(sys.modules, modules):
            names = {"__file__": str(source), "__name__": "recipe"}
            exec(compile(source.read_text(), source, "exec"), names)
        return names["Sptrsv"], directives

    def test_arguments_are_known_to_cmake(self):
        recipe, directives = self.load({"cuda": False, "compiled": True, "shared": True, "openmp": False})
        self.assertEqual(recipe.git, ROOT.as_uri())
        self.assertEqual(
            [args[0] for name, args, _ in directives if name == "variant"], ["compiled", "shared", "openmp"]
        )
        cache = self.configure(recipe().cmake_args())
        self.expect_library_alone(cache)
        self.assertEqual((cache["SPTRSV_BUILD_COMPILED"], cache["SPTRSV_WITH_OPENMP"]), ("ON", "OFF"))

    def test_architectures_of_the_gpus(self):
        chosen = {"cuda": True, "compiled": True, "shared": False, "openmp": True, "cuda_arch": ("80", "90")}
        recipe, _ = self.load(chosen)
        arguments = recipe().cmake_args()
        self.assertIn("-DCMAKE_CUDA_ARCHITECTURES=80;90", arguments)
        self.assertIn("-DSPTRSV_ENABLE_CUDA=ON", arguments)

    def test_the_repository_has_a_namespace(self):
        self.assertIn("namespace: sptrsv\n", (PACKAGING / "spack/repo.yaml").read_text())


class Conda(Recipe):
    def test_the_script_builds_and_installs(self):
        log = self.folder / "log"
        stub = self.folder / "cmake"
        stub.write_text(f'#!/bin/sh\nfor a in "$@"; do echo "$a"; done >> {log}\necho >> {log}\n')
        stub.chmod(0o755)
        environment = {
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "PREFIX": "/prefix",
            "SPTRSV_CUDA": "OFF",
            "CMAKE_ARGS": "-DCMAKE_FIND_ROOT_PATH=/a -DCMAKE_AR=/b",
        }
        subprocess.run([PACKAGING / "conda/build.sh"], check=True, env=environment, cwd=self.folder)
        configuration, build, install = (call.split("\n") for call in log.read_text().strip().split("\n\n"))
        self.assertIn("-DCMAKE_AR=/b", configuration)
        self.assertEqual((build[:2], install), (["--build", "build_conda"], ["--install", "build_conda"]))
        defined = [argument for argument in configuration if re.match(r"(SPTRSV|BUILD)_", argument)]
        self.assertIn("SPTRSV_ENABLE_CUDA=OFF", defined)
        cache = self.configure([f"-D{argument}" for argument in defined])
        self.expect_library_alone(cache)
        self.assertEqual((cache["SPTRSV_BUILD_COMPILED"], cache["BUILD_SHARED_LIBS"]), ("ON", "ON"))

    def test_the_version_is_that_of_the_library(self):
        text = (PACKAGING / "conda/recipe.yaml").read_text()
        self.assertEqual(re.search(r'version: "(.*)"', text).group(1), version())

    @unittest.skipUnless(yaml, "needs PyYAML")
    def test_the_recipe_can_be_rendered(self):
        text = (PACKAGING / "conda/recipe.yaml").read_text()
        for cuda in ({}, {"cuda_compiler": "cuda-nvcc"}):
            recipe = yaml.safe_load(text)
            names = {"compiler": lambda language: f"{language}_compiler", **recipe["context"], **cuda}
            # Jinja's test "is defined" is no Python.
            rendered = re.sub(
                r"\$\{\{(.*?)\}\}",
                lambda m, names=names: str(
                    eval(m.group(1).strip().replace("cuda_compiler is defined", repr("cuda_compiler" in names)), names)
                ),
                text,
            )
            made = yaml.safe_load(rendered)
            self.assertEqual(made["package"], {"name": "sptrsv", "version": version()})
            self.assertTrue((PACKAGING / "conda" / made["source"]["path"] / "CMakeLists.txt").exists())
            script = made["build"]["script"]
            self.assertTrue((PACKAGING / "conda" / script["file"]).exists())
            self.assertEqual(script["env"]["SPTRSV_CUDA"], bool(cuda))  # YAML reads ON and OFF as booleans
            for header in made["tests"][0]["package_contents"]["include"]:
                self.assertTrue((ROOT / "include" / header).exists(), header)
            self.assertTrue((ROOT / made["about"]["license_file"]).exists())


class Vcpkg(Recipe):
    """The functions of vcpkg are stubs that print their arguments."""

    def run_port(self, *features):
        """Return the calls of vcpkg's functions: a list of arguments for each name."""
        stubs = self.folder / "port.cmake"
        port = PACKAGING / "vcpkg/sptrsv/portfile.cmake"
        names = ("cmake_configure", "cmake_install", "cmake_config_fixup", "install_copyright")
        lines = [f'function(vcpkg_{name})\n  message(STATUS "CALL {name};${{ARGV}}")\nendfunction()' for name in names]
        lines.insert(0, "cmake_policy(VERSION 3.25)")
        lines.append(
            "function(vcpkg_check_features)\n"
            '  cmake_parse_arguments(PARSE_ARGV 0 a "" OUT_FEATURE_OPTIONS FEATURES)\n'
            "  set(made)\n  while(a_FEATURES)\n    list(POP_FRONT a_FEATURES feature option)\n"
            "    if(feature IN_LIST FEATURES)\n      list(APPEND made -D${option}=ON)\n    else()\n"
            "      list(APPEND made -D${option}=OFF)\n    endif()\n  endwhile()\n"
            "  set(${a_OUT_FEATURE_OPTIONS} ${made} PARENT_SCOPE)\nendfunction()"
        )
        lines += [f'set(FEATURES "{";".join(features)}")']
        lines += [f'set(CURRENT_PACKAGES_DIR "{self.folder}/made")', f'include("{port}")']
        stubs.write_text("\n".join(lines))
        done = subprocess.run(["cmake", "-P", stubs], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = {}
        for call in re.findall(r"^-- CALL (.*)$", done.stdout, re.MULTILINE):
            name, *arguments = call.split(";")
            calls[name] = arguments
        return calls

    def test_arguments_are_known_to_cmake(self):
        for features in ((), ("core", "compiled")):
            calls = self.run_port(*features)
            arguments = calls["cmake_configure"]
            self.assertEqual(Path(arguments[arguments.index("SOURCE_PATH") + 1]), ROOT)
            cache = self.configure(arguments[arguments.index("OPTIONS") + 1 :])
            self.expect_library_alone(cache)
            compiled = "compiled" in features
            self.assertEqual(cache["SPTRSV_BUILD_COMPILED"], "ON" if compiled else "OFF")
            # The port moves the package's configuration from where the library installs it.
            self.assertEqual(calls["cmake_config_fixup"][1].split("/")[0], "lib" if compiled else "share")
            self.assertTrue(Path(calls["install_copyright"][1]).exists())

    def test_the_manifest_names_the_features_and_the_version(self):
        manifest = json.loads((PACKAGING / "vcpkg/sptrsv/vcpkg.json").read_text())
        self.assertEqual((manifest["name"], manifest["version"]), ("sptrsv", version()))
        port = (PACKAGING / "vcpkg/sptrsv/portfile.cmake").read_text()
        for feature in manifest["features"]:
            self.assertRegex(port, rf"\n    {feature} SPTRSV_")


if __name__ == "__main__":
    unittest.main()
