/* SPDX-License-Identifier: Apache-2.0 */
/* The PETSc plug-in: a dynamic library that registers the MatSolverType "sptrsv" for ILU(k) and ICC(k) of
 * MATSEQAIJ on the host and of MATSEQAIJCUSPARSE on the device, by the C interface of sptrsv. README.md says
 * how to use it.
 *
 * PETSc's calls and what they become:
 *   MatILUFactorSymbolic, MatICCFactorSymbolic   options are read; a former analysis is dropped
 *   MatLUFactorNumeric, MatCholeskyFactorNumeric the first time the analysis, then new values for it
 *   MatSolve, MatSolveTranspose, MatMatSolve     sptrsv_apply, sptrsv_apply_transpose
 *
 * On the device all calls enqueue on the stream of PETSc's current device context, with PETSc's own arrays.
 */
#include <petsc/private/matimpl.h>
#include <petscdevice.h>

#include <sptrsv.h>

#define SPTRSV_PETSC_NAME "sptrsv"

/* Older versions keep the stream of a device context to themselves. */
#if defined(PETSC_HAVE_CUDA) && PETSC_VERSION_GE(3, 20, 0)
#define SPTRSV_PETSC_DEVICE 1
#else
#define SPTRSV_PETSC_DEVICE 0
#endif

/* Turns an error of the library into one of PETSc, with its text, which names the row. */
static PetscErrorCode petsc_error_of(sptrsv_code code) {
  switch (code) {
    case SPTRSV_OUT_OF_MEMORY:
      return PETSC_ERR_MEM;
    case SPTRSV_UNSUPPORTED:
      return PETSC_ERR_SUP;
    case SPTRSV_MISSING_DIAGONAL:
      return PETSC_ERR_ARG_WRONGSTATE;
    case SPTRSV_SIZE_MISMATCH:
      return PETSC_ERR_ARG_SIZ;
    case SPTRSV_INVALID_ARGUMENT:
    case SPTRSV_PARSE_ERROR:
      return PETSC_ERR_ARG_WRONG;
    default:
      return PETSC_ERR_LIB;
  }
}
#define PetscCallSptrsv(...)                                                                  \
  do {                                                                                        \
    const sptrsv_code code_ = (__VA_ARGS__);                                                  \
    PetscCheck(code_ == SPTRSV_SUCCESS, PETSC_COMM_SELF, petsc_error_of(code_), "sptrsv: %s", \
               sptrsv_last_error());                                                          \
  } while (0)

/* The data of a factored matrix. */
typedef struct {
  Mat matrix;                    /* that was factorised last: factors without fill-in have its pattern */
  sptrsv_incomplete* incomplete; /* null before the first numeric factorisation */
  sptrsv_factors* factors;       /* L and U, or L and L^H */
  double diagonal_shift;         /* diagonal entries are multiplied by 1 + diagonal_shift */
  PetscInt fill_level;
  PetscInt max_rhs;     /* of one application */
  PetscBool transposed; /* whether `factors` can be applied transposed */
  PetscBool on_device;  /* where the matrix was when it was factorised */
  char policy[256];     /* empty: the default */
} factor_data;

static PetscErrorCode check_memory(Mat A, PetscMemType memory, PetscBool* on_device) {
  PetscFunctionBegin;
  *on_device = (PetscBool)!PetscMemTypeHost(memory);
  PetscCheck(
      !*on_device || (SPTRSV_PETSC_DEVICE && PetscMemTypeCUDA(memory)), PETSC_COMM_SELF, PETSC_ERR_SUP,
      "sptrsv: this build takes no matrix of type %s, whose entries are on a device: it needs CUDA and "
      "PETSc 3.20 or later",
      ((PetscObject)A)->type_name);
  PetscCheck(!*on_device || strstr(sptrsv_policy_names(), "dataflow") != NULL, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "sptrsv: the matrix is on the device, but the library was built without CUDA");
  PetscFunctionReturn(0);
}

static PetscErrorCode view_matrix(Mat A, sptrsv_matrix* made, PetscBool* on_device) {
  const PetscInt *offsets, *indices;
  PetscScalar* values;
  PetscMemType memory;
  MatInfo info;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &offsets, &indices, &values, &memory));
  PetscCall(check_memory(A, memory, on_device));
