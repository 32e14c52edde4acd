/* The C interface: all types, both storages, options, several right-hand sides, workspaces, status and
 * errors. */
#include <stddef.h>
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
  const sptrsv_options options = {
      sizeof options, SPTRSV_UPPER, SPTRSV_NON_UNIT, SPTRSV_TRANSPOSE, 2, "host_parallel workers=2", 0};
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
  info.size = sizeof info;
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

/* Three blocks of 2 x 2; what lies above the diagonal is ignored. */
static void takes_matrices_of_blocks(void) {
  static const int32_t offsets[] = {0, 1, 3}, indices[] = {0, 0, 1};
  static const double by_rows[] = {1, 9, 2, 1, 1, 0, 0, 1, 2, 9, 0, 4};
  static const double by_columns[] = {1, 2, 9, 1, 1, 0, 0, 1, 2, 0, 9, 4};
  sptrsv_matrix a = {SPTRSV_BSR, SPTRSV_DOUBLE, SPTRSV_INT32, 4, 4, 12, offsets, indices, by_rows};
  sptrsv_options options = {sizeof options, SPTRSV_LOWER, SPTRSV_NON_UNIT, SPTRSV_NONE, 1, NULL, 2};
  const double b[] = {1, 3, 3, 9};
  double x[4];
  sptrsv_solver* solver;
  sptrsv_incomplete* incomplete;
  int turn;
  for (turn = 0; turn < 2; ++turn) {
    CHECK(sptrsv_analyze(&a, &options, NULL, &solver) == SPTRSV_SUCCESS);
    CHECK(sptrsv_solve(solver, b, x, NULL) == SPTRSV_SUCCESS);
    CHECK(x[0] == 1 && x[1] == 1 && x[2] == 1 && x[3] == 2);
    sptrsv_destroy(solver);
    a.storage = SPTRSV_BSR_BY_COLUMNS;
    a.values = by_columns;
  }
  CHECK(sptrsv_analyze(&a, NULL, NULL, &solver) == SPTRSV_INVALID_ARGUMENT); /* no block size */
  options.block_size = 3;
  CHECK(sptrsv_analyze(&a, &options, NULL, &solver) == SPTRSV_INVALID_ARGUMENT);
  CHECK(sptrsv_analyze_incomplete(&a, NULL, NULL, &incomplete) == SPTRSV_UNSUPPORTED);
}

/* A = L U = (1 0; 2 1) (3 1; 0 4) = (3 1; 6 6), in all types of values. */
static void applies_factors_in_all_types(void) {
  static const int32_t offsets[] = {0, 2, 4}, indices[] = {0, 1, 0, 1};
  const float f32[] = {3, 1, 2, 4}, c64[] = {3, 0, 1, 0, 2, 0, 4, 0};
  const double f64[] = {3, 1, 2, 4}, c128[] = {3, 0, 1, 0, 2, 0, 4, 0};
  const float b_f32[] = {4, 12}, x_f32[] = {1, 1}, b_c64[] = {4, 0, 12, 0}, x_c64[] = {1, 0, 1, 0};
  const double b_f64[] = {4, 12}, x_f64[] = {1, 1}, b_c128[] = {4, 0, 12, 0}, x_c128[] = {1, 0, 1, 0};
  const void* const entries[] = {f32, f64, c64, c128};
  const void* const right_sides[] = {b_f32, b_f64, b_c64, b_c128};
  const void* const solutions[] = {x_f32, x_f64, x_c64, x_c128};
  const size_t bytes[] = {sizeof x_f32, sizeof x_f64, sizeof x_c64, sizeof x_c128};
  int type;
  for (type = SPTRSV_FLOAT; type <= SPTRSV_COMPLEX_DOUBLE; ++type) {
    const sptrsv_matrix a = {SPTRSV_CSR,   (sptrsv_value_type)type, SPTRSV_INT32, 2, 2, 4, offsets, indices,
                             entries[type]};
    double x[4] = {0, 0, 0, 0};
    const sptrsv_vectors from = {(void*)right_sides[type], 1, 1, 2};
    const sptrsv_vectors to = {x, 1, 1, 2};
    sptrsv_factors* factors;
    CHECK(sptrsv_analyze_factors(&a, NULL, NULL, NULL, &factors) == SPTRSV_SUCCESS);
    CHECK(sptrsv_apply(factors, &from, &to, NULL, NULL) == SPTRSV_SUCCESS);
    CHECK(memcmp(x, solutions[type], bytes[type]) == 0);
    sptrsv_destroy_factors(factors);
  }
}

