#include <tesela/codelets/support/tile_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::kernels {

template <class T, template <class> class B>
void CopyBlock<T, B>::cpu(const Args& args, In<T> a, B<T> b) {
  const index_t block = args.op == Op::none ? args.rows : 16;  // so that each cache line is read and written once
  const auto copy = [&](index_t i, index_t j) {
    const index_t row = args.a_row + (args.reverse_rows ? args.rows - 1 - i : i),
                  column = args.a_column + (args.reverse_columns ? args.columns - 1 - j : j);
    b(args.b_row + i, args.b_column + j) = args.op == Op::none ? a(row, column) : apply_to(args.op, a(column, row));
  };
  for (index_t j0 = 0; j0 < args.columns; j0 += 16)
    for (index_t i0 = 0; i0 < args.rows; i0 += block)
      for (index_t j = j0; j < std::min(j0 + 16, args.columns); ++j)
        for (index_t i = i0; i < std::min(i0 + block, args.rows); ++i) copy(i, j);
}

#define TESELA_INSTANTIATE(T)   \
  template struct CopyBlock<T>; \
  template struct CopyBlock<T, Out>;
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

template <class T>
void LargestElement<T>::cpu(const Args& args, In<T> a, Out<double> found) {
  double largest = 0;
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) {
      const index_t below = std::abs(args.first_row + i - args.first_column - j);
      if (below == 0 && args.counted != Counted::all) continue;
      if (below > 1 && args.counted == Counted::next_to_diagonal) continue;
      const auto x = static_cast<double>(largest_part(a(i, j)));
      if (!std::isnan(largest) && !(x <= largest)) largest = x;
    }
  found(0, 0) = largest;
}

TESELA_STRUCTS_FOR_NUMBERS(LargestElement)

template <class T>
void MirrorTile<T>::cpu(const Args& args, InOut<T> a) {
  for (index_t j = 0; j < a.cols; ++j) {
    for (index_t i = 0; i < j; ++i) a(args.row + i, j) = conj(a(args.row + j, i));
    if constexpr (is_complex<T>) a(args.row + j, j) = a(args.row + j, j).real();
  }
}

TESELA_STRUCTS_FOR_NUMBERS(MirrorTile)

template <class T>
void NotFinite<T>::cpu(const Args& args, In<T> a, InOut<int> status) {
  constexpr real_t<T> most = std::numeric_limits<real_t<T>>::max();
  for (index_t j = 0; j < a.cols && (status(0, 0) == 0 || j < status(0, 0) - 1); ++j) {
    const index_t rows =
        args.upper ? std::clamp<index_t>(args.first_column + j - args.first_row + 1, 0, a.rows) : a.rows;
    const index_t first =
        args.lower ? std::clamp<index_t>(args.first_column + j - args.first_row, 0, a.rows) : index_t{0};
    int strange = 0;  // without a branch, so that it is vectorized
    for (index_t i = first; i < rows; ++i) strange |= largest_part(a(i, j)) <= most ? 0 : 1;
    if (strange != 0) status(0, 0) = static_cast<int>(j + 1);
  }
}

TESELA_STRUCTS_FOR_NUMBERS(NotFinite)

template <class T>
void ScalePowerOfTwo<T>::cpu(const Args& args, InOut<T> a) {
  const int half = args.exponent / 2;
  const auto first = std::ldexp(real_t<T>(1), half), second = std::ldexp(real_t<T>(1), args.exponent - half);
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) a(i, j) = a(i, j) * first * second;
}

TESELA_STRUCTS_FOR_NUMBERS(ScalePowerOfTwo)

template <class T>
void Transpose<T>::cpu(const Args&, In<T> a, Out<T> b) {
  constexpr index_t block = 16;  // square of both matrices, so that each cache line is read and written once
  for (index_t j0 = 0; j0 < a.cols; j0 += block)
    for (index_t i0 = 0; i0 < a.rows; i0 += block)
      for (index_t i = i0; i < std::min(i0 + block, a.rows); ++i)
        for (index_t j = j0; j < std::min(j0 + block, a.cols); ++j) b(j, i) = a(i, j);
}

TESELA_STRUCTS_FOR_REALS(Transpose)

}  // namespace tesela::kernels
