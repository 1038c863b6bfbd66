#include <tesela/algorithms/qr/orthogonalize.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/codelets/support/tile_kernels.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

namespace tesela {

using namespace kernels;
namespace {

constexpr std::array all{
    Named<Orthogonalization>{Orthogonalization::gram_schmidt, "gram-schmidt", "classical Gram-Schmidt"},
    Named<Orthogonalization>{Orthogonalization::mgs, "mgs", "modified Gram-Schmidt"},
    Named<Orthogonalization>{Orthogonalization::cgs2, "cgs2", "classical Gram-Schmidt, twice"},
    Named<Orthogonalization>{Orthogonalization::cholesky_qr2, "cholesky-qr2", "Cholesky factor of A^H A, twice"},
    Named<Orthogonalization>{Orthogonalization::householder, "householder",
                             "Householder reflectors by tiles; then Q is formed"},
};

/// On a GPU if there is one: each task works on a large part of A, so that cores would keep the GPU waiting.
constexpr Priority urgent_on_gpu{highest_priority, true};

/// Gram-Schmidt by blocks of columns: two products subtract the projection on another tile.
template <class T>
class GramSchmidt {
 public:
  GramSchmidt(Graph& g, const TileMatrix<T>& A, Orthogonalization method)
      : g_(g),
        a_(A),
        method_(method),
        nb_(std::min(A.tile_shape().nb, A.n())),
        r_(g.runtime(), A.n(), A.n(), {nb_, nb_}, "R"),
        sums_(g.runtime(), A.n(), A.n(), {nb_, nb_}, "S"),
        broken_(g.runtime(), 1, 1, {1, 1}, "broken") {
    *broken_(0, 0).write().data = 0;
    r_.for_each_tile([&](const Tile<T>& tile, index_t i, index_t j) {
      if (i > j) g_.insert<Laset<T>>(on_gpu, {T(0), 0}, tile);
    });
  }

  Orthogonalized<T> run() {
    for (index_t k = 0; k < a_.nt(); ++k) {
      if (method_ != Orthogonalization::mgs) project(k, r_);
      panel(k, r_(k, k));
      if (method_ == Orthogonalization::mgs && k + 1 < a_.nt()) leave(k);
      if (method_ == Orthogonalization::cgs2 && k > 0) again(k);
    }
    g_.wait();
    return {r_, *broken_(0, 0).read().data, false};
  }

