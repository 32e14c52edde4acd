// The memory that an analysis takes: beside the stored matrix not much more than what it keeps.
#pragma once

#include "contract/contract_fixture.hpp"

namespace sptrsv::testing {

template <class Types>
class analysis_memory : public contract<Types> {
 public:
  using contract<Types>::contract;

  /// Systems with rows of 3 and of 13 entries, so large that arrays of constant size do not count.
  static std::vector<pattern> systems() {
    return Types::target::is_slow
               ? std::vector<pattern>{patterns::stencil_3d(20, 21, 22), patterns::stencil_3d_27(16, 17, 18)}
               : std::vector<pattern>{patterns::stencil_3d(100, 101, 102),
                                      patterns::stencil_3d_27(60, 61, 62)};
  }
};

/// The stored matrix of `analyze` has no entries but those of the triangle. Its rows ascend, or it is stored
/// by columns, so that the analysis sorts the entries.
SPTRSV_TEST_P(analysis_memory, is_at_most_the_matrix_and_one_and_a_half_of_what_is_kept) {
  // On a GPU the tables of the cost model or the scratch arena may take 16 MiB, whatever the size.
  constexpr double constant = TypeParam::target::is_slow ? 1 << 15 : 1 << 24;
  // Inexact order: the rewritten system, which may have more entries, is analysed beside the one that is
  // kept.
  const double factor = this->policy().growth > 1 ? 3 : 1;
  for (const pattern& p : TestFixture::systems()) {
    for (const bool by_columns : {false, true}) {
      const form f{uplo::lower, diag::non_unit, op::none, by_columns, content::triangle, true};
      const auto a = this->make(p, f);
      solver_info info;
      try {
        info = this->analyze(a, f).info();
      } catch (const error& refused) {
        EXPECT_TRUE(this->policy().may_refuse && refused.code() == errc::unsupported) << refused.what();
        continue;
      }
      const auto entries = static_cast<double>(a.values().size());
      const double stored = entries * static_cast<double>(sizeof(typename TypeParam::value) +
                                                          sizeof(typename TypeParam::index)) +
                            static_cast<double>(p.size + 1) * sizeof(typename TypeParam::offset);
      const auto kept = static_cast<double>(info.solver_bytes + info.workspace_bytes);
      EXPECT_GE(static_cast<double>(info.analysis_peak_bytes), kept);
      EXPECT_LE(static_cast<double>(info.analysis_peak_bytes), factor * (stored + 1.5 * kept) + constant)
          << p.name << ", " << f.name() << ": the matrix has " << stored << " bytes, kept are " << kept;
    }
  }
}

SPTRSV_TESTS(analysis_memory, is_at_most_the_matrix_and_one_and_a_half_of_what_is_kept);

}  // namespace sptrsv::testing
