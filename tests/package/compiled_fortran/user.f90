!> The C interface from Fortran: all value types, factors, incomplete factors, batches, Krylov methods, sizes
!> and errors.
program user
  use, intrinsic :: iso_c_binding, only: c_sizeof
  use sptrsv
  implicit none
  integer :: failures = 0

  call structures_have_the_sizes_of_the_library()
  call solves_in_all_types()
  call solves_several_right_hand_sides()
  call applies_factors()
  call factorises_incompletely()
  call solves_batches()
  call solves_by_krylov_methods()
  call refuses_bad_input_with_a_text()
  if (failures > 0) error stop 1
  print '(a)', 'right'

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    print '(4a)', 'not true: ', what, ': ', sptrsv_error_text()
    failures = failures + 1
  end subroutine check

  subroutine structures_have_the_sizes_of_the_library()
    type(sptrsv_matrix) :: matrix
    type(sptrsv_options) :: options
    type(sptrsv_vectors) :: vectors
    type(sptrsv_info) :: info
    type(sptrsv_factor) :: factor
    type(sptrsv_factors_options) :: of_factors
    type(sptrsv_incomplete_options) :: of_incomplete
    type(sptrsv_batch_options) :: of_batch
    type(sptrsv_batch_vectors) :: of_systems
    type(sptrsv_krylov_options) :: of_method
    type(sptrsv_krylov_result) :: reached
    call check(sptrsv_size_of(c_text('sptrsv_matrix')) == c_sizeof(matrix), 'sptrsv_matrix')
    call check(sptrsv_size_of(c_text('sptrsv_options')) == c_sizeof(options), 'sptrsv_options')
    call check(sptrsv_size_of(c_text('sptrsv_vectors')) == c_sizeof(vectors), 'sptrsv_vectors')
    call check(sptrsv_size_of(c_text('sptrsv_info')) == c_sizeof(info), 'sptrsv_info')
    call check(sptrsv_size_of(c_text('sptrsv_factor')) == c_sizeof(factor), 'sptrsv_factor')
    call check(sptrsv_size_of(c_text('sptrsv_factors_options')) == c_sizeof(of_factors), 'sptrsv_factors_options')
    call check(sptrsv_size_of(c_text('sptrsv_incomplete_options')) == c_sizeof(of_incomplete), 'incomplete_options')
    call check(sptrsv_size_of(c_text('sptrsv_batch_options')) == c_sizeof(of_batch), 'sptrsv_batch_options')
    call check(sptrsv_size_of(c_text('sptrsv_batch_vectors')) == c_sizeof(of_systems), 'sptrsv_batch_vectors')
    call check(sptrsv_size_of(c_text('sptrsv_krylov_options')) == c_sizeof(of_method), 'sptrsv_krylov_options')
    call check(sptrsv_size_of(c_text('sptrsv_krylov_result')) == c_sizeof(reached), 'sptrsv_krylov_result')
  end subroutine structures_have_the_sizes_of_the_library

  !> Returns the matrix (2 0; 1 4) with `values`.
  function lower(value_type, values) result(a)
    integer(c_int), intent(in) :: value_type
    type(c_ptr), intent(in) :: values
    type(sptrsv_matrix) :: a
    integer(c_int32_t), save, target :: offsets(3) = [0, 1, 3], indices(3) = [0, 0, 1]
    a%value_type = value_type
    a%rows = 2
    a%columns = 2
    a%entries = 3
    a%offsets = c_loc(offsets)
    a%indices = c_loc(indices)
    a%values = values
  end function lower

  subroutine solves_in_all_types()
    real(c_float), target :: f(3) = [2, 1, 4], f_b(2) = [2, 9], f_x(2)
    real(c_double), target :: d(3) = [2, 1, 4], d_b(2) = [2, 9], d_x(2)
    complex(c_float_complex), target :: c(3), c_b(2), c_x(2)
    complex(c_double_complex), target :: z(3), z_b(2), z_x(2)
    c = f
    c_b = f_b
    z = (0, 1) * d
    z_b = (0, 1) * d_b
    call solve(lower(sptrsv_float, c_loc(f)), c_loc(f_b), c_loc(f_x))
    call check(all(f_x == [1, 2]), 'float')
    call solve(lower(sptrsv_double, c_loc(d)), c_loc(d_b), c_loc(d_x))
    call check(all(d_x == [1, 2]), 'double')
    call solve(lower(sptrsv_complex_float, c_loc(c)), c_loc(c_b), c_loc(c_x))
    call check(all(c_x == [1, 2]), 'complex float')
    call solve(lower(sptrsv_complex_double, c_loc(z)), c_loc(z_b), c_loc(z_x))
    call check(all(z_x == [1, 2]), 'complex double')
  end subroutine solves_in_all_types

  subroutine solve(a, b, x)
    type(sptrsv_matrix), intent(in) :: a
    type(c_ptr), intent(in) :: b, x
    type(c_ptr) :: solver
    call check(sptrsv_analyze(a, c_null_ptr, c_null_ptr, solver) == sptrsv_success, 'analyze')
    call check(sptrsv_solve(solver, b, x, c_null_ptr) == sptrsv_success, 'solve')
    call sptrsv_destroy(solver)
  end subroutine solve

  subroutine solves_several_right_hand_sides()
    real(c_double), target :: values(3) = [2, 1, 4], b(2, 2) = reshape([2, 9, 4, 18], [2, 2]), x(2, 2), alpha = 2
    real(c_double), target :: singular(3) = [2, 1, 0]
    type(sptrsv_options), target :: options
    type(sptrsv_info) :: info
    type(c_ptr) :: solver, workspace
    character(kind=c_char), target :: policy(12)
    integer(c_int) :: status
    integer(c_int64_t) :: row
    options = sptrsv_default_options()
    options%max_rhs = 2
    policy = c_text('host_serial')
    options%policy = c_loc(policy)
    call check(sptrsv_analyze(lower(sptrsv_double, c_loc(values)), c_loc(options), c_null_ptr, solver) == 0, 'analyze')
    call check(sptrsv_make_workspace(solver, c_null_ptr, workspace) == 0, 'workspace')
    call check(sptrsv_solve_many(solver, c_loc(alpha), columns(c_loc(b), 2), columns(c_loc(x), 2), workspace, &
                                 c_null_ptr) == 0, 'solve_many')
    call check(all(x == reshape([2, 4, 4, 8], [2, 2])), 'several right-hand sides')
    info = sptrsv_empty_info()
    call check(sptrsv_get_info(solver, info) == 0, 'get_info')
    call check(sptrsv_text(info%policy) == 'host_serial' .and. info%rows == 2 .and. info%entries == 3, 'info')
    call check(sptrsv_update_values(solver, c_loc(singular), 3_c_int64_t, c_null_ptr) == 0, 'update_values')
    call check(sptrsv_solve(solver, c_loc(b), c_loc(x), c_null_ptr) == 0, 'solve')
    call check(sptrsv_get_status(solver, c_null_ptr, c_null_ptr, status, row) == 0, 'get_status')
    call check(status == sptrsv_zero_pivot .and. row == 1, 'zero pivot')
    call sptrsv_destroy_workspace(workspace)
    call sptrsv_destroy(solver)
  end subroutine solves_several_right_hand_sides

  !> Returns `count` vectors of two elements, one after the other.
  function columns(address, count) result(vectors)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: count
    type(sptrsv_vectors) :: vectors
    vectors%data = address
    vectors%columns = count
    vectors%row_stride = 1
    vectors%column_stride = 2
  end function columns

  !> Returns the full matrix of two rows with `values`.
  function full(values) result(a)
    type(c_ptr), intent(in) :: values
    type(sptrsv_matrix) :: a
    integer(c_int64_t), save, target :: offsets(3) = [0, 2, 4], indices(4) = [0, 1, 0, 1]
    a = lower(sptrsv_double, values)
    a%index_type = sptrsv_int64
    a%entries = 4
    a%offsets = c_loc(offsets)
    a%indices = c_loc(indices)
  end function full

  !> A = L U = (1 0; 2 1) (3 1; 0 4) = (3 1; 6 6).
  subroutine applies_factors()
    real(c_double), target :: values(4) = [3, 1, 2, 4], b(2) = [4, 12], x(2), transposed(2) = [9, 7]
    type(sptrsv_factors_options), target :: options
    type(c_ptr) :: factors
    integer(c_int) :: status, part
    integer(c_int64_t) :: row
    options = sptrsv_lu_options()
    options%transposed = sptrsv_transpose
    call check(sptrsv_analyze_factors(full(c_loc(values)), c_null_ptr, c_loc(options), c_null_ptr, factors) == 0, 'LU')
    call check(sptrsv_apply(factors, columns(c_loc(b), 1), columns(c_loc(x), 1), c_null_ptr, c_null_ptr) == 0, 'apply')
    call check(all(x == 1), 'factors')
    call check(sptrsv_apply_transpose(factors, columns(c_loc(transposed), 1), columns(c_loc(x), 1), c_null_ptr, &
                                      c_null_ptr) == 0, 'apply_transpose')
    call check(all(x == 1), 'transposed factors')
    call check(sptrsv_get_factors_status(factors, c_null_ptr, c_null_ptr, status, part, row) == 0, 'status')
    call check(status == sptrsv_ok, 'status of factors')
    call sptrsv_destroy_factors(factors)
  end subroutine applies_factors

  !> A = (4 2; 2 5) = L U = (1 0; 1/2 1) (4 2; 0 4).
  subroutine factorises_incompletely()
    real(c_double), target :: values(4) = [4, 2, 2, 5], b(2) = [6, 7], x(2)
    type(sptrsv_incomplete_options), target :: options
    type(sptrsv_matrix) :: a, both
    type(c_ptr) :: incomplete, factors
    integer(c_int) :: status
    integer(c_int64_t) :: row, boosted
    a = full(c_loc(values))
    options = sptrsv_ilu_options()
    call check(sptrsv_analyze_incomplete(a, c_loc(options), c_null_ptr, incomplete) == 0, 'analyze_incomplete')
    call check(sptrsv_get_incomplete_factors(incomplete, a, both) == 0, 'get_incomplete_factors')
    call check(sptrsv_analyze_factors(both, c_null_ptr, c_null_ptr, c_null_ptr, factors) == 0, 'analyze_factors')
    call check(sptrsv_apply(factors, columns(c_loc(b), 1), columns(c_loc(x), 1), c_null_ptr, c_null_ptr) == 0, 'apply')
    call check(all(x == 1), 'incomplete factors')
    call check(sptrsv_get_incomplete_status(incomplete, c_null_ptr, status, row, boosted) == 0, 'status')
    call check(status == sptrsv_ok .and. row == -1 .and. boosted == 0, 'status of the factorisation')
    call sptrsv_destroy_factors(factors)
    call sptrsv_destroy_incomplete(incomplete)
  end subroutine factorises_incompletely

  subroutine solves_batches()
    real(c_double), target :: values(6) = [2, 1, 4, 4, 2, 8], b(4) = [2, 9, 4, 18], x(4)
    type(sptrsv_batch_vectors) :: from, to
    type(c_ptr) :: batch
    integer(c_int) :: status
    integer(c_int64_t) :: system, row
    from%data = c_loc(b)
    from%columns = 1
    from%row_stride = 1
    from%system_stride = 2
    to = from
    to%data = c_loc(x)
    call check(sptrsv_analyze_batch(lower(sptrsv_double, c_loc(values)), sptrsv_batch_of(2_c_int64_t), c_null_ptr, &
                                    c_null_ptr, batch) == 0, 'analyze_batch')
    call check(sptrsv_solve_batch(batch, c_null_ptr, from, to, c_null_ptr) == 0, 'solve_batch')
    call check(all(x == [1, 2, 1, 2]), 'batch')
    call check(sptrsv_get_batch_status(batch, c_null_ptr, status, system, row) == 0 .and. status == sptrsv_ok, 'status')
    call sptrsv_destroy_batch(batch)
  end subroutine solves_batches

  !> (4 2; 2 5) (1; 1) = (6; 7), with and without the Cholesky factor (2 0; 1 2).
  subroutine solves_by_krylov_methods()
    real(c_double), target :: values(4) = [4, 2, 2, 5], b(2) = [6, 7], x(2)
    type(sptrsv_incomplete_options), target :: cholesky
    type(sptrsv_factors_options), target :: of_factors
    type(sptrsv_krylov_options), target :: options
    type(sptrsv_krylov_result) :: result
    type(sptrsv_matrix) :: a, both
    type(c_ptr) :: incomplete, factors
    integer :: method
    a = full(c_loc(values))
    cholesky = sptrsv_ilu_options()
    cholesky%method = sptrsv_incomplete_cholesky
    of_factors = sptrsv_lu_options()
    of_factors%first%diagonal = sptrsv_non_unit
    of_factors%second = sptrsv_factor(sptrsv_lower, sptrsv_non_unit, sptrsv_conj_transpose)
    call check(sptrsv_analyze_incomplete(a, c_loc(cholesky), c_null_ptr, incomplete) == 0, 'analyze_incomplete')
    call check(sptrsv_get_incomplete_factors(incomplete, a, both) == 0, 'get_incomplete_factors')
    call check(sptrsv_analyze_factors(both, c_null_ptr, c_loc(of_factors), c_null_ptr, factors) == 0, 'analyze_factors')
    options = sptrsv_default_krylov_options()
    do method = sptrsv_krylov_cg, sptrsv_krylov_gmres
      options%method = method
      options%factors = c_null_ptr
      x = 0
      result = sptrsv_empty_krylov_result()
      call check(sptrsv_solve_krylov(a, c_loc(options), c_loc(b), c_loc(x), c_null_ptr, result) == 0, 'solve_krylov')
      call check(result%reason == sptrsv_krylov_converged .and. result%iterations == 2, 'two iterations')
      call check(all(abs(x - 1) < 1e-7), 'solution')
      options%factors = factors
      x = 0
      call check(sptrsv_solve_krylov(a, c_loc(options), c_loc(b), c_loc(x), c_null_ptr, result) == 0, 'solve_krylov')
      call check(result%reason == sptrsv_krylov_converged .and. result%iterations == 1, 'one iteration')
      call check(all(abs(x - 1) < 1e-7), 'solution with factors')
    end do
    call sptrsv_destroy_factors(factors)
    call sptrsv_destroy_incomplete(incomplete)
  end subroutine solves_by_krylov_methods

  subroutine refuses_bad_input_with_a_text()
    real(c_double), target :: values(3) = [2, 1, 4]
    integer(c_int32_t), target :: no_diagonal(3) = [0, 0, 0]
    type(sptrsv_options), target :: options
    type(sptrsv_matrix) :: a
    type(c_ptr) :: solver
    character(kind=c_char), target :: policy(5)
    options = sptrsv_default_options()
    policy = c_text('fast')
    options%policy = c_loc(policy)
    a = lower(sptrsv_double, c_loc(values))
    call check(sptrsv_analyze(a, c_loc(options), c_null_ptr, solver) == sptrsv_invalid_argument, 'no such policy')
    call check(.not. c_associated(solver), 'no solver')
    call check(index(sptrsv_error_text(), "there is no policy 'fast'") == 1, 'text')
    call check(sptrsv_last_error_row() == -1, 'no row')
    a%indices = c_loc(no_diagonal)
    call check(sptrsv_analyze(a, c_null_ptr, c_null_ptr, solver) == sptrsv_duplicate_entry, 'duplicate')
    call check(sptrsv_last_error_row() == 1, 'row')
    call check(index(sptrsv_text(sptrsv_policy_names()), 'host_serial') > 0, 'policies')
  end subroutine refuses_bad_input_with_a_text
end program user
