# shellcheck shell=bash
# Functions of the scripts in this folder, which source this file.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cores=$(nproc)
# The steps of .ci/run share the cores by a job server; what is no client of it takes one.
has_job_server() { [[ ${MAKEFLAGS:-} == *--jobserver-auth=* ]]; }

# NVIDIA's packages install nvcc in a folder that is not on PATH by default.
if ! command -v nvcc > /dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
  PATH="/usr/local/cuda/bin:$PATH"
fi

has_command() { command -v "$1" > /dev/null; }
has_gpu() { "$root/tests/run_if_gpu.sh" true > /dev/null; }
has_header() { echo "#include <$1>" | "${CXX:-c++}" -E -x c++ - > /dev/null 2>&1; }

# install_missing WHAT...: installs the Debian packages of those of WHAT that this machine lacks. WHAT is among
# build, ccache, gtest, benchmark, zlib, suitesparse, superlu, eigen, cli11, fortran, petsc, pkg-config, python,
# matplotlib, scipy, venv, shellcheck, clang, clang-format, clang-tidy, doxygen.
install_missing() {
  local what packages=()
  for what in "$@"; do
    case $what in
      build)
        has_command "${CXX:-c++}" || packages+=(g++)
        has_command cmake || packages+=(cmake)
        has_command ninja || has_command make || packages+=(ninja-build)
        ;;
      gtest) has_header gtest/gtest.h || packages+=(libgtest-dev) ;;
      benchmark) has_header benchmark/benchmark.h || packages+=(libbenchmark-dev) ;;
      zlib) has_header zlib.h || packages+=(zlib1g-dev) ;;
      suitesparse) has_header suitesparse/umfpack.h || packages+=(libsuitesparse-dev) ;;
      superlu) has_header superlu/slu_ddefs.h || packages+=(libsuperlu-dev) ;;
      eigen) has_header eigen3/Eigen/Core || packages+=(libeigen3-dev) ;;
      fortran) has_command gfortran || packages+=(gfortran) ;;
      petsc) has_command pkg-config && pkg-config --exists PETSc || packages+=(petsc-dev) ;;
      cli11) has_header CLI/CLI.hpp || packages+=(libcli11-dev) ;;
      python) has_command python3 || packages+=(python3) ;;
      matplotlib)
        python3 -c 'import matplotlib' 2> /dev/null || /usr/bin/python3 -c 'import matplotlib' 2> /dev/null ||
          packages+=(python3-matplotlib)
        ;;
      scipy)
        python3 -c 'import scipy' 2> /dev/null || /usr/bin/python3 -c 'import scipy' 2> /dev/null ||
          packages+=(python3-scipy)
        ;;
      venv) python3 -c 'import ensurepip' 2> /dev/null || packages+=(python3-venv) ;;
      clang) # with the runtime of libFuzzer
        has_command clang++ && compgen -G "$(clang++ -print-runtime-dir)/libclang_rt.fuzzer*" > /dev/null ||
          packages+=(clang libclang-rt-dev)
        ;;
      clang-format) has_command clang-format || has_command clang-format-14 || packages+=(clang-format) ;;
      clang-tidy) has_command clang-tidy || has_command clang-tidy-14 || packages+=(clang-tidy) ;;
      ccache | doxygen | pkg-config | shellcheck) has_command "$what" || packages+=("$what") ;;
      *)
        echo "install_missing: unknown: $what" >&2
        return 2
        ;;
    esac
  done
  [ ${#packages[@]} -gt 0 ] || return 0

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo)
    [ -t 0 ] || as_root+=(-n) # without a terminal nobody can type a password
  fi
  echo "installing the packages ${packages[*]}" >&2
  if ! has_command apt-get || { [ ${#as_root[@]} -gt 0 ] && ! has_command sudo; } ||
    ! "${as_root[@]}" apt-get update -qq >&2 ||
    ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2; then
    echo "error: this script needs the following Debian packages or their equivalent, and could not install them:" \
      "${packages[*]}" >&2
    return 1
  fi
}

# install_jax: puts JAX and SciPy of PyPI into build/python_jax, where the tests of the Python package find them.
install_jax() {
  local python="$root/build/python_jax/bin/python"
  "$python" -c 'import jax.ffi, scipy' 2> /dev/null && return
  python3 -m venv --clear "$root/build/python_jax"
  "$python" -m pip install --quiet --disable-pip-version-check jax scipy
}

# configure PRESET ARGUMENTS...: configures build/PRESET, with Ninja where it is installed. A build folder keeps its
# generator. ARGUMENTS are those of CMake. A run that repeats everything (SPTRSV_REPEAT=1) has the nightly tests, too.
configure() {
  if [ -z "${CMAKE_GENERATOR:-}" ] && has_command ninja; then
    export CMAKE_GENERATOR=Ninja
  fi
  local nightly=OFF
  [ "${SPTRSV_REPEAT:-}" != 1 ] || nightly=ON
  cmake -S "$root" --preset "$1" -D SPTRSV_NIGHTLY_TESTS=$nightly "${@:2}"
}

# compile PRESET TARGETS...: compiles the targets (without any: all) in build/PRESET and shows the progress.
compile() {
  local build="$root/build/$1" arguments=()
  shift
  has_job_server || arguments+=(--parallel "$cores")
  [ $# -eq 0 ] || arguments+=(--target "$@")
  python3 "$root/scripts/progress.py" compiling cmake --build "$build" "${arguments[@]}"
}

# run_ctest PRESET ARGUMENTS...: runs tests, shows the progress and ends with the line "N passed, N failed", which
# counts the cases of GoogleTest programs one by one. ARGUMENTS are those of CTest.
run_ctest() {
  local build="$root/build/$1" status=0
  shift
  rm -rf "$build/test-results"
  mkdir -p "$build/test-results"
  python3 "$root/scripts/progress.py" testing ctest --test-dir "$build" --output-on-failure --parallel "$cores" \
    --output-junit "$build/test-results/ctest.xml" "$@" || status=$?
  echo "total time: $SECONDS s"
  python3 "$root/scripts/count_tests.py" "$build/test-results" "${SPTRSV_TIER:-all}" || status=1
  return $status
}
