# Sourced by the scripts beside it.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cores=$(nproc)

# nvcc where NVIDIA's packages put it, which is not on PATH by default.
if ! command -v nvcc > /dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
  PATH="/usr/local/cuda/bin:$PATH"
fi

has_command() { command -v "$1" > /dev/null; }
has_header() { echo "#include <$1>" | "${CXX:-c++}" -E -x c++ - > /dev/null 2>&1; }

# install_missing WHAT...: installs the Debian packages of those of WHAT that this machine lacks. WHAT is among
# build, gtest, benchmark, zlib, suitesparse, python, matplotlib, venv, clang-format.
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
      python) has_command python3 || packages+=(python3) ;;
      matplotlib)
        python3 -c 'import matplotlib' 2> /dev/null || /usr/bin/python3 -c 'import matplotlib' 2> /dev/null ||
          packages+=(python3-matplotlib)
        ;;
      venv) python3 -c 'import ensurepip' 2> /dev/null || packages+=(python3-venv) ;;
      clang-format) has_command clang-format || has_command clang-format-14 || packages+=(clang-format) ;;
    esac
  done
  [ ${#packages[@]} -gt 0 ] || return 0

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo)
    [ -t 0 ] || as_root+=(-n) # nobody there to type a password
  fi
  echo "installing ${packages[*]}" >&2
  if ! has_command apt-get || { [ ${#as_root[@]} -gt 0 ] && ! has_command sudo; } ||
    ! "${as_root[@]}" apt-get update -qq >&2 ||
    ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2; then
    echo "error: this machine lacks what the following packages hold (Debian's names), and they could not be" \
      "installed from here: ${packages[*]}" >&2
    return 1
  fi
}

# configure PRESET: in build/PRESET, with Ninja where it is installed. A build folder keeps its generator.
configure() {
  if [ -z "${CMAKE_GENERATOR:-}" ] && has_command ninja; then
    export CMAKE_GENERATOR=Ninja
  fi
  cmake -S "$root" --preset "$1"
}

# run_ctest PRESET ARGUMENTS...: runs tests and ends with the line "N passed, N failed", which counts the cases
# of GoogleTest programs one by one.
run_ctest() {
  local build="$root/build/$1" status=0
  shift
  rm -rf "$build/test-results"
  mkdir -p "$build/test-results"
  ctest --test-dir "$build" --output-on-failure --parallel "$cores" \
    --output-junit "$build/test-results/ctest.xml" "$@" || status=$?
  echo "total time: $SECONDS s"
  python3 "$root/scripts/count_tests.py" "$build/test-results" || status=1
  return $status
}
