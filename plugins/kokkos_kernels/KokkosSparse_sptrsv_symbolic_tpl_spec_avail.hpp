// SPDX-License-Identifier: Apache-2.0
// In place of the file of this name in Kokkos Kernels: for which types sptrsv analyses.
#pragma once

#include "sptrsv_of_handles.hpp"

namespace KokkosSparse::Impl {

template <class KernelHandle, class RowMapType, class EntriesType>
struct sptrsv_symbolic_tpl_spec_avail {
  enum : bool { value = sptrsv_kokkos::solvers<typename KernelHandle::SPTRSVHandleType>::has_types };
};

}  // namespace KokkosSparse::Impl
