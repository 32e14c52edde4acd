/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the plug-in as a program uses it that does not know it: by options alone. Run with
 * `-dll_append .../libsptrsv_petsc.so`, and with `-test_mat_type aijcusparse` on a device. The oracle are
 * PETSc's own factorisations on the host. */
#include <petscksp.h>

static int failures = 0;
static char tested_type[64] = MATSEQAIJ; /* of the matrices that the plug-in factorises */
static PetscBool on_device = PETSC_FALSE;

#define EXPECT(condition, ...)                                             \
  do {                                                                     \
    if (!(condition)) {                                                    \
      ++failures;                                                          \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAILED: %s: ", #condition)); \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, __VA_ARGS__));                \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));                       \
    }                                                                      \
  } while (0)

/* Leaves out the imaginary part if PETSc's numbers are real. */
static PetscScalar number(PetscReal real, PetscReal imaginary) {
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(real, imaginary);
#else
  (void)imaginary;
  return real;
#endif
}

/* The 5-point matrix of a grid, on the host: -Laplacian plus a flow to the right of this strength; real and
 * symmetric if it is 0. */
static PetscErrorCode make_grid(PetscInt side, PetscReal flow, Mat* made) {
  PetscInt row;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, side * side, side * side, 5, NULL, made));
  for (row = 0; row < side * side; ++row) {
    const PetscInt i = row / side, j = row % side;

    PetscCall(MatSetValue(*made, row, row, 4 + flow + 0.01 * (row % 7), INSERT_VALUES));
    if (i > 0)
      PetscCall(MatSetValue(*made, row, row - side, -1, INSERT_VALUES));
    if (i < side - 1)
      PetscCall(MatSetValue(*made, row, row + side, number(-1, flow / 4), INSERT_VALUES));
    if (j > 0)
      PetscCall(MatSetValue(*made, row, row - 1, number(-1 - flow, flow / 2), INSERT_VALUES));
    if (j < side - 1)
      PetscCall(MatSetValue(*made, row, row + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*made, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*made, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode make_vector(PetscInt size, Vec* made) {
  PetscInt i;

  PetscFunctionBegin;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, size, made));
  for (i = 0; i < size; ++i)
    PetscCall(VecSetValue(*made, i, number(PetscSinReal(1 + 3 * i), PetscCosReal(i)), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*made));
  PetscCall(VecAssemblyEnd(*made));
  PetscFunctionReturn(0);
}

/* Copies a matrix of the host to the tested type. */
static PetscErrorCode to_tested_type(Mat A, Mat* made) {
  PetscFunctionBegin;
  PetscCall(MatConvert(A, tested_type, MAT_INITIAL_MATRIX, made));
  PetscFunctionReturn(0);
}
static PetscErrorCode make_tested_grid(PetscInt side, PetscReal flow, Mat* made) {
  Mat A;

  PetscFunctionBegin;
  PetscCall(make_grid(side, flow, &A));
  PetscCall(to_tested_type(A, made));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}
/* Copies a vector of the host to where A has its vectors. */
static PetscErrorCode to_vector_of(Mat A, Vec b, Vec* made) {
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, NULL, made));
  PetscCall(VecCopy(b, *made));
  PetscFunctionReturn(0);
}

/* Returns |x - y| / |y|; y is on the host. */
static PetscErrorCode distance(Vec x, Vec y, PetscReal* found) {
  Vec difference;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(y, &difference));
  PetscCall(VecCopy(x, difference));
  PetscCall(VecAXPY(difference, -1, y));
  PetscCall(VecNorm(difference, NORM_2, found));
  PetscCall(VecNorm(y, NORM_2, &norm));
  *found /= norm;
  PetscCall(VecDestroy(&difference));
  PetscFunctionReturn(0);
}

static PetscErrorCode solve(Mat A, Vec b, const char* prefix, KSP* ksp, Vec* x) {
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(VecDuplicate(b, x));
  PetscCall(KSPSolve(*ksp, b, *x));
  PetscFunctionReturn(0);
}

