/* The C interface: all types, both storages, options, several right-hand sides, workspaces, status and
 * errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sptrsv.h"

static int failures = 0;

#define CHECK(condition)                                                               \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      printf("line %d: %s is false: %s\n", __LINE__, #condition, sptrsv_last_error()); \
      ++failures;                                                                      \
    }                                                                                  \
  } while (0)

static const int32_t offsets32[] = {0, 1, 3};
static const int32_t indices32[] = {0, 0, 1};
static const int64_t offsets64[] = {0, 1, 3};
static const int64_t indices64[] = {0, 0, 1};
static const double values[] = {2, 1, 4};

static sptrsv_matrix lower_of(sptrsv_value_type type, sptrsv_index_type index, const void* entries) {
  sptrsv_matrix a;
  a.storage = SPTRSV_CSR;
  a.value_type = type;
  a.index_type = index;
  a.rows = 2;
  a.columns = 2;
  a.entries = 3;
  a.offsets = index == SPTRSV_INT32 ? (const void*)offsets32 : (const void*)offsets64;
  a.indices = index == SPTRSV_INT32 ? (const void*)indices32 : (const void*)indices64;
  a.values = entries;
  return a;
}

static void solves_in_all_types(void) {
  const float f32[] = {2, 1, 4}, b_f32[] = {2, 9}, x_f32[] = {1, 2};
  const double b_f64[] = {2, 9}, x_f64[] = {1, 2};
  /* i x = b: the diagonal is imaginary. */
  const float c64[] = {0, 2, 1, 0, 0, 4}, b_c64[] = {0, 2, 1, 8}, x_c64[] = {1, 0, 2, 0};
  const double c128[] = {0, 2, 1, 0, 0, 4}, b_c128[] = {0, 2, 1, 8}, x_c128[] = {1, 0, 2, 0};
  const void* const entries[] = {f32, values, c64, c128};
  const void* const right_sides[] = {b_f32, b_f64, b_c64, b_c128};
  const void* const solutions[] = {x_f32, x_f64, x_c64, x_c128};
  const size_t bytes[] = {sizeof x_f32, sizeof x_f64, sizeof x_c64, sizeof x_c128};
  int type;
  int index;
  for (type = SPTRSV_FLOAT; type <= SPTRSV_COMPLEX_DOUBLE; ++type) {
    for (index = SPTRSV_INT32; index <= SPTRSV_INT64; ++index) {
      const sptrsv_matrix a = lower_of((sptrsv_value_type)type, (sptrsv_index_type)index, entries[type]);
      double x[4] = {0, 0, 0, 0};
      sptrsv_solver* solver;
      CHECK(sptrsv_analyze(&a, NULL, NULL, &solver) == SPTRSV_SUCCESS);
      CHECK(sptrsv_solve(solver, right_sides[type], x, NULL) == SPTRSV_SUCCESS);
      CHECK(memcmp(x, solutions[type], bytes[type]) == 0);
      sptrsv_destroy(solver);
    }
  }
}

static void takes_options_and_several_right_hand_sides(void) {
  /* The arrays by columns are the upper triangle; its transpose is the lower one. */
  sptrsv_matrix a = lower_of(SPTRSV_DOUBLE, SPTRSV_INT32, values);
  const sptrsv_options options = {SPTRSV_UPPER, SPTRSV_NON_UNIT, SPTRSV_TRANSPOSE, 2,
                                  "host_parallel workers=2"};
  const double alpha = 2;
  double b[] = {2, 4, 9, 18}; /* two vectors, row by row */
  double x[] = {0, 0, 0, 0};  /* two vectors, one after the other */
  const sptrsv_vectors from = {b, 2, 2, 1};
  const sptrsv_vectors to = {x, 2, 1, 2};
  const double singular[] = {2, 1, 0};
  sptrsv_solver* solver;
  sptrsv_workspace* workspace;
  sptrsv_info info;
  sptrsv_solve_status status;
  int64_t row;
  a.storage = SPTRSV_CSC;
  CHECK(sptrsv_analyze(&a, &options, NULL, &solver) == SPTRSV_SUCCESS);
  CHECK(sptrsv_make_workspace(solver, NULL, &workspace) == SPTRSV_SUCCESS);
  CHECK(sptrsv_solve_many(solver, &alpha, &from, &to, workspace, NULL) == SPTRSV_SUCCESS);
  CHECK(x[0] == 2 && x[1] == 4 && x[2] == 4 && x[3] == 8);
  CHECK(sptrsv_get_status(solver, workspace, NULL, &status, &row) == SPTRSV_SUCCESS);
  CHECK(status == SPTRSV_OK && row == -1);

  CHECK(sptrsv_update_values(solver, singular, 3, NULL) == SPTRSV_SUCCESS);
  CHECK(sptrsv_solve(solver, b, x, NULL) == SPTRSV_SUCCESS);
  CHECK(sptrsv_get_status(solver, NULL, NULL, &status, &row) == SPTRSV_SUCCESS);
  CHECK(status == SPTRSV_ZERO_PIVOT && row == 1);

  CHECK(sptrsv_get_info(solver, &info) == SPTRSV_SUCCESS);
  CHECK(strcmp(info.policy, "host_parallel") == 0 && info.rows == 2 && info.entries == 3);
  sptrsv_destroy_workspace(workspace);
  sptrsv_destroy(solver);
}

static void refuses_bad_input_with_a_text(void) {
  const int32_t no_diagonal[] = {0, 0, 0};
  sptrsv_matrix a = lower_of(SPTRSV_DOUBLE, SPTRSV_INT32, values);
  sptrsv_options options = {SPTRSV_LOWER, SPTRSV_NON_UNIT, SPTRSV_NONE, 1, "fast"};
  sptrsv_solver* solver;
  CHECK(sptrsv_analyze(&a, &options, NULL, &solver) == SPTRSV_INVALID_ARGUMENT);
  CHECK(solver == NULL);
  CHECK(strstr(sptrsv_last_error(), "there is no policy 'fast'; the policies are ") != NULL);
  CHECK(sptrsv_last_error_row() == -1);
  a.indices = no_diagonal;
  CHECK(sptrsv_analyze(&a, NULL, NULL, &solver) == SPTRSV_DUPLICATE_ENTRY);
  CHECK(sptrsv_last_error_row() == 1);
  a.value_type = (sptrsv_value_type)7;
  CHECK(sptrsv_analyze(&a, NULL, NULL, &solver) == SPTRSV_INVALID_ARGUMENT);
  CHECK(strcmp(sptrsv_last_error(), "7 is no sptrsv_value_type") == 0);
  CHECK(sptrsv_solve(NULL, values, NULL, NULL) == SPTRSV_INVALID_ARGUMENT);
  CHECK(sptrsv_analyze(NULL, NULL, NULL, &solver) == SPTRSV_INVALID_ARGUMENT);
}

int main(void) {
  CHECK(sptrsv_version() == SPTRSV_VERSION);
  CHECK(strstr(sptrsv_policy_names(), "host_serial") != NULL);
  solves_in_all_types();
  takes_options_and_several_right_hand_sides();
  refuses_bad_input_with_a_text();
  sptrsv_destroy(NULL);
  sptrsv_destroy_workspace(NULL);
  puts(failures == 0 ? "right" : "wrong");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
