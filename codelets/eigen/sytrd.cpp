#include <tesela/codelets/eigen/sytrd.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <vector>

namespace tesela::kernels {

template <class T>
void Sytrd<T>::cpu(const Args& args, In<T> a, InOut<T> band, Scratch<T> work, std::span<const InOut<T>> reflectors) {
  const index_t n = a.rows;
  T* const tau = &work(0, n);
  std::vector<real_t<T>> d(static_cast<std::size_t>(n)), e(static_cast<std::size_t>(n));
  for (index_t j = 0; j < n; ++j) std::copy_n(&a(j, j), n - j, &work(j, j));
  lapack::sytrd(n, work.data, work.ld, d.data(), e.data(), tau);
  for (index_t j = 0; j < n; ++j) {
    band(0, j) = d[static_cast<std::size_t>(j)];
    if (j + 1 >= n) continue;
    band(1, j) = e[static_cast<std::size_t>(j)];
    const auto block = static_cast<std::size_t>(j / args.block);
    const InOut<T>&v = reflectors[2 * block], &factors = reflectors[2 * block + 1];
    const index_t column = j % args.block, top = j - column + 1;
    factors(0, column) = tau[j];
    v(j + 1 - top, column) = 1;
    if (j + 2 < n) std::copy_n(&work(j + 2, j), n - j - 2, &v(j + 2 - top, column));
  }
}

TESELA_STRUCTS_FOR_NUMBERS(Sytrd)

}  // namespace tesela::kernels
