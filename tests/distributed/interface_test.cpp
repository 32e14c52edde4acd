// The interface of distributed solves: new values, status, errors, the plan.
#include "sptrsv/distributed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
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
    const auto code = [&]() -> std::optional<errc> {
      try {
        solve_ones(solver, part.rows, where);
      } catch (const error& e) {
        return e.code();
      }
      return std::nullopt;
    };
    EXPECT_EQ(code(), std::nullopt);
    const emulator::executor on(&where);
    auto b = detail::upload_array(std::vector<double>(static_cast<std::size_t>(part.rows), 1).data(),
                                  part.rows, on, on.default_resource());
    where.calls_before_failure = 0;
    EXPECT_THROW(solver.solve({b.data(), part.rows, 1, 1, part.rows}, {b.data(), part.rows, 1, 1, part.rows},
                              1.0, &where),
                 error);
    where.calls_before_failure = -1;
    EXPECT_EQ(code(), errc::peer_failed);
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
    const emulator::executor on(&where);
    buffer<double> memory(static_cast<std::size_t>(2 * rows), on.default_resource(), nullptr);
    EXPECT_EQ(
        code_of([&] {
          solver.solve({memory.data(), rows, 2, 1, rows}, {memory.data(), rows, 2, 1, rows}, 1.0, &where);
        }),
        errc::too_many_rhs);
  });
  EXPECT_THROW(with_solvers(2, {3}, {}, [](auto&&...) {}), error);
  EXPECT_THROW(with_solvers(2, {-1}, {}, [](auto&&...) {}), error);
  EXPECT_THROW(with_solvers(2, {2}, {uplo::lower, diag::non_unit, op::none, 0}, [](auto&&...) {}), error);
}

/// If one PE passes wrong operands, all throw, and nothing is enqueued: else the kernels of the others would
/// wait for its kernel for ever.
TEST(Distributed, WrongOperandsOfOnePeAreRefusedOnAll) {
  system_options options;
  options.max_rhs = 2;
  with_solvers(2, {2}, options, [](auto& solver, int rank, const auto& part, emulator::device& where) {
    const std::int64_t rows = part.rows;
    const emulator::executor on(&where);
    buffer<double> memory(static_cast<std::size_t>(3 * rows), on.default_resource(), nullptr);
    std::vector<double> on_host(memory.size());
    double* const good = memory.data();
    const dense_view<double> right(good, rows, 1, 1, rows);
    const auto refuse = [&](const dense_view<double>& b, const dense_view<double>& x, errc code,
                            const std::string& text) {
      try {
        solver.solve(rank == 1 ? b : right, rank == 1 ? x : right, 1.0, &where);
        ADD_FAILURE() << "not refused: " << text;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), code) << e.what();
        EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
      }
    };
    refuse({nullptr, rows, 1, 1, rows}, right, errc::invalid_argument, "PE 1: b is a null pointer");
    refuse(right, {nullptr, rows, 1, 1, rows}, errc::invalid_argument, "PE 1: x is a null pointer");
    refuse({on_host.data(), rows, 1, 1, rows}, right, errc::wrong_memory_space, "PE 1: b lies where");
    refuse(right, {on_host.data(), rows, 1, 1, rows}, errc::wrong_memory_space, "PE 1: x lies where");
    refuse({good, rows + 1, 1, 1, rows}, right, errc::size_mismatch, "PE 1: b has");
    refuse(right, {good, rows - 1, 1, 1, rows}, errc::size_mismatch, "PE 1: x has");
    refuse({good, rows, 2, 1, rows}, right, errc::size_mismatch, "PE 1: b has 2 columns and x has 1");
    refuse({good, rows, 2, 1, rows}, {good, rows, 2, 1, rows - 1}, errc::invalid_argument, "PE 1: x of");
    refuse({good, rows, 2, 1, rows - 1}, {good, rows, 2, 1, rows}, errc::invalid_argument, "PE 1: b of");
    refuse(right, {good, rows, 1, 0, rows}, errc::invalid_argument, "leading dimension");
    refuse({good, rows, -1, 1, rows}, {good, rows, -1, 1, rows}, errc::size_mismatch, "negative");
    refuse({good, rows, 3, 1, rows}, {good, rows, 3, 1, rows}, errc::too_many_rhs, "PE 1: 3 right-hand");
    refuse({good, rows, 2, 1, rows}, {good, rows, 2, 1, rows}, errc::size_mismatch,
           "PE 1 has 2 right-hand sides and PE 0 has 1");
    refuse({good, rows, 0, 1, rows}, {good, rows, 0, 1, rows}, errc::size_mismatch,
           "PE 1 has 0 right-hand sides and PE 0 has 1");
    for (const double v : solve_ones(solver, rows, where)) {  // no PE has fallen out of step
      EXPECT_TRUE(std::isfinite(v));
    }
    EXPECT_TRUE(solver.status(&where).ok());
  });
}

