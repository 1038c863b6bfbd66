#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/eigen/generalized_eig.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/runtime/shortest.hpp>

#include <cmath>

namespace tesela::c {
namespace {

/// Copies what was found. `vectors` may be the memory of A, which has left its tiles.
template <class T>
Code finish(const SymmetricEig<T>& found, T* w, const Array<T>* vectors) {
  if (!found.status.ok()) return failed(1, to_string(found.status));
  std::transform(found.values.begin(), found.values.end(), w, [](double value) { return static_cast<T>(value); });
  if (vectors != nullptr && found.vectors) found.vectors->copy_to(vectors->data, vectors->ld);
  return 0;
}

/// How many LAPACK's il … iu are, of n.
index_t count_of(index_t n, index_t il, index_t iu) {
  if (n == 0 ? il != 1 : il < 1 || il > n) throw WrongArgument("il", std::to_string(il) + " is not in 1 … n");
  if (iu < std::min(il, n) || iu > n) throw WrongArgument("iu", std::to_string(iu) + " is not in il … n");
  return n == 0 ? 0 : iu - il + 1;
}

template <class T>
SymmetricEig<T> solve(const Session& session, const Array<T>& a, const SymmetricEigOptions& options) {
  const index_t n = a.rows;
  const auto A = a.in_tiles(session, {std::max<index_t>(n, 1), suitable_eig_tile(session.runtime(), n)});
  Graph g(session);
  return symmetric_eig(g, A, options);
}

}  // namespace

/// Eigenvalues of a symmetric matrix, LAPACK syev and syevd, ascending, into w (n numbers); with jobz 'V' A takes the
/// eigenvectors, a column each, with 'N' nothing of use. The lower triangle is read (uplo 'L'). info > 0: A is not
/// finite, or the iteration did not converge; tesela_error() says where.
template <class T>
Code syev(char jobz, char uplo, index_t n, T* a, index_t lda, T* w) {
  const bool vectors = choice("jobz", jobz, 'V', 'N');
  require_triangle("uplo", uplo, 'L');
  require_sizes({{"n", n}});
  const Array<T> array("a", a, {n, n}, "lda", lda);
  const Array<T> values("w", w, n);
  require_apart({array, values});
  const Session session;
  const SymmetricEig<T> found = solve(session, array, {.vectors = vectors});
  return finish(found, w, &array);
}

/// A part of them, LAPACK syevr: range 'A' all, 'V' those in [vl, vu), 'I' the il-th … iu-th. m takes their number, w
/// room for n of them, and with jobz 'V' z the eigenvectors, n x m. A is overwritten.
template <class T>
Code syevr(char jobz, char range, char uplo, index_t n, T* a, index_t lda, T vl, T vu, index_t il, index_t iu,
           index_t* m, T* w, T* z, index_t ldz) {
  SymmetricEigOptions options;
  options.vectors = choice("jobz", jobz, 'V', 'N');
  const char upper = range >= 'a' && range <= 'z' ? static_cast<char>(range - 'a' + 'A') : range;
  if (upper != 'A' && upper != 'V' && upper != 'I')
    throw WrongArgument("range", in_quotes(range) + " is none of 'A', 'V' and 'I'");
  require_triangle("uplo", uplo, 'L');
  require_sizes({{"n", n}});
  const Array<T> array("a", a, {n, n}, "lda", lda);
  index_t most = n;
  if (upper == 'V') {
    if (std::isnan(vl)) throw WrongArgument("vl", "is NaN");
    if (!(vl <= vu)) throw WrongArgument("vu", shortest(vu) + " is less than vl, " + shortest(vl));
    options.low = static_cast<double>(vl);
    options.high = static_cast<double>(vu);
  }
  if (upper == 'I') {
    most = count_of(n, il, iu);
    options.positions = IndexRange{il - 1, il - 1 + most};
  }
  require_pointer("m", m);
  const Array<T> values("w", w, most);
  const auto vectors = Array<T>::if_wanted(options.vectors, "z", z, {n, most}, "ldz", ldz);
  require_apart({array, values, vectors});
  const Session session;
  const SymmetricEig<T> found = solve(session, array, options);
  *m = static_cast<index_t>(found.values.size());
  return finish(found, w, options.vectors ? &vectors : nullptr);
}

/// Two symmetric matrices, B positive definite, LAPACK sygv and sygvd: A x = lambda B x (itype 1), A B x = lambda x (2)
/// or B A x = lambda x (3). w takes the eigenvalues and with jobz 'V' A the vectors; lower triangles are read, and A
/// and B lost. info > 0: A or B is not finite, or B not positive definite; tesela_error() says where.
template <class T>
Code sygv(int64_t itype, char jobz, char uplo, index_t n, T* a, index_t lda, T* b, index_t ldb, T* w) {
  if (itype < 1 || itype > 3) throw WrongArgument("itype", std::to_string(itype) + " is not 1, 2 or 3");
  GeneralizedEigOptions options;
  options.kind = static_cast<GeneralizedKind>(itype - 1);
  options.eig.vectors = choice("jobz", jobz, 'V', 'N');
  require_triangle("uplo", uplo, 'L');
  require_sizes({{"n", n}});
  const Array<T> array_a("a", a, {n, n}, "lda", lda), array_b("b", b, {n, n}, "ldb", ldb);
  const Array<T> values("w", w, n);
  require_apart({array_a, array_b, values});
  const Session session;
  const index_t edge = suitable_generalized_tile(session.runtime(), n);
  SymmetricEig<T> found;
  {
    const auto A = array_a.in_tiles(session, {edge, edge}, "A"), B = array_b.in_tiles(session, {edge, edge}, "B");
    Graph g(session);
    found = generalized_eig(g, A, B, options);
  }
  return finish(found, w, &array_a);
}

}  // namespace tesela::c
