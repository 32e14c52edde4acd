// SPDX-License-Identifier: Apache-2.0
// By which of the three block algorithms a triangle is cut.
#pragma once

#include <cstdint>

#include "sptrsv/version.hpp"

namespace sptrsv::SPTRSV_ABI::policy {

/// How the triangle is cut into diagonal blocks (triangles) and rectangles between them.
enum class block_cut : std::uint8_t {
  columns,   ///< below each triangle one rectangle with all rows, used once the triangle is solved
  rows,      ///< left of each triangle one rectangle with all columns, used before the triangle is solved
  recursive  ///< triangle, square, triangle; both triangles are cut in the same way
};

}  // namespace sptrsv::SPTRSV_ABI::policy