/* Solves with PETSc's factors on the host and with ours, by the same options, twice: the second time with new
 * values. */
static PetscErrorCode test_iterations(const char* options, PetscReal flow, const char* solver_type_option) {
  const char* const prefixes[] = {"theirs_", "ours_"};
  KSP ksp[2];
  Mat A[2];
  Vec b[2], x[2];
  PetscInt k, round, iterations[2];
  PetscReal far;
  char text[512];

  PetscFunctionBegin;
  PetscCall(make_grid(24, flow, &A[0]));
  PetscCall(to_tested_type(A[0], &A[1]));
  PetscCall(make_vector(24 * 24, &b[0]));
  PetscCall(to_vector_of(A[1], b[0], &b[1]));
  for (k = 0; k < 2; ++k) {
    const char* c;
    size_t n = 0;

    /* Each option of the list gets the prefix: "-a 1 -b" becomes "-ours_a 1 -ours_b". */
    for (c = options; *c != '\0' && n + 32 < sizeof text; ++c) {
      text[n++] = *c;
      if (*c == '-') {
        PetscCall(PetscStrncpy(text + n, prefixes[k], sizeof text - n));
        while (text[n] != '\0')
          ++n;
      }
    }
    text[n] = '\0';
    PetscCall(PetscOptionsInsertString(NULL, text));
    if (k == 1) {
      PetscCall(PetscSNPrintf(text, sizeof text, "-ours_%s sptrsv", solver_type_option));
      PetscCall(PetscOptionsInsertString(NULL, text));
    }
  }
  for (k = 0; k < 2; ++k)
    PetscCall(solve(A[k], b[k], prefixes[k], &ksp[k], &x[k]));
  for (round = 0; round < 2; ++round) {
    for (k = 0; k < 2; ++k) {
      if (round == 1) {
        PetscCall(MatScale(A[k], 3));
        PetscCall(MatShift(A[k], 0.25));
        PetscCall(KSPSetOperators(ksp[k], A[k], A[k]));
        PetscCall(KSPSolve(ksp[k], b[k], x[k]));
      }
      PetscCall(KSPGetIterationNumber(ksp[k], &iterations[k]));
    }
    EXPECT(PetscAbsInt(iterations[0] - iterations[1]) <= 1 && iterations[1] > 1,
           "%s, round %d: %d and %d iterations", options, (int)round, (int)iterations[0], (int)iterations[1]);
    PetscCall(distance(x[1], x[0], &far));
    EXPECT(far < 1e-7, "%s, round %d: %g", options, (int)round, (double)far);
  }
  for (k = 0; k < 2; ++k) {
    PetscCall(KSPDestroy(&ksp[k]));
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&b[k]));
    PetscCall(MatDestroy(&A[k]));
  }
  PetscCall(PetscOptionsClear(NULL));
  PetscFunctionReturn(0);
}

/* Factorises new values of A. */
static PetscErrorCode factor_again(Mat A, MatFactorType method, PetscInt levels, Mat F) {
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels = levels;
  info.fill = 3;
  PetscCall(method == MAT_FACTOR_ILU ? MatLUFactorNumeric(F, A, &info)
                                     : MatCholeskyFactorNumeric(F, A, &info));
  PetscFunctionReturn(0);
}
static PetscErrorCode make_factor(Mat A, const char* type, MatFactorType method, PetscInt levels, Mat* F) {
  MatFactorInfo info;
  IS natural;
  PetscInt size;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &size, NULL));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, size, 0, 1, &natural));
  PetscCall(ISSetIdentity(natural));
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels = levels;
  info.fill = 3;
  PetscCall(MatGetFactor(A, type, method, F));
  if (method == MAT_FACTOR_ILU)
    PetscCall(MatILUFactorSymbolic(*F, A, natural, natural, &info));
  else
    PetscCall(MatICCFactorSymbolic(*F, A, natural, &info));
  PetscCall(ISDestroy(&natural));
  PetscCall(factor_again(A, method, levels, *F));
  PetscFunctionReturn(0);
}