static void applies_factors_of_two_matrices_with_orders(void) {
  static const int64_t first_offsets[] = {0, 1, 1}, first_indices[] = {1}; /* by columns */
  static const int64_t second_offsets[] = {0, 1, 3}, second_indices[] = {0, 0, 1};
  static const int64_t order[] = {1, 0};
  static const double first_values[] = {2}, second_values[] = {3, 1, 4}, singular[] = {3, 1, 0};
  const sptrsv_matrix first = {SPTRSV_CSC, SPTRSV_DOUBLE, SPTRSV_INT64,  2,           2,
                               1,          first_offsets, first_indices, first_values};
  sptrsv_matrix second = {SPTRSV_CSC,     SPTRSV_DOUBLE,  SPTRSV_INT64, 2, 2, 3,
                          second_offsets, second_indices, second_values};
  double b[] = {12, 4}, b_transposed[] = {9, 7}, x[] = {0, 0};
  const sptrsv_vectors from = {b, 1, 1, 2}, from_transposed = {b_transposed, 1, 1, 2}, to = {x, 1, 1, 2};
  sptrsv_factors_options options = sptrsv_lu_options();
  sptrsv_factors* factors;
  sptrsv_workspace* workspace;
  sptrsv_solver* solver;
  sptrsv_workspace* of_solver;
  sptrsv_info info;
  sptrsv_solve_status status;
  sptrsv_factor_part part;
  int64_t row;
  options.row_order = order;
  options.transposed = SPTRSV_TRANSPOSE;
  options.policy = "host_serial";
  info.size = sizeof info;
  CHECK(sptrsv_analyze_factors(&first, &second, &options, NULL, &factors) == SPTRSV_SUCCESS);
  CHECK(sptrsv_apply(factors, &from, &to, NULL, NULL) == SPTRSV_SUCCESS);
  CHECK(x[0] == 1 && x[1] == 1);
  CHECK(sptrsv_make_factors_workspace(factors, NULL, &workspace) == SPTRSV_SUCCESS);
  CHECK(sptrsv_apply_transpose(factors, &from_transposed, &to, workspace, NULL) == SPTRSV_SUCCESS);
  CHECK(x[0] == 1 && x[1] == 1);
  CHECK(sptrsv_get_factors_info(factors, 3, &info) == SPTRSV_SUCCESS);
  CHECK(strcmp(info.policy, "host_serial") == 0 && info.rows == 2);
  CHECK(sptrsv_get_factors_info(factors, 4, &info) == SPTRSV_INVALID_ARGUMENT);

  CHECK(sptrsv_update_factors(factors, first_values, 1, singular, 3, NULL) == SPTRSV_SUCCESS);
  CHECK(sptrsv_apply(factors, &from, &to, NULL, NULL) == SPTRSV_SUCCESS);
  CHECK(sptrsv_get_factors_status(factors, NULL, NULL, &status, &part, &row) == SPTRSV_SUCCESS);
  CHECK(status == SPTRSV_ZERO_PIVOT && part == SPTRSV_SECOND && row == 1);
  CHECK(sptrsv_get_factors_status(factors, workspace, NULL, &status, NULL, NULL) == SPTRSV_SUCCESS);
  CHECK(status == SPTRSV_OK);

  CHECK(sptrsv_analyze(&second, NULL, NULL, &solver) == SPTRSV_SUCCESS);
  CHECK(sptrsv_make_workspace(solver, NULL, &of_solver) == SPTRSV_SUCCESS);
  CHECK(sptrsv_apply(factors, &from, &to, of_solver, NULL) == SPTRSV_INVALID_ARGUMENT);
  sptrsv_destroy_workspace(of_solver);
  sptrsv_destroy(solver);
  sptrsv_destroy_workspace(workspace);
  sptrsv_destroy_factors(factors);

  second.storage = SPTRSV_CSR;
  CHECK(sptrsv_analyze_factors(&first, &second, NULL, NULL, &factors) == SPTRSV_INVALID_ARGUMENT);
  CHECK(factors == NULL);
  CHECK(sptrsv_apply(NULL, &from, &to, NULL, NULL) == SPTRSV_INVALID_ARGUMENT);
  sptrsv_destroy_factors(NULL);
}

