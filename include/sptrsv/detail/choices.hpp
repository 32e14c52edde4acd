// Choices that several policies offer.
#pragma once

namespace sptrsv::policy {

/// The order in which unknowns are taken up.
enum class row_order {
  natural,  ///< that of substitution: no levels are looked for
  levels    ///< level by level: unknowns that can be solved together are taken up together
};

/// Which way values travel.
enum class orientation {
  rows,    ///< a row gathers the values that it needs: the order of additions is fixed
  columns  ///< a column scatters its value to the rows that need it: additions come in any order
};

}  // namespace sptrsv::policy