 private:
  void panel(index_t k, const Tile<T>& r) {
    g_.insert<OrthogonalizePanel<T>>(urgent_on_gpu, {method_, k * nb_}, a_(0, k), r, broken_(0, 0),
                                     g_.scratch<T>(OrthogonalizePanel<T>::work_size(nb_), 1));
  }
  /// Subtracts from the tiles after Q_k their projections on its columns, one column after another as modified
  /// Gram-Schmidt does. With U the upper triangle of Q_k^H Q_k these projections are Q_k S, U^H S = Q_k^H A_j (Björck,
  /// Linear Algebra Appl. 197, 1994). U = I would make the loss of orthogonality grow with the square of A's condition,
  /// because Q_k^H Q_k is not exactly I.
  void leave(index_t k) {
    const index_t wide = a_(0, k).cols();
    const TileMatrix<T>& gram = copies_.emplace_back(g_.runtime(), wide, wide, TileShape{wide, wide}, "gram");
    g_.insert<Gemm<T, Out>>(on_gpu, {.op_a = adjoint<T>}, a_(0, k), a_(0, k), gram(0, 0));
    for (index_t j = k + 1; j < a_.nt(); ++j) {
      g_.insert<Gemm<T, Out>>(on_gpu, {.op_a = adjoint<T>}, a_(0, k), a_(0, j), r_(k, j));
      g_.insert<Trsm<T>>(on_gpu, {.op = adjoint<T>}, gram(0, 0), r_(k, j));
      g_.insert<Gemm<T>>(on_gpu, {.alpha = -1, .beta = 1}, a_(0, k), r_(k, j), a_(0, j));
    }
  }
  /// Subtracts from A_k its projection on the tiles before it. All products use the original A_k, as classical
  /// Gram-Schmidt does.
  void project(index_t k, const TileMatrix<T>& sums) {
    for (index_t j = 0; j < k; ++j)
      g_.insert<Gemm<T, Out>>(on_gpu, {.op_a = adjoint<T>}, a_(0, j), a_(0, k), sums(j, k));
    for (index_t j = 0; j < k; ++j)
      g_.insert<Gemm<T>>(on_gpu, {.alpha = -1, .beta = 1}, a_(0, j), sums(j, k), a_(0, k));
  }
  /// Orthogonalizes tile k for the second time. Q_k of the first pass is Q S + Q_k' R'; therefore R's column k grows by
  /// S R and its diagonal tile becomes R' R.
  void again(index_t k) {
    const index_t wide = a_(0, k).cols();
    const TileMatrix<T>&first = copies_.emplace_back(g_.runtime(), wide, wide, TileShape{wide, wide}, "first"),
          &second = copies_.emplace_back(g_.runtime(), wide, wide, TileShape{wide, wide}, "second");
    project(k, sums_);
    panel(k, second(0, 0));
    g_.insert<Lacpy<T>>(on_gpu, {}, r_(k, k), first(0, 0));
    for (index_t j = 0; j < k; ++j) g_.insert<Gemm<T>>(on_gpu, {.beta = 1}, sums_(j, k), first(0, 0), r_(j, k));
    g_.insert<Gemm<T, Out>>(on_gpu, {}, second(0, 0), first(0, 0), r_(k, k));
  }

  Graph& g_;
  TileMatrix<T> a_;
  Orthogonalization method_;
  index_t nb_;
  TileMatrix<T> r_, sums_;
  TileMatrix<int> broken_;
  std::deque<TileMatrix<T>> copies_;  // kept until their tasks have run
};

/// Inserts G = A^H A, for A in one tile column.
template <class T>
void insert_gram(Graph& g, const TileMatrix<T>& A, const Tile<T>& G) {
  for (index_t i = 0; i < A.mt(); ++i)
    if (i == 0)
      g.insert<Gemm<T, Out>>(on_gpu, {.op_a = adjoint<T>}, A(0, 0), A(0, 0), G);
    else
      g.insert<Gemm<T>>(on_gpu, {.op_a = adjoint<T>, .beta = 1}, A(i, 0), A(i, 0), G);
}

/// Inserts the computation of G's Cholesky factor in its place.
template <class T>
void insert_factor(Graph& g, const Tile<T>& G, const Tile<int>& info) {
  g.insert<GramCholesky<T>>(urgent_on_gpu, {}, G, info, g.scratch<T>(GramCholesky<T>::work_size(G.cols()), 1));
}

/// Inserts A = A R^-1.
template <class T>
void insert_solve(Graph& g, const Tile<T>& R, const TileMatrix<T>& A) {
  for (index_t i = 0; i < A.mt(); ++i) g.insert<SolveRight<T>>(on_gpu, {}, R, A(i, 0));
}

/// Cholesky QR: passes A = (A R^-1) R, each with the Gram matrix of all rows.
template <class T>
class CholeskyQr {
 public:
  CholeskyQr(Graph& g, const TileMatrix<T>& A)
      : g_(g), a_(A), n_(A.n()), gram_(square("G")), r_(square("R")), info_(g.runtime(), 1, 1, {1, 1}, "info") {}