/* A = (4 2; 2 5) = L U = (1 0; 1/2 1) (4 2; 0 4) = L L^T with L = (2 0; 1 2). */
static void factorises_incompletely(void) {
  static const int32_t offsets[] = {0, 2, 4}, indices[] = {0, 1, 0, 1};
  static const double a_values[] = {4, 2, 2, 5}, twice[] = {8, 4, 4, 10}, singular[] = {0, 2, 2, 5};
  const sptrsv_matrix a = {SPTRSV_CSR, SPTRSV_DOUBLE, SPTRSV_INT32, 2, 2, 4, offsets, indices, a_values};
  sptrsv_incomplete_options cholesky = {sizeof cholesky, SPTRSV_INCOMPLETE_CHOLESKY, 1, 0, 0, 0};
  double b[] = {6, 7}, x[] = {0, 0};
  const sptrsv_vectors from = {b, 1, 1, 2}, to = {x, 1, 1, 2};
  sptrsv_incomplete* lu;
  sptrsv_incomplete* with_fill;
  sptrsv_matrix both;
  sptrsv_factors* factors;
  sptrsv_solve_status status;
  int64_t row;
  int64_t boosted;
  CHECK(sptrsv_analyze_incomplete(&a, NULL, NULL, &lu) == SPTRSV_SUCCESS);
  CHECK(sptrsv_get_incomplete_factors(lu, &a, &both) == SPTRSV_SUCCESS);
  CHECK(sptrsv_analyze_factors(&both, NULL, NULL, NULL, &factors) == SPTRSV_SUCCESS);
  CHECK(sptrsv_apply(factors, &from, &to, NULL, NULL) == SPTRSV_SUCCESS);
  CHECK(x[0] == 1 && x[1] == 1);
  CHECK(sptrsv_factorize(lu, twice, 4, NULL) == SPTRSV_SUCCESS);
  CHECK(sptrsv_update_factors(factors, both.values, both.entries, NULL, 0, NULL) == SPTRSV_SUCCESS);
  CHECK(sptrsv_apply(factors, &from, &to, NULL, NULL) == SPTRSV_SUCCESS);
  CHECK(x[0] == 0.5 && x[1] == 0.5);
  CHECK(sptrsv_factorize(lu, singular, 4, NULL) == SPTRSV_SUCCESS);
  CHECK(sptrsv_get_incomplete_status(lu, NULL, &status, &row, &boosted) == SPTRSV_SUCCESS);
  CHECK(status == SPTRSV_ZERO_PIVOT && row == 0 && boosted == 0);
  CHECK(sptrsv_factorize(lu, singular, 3, NULL) == SPTRSV_SIZE_MISMATCH);
  sptrsv_destroy_factors(factors);
  sptrsv_destroy_incomplete(lu);

  CHECK(sptrsv_analyze_incomplete(&a, &cholesky, NULL, &with_fill) == SPTRSV_SUCCESS);
  CHECK(sptrsv_get_incomplete_factors(with_fill, &a, &both) == SPTRSV_SUCCESS);
  CHECK(both.entries == 3 && ((const double*)both.values)[2] == 2);
  both.index_type = SPTRSV_INT64;
  CHECK(sptrsv_get_incomplete_factors(with_fill, &both, &both) == SPTRSV_INVALID_ARGUMENT);
  sptrsv_destroy_incomplete(with_fill);
  cholesky.fill_level = -1;
  CHECK(sptrsv_analyze_incomplete(&a, &cholesky, NULL, &with_fill) == SPTRSV_INVALID_ARGUMENT);
  CHECK(with_fill == NULL);
  sptrsv_destroy_incomplete(NULL);
}

