#!/usr/bin/env bash
# usage: check_cuda12.sh
#
# Checks with nvcc of CUDA 12 that all headers of include/ compile, in one source with tests of the GPU that call
# every public analysis with every policy, for device and host; and that the program of README.md, compiled and linked,
# runs or says that there is no GPU. PyPI has no nvcc of CUDA 12, so that it comes from a package of Debian trixie;
# headers and runtime are those of PyPI. They are unpacked in build/cuda12; nothing is installed into the system.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

# unpack_cuda12 FOLDER: makes the toolkit in FOLDER. apt finds the newest version, on the mirror that this machine uses.
unpack_cuda12() {
  local folder=$1 mirror version apt
  mirror=$(apt-get indextargets --format "\$(COMPONENT) \$(REPO_URI)" 'Created-By: Packages' | sed -n 's/^main //p')
  apt=(apt-get -qq -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=-
    -o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder" -o APT::Sandbox::User=root)
  mkdir -p "$folder/lists/partial" "$folder/toolkit/bin"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror%%$'\n'*} trixie non-free" \
    > "$folder/sources.list"
  "${apt[@]}" update
  (cd "$folder" && "${apt[@]}" download nvidia-cuda-toolkit)
  dpkg -x "$folder"/nvidia-cuda-toolkit_*.deb "$folder/debian"
  version=$(dpkg-deb -f "$folder"/nvidia-cuda-toolkit_*.deb Version | grep -oE '^[0-9]+\.[0-9]+')
  python3 -m venv "$folder/python"
  "$folder/python/bin/pip" install --quiet --disable-pip-version-check --no-deps "nvidia-cuda-nvcc-cu12==$version.*" \
    "nvidia-cuda-runtime-cu12==$version.*" "nvidia-cuda-cccl-cu12==$version.*"

  mv "$folder"/debian/usr/lib/nvidia-cuda-toolkit/bin/{nvcc,cicc,crt} \
    "$folder"/debian/usr/bin/{cudafe++,ptxas,fatbinary,nvlink} "$folder/toolkit/bin"
  mv "$folder/debian/usr/lib/nvidia-cuda-toolkit/libdevice" "$folder/toolkit"
  cp -R "$folder"/python/lib/python3*/site-packages/nvidia/cuda_*/{include,lib} "$folder/toolkit"
  ln -s libcudart.so.12 "$folder/toolkit/lib/libcudart.so"
  cat > "$folder/toolkit/bin/nvcc.profile" << 'END'
TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/libdevice
PATH += $(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib"
END
  rm -r "$folder/debian" "$folder/python" "$folder"/*.deb
}

install_missing build gtest python venv
folder="$root/build/cuda12"
nvcc="$folder/toolkit/bin/nvcc"
if [ ! -x "$nvcc" ]; then
  rm -rf "$folder" "$folder.new"
  # In the background: a function whose own status is tested would go on after a command in it has failed.
  unpack_cuda12 "$folder.new" &
  if ! wait $!; then
    echo "error: this check needs the package nvidia-cuda-toolkit of Debian trixie, non-free, and" \
      "nvidia-cuda-{nvcc,runtime,cccl}-cu12 of PyPI in the same version, and could not get or unpack them" >&2
    exit 1
  fi
  mv "$folder.new" "$folder"
fi
"$nvcc" --version | grep release

# passed NAME COMMAND...: runs a check unless it has passed with the same files.
passed() {
  python3 -B scripts/passed.py --input "$nvcc" --depfile "$folder/$1.d" -- "${@:2}"
}
made="$folder/all"
{
  find include -name '*.hpp' -o -name '*.cuh' | LC_ALL=C sort | sed 's|^include/\(.*\)|#include "\1"|'
  printf '#include "tests/gpu/gpu_%s.cu"\n' entry_points krylov batched distributed incomplete
} > "$made.cu"
# -dc and code for linking: without ptxas, but with the host compiler, which sees what cudafe++ has made of templates.
passed all "$nvcc" -std=c++17 -MD -MF "$made.d" -I include -I . -I tests -Werror all-warnings \
  -dc -gencode=arch=compute_90,code=lto_90 "$made.cu" -o "$made.o"

python3 -B tests/docs/extract.py --output "$folder" README.md > /dev/null
made="$folder/docs_readme_program_1"
passed docs_readme_program_1 bash -c "$nvcc -std=c++17 -arch=sm_90 -MD -MF $made.d -I include $made.cu -o $made \
  -cudart shared -cudadevrt none -Xlinker -rpath=$folder/toolkit/lib && python3 -B tests/docs/run.py $made $made.json --gpu"
