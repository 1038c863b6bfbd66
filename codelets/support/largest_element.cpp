#include <tesela/codelets/support/largest_element.hpp>

#include <cmath>

namespace tesela::kernels {

template <class T>
void LargestElement<T>::cpu(const Args& args, In<T> a, Out<double> found) {
  double largest = 0;
  for (index_t j = 0; j < a.cols; ++j)
    for (index_t i = 0; i < a.rows; ++i) {
      const index_t below = std::abs(args.first_row + i - args.first_column - j);
      if (below == 0 && args.counted != Counted::all) continue;
      if (below > 1 && args.counted == Counted::next_to_diagonal) continue;
      const double x = std::abs(static_cast<double>(a(i, j)));
      if (!std::isnan(largest) && !(x <= largest)) largest = x;
    }
  found(0, 0) = largest;
}

template struct LargestElement<float>;
template struct LargestElement<double>;

}  // namespace tesela::kernels
