/* SPDX-License-Identifier: Apache-2.0 */
/* Conjugate gradients with ILU(0) and ICC(0), by PETSc's own factors and by the plug-in's in one run.
 * Options: -dimensions 2|3, -side N   the 5-point or 7-point Laplacian of a grid; or -file F: a matrix in
 * PETSc's format -mat_type aij|aijcusparse  where everything is computed, with -vec_type cuda for the latter
 *   -repeats N                 applications in a measurement
 * `direct` is the time of the same application by the C interface of sptrsv, without PETSc. */
#include <petscdevice.h>
#include <petscksp.h>
#include <petsctime.h>

#include <sptrsv.h>

static PetscBool on_device = PETSC_FALSE; /* where the matrix is */

/* Waits until the device has done its work, and returns the time. */
static PetscErrorCode now(PetscLogDouble* seconds) {
  PetscDeviceContext context;

  PetscFunctionBegin;
  if (on_device) {
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscCall(PetscTime(seconds));
  PetscFunctionReturn(0);
}

static PetscErrorCode make_matrix(Mat* made) {
  char file[PETSC_MAX_PATH_LEN];
  PetscBool has_file;
  PetscInt dimensions = 2, side = 1000, rows = 1, row, d;
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-file", file, sizeof file, &has_file));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dimensions", &dimensions, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-side", &side, NULL));
  PetscCall(MatCreate(PETSC_COMM_SELF, made));
  PetscCall(MatSetType(*made, MATSEQAIJ));
  PetscCall(MatSetFromOptions(*made));
  if (has_file) {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, file, FILE_MODE_READ, &viewer));
    PetscCall(MatLoad(*made, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscFunctionReturn(0);
  }
  for (d = 0; d < dimensions; ++d)
    rows *= side;
  PetscCall(MatSetSizes(*made, rows, rows, rows, rows));
  PetscCall(MatSeqAIJSetPreallocation(*made, 2 * dimensions + 1, NULL));
  for (row = 0; row < rows; ++row) {
    PetscInt stride = 1;

    for (d = 0; d < dimensions; ++d, stride *= side) {
      if (row / stride % side > 0)
        PetscCall(MatSetValue(*made, row, row - stride, -1, INSERT_VALUES));
      if (row / stride % side < side - 1)
        PetscCall(MatSetValue(*made, row, row + stride, -1, INSERT_VALUES));
    }
    PetscCall(MatSetValue(*made, row, row, 2 * dimensions, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*made, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*made, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Writes the seconds of an application by sptrsv_apply, without PETSc; 0 if F is not the plug-in's. */
static PetscErrorCode time_direct(Mat F, Vec b, Vec x, PetscInt repeats, PetscLogDouble* each) {
  PetscErrorCode (*get_factors)(Mat, sptrsv_factors**);
  sptrsv_factors* factors;
  sptrsv_vectors from = {NULL, 1, 1, 0}, to = {NULL, 1, 1, 0};
  const PetscScalar* b_array;
  PetscScalar* x_array;
  PetscLogDouble start;
  void* stream = NULL;
  PetscInt k;

  PetscFunctionBegin;
  *each = 0;
  PetscCall(PetscObjectQueryFunction((PetscObject)F, "SptrsvGetFactors_C", &get_factors));
  if (get_factors == NULL)
    PetscFunctionReturn(0);
  PetscCall(get_factors(F, &factors));
#if defined(PETSC_HAVE_CUDA)
  if (on_device) {
    PetscDeviceContext context;
    void* handle;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
    stream = *(void**)handle;
  }
#endif
  PetscCall(VecGetArrayReadAndMemType(b, &b_array, NULL));
  PetscCall(VecGetArrayWriteAndMemType(x, &x_array, NULL));
  from.data = (void*)b_array;
  to.data = x_array;
  PetscCall(now(&start));
  for (k = 0; k < repeats; ++k)
    PetscCheck(sptrsv_apply(factors, &from, &to, NULL, stream) == SPTRSV_SUCCESS, PETSC_COMM_SELF,
               PETSC_ERR_LIB, "%s", sptrsv_last_error());
  PetscCall(now(each));
  *each = (*each - start) / repeats;
  PetscCall(VecRestoreArrayWriteAndMemType(x, &x_array));
  PetscCall(VecRestoreArrayReadAndMemType(b, &b_array));
  PetscFunctionReturn(0);
}

/* Prints a row of the table. `theirs`: the name of PETSc's solver type. */
static PetscErrorCode measure(Mat A, PCType method, MatSolverType solver, PetscInt repeats) {
  PetscLogDouble start, set_up, again, solved, applied, direct;
  PetscReal residual;
  PetscInt k, iterations;
  Vec b, x;
  KSP ksp;
  PC pc;
  Mat F;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED)); /* the same stopping test for all */
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 10000));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, method));
  PetscCall(PCFactorSetMatSolverType(pc, solver));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(now(&start));
  PetscCall(KSPSetUp(ksp));
  PetscCall(now(&set_up));
  set_up -= start;
  PetscCall(MatScale(A, 2)); /* new values, twice */
  PetscCall(MatScale(A, 0.5));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(now(&start));
  PetscCall(KSPSetUp(ksp));
  PetscCall(now(&again));
  again -= start;
  PetscCall(now(&start));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(now(&solved));
  solved -= start;
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetResidualNorm(ksp, &residual));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(now(&start));
  for (k = 0; k < repeats; ++k)
    PetscCall(MatSolve(F, b, x));
  PetscCall(now(&applied));
  applied = (applied - start) / repeats;
  PetscCall(time_direct(F, b, x, repeats, &direct));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-4s %-9s %10.3f %10.3f %10.2f %10.2f %6d %10.2f %10.2f %9.1e\n",
                        method, solver, 1e3 * set_up, 1e3 * again, 1e6 * applied, 1e6 * direct,
                        (int)iterations, 1e3 * solved, 1e3 * (set_up + solved), (double)residual));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt repeats = 100, rows, round;
  const char* theirs;
  MatInfo info;
  Mat A;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(make_matrix(&A));
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &on_device));
  theirs = on_device ? "cusparse" : MATSOLVERPETSC;
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "%d rows, %.0f entries\n%-4s %-9s %10s %10s %10s %10s %6s %10s %10s %9s\n", (int)rows,
                        info.nz_used, "pc", "solver", "set-up ms", "again ms", "solve us", "direct us",
                        "steps", "krylov ms", "total ms", "residual"));
  for (round = 0; round < 2; ++round) { /* the first round loads the kernels, too */
    PetscCall(measure(A, PCILU, theirs, repeats));
    PetscCall(measure(A, PCILU, "sptrsv", repeats));
    PetscCall(measure(A, PCICC, theirs, repeats));
    PetscCall(measure(A, PCICC, "sptrsv", repeats));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