/* Writes where the plug-in has its analysis. */
static PetscErrorCode get_analysis(Mat F, void** found) {
  PetscErrorCode (*get_factors)(Mat, void**);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)F, "SptrsvGetFactors_C", &get_factors));
  PetscCall(get_factors(F, found));
  PetscFunctionReturn(0);
}

/* MatSolve, MatSolveTranspose, MatMatSolve with one right-hand side more than any solve before it, and
 * MatSolve after new values, for which nothing is analysed again. */
static PetscErrorCode test_applications(MatFactorType method, PetscInt levels) {
  const char* const types[] = {MATSOLVERPETSC, "sptrsv"};
  Mat A[2], F[2], B[2], X[2];
  Vec b[2], x[2];
  PetscInt k;
  PetscReal far, norm;
  void *analysis, *later;

  PetscFunctionBegin;
  PetscCall(make_grid(15, method == MAT_FACTOR_ILU ? 0.5 : 0, &A[0]));
  PetscCall(to_tested_type(A[0], &A[1]));
  PetscCall(make_vector(15 * 15, &b[0]));
  PetscCall(to_vector_of(A[1], b[0], &b[1]));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 15 * 15, 3, NULL, &B[0]));
  PetscCall(MatSetRandom(B[0], NULL));
  PetscCall(MatConvert(B[0], on_device ? MATSEQDENSECUDA : MATSEQDENSE, MAT_INITIAL_MATRIX, &B[1]));
  for (k = 0; k < 2; ++k) {
    PetscCall(make_factor(A[k], types[k], method, levels, &F[k]));
    PetscCall(VecDuplicate(b[k], &x[k]));
    PetscCall(MatSolve(F[k], b[k], x[k]));
    PetscCall(MatDuplicate(B[k], MAT_DO_NOT_COPY_VALUES, &X[k]));
    PetscCall(MatMatSolve(F[k], B[k], X[k]));
  }
  PetscCall(distance(x[1], x[0], &far));
  EXPECT(far < 1e-13, "MatSolve, %d levels of fill: %g", (int)levels, (double)far);
  PetscCall(MatNorm(X[0], NORM_FROBENIUS, &norm));
  PetscCall(MatConvert(X[1], MATSEQDENSE, MAT_INPLACE_MATRIX, &X[1]));
  PetscCall(MatAXPY(X[1], -1, X[0], SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(X[1], NORM_FROBENIUS, &far));
  EXPECT(far < 1e-13 * norm, "MatMatSolve, %d levels of fill: %g", (int)levels, (double)(far / norm));
  if (method == MAT_FACTOR_ILU) { /* PETSc's ICC has no transposed solve */
    for (k = 0; k < 2; ++k)
      PetscCall(MatSolveTranspose(F[k], b[k], x[k]));
    PetscCall(distance(x[1], x[0], &far));
    EXPECT(far < 1e-13, "MatSolveTranspose, %d levels of fill: %g", (int)levels, (double)far);
  }
  PetscCall(get_analysis(F[1], &analysis));
  for (k = 0; k < 2; ++k) {
    PetscCall(MatScale(A[k], 3));
    PetscCall(MatShift(A[k], 0.25));
    PetscCall(factor_again(A[k], method, levels, F[k]));
    PetscCall(MatSolve(F[k], b[k], x[k]));
  }
  PetscCall(distance(x[1], x[0], &far));
  EXPECT(far < 1e-13, "new values, %d levels of fill: %g", (int)levels, (double)far);
  PetscCall(get_analysis(F[1], &later));
  EXPECT(later == analysis, "new values, %d levels of fill: analysed again", (int)levels);
  for (k = 0; k < 2; ++k) {
    PetscCall(MatDestroy(&F[k]));
    PetscCall(MatDestroy(&X[k]));
    PetscCall(MatDestroy(&B[k]));
    PetscCall(MatDestroy(&A[k]));
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&b[k]));
  }
  PetscFunctionReturn(0);
}

