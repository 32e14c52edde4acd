// The list of generated systems in a program without SuiteSparse.
#include "common/generators/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/systems/matrix_source.hpp"

namespace sptrsv_common {
namespace {

TEST(GeneratorRegistry, FactorsBySuiteSparseAreAbsentWithoutIt) {
  ASSERT_FALSE(has_suitesparse);
  const generator_registry registry;
  for (const char* name : {"cholesky_amd_512x512", "cholesky_metis_32x32x32", "lu_lower_400x400",
                           "lu_upper_26x26x26", "lu_upper_24x24", "elasticity_20x20x20"}) {
    EXPECT_EQ(registry.find(name), nullptr);
    EXPECT_EQ(registry.why_absent(name),
              "'" + std::string(name) + "' is a factor by SuiteSparse: built without CHOLMOD and UMFPACK");
  }
  EXPECT_THROW(static_cast<void>(lu_factor_of_grid({4, 4}, lu_factor::lower)), sptrsv::error);
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

TEST(MatrixSelection, TakesTheFilesOfSeveralDirectories) {
  const generator_registry registry;
  const std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "matrix_selection";
  const auto write = [&](const char* directory, const char* file) {
    std::filesystem::create_directories(root / directory);
    std::ofstream(root / directory / file)
        << "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n";
  };
  write("one", "b.mtx");
  write("one", "a.mtx");
  write("two", "c.mtx");
  const std::string both = (root / "one").string() + "," + (root / "two").string();
  std::string names;
  for (const matrix_source& source : choose_sources({both, "chain_1000"}, registry)) {
    names += source.name + " ";
  }
  EXPECT_EQ(names, "a b c chain_1000 ");
  write("two", "a.mtx");
  EXPECT_THROW(static_cast<void>(choose_sources({both, "none"}, registry)), usage_error);
  std::filesystem::remove_all(root);
}

TEST(GeneratorRegistry, LargeFactorsAreTakenOnlyIfAskedFor) {
  const generator_registry registry;
  const auto has = [&](const std::string& selection, const std::string& name) {
    const auto sources = choose_sources({"", selection}, registry);
    return std::any_of(sources.begin(), sources.end(),
                       [&](const matrix_source& s) { return s.name == name; });
  };
  EXPECT_TRUE(has("factors", "cholesky_64x64x64"));
  EXPECT_TRUE(has("factors", "cholesky_32x32x32"));
  EXPECT_FALSE(has("factors", "cholesky_8x8x8"));
  EXPECT_FALSE(has("factors", "laplace7_128x128x128"));
  EXPECT_FALSE(has("all", "cholesky_64x64x64"));
  EXPECT_TRUE(has("all", "cholesky_32x32x32"));
  EXPECT_FALSE(has("small", "cholesky_64x64x64"));
}

/// The permuted matrix has the entries of its own factor.
TEST(GeneratorRegistry, FactorsHaveTheEntriesOfTheirPermutedMatrices) {
  const generator_registry registry;
  for (const char* name : {"cholesky_24x24", "cholesky_8x8x8"}) {
    const generator& g = *registry.find(name);
    const factored_matrix f = g.factorize();
    EXPECT_EQ(f.factor.columns, g.build().columns);
    const auto n = static_cast<std::size_t>(f.lower.rows);
    std::vector<std::size_t> new_number(n, n);
    for (std::size_t k = 0; k < n; ++k) {
      new_number[static_cast<std::size_t>(f.permutation[k])] = k;
    }
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_LT(new_number[i], n);
      for (vertex e = f.lower.row_offsets[i]; e < f.lower.row_offsets[i + 1]; ++e) {
        const std::size_t j = static_cast<std::size_t>(f.lower.column_indices[static_cast<std::size_t>(e)]);
        const std::size_t row = std::max(new_number[i], new_number[j]);
        const auto begin = f.factor.columns.begin() + f.factor.row_offsets[row];
        const auto end = f.factor.columns.begin() + f.factor.row_offsets[row + 1];
        EXPECT_TRUE(
            std::binary_search(begin, end, static_cast<vertex>(std::min(new_number[i], new_number[j]))));
      }
    }
  }
}

TEST(GeneratorRegistry, FullMatrixIsPositiveDefinite) {
  const factored_matrix f = factored_dense_matrix(7);
  EXPECT_EQ(f.factor.columns.size(), 28u);
  EXPECT_EQ(f.lower.column_indices, f.factor.columns);
  for (std::size_t i = 0; i < 7; ++i) {
    const auto pivot = static_cast<std::size_t>(f.lower.row_offsets[i + 1]) - 1;
    EXPECT_EQ(f.lower.values[pivot], 7);
    EXPECT_TRUE(i == 0 || f.lower.values[pivot - 1] == -1);
  }
}

/// The factor has the entries that elimination fills in.
TEST(SymbolicCholesky, FillsInWhatEliminationDoes) {
  const grid g{5, 4, 3};
  const pattern a = pattern_of_edges(g.points(), star_edges(g), nested_dissection(g).new_number());
  const auto n = static_cast<std::size_t>(a.rows());
  std::vector<std::vector<char>> filled(n, std::vector<char>(n, 0));
  const auto for_each_entry = [&](const pattern& p, const auto& visit) {
    for (std::size_t i = 0; i < n; ++i) {
      for (vertex e = p.row_offsets[i]; e < p.row_offsets[i + 1]; ++e) {
        visit(i, static_cast<std::size_t>(p.columns[static_cast<std::size_t>(e)]));
      }
    }
  };
  for_each_entry(a, [&](std::size_t i, std::size_t j) { filled[i][j] = 1; });
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = k + 1; j <= i; ++j) {
        filled[i][j] = static_cast<char>(filled[i][j] | (filled[i][k] & filled[j][k]));
      }
    }
  }
  std::vector<std::vector<char>> found(n, std::vector<char>(n, 0));
  for_each_entry(symbolic_cholesky(a), [&](std::size_t i, std::size_t j) { found[i][j] = 1; });
  EXPECT_EQ(found, filled);
}

}  // namespace
}  // namespace sptrsv_common
