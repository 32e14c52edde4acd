// The versions of the driver and of CUDA.
#pragma once

#include <cuda_runtime.h>

#include <fstream>
#include <string>

#include "sptrsv/detail/simt/cuda_check.cuh"

namespace sptrsv_benchmarks {

/// Returns 13000 as "13.0".
inline std::string cuda_version_text(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

/// Returns the version of the driver's kernel module, for example " (580.65.06)"; empty if it is not
/// available.
inline std::string kernel_module_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    if (word.find_first_not_of("0123456789.") == std::string::npos && word.find('.') != std::string::npos) {
      return " (" + word + ")";
    }
  }
  return "";
}

/// Returns the version of CUDA that the driver supports, and the version of the driver.
inline std::string driver_version() {
  int driver = 0;
  SPTRSV_CUDA_CHECK(cudaDriverGetVersion(&driver));
  return cuda_version_text(driver) + kernel_module_version();
}

/// Returns the version of the CUDA runtime.
inline std::string runtime_version() {
  int runtime = 0;
  SPTRSV_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  return cuda_version_text(runtime);
}

}  // namespace sptrsv_benchmarks
