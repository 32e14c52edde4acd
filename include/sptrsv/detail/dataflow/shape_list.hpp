// SPDX-License-Identifier: Apache-2.0
// A list of kernel shapes as a type.
#pragma once

#include <cstddef>
#include <utility>

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
  /// Calls visit(Shape{}) for the shape with this index.
  template <class Visit>
  static void with(int wanted, Visit&& visit) {
    for_each([&](auto shape, int index) {
      if (index == wanted) {
        visit(shape);
      }
    });
  }
};

/// The type is a list of the shapes Shape<0>, Shape<1>, ...
template <template <std::size_t> class Shape, std::size_t... I>
shape_list<Shape<I>...> shapes_by_index(std::index_sequence<I...>);

}  // namespace sptrsv::SPTRSV_ABI::detail::dataflow
