// The direction in which values travel between the rows.
#pragma once

namespace sptrsv::policy {

enum class orientation {
  rows,    ///< a row gathers the components that it needs; additions have a fixed order
  columns  ///< a column scatters its component to the rows that need it; additions come in any order
};

}  // namespace sptrsv::policy
