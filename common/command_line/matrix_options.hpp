// The options that choose matrices.
#pragma once

#include <string>

#include "common/command_line/command_line.hpp"
#include "common/systems/matrix_source.hpp"

namespace sptrsv_common {

/// Adds --matrices and --generated. `triangle`: what is taken of a file, for example "one triangle".
/// `default_generated`: which generated matrices are taken without --generated, in words.
inline void add_matrix_options(command_line& to, matrix_selection& target, const std::string& triangle,
                               const std::string& default_generated) {
  to.begin_group("Matrices");
  to.add_text("-m,--matrices", target.directories, "DIR,...",
              "Take " + triangle + " of each Matrix Market file (.mtx, .mtx.gz) in these directories.");
  to.add_text("-g,--generated", target.generated, "WHICH",
              "Take these generated matrices: all, small, grids (of Li and Zhang), factors (complete ones), "
              "none, or a list of names "
              "that sptrsv_bench --list prints. Default: " +
                  default_generated + ".");
}

}  // namespace sptrsv_common
