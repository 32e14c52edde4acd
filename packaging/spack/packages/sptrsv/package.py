"""The recipe of sptrsv for spack. It builds the last commit of the checkout that it is in."""

from pathlib import Path

from spack.package import CMakePackage, CudaPackage, conflicts, depends_on, license, variant, version

CHECKOUT = Path(__file__).resolve().parents[4]


class Sptrsv(CMakePackage, CudaPackage):
    """Sparse triangular solves on NVIDIA GPUs and on the host: one analysis, many solves. A header-only C++ library,
    and a compiled library with a C interface."""

    git = CHECKOUT.as_uri()
    license("Apache-2.0")

    version("main", branch="main")

    variant("compiled", default=True, description="Build the compiled library with the C interface")
    variant("shared", default=True, when="+compiled", description="Build it as a shared library")
    variant("openmp", default=True, description="Solve with several threads on the host")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("cuda@12:", when="+cuda")

    conflicts("cuda_arch=none", when="+cuda+compiled", msg="name the architectures of the GPUs: cuda_arch=90")

    def cmake_args(self):
        args = [
            self.define_from_variant("SPTRSV_ENABLE_CUDA", "cuda"),
            self.define_from_variant("SPTRSV_BUILD_COMPILED", "compiled"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("SPTRSV_WITH_OPENMP", "openmp"),
            self.define("SPTRSV_BUILD_TESTS", False),
            self.define("SPTRSV_BUILD_EXAMPLES", False),
            self.define("SPTRSV_BUILD_BENCHMARKS", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
