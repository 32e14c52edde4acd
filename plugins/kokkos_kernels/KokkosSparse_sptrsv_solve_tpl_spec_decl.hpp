// SPDX-License-Identifier: Apache-2.0
// In place of the file of this name in Kokkos Kernels: the solve by sptrsv.
#pragma once

#include <cstddef>
#include <vector>

#include "sptrsv_of_handles.hpp"

namespace KokkosSparse::Impl {

template <class ExecutionSpace, class KernelHandle, class RowMapType, class EntriesType, class ValuesType,
          class BType, class XType, bool EtiSpecAvail>
struct SPTRSV_SOLVE<ExecutionSpace, KernelHandle, RowMapType, EntriesType, ValuesType, BType, XType, true,
                    EtiSpecAvail> {
  using solvers = sptrsv_kokkos::solvers<typename KernelHandle::SPTRSVHandleType>;
  using own = SPTRSV_SOLVE<ExecutionSpace, KernelHandle, RowMapType, EntriesType, ValuesType, BType, XType,
                           false, EtiSpecAvail>;

  static void sptrsv_solve(ExecutionSpace& space, KernelHandle* handle, const RowMapType row_map,
                           const EntriesType entries, const ValuesType values, BType b, XType x) {
    auto& of_solve = *handle->get_sptrsv_handle();
    if (solvers::takes(of_solve)) {
      solvers::solve(space, of_solve, row_map, entries, values, b, x);
    } else {
      own::sptrsv_solve(space, handle, row_map, entries, values, b, x);
    }
  }

  static void sptrsv_solve_streams(const std::vector<ExecutionSpace>& spaces,
                                   std::vector<KernelHandle>& handles,
                                   const std::vector<RowMapType>& row_maps,
                                   const std::vector<EntriesType>& entries,
                                   const std::vector<ValuesType>& values, const std::vector<BType>& b,
                                   std::vector<XType>& x) {
    if (!handles.empty() && !solvers::takes(*handles.front().get_sptrsv_handle())) {
      own::sptrsv_solve_streams(spaces, handles, row_maps, entries, values, b, x);
      return;
    }
    for (std::size_t i = 0; i < handles.size(); ++i) {
      solvers::solve(spaces[i], *handles[i].get_sptrsv_handle(), row_maps[i], entries[i], values[i], b[i],
                     x[i]);
    }
  }
};

}  // namespace KokkosSparse::Impl
