// All generated matrices by name.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bands.hpp"
#include "cholesky.hpp"
#include "factors.hpp"
#include "grids.hpp"
#include "irregular.hpp"
#include "networks.hpp"
#include "orderings.hpp"

namespace sptrsv_common {

/// `small` matrices are for quick tests; `normal` matrices are those of the comparisons; `large` ones are
/// complete factors with up to 160 million entries.
enum class size_class { small, normal, large };

/// A matrix that can be generated.
struct generator {
  std::string name;
  std::string kind;  ///< the family, for reports
  std::string description;
  std::function<pattern()> build;
  /// Makes the matrix of a complete Cholesky factor, and the factor that `build` makes; empty for others.
  std::function<factored_matrix()> factorize;
  size_class size = size_class::normal;
  /// Whether it is a grid of Li and Zhang, Efficient Parallel Implementations of Sparse Triangular Solves for
  /// GPU Architectures, 2020, Table 5.1.
  bool is_of_li_zhang = false;

  /// Returns whether it is a complete factor of the comparisons of such factors.
  [[nodiscard]] bool is_complete_factor() const {
    return (kind == "cholesky" || kind == "lu") && size != size_class::small;
  }
};

/// All matrices that can be generated, with their names.
class generator_registry {
 public:
  generator_registry() {
    add_grids();
    add_bands();
    add_irregular();
    add_networks();
    add_factors();
    add_suitesparse_factors({512, 512}, {32, 32, 32}, {400, 400}, {26, 26, 26});
    add_large_factors();
    add_small();
  }
  [[nodiscard]] const std::vector<generator>& all() const { return all_; }
  /// Returns the generator of this name, or null.
  [[nodiscard]] const generator* find(const std::string& name) const {
    for (const generator& g : all_) {
      if (g.name == name) {
        return &g;
      }
    }
    return nullptr;
  }
  /// Returns a sentence that says why find() knows no such name.
  [[nodiscard]] std::string why_absent(const std::string& name) const {
    return std::find(without_suitesparse_.begin(), without_suitesparse_.end(), name) !=
                   without_suitesparse_.end()
               ? "'" + name + "' is a factor by SuiteSparse: built without CHOLMOD and UMFPACK"
               : "no generated matrix is called '" + name + "'; sptrsv_bench --list prints the names";
  }

 private:
  template <class Build>
  void add(std::string name, std::string kind, std::string description, Build build) {
    all_.push_back(
        {std::move(name), std::move(kind), std::move(description), build, {}, adding_, adding_grids_});
  }
  template <class Factorize>
  void add_factored(std::string name, std::string description, Factorize factorize) {
    add(std::move(name), "cholesky", std::move(description), [=] { return factorize().factor; });
    all_.back().factorize = factorize;
  }

  static std::string size_of(const grid& g) {
    return std::to_string(g.x) + "x" + std::to_string(g.y) + (g.z > 1 ? "x" + std::to_string(g.z) : "");
  }
  void add_star(const grid& g) {
    const std::string points = g.z > 1 ? "7" : "5";
    add("laplace" + points + "_" + size_of(g), "laplacian", points + "-point Laplacian, natural order",
        [=] { return star_stencil(g); });
  }
  void add_box(const grid& g) {
    const std::string points = g.z > 1 ? "27" : "9";
    add("laplace" + points + "_" + size_of(g), "laplacian", points + "-point Laplacian, natural order",
        [=] { return box_stencil(g); });
  }

  /// Adds the grids of Li and Zhang, and two matrices of the SuiteSparse collection that are such grids.
  void add_grids() {
    adding_grids_ = true;
    const grid flat[] = {{1024, 1024}, {512, 2048}, {256, 4096}, {128, 8192}, {64, 16384}};
    const grid solid[] = {{128, 128, 128}, {64, 128, 256}, {64, 64, 512}, {32, 64, 1024}, {32, 32, 2048}};
    for (const grid& g : flat) {
      add_star(g);
    }
    for (const grid& g : flat) {
      add_box(g);
    }
    for (const grid& g : solid) {
      add_star(g);
    }
    for (const grid& g : solid) {
      add_box(g);
    }
    adding_grids_ = false;
    add("ecology1_like", "laplacian", "5-point, 1000 x 1000, the grid of ecology1", [] {
      return star_stencil({1000, 1000});
    });
    add("atmosmodd_like", "laplacian", "7-point, 58 x 148 x 148, the grid of atmosmodd", [] {
      return star_stencil({58, 148, 148});
    });
  }

