/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the plug-in as a program uses it that does not know it: by options alone. Run with
 * `-dll_append .../libsptrsv_petsc.so`. The oracle are PETSc's own factorisations. */
#include <petscksp.h>

static int failures = 0;

#define EXPECT(condition, ...)                                             \
  do {                                                                     \
    if (!(condition)) {                                                    \
      ++failures;                                                          \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAILED: %s: ", #condition)); \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, __VA_ARGS__));                \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));                       \
    }                                                                      \
  } while (0)

/* The 5-point matrix of a grid: -Laplacian plus a flow to the right of this strength; symmetric if it is 0.
 */
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
      PetscCall(MatSetValue(*made, row, row + side, -1, INSERT_VALUES));
    if (j > 0)
      PetscCall(MatSetValue(*made, row, row - 1, -1 - flow, INSERT_VALUES));
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
    PetscCall(VecSetValue(*made, i, PetscSinReal(1 + 3 * i), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*made));
  PetscCall(VecAssemblyEnd(*made));
  PetscFunctionReturn(0);
}

/* Returns |x - y| / |y|. */
static PetscErrorCode distance(Vec x, Vec y, PetscReal* found) {
  Vec difference;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &difference));
  PetscCall(VecWAXPY(difference, -1, y, x));
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

/* Solves with PETSc's factors and with ours, by the same options, twice: the second time with new values. */
static PetscErrorCode test_iterations(const char* options, PetscReal flow, const char* solver_type_option) {
  const char* const prefixes[] = {"theirs_", "ours_"};
  KSP ksp[2];
  Mat A;
  Vec b, x[2];
  PetscInt k, round, iterations[2];
  PetscReal far;
  char text[512];

  PetscFunctionBegin;
  PetscCall(make_grid(24, flow, &A));
  PetscCall(make_vector(24 * 24, &b));
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
    PetscCall(solve(A, b, prefixes[k], &ksp[k], &x[k]));
  for (round = 0; round < 2; ++round) {
    if (round == 1) {
      PetscCall(MatScale(A, 3));
      PetscCall(MatShift(A, 0.25));
    }
    for (k = 0; k < 2; ++k) {
      if (round == 1) {
        PetscCall(KSPSetOperators(ksp[k], A, A));
        PetscCall(KSPSolve(ksp[k], b, x[k]));
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
  }
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsClear(NULL));
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
  if (method == MAT_FACTOR_ILU) {
    PetscCall(MatILUFactorSymbolic(*F, A, natural, natural, &info));
    PetscCall(MatLUFactorNumeric(*F, A, &info));
  } else {
    PetscCall(MatICCFactorSymbolic(*F, A, natural, &info));
    PetscCall(MatCholeskyFactorNumeric(*F, A, &info));
  }
  PetscCall(ISDestroy(&natural));
  PetscFunctionReturn(0);
}

/* MatSolve, MatSolveTranspose, and MatMatSolve with one right-hand side more than any solve before it. */
static PetscErrorCode test_applications(MatFactorType method, PetscInt levels) {
  const char* const types[] = {MATSOLVERPETSC, "sptrsv"};
  Mat A, F[2], B, X[2];
  Vec b, x[2];
  PetscInt k;
  PetscReal far, norm;

  PetscFunctionBegin;
  PetscCall(make_grid(15, method == MAT_FACTOR_ILU ? 0.5 : 0, &A));
  PetscCall(make_vector(15 * 15, &b));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 15 * 15, 3, NULL, &B));
  PetscCall(MatSetRandom(B, NULL));
  for (k = 0; k < 2; ++k) {
    PetscCall(make_factor(A, types[k], method, levels, &F[k]));
    PetscCall(VecDuplicate(b, &x[k]));
    PetscCall(MatSolve(F[k], b, x[k]));
    PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X[k]));
    PetscCall(MatMatSolve(F[k], B, X[k]));
  }
  PetscCall(distance(x[1], x[0], &far));
  EXPECT(far < 1e-13, "MatSolve, %d levels of fill: %g", (int)levels, (double)far);
  PetscCall(MatNorm(X[0], NORM_FROBENIUS, &norm));
  PetscCall(MatAXPY(X[1], -1, X[0], SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(X[1], NORM_FROBENIUS, &far));
  EXPECT(far < 1e-13 * norm, "MatMatSolve, %d levels of fill: %g", (int)levels, (double)(far / norm));
  if (method == MAT_FACTOR_ILU) { /* PETSc's ICC has no transposed solve */
    for (k = 0; k < 2; ++k)
      PetscCall(MatSolveTranspose(F[k], b, x[k]));
    PetscCall(distance(x[1], x[0], &far));
    EXPECT(far < 1e-13, "MatSolveTranspose, %d levels of fill: %g", (int)levels, (double)far);
  }
  for (k = 0; k < 2; ++k) {
    PetscCall(MatDestroy(&F[k]));
    PetscCall(MatDestroy(&X[k]));
    PetscCall(VecDestroy(&x[k]));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* A pivot of zero ends as it does with PETSc's factors; a matrix without a diagonal entry, and a policy that
 * there is not, are errors of PETSc. */
static PetscErrorCode test_failures(void) {
  Mat A, F = NULL;
  Vec b, x;
  KSP ksp;
  KSPConvergedReason reason;
  MatFactorError error;
  PetscErrorCode code;

  PetscFunctionBegin;
  PetscCall(make_grid(6, 0, &A));
  PetscCall(make_vector(36, &b));
  PetscCall(MatSetValue(A, 0, 0, 0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
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
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));

  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 2, NULL, &A));
  PetscCall(MatSetValue(A, 0, 0, 1, INSERT_VALUES));
  PetscCall(MatSetValue(A, 1, 0, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  code = make_factor(A, "sptrsv", MAT_FACTOR_ILU, 0, &F);
  PetscCall(PetscPopErrorHandler());
  EXPECT(code == PETSC_ERR_ARG_WRONGSTATE, "missing diagonal entry: %d", (int)code);
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));

  PetscCall(make_grid(6, 0, &A));
  PetscCall(PetscOptionsInsertString(NULL, "-sptrsv_policy nonsense"));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  code = make_factor(A, "sptrsv", MAT_FACTOR_ILU, 0, &F);
  PetscCall(PetscPopErrorHandler());
  EXPECT(code == PETSC_ERR_ARG_WRONG, "a policy that there is not: %d", (int)code);
  PetscCall(MatDestroy(&F));
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode test_view(void) {
  Mat A, F;
  PetscViewer viewer;
  FILE* file;
  char text[4096] = "";
  char* found;

  PetscFunctionBegin;
  PetscCall(make_grid(6, 0, &A));
  PetscCall(PetscOptionsInsertString(NULL, "-sptrsv_policy host_serial"));
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
  PetscCall(PetscStrstr(text, "sptrsv, first factor: policy host_serial", &found));
  EXPECT(found != NULL, "%s", text);
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt levels;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
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
  PetscCall(test_failures());
  PetscCall(test_view());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, failures == 0 ? "all passed\n" : "%d failed\n", failures));
  PetscCall(PetscFinalize());
  return failures != 0;
}