#if SPTRSV_PETSC_DEVICE
  if (*on_device) { /* the offsets of all rows: those above may leave out empty rows */
    const PetscInt *all, *same;

    PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &all, &same));
    offsets = all;
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(A, PETSC_FALSE, &all, &same));
  }
#endif
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  made->storage = SPTRSV_CSR;
  if (PetscDefined(USE_COMPLEX)) {
    made->value_type = PetscDefined(USE_REAL_SINGLE) ? SPTRSV_COMPLEX_FLOAT : SPTRSV_COMPLEX_DOUBLE;
  } else {
    made->value_type = PetscDefined(USE_REAL_SINGLE) ? SPTRSV_FLOAT : SPTRSV_DOUBLE;
  }
  made->index_type = sizeof(PetscInt) == 4 ? SPTRSV_INT32 : SPTRSV_INT64;
  made->rows = made->columns = A->rmap->n;
  made->entries = (int64_t)info.nz_used;
  made->offsets = offsets;
  made->indices = indices;
  made->values = values;
  PetscFunctionReturn(0);
}

/* Returns the stream on which PETSc works at present; null for the host. */
static PetscErrorCode get_stream(PetscBool on_device, void** stream) {
  PetscFunctionBegin;
  *stream = NULL;
#if SPTRSV_PETSC_DEVICE
  if (on_device) {
    PetscDeviceContext context;
    void* handle;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
    *stream = *(void**)handle;
  }
#else
  (void)on_device;
#endif
  PetscFunctionReturn(0);
}

static void drop_analysis(factor_data* data) {
  sptrsv_destroy_factors(data->factors);
  sptrsv_destroy_incomplete(data->incomplete);
  data->factors = NULL;
  data->incomplete = NULL;
}

static PetscErrorCode destroy(Mat F) {
  factor_data* data = (factor_data*)F->data;

  PetscFunctionBegin;
  drop_analysis(data);
  PetscCall(MatDestroy(&data->matrix));
  PetscCall(PetscFree(F->data));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "SptrsvGetFactors_C", NULL));
  PetscFunctionReturn(0);
}

/* Analyses the factors that were computed. */
static PetscErrorCode analyze(Mat F, void* stream) {
  factor_data* data = (factor_data*)F->data;
  sptrsv_factors_options options = sptrsv_lu_options();
  sptrsv_matrix a, computed;
  PetscBool on_device;

  PetscFunctionBegin;
  PetscCall(view_matrix(data->matrix, &a, &on_device));
  PetscCheck(on_device == data->on_device, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "sptrsv: the matrix has moved between host and device since it was factorised");
  if (F->factortype == MAT_FACTOR_ICC) {
    options.first.diagonal = SPTRSV_NON_UNIT;
    options.second = options.first;
    options.second.operation = SPTRSV_CONJ_TRANSPOSE;
  }
  options.max_rhs = data->max_rhs;
  options.transposed = data->transposed ? SPTRSV_TRANSPOSE : SPTRSV_NONE;
  options.policy = data->policy[0] != '\0' ? data->policy : NULL;
  sptrsv_destroy_factors(data->factors);
  data->factors = NULL;
  PetscCallSptrsv(sptrsv_get_incomplete_factors(data->incomplete, &a, &computed));
  PetscCallSptrsv(sptrsv_analyze_factors(&computed, NULL, &options, stream, &data->factors));
  PetscFunctionReturn(0);
}

/* Computes the factors of `a`: anew with a larger shift of the diagonal while pivots fail, where PETSc's
 * options want a shift. Writes the first row that failed; -1: none. */
