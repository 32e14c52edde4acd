// SPDX-License-Identifier: Apache-2.0
// In place of the file of this name in Kokkos Kernels: for which types sptrsv solves.
#pragma once

#include "sptrsv_of_handles.hpp"

namespace KokkosSparse::Impl {

template <class ExecutionSpace, class KernelHandle, class RowMapType, class EntriesType, class ValuesType,
          class BType, class XType>
struct sptrsv_solve_tpl_spec_avail {
  enum : bool { value = sptrsv_kokkos::solvers<typename KernelHandle::SPTRSVHandleType>::has_types };
};

}  // namespace KokkosSparse::Impl
