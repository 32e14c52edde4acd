// The contract: one right-hand side, over all matrices, forms and scalings.
#pragma once

#include <algorithm>

#include "contract/contract_fixture.hpp"
#include "support/effort.hpp"

namespace sptrsv::testing {

template <class Types>
class solves : public contract<Types> {
 public:
  using contract<Types>::contract;
};

SPTRSV_TEST_P(solves, the_smallest_matrices_in_every_form) {
  std::size_t turn = 0;
  for (const pattern& p : patterns::smallest()) {
    for (const form& f : tried(all_forms(), turn++)) {
      this->check(p, f);
    }
  }
}

SPTRSV_TEST_P(solves, a_triangle_of_a_general_unsorted_matrix_in_every_form) {
  for (const form& f : tried(all_forms(content::general), 1)) {
    this->check(patterns::random(23, 2.5, 1), f);
  }
}

SPTRSV_TEST_P(solves, a_triangle_of_a_general_ascending_matrix_in_every_form) {
  for (const form& f : tried(all_forms(content::ascending), 2)) {
    this->check(patterns::random(30, 6, 1), f);
  }
}

SPTRSV_TEST_P(solves, sizes_around_a_warp_and_a_block) {
  const std::vector<pattern> all = patterns::small();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const form& f : this->forms_for(i)) {
      this->check(all[i], f);
    }
  }
}

SPTRSV_TEST_P(solves, matrices_many_blocks_deep) {
  const std::vector<pattern> all = patterns::deep();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const form& f : this->forms_for(i + 1)) {
      this->check(all[i], f);
    }
  }
}

SPTRSV_TEST_P(solves, with_b_scaled_by_alpha) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(70, 3, 2);
  const auto b = random_vector<value>(p.size, 3);
  for (const form& f : this->forms_for(2)) {
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f);
    for (const value alpha : {make_value<value>(2), make_value<value>(-0.375, 1.25), make_value<value>(1)}) {
      this->expect_solved(a, f, p.name, b, this->solve(solver, b, alpha), alpha);
    }
    for (const value& x : this->solve(solver, b, value(0))) {
      EXPECT_EQ(x, value(0)) << f.name();
    }
  }
}

SPTRSV_TEST_P(solves, in_place) {
  using value = typename TypeParam::value;
  const pattern p = patterns::stencil_2d(9, 10);
  for (const form& f : this->forms_for(3)) {
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f);
    const auto b = random_vector<value>(p.size, 4);
    const auto apart = this->solve(solver, b);
    auto both = this->where.upload(b);
    for (int i = 0; i < 2; ++i) {
      this->where.overwrite(both, b);
      solver.solve(both, both, this->where.stream());
      this->expect_repeated(solver, a, f, p.name, b, this->where.download(both), apart);
    }
  }
}

/// Stored diagonal entries of a unit triangle are ignored, even zeros and NaNs.
SPTRSV_TEST_P(solves, a_unit_diagonal_stored_or_not) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(60, 4, 5);
  const auto b = random_vector<value>(p.size, 6);
  for (form f : all_forms()) {
    if (f.diagonal != diag::unit) {
      continue;
    }
    const auto stored = this->make(p, f);
    auto ruined = stored;
    for (std::int64_t i = 0; i < p.size; ++i) {
      ruined.set(i, i, make_value<value>(std::numeric_limits<double>::quiet_NaN()));
    }
    f.stores_diagonal = false;
    const auto absent = this->make(p, f);

    auto with = this->analyze(stored, f);
    auto with_ruined = this->analyze(ruined, f);
    auto without = this->analyze(absent, f);
    const auto x = this->solve(with, b);
    this->expect_solved(stored, f, p.name, b, x);
    this->expect_repeated(without, absent, f, p.name, b, this->solve(without, b), x);
    this->expect_repeated(with_ruined, absent, f, p.name, b, this->solve(with_ruined, b), x);
    EXPECT_TRUE(with_ruined.status(this->where.stream()).ok()) << f.name();
  }
}

/// The transpose of a real matrix is its conjugate transpose; for a complex matrix they differ.
SPTRSV_TEST_P(solves, conjugation_matters_to_complex_matrices_only) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(40, 4, 8);
  const auto b = random_vector<value>(p.size, 9);
  for (const bool by_columns : {false, true}) {
    form f{uplo::lower, diag::non_unit, op::transpose, by_columns, content::triangle, true};
    const auto a = this->make(p, f);
    auto transposed = this->analyze(a, f);
    f.operation = op::conj_transpose;
    auto conjugated = this->analyze(a, f);
    const auto x = this->solve(transposed, b);
    const auto conjugated_x = this->solve(conjugated, b);
    if (is_complex<value>) {
      EXPECT_FALSE(same_bits(conjugated_x, x));
      this->expect_solved(a, f, p.name, b, conjugated_x);
    } else {
      this->expect_repeated(conjugated, a, f, p.name, b, conjugated_x, x);
    }
  }
}

/// A matrix of blocks has the solution of the matrix that it was made of, and the bits of its rows with all
/// zeros of the blocks.
SPTRSV_TEST_P(solves, matrices_of_blocks) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(60, 3, 4);
  const auto b = random_vector<value>(p.size, 5);
  std::size_t turn = 0;
  for (const std::int64_t block : {1, 2, 3, 5}) {
    for (form f : this->forms_for(++turn)) {
      f.by_columns = false;
      auto a = this->make(p, f);
      const auto blocks_of = [&](const auto& of) {
        auto made = to_bsr(of.by_rows, block, turn % 2 == 0 ? block_order::by_rows : block_order::by_columns);
        for (std::size_t row = 0; block == 5 && row + 1 < made.row_offsets.size(); ++row) {  // descending
          const auto begin = made.row_offsets[row];
          const auto end = made.row_offsets[row + 1];
          std::reverse(made.column_indices.begin() + begin, made.column_indices.begin() + end);
          std::reverse(made.values.begin() + 25 * begin, made.values.begin() + 25 * end);
          for (auto k = begin; k < end; ++k) {
            std::reverse(made.values.begin() + 25 * k, made.values.begin() + 25 * (k + 1));
          }
        }
        return made;
      };
      const auto stored = blocks_of(a);
      auto solver = this->policy().analyze(this->where.upload(stored), f.options(), this->where.stream());
      const auto x = this->solve(solver, b);
      this->expect_solved(a, f, p.name, b, x);
      typename TestFixture::matrix rows;
      rows.by_rows = to_csr(stored);
      auto by_rows = this->analyze(rows, f);
      this->expect_repeated(by_rows, rows, f, p.name, b, this->solve(by_rows, b), x);

      for (std::size_t i = 0; i < a.values().size(); ++i) {
        a.values()[i] *= make_value<value>(static_cast<double>(1 + i % 3));
      }
      solver.update_values(this->where.upload(blocks_of(a).values), this->where.stream());
      this->expect_solved(a, f, p.name, b, this->solve(solver, b));
    }
  }
}

SPTRSV_TESTS(solves, the_smallest_matrices_in_every_form,
             a_triangle_of_a_general_unsorted_matrix_in_every_form,
             a_triangle_of_a_general_ascending_matrix_in_every_form, sizes_around_a_warp_and_a_block,
             matrices_many_blocks_deep, with_b_scaled_by_alpha, in_place, a_unit_diagonal_stored_or_not,
             conjugation_matters_to_complex_matrices_only, matrices_of_blocks);

}  // namespace sptrsv::testing
