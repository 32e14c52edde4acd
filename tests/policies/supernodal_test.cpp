// The policy supernodal, in the emulator: the supernodes of complete factors, and inverses that grow.
#include "common/generators/cholesky.hpp"
#include "contract/contract_fixture.hpp"
#include "support/emulator_target.hpp"

namespace sptrsv::testing {

using supernodal_case = suite_case<emulator_target, supernodal, double, std::int32_t, std::int32_t>;

/// Returns the pattern of the complete Cholesky factor of a grid.
pattern factor_of_grid(const sptrsv_common::grid& g) {
  const sptrsv_common::pattern factor = sptrsv_common::complete_cholesky_of_grid(g);
  pattern p{"factor", factor.rows(), {}};
  for (std::int64_t i = 0; i < p.size; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto e = factor.row_offsets[row]; e < factor.row_offsets[row + 1] - 1; ++e) {
      p.entries.push_back({i, factor.columns[static_cast<std::size_t>(e)]});
    }
  }
  return p;
}

class Supernodes : public contract_of<supernodal_case> {};

TEST_F(Supernodes, OfCompleteFactorsAreFound) {
  const pattern p = factor_of_grid({24, 24});
  for (const form& f : all_forms()) {
    const auto a = make(p, f);
    auto solver = analyze(a, f);
    const auto b = random_vector<double>(p.size, 3);
    expect_solved(a, f, p.name, b, solve(solver, b));
  }
}

}  // namespace sptrsv::testing
