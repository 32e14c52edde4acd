// cuSPARSE on the arrays of A: how transposition, triangle and diagonal are described to it.
#include "gpu/gpu_cusparse.cuh"

namespace sptrsv::testing {

template <class Types>
class cusparse_on_stored_arrays : public gpu_suite<Types> {
 public:
  using gpu_suite<Types>::gpu_suite;
  using typename contract<Types>::value_type;

  void check_all(const std::vector<pattern>& all, const std::vector<form>& forms) {
    for (const form& f : forms) {
      for (const pattern& p : all) {
        this->check(p, f);
      }
    }
  }
};
using stored_cases =
    case_list<suite_case<gpu_target, cusparse_as_stored, float, std::int32_t, std::int32_t>,
              suite_case<gpu_target, cusparse_as_stored, double, std::int64_t, std::int64_t>,
              suite_case<gpu_target, cusparse_as_stored, std::complex<float>, std::int64_t, std::int64_t>,
              suite_case<gpu_target, cusparse_as_stored, std::complex<double>, std::int32_t, std::int32_t>>;

SPTRSV_TEST_P(cusparse_on_stored_arrays, a_triangle_in_every_form) {
  this->check_all({patterns::diagonal(0), patterns::diagonal(1), patterns::chain(33), patterns::dense(33),
                   patterns::random(129, 8, 3), patterns::arrow_row(130), patterns::stencil_2d(11, 12)},
                  all_forms());
}

SPTRSV_TEST_P(cusparse_on_stored_arrays, a_triangle_of_a_general_unsorted_matrix_in_every_form) {
  this->check_all({patterns::random(23, 2.5, 1), patterns::random(129, 8, 3)}, all_forms(content::general));
}

SPTRSV_TEST_P(cusparse_on_stored_arrays, several_right_hand_sides_in_every_form) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(129, 8, 3);
  for (const form& f : all_forms()) {
    const auto a = this->make(p, f);
    auto solver = this->analyze(a, f, 4);
    for (const std::int64_t columns : {4, 2}) {
      const layout shape = column_major(p.size, columns, 3);
      const auto b = random_vector<value>(static_cast<std::int64_t>(shape.extent), 3);
      this->expect_solved(a, f, p.name, shape, b, this->solve(solver, shape, b));
    }
  }
}

SPTRSV_TEST_P(cusparse_on_stored_arrays, new_values_in_every_form) {
  using value = typename TypeParam::value;
  const pattern p = patterns::random(60, 4, 2);
  const auto b = random_vector<value>(p.size, 3);
  const layout three = column_major(p.size, 3);
  const auto several = random_vector<value>(static_cast<std::int64_t>(three.extent), 4);
  for (const form& f : all_forms()) {
    auto a = this->make(p, f);
    auto solver = this->analyze(a, f, 3);
    a.values() = this->make(p, f, 77).values();
    solver.update_values(this->where.upload(a.values()), this->where.stream());
    this->expect_solved(a, f, p.name, b, this->solve(solver, b));
    this->expect_solved(a, f, p.name, three, several, this->solve(solver, three, several));
  }
}

SPTRSV_TESTS(cusparse_on_stored_arrays, a_triangle_in_every_form,
             a_triangle_of_a_general_unsorted_matrix_in_every_form, several_right_hand_sides_in_every_form,
             new_values_in_every_form);
SPTRSV_TEST_POLICIES(gpu, cusparse_on_stored_arrays, stored_cases);

}  // namespace sptrsv::testing
