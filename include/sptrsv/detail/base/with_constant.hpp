// SPDX-License-Identifier: Apache-2.0
// A condition or a number that is known at run time, as a template argument; a list of types by number.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

/// Calls use(std::true_type{}) if the condition holds, and use(std::false_type{}) otherwise.
template <class Use>
void with_constant(bool condition, const Use& use) {
  if (condition) {
    use(std::true_type{});
  } else {
    use(std::false_type{});
  }
}

/// Calls use(std::integral_constant<int, N>{}) with that number N of First, More... that is `number`, or with
/// the last one if none is.
template <int First, int... More, class Use>
void with_one_of(int number, const Use& use) {
  if constexpr (sizeof...(More) > 0) {
    if (number != First) {
      with_one_of<More...>(number, use);
      return;
    }
  }
  use(std::integral_constant<int, First>{});
}

/// Types of kernel shapes.
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

}  // namespace sptrsv::SPTRSV_ABI::detail
