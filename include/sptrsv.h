/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of the compiled library (CMake: sptrsv::compiled), for C99 and for languages that call C.
 *
 * Every function that may fail returns a code, 0 for success. The text of the error and the row that it
 * concerns are kept for each thread: sptrsv_last_error() and sptrsv_last_error_row(). The rules for memory,
 * streams and threads are those of the C++ interface (sptrsv/solver.hpp).
 *
 * Structures that may get further members begin with their size, which the caller sets: `sizeof` of the
 * structure. The library takes a smaller size of an earlier version, too: members that the caller does not
 * know are 0. It refuses another size with SPTRSV_INVALID_ARGUMENT. The other structures never change;
 * sptrsv_size_of() tells the size of each.
 *
 * The file is long because it holds the whole C interface with its documentation. */
#ifndef SPTRSV_H
#define SPTRSV_H

#include <stddef.h>
#include <stdint.h>

#include "sptrsv/version.hpp"

#ifdef __cplusplus
extern "C" {
#endif

/** The result of a call: a code of sptrsv::errc, or the first or SPTRSV_INTERNAL_ERROR. */
typedef enum sptrsv_code {
  SPTRSV_SUCCESS,              /**< no error */
  SPTRSV_INVALID_ARGUMENT,     /**< an invalid argument that has no code of its own */
  SPTRSV_NOT_SQUARE,           /**< the numbers of rows and columns differ */
  SPTRSV_OFFSETS_NOT_MONOTONE, /**< offsets do not start at 0, decrease, or do not end at the entry count */
  SPTRSV_INDEX_OUT_OF_RANGE,   /**< an index is negative or not less than the dimension */
  SPTRSV_DUPLICATE_ENTRY,      /**< the triangle has an entry twice */
  SPTRSV_MISSING_DIAGONAL,     /**< a row has no diagonal entry, and the diagonal is not unit */
  SPTRSV_SIZE_MISMATCH,        /**< the size of an array does not match the system */
  SPTRSV_TOO_MANY_RHS,         /**< more right-hand sides than sptrsv_options::max_rhs */
  SPTRSV_WRONG_MEMORY_SPACE,   /**< a host pointer where a device pointer is needed, or the reverse */
  SPTRSV_UNSUPPORTED,          /**< a combination that the policy does not support */
  SPTRSV_OUT_OF_MEMORY,        /**< there is no memory left */
  SPTRSV_PARSE_ERROR,          /**< the settings of the policy `scheme` are malformed */
  SPTRSV_IO_ERROR,             /**< a file could not be opened, read or written */
  SPTRSV_CUDA_ERROR,           /**< a call of the CUDA runtime failed */
  SPTRSV_INTERNAL_ERROR,       /**< an exception that is none of the library's own */
  SPTRSV_PEER_FAILED           /**< another PE of a distributed solve has failed */
} sptrsv_code;

/** Type of the values of the matrix, b and x. */
typedef enum sptrsv_value_type {
  SPTRSV_FLOAT,         /**< float */
  SPTRSV_DOUBLE,        /**< double */
  SPTRSV_COMPLEX_FLOAT, /**< two floats, real part first */
  SPTRSV_COMPLEX_DOUBLE /**< two doubles, real part first */
} sptrsv_value_type;

/** Type of the indices and offsets of the matrix. */
typedef enum sptrsv_index_type {
  SPTRSV_INT32, /**< int32_t */
  SPTRSV_INT64  /**< int64_t */
} sptrsv_index_type;

/** How the matrix is stored. */
typedef enum sptrsv_storage {
  SPTRSV_CSR, /**< compressed sparse rows */
  SPTRSV_CSC, /**< compressed sparse columns */
  /** compressed sparse rows of square blocks of sptrsv_options::block_size rows, the values of a block by
   * rows; sptrsv_analyze takes them. `offsets` and `indices` count blocks, `entries` counts values. */
  SPTRSV_BSR,
  SPTRSV_BSR_BY_COLUMNS /**< the same, the values of a block by columns */
} sptrsv_storage;

/** The triangle of the stored matrix. */
typedef enum sptrsv_part { SPTRSV_LOWER, SPTRSV_UPPER } sptrsv_part;
/** The diagonal of the triangle: as stored, or ones. */
typedef enum sptrsv_diagonal { SPTRSV_NON_UNIT, SPTRSV_UNIT } sptrsv_diagonal;
/** The operation on the triangle. */
typedef enum sptrsv_operation { SPTRSV_NONE, SPTRSV_TRANSPOSE, SPTRSV_CONJ_TRANSPOSE } sptrsv_operation;

/** What the last solve met, as sptrsv::solve_status::kind. */
typedef enum sptrsv_solve_status {
  SPTRSV_OK,         /**< every component of x is finite */
  SPTRSV_ZERO_PIVOT, /**< the pivot of the row is zero */
  SPTRSV_NON_FINITE, /**< x is NaN or infinite in the row */
  SPTRSV_GROWTH      /**< x may be inaccurate from the row on */
} sptrsv_solve_status;

/** A matrix by pointers to its arrays, in host or device memory; nothing is copied or owned. */
typedef struct sptrsv_matrix {
  sptrsv_storage storage;       /**< by rows or by columns */
  sptrsv_value_type value_type; /**< type of `values` */
  sptrsv_index_type index_type; /**< type of `offsets` and `indices` */
  int64_t rows;                 /**< number of rows */
  int64_t columns;              /**< number of columns */
  int64_t entries;              /**< number of stored entries */
  const void* offsets;          /**< first entry of each row (column), and `entries` */
  const void* indices;          /**< column (row) of each entry, counted from 0 */
  const void* values;           /**< value of each entry */
} sptrsv_matrix;

/** Options of an analysis. All zero but `size` and `max_rhs`: the lower triangle as it is stored, with the
 * default policy. */
typedef struct sptrsv_options {
  size_t size;                /**< sizeof(sptrsv_options) */
  sptrsv_part part;           /**< the triangle */
  sptrsv_diagonal diagonal;   /**< its diagonal */
  sptrsv_operation operation; /**< the operation on it */
  int64_t max_rhs;            /**< largest number of right-hand sides of one solve, at least 1 */
  /** Name and options of the policy, as sptrsv::any_policy takes them; null: the default for the memory of
   * the matrix. */
  const char* policy;
  int64_t block_size; /**< rows of a block of SPTRSV_BSR, 1 to 1024; ignored otherwise */
} sptrsv_options;

/** Several vectors: element i of vector j is data[i * row_stride + j * column_stride]. */
typedef struct sptrsv_vectors {
  void* data;            /**< address of the first element; the functions do not write to b */
  int64_t columns;       /**< number of vectors */
  int64_t row_stride;    /**< distance in elements from row to row */
  int64_t column_stride; /**< distance in elements from vector to vector */
} sptrsv_vectors;

/** What the analysis decided, as sptrsv::solver_info. The caller sets `size`, the functions write the rest.
 * Texts belong to the solver: they are valid until the next call of sptrsv_get_info for it, and until it is
 * destroyed. */
typedef struct sptrsv_info {
  size_t size;                  /**< sizeof(sptrsv_info) */
  const char* policy;           /**< name of the policy */
  const char* device;           /**< name of the device */
  const char* chosen;           /**< name of the policy that `automatic` chose; otherwise empty */
  const char* path;             /**< name of the path; empty if the policy has none */
  const char* plan;             /**< the choice in words; empty if there was none */
  int bit_reproducible;         /**< whether repeated solves give the same bits */
  int64_t rows;                 /**< rows of the system */
  int64_t entries;              /**< entries of the triangle */
  int64_t ignored_entries;      /**< stored entries that a solve does not use */
  int64_t levels;               /**< levels of the system; 0 if they were not counted */
  uint64_t solver_bytes;        /**< memory for the pattern and the values */
  uint64_t workspace_bytes;     /**< memory of one workspace */
  uint64_t analysis_peak_bytes; /**< largest memory during the analysis; 0 on the host */
} sptrsv_info;

/** A system that is analysed and ready to be solved. */
typedef struct sptrsv_solver sptrsv_solver;
/** Scratch memory of one more solve, or of one more application of factors, in flight. */
typedef struct sptrsv_workspace sptrsv_workspace;

/** One factor of a factorisation: an operation on a triangle, as sptrsv::triangular_factor. */
typedef struct sptrsv_factor {
  sptrsv_part part;           /**< the triangle of the stored matrix */
  sptrsv_diagonal diagonal;   /**< its diagonal */
  sptrsv_operation operation; /**< the operation on it */
} sptrsv_factor;

/** Options of the system A x = b whose factors are known: P_r R A C P_c = F_1 D F_2, as
 * sptrsv::factors_options. The arrays are in the memory of the matrices and have one element for each row. */
typedef struct sptrsv_factors_options {
  size_t size;          /**< sizeof(sptrsv_factors_options) */
  sptrsv_factor first;  /**< F_1, which is solved first */
  sptrsv_factor second; /**< F_2 */
  int has_diagonal;     /**< whether D is the stored diagonal of the matrix of F_1; otherwise D is one */
  sptrsv_operation
      transposed;           /**< the operation of sptrsv_apply_transpose; SPTRSV_NONE: it is not available */
  int64_t max_rhs;          /**< largest number of right-hand sides of one application, at least 1 */
  const void* row_order;    /**< P_r: the row of A for each row of the factors; null: the identity */
  const void* column_order; /**< P_c: the column of A for each column of the factors; null: the identity */
  const void* row_scale;    /**< R, by row of A; null: ones */
  const void* column_scale; /**< C, by column of A; null: ones */
  /** Name and options of the policy. Null: as in sptrsv_options, and for complete factors in device memory
   * with wide supernodes, which a sample tells, `supernodal`, with its backward error. */
  const char* policy;
} sptrsv_factors_options;

/** A part of the product of the factors. */
typedef enum sptrsv_factor_part { SPTRSV_FIRST, SPTRSV_DIAGONAL, SPTRSV_SECOND } sptrsv_factor_part;

/** Both factors of a matrix, analysed and ready to be applied. */
typedef struct sptrsv_factors sptrsv_factors;

/** How an incomplete factorisation is made: A ~ L U, or A ~ L L^H. */
typedef enum sptrsv_incomplete_method {
  SPTRSV_INCOMPLETE_LU,
  SPTRSV_INCOMPLETE_CHOLESKY
} sptrsv_incomplete_method;

/** Options of an incomplete factorisation, as sptrsv::incomplete_options. All zero but `size`: LU without
 * fill-in. */
typedef struct sptrsv_incomplete_options {
  size_t size;                     /**< sizeof(sptrsv_incomplete_options) */
  sptrsv_incomplete_method method; /**< LU or Cholesky */
  int64_t fill_level;              /**< largest level of fill of an entry of the factors */
  double diagonal_shift;           /**< diagonal entries are multiplied by 1 + diagonal_shift */
  double boost_below;              /**< pivots of at most this magnitude are replaced by boost_to */
  double boost_to;                 /**< what replaces them; 0: pivots stay as they are */
} sptrsv_incomplete_options;

/** An incomplete factorisation, which can be computed again for new values. */
typedef struct sptrsv_incomplete sptrsv_incomplete;

/** Options of a batch, as sptrsv::batch_options: many systems with one pattern. */
typedef struct sptrsv_batch_options {
  size_t size;          /**< sizeof(sptrsv_batch_options) */
  int64_t systems;      /**< number of systems, at least 0 */
  int64_t value_stride; /**< distance between the values of consecutive systems; 0: the number of entries */
  int lanes;            /**< threads that share a system on the device: 4, 8, 16 or 32; 0: chosen */
} sptrsv_batch_options;

/** Vectors of all systems of a batch: element i of vector j of system s is
 * data[s * system_stride + i * row_stride + j * column_stride]. */
typedef struct sptrsv_batch_vectors {
  void* data;            /**< address of the first element; the functions do not write to b */
  int64_t columns;       /**< number of vectors of each system */
  int64_t row_stride;    /**< distance in elements from row to row */
  int64_t column_stride; /**< distance in elements from vector to vector */
  int64_t system_stride; /**< distance in elements from system to system */
} sptrsv_batch_vectors;

/** Systems with one pattern and different values, analysed and ready to be solved. */
typedef struct sptrsv_batch sptrsv_batch;

/** A Krylov method, as the functions of sptrsv::krylov. */
typedef enum sptrsv_krylov_method {
  SPTRSV_KRYLOV_CG,
  SPTRSV_KRYLOV_BICGSTAB,
  SPTRSV_KRYLOV_GMRES
} sptrsv_krylov_method;
/** Why a Krylov method has ended, as sptrsv::krylov::reason. */
typedef enum sptrsv_krylov_reason {
  SPTRSV_KRYLOV_CONVERGED,
  SPTRSV_KRYLOV_ITERATION_LIMIT,
  SPTRSV_KRYLOV_STAGNATION,
  SPTRSV_KRYLOV_BREAKDOWN,
  SPTRSV_KRYLOV_NOT_FINITE,
  SPTRSV_KRYLOV_NOT_SYMMETRIC,
  SPTRSV_KRYLOV_NOT_POSITIVE_DEFINITE
} sptrsv_krylov_reason;

/** Options of a Krylov method, as sptrsv::krylov::options, and its preconditioner M, whose values have the
 * type of those of A: factors, or one triangle; M = I if both are null. */
typedef struct sptrsv_krylov_options {
  size_t size;                 /**< sizeof(sptrsv_krylov_options) */
  sptrsv_krylov_method method; /**< the method */
  double relative_tolerance;   /**< largest norm of b - A x that is wanted, relative to that of b */
  double absolute_tolerance;   /**< a norm of b - A x that is small enough, too */
  int max_iterations;          /**< iterations at most */
  int restart;                 /**< iterations of a cycle of GMRES, at least 1 */
  int check_symmetry;          /**< whether conjugate gradients test first whether A is Hermitian */
  sptrsv_factors* factors;     /**< M, which is applied on its own workspace; or null */
  sptrsv_solver* solver;       /**< M, which is solved on its own workspace; or null */
} sptrsv_krylov_options;
/** What a Krylov method has reached. The caller sets `size`, the function writes the rest. */
typedef struct sptrsv_krylov_result {
  size_t size;                 /**< sizeof(sptrsv_krylov_result) */
  sptrsv_krylov_reason reason; /**< what ended the method */
  int iterations;  /**< completed ones: what ended the method otherwise happened in the next one */
  double residual; /**< norm of b - A x, relative to that of b; 0 if b is 0 */
} sptrsv_krylov_result;

/** Returns the version of the library as one number, as SPTRSV_VERSION. */
int sptrsv_version(void);
/** Returns the size in bytes of a structure of this interface in the library, by its name, for example
 * "sptrsv_options"; 0: there is no such structure. A binding compares it with its own. */
size_t sptrsv_size_of(const char* structure);
/** Returns the text of this thread's last error; empty if there was none. */
const char* sptrsv_last_error(void);
/** Returns the row of the matrix that this thread's last error concerns, counted from 0; -1 if there is none.
 */
int64_t sptrsv_last_error_row(void);
/** Returns the names of the policies of the library, separated by commas. */
const char* sptrsv_policy_names(void);

/** Analyses a matrix and writes the solver to `*solver`, which the caller destroys. On an error `*solver` is
 * null. The default of `options` is null. `stream`: a cudaStream_t; policies of the host ignore it. */
sptrsv_code sptrsv_analyze(const sptrsv_matrix* matrix, const sptrsv_options* options, void* stream,
                           sptrsv_solver** solver);
/** Destroys a solver; null is ignored. Its workspaces must be destroyed before. */
void sptrsv_destroy(sptrsv_solver* solver);

/** Replaces the values of the matrix; only enqueues. `entries`: the size of the array. */
sptrsv_code sptrsv_update_values(sptrsv_solver* solver, const void* values, int64_t entries, void* stream);

/** Solves op(T) x = b for one right-hand side with contiguous elements; only enqueues. x may be b. */
sptrsv_code sptrsv_solve(sptrsv_solver* solver, const void* b, void* x, void* stream);
/** Solves op(T) x = alpha b for several right-hand sides; only enqueues. `alpha`: the address of one value in
 * host memory; null: 1. `workspace` null: the solver's own. */
sptrsv_code sptrsv_solve_many(sptrsv_solver* solver, const void* alpha, const sptrsv_vectors* b,
                              const sptrsv_vectors* x, sptrsv_workspace* workspace, void* stream);

/** Creates scratch memory for one more solve in flight. On an error `*workspace` is null. */
sptrsv_code sptrsv_make_workspace(const sptrsv_solver* solver, void* stream, sptrsv_workspace** workspace);
/** Destroys a workspace; null is ignored. */
void sptrsv_destroy_workspace(sptrsv_workspace* workspace);

/** Writes what the last solve on the workspace (null: the solver's own) met, and the row, or -1, to `*row`.
 * Synchronises the stream. */
sptrsv_code sptrsv_get_status(sptrsv_solver* solver, sptrsv_workspace* workspace, void* stream,
                              sptrsv_solve_status* status, int64_t* row);
/** Writes what the analysis decided to `*info`. */
sptrsv_code sptrsv_get_info(sptrsv_solver* solver, sptrsv_info* info);

/** Returns the options of L U: L is unit lower, U is upper, one right-hand side, and nothing is permuted or
 * scaled. */
static inline sptrsv_factors_options sptrsv_lu_options(void) {
  const sptrsv_factor lower = {SPTRSV_LOWER, SPTRSV_UNIT, SPTRSV_NONE};
  const sptrsv_factor upper = {SPTRSV_UPPER, SPTRSV_NON_UNIT, SPTRSV_NONE};
  sptrsv_factors_options options;
  options.size = sizeof options;
  options.first = lower;
  options.second = upper;
  options.has_diagonal = 0;
  options.transposed = SPTRSV_NONE;
  options.max_rhs = 1;
  options.row_order = NULL;
  options.column_order = NULL;
  options.row_scale = NULL;
  options.column_scale = NULL;
  options.policy = NULL;
  return options;
}
/** Analyses the factors of a matrix and writes the result to `*factors`, which the caller destroys. On an
 * error
 * `*factors` is null. `second`: the matrix of F_2, of the same types and storage; null: `first` holds both
 * factors. `options` null: those of sptrsv_lu_options. `stream`: see sptrsv_analyze. */
sptrsv_code sptrsv_analyze_factors(const sptrsv_matrix* first, const sptrsv_matrix* second,
                                   const sptrsv_factors_options* options, void* stream,
                                   sptrsv_factors** factors);
/** Destroys factors; null is ignored. Their workspaces must be destroyed before. */
void sptrsv_destroy_factors(sptrsv_factors* factors);

/** Replaces the values of both factors; only enqueues. The numbers of entries are the sizes of the arrays.
 * `second_values` null: both factors are stored in one matrix. */
sptrsv_code sptrsv_update_factors(sptrsv_factors* factors, const void* first_values, int64_t first_entries,
                                  const void* second_values, int64_t second_entries, void* stream);
/** Solves A x = b; only enqueues. x may be b. `workspace` null: the factors' own. */
sptrsv_code sptrsv_apply(sptrsv_factors* factors, const sptrsv_vectors* b, const sptrsv_vectors* x,
                         sptrsv_workspace* workspace, void* stream);
/** Solves op(A) x = b with sptrsv_factors_options::transposed; otherwise as sptrsv_apply. */
sptrsv_code sptrsv_apply_transpose(sptrsv_factors* factors, const sptrsv_vectors* b, const sptrsv_vectors* x,
                                   sptrsv_workspace* workspace, void* stream);
/** Creates scratch memory for one more application in flight. On an error `*workspace` is null. */
sptrsv_code sptrsv_make_factors_workspace(const sptrsv_factors* factors, void* stream,
                                          sptrsv_workspace** workspace);
/** Writes what the last application on the workspace (null: the factors' own) met to `*status`. If this is
 * not SPTRSV_OK, the function writes the factor that met it to `*part` and the row of this factor to `*row`
 * (-1: none). `part` and `row` may be null. Synchronises the stream. */
sptrsv_code sptrsv_get_factors_status(sptrsv_factors* factors, sptrsv_workspace* workspace, void* stream,
                                      sptrsv_solve_status* status, sptrsv_factor_part* part, int64_t* row);
/** Writes the description of solver `number` of the factors to `*info`: 0 for F_1, 1 for F_2, 2 and 3 for the
 * solvers of sptrsv_apply_transpose, if it has its own. Texts belong to the factors: they are valid until the
 * next call of this function for them, and until they are destroyed. */
sptrsv_code sptrsv_get_factors_info(sptrsv_factors* factors, int number, sptrsv_info* info);

/** Analyses the pattern of a matrix, enqueues its incomplete factorisation, on the device if the matrix is in
 * device memory and otherwise on the host, and writes the result to `*incomplete`, which the caller destroys.
 * On an error `*incomplete` is null. `options` null: LU without fill-in. */
sptrsv_code sptrsv_analyze_incomplete(const sptrsv_matrix* matrix, const sptrsv_incomplete_options* options,
                                      void* stream, sptrsv_incomplete** incomplete);
/** Destroys a factorisation and the arrays of its factors; null is ignored. */
void sptrsv_destroy_incomplete(sptrsv_incomplete* incomplete);
/** Computes the factors of new values of the matrix; only enqueues. */
sptrsv_code sptrsv_factorize(sptrsv_incomplete* incomplete, const void* values, int64_t entries,
                             void* stream);
/** Writes the factors to `*factors`, for sptrsv_analyze_factors and, with their values, for
 * sptrsv_update_factors: L and U, or L, in one matrix. `matrix`: the matrix that was analysed, whose pattern
 * the factors have without fill-in. The arrays belong to the factorisation and the matrix. */
sptrsv_code sptrsv_get_incomplete_factors(const sptrsv_incomplete* incomplete, const sptrsv_matrix* matrix,
                                          sptrsv_matrix* factors);
/** Writes whether the last factorisation met a zero pivot or a value that is not finite (SPTRSV_OK: neither),
 * the first such row of the matrix (-1: none), and how many pivots were replaced. `row` and `boosted_pivots`
 * may be null. Synchronises the stream. */
sptrsv_code sptrsv_get_incomplete_status(const sptrsv_incomplete* incomplete, void* stream,
                                         sptrsv_solve_status* status, int64_t* row, int64_t* boosted_pivots);

/** Analyses the pattern of a matrix for a batch, takes the values, and writes the result to `*batch`, which
 * the caller destroys. On an error `*batch` is null. The systems are solved on the device if the matrix is in
 * device memory; otherwise the host solves one after the other. `matrix`: its `values` are those of all
 * systems, (systems - 1) * value_stride + entries elements. `options` null: see sptrsv_analyze; `policy` must
 * be null. */
sptrsv_code sptrsv_analyze_batch(const sptrsv_matrix* matrix, const sptrsv_batch_options* systems,
                                 const sptrsv_options* options, void* stream, sptrsv_batch** batch);
/** Destroys a batch; null is ignored. */
void sptrsv_destroy_batch(sptrsv_batch* batch);
/** Replaces the values of all systems; only enqueues. `count`: the size of the array. */
sptrsv_code sptrsv_update_batch(sptrsv_batch* batch, const void* values, int64_t count, void* stream);
/** Solves op(T_s) x_s = alpha b_s for all systems; only enqueues. x may be b. `alpha`: the address of one
 * value in host memory; null: 1. Strides of b may be 0. */
sptrsv_code sptrsv_solve_batch(sptrsv_batch* batch, const void* alpha, const sptrsv_batch_vectors* b,
                               const sptrsv_batch_vectors* x, void* stream);
/** Writes what the last solve met; if this is not SPTRSV_OK, the first such system and its row (otherwise
 * -1). `system` and `row` may be null. Synchronises the stream. */
sptrsv_code sptrsv_get_batch_status(sptrsv_batch* batch, void* stream, sptrsv_solve_status* status,
                                    int64_t* system, int64_t* row);
/** Writes what the analysis decided to `*info`; rows, entries and levels are those of one system. Texts
 * belong to the batch: they are valid until the next call of this function for it, and until it is destroyed.
 */
sptrsv_code sptrsv_get_batch_info(sptrsv_batch* batch, sptrsv_info* info);

/** Returns the options of conjugate gradients without a preconditioner, to a residual of 1e-8. */
static inline sptrsv_krylov_options sptrsv_default_krylov_options(void) {
  const sptrsv_krylov_options options = {sizeof options, SPTRSV_KRYLOV_CG, 1e-8, 0, 10000, 30, 1, NULL, NULL};
  return options;
}
/** Solves A x = b by a Krylov method, on the device if A is in device memory and otherwise on the host, and
 * writes what it has reached to `*result`. No convergence is no error. `matrix`: A, by rows. `options` null:
 * those of sptrsv_default_krylov_options. `b` and `x` have one element for each row, in the memory of A; x is
 * the initial guess and the solution, and must not overlap b. Synchronises the stream. */
sptrsv_code sptrsv_solve_krylov(const sptrsv_matrix* matrix, const sptrsv_krylov_options* options,
                                const void* b, void* x, void* stream, sptrsv_krylov_result* result);

#ifdef __cplusplus
}
#endif

#endif
