// SPDX-License-Identifier: Apache-2.0
// Named ranges for NVIDIA's profilers, in programs that define SPTRSV_NVTX.
#pragma once

#include "sptrsv/version.hpp"

#ifdef SPTRSV_NVTX
#include <nvtx3/nvToolsExt.h>  // of the CUDA Toolkit; headers only
#endif

namespace sptrsv::SPTRSV_ABI::detail {

#ifdef SPTRSV_NVTX

/// A range of NVTX in the domain "sptrsv", from construction to destruction. The range covers the calls of
/// the host; profilers also show the device work that was enqueued in it.
class nvtx_range {
 public:
  /// @param name name of the range; only read here.
  explicit nvtx_range(const char* name) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    nvtxDomainRangePushEx(domain(), &attributes);
  }
  nvtx_range(const nvtx_range&) = delete;
  nvtx_range& operator=(const nvtx_range&) = delete;
  ~nvtx_range() { nvtxDomainRangePop(domain()); }

 private:
  static nvtxDomainHandle_t domain() {
    static nvtxDomainHandle_t const made = nvtxDomainCreateA("sptrsv");
    return made;
  }
};

#else

/// Does nothing: SPTRSV_NVTX is not defined.
struct nvtx_range {
  explicit nvtx_range(const char* /*name*/) {}
};

#endif

}  // namespace sptrsv::SPTRSV_ABI::detail