static void solves_batches(void) {
  /* Three systems with the pattern of lower_of; the values of the last are a multiple. */
  const double all[] = {2, 1, 4, 4, 2, 8, 0, 1, 4};
  const double b[] = {2, 9, 4, 18, 1, 1};
  const double alpha = 2;
  double x[6];
  const sptrsv_batch_options systems = {sizeof systems, 3, 0, 0};
  sptrsv_batch_options two = {sizeof two, 2, 3, 0};
  const sptrsv_options options = {
      sizeof options, SPTRSV_LOWER, SPTRSV_NON_UNIT, SPTRSV_NONE, 1, "host_serial", 0};
  const sptrsv_batch_vectors from = {(void*)b, 1, 1, 0, 2};
  const sptrsv_batch_vectors to = {x, 1, 1, 0, 2};
  sptrsv_matrix a = lower_of(SPTRSV_DOUBLE, SPTRSV_INT32, all);
  sptrsv_batch* batch;
  sptrsv_solve_status status;
  sptrsv_info info;
  int64_t system = 0;
  int64_t row = 0;
  info.size = sizeof info;
  CHECK(sptrsv_analyze_batch(&a, &systems, NULL, NULL, &batch) == SPTRSV_SUCCESS);
  CHECK(sptrsv_solve_batch(batch, NULL, &from, &to, NULL) == SPTRSV_SUCCESS);
  CHECK(x[0] == 1 && x[1] == 2 && x[2] == 1 && x[3] == 2);
  CHECK(sptrsv_get_batch_status(batch, NULL, &status, &system, &row) == SPTRSV_SUCCESS);
  CHECK(status == SPTRSV_ZERO_PIVOT && system == 2 && row == 0);
  CHECK(sptrsv_get_batch_info(batch, &info) == SPTRSV_SUCCESS && info.rows == 2 && info.entries == 3);
  CHECK(sptrsv_update_batch(batch, all, 8, NULL) == SPTRSV_SIZE_MISMATCH);
  sptrsv_destroy_batch(batch);

  CHECK(sptrsv_analyze_batch(&a, &two, NULL, NULL, &batch) == SPTRSV_SUCCESS);
  CHECK(sptrsv_update_batch(batch, all, 6, NULL) == SPTRSV_SUCCESS);
  CHECK(sptrsv_solve_batch(batch, &alpha, &from, &to, NULL) == SPTRSV_SUCCESS);
  CHECK(x[0] == 2 && x[1] == 4 && x[2] == 2 && x[3] == 4);
  CHECK(sptrsv_get_batch_status(batch, NULL, &status, NULL, NULL) == SPTRSV_SUCCESS && status == SPTRSV_OK);
  sptrsv_destroy_batch(batch);

  CHECK(sptrsv_analyze_batch(&a, &systems, &options, NULL, &batch) == SPTRSV_INVALID_ARGUMENT);
  CHECK(batch == NULL);
  two.value_stride = 2;
  CHECK(sptrsv_analyze_batch(&a, &two, NULL, NULL, &batch) == SPTRSV_INVALID_ARGUMENT);
  two.systems = -1;
  CHECK(sptrsv_analyze_batch(&a, &two, NULL, NULL, &batch) == SPTRSV_INVALID_ARGUMENT);
  CHECK(sptrsv_analyze_batch(&a, NULL, NULL, NULL, &batch) == SPTRSV_INVALID_ARGUMENT);
  sptrsv_destroy_batch(NULL);
}

/* The tridiagonal matrix (-1 2 -1) of `rows` rows, in arrays of the caller of 3 * rows elements. */
static sptrsv_matrix line_of(int32_t rows, int32_t* offsets, int32_t* indices, double* entries) {
  sptrsv_matrix a = {SPTRSV_CSR, SPTRSV_DOUBLE, SPTRSV_INT32, 0, 0, 0, NULL, NULL, NULL};
  int32_t i;
  int32_t j;
  offsets[0] = 0;
  for (i = 0; i < rows; ++i) {
    for (j = i - 1; j <= i + 1; ++j) {
      if (j >= 0 && j < rows) {
        indices[a.entries] = j;
        entries[a.entries++] = i == j ? 2 : -1;
      }
    }
    offsets[i + 1] = (int32_t)a.entries;
  }
  a.rows = a.columns = rows;
  a.offsets = offsets;
  a.indices = indices;
  a.values = entries;
  return a;
}

/* Returns whether x is the vector of `of` everywhere, to 1e-6. */
static int is_all(const double* x, int32_t rows, double of) {
  int32_t i;
  for (i = 0; i < rows; ++i) {
    if (!(x[i] > of - 1e-6 && x[i] < of + 1e-6)) {
      return 0;
    }
  }
  return 1;
}

