! A separate program that uses tesela.f90: both precisions, array sections, optional results, handles and messages.
program test_fortran
  use tesela
  implicit none
  integer, parameter :: i8 = c_int64_t
  integer :: failures = 0

  call products
  call complex_numbers
  call sections
  call handles
  call optional_results
  call mistakes
  call options
  if (failures > 0) stop 1
  print '(a)', 'all right'

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    failures = failures + 1
    print '(4a)', 'FAILED: ', what, ': ', tesela_error()
  end subroutine

  ! Products in both precisions.
  subroutine products
    real(c_double) :: a(3, 2), b(2, 4), c(3, 4)
    real(c_float) :: s(2, 2), t(2, 2)
    integer :: i
    a = reshape([(real(i, c_double), i = 1, 6)], [3, 2])
    b = reshape([(real(i, c_double), i = 1, 8)], [2, 4])
    c = -1
    call check(tesela_dgemm('N', 'N', 3_i8, 4_i8, 2_i8, 1d0, a, 3_i8, b, 2_i8, 0d0, c, 3_i8) == 0, 'dgemm')
    call check(all(c == matmul(a, b)), 'A B')
    call check(tesela_dgemm('T', 'N', 2_i8, 2_i8, 3_i8, 2d0, a, 3_i8, c(:, 1:2), 3_i8, 0d0, b, 2_i8) == 0, 'dgemm, T')
    call check(all(b(:, 1:2) == 2 * matmul(transpose(a), c(:, 1:2))), 'A^T C')
    s = reshape([1., 2., 3., 4.], [2, 2])
    call check(tesela_sgemm('N', 'N', 2_i8, 2_i8, 2_i8, 1., s, 2_i8, s, 2_i8, 0., t, 2_i8) == 0, 'sgemm')
    call check(all(t == matmul(s, s)), 'S S')
  end subroutine

  subroutine complex_numbers
    complex(c_double_complex) :: a(3, 3), b(3, 2), c(3, 2), x(3, 2), alpha
    complex(c_float_complex) :: s(2, 2), t(2, 2)
    integer(i8) :: rows(3)
    type(c_ptr) :: graph, tiles, right, product
    integer :: i
    alpha = (2d0, -1d0)
    a = reshape([(cmplx(sin(7d0 * i), cos(5d0 * i), c_double_complex), i = 1, 9)], [3, 3])
    x = reshape([(cmplx(i, -2 * i, c_double_complex), i = 1, 6)], [3, 2])
    call check(tesela_zgemm('C', 'N', 3_i8, 2_i8, 3_i8, alpha, a, 3_i8, x, 3_i8, (0d0, 0d0), c, 3_i8) == 0, 'zgemm')
    call check(maxval(abs(c - alpha * matmul(conjg(transpose(a)), x))) < 1d-12, 'A^H X')
    call check(tesela_zmatrix_map(3_i8, 3_i8, a, 3_i8, 2_i8, 2_i8, tiles) == 0, 'zmatrix_map')
    call check(tesela_zmatrix_map(3_i8, 2_i8, x, 3_i8, 2_i8, 2_i8, right) == 0, 'zmatrix_map of X')
    call check(tesela_zmatrix_create(3_i8, 2_i8, 2_i8, 2_i8, product) == 0, 'zmatrix_create')
    call check(tesela_graph_create(graph) == 0, 'graph_create')
    call check(tesela_zgemm_async(graph, 'C', 'N', -alpha, tiles, right, (0d0, 0d0), product) == 0, 'zgemm_async')
    call check(tesela_graph_wait(graph) + tesela_graph_free(graph) == 0, 'graph_wait')
    call check(tesela_zmatrix_get(product, b, 3_i8) == 0, 'zmatrix_get')
    call check(maxval(abs(b + c)) < 1d-12, 'A^H X in tiles')
    call check(tesela_matrix_free(tiles) + tesela_matrix_free(right) + tesela_matrix_free(product) == 0, 'free')
    b = matmul(a, x)
    call check(tesela_zgesv(3_i8, 2_i8, a, 3_i8, rows, b, 3_i8) == 0, 'zgesv')
    call check(maxval(abs(b - x)) < 1d-11, 'its solution')
    s = reshape([(1., 2.), (3., 0.), (0., 4.), (5., 6.)], [2, 2])
    call check(tesela_cgemm('N', 'N', 2_i8, 2_i8, 2_i8, (1., 0.), s, 2_i8, s, 2_i8, (0., 0.), t, 2_i8) == 0, 'cgemm')
    call check(all(t == matmul(s, s)), 'complex S S')
  end subroutine

  ! Every second row and column; the compiler copies sections in and out.
  subroutine sections
    real(c_double) :: a(10, 4), b(10), x(2)
    integer :: i
    a = -99
    b = -99
    do i = 1, 9, 2
      a(i, 1) = 1
      a(i, 3) = i
      b(i) = 3 + 2 * i
    end do
    call check(tesela_dgels(5_i8, 2_i8, 1_i8, a(1:9:2, 1:3:2), 5_i8, b(1:9:2), 5_i8) == 0, 'gels of sections')
    x = b(1:3:2)
    call check(all(abs(x - [3, 2]) < 1e-13), 'their solution')
    call check(all(b(2:10:2) == -99) .and. all(a(2:10:2, :) == -99) .and. all(a(:, 2:4:2) == -99), 'elements between sections')
  end subroutine

  subroutine handles
    real(c_double), target :: a(6, 3), r(6, 3)
    real(c_double) :: q(6, 3)
    type(c_ptr) :: qr, graph, tiles, factor
    integer :: i, j
    a = reshape([(sin(real(i, c_double)), i = 1, 18)], [6, 3])
    r = a
    call check(tesela_dgeqrf(6_i8, 3_i8, r, 6_i8, qr) == 0, 'geqrf')
    call check(tesela_dorgqr(6_i8, 3_i8, qr, q, 6_i8) == 0, 'orgqr')
    do j = 1, 3
      r(j + 1:, j) = 0
    end do
    call check(maxval(abs(matmul(q, r(1:3, :)) - a)) < 1e-14, 'Q R')
    call check(tesela_qr_free(qr) == 0, 'qr_free')
    call check(tesela_qr_free(qr) == -1, 'qr_free again')

    call check(tesela_graph_create(graph) == 0, 'graph_create')
    call check(tesela_dmatrix_create(6_i8, 3_i8, 2_i8, 2_i8, tiles) == 0, 'matrix_create')
    call check(tesela_dmatrix_set(tiles, a, 6_i8) == 0, 'matrix_set')
    call check(tesela_dgeqrf_async(graph, tiles, factor) == 0, 'geqrf_async')
    call check(tesela_graph_wait(graph) == 0, 'graph_wait')
    call check(tesela_dmatrix_get(tiles, q, 6_i8) == 0, 'matrix_get')
    call check(abs(abs(q(1, 1)) - norm2(a(:, 1))) < 1e-14, 'r(1, 1)')
    call check(tesela_graph_free(graph) + tesela_qr_free(factor) + tesela_matrix_free(tiles) == 0, 'free')
  end subroutine

  subroutine optional_results
    real(c_double) :: a(5, 2), b(5), norms(1)
    target :: norms
    type(tesela_gels_result) :: found
    a = 1
    b = [0, 1, 2, 3, 4]
    found%residual_norms = c_loc(norms)
    call check(tesela_dgels(5_i8, 2_i8, 1_i8, a, 5_i8, b, 5_i8, found) == 0, 'gels, of rank 1')
    call check(found%rank == 1 .and. found%status == TESELA_RANK_DEFICIENT, 'the rank')
    call check(all(abs(b(1:2) - 1) < 1e-14), 'the least-norm solution')
    call check(abs(norms(1) - sqrt(10d0)) < 1e-13, 'the residual norm')
  end subroutine

  subroutine mistakes
    real(c_double) :: a(5, 2), b(5)
    integer(c_int64_t) :: info, count
    a = 1
    b = 1
    info = tesela_dgels(5_i8, 2_i8, 1_i8, a, 4_i8, b, 5_i8)
    call check(info == -5, 'a leading dimension that is too small')
    call check(tesela_error() == 'tesela_dgels: lda: 4 is less than the 5 of a', 'its message')
    call check(tesela_graph_wait(c_null_ptr) == -1, 'no graph')
    call check(tesela_dtridiagonal_count_below(3_i8, [2d0, 2d0, 2d0], [-1d0, -1d0], 2.1d0, count) == 0, 'count_below')
    call check(count == 2, 'the count')
    call check(tesela_error() == '', 'no message')
  end subroutine

  subroutine options
    type(tesela_options) :: wanted
    integer(c_int64_t) :: cpus, gpus
    character(kind=c_char, len=:), allocatable, target :: name
    call check(tesela_stop() == 0, 'stop')
    wanted%cpus = 1
    wanted%gpus = TESELA_NONE
    name = 'eager' // c_null_char
    wanted%scheduler = c_loc(name)
    call check(tesela_start(wanted) == 0, 'start')
    call check(tesela_workers(cpus, gpus) == 0, 'workers')
    call check(cpus == 1 .and. gpus == 0, 'their number')
    call check(tesela_stop() == 0, 'stop again')
  end subroutine
end program