  void add_bands() {
    add("chain_300000", "band", "bidiagonal: one row per level", [] { return bidiagonal_chain(300000); });
    add("block_bidiagonal_5000x8", "band", "5000 dense blocks of 8 rows, each coupled to the block before",
        [] { return block_bidiagonal(5000, 8); });
    add("dense_band_60000_32", "band", "dense band of half-width 32", [] { return dense_band(60000, 32); });
    add("random_band_1000000_100_6", "band", "6 draws per row from the last 100 columns",
        [] { return random_band(1000000, 100, 6, 7); });
    add("random_band_200000_3000_20", "band", "20 draws per row from the last 3000 columns",
        [] { return random_band(200000, 3000, 20, 8); });
  }

  void add_irregular() {
    add("random_2000000_6", "random", "6 draws per row from all earlier columns",
        [] { return uniform_random(2000000, 6, 7); });
    add("random_400000_24", "random", "24 draws per row from all earlier columns",
        [] { return uniform_random(400000, 24, 9); });
    add("power_law_rows", "power law", "500000 rows, lengths follow a power law", [] {
      return power_law_random(500000, 9, {true, false}, 21);
    });
    add("power_law_columns", "power law", "500000 rows, frequencies of columns follow a power law", [] {
      return power_law_random(500000, 9, {false, true}, 22);
    });
    add("power_law_both", "power law", "500000 rows, power law in rows and in columns", [] {
      return power_law_random(500000, 9, {true, true}, 23);
    });
    add("arrow_first_column", "arrow", "1000000 rows that all depend on the first",
        [] { return arrow_first_column(1000000); });
    add("arrow_last_row", "arrow", "1000000 rows, the last of them depends on all others",
        [] { return arrow_last_row(1000000); });
    add("kkt_two_levels", "kkt", "300000 variables, 200000 constraints of 2 to 9 variables",
        [] { return kkt_two_levels(300000, 200000, 31); });
  }

  void add_networks() {
    add("kronecker_18", "network", "Graph500, 2^18 vertices, edge factor 16",
        [] { return kronecker(18, 16, 41); });
    add("random_geometric_400000", "mesh", "points of the unit square, 12 neighbours on average",
        [] { return random_geometric(400000, 12, 42); });
    add("triangulated_mesh_1024", "mesh", "Delaunay-like, 1024 x 1024 points, Morton order",
        [] { return triangulated_mesh(10, 43); });
    add("road_network_256", "network", "road-like, 256 x 256 junctions",
        [] { return road_network(256, 44); });
  }

  void add_orderings(const std::string& suffix, const grid& solid, const grid& flat) {
    const std::pair<const char*, ordering> orders[] = {
        {"natural", ordering::natural}, {"rcm", ordering::rcm}, {"random", ordering::random}};
    for (const auto& [name, order] : orders) {
      const ordering kind = order;
      add(std::string("ic0_") + name + suffix, "ic0",
          "IC(0) of the 7-point Laplacian " + size_of(solid) + ", " + name + " order",
          [=] { return incomplete_cholesky_of_grid(solid, kind); });
    }
    for (const auto& [name, order] : orders) {
      const ordering kind = order;
      add(std::string("ilu0_") + name + suffix, "ilu0",
          "ILU(0) of an unsymmetric 9-point matrix " + size_of(flat) + ", " + name + " order",
          [=] { return incomplete_lu_of_grid(flat, kind, 51); });
    }
  }
  void add_factors() {
    add_orderings("", {100, 100, 100}, {700, 700});
    add_cholesky({400, 400});
    add_cholesky({32, 32, 32});
  }
  static std::string matrix_of(const grid& g) {
    return std::string("a ") + (g.z > 1 ? "7" : "5") + "-point matrix";
  }
  void add_cholesky(const grid& g) {
    add_factored("cholesky_" + size_of(g), "complete factor of " + matrix_of(g) + ", nested dissection",
                 [=] { return factored_laplacian(g, fill_reducing::dissection); });
  }
  /// Adds complete factors that are too large for the comparison of all systems.
  void add_large_factors() {
    adding_ = size_class::large;
    for (const grid& g : {grid{512, 512}, grid{1024, 1024}, grid{48, 48, 48}, grid{64, 64, 64}}) {
      add_cholesky(g);
    }
    for (const grid& g : {grid{512, 512}, grid{1024, 1024}, grid{48, 48, 48}, grid{64, 64, 64}}) {
      add_cholmod(g, fill_reducing::metis);
    }
    for (const grid& g : {grid{1024, 1024}, grid{32, 32, 32}}) {
      add_cholmod(g, fill_reducing::amd);
    }
    add_elasticity({20, 20, 20});
    add_elasticity({64, 64, 4});
    add_factored("dense_4000", "a dense triangle: one supernode", [] { return factored_dense_matrix(4000); });
    adding_ = size_class::normal;
  }

