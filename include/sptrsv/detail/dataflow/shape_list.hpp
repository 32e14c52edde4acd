// SPDX-License-Identifier: Apache-2.0
// A list of kernel shapes as a type.
#pragma once

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI::detail::dataflow {

template <class... Shapes>
struct shape_list {
  static constexpr int count = sizeof...(Shapes);

  /// Calls visit(Shape{}, index) for each shape.
  template <class Visit>
  static void for_each(Visit&& visit) {
    int index = 0;
    (visit(Shapes{}, index++), ...);
  }
};

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow
