! Fits a polynomial to points of the cosine by least squares, with a matrix that has one column twice.
program gels
  use tesela
  implicit none
  integer, parameter :: m = 2000, n = 7
  real(c_double) :: a(m, n), b(m, 1), t
  type(tesela_gels_result) :: found
  integer :: i, j

  do i = 1, m
    t = real(i - 1, c_double) / m
    a(i, :) = [(t**(j - 1), j = 1, n - 1), t**(n - 2)]  ! the last two columns are the same
    b(i, 1) = cos(t)
  end do
  if (tesela_dgels(int(m, c_int64_t), int(n, c_int64_t), 1_c_int64_t, a, int(m, c_int64_t), b, int(m, c_int64_t), found) &
      /= 0) then
    print '(a)', tesela_error()
    stop 1
  end if
  print '(a, i0, a, f9.6, a, f9.6)', 'rank ', found%rank, ', coefficients ', b(n - 1, 1), ' and ', b(n, 1)
  if (found%status /= TESELA_RANK_DEFICIENT .or. found%rank /= n - 1 .or. abs(b(n - 1, 1) - b(n, 1)) > 1e-10_c_double) stop 1
end program
