// SPDX-License-Identifier: Apache-2.0
// In place of the file of this name in Kokkos Kernels: the analysis by sptrsv.
#pragma once

#include "sptrsv_of_handles.hpp"

namespace KokkosSparse::Impl {

template <class ExecutionSpace, class KernelHandle, class RowMapType, class EntriesType, bool EtiSpecAvail>
struct SPTRSV_SYMBOLIC<ExecutionSpace, KernelHandle, RowMapType, EntriesType, true, EtiSpecAvail> {
  static void sptrsv_symbolic(const ExecutionSpace& space, KernelHandle* handle, const RowMapType row_map,
                              const EntriesType entries) {
    using solvers = sptrsv_kokkos::solvers<typename KernelHandle::SPTRSVHandleType>;
    using own = SPTRSV_SYMBOLIC<ExecutionSpace, KernelHandle, RowMapType, EntriesType, false, EtiSpecAvail>;
    auto& of_solve = *handle->get_sptrsv_handle();
    if (solvers::takes(of_solve)) {
      solvers::analyze(space, of_solve, row_map, entries);
    } else {
      own::sptrsv_symbolic(space, handle, row_map, entries);
    }
  }
};

}  // namespace KokkosSparse::Impl