#define KRYLOV_ROWS 50
static void solves_by_krylov_methods(void) {
  int32_t offsets[KRYLOV_ROWS + 1], indices[3 * KRYLOV_ROWS];
  double entries[3 * KRYLOV_ROWS], b[KRYLOV_ROWS] = {1}, x[KRYLOV_ROWS];
  const sptrsv_matrix a = line_of(KRYLOV_ROWS, offsets, indices, entries);
  sptrsv_krylov_options options = sptrsv_default_krylov_options();
  sptrsv_krylov_result result = {sizeof result, SPTRSV_KRYLOV_BREAKDOWN, -1, -1};
  sptrsv_incomplete* incomplete;
  sptrsv_matrix both;
  sptrsv_factors* factors;
  sptrsv_solver* solver;
  int method;
  int with;
  b[KRYLOV_ROWS - 1] = 1; /* x is 1 */
  CHECK(sptrsv_analyze_incomplete(&a, NULL, NULL, &incomplete) == SPTRSV_SUCCESS);
  CHECK(sptrsv_get_incomplete_factors(incomplete, &a, &both) == SPTRSV_SUCCESS);
  CHECK(sptrsv_analyze_factors(&both, NULL, NULL, NULL, &factors) == SPTRSV_SUCCESS);
  CHECK(sptrsv_analyze(&a, NULL, NULL, &solver) == SPTRSV_SUCCESS);

  memset(x, 0, sizeof x);
  CHECK(sptrsv_solve_krylov(&a, NULL, b, x, NULL, &result) == SPTRSV_SUCCESS);
  CHECK(result.reason == SPTRSV_KRYLOV_CONVERGED && result.iterations == KRYLOV_ROWS / 2);
  CHECK(result.residual <= 1e-8 && is_all(x, KRYLOV_ROWS, 1));
  CHECK(sptrsv_solve_krylov(&a, NULL, b, x, NULL, &result) == SPTRSV_SUCCESS && result.iterations == 0);

  options.restart = KRYLOV_ROWS;
  for (method = SPTRSV_KRYLOV_CG; method <= SPTRSV_KRYLOV_GMRES; ++method) {
    for (with = 0; with < 3; ++with) {
      options.method = (sptrsv_krylov_method)method;
      options.factors = with == 1 ? factors : NULL;
      options.solver = with == 2 && method != SPTRSV_KRYLOV_CG ? solver : NULL; /* no symmetric M */
      memset(x, 0, sizeof x);
      CHECK(sptrsv_solve_krylov(&a, &options, b, x, NULL, &result) == SPTRSV_SUCCESS);
      CHECK(result.reason == SPTRSV_KRYLOV_CONVERGED && is_all(x, KRYLOV_ROWS, 1));
      CHECK(with != 1 || result.iterations == 1); /* the factors are complete */
    }
  }

  /* Only conjugate gradients see that a matrix is not symmetric, and only GMRES has cycles, which are short.
   */
  entries[1] = -1.5;
  options.factors = NULL;
  options.solver = NULL;
  options.restart = 1;
  options.max_iterations = 200;
  for (method = SPTRSV_KRYLOV_CG; method <= SPTRSV_KRYLOV_GMRES; ++method) {
    static const sptrsv_krylov_reason expected[] = {SPTRSV_KRYLOV_NOT_SYMMETRIC, SPTRSV_KRYLOV_CONVERGED,
                                                    SPTRSV_KRYLOV_ITERATION_LIMIT};
    options.method = (sptrsv_krylov_method)method;
    memset(x, 0, sizeof x);
    CHECK(sptrsv_solve_krylov(&a, &options, b, x, NULL, &result) == SPTRSV_SUCCESS);
    CHECK(result.reason == expected[method]);
  }
  entries[1] = -1;

  /* The limit and the tolerances; a vector that is not finite. */
  options = sptrsv_default_krylov_options();
  options.max_iterations = 3;
  memset(x, 0, sizeof x);
  CHECK(sptrsv_solve_krylov(&a, &options, b, x, NULL, &result) == SPTRSV_SUCCESS);
  CHECK(result.reason == SPTRSV_KRYLOV_ITERATION_LIMIT && result.iterations == 3 && result.residual > 1e-8);
  options.relative_tolerance = 0;
  options.absolute_tolerance = 2;
  memset(x, 0, sizeof x);
  CHECK(sptrsv_solve_krylov(&a, &options, b, x, NULL, &result) == SPTRSV_SUCCESS);
  CHECK(result.reason == SPTRSV_KRYLOV_CONVERGED && result.iterations == 0 && result.residual == 1);
  b[0] = b[0] / 0.0 * 0;
  CHECK(sptrsv_solve_krylov(&a, NULL, b, x, NULL, &result) == SPTRSV_SUCCESS);
  CHECK(result.reason == SPTRSV_KRYLOV_NOT_FINITE && result.iterations == 0);
  sptrsv_destroy(solver);
  sptrsv_destroy_factors(factors);
  sptrsv_destroy_incomplete(incomplete);
}

