#include <tesela/codelets/support/not_finite.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::kernels {

template <class T>
void NotFinite<T>::cpu(const Args& args, In<T> a, InOut<int> status) {
  for (index_t j = 0; j < a.cols && (status(0, 0) == 0 || j < status(0, 0) - 1); ++j) {
    const index_t rows =
        args.upper ? std::clamp<index_t>(args.first_column + j - args.first_row + 1, 0, a.rows) : a.rows;
    const index_t first =
        args.lower ? std::clamp<index_t>(args.first_column + j - args.first_row, 0, a.rows) : index_t{0};
    int strange = 0;  // without a branch, so that it is vectorized
    for (index_t i = first; i < rows; ++i) strange |= std::abs(a(i, j)) <= std::numeric_limits<T>::max() ? 0 : 1;
    if (strange != 0) status(0, 0) = static_cast<int>(j + 1);
  }
}

template struct NotFinite<float>;
template struct NotFinite<double>;

}  // namespace tesela::kernels
