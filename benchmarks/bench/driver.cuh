// Which driver and which version of CUDA a program runs with.
#pragma once

#include <cuda_runtime.h>

#include <fstream>
#include <string>

#include "sptrsv/detail/simt/cuda_check.cuh"

namespace sptrsv_benchmarks {

/// "13.0" for 13000.
inline std::string cuda_version_text(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

/// " (580.65.06)", or nothing where the kernel module does not say.
inline std::string kernel_module_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    if (word.find_first_not_of("0123456789.") == std::string::npos && word.find('.') != std::string::npos) {
      return " (" + word + ")";
    }
  }
  return "";
}

/// The version of CUDA that the driver has, and its own.
inline std::string driver_version() {
  int driver = 0;
  SPTRSV_CUDA_CHECK(cudaDriverGetVersion(&driver));
  return cuda_version_text(driver) + kernel_module_version();
}

inline std::string runtime_version() {
  int runtime = 0;
  SPTRSV_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  return cuda_version_text(runtime);
}

}  // namespace sptrsv_benchmarks