static PetscErrorCode factorize(Mat F, const sptrsv_matrix* a, const MatFactorInfo* info, void* stream,
                                int64_t* row) {
  factor_data* data = (factor_data*)F->data;
  const MatFactorShiftType shift = (MatFactorShiftType)(int)info->shifttype;
  const int tries = shift == MAT_SHIFT_NONZERO || shift == MAT_SHIFT_POSITIVE_DEFINITE ? 8 : 1;
  sptrsv_incomplete_options options = {0};
  sptrsv_solve_status status = SPTRSV_OK;
  int k;

  PetscFunctionBegin;
  options.size = sizeof options;
  options.method = F->factortype == MAT_FACTOR_ICC ? SPTRSV_INCOMPLETE_CHOLESKY : SPTRSV_INCOMPLETE_LU;
  options.fill_level = data->fill_level;
  if (shift == MAT_SHIFT_INBLOCKS) {
    options.boost_below = info->zeropivot;
    options.boost_to = info->shiftamount;
  }
  *row = -1;
  for (k = 0; k < tries; ++k) {
    if (data->incomplete != NULL && k == 0) {
      PetscCallSptrsv(sptrsv_factorize(data->incomplete, a->values, a->entries, stream));
    } else {
      drop_analysis(data);
      data->diagonal_shift = k == 0 ? 0 : k == 1 ? 1e-3 : 4 * data->diagonal_shift;
      options.diagonal_shift = data->diagonal_shift;
      PetscCallSptrsv(sptrsv_analyze_incomplete(a, &options, stream, &data->incomplete));
    }
    PetscCallSptrsv(sptrsv_get_incomplete_status(data->incomplete, stream, &status, row, NULL));
    if (status == SPTRSV_OK)
      break;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode factor_numeric(Mat F, Mat A, const MatFactorInfo* info) {
  factor_data* data = (factor_data*)F->data;
  sptrsv_matrix a, computed;
  PetscBool on_device;
  void* stream;
  int64_t row;

  PetscFunctionBegin;
  PetscCall(view_matrix(A, &a, &on_device));
  PetscCall(get_stream(on_device, &stream));
  if (on_device != data->on_device)
    drop_analysis(data);
  data->on_device = on_device;
  PetscCall(PetscObjectReference((PetscObject)A));
  PetscCall(MatDestroy(&data->matrix));
  data->matrix = A;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  PetscCall(factorize(F, &a, info, stream, &row));
  if (row >= 0) {
    PetscCheck(!F->erroriffailure, PETSC_COMM_SELF,
               F->factortype == MAT_FACTOR_ICC ? PETSC_ERR_MAT_CH_ZRPVT : PETSC_ERR_MAT_LU_ZRPVT,
               "sptrsv: zero pivot, or one that is not positive, in row %" PetscInt_FMT, (PetscInt)row);
    F->factorerrortype = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    F->factorerror_zeropivot_value = 0;
    F->factorerror_zeropivot_row = (PetscInt)row;
  }
  if (data->factors == NULL) {
    PetscCall(analyze(F, stream));
  } else {
    PetscCallSptrsv(sptrsv_get_incomplete_factors(data->incomplete, &a, &computed));
    PetscCallSptrsv(sptrsv_update_factors(data->factors, computed.values, computed.entries, NULL, 0, stream));
  }
  F->assembled = F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(0);
}

static PetscErrorCode factor_symbolic(Mat F, IS rows, IS columns, const MatFactorInfo* info) {
  factor_data* data = (factor_data*)F->data;
  PetscBool natural = PETSC_TRUE;

  PetscFunctionBegin;
  if (rows)
    PetscCall(ISIdentity(rows, &natural));
  if (natural && columns)
    PetscCall(ISIdentity(columns, &natural));
  PetscCheck(natural, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "sptrsv factorises in the natural order: permute the matrix (MatPermute)");
  drop_analysis(data);
  data->fill_level = (PetscInt)info->levels;
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), ((PetscObject)F)->prefix, "sptrsv", "Mat");
  PetscCall(PetscOptionsString("-sptrsv_policy", "Policy of the solves, with its options", "sptrsv.h",
                               data->policy, data->policy, sizeof data->policy, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(0);
}
static PetscErrorCode ilu_symbolic(Mat F, Mat A, IS rows, IS columns, const MatFactorInfo* info) {
  PetscFunctionBegin;
  (void)A;
  PetscCall(factor_symbolic(F, rows, columns, info));
  F->ops->lufactornumeric = factor_numeric;
  PetscFunctionReturn(0);
}
static PetscErrorCode icc_symbolic(Mat F, Mat A, IS rows, const MatFactorInfo* info) {
  PetscFunctionBegin;
  (void)A;
  PetscCall(factor_symbolic(F, rows, NULL, info));
  F->ops->choleskyfactornumeric = factor_numeric;
  PetscFunctionReturn(0);
}

/* Applies the factors to `columns` columns in the memory of the factors. The factors are analysed again if
 * they were not made for as many, or not for transposes. */
static PetscErrorCode apply(Mat F, PetscBool transposed, PetscInt columns, const PetscScalar* b, PetscInt ldb,
                            PetscScalar* x, PetscInt ldx) {
  factor_data* data = (factor_data*)F->data;
  sptrsv_vectors from = {(void*)b, columns, 1, ldb}, to = {x, columns, 1, ldx};
  void* stream;

  PetscFunctionBegin;
  PetscCall(get_stream(data->on_device, &stream));
  if (columns > data->max_rhs || (transposed && !data->transposed)) {
    data->max_rhs = PetscMax(columns, data->max_rhs);
    data->transposed = (PetscBool)(transposed || data->transposed);
    PetscCall(analyze(F, stream));
  }
  PetscCallSptrsv(transposed ? sptrsv_apply_transpose(data->factors, &from, &to, NULL, stream)
                             : sptrsv_apply(data->factors, &from, &to, NULL, stream));
  PetscFunctionReturn(0);
}

/* For arrays that a device vector or matrix was asked for: says which type was needed. */
static PetscErrorCode check_device_arrays(PetscMemType b, PetscMemType x, const char* types) {
  PetscFunctionBegin;
  PetscCheck(PetscMemTypeCUDA(b) && PetscMemTypeCUDA(x), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "sptrsv: the factors are on the device, but %s is on the host: it needs %s",
             PetscMemTypeCUDA(b) ? "x" : "b", types);
  PetscFunctionReturn(0);
}
static PetscErrorCode apply_to_vector(Mat F, Vec b, Vec x, PetscBool transposed) {
  const PetscBool on_device = ((factor_data*)F->data)->on_device;
  const PetscInt n = F->rmap->n;
  const PetscScalar* from;
  PetscScalar* to;
  PetscMemType memory_b, memory_x;

  PetscFunctionBegin;
  if (on_device) {
    PetscCall(VecGetArrayReadAndMemType(b, &from, &memory_b));
    PetscCall(VecGetArrayWriteAndMemType(x, &to, &memory_x));
    PetscCall(check_device_arrays(memory_b, memory_x, "-vec_type cuda"));
    PetscCall(apply(F, transposed, 1, from, n, to, n));
    PetscCall(VecRestoreArrayWriteAndMemType(x, &to));
    PetscCall(VecRestoreArrayReadAndMemType(b, &from));
  } else {
    PetscCall(VecGetArrayRead(b, &from));
    PetscCall(VecGetArrayWrite(x, &to));
    PetscCall(apply(F, transposed, 1, from, n, to, n));
    PetscCall(VecRestoreArrayWrite(x, &to));
    PetscCall(VecRestoreArrayRead(b, &from));
  }
  PetscFunctionReturn(0);
}
static PetscErrorCode solve(Mat F, Vec b, Vec x) { return apply_to_vector(F, b, x, PETSC_FALSE); }
static PetscErrorCode solve_transpose(Mat F, Vec b, Vec x) { return apply_to_vector(F, b, x, PETSC_TRUE); }
static PetscErrorCode apply_to_matrix(Mat F, Mat B, Mat X, PetscBool transposed) {
  const PetscBool on_device = ((factor_data*)F->data)->on_device;
  const PetscScalar* from;
  PetscScalar* to;
  PetscInt ldb, ldx;

  PetscFunctionBegin;
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(X, &ldx));
  if (on_device) {
#if SPTRSV_PETSC_DEVICE
    PetscMemType memory_b, memory_x;

    PetscCall(MatDenseGetArrayReadAndMemType(B, &from, &memory_b));
    PetscCall(MatDenseGetArrayWriteAndMemType(X, &to, &memory_x));
    PetscCall(check_device_arrays(memory_b, memory_x, "MATSEQDENSECUDA"));
    PetscCall(apply(F, transposed, B->cmap->n, from, ldb, to, ldx));
    PetscCall(MatDenseRestoreArrayWriteAndMemType(X, &to));
    PetscCall(MatDenseRestoreArrayReadAndMemType(B, &from));
#endif
  } else {
    PetscCall(MatDenseGetArrayRead(B, &from));
    PetscCall(MatDenseGetArrayWrite(X, &to));
    PetscCall(apply(F, transposed, B->cmap->n, from, ldb, to, ldx));
    PetscCall(MatDenseRestoreArrayWrite(X, &to));
    PetscCall(MatDenseRestoreArrayRead(B, &from));
  }
  PetscFunctionReturn(0);
}
static PetscErrorCode mat_solve(Mat F, Mat B, Mat X) { return apply_to_matrix(F, B, X, PETSC_FALSE); }
static PetscErrorCode mat_solve_transpose(Mat F, Mat B, Mat X) {
  return apply_to_matrix(F, B, X, PETSC_TRUE);
}

static PetscErrorCode get_info(Mat F, MatInfoType type, MatInfo* info) {
  factor_data* data = (factor_data*)F->data;
  sptrsv_info lower = {0}, upper = {0};

  PetscFunctionBegin;
  (void)type;
  PetscCall(PetscMemzero(info, sizeof *info));
  if (data->factors != NULL) {
    lower.size = upper.size = sizeof lower;
    PetscCallSptrsv(sptrsv_get_factors_info(data->factors, 0, &lower));
    PetscCallSptrsv(sptrsv_get_factors_info(data->factors, 1, &upper));
    info->nz_used = info->nz_allocated = (PetscLogDouble)(lower.entries + upper.entries);
    info->memory = (PetscLogDouble)(lower.solver_bytes + upper.solver_bytes);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode view(Mat F, PetscViewer viewer) {
  factor_data* data = (factor_data*)F->data;
  PetscBool is_text;
  int k;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &is_text));
  if (!is_text || data->factors == NULL)
    PetscFunctionReturn(0);
  for (k = 0; k < 2; ++k) {
    sptrsv_info info = {0};

    info.size = sizeof info;
    PetscCallSptrsv(sptrsv_get_factors_info(data->factors, k, &info));
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "sptrsv, %s factor: policy %s on %s%s%s, %" PRId64 " entries, %" PRId64 " levels\n",
        k == 0 ? "first" : "second", info.policy, info.device, info.plan[0] != '\0' ? ": " : "", info.plan,
        info.entries, info.levels));
  }
  if (data->diagonal_shift > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "sptrsv: the diagonal was multiplied by 1 + %g\n",
                                     data->diagonal_shift));
  PetscFunctionReturn(0);
}

