! SPDX-License-Identifier: Apache-2.0
!> The C interface of the compiled library (sptrsv.h) for Fortran 2003.
!!
!! The rules for memory, streams and threads are those of the C interface. Offsets and indices are counted from 0.
!! Addresses are of type(c_ptr), in host or device memory: c_loc of an array with the attribute target, c_devloc in
!! CUDA Fortran, c_loc under `!$acc host_data use_device` or `!$omp target data use_device_addr`. Where the C
!! interface takes a null pointer, pass c_null_ptr.
module sptrsv
  use, intrinsic :: iso_c_binding
  implicit none
  public

  !> The result of a call: a code of sptrsv::errc, or the first or sptrsv_internal_error.
  enum, bind(c)  ! sptrsv_code
    enumerator :: sptrsv_success               !< no error
    enumerator :: sptrsv_invalid_argument      !< an invalid argument that has no code of its own
    enumerator :: sptrsv_not_square            !< the numbers of rows and columns differ
    enumerator :: sptrsv_offsets_not_monotone  !< offsets do not start at 0, decrease, or do not end at the entry count
    enumerator :: sptrsv_index_out_of_range    !< an index is negative or not less than the dimension
    enumerator :: sptrsv_duplicate_entry       !< the triangle has an entry twice
    enumerator :: sptrsv_missing_diagonal      !< a row has no diagonal entry, and the diagonal is not unit
    enumerator :: sptrsv_size_mismatch         !< the size of an array does not match the system
    enumerator :: sptrsv_too_many_rhs          !< more right-hand sides than sptrsv_options::max_rhs
    enumerator :: sptrsv_wrong_memory_space    !< a host pointer where a device pointer is needed, or the reverse
    enumerator :: sptrsv_unsupported           !< a combination that the policy does not support
    enumerator :: sptrsv_out_of_memory         !< there is no memory left
    enumerator :: sptrsv_parse_error           !< the settings of the policy `scheme` are malformed
    enumerator :: sptrsv_io_error              !< a file could not be opened, read or written
    enumerator :: sptrsv_cuda_error            !< a call of the CUDA runtime failed
    enumerator :: sptrsv_internal_error        !< an exception that is none of the library's own
    enumerator :: sptrsv_peer_failed           !< another PE of a distributed solve has failed
  end enum

  !> Type of the values of the matrix, b and x.
  enum, bind(c)  ! sptrsv_value_type
    enumerator :: sptrsv_float           !< float
    enumerator :: sptrsv_double          !< double
    enumerator :: sptrsv_complex_float   !< two floats, real part first
    enumerator :: sptrsv_complex_double  !< two doubles, real part first
  end enum

  !> Type of the indices and offsets of the matrix.
  enum, bind(c)  ! sptrsv_index_type
    enumerator :: sptrsv_int32  !< int32_t
    enumerator :: sptrsv_int64  !< int64_t
  end enum

  !> How the matrix is stored.
  enum, bind(c)  ! sptrsv_storage
    enumerator :: sptrsv_csr  !< compressed sparse rows
    enumerator :: sptrsv_csc  !< compressed sparse columns
    enumerator :: sptrsv_bsr  !< compressed sparse rows of square blocks of sptrsv_options%block_size rows, the values
                              !! of a block by rows; sptrsv_analyze takes them. `offsets` and `indices` count blocks,
                              !! `entries` counts values.
    enumerator :: sptrsv_bsr_by_columns  !< the same, the values of a block by columns
  end enum

  !> The triangle of the stored matrix.
  enum, bind(c)  ! sptrsv_part
    enumerator :: sptrsv_lower
    enumerator :: sptrsv_upper
  end enum

  !> The diagonal of the triangle: as stored, or ones.
  enum, bind(c)  ! sptrsv_diagonal
    enumerator :: sptrsv_non_unit
    enumerator :: sptrsv_unit
  end enum

  !> The operation on the triangle.
  enum, bind(c)  ! sptrsv_operation
    enumerator :: sptrsv_none
    enumerator :: sptrsv_transpose
    enumerator :: sptrsv_conj_transpose
  end enum

  !> What the last solve met, as sptrsv::solve_status::kind.
  enum, bind(c)  ! sptrsv_solve_status
    enumerator :: sptrsv_ok          !< every component of x is finite
    enumerator :: sptrsv_zero_pivot  !< the pivot of the row is zero
    enumerator :: sptrsv_non_finite  !< x is NaN or infinite in the row
    enumerator :: sptrsv_growth      !< x may be inaccurate from the row on
  end enum

  !> A part of the product of the factors.
  enum, bind(c)  ! sptrsv_factor_part
    enumerator :: sptrsv_first
    enumerator :: sptrsv_diagonal
    enumerator :: sptrsv_second
  end enum

  !> How an incomplete factorisation is made: A ~ L U, or A ~ L L^H.
  enum, bind(c)  ! sptrsv_incomplete_method
    enumerator :: sptrsv_incomplete_lu
    enumerator :: sptrsv_incomplete_cholesky
  end enum

  !> A Krylov method, as the functions of sptrsv::krylov.
  enum, bind(c)  ! sptrsv_krylov_method
    enumerator :: sptrsv_krylov_cg
    enumerator :: sptrsv_krylov_bicgstab
    enumerator :: sptrsv_krylov_gmres
  end enum

  !> Why a Krylov method has ended, as sptrsv::krylov::reason.
  enum, bind(c)  ! sptrsv_krylov_reason
    enumerator :: sptrsv_krylov_converged
    enumerator :: sptrsv_krylov_iteration_limit
    enumerator :: sptrsv_krylov_stagnation
    enumerator :: sptrsv_krylov_breakdown
    enumerator :: sptrsv_krylov_not_finite
    enumerator :: sptrsv_krylov_not_symmetric
    enumerator :: sptrsv_krylov_not_positive_definite
  end enum

  !> A matrix by pointers to its arrays, in host or device memory; nothing is copied or owned.
  type, bind(c) :: sptrsv_matrix
    integer(c_int) :: storage = 0        !< by rows or by columns
    integer(c_int) :: value_type = 0     !< type of `values`
    integer(c_int) :: index_type = 0     !< type of `offsets` and `indices`
    integer(c_int64_t) :: rows = 0       !< number of rows
    integer(c_int64_t) :: columns = 0    !< number of columns
    integer(c_int64_t) :: entries = 0    !< number of stored entries
    type(c_ptr) :: offsets = c_null_ptr  !< first entry of each row (column), and `entries`
    type(c_ptr) :: indices = c_null_ptr  !< column (row) of each entry, counted from 0
    type(c_ptr) :: values = c_null_ptr   !< value of each entry
  end type sptrsv_matrix

  !> Options of an analysis. All zero but `size` and `max_rhs`: the lower triangle as it is stored, with the
  !! default policy.
  type, bind(c) :: sptrsv_options
    integer(c_size_t) :: size = 0       !< sizeof(sptrsv_options)
    integer(c_int) :: part = 0          !< the triangle
    integer(c_int) :: diagonal = 0      !< its diagonal
    integer(c_int) :: operation = 0     !< the operation on it
    integer(c_int64_t) :: max_rhs = 0   !< largest number of right-hand sides of one solve, at least 1
    type(c_ptr) :: policy = c_null_ptr  !< Name and options of the policy, as sptrsv::any_policy takes them; null:
                                        !! the default for the memory of the matrix.
    integer(c_int64_t) :: block_size = 0 !< rows of a block of sptrsv_bsr, 1 to 1024; ignored otherwise
  end type sptrsv_options

  !> Several vectors: element i of vector j is data[i * row_stride + j * column_stride].
  type, bind(c) :: sptrsv_vectors
    type(c_ptr) :: data = c_null_ptr         !< address of the first element; the functions do not write to b
    integer(c_int64_t) :: columns = 0        !< number of vectors
    integer(c_int64_t) :: row_stride = 0     !< distance in elements from row to row
    integer(c_int64_t) :: column_stride = 0  !< distance in elements from vector to vector
  end type sptrsv_vectors

  !> What the analysis decided, as sptrsv::solver_info. The caller sets `size`, the functions write the
  !! rest. Texts belong to the solver: they are valid until the next call of sptrsv_get_info for it, and
  !! until it is destroyed.
  type, bind(c) :: sptrsv_info
    integer(c_size_t) :: size = 0                  !< sizeof(sptrsv_info)
    type(c_ptr) :: policy = c_null_ptr             !< name of the policy
    type(c_ptr) :: device = c_null_ptr             !< name of the device
    type(c_ptr) :: chosen = c_null_ptr             !< name of the policy that `automatic` chose; otherwise empty
    type(c_ptr) :: path = c_null_ptr               !< name of the path; empty if the policy has none
    type(c_ptr) :: plan = c_null_ptr               !< the choice in words; empty if there was none
    integer(c_int) :: bit_reproducible = 0         !< whether repeated solves give the same bits
    integer(c_int64_t) :: rows = 0                 !< rows of the system
    integer(c_int64_t) :: entries = 0              !< entries of the triangle
    integer(c_int64_t) :: ignored_entries = 0      !< stored entries that a solve does not use
    integer(c_int64_t) :: levels = 0               !< levels of the system; 0 if they were not counted
    integer(c_int64_t) :: solver_bytes = 0         !< memory for the pattern and the values
    integer(c_int64_t) :: workspace_bytes = 0      !< memory of one workspace
    integer(c_int64_t) :: analysis_peak_bytes = 0  !< largest memory during the analysis; 0 on the host
  end type sptrsv_info

  !> One factor of a factorisation: an operation on a triangle, as sptrsv::triangular_factor.
  type, bind(c) :: sptrsv_factor
    integer(c_int) :: part = 0       !< the triangle of the stored matrix
    integer(c_int) :: diagonal = 0   !< its diagonal
    integer(c_int) :: operation = 0  !< the operation on it
  end type sptrsv_factor

  !> Options of the system A x = b whose factors are known: P_r R A C P_c = F_1 D F_2, as
  !! sptrsv::factors_options. The arrays are in the memory of the matrices and have one element for each
  !! row.
  type, bind(c) :: sptrsv_factors_options
    integer(c_size_t) :: size = 0             !< sizeof(sptrsv_factors_options)
    type(sptrsv_factor) :: first              !< F_1, which is solved first
    type(sptrsv_factor) :: second             !< F_2
    integer(c_int) :: has_diagonal = 0        !< whether D is the stored diagonal of the matrix of F_1; otherwise D
                                              !! is one
    integer(c_int) :: transposed = 0          !< the operation of sptrsv_apply_transpose; SPTRSV_NONE: it is not
                                              !! available
    integer(c_int64_t) :: max_rhs = 0         !< largest number of right-hand sides of one application, at least 1
    type(c_ptr) :: row_order = c_null_ptr     !< P_r: the row of A for each row of the factors; null: the identity
    type(c_ptr) :: column_order = c_null_ptr  !< P_c: the column of A for each column of the factors; null: the
                                              !! identity
    type(c_ptr) :: row_scale = c_null_ptr     !< R, by row of A; null: ones
    type(c_ptr) :: column_scale = c_null_ptr  !< C, by column of A; null: ones
    type(c_ptr) :: policy = c_null_ptr        !< name and options of the policy; see sptrsv_options
  end type sptrsv_factors_options

  !> Options of an incomplete factorisation, as sptrsv::incomplete_options. All zero but `size`: LU without
  !! fill-in.
  type, bind(c) :: sptrsv_incomplete_options
    integer(c_size_t) :: size = 0                    !< sizeof(sptrsv_incomplete_options)
    integer(c_int) :: method = 0                     !< LU or Cholesky
    integer(c_int64_t) :: fill_level = 0             !< largest level of fill of an entry of the factors
    real(c_double) :: diagonal_shift = 0.0_c_double  !< diagonal entries are multiplied by 1 + diagonal_shift
    real(c_double) :: boost_below = 0.0_c_double     !< pivots of at most this magnitude are replaced by boost_to
    real(c_double) :: boost_to = 0.0_c_double        !< what replaces them; 0: pivots stay as they are
  end type sptrsv_incomplete_options

  !> Options of a batch, as sptrsv::batch_options: many systems with one pattern.
  type, bind(c) :: sptrsv_batch_options
    integer(c_size_t) :: size = 0           !< sizeof(sptrsv_batch_options)
    integer(c_int64_t) :: systems = 0       !< number of systems, at least 0
    integer(c_int64_t) :: value_stride = 0  !< distance between the values of consecutive systems; 0: the number of
                                            !! entries
    integer(c_int) :: lanes = 0             !< threads that share a system on the device: 4, 8, 16 or 32; 0: chosen
  end type sptrsv_batch_options

  !> Vectors of all systems of a batch: element i of vector j of system s is data[s * system_stride + i *
  !! row_stride + j * column_stride].
  type, bind(c) :: sptrsv_batch_vectors
    type(c_ptr) :: data = c_null_ptr         !< address of the first element; the functions do not write to b
    integer(c_int64_t) :: columns = 0        !< number of vectors of each system
    integer(c_int64_t) :: row_stride = 0     !< distance in elements from row to row
    integer(c_int64_t) :: column_stride = 0  !< distance in elements from vector to vector
    integer(c_int64_t) :: system_stride = 0  !< distance in elements from system to system
  end type sptrsv_batch_vectors

  !> Options of a Krylov method, as sptrsv::krylov::options, and its preconditioner M, whose values have the
  !! type of those of A: factors, or one triangle; M = I if both are null.
  type, bind(c) :: sptrsv_krylov_options
    integer(c_size_t) :: size = 0                        !< sizeof(sptrsv_krylov_options)
    integer(c_int) :: method = 0                         !< the method
    real(c_double) :: relative_tolerance = 0.0_c_double  !< largest norm of b - A x that is wanted, relative to that
                                                         !! of b
    real(c_double) :: absolute_tolerance = 0.0_c_double  !< a norm of b - A x that is small enough, too
    integer(c_int) :: max_iterations = 0                 !< iterations at most
    integer(c_int) :: restart = 0                        !< iterations of a cycle of GMRES, at least 1
    integer(c_int) :: check_symmetry = 0                 !< whether conjugate gradients test first whether A is
                                                         !! Hermitian
    type(c_ptr) :: factors = c_null_ptr                  !< M, which is applied on its own workspace; or null
    type(c_ptr) :: solver = c_null_ptr                   !< M, which is solved on its own workspace; or null
  end type sptrsv_krylov_options

  !> What a Krylov method has reached. The caller sets `size`, the function writes the rest.
  type, bind(c) :: sptrsv_krylov_result
    integer(c_size_t) :: size = 0              !< sizeof(sptrsv_krylov_result)
    integer(c_int) :: reason = 0               !< what ended the method
    integer(c_int) :: iterations = 0           !< completed ones: what ended the method otherwise happened in the
                                               !! next one
    real(c_double) :: residual = 0.0_c_double  !< norm of b - A x, relative to that of b; 0 if b is 0
  end type sptrsv_krylov_result

  interface
    !> Returns the version of the library as one number, as SPTRSV_VERSION.
    function sptrsv_version() bind(c) result(found)
      import :: c_int
      integer(c_int) :: found
    end function sptrsv_version

    !> Returns the size in bytes of a structure of this interface in the library, by its name, for example
    !! "sptrsv_options"; 0: there is no such structure. A binding compares it with its own.
    function sptrsv_size_of(structure) bind(c) result(found)
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: structure(*)
      integer(c_size_t) :: found
    end function sptrsv_size_of

    !> Returns the text of this thread's last error; empty if there was none.
    function sptrsv_last_error() bind(c) result(found)
      import :: c_ptr
      type(c_ptr) :: found
    end function sptrsv_last_error

    !> Returns the row of the matrix that this thread's last error concerns, counted from 0; -1 if there is
    !! none.
    function sptrsv_last_error_row() bind(c) result(found)
      import :: c_int64_t
      integer(c_int64_t) :: found
    end function sptrsv_last_error_row

    !> Returns the names of the policies of the library, separated by commas.
    function sptrsv_policy_names() bind(c) result(found)
      import :: c_ptr
      type(c_ptr) :: found
    end function sptrsv_policy_names

    !> Analyses a matrix and writes the solver to `solver`, which the caller destroys. On an error
    !! `solver` is null. The default of `options` is null. `stream`: a cudaStream_t; policies of the host
    !! ignore it.
    function sptrsv_analyze(matrix, options, stream, solver) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_matrix
      type(sptrsv_matrix), intent(in) :: matrix
      type(c_ptr), value :: options
      type(c_ptr), value :: stream
      type(c_ptr), intent(out) :: solver
      integer(c_int) :: code
    end function sptrsv_analyze

    !> Destroys a solver; null is ignored. Its workspaces must be destroyed before.
    subroutine sptrsv_destroy(solver) bind(c)
      import :: c_ptr
      type(c_ptr), value :: solver
    end subroutine sptrsv_destroy

    !> Replaces the values of the matrix; only enqueues. `entries`: the size of the array.
    function sptrsv_update_values(solver, values, entries, stream) bind(c) result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: solver
      type(c_ptr), value :: values
      integer(c_int64_t), value :: entries
      type(c_ptr), value :: stream
      integer(c_int) :: code
    end function sptrsv_update_values

    !> Solves op(T) x = b for one right-hand side with contiguous elements; only enqueues. x may be b.
    function sptrsv_solve(solver, b, x, stream) bind(c) result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver
      type(c_ptr), value :: b
      type(c_ptr), value :: x
      type(c_ptr), value :: stream
      integer(c_int) :: code
    end function sptrsv_solve

    !> Solves op(T) x = alpha b for several right-hand sides; only enqueues. `alpha`: the address of one
    !! value in host memory; null: 1. `workspace` null: the solver's own.
    function sptrsv_solve_many(solver, alpha, b, x, workspace, stream) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_vectors
      type(c_ptr), value :: solver
      type(c_ptr), value :: alpha
      type(sptrsv_vectors), intent(in) :: b
      type(sptrsv_vectors), intent(in) :: x
      type(c_ptr), value :: workspace
      type(c_ptr), value :: stream
      integer(c_int) :: code
    end function sptrsv_solve_many

    !> Creates scratch memory for one more solve in flight. On an error `workspace` is null.
    function sptrsv_make_workspace(solver, stream, workspace) bind(c) result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver
      type(c_ptr), value :: stream
      type(c_ptr), intent(out) :: workspace
      integer(c_int) :: code
    end function sptrsv_make_workspace

    !> Destroys a workspace; null is ignored.
    subroutine sptrsv_destroy_workspace(workspace) bind(c)
      import :: c_ptr
      type(c_ptr), value :: workspace
    end subroutine sptrsv_destroy_workspace

    !> Writes what the last solve on the workspace (null: the solver's own) met, and the row, or -1, to
    !! `row`. Synchronises the stream.
    function sptrsv_get_status(solver, workspace, stream, status, row) bind(c) result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: solver
      type(c_ptr), value :: workspace
      type(c_ptr), value :: stream
      integer(c_int), intent(out) :: status
      integer(c_int64_t), intent(out) :: row
      integer(c_int) :: code
    end function sptrsv_get_status

    !> Writes what the analysis decided to `info`.
    function sptrsv_get_info(solver, info) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_info
      type(c_ptr), value :: solver
      type(sptrsv_info), intent(inout) :: info
      integer(c_int) :: code
    end function sptrsv_get_info

    !> Analyses the factors of a matrix and writes the result to `factors`, which the caller destroys. On
    !! an error `factors` is null. `second`: the matrix of F_2, of the same types and storage; null:
    !! `first` holds both factors. `options` null: those of sptrsv_lu_options. `stream`: see sptrsv_analyze.
    function sptrsv_analyze_factors(first, second, options, stream, factors) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_matrix
      type(sptrsv_matrix), intent(in) :: first
      type(c_ptr), value :: second
      type(c_ptr), value :: options
      type(c_ptr), value :: stream
      type(c_ptr), intent(out) :: factors
      integer(c_int) :: code
    end function sptrsv_analyze_factors

    !> Destroys factors; null is ignored. Their workspaces must be destroyed before.
    subroutine sptrsv_destroy_factors(factors) bind(c)
      import :: c_ptr
      type(c_ptr), value :: factors
    end subroutine sptrsv_destroy_factors

    !> Replaces the values of both factors; only enqueues. The numbers of entries are the sizes of the
    !! arrays. `second_values` null: both factors are stored in one matrix.
    function sptrsv_update_factors(factors, first_values, first_entries, second_values, second_entries, stream) &
        bind(c) result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: factors
      type(c_ptr), value :: first_values
      integer(c_int64_t), value :: first_entries
      type(c_ptr), value :: second_values
      integer(c_int64_t), value :: second_entries
      type(c_ptr), value :: stream
      integer(c_int) :: code
    end function sptrsv_update_factors

    !> Solves A x = b; only enqueues. x may be b. `workspace` null: the factors' own.
    function sptrsv_apply(factors, b, x, workspace, stream) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_vectors
      type(c_ptr), value :: factors
      type(sptrsv_vectors), intent(in) :: b
      type(sptrsv_vectors), intent(in) :: x
      type(c_ptr), value :: workspace
      type(c_ptr), value :: stream
      integer(c_int) :: code
    end function sptrsv_apply

    !> Solves op(A) x = b with sptrsv_factors_options::transposed; otherwise as sptrsv_apply.
    function sptrsv_apply_transpose(factors, b, x, workspace, stream) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_vectors
      type(c_ptr), value :: factors
      type(sptrsv_vectors), intent(in) :: b
      type(sptrsv_vectors), intent(in) :: x
      type(c_ptr), value :: workspace
      type(c_ptr), value :: stream
      integer(c_int) :: code
    end function sptrsv_apply_transpose

    !> Creates scratch memory for one more application in flight. On an error `workspace` is null.
    function sptrsv_make_factors_workspace(factors, stream, workspace) bind(c) result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: factors
      type(c_ptr), value :: stream
      type(c_ptr), intent(out) :: workspace
      integer(c_int) :: code
    end function sptrsv_make_factors_workspace

    !> Writes what the last application on the workspace (null: the factors' own) met to `status`. If this
    !! is not SPTRSV_OK, the function writes the factor that met it to `part` and the row of this factor to
    !! `row` (-1: none). `part` and `row` may be null. Synchronises the stream.
    function sptrsv_get_factors_status(factors, workspace, stream, status, part, row) bind(c) result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: factors
      type(c_ptr), value :: workspace
      type(c_ptr), value :: stream
      integer(c_int), intent(out) :: status
      integer(c_int), intent(out) :: part
      integer(c_int64_t), intent(out) :: row
      integer(c_int) :: code
    end function sptrsv_get_factors_status

    !> Writes the description of solver `number` of the factors to `info`: 0 for F_1, 1 for F_2, 2 and 3
    !! for the solvers of sptrsv_apply_transpose, if it has its own. Texts belong to the factors: they are
    !! valid until the next call of this function for them, and until they are destroyed.
    function sptrsv_get_factors_info(factors, number, info) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_info
      type(c_ptr), value :: factors
      integer(c_int), value :: number
      type(sptrsv_info), intent(inout) :: info
      integer(c_int) :: code
    end function sptrsv_get_factors_info

    !> Analyses the pattern of a matrix, enqueues its incomplete factorisation, on the device if the matrix
    !! is in device memory and otherwise on the host, and writes the result to `incomplete`, which the
    !! caller destroys. On an error `incomplete` is null. `options` null: LU without fill-in.
    function sptrsv_analyze_incomplete(matrix, options, stream, incomplete) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_matrix
      type(sptrsv_matrix), intent(in) :: matrix
      type(c_ptr), value :: options
      type(c_ptr), value :: stream
      type(c_ptr), intent(out) :: incomplete
      integer(c_int) :: code
    end function sptrsv_analyze_incomplete

    !> Destroys a factorisation and the arrays of its factors; null is ignored.
    subroutine sptrsv_destroy_incomplete(incomplete) bind(c)
      import :: c_ptr
      type(c_ptr), value :: incomplete
    end subroutine sptrsv_destroy_incomplete

    !> Computes the factors of new values of the matrix; only enqueues.
    function sptrsv_factorize(incomplete, values, entries, stream) bind(c) result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: incomplete
      type(c_ptr), value :: values
      integer(c_int64_t), value :: entries
      type(c_ptr), value :: stream
      integer(c_int) :: code
    end function sptrsv_factorize

    !> Writes the factors to `factors`, for sptrsv_analyze_factors and, with their values, for
    !! sptrsv_update_factors: L and U, or L, in one matrix. `matrix`: the matrix that was analysed, whose
    !! pattern the factors have without fill-in. The arrays belong to the factorisation and the matrix.
    function sptrsv_get_incomplete_factors(incomplete, matrix, factors) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_matrix
      type(c_ptr), value :: incomplete
      type(sptrsv_matrix), intent(in) :: matrix
      type(sptrsv_matrix), intent(out) :: factors
      integer(c_int) :: code
    end function sptrsv_get_incomplete_factors

    !> Writes whether the last factorisation met a zero pivot or a value that is not finite (SPTRSV_OK:
    !! neither), the first such row of the matrix (-1: none), and how many pivots were replaced. `row` and
    !! `boosted_pivots` may be null. Synchronises the stream.
    function sptrsv_get_incomplete_status(incomplete, stream, status, row, boosted_pivots) bind(c) result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: incomplete
      type(c_ptr), value :: stream
      integer(c_int), intent(out) :: status
      integer(c_int64_t), intent(out) :: row
      integer(c_int64_t), intent(out) :: boosted_pivots
      integer(c_int) :: code
    end function sptrsv_get_incomplete_status

    !> Analyses the pattern of a matrix for a batch, takes the values, and writes the result to `batch`,
    !! which the caller destroys. On an error `batch` is null. The systems are solved on the device if the
    !! matrix is in device memory; otherwise the host solves one after the other. `matrix`: its `values` are
    !! those of all systems, (systems - 1) * value_stride + entries elements. `options` null: see
    !! sptrsv_analyze; `policy` must be null.
    function sptrsv_analyze_batch(matrix, systems, options, stream, batch) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_batch_options, sptrsv_matrix
      type(sptrsv_matrix), intent(in) :: matrix
      type(sptrsv_batch_options), intent(in) :: systems
      type(c_ptr), value :: options
      type(c_ptr), value :: stream
      type(c_ptr), intent(out) :: batch
      integer(c_int) :: code
    end function sptrsv_analyze_batch

    !> Destroys a batch; null is ignored.
    subroutine sptrsv_destroy_batch(batch) bind(c)
      import :: c_ptr
      type(c_ptr), value :: batch
    end subroutine sptrsv_destroy_batch

    !> Replaces the values of all systems; only enqueues. `count`: the size of the array.
    function sptrsv_update_batch(batch, values, count, stream) bind(c) result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: batch
      type(c_ptr), value :: values
      integer(c_int64_t), value :: count
      type(c_ptr), value :: stream
      integer(c_int) :: code
    end function sptrsv_update_batch

    !> Solves op(T_s) x_s = alpha b_s for all systems; only enqueues. x may be b. `alpha`: the address of
    !! one value in host memory; null: 1. Strides of b may be 0.
    function sptrsv_solve_batch(batch, alpha, b, x, stream) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_batch_vectors
      type(c_ptr), value :: batch
      type(c_ptr), value :: alpha
      type(sptrsv_batch_vectors), intent(in) :: b
      type(sptrsv_batch_vectors), intent(in) :: x
      type(c_ptr), value :: stream
      integer(c_int) :: code
    end function sptrsv_solve_batch

    !> Writes what the last solve met; if this is not SPTRSV_OK, the first such system and its row
    !! (otherwise -1). `system` and `row` may be null. Synchronises the stream.
    function sptrsv_get_batch_status(batch, stream, status, system, row) bind(c) result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: batch
      type(c_ptr), value :: stream
      integer(c_int), intent(out) :: status
      integer(c_int64_t), intent(out) :: system
      integer(c_int64_t), intent(out) :: row
      integer(c_int) :: code
    end function sptrsv_get_batch_status

    !> Writes what the analysis decided to `info`; rows, entries and levels are those of one system. Texts
    !! belong to the batch: they are valid until the next call of this function for it, and until it is
    !! destroyed.
    function sptrsv_get_batch_info(batch, info) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_info
      type(c_ptr), value :: batch
      type(sptrsv_info), intent(inout) :: info
      integer(c_int) :: code
    end function sptrsv_get_batch_info

    !> Solves A x = b by a Krylov method, on the device if A is in device memory and otherwise on the host,
    !! and writes what it has reached to `result`. No convergence is no error. `matrix`: A, by rows.
    !! `options` null: those of sptrsv_default_krylov_options. `b` and `x` have one element for each row, in
    !! the memory of A; x is the initial guess and the solution, and must not overlap b. Synchronises the
    !! stream.
    function sptrsv_solve_krylov(matrix, options, b, x, stream, result) bind(c) result(code)
      import :: c_int, c_ptr, sptrsv_krylov_result, sptrsv_matrix
      type(sptrsv_matrix), intent(in) :: matrix
      type(c_ptr), value :: options
      type(c_ptr), value :: b
      type(c_ptr), value :: x
      type(c_ptr), value :: stream
      type(sptrsv_krylov_result), intent(inout) :: result
      integer(c_int) :: code
    end function sptrsv_solve_krylov
  end interface

contains

  !> Returns the options of the lower triangle as it is stored, for one right-hand side.
  function sptrsv_default_options() result(options)
    type(sptrsv_options) :: options
    options%size = sptrsv_size_of(c_text("sptrsv_options"))
    options%max_rhs = 1
  end function sptrsv_default_options

  !> Returns the options of L U: L is unit lower, U is upper, one right-hand side, nothing is permuted or scaled.
  function sptrsv_lu_options() result(options)
    type(sptrsv_factors_options) :: options
    options%size = sptrsv_size_of(c_text("sptrsv_factors_options"))
    options%first%diagonal = sptrsv_unit
    options%second%part = sptrsv_upper
    options%max_rhs = 1
  end function sptrsv_lu_options

  !> Returns the options of ILU(0).
  function sptrsv_ilu_options() result(options)
    type(sptrsv_incomplete_options) :: options
    options%size = sptrsv_size_of(c_text("sptrsv_incomplete_options"))
  end function sptrsv_ilu_options

  !> Returns the options of a batch of `systems` systems, whose values follow each other.
  function sptrsv_batch_of(systems) result(options)
    integer(c_int64_t), intent(in) :: systems
    type(sptrsv_batch_options) :: options
    options%size = sptrsv_size_of(c_text("sptrsv_batch_options"))
    options%systems = systems
  end function sptrsv_batch_of

  !> Returns the options of conjugate gradients without a preconditioner, to a residual of 1e-8.
  function sptrsv_default_krylov_options() result(options)
    type(sptrsv_krylov_options) :: options
    options%size = sptrsv_size_of(c_text("sptrsv_krylov_options"))
    options%relative_tolerance = 1e-8_c_double
    options%max_iterations = 10000
    options%restart = 30
    options%check_symmetry = 1
  end function sptrsv_default_krylov_options

  !> Returns a result to be written by sptrsv_solve_krylov.
  function sptrsv_empty_krylov_result() result(empty)
    type(sptrsv_krylov_result) :: empty
    empty%size = sptrsv_size_of(c_text("sptrsv_krylov_result"))
  end function sptrsv_empty_krylov_result

  !> Returns a description to be written by sptrsv_get_info and its siblings.
  function sptrsv_empty_info() result(info)
    type(sptrsv_info) :: info
    info%size = sptrsv_size_of(c_text("sptrsv_info"))
  end function sptrsv_empty_info

  !> Returns the text of this thread's last error; empty if there was none.
  function sptrsv_error_text() result(text)
    character(len=:), allocatable :: text
    text = sptrsv_text(sptrsv_last_error())
  end function sptrsv_error_text

  !> Returns a text of the library, for example a member of sptrsv_info.
  function sptrsv_text(address) result(text)
    type(c_ptr), intent(in) :: address
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: length, i
    text = ""
    if (.not. c_associated(address)) return
    call c_f_pointer(address, characters, [huge(0)])
    length = 0
    do while (characters(length + 1) /= c_null_char)
      length = length + 1
    end do
    deallocate (text)
    allocate (character(len=length) :: text)
    do i = 1, length
      text(i:i) = characters(i)
    end do
  end function sptrsv_text

  !> Returns a text as C has it. For a policy: keep it in a variable with the attribute target, and pass its c_loc.
  pure function c_text(text) result(characters)
    character(len=*), intent(in) :: text
    character(kind=c_char) :: characters(len(text) + 1)
    integer :: i
    do i = 1, len(text)
      characters(i) = text(i:i)
    end do
    characters(len(text) + 1) = c_null_char
  end function c_text
end module sptrsv
