#!/usr/bin/env bash
# usage: check_cuda.sh
#
# Checks that the newest nvcc of PyPI (installed in build/cuda_tools; check_cuda12.sh checks with CUDA 12) takes
# each public entry point with the default policy and with the others, as tests/gpu/gpu_entry_points.cu has them. With
# the installed nvcc: that the machine code of the compiled library, for one type and one architecture, is free of an
# error of ptxas; and that the program of README.md, made as its reader makes it, runs or says that there is no GPU.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

install_missing build gtest python venv
folder="$root/build/cuda_tools"
[ -x "$folder/bin/python" ] || python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps 'nvidia-cuda-nvcc>=13' nvidia-nvvm \
  nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm
cuda=$(echo "$folder"/lib/python3*/site-packages/nvidia/cu13)
chmod +x "$cuda"/bin/* "$cuda"/nvvm/bin/*
"$cuda/bin/nvcc" --version | grep release

# passed DEPFILE COMMAND...: runs a check unless it has passed with the same files.
passed() {
  python3 -B scripts/passed.py --input "$cuda/bin/nvcc.profile" --depfile "$1" -- "${@:2}"
}
made="$folder/entry_points"
passed "$made.d" "$cuda/bin/nvcc" -std=c++17 -MD -MF "$made.d" -I include -I . -I tests -Werror all-warnings \
  -ltoir -gencode=arch=compute_90,code=lto_90 tests/gpu/gpu_entry_points.cu -o "$made.o"

has_command nvcc || exit 0
made="$folder/any_policy_f64_i32"
sed 's/@value@/double/g; s/@index@/std::int32_t/g; s/@types@/f64_i32/g' src/any_policy.cpp.in > "$made.cpp"
passed "$made.d" bash -c "nvcc -std=c++17 -O3 -DSPTRSV_COMPILED -arch=sm_90 -x cu -MD -MF $made.d -I include -I src \
  -c $made.cpp -o $made.o && PATH=$cuda/bin:\$PATH python3 -B scripts/check_machine_code.py $made.o"

programs="$folder/programs"
python3 -B tests/docs/extract.py --output "$programs" README.md > /dev/null
made="$programs/docs_readme_program_1"
passed "$made.d" bash -c "nvcc -std=c++17 -arch=compute_90 -MD -MF $made.d -I include $made.cu -o $made \
  && python3 -B tests/docs/run.py $made $made.json --gpu"