  /// Returns whether the program has SuiteSparse. Otherwise remembers the name of what cannot be made.
  bool can_factorize(const std::string& name) {
    if (!has_suitesparse) {
      without_suitesparse_.push_back(name);
    }
    return has_suitesparse;
  }
  void add_cholmod(const grid& g, fill_reducing ordering) {
    const bool is_amd = ordering == fill_reducing::amd;
    const std::string name = (is_amd ? "cholesky_amd_" : "cholesky_metis_") + size_of(g);
    if (can_factorize(name)) {
      add_factored(name,
                   "supernodal L by CHOLMOD, " + matrix_of(g) + ", " +
                       (is_amd ? "minimum degree" : "nested dissection"),
                   [=] { return factored_laplacian(g, ordering); });
    }
  }
  void add_elasticity(const grid& g) {
    const std::string name = "elasticity_" + size_of(g);
    if (can_factorize(name)) {
      add_factored(name, "supernodal L by CHOLMOD, three unknowns per node, nested dissection",
                   [=] { return factored_by_cholmod(elasticity_matrix(g), fill_reducing::metis); });
    }
  }
  void add_lu(const grid& g) {
    const auto add_factor = [&](const std::string& prefix, lu_factor which, const std::string& description) {
      const std::string name = prefix + "_" + size_of(g);
      if (can_factorize(name)) {
        add(name, "lu", description, [=] { return lu_factor_of_grid(g, which); });
      }
    };
    add_factor("lu_lower", lu_factor::lower, "L by UMFPACK, convection-diffusion, " + matrix_of(g));
    add_factor("lu_upper", lu_factor::upper,
               "U by UMFPACK, the matrix of lu_lower, rows and columns from the last to the first");
  }
  /// Adds factors by SuiteSparse: of symmetric matrices on a grid of two and one of three dimensions, and of
  /// unsymmetric matrices on two other grids.
  void add_suitesparse_factors(const grid& flat_spd, const grid& solid_spd, const grid& flat,
                               const grid& solid) {
    add_cholmod(flat_spd, fill_reducing::amd);
    add_cholmod(solid_spd, fill_reducing::metis);
    add_lu(flat);
    add_lu(solid);
  }

  /// Adds small matrices of each family.
  void add_small() {
    adding_ = size_class::small;
    add_star({32, 32});
    add_box({24, 40});
    add_star({10, 11, 12});
    add_box({8, 9, 10});
    add("chain_1000", "band", "bidiagonal", [] { return bidiagonal_chain(1000); });
    add("block_bidiagonal_50x8", "band", "50 dense blocks of 8 rows", [] { return block_bidiagonal(50, 8); });
    add("dense_band_500_16", "band", "dense band of half-width 16", [] { return dense_band(500, 16); });
    add("random_band_2000_50_4", "band", "4 draws per row from the last 50 columns",
        [] { return random_band(2000, 50, 4, 7); });
    add("random_5000_6", "random", "6 draws per row", [] { return uniform_random(5000, 6, 7); });
    add("power_law_small", "power law", "3000 rows, power law in rows and in columns", [] {
      return power_law_random(3000, 9, {true, true}, 23);
    });
    add("arrow_first_column_small", "arrow", "3000 rows", [] { return arrow_first_column(3000); });
    add("arrow_last_row_small", "arrow", "3000 rows", [] { return arrow_last_row(3000); });
    add("kkt_two_levels_small", "kkt", "3000 variables", [] { return kkt_two_levels(3000, 2000, 31); });
    add("kronecker_10", "network", "Graph500, 2^10 vertices", [] { return kronecker(10, 16, 41); });
    add("random_geometric_3000", "mesh", "12 neighbours on average",
        [] { return random_geometric(3000, 12, 42); });
    add("triangulated_mesh_32", "mesh", "Delaunay-like, 32 x 32 points",
        [] { return triangulated_mesh(5, 43); });
    add("road_network_16", "network", "road-like, 16 x 16 junctions", [] { return road_network(16, 44); });
    add_orderings("_small", {10, 10, 10}, {30, 30});
    add_cholesky({24, 24});
    add_cholesky({8, 8, 8});
    add_suitesparse_factors({24, 24}, {8, 8, 8}, {24, 24}, {8, 8, 8});
    add_elasticity({4, 5, 6});
  }

  std::vector<generator> all_;
  std::vector<std::string>
      without_suitesparse_;  // names of the matrices that need SuiteSparse, if the program has none
  size_class adding_ = size_class::normal;
  bool adding_grids_ = false;
};

}  // namespace sptrsv_common