static PetscErrorCode get_solver_type(Mat F, MatSolverType* type) {
  PetscFunctionBegin;
  (void)F;
  *type = SPTRSV_PETSC_NAME;
  PetscFunctionReturn(0);
}

/* Gives the analysed factors to a program that calls sptrsv itself; F keeps them. */
static PetscErrorCode get_factors(Mat F, sptrsv_factors** factors) {
  PetscFunctionBegin;
  *factors = ((factor_data*)F->data)->factors;
  PetscFunctionReturn(0);
}

static PetscErrorCode get_factor(Mat A, MatFactorType type, Mat* made) {
  factor_data* data;
  VecType vectors;
  Mat F;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &F));
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(SPTRSV_PETSC_NAME, &((PetscObject)F)->type_name));
  PetscCall(MatSetUp(F));
  PetscCall(MatGetVecType(A, &vectors));
  PetscCall(MatSetVecType(F, vectors));
  PetscCall(PetscNew(&data));
  data->max_rhs = 1;
  F->data = data;
  F->factortype = type;
  F->canuseordering = PETSC_FALSE;
  F->ops->ilufactorsymbolic = ilu_symbolic;
  F->ops->iccfactorsymbolic = icc_symbolic;
  F->ops->solve = solve;
  F->ops->solvetranspose = solve_transpose;
  F->ops->matsolve = mat_solve;
  F->ops->matsolvetranspose = mat_solve_transpose;
  F->ops->getinfo = get_info;
  F->ops->view = view;
  F->ops->destroy = destroy;
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", get_solver_type));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "SptrsvGetFactors_C", get_factors));
  PetscCall(PetscFree(F->solvertype));
  PetscCall(PetscStrallocpy(SPTRSV_PETSC_NAME, &F->solvertype));
  *made = F;
  PetscFunctionReturn(0);
}

/* PETSc calls this function when it loads the library. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_sptrsv_petsc(void) {
  PetscFunctionBegin;
  PetscCall(MatInitializePackage()); /* registers PETSc's own types, which must come first */
  /* A registration holds for all types whose names begin alike: MATSEQAIJCUSPARSE, too. */
  PetscCall(MatSolverTypeRegister(SPTRSV_PETSC_NAME, MATSEQAIJ, MAT_FACTOR_ILU, get_factor));
  PetscCall(MatSolverTypeRegister(SPTRSV_PETSC_NAME, MATSEQAIJ, MAT_FACTOR_ICC, get_factor));
  PetscFunctionReturn(0);
}
