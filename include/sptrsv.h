/* The C interface of the compiled library (CMake: sptrsv::compiled), for C99 and for languages that call C.
 *
 * Every function that may fail returns a code, 0 for success. The text of the error and the row that it
 * concerns are kept for each thread: sptrsv_last_error() and sptrsv_last_error_row(). The rules for memory,
 * streams and threads are those of the C++ interface (sptrsv/solver.hpp). */
#ifndef SPTRSV_H
#define SPTRSV_H

#include <stdint.h>

#include "sptrsv/version.hpp"

#ifdef __cplusplus
extern "C" {
#endif

/** The result of a call; the codes after the first are those of sptrsv::errc. */
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
  SPTRSV_INTERNAL_ERROR        /**< an exception that is none of the library's own */
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
  SPTRSV_CSC  /**< compressed sparse columns */
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

/** Options of an analysis. All zero but `max_rhs`: the lower triangle as it is stored, with the default
 * policy. */
typedef struct sptrsv_options {
  sptrsv_part part;           /**< the triangle */
  sptrsv_diagonal diagonal;   /**< its diagonal */
  sptrsv_operation operation; /**< the operation on it */
  int64_t max_rhs;            /**< largest number of right-hand sides of one solve, at least 1 */
  /** Name and options of the policy, as sptrsv::any_policy takes them; null: the default for the memory of
   * the matrix. */
  const char* policy;
} sptrsv_options;

/** Several vectors: element i of vector j is data[i * row_stride + j * column_stride]. */
typedef struct sptrsv_vectors {
  void* data;            /**< address of the first element; the functions do not write to b */
  int64_t columns;       /**< number of vectors */
  int64_t row_stride;    /**< distance in elements from row to row */
  int64_t column_stride; /**< distance in elements from vector to vector */
} sptrsv_vectors;

/** What the analysis decided, as sptrsv::solver_info. Texts belong to the solver: they are valid until the
 * next call of sptrsv_get_info for it, and until it is destroyed. */
typedef struct sptrsv_info {
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
/** Scratch memory of one more solve in flight. */
typedef struct sptrsv_workspace sptrsv_workspace;

/** Returns the version of the library as one number, as SPTRSV_VERSION. */
int sptrsv_version(void);
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

#ifdef __cplusplus
}
#endif

#endif