  Orthogonalized<T> run() {
    Orthogonalized<T> result{r_};
    // s = 11 (m n + n (n + 1)) u ||A||^2. With this shift the Cholesky factor exists, and a pass divides the condition
    // by about 1e5.
    const double m = static_cast<double>(a_.m()), n = static_cast<double>(n_),
                 shift =
                     11 * (m * n + n * (n + 1)) * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()) / 2;
    result.broken = pass(0);
    for (int tries = 0; result.broken > 0 && tries < 3; ++tries) {
      result.shifted = true;
      result.broken = pass(shift);
      if (result.broken > 0) return result;
      result.broken = pass(0);
    }
    if (result.broken == 0) result.broken = pass(0);
    return result;
  }

 private:
  TileMatrix<T> square(const char* name) const { return TileMatrix<T>(g_.runtime(), n_, n_, {n_, n_}, name); }

  /// Returns the minor that is not positive, and leaves A unchanged then; otherwise 0. Uses the largest column sum of
  /// |A^H A| for ||A||^2. R becomes this pass's factor, or this factor times R.
  int pass(double shift) {
    const Tile<T> gram = gram_(0, 0);
    insert_gram(g_, a_, gram);
    if (shift > 0) add_to_diagonal(shift);
    insert_factor(g_, gram, info_(0, 0));
    if (const int broken = *info_(0, 0).read().data; broken != 0) return broken > 0 ? broken : 1;
    insert_solve(g_, gram, a_);
    if (!std::exchange(begun_, true)) {
      g_.insert<Lacpy<T>>(on_gpu, {Part::upper, 0}, gram, r_(0, 0));
    } else {
      const TileMatrix<T> before = square("before"), factor = square("factor");
      g_.insert<Lacpy<T>>(on_gpu, {}, r_(0, 0), before(0, 0));
      g_.insert<Lacpy<T>>(on_gpu, {Part::upper, 0}, gram, factor(0, 0));
      g_.insert<Gemm<T, Out>>(on_gpu, {}, factor(0, 0), before(0, 0), r_(0, 0));
      g_.wait();
    }
    g_.wait();
    return 0;
  }

  void add_to_diagonal(double relative) {
    const auto gram = gram_(0, 0).update();
    double norm = 0;
    for (index_t j = 0; j < n_; ++j) {
      double sum = 0;
      for (index_t i = 0; i < n_; ++i) sum += static_cast<double>(std::abs(gram(i, j)));
      norm = std::max(norm, sum);
    }
    for (index_t j = 0; j < n_; ++j) gram(j, j) += static_cast<real_t<T>>(relative * norm);
  }

  Graph& g_;
  TileMatrix<T> a_;
  index_t n_;
  TileMatrix<T> gram_, r_;
  TileMatrix<int> info_;
  bool begun_ = false;
};

/// Returns e with 2^e <= max |a_ij| < 2^(e + 1); 0 if all elements are zero or one is not finite.
template <class T>
int exponent_of(Graph& g, const TileMatrix<T>& A) {
  const TileMatrix<double> found(g.runtime(), A.mt(), A.nt(), {1, 1}, "largest");
  for (index_t j = 0; j < A.nt(); ++j)
    for (index_t i = 0; i < A.mt(); ++i) g.insert<LargestElement<T>>(on_gpu, {}, A(i, j), found(i, j));
  double most = 0;
  found.for_each_tile([&](const Tile<double>& one, index_t, index_t) {
    const double largest = *one.read().data;
    if (!(largest <= most)) most = largest;
  });
  return most > 0 && std::isfinite(most) ? std::ilogb(most) : 0;
}

template <class T>
void scale(Graph& g, const TileMatrix<T>& A, int exponent) {
  if (exponent == 0) return;
  A.for_each_tile(
      [&](const Tile<T>& tile, index_t, index_t) { g.insert<ScalePowerOfTwo<T>>(on_gpu, {exponent}, tile); });
}

template <class T>
Orthogonalized<T> by_reflectors(Graph& g, const TileMatrix<T>& A) {
  const auto [mb, nb] = A.tile_shape();
  const TileMatrix<T> Q(g.runtime(), A.m(), A.n(), A.tile_shape(), "Q");
  Orthogonalized<T> result{TileMatrix<T>(g.runtime(), A.n(), A.n(), {mb, nb}, "R")};
  const QrFactorization<T> factors = qr(g, A);
  factors.extract_r(g, result.R);
  factors.form_q(g, Q);
  for (index_t j = 0; j < A.nt(); ++j)
    for (index_t i = 0; i < A.mt(); ++i) g.insert<Lacpy<T>>({}, Q(i, j), A(i, j));
  g.wait();
  return result;
}

}  // namespace

