#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tesela {
namespace {

template <class T>
HostMatrix<T> copy(const MatrixView<const T>& A) {
  HostMatrix<T> a(A.rows, A.cols);
  for (index_t j = 0; j < A.cols; ++j) std::copy_n(A.data + j * A.ld, A.rows, a.data() + j * a.ld());
  return a;
}

}  // namespace

template <class T>
LuFactors<T> lu_factors(Runtime& runtime, const MatrixView<const T>& A) {
  constexpr index_t graph_from = 256;
  LuFactors<T> result{copy(A), {}, 0};
  HostMatrix<T>& a = result.factors;
  if (A.rows == A.cols && A.rows >= graph_from) {
    const auto tiles = MatrixView<T>(a).in_tiles(runtime, lu_tile(runtime, A.rows, is_complex<T>), "A");
    Graph g(runtime);
    const LuFactorization<T> factorization = lu(g, tiles);
    const index_t zero = factorization.zero_pivot();
    result.rows = factorization.rows();
    g.wait();
    tiles.bring_home();
    if (zero == 0) return result;
  }
  a = copy(A);
  std::vector<int> swaps(static_cast<std::size_t>(std::min(A.rows, A.cols)));
  const blas::Threads threads(blas::threads_for(std::min(A.rows, A.cols), std::max(1, runtime.cpus())));
  result.zero_pivot = lapack::getrf(A.rows, A.cols, a.data(), a.ld(), swaps.data());
  result.rows.resize(static_cast<std::size_t>(A.rows));
  std::iota(result.rows.begin(), result.rows.end(), index_t{0});
  for (std::size_t i = 0; i < swaps.size(); ++i)
    std::swap(result.rows[i], result.rows[static_cast<std::size_t>(swaps[i] - 1)]);
  return result;
}

TESELA_FUNCTIONS_FOR_NUMBERS(lu_factors)

}  // namespace tesela
