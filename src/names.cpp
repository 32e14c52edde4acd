// SPDX-License-Identifier: Apache-2.0
// The names of the policies of the compiled library.
#include "sptrsv/any/any_policy.hpp"
#include "sptrsv/detail/any_solver/analyze.hpp"

namespace sptrsv::SPTRSV_ABI::detail {

template std::vector<std::string> any_policy_names<compiled_build>();

}  // namespace sptrsv::SPTRSV_ABI::detail
