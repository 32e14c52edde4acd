// The interface of distributed solves: new values, status, errors, the plan.
#include "sptrsv/distributed.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "distributed/emulated_pes.hpp"

namespace sptrsv::testing {
namespace {

/// Calls body(solver, rank, part, device) on each PE for a lower triangle of 12 rows.
template <class Body>
void with_solvers(int pes, const policy::distributed& policy, const system_options& options, const Body& body,
                  const pattern& p = patterns::stencil_2d(3, 4)) {
  const auto a = make_matrix<double>(p, form{}).by_rows;
  emulated_pes devices(pes);
  devices.run([&](emulator_team& team, const auto&) {
    const int rank = team.rank();
    auto part = slice(a, rank, pes);
    auto solver = analyze(policy,
                          row_part<double>{part.first, part.rows, a.rows, part.offsets.data(),
                                           part.columns.data(), part.values.data()},
                          options, team, &devices.at(rank));
    body(solver, rank, part, devices.at(rank));
  });
}

/// Solves for b = 1 and returns the own rows of x.
template <class Solver>
std::vector<double> solve_ones(Solver& solver, std::int64_t rows, emulator::device& where, double first = 1) {
  const emulator::executor on(&where);
  buffer<double> b(static_cast<std::size_t>(rows), where.resource(), nullptr);
  std::vector<double> values(b.size(), 1);
  if (!values.empty()) {
    values.front() = first;
  }
  on.upload(b.data(), values.data(), b.bytes());
  solver.solve({b.data(), rows, 1, 1, rows}, {b.data(), rows, 1, 1, rows}, 1.0, &where);
  on.download(values.data(), b.data(), b.bytes());
  return values;
}

TEST(Distributed, AfterASolveThatFailsAPERefusesFurtherOnes) {
  with_solvers(1, {1}, {}, [](auto& solver, int, const auto& part, emulator::device& where) {
    const auto code = [&] {
      try {
        solve_ones(solver, part.rows, where);
      } catch (const error& e) {
        return e.code();
      }
      return errc::io_error;
    };
    EXPECT_EQ(code(), errc::io_error);  // it does not fail
    const emulator::executor on(&where);
    auto b = detail::upload_array(std::vector<double>(static_cast<std::size_t>(part.rows), 1).data(),
                                  part.rows, on, on.default_resource());
    where.calls_before_failure = 0;
    EXPECT_THROW(solver.solve({b.data(), part.rows, 1, 1, part.rows}, {b.data(), part.rows, 1, 1, part.rows},
                              1.0, &where),
                 error);
    where.calls_before_failure = -1;
    EXPECT_EQ(code(), errc::invalid_argument);
  });
}

TEST(Distributed, NewValuesReplaceTheOldOnes) {
  with_solvers(3, {3}, {}, [](auto& solver, int, const auto& part, emulator::device& where) {
    const auto x = solve_ones(solver, part.rows, where);
    auto doubled = part.values;
    for (double& v : doubled) {
      v *= 2;
    }
    solver.update_values(doubled, &where);
    const auto half = solve_ones(solver, part.rows, where);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(half[i], x[i] / 2);
    }
  });
}

TEST(Distributed, StatusIsTheSameOnAllPes) {
  with_solvers(2, {2}, {}, [](auto& solver, int rank, const auto& part, emulator::device& where) {
    solve_ones(solver, part.rows, where);
    EXPECT_TRUE(solver.status(&where).ok());
    // The first row of PE 1 is row 3 of 12.
    solve_ones(solver, part.rows, where, rank == 1 ? std::numeric_limits<double>::infinity() : 1);
    EXPECT_EQ(solver.status(&where).code, solve_status::kind::non_finite);
    EXPECT_EQ(solver.status(&where).row, 3);
    auto singular = part.values;
    if (rank == 1) {
      for (std::int32_t e = part.offsets[4]; e < part.offsets[5]; ++e) {  // row 7
        singular[static_cast<std::size_t>(e)] *= part.columns[static_cast<std::size_t>(e)] == 7 ? 0 : 1;
      }
    }
    solver.update_values(singular, &where);
    solve_ones(solver, part.rows, where);
    EXPECT_EQ(solver.status(&where).code, solve_status::kind::zero_pivot);
    EXPECT_EQ(solver.status(&where).row, 7);
    solver.update_values(part.values, &where);
    solve_ones(solver, part.rows, where);
    EXPECT_TRUE(solver.status(&where).ok());
  });
}

/// Values with which the inverse of a diagonal block grows too much are reported, until other values come.
TEST(Distributed, StatusReportsGrowth) {
  with_solvers(
      2, {2}, {},
      [](auto& solver, int, const auto& part, emulator::device& where) {
        auto grown = part.values;
        for (std::int64_t i = 0; i < part.rows; ++i) {
          for (std::int32_t e = part.offsets[static_cast<std::size_t>(i)];
               e < part.offsets[static_cast<std::size_t>(i) + 1]; ++e) {
            const bool is_pivot = part.columns[static_cast<std::size_t>(e)] == part.first + i;
            grown[static_cast<std::size_t>(e)] *= is_pivot ? 1 : 1e6;
          }
        }
        solver.update_values(grown, &where);
        solve_ones(solver, part.rows, where);
        EXPECT_EQ(solver.status(&where).code, solve_status::kind::growth);
        EXPECT_EQ(solver.status(&where).row, 0);
        solver.update_values(part.values, &where);
        solve_ones(solver, part.rows, where);
        EXPECT_TRUE(solver.status(&where).ok());
      },
      patterns::dense(12));
}

TEST(Distributed, ThePlanSaysWhatTheModelPredicts) {
  with_solvers(4, {}, {}, [](auto& solver, int, const auto&, emulator::device&) {
    EXPECT_NE(solver.plan().find(" supernodes, on 1 of 4 PEs; predicted "), std::string::npos)
        << solver.plan();
    EXPECT_NE(solver.plan().find("one PE is predicted to be fastest"), std::string::npos);
  });
}

TEST(Distributed, ThePlanSaysWhichGridOfPesThereIs) {
  policy::distributed policy{4, supernode_dealing::grid};
  policy.grid_rows = 2;
  policy.tree = pe_tree::binary;
  with_solvers(4, policy, {}, [](auto& solver, int, const auto& part, emulator::device& where) {
    EXPECT_NE(solver.plan().find("on 4 of 4 PEs, by subtrees, and over 2 x 2 PEs above them, binary trees; "),
              std::string::npos)
        << solver.plan();
    solve_ones(solver, part.rows, where);
    EXPECT_TRUE(solver.status(&where).ok());
  });
  policy.grid_rows = 3;
  EXPECT_THROW(with_solvers(4, policy, {}, [](auto&&...) {}), error);
  policy.grid_rows = -1;
  EXPECT_THROW(with_solvers(4, policy, {}, [](auto&&...) {}), error);
}

/// A chain of 12 rows, whose supernodes are dealt cyclically: each is one row, but for the last one.
TEST(Distributed, FactsCountMessages) {
  const auto a = make_matrix<double>(patterns::chain(12), form{}).by_rows;
  emulated_pes devices(2);
  std::vector<distributed_facts> facts(2);
  devices.run([&](emulator_team& team, const auto&) {
    auto part = slice(a, team.rank(), 2);
    const auto solver = analyze(policy::distributed{2, supernode_dealing::cyclic},
                                row_part<double>{part.first, part.rows, a.rows, part.offsets.data(),
                                                 part.columns.data(), part.values.data()},
                                {}, team, &devices.at(team.rank()));
    facts[static_cast<std::size_t>(team.rank())] = solver.facts();
  });
  for (const distributed_facts& f : facts) {
    EXPECT_EQ(f.pes, 2);
    EXPECT_EQ(f.sent_bytes, 8 * f.messages);
    EXPECT_GT(f.messages, 0);
    EXPECT_GE(f.device_bytes, 3u * 12 * sizeof(double));
  }
}

TEST(Distributed, WrongArgumentsAreRefused) {
  with_solvers(2, {2}, {}, [](auto& solver, int, const auto& part, emulator::device& where) {
    const auto code_of = [](const auto& call) {
      try {
        call();
      } catch (const error& e) {
        return e.code();
      }
      return errc::cuda_error;
    };
    const auto rows = part.rows;
    EXPECT_EQ(code_of([&] { solver.update_values(std::vector<double>(1), &where); }), errc::size_mismatch);
    EXPECT_EQ(code_of([&] {
                solver.solve({nullptr, rows + 1, 1, 1, 1}, {nullptr, rows, 1, 1, 1}, 1.0, &where);
              }),
              errc::size_mismatch);
    EXPECT_EQ(code_of([&] {
                solver.solve({nullptr, rows, 2, 1, 1}, {nullptr, rows, 2, 1, 1}, 1.0, &where);
              }),
              errc::too_many_rhs);
  });
  EXPECT_THROW(with_solvers(2, {3}, {}, [](auto&&...) {}), error);
  EXPECT_THROW(with_solvers(2, {-1}, {}, [](auto&&...) {}), error);
  EXPECT_THROW(with_solvers(2, {2}, {uplo::lower, diag::non_unit, op::none, 0}, [](auto&&...) {}), error);
}

}  // namespace
}  // namespace sptrsv::testing