/* 2 x = b and i x = b: the matrix is diagonal. */
static void solves_by_krylov_methods_in_all_types(void) {
  const float f32[] = {2, 2}, b_f32[] = {2, 4}, c64[] = {0, 1, 0, 1}, b_c64[] = {0, 1, 0, 2};
  const double f64[] = {2, 2}, b_f64[] = {2, 4}, c128[] = {0, 1, 0, 1}, b_c128[] = {0, 1, 0, 2};
  const void* const entries[] = {f32, f64, c64, c128};
  const void* const right_sides[] = {b_f32, b_f64, b_c64, b_c128};
  const int32_t offsets[] = {0, 1, 2}, indices[] = {0, 1};
  const int64_t long_offsets[] = {0, 1, 2}, long_indices[] = {0, 1};
  sptrsv_krylov_options options = sptrsv_default_krylov_options();
  sptrsv_krylov_result result = {sizeof result, SPTRSV_KRYLOV_BREAKDOWN, -1, -1};
  int type;
  int index;
  options.method = SPTRSV_KRYLOV_GMRES;
  for (type = SPTRSV_FLOAT; type <= SPTRSV_COMPLEX_DOUBLE; ++type) {
    for (index = SPTRSV_INT32; index <= SPTRSV_INT64; ++index) {
      const sptrsv_matrix a = {SPTRSV_CSR,
                               (sptrsv_value_type)type,
                               (sptrsv_index_type)index,
                               2,
                               2,
                               2,
                               index == SPTRSV_INT32 ? (const void*)offsets : (const void*)long_offsets,
                               index == SPTRSV_INT32 ? (const void*)indices : (const void*)long_indices,
                               entries[type]};
      const int step = type >= SPTRSV_COMPLEX_FLOAT ? 2 : 1; /* real numbers of one value */
      double x[4] = {0, 0, 0, 0};
      const float* const narrow = (const float*)(const void*)x;
      const int is_narrow = type == SPTRSV_FLOAT || type == SPTRSV_COMPLEX_FLOAT;
      CHECK(sptrsv_solve_krylov(&a, &options, right_sides[type], x, NULL, &result) == SPTRSV_SUCCESS);
      CHECK(result.reason == SPTRSV_KRYLOV_CONVERGED && result.iterations == 1);
      CHECK((is_narrow ? (double)narrow[0] : x[0]) > 0.999 && (is_narrow ? (double)narrow[0] : x[0]) < 1.001);
      CHECK((is_narrow ? (double)narrow[step] : x[step]) > 1.999);
    }
  }
}

