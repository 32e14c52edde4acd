// An error of the user's own launch that nobody has asked for is still there after each call of the C
// interface.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/gpu/cuda_handles.cuh"
#include "sptrsv.h"
#include "sptrsv/device_matrix.hpp"
#include "support/pending_error.cuh"

namespace sptrsv::testing {
namespace {

class PendingErrorsInC : public ::testing::Test {
 protected:
  void TearDown() override { static_cast<void>(cudaGetLastError()); }

  /// Plants an error, makes a call that succeeds, and expects the error.
  template <class Call>
  static void keeps(const std::string& name, const Call& call) {
    keeps_pending_error(name, [&] { EXPECT_EQ(call(), SPTRSV_SUCCESS) << sptrsv_last_error(); });
  }
  [[nodiscard]] static sptrsv_matrix matrix_of(const device_csr_matrix<double>& a) {
    return {SPTRSV_CSR,
            SPTRSV_DOUBLE,
            SPTRSV_INT32,
            a.rows,
            a.columns,
            static_cast<std::int64_t>(a.values.size()),
            a.row_offsets.data(),
            a.column_indices.data(),
            a.values.data()};
  }

  static constexpr std::int32_t size = 3000;
  device_csr_matrix<double> there = to_device(matrix_with_descending_rows(size));
  buffer<double> b = to_device(std::vector<double>(size, 1));
  buffer<double> x = to_device(std::vector<double>(size, 0));
  sptrsv_matrix matrix = matrix_of(there);
  sptrsv_vectors from{b.data(), 1, 1, size};
  sptrsv_vectors to{x.data(), 1, 1, size};
  sptrsv_solve_status status = SPTRSV_OK;
  sptrsv_info info{};
  std::int64_t row = 0;
};

TEST_F(PendingErrorsInC, StayInCallsOfSolvers) {
  for (const char* const policy : {"automatic", "level_set", "supernodal", "sync_free_column", "scheme"}) {
    const sptrsv_options options{sizeof(options), SPTRSV_LOWER, SPTRSV_NON_UNIT, SPTRSV_NONE, 1, policy, 0};
    const std::string name = std::string(policy) + " ";
    sptrsv_solver* solver = nullptr;
    sptrsv_workspace* workspace = nullptr;
    keeps(name + "analyze", [&] { return sptrsv_analyze(&matrix, &options, nullptr, &solver); });
    ASSERT_NE(solver, nullptr) << name;
    keeps(name + "update_values",
          [&] { return sptrsv_update_values(solver, there.values.data(), matrix.entries, nullptr); });
    keeps(name + "solve", [&] { return sptrsv_solve(solver, b.data(), x.data(), nullptr); });
    keeps(name + "make_workspace", [&] { return sptrsv_make_workspace(solver, nullptr, &workspace); });
    keeps(name + "solve_many",
          [&] { return sptrsv_solve_many(solver, nullptr, &from, &to, workspace, nullptr); });
    keeps(name + "get_status", [&] { return sptrsv_get_status(solver, workspace, nullptr, &status, &row); });
    keeps(name + "get_info", [&] {
      info.size = sizeof(info);
      return sptrsv_get_info(solver, &info);
    });
    keeps_pending_error(name + "refused solve", [&] {
      std::vector<double> host(size);
      EXPECT_EQ(sptrsv_solve(solver, host.data(), x.data(), nullptr), SPTRSV_WRONG_MEMORY_SPACE);
    });
    keeps_pending_error(name + "destroy", [&] {
      sptrsv_destroy_workspace(workspace);
      sptrsv_destroy(solver);
    });
  }
}

TEST_F(PendingErrorsInC, StayInCallsOfFactors) {
  sptrsv_factors_options options = sptrsv_lu_options();
  options.first.diagonal = SPTRSV_NON_UNIT;
  options.transposed = SPTRSV_TRANSPOSE;
  sptrsv_factors* factors = nullptr;
  sptrsv_workspace* workspace = nullptr;
  sptrsv_factor_part part = SPTRSV_FIRST;
  keeps("analyze_factors",
        [&] { return sptrsv_analyze_factors(&matrix, nullptr, &options, nullptr, &factors); });
  ASSERT_NE(factors, nullptr);
  keeps("update_factors", [&] {
    return sptrsv_update_factors(factors, there.values.data(), matrix.entries, nullptr, 0, nullptr);
  });
  keeps("make_factors_workspace",
        [&] { return sptrsv_make_factors_workspace(factors, nullptr, &workspace); });
  keeps("apply", [&] { return sptrsv_apply(factors, &from, &to, workspace, nullptr); });
  keeps("apply_transpose", [&] { return sptrsv_apply_transpose(factors, &from, &to, workspace, nullptr); });
  keeps("get_factors_status",
        [&] { return sptrsv_get_factors_status(factors, workspace, nullptr, &status, &part, &row); });
  keeps("get_factors_info", [&] {
    info.size = sizeof(info);
    return sptrsv_get_factors_info(factors, 0, &info);
  });
  keeps_pending_error("destroy_factors", [&] {
    sptrsv_destroy_workspace(workspace);
    sptrsv_destroy_factors(factors);
  });
}

TEST_F(PendingErrorsInC, StayInCallsOfIncompleteFactorisationsAndBatches) {
  for (const std::int64_t fill : {0, 1}) {
    const sptrsv_incomplete_options options{sizeof(options), SPTRSV_INCOMPLETE_LU, fill, 0, 0, 0};
    sptrsv_incomplete* incomplete = nullptr;
    sptrsv_matrix factors{};
    std::int64_t boosted = 0;
    keeps("analyze_incomplete",
          [&] { return sptrsv_analyze_incomplete(&matrix, &options, nullptr, &incomplete); });
    ASSERT_NE(incomplete, nullptr);
    keeps("factorize",
          [&] { return sptrsv_factorize(incomplete, there.values.data(), matrix.entries, nullptr); });
    keeps("get_incomplete_factors",
          [&] { return sptrsv_get_incomplete_factors(incomplete, &matrix, &factors); });
    keeps("get_incomplete_status",
          [&] { return sptrsv_get_incomplete_status(incomplete, nullptr, &status, &row, &boosted); });
    keeps_pending_error("destroy_incomplete", [&] { sptrsv_destroy_incomplete(incomplete); });
  }
  const sptrsv_batch_options systems{sizeof(systems), 1, 0, 0};
  const sptrsv_batch_vectors right{b.data(), 1, 1, size, size};
  const sptrsv_batch_vectors left{x.data(), 1, 1, size, size};
  sptrsv_batch* batch = nullptr;
  std::int64_t system = 0;
  keeps("analyze_batch", [&] { return sptrsv_analyze_batch(&matrix, &systems, nullptr, nullptr, &batch); });
  ASSERT_NE(batch, nullptr);
  keeps("update_batch",
        [&] { return sptrsv_update_batch(batch, there.values.data(), matrix.entries, nullptr); });
  keeps("solve_batch", [&] { return sptrsv_solve_batch(batch, nullptr, &right, &left, nullptr); });
  keeps("get_batch_status", [&] { return sptrsv_get_batch_status(batch, nullptr, &status, &system, &row); });
  keeps("get_batch_info", [&] {
    info.size = sizeof(info);
    return sptrsv_get_batch_info(batch, &info);
  });
  keeps_pending_error("destroy_batch", [&] { sptrsv_destroy_batch(batch); });
}

TEST_F(PendingErrorsInC, StayInCallsOfKrylovMethods) {
  const std::vector<double> zeros(size, 0);
  sptrsv_incomplete* incomplete = nullptr;
  sptrsv_matrix both{};
  sptrsv_factors* factors = nullptr;
  ASSERT_EQ(sptrsv_analyze_incomplete(&matrix, nullptr, nullptr, &incomplete), SPTRSV_SUCCESS);
  ASSERT_EQ(sptrsv_get_incomplete_factors(incomplete, &matrix, &both), SPTRSV_SUCCESS);
  ASSERT_EQ(sptrsv_analyze_factors(&both, nullptr, nullptr, nullptr, &factors), SPTRSV_SUCCESS);
  sptrsv_krylov_options options = sptrsv_default_krylov_options();
  for (const auto method : {SPTRSV_KRYLOV_CG, SPTRSV_KRYLOV_BICGSTAB, SPTRSV_KRYLOV_GMRES}) {
    int iterations[2] = {};
    for (const bool is_factored : {false, true}) {
      const std::string name = "method " + std::to_string(method) + (is_factored ? " with factors" : "");
      options.method = method;
      options.factors = is_factored ? factors : nullptr;
      sptrsv_krylov_result result{sizeof(result), SPTRSV_KRYLOV_BREAKDOWN, -1, -1};
      x = to_device(zeros);
      keeps(name,
            [&] { return sptrsv_solve_krylov(&matrix, &options, b.data(), x.data(), nullptr, &result); });
      // The matrix has more entries below the diagonal than above.
      EXPECT_EQ(result.reason,
                method == SPTRSV_KRYLOV_CG ? SPTRSV_KRYLOV_NOT_SYMMETRIC : SPTRSV_KRYLOV_CONVERGED)
          << name;
      iterations[is_factored ? 1 : 0] = result.iterations;
    }
    EXPECT_TRUE(method == SPTRSV_KRYLOV_CG || iterations[1] < iterations[0]) << iterations[1];
  }
  keeps_pending_error("refused method", [&] {
    std::vector<double> host(size);
    sptrsv_krylov_result result{sizeof(result), SPTRSV_KRYLOV_BREAKDOWN, -1, -1};
    EXPECT_EQ(sptrsv_solve_krylov(&matrix, &options, host.data(), x.data(), nullptr, &result),
              SPTRSV_WRONG_MEMORY_SPACE);
    sptrsv_matrix wrong = matrix;
    wrong.columns = wrong.rows = size - 1;  // with the indices of more columns
    wrong.entries -= 2;
    options.factors = nullptr;
    EXPECT_EQ(sptrsv_solve_krylov(&wrong, &options, b.data(), x.data(), nullptr, &result),
              SPTRSV_INDEX_OUT_OF_RANGE);
    EXPECT_EQ(sptrsv_last_error_row(), size - 2);
  });
  sptrsv_destroy_factors(factors);
  sptrsv_destroy_incomplete(incomplete);
}

}  // namespace
}  // namespace sptrsv::testing
