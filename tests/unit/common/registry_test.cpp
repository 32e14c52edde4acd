// The list of generated systems in a program without SuiteSparse.
#include "common/generators/registry.hpp"

#include <gtest/gtest.h>

#include <string>

#include "common/systems/matrix_source.hpp"

namespace sptrsv_common {
namespace {

TEST(GeneratorRegistry, FactorsBySuiteSparseAreAbsentWithoutIt) {
  ASSERT_FALSE(has_suitesparse);
  const generator_registry registry;
  for (const char* name : {"cholesky_amd_512x512", "cholesky_metis_32x32x32", "lu_lower_400x400",
                           "lu_upper_26x26x26", "lu_upper_24x24"}) {
    EXPECT_EQ(registry.find(name), nullptr);
    EXPECT_EQ(registry.why_absent(name),
              "'" + std::string(name) + "' is a factor by SuiteSparse: built without CHOLMOD and UMFPACK");
  }
  EXPECT_THROW(static_cast<void>(complete_factor_of_grid({4, 4}, complete_factor::lu_lower)), sptrsv::error);
}

TEST(GeneratorRegistry, NamesAreSaidToBeUnknownOrAbsent) {
  const generator_registry registry;
  const auto error_for = [&](const std::string& names) -> std::string {
    try {
      static_cast<void>(choose_sources({"", names}, registry));
    } catch (const usage_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(error_for("chain_1000"), "");
  EXPECT_EQ(error_for("chain_1000,chian_1000"),
            "no generated matrix is called 'chian_1000'; sptrsv_bench --list prints the names");
  EXPECT_NE(error_for("chain_1000,lu_lower_24x24").find("built without CHOLMOD and UMFPACK"),
            std::string::npos);
}

}  // namespace
}  // namespace sptrsv_common