/* ICC of a tridiagonal Hermitian matrix is its Cholesky factorisation: MatSolve solves the system. */
static PetscErrorCode test_hermitian(void) {
  const PetscInt size = 40;
  Mat A, tested, F;
  Vec b, b_tested, x, product;
  PetscInt i;
  PetscReal far;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, size, size, 3, NULL, &A));
  for (i = 0; i < size; ++i) {
    PetscCall(MatSetValue(A, i, i, 3, INSERT_VALUES));
    if (i > 0) {
      PetscCall(MatSetValue(A, i, i - 1, number(-1, 0.5), INSERT_VALUES));
      PetscCall(MatSetValue(A, i - 1, i, number(-1, -0.5), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(to_tested_type(A, &tested));
  PetscCall(make_vector(size, &b));
  PetscCall(to_vector_of(tested, b, &b_tested));
  PetscCall(VecDuplicate(b_tested, &x));
  PetscCall(VecDuplicate(b_tested, &product));
  PetscCall(make_factor(tested, "sptrsv", MAT_FACTOR_ICC, 0, &F));
  PetscCall(MatSolve(F, b_tested, x));
  PetscCall(MatMult(tested, x, product));
  PetscCall(distance(product, b, &far));
  EXPECT(far < 1e-13, "Hermitian matrix: %g", (double)far);
  PetscCall(MatDestroy(&F));
  PetscCall(VecDestroy(&product));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b_tested));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&tested));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* A pivot of zero ends as it does with PETSc's factors, and names its row. */
