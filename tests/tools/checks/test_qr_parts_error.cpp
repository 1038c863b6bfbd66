#include "tests/support/ranks.hpp"
#include "tools/checks/qr_parts_error.hpp"
#include <tesela/runtime/runtime.hpp>

// Errors of a factorization over several ranks; each rank runs the case with the tag [.rank].

using namespace tesela::test;

TEST_CASE("errors of Q and R over ranks are measured for small and large entries", "[ranks]") {
  require_ranks();
  for (const int ranks : {2, 4}) {
    const Outcome all =
        run_on_ranks(ranks, {std::filesystem::read_symlink("/proc/self/exe").string(), "errors on ranks"});
    INFO(all.out << all.err);
    CHECK(all.code == 0);
  }
}

namespace {

/// Returns a number of magnitude 1, of a complex type with a phase.
template <class T>
T turn(index_t i) {
  if constexpr (is_complex<T>)
    return std::polar(1.0, static_cast<double>(i));
  else
    return i % 2 == 0 ? 1 : -1;
}

template <class T>
void check(const Runtime& runtime) {
  constexpr index_t m = 90, n = 60, vectors = 32;
  const TileShape tile{16, 8};
  const BlockCyclic part(runtime, {m, n}, tile), of_block(runtime, {m, 3 * vectors}, tile);
  const auto each = [](HostMatrix<T>& x, const BlockCyclic& its, const auto& f) {
    for (index_t j = 0; j < x.cols(); ++j)
      for (index_t i = 0; i < x.rows(); ++i) f(x(i, j), its.rows.global(i), its.columns.global(j));
  };
  for (const double size : {1.0, 1e-300, 1e300}) {
    // Q consists of turned columns of the identity, so R is A's upper triangle with rows turned back.
    HostMatrix<T> a = HostMatrix<T>::zeros(part.local().rows, part.local().cols), q = a.clone();
    const auto set_q = [&] { each(q, part, [](T& x, index_t i, index_t j) { x = i == j ? turn<T>(i) : T(0); }); };
    set_q();
    each(a, part, [&](T& x, index_t i, index_t j) {
      if (i <= j) x = size * std::sin(static_cast<double>(i + 3 * j)) * turn<T>(i + j);
    });
    double norm = 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i <= j; ++i) norm += std::pow(std::sin(static_cast<double>(i + 3 * j)), 2);
    norm = std::sqrt(norm);
    HostMatrix<T> r = a.clone();
    each(r, part, [](T& x, index_t i, index_t) { x *= conj(turn<T>(i)); });
    const QrPartsSample<T> sample(runtime, part, r, vectors, 5);
    HostMatrix<T> block = sample.block(of_block);
    each(block, of_block, [](T& x, index_t i, index_t) { x *= turn<T>(i); });  // its product with Q
    for (const bool columns : {false, true}) {
      CAPTURE(size, columns, is_complex<T>);
      const auto errors = [&](const HostMatrix<T>& of_a, const HostMatrix<T>& product) {
        return columns ? sample.error_of_columns(of_a, q, part) : sample.error_of_product(of_a, product, of_block);
      };
      const QrError right = errors(a, block);
      CHECK(right.finite);
      CHECK(right.backward < 1e-14);
      CHECK(right.orthogonality < 1e-14);
      // One entry of A differs from Q R.
      HostMatrix<T> other = a.clone();
      if (part.rows.here(70) && part.columns.here(30))
        other(part.rows.before(70), part.columns.before(30)) = 0.1 * size;
      const QrError wrong = errors(other, block);
      CHECK(wrong.backward > 0.05 / norm);
      CHECK(wrong.backward < 0.2 / norm);
      // A column of Q is too long.
      HostMatrix<T> product = block.clone();
      each(product, of_block, [](T& x, index_t i, index_t) { x *= i == 7 ? 1.01 : 1; });
      each(q, part, [](T& x, index_t, index_t j) { x *= j == 7 ? 1.01 : 1; });
      const QrError longer = errors(a, product);
      CHECK(longer.orthogonality > 0.01);
      CHECK(longer.orthogonality < 0.04);
      set_q();
      if (runtime.rank() == 1) (columns ? q : product)(0, 0) = std::numeric_limits<double>::quiet_NaN();
      CHECK(!errors(a, product).finite);
      set_q();
    }
    // Signs and phases of the diagonal turn into Q's columns.
    make_diagonal_positive(runtime, r, part, q, part);
    each(r, part, [](const T& x, index_t i, index_t j) {
      if (i == j) CHECK((std::abs(x) == real_part(x)));
    });
    CHECK(QrPartsSample<T>(runtime, part, r, vectors, 5).error_of_columns(a, q, part).backward < 1e-14);
  }
}

}  // namespace

TEST_CASE("errors on ranks", "[.rank]") {
  Runtime runtime;
  REQUIRE(runtime.ranks() > 1);
  check<double>(runtime);
  check<std::complex<double>>(runtime);
}