static void refuses_bad_input_of_krylov_methods(void) {
  static const int32_t too_far[] = {0, 1, 0, 1, 2, 1, 3}, decreasing[] = {0, 4, 2, 7};
  int32_t offsets[4], indices[9];
  double entries[9], b[] = {1, 0, 1}, x[] = {0, 0, 0};
  const sptrsv_matrix a = line_of(3, offsets, indices, entries);
  sptrsv_matrix wrong = a;
  sptrsv_matrix smaller;
  int32_t other_offsets[3], other_indices[6];
  double other_entries[6];
  sptrsv_krylov_options options = sptrsv_default_krylov_options();
  sptrsv_krylov_result result = {sizeof result, SPTRSV_KRYLOV_BREAKDOWN, -1, -1};
  sptrsv_solver* solver;
  sptrsv_factors* factors;
  smaller = line_of(2, other_offsets, other_indices, other_entries);
  CHECK(sptrsv_solve_krylov(NULL, NULL, b, x, NULL, &result) == SPTRSV_INVALID_ARGUMENT);
  CHECK(sptrsv_solve_krylov(&a, NULL, b, x, NULL, NULL) == SPTRSV_INVALID_ARGUMENT);
  CHECK(sptrsv_solve_krylov(&a, NULL, NULL, x, NULL, &result) == SPTRSV_INVALID_ARGUMENT);
  CHECK(sptrsv_solve_krylov(&a, NULL, b, b, NULL, &result) == SPTRSV_INVALID_ARGUMENT);
  wrong.columns = 4;
  CHECK(sptrsv_solve_krylov(&wrong, NULL, b, x, NULL, &result) == SPTRSV_NOT_SQUARE);
  wrong = a;
  wrong.storage = SPTRSV_CSC;
  CHECK(sptrsv_solve_krylov(&wrong, NULL, b, x, NULL, &result) == SPTRSV_UNSUPPORTED);
  wrong = a;
  wrong.indices = too_far;
  CHECK(sptrsv_solve_krylov(&wrong, NULL, b, x, NULL, &result) == SPTRSV_INDEX_OUT_OF_RANGE);
  CHECK(sptrsv_last_error_row() == 2);
  wrong = a;
  wrong.offsets = decreasing;
  CHECK(sptrsv_solve_krylov(&wrong, NULL, b, x, NULL, &result) == SPTRSV_OFFSETS_NOT_MONOTONE);
  CHECK(sptrsv_last_error_row() == 1);

  options.method = (sptrsv_krylov_method)3;
  CHECK(sptrsv_solve_krylov(&a, &options, b, x, NULL, &result) == SPTRSV_INVALID_ARGUMENT);
  options = sptrsv_default_krylov_options();
  options.absolute_tolerance = -1;
  CHECK(sptrsv_solve_krylov(&a, &options, b, x, NULL, &result) == SPTRSV_INVALID_ARGUMENT);
  options = sptrsv_default_krylov_options();
  options.restart = 0;
  CHECK(sptrsv_solve_krylov(&a, &options, b, x, NULL, &result) == SPTRSV_INVALID_ARGUMENT);

  options = sptrsv_default_krylov_options();
  CHECK(sptrsv_analyze(&smaller, NULL, NULL, &solver) == SPTRSV_SUCCESS);
  options.solver = solver;
  CHECK(sptrsv_solve_krylov(&a, &options, b, x, NULL, &result) == SPTRSV_SIZE_MISMATCH);
  wrong = smaller;
  wrong.value_type = SPTRSV_FLOAT;
  CHECK(sptrsv_solve_krylov(&wrong, &options, b, x, NULL, &result) == SPTRSV_INVALID_ARGUMENT);
  CHECK(strstr(sptrsv_last_error(), "another type of values") != NULL);
  CHECK(sptrsv_analyze_factors(&smaller, NULL, NULL, NULL, &factors) == SPTRSV_SUCCESS);
  options.factors = factors;
  CHECK(sptrsv_solve_krylov(&smaller, &options, b, x, NULL, &result) == SPTRSV_INVALID_ARGUMENT);
  CHECK(strstr(sptrsv_last_error(), "two preconditioners") != NULL);
  CHECK(x[0] == 0 && x[1] == 0 && x[2] == 0 && result.iterations == -1);
  sptrsv_destroy_factors(factors);
  sptrsv_destroy(solver);
}