static PetscErrorCode test_zero_pivot(void) {
  Mat host, A, F;
  Vec b, x;
  KSP ksp;
  KSPConvergedReason reason;
  MatFactorError error;
  PetscReal pivot;
  PetscInt row;

  PetscFunctionBegin;
  PetscCall(make_grid(6, 0, &host));
  PetscCall(MatSetValue(host, 0, 0, 0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(host, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(host, MAT_FINAL_ASSEMBLY));
  PetscCall(to_tested_type(host, &A));
  PetscCall(MatCreateVecs(A, NULL, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(PetscOptionsInsertString(
      NULL, "-zero_pc_type ilu -zero_pc_factor_shift_type none -zero_pc_factor_mat_solver_type sptrsv"));
  PetscCall(solve(A, b, "zero_", &ksp, &x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  EXPECT(reason == KSP_DIVERGED_PC_FAILED, "reason %d", (int)reason);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(make_factor(A, "sptrsv", MAT_FACTOR_ILU, 0, &F));
  PetscCall(MatFactorGetError(F, &error));
  EXPECT(error == MAT_FACTOR_NUMERIC_ZEROPIVOT, "error %d", (int)error);
  PetscCall(MatFactorGetErrorZeroPivot(F, &pivot, &row));
  EXPECT(row == 0, "row %d", (int)row);
  PetscCall(MatDestroy(&F));
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&host));
  PetscFunctionReturn(0);
}

/* Expects that the factorisation of A fails with this code. */
static PetscErrorCode expect_error(Mat A, PetscErrorCode expected, const char* what) {
  Mat F = NULL;
  PetscErrorCode code;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  code = make_factor(A, "sptrsv", MAT_FACTOR_ILU, 0, &F);
  PetscCall(PetscPopErrorHandler());
  EXPECT(code == expected, "%s: %d", what, (int)code);
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(0);
}

/* A matrix without a diagonal entry, a policy that there is not, and vectors in the wrong memory are errors
 * of PETSc. */
static PetscErrorCode test_errors(void) {
  Mat host, A, F;
  Vec b, x;
  PetscErrorCode code;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 2, NULL, &host));
  PetscCall(MatSetValue(host, 0, 0, 1, INSERT_VALUES));
  PetscCall(MatSetValue(host, 1, 0, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(host, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(host, MAT_FINAL_ASSEMBLY));
  PetscCall(to_tested_type(host, &A));
  PetscCall(expect_error(A, PETSC_ERR_ARG_WRONGSTATE, "missing diagonal entry"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&host));

  PetscCall(make_tested_grid(6, 0, &A));
  PetscCall(PetscOptionsInsertString(NULL, "-sptrsv_policy nonsense"));
  PetscCall(expect_error(A, PETSC_ERR_ARG_WRONG, "a policy that there is not"));
  PetscCall(PetscOptionsClear(NULL));

  if (on_device) {
    PetscCall(make_factor(A, "sptrsv", MAT_FACTOR_ILU, 0, &F));
    PetscCall(make_vector(36, &b));
    PetscCall(VecDuplicate(b, &x));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    code = MatSolve(F, b, x);
    PetscCall(PetscPopErrorHandler());
    EXPECT(code == PETSC_ERR_ARG_WRONG, "vectors on the host: %d", (int)code);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&F));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode test_view(void) {
  const char* const policy = on_device ? "level_set" : "host_serial";
  Mat A, F;
  PetscViewer viewer;
  FILE* file;
  char text[4096] = "";
  char wanted[64];
  char* found;

  PetscFunctionBegin;
  PetscCall(make_tested_grid(6, 0, &A));
  PetscCall(PetscSNPrintf(wanted, sizeof wanted, "-sptrsv_policy %s", policy));
  PetscCall(PetscOptionsInsertString(NULL, wanted));
  PetscCall(make_factor(A, "sptrsv", MAT_FACTOR_ICC, 0, &F));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_SELF, "petsc_test_view.txt", &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(F, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  file = fopen("petsc_test_view.txt", "r");
  if (file != NULL) {
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
  }
  PetscCall(PetscSNPrintf(wanted, sizeof wanted, "sptrsv, first factor: policy %s on ", policy));
  PetscCall(PetscStrstr(text, wanted, &found));
  EXPECT(found != NULL, "%s", text);
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt levels;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test_mat_type", tested_type, sizeof tested_type, NULL));
  PetscCall(PetscStrendswith(tested_type, "cusparse", &on_device));
  for (levels = 0; levels < 3; ++levels) {
    PetscCall(test_applications(MAT_FACTOR_ILU, levels));
    PetscCall(test_applications(MAT_FACTOR_ICC, levels));
  }
  PetscCall(test_iterations("-ksp_type bcgs -pc_type ilu", 0.5, "pc_factor_mat_solver_type"));
  PetscCall(
      test_iterations("-ksp_type gmres -pc_type ilu -pc_factor_levels 2", 0.5, "pc_factor_mat_solver_type"));
  PetscCall(test_iterations("-ksp_type cg -pc_type icc", 0, "pc_factor_mat_solver_type"));
  PetscCall(test_iterations("-ksp_type cg -pc_type icc -pc_factor_levels 1", 0, "pc_factor_mat_solver_type"));
  PetscCall(test_iterations("-ksp_type gmres -pc_type bjacobi -pc_bjacobi_local_blocks 3 -sub_pc_type ilu",
                            0.5, "sub_pc_factor_mat_solver_type"));
  PetscCall(test_iterations("-ksp_type gmres -pc_type asm -pc_asm_local_blocks 4 -sub_pc_type ilu", 0.5,
                            "sub_pc_factor_mat_solver_type"));
  PetscCall(test_hermitian());
  PetscCall(test_zero_pivot());
  PetscCall(test_errors());
  PetscCall(test_view());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, failures == 0 ? "all passed\n" : "%d failed\n", failures));
  PetscCall(PetscFinalize());
  return failures != 0;
}
