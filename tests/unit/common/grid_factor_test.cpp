// The factor of a grid that is made row by row.
#include "common/systems/grid_factor.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sptrsv_common {
namespace {

TEST(GridFactor, PartsAreTheFactor) {
  for (const grid& g : {grid{7, 9, 1}, grid{6, 5, 7}, grid{1, 1, 1}}) {
    const pattern whole = complete_cholesky_of_grid(g);
    const grid_factor factor(g);
    ASSERT_EQ(factor.rows(), whole.rows());
    EXPECT_EQ(factor.entries(), whole.row_offsets.back());
    for (const int parts : {1, 3}) {
      std::vector<vertex> columns;
      std::vector<double> values;
      for (int part = 0; part < parts; ++part) {
        const auto made = factor.make_rows(factor.first_row(part, parts), factor.first_row(part + 1, parts));
        columns.insert(columns.end(), made.column_indices.begin(), made.column_indices.end());
        values.insert(values.end(), made.values.begin(), made.values.end());
      }
      EXPECT_EQ(columns, whole.columns) << parts << " parts";
      EXPECT_EQ(values, factor.make_rows(0, factor.rows()).values);
    }
  }
}

}  // namespace
}  // namespace sptrsv_common
