// SPDX-License-Identifier: Apache-2.0
// Views of std::mdspan, of cuda::std::mdspan, and of other classes with their functions. A std::span and a
// cuda::std::span need no adapter: they convert to sptrsv::span and to dense_view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "sptrsv/types.hpp"

namespace sptrsv::SPTRSV_ABI::interop {

/// Returns a view of a vector, or of a matrix whose columns are right-hand sides: an mdspan of rank 1 or 2
/// whose layout has strides. The elements must outlive the view.
template <class Mdspan, class = decltype(std::declval<const Mdspan&>().data_handle())>
dense_view<typename Mdspan::element_type> as_view(const Mdspan& m) {
  static_assert(Mdspan::rank() == 1 || Mdspan::rank() == 2, "right-hand sides are an mdspan of rank 1 or 2");
  static_assert(Mdspan::is_always_strided(), "the layout of the mdspan has no strides");
  static_assert(std::is_convertible_v<typename Mdspan::data_handle_type, typename Mdspan::element_type*>,
                "the elements of the mdspan are not accessed by a pointer");
  const auto extent = [&m](std::size_t r) { return static_cast<std::int64_t>(m.extent(r)); };
  const auto stride = [&m](std::size_t r) { return static_cast<std::int64_t>(m.stride(r)); };
  if constexpr (Mdspan::rank() == 1) {
    return {m.data_handle(), extent(0), 1, stride(0), 0};
  } else {
    return {m.data_handle(), extent(0), extent(1), stride(0), stride(1)};
  }
}

}  // namespace sptrsv::SPTRSV_ABI::interop