/// After a solve that has failed on one PE, all refuse the next one.
TEST(Distributed, ASolveThatFailsOnOnePeIsTheLastOneOnAll) {
  with_solvers(2, {2}, {}, [](auto& solver, int rank, const auto& part, emulator::device& where) {
    const emulator::executor on(&where);
    buffer<double> memory(static_cast<std::size_t>(part.rows), on.default_resource(), nullptr);
    const dense_view<double> x(memory.data(), part.rows, 1, 1, part.rows);
    where.calls_before_failure = 0;  // on both, so that no kernel waits for another one
    EXPECT_THROW(solver.solve(x, x, 1.0, &where), error);
    where.calls_before_failure = -1;
    try {
      solver.solve(x, x, 1.0, &where);
      ADD_FAILURE() << "PE " << rank << " solves again";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::peer_failed) << e.what();
      EXPECT_NE(std::string(e.what()).find(" has left the team"), std::string::npos) << e.what();
    }
  });
}

/// The arrays of a part are in host memory.
TEST(Distributed, ArraysOfAPartThatAreMissingAreRefusedOnAllPes) {
  const auto a = make_matrix<double>(patterns::stencil_2d(3, 4), form{}).by_rows;
  emulated_pes devices(2);
  devices.run([&](emulator_team& team, const auto&) {
    auto part = slice(a, team.rank(), 2);
    const row_part<double> right{part.first,          part.rows,           a.rows,
                                 part.offsets.data(), part.columns.data(), part.values.data()};
    const auto refuse = [&](const row_part<double>& wrong, errc code, const std::string& text) {
      try {
        analyze(policy::distributed{}, team.rank() == 1 ? wrong : right, {}, team, &devices.at(team.rank()));
        ADD_FAILURE() << "not refused: " << text;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), code) << e.what();
        EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
      }
    };
    row_part<double> wrong = right;
    wrong.row_offsets = nullptr;
    refuse(wrong, errc::invalid_argument, "the array of offsets is a null pointer");
    wrong = right;
    wrong.column_indices = nullptr;
    refuse(wrong, errc::invalid_argument, "the array of indices is a null pointer");
    wrong = right;
    wrong.values = nullptr;
    refuse(wrong, errc::invalid_argument, "the array of values is a null pointer");
    wrong = right;
    wrong.rows = -1;
    refuse(wrong, errc::size_mismatch, "do not follow");
    auto solver = analyze(policy::distributed{}, right, {}, team, &devices.at(team.rank()));
    const std::size_t entries = part.values.size();
    try {
      const double* const values = team.rank() == 1 ? nullptr : part.values.data();
      solver.update_values(span<const double>(values, entries), &devices.at(team.rank()));
      ADD_FAILURE() << "null values";
    } catch (const error& e) {
      EXPECT_EQ(std::string(e.what()), "PE 1: the array of values is a null pointer");
    }
    solve_ones(solver, part.rows, devices.at(team.rank()));
    EXPECT_TRUE(solver.status(&devices.at(team.rank())).ok());
  });
}

}  // namespace
}  // namespace sptrsv::testing