static void refuses_bad_input_with_a_text(void) {
  const int32_t no_diagonal[] = {0, 0, 0};
  sptrsv_matrix a = lower_of(SPTRSV_DOUBLE, SPTRSV_INT32, values);
  sptrsv_options options = {sizeof options, SPTRSV_LOWER, SPTRSV_NON_UNIT, SPTRSV_NONE, 1, "fast", 0};
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

/* Every structure that begins with its size: 0, too small and too large are refused, and that of the first
 * version, which ends with its last member, is taken. */
static void checks_sizes_of_structures(void) {
  static const int32_t offsets[] = {0, 2, 4}, indices[] = {0, 1, 0, 1};
  static const double entries[] = {4, 2, 2, 5};
  const sptrsv_matrix a = {SPTRSV_CSR, SPTRSV_DOUBLE, SPTRSV_INT32, 2, 2, 4, offsets, indices, entries};
  sptrsv_options options = {0, SPTRSV_LOWER, SPTRSV_NON_UNIT, SPTRSV_NONE, 1, NULL, 0};
  sptrsv_factors_options of_factors = sptrsv_lu_options();
  sptrsv_incomplete_options of_incomplete = {0, SPTRSV_INCOMPLETE_LU, 0, 0, 0, 0};
  sptrsv_batch_options systems = {0, 1, 0, 0};
  sptrsv_info info;
  sptrsv_krylov_options of_method = sptrsv_default_krylov_options();
  sptrsv_krylov_result reached;
  const double b[] = {6, 7};
  double x[] = {0, 0};
  const struct {
    const char* name;
    size_t* size;
    size_t first_size;
    size_t last_size;
  } structures[] = {
      {"sptrsv_options", &options.size, offsetof(sptrsv_options, policy) + sizeof options.policy,
       sizeof options},
      {"sptrsv_factors_options", &of_factors.size,
       offsetof(sptrsv_factors_options, policy) + sizeof of_factors.policy, sizeof of_factors},
      {"sptrsv_incomplete_options", &of_incomplete.size,
       offsetof(sptrsv_incomplete_options, boost_to) + sizeof of_incomplete.boost_to, sizeof of_incomplete},
      {"sptrsv_batch_options", &systems.size, offsetof(sptrsv_batch_options, lanes) + sizeof systems.lanes,
       sizeof systems},
      {"sptrsv_info", &info.size,
       offsetof(sptrsv_info, analysis_peak_bytes) + sizeof info.analysis_peak_bytes, sizeof info},
      {"sptrsv_krylov_options", &of_method.size,
       offsetof(sptrsv_krylov_options, solver) + sizeof of_method.solver, sizeof of_method},
      {"sptrsv_krylov_result", &reached.size,
       offsetof(sptrsv_krylov_result, residual) + sizeof reached.residual, sizeof reached}};
  size_t s;
  size_t size;
  for (s = 0; s < sizeof structures / sizeof structures[0]; ++s) {
    CHECK(sptrsv_size_of(structures[s].name) == structures[s].last_size);
    for (size = 0; size <= structures[s].last_size + 8; ++size) {
      const int is_right = size >= structures[s].first_size && size <= structures[s].last_size;
      const sptrsv_code expected = is_right ? SPTRSV_SUCCESS : SPTRSV_INVALID_ARGUMENT;
      sptrsv_solver* solver = NULL;
      sptrsv_factors* factors = NULL;
      sptrsv_incomplete* incomplete = NULL;
      sptrsv_batch* batch = NULL;
      *structures[s].size = size;
      switch (s) {
        case 0:
          CHECK(sptrsv_analyze(&a, &options, NULL, &solver) == expected);
          break;
        case 1:
          CHECK(sptrsv_analyze_factors(&a, NULL, &of_factors, NULL, &factors) == expected);
          break;
        case 2:
          CHECK(sptrsv_analyze_incomplete(&a, &of_incomplete, NULL, &incomplete) == expected);
          break;
        case 3:
          CHECK(sptrsv_analyze_batch(&a, &systems, NULL, NULL, &batch) == expected);
          break;
        case 4:
          CHECK(sptrsv_analyze(&a, NULL, NULL, &solver) == SPTRSV_SUCCESS);
          CHECK(sptrsv_get_info(solver, &info) == expected);
          break;
        case 5:
          reached.size = sizeof reached;
          CHECK(sptrsv_solve_krylov(&a, &of_method, b, x, NULL, &reached) == expected);
          break;
        default:
          CHECK(sptrsv_solve_krylov(&a, NULL, b, x, NULL, &reached) == expected);
      }
      if (!is_right) {
        CHECK(strstr(sptrsv_last_error(), structures[s].name) != NULL);
      }
      sptrsv_destroy(solver);
      sptrsv_destroy_factors(factors);
      sptrsv_destroy_incomplete(incomplete);
      sptrsv_destroy_batch(batch);
    }
  }
  CHECK(sptrsv_size_of("sptrsv_matrix") == sizeof(sptrsv_matrix));
  CHECK(sptrsv_size_of("matrix") == 0 && sptrsv_size_of(NULL) == 0);
}

int main(void) {
  CHECK(sptrsv_version() == SPTRSV_VERSION);
  CHECK(strstr(sptrsv_policy_names(), "host_serial") != NULL);
  solves_in_all_types();
  takes_options_and_several_right_hand_sides();
  takes_matrices_of_blocks();
  applies_factors_in_all_types();
  applies_factors_of_two_matrices_with_orders();
  factorises_incompletely();
  solves_batches();
  solves_by_krylov_methods();
  solves_by_krylov_methods_in_all_types();
  refuses_bad_input_of_krylov_methods();
  refuses_bad_input_with_a_text();
  checks_sizes_of_structures();
  sptrsv_destroy(NULL);
  sptrsv_destroy_workspace(NULL);
  puts(failures == 0 ? "right" : "wrong");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
