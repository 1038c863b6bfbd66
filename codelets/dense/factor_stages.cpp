#include <tesela/codelets/dense/factor_stages.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::kernels {

template <class T>
double FactorStages<T>::flops(const Args& args, Shape a, Shape) {
  const auto n = static_cast<double>(a.cols);
  const double stages = static_cast<double>(args.end - args.first) / std::max(2 * n - 1, 1.0);
  return flops_each<T> * n * n * n * (args.symmetric ? 1.0 : 2.0) / 3 * stages;  // counts all stages as equal
}

template <class T>
void FactorStages<T>::cpu(const Args& args, InOut<T> a, InOut<double> stop) {
  const index_t n = a.cols;
  for (index_t stage = args.first; stage < args.end && !(stop(0, 0) > 0); ++stage) {
    const StageEntries entries = stage_entries(args.symmetric, n, stage);
    for (index_t q = 0; q < entries.count; ++q) {
      const index_t i = entries.row + q * entries.row_step, j = entries.column + q * entries.column_step;
      T sum = a(i, j);
      for (index_t k = 0; k < std::min(i, j); ++k) sum -= times(args.symmetric ? conj(a(k, i)) : a(i, k), a(k, j));
      if (i == j && (args.symmetric ? !(real_part(sum) > 0) : sum == T(0) || !is_finite(sum)))
        stop(0, 0) = static_cast<double>(i + 1);
      else if (args.symmetric)
        sum = i == j ? T(std::sqrt(real_part(sum))) : sum / real_part(a(i, i));
      else if (i > j)
        sum /= a(j, j);
      a(i, j) = sum;
    }
  }
}

TESELA_STRUCTS_FOR_NUMBERS(FactorStages)

}  // namespace tesela::kernels