std::span<const Named<Orthogonalization>> orthogonalizations() { return all; }

TileShape orthogonalization_tile(const Runtime& runtime, Orthogonalization method, index_t m, index_t n) {
  const index_t rows = std::max<index_t>(m, 1), columns = std::max<index_t>(n, 1);
  if (method == Orthogonalization::householder) return qr_tile(runtime, m, n);
  if (method != Orthogonalization::cholesky_qr2)
    return {rows, std::min<index_t>(columns, runtime.gpus() == 0 ? 64 : method == Orthogonalization::cgs2 ? 512 : 32)};
  const index_t parts = runtime.gpus() > 0 ? runtime.gpus() : 2 * std::max(runtime.cpus(), 1);
  return {std::max(ceil_div(rows, parts), columns), columns};
}

template <class T>
Orthogonalized<T> orthogonalize(Graph& g, const TileMatrix<T>& A, Orthogonalization method) {
  const bool reflectors = method == Orthogonalization::householder, gram = method == Orthogonalization::cholesky_qr2;
  require(A.m() >= A.n(), "orthogonalize", "A", A, " has more columns than rows");
  if (A.n() == 0) return {TileMatrix<T>(g.runtime(), 0, 0, {1, 1}, "R")};
  require(!gram || A.nt() <= 1, "orthogonalize", "A", "must be one tile column");
  require(gram || reflectors || A.mt() <= 1, "orthogonalize", "A", "must be one tile row");
  const int exponent = exponent_of(g, A);
  scale(g, A, -exponent);
  Orthogonalized<T> result = reflectors ? by_reflectors(g, A)
                             : gram     ? CholeskyQr<T>(g, A).run()
                                        : GramSchmidt<T>(g, A, method).run();
  if (result.broken == 0) scale(g, result.R, exponent);
  g.wait();
  return result;
}

template <class T>
void cholesky_qr_pass(Graph& g, const TileMatrix<T>& A, const Tile<T>& R, const Tile<int>& info) {
  require(A.nt() == 1, "cholesky_qr_pass", "A", "must be one tile column");
  require(R.rows() == A.n() && R.cols() == A.n(), "cholesky_qr_pass", "R", "must have A's columns and as many rows");
  insert_gram(g, A, R);
  insert_factor(g, R, info);
  insert_solve(g, R, A);
}

namespace {

/// Returns x / |x|; 1 if x is zero or not finite.
template <class T>
T phase(T x) {
  if (!is_finite(x) || x == T(0)) return T(1);
  const T part = x / largest_part(x);
  return part / std::abs(part);
}

}  // namespace

template <class T>
void make_diagonal_positive(HostMatrix<T>& r, HostMatrix<T>& q) {
  for (index_t k = 0; k < std::min(r.rows(), r.cols()); ++k) {
    const T turn = phase(r(k, k));
    r(k, k) = std::abs(r(k, k));  // infinite if it overflows
    if (turn == T(1)) continue;
    for (index_t j = k + 1; j < r.cols(); ++j) r(k, j) = times(conj(turn), r(k, j));
    for (index_t i = 0; k < q.cols() && i < q.rows(); ++i) q(i, k) = times(turn, q(i, k));
  }
}

TESELA_FUNCTIONS_FOR_NUMBERS(orthogonalize, cholesky_qr_pass, make_diagonal_positive)

}  // namespace tesela
