#include <tesela/codelets/toeplitz/internal/lookahead_recursion.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/lapack/lapack_complex_lu.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::kernels {
namespace {

constexpr double worst = 10;  ///< of ||S^-1||_1; a smaller one is passed more often, a larger one loses more digits

template <class T>
T dot(index_t n, const T* x, const T* y) {
  T sum = 0;
  if (n > 0) blas::gemv<T>(Op::transpose, n, 1, 1, x, n, y, 0, &sum);
  return sum;
}

}  // namespace

template <class T>
LookaheadRecursion<T>::LookaheadRecursion(index_t n, const T* c, const T* r, index_t largest_block)
    : n_(n), largest_(largest_block), back_(at(n + 1)), row_(at(n + 2)), f_(at(n + 1)), storage_(at(2 * n + 3)) {
  for (index_t i = 1; i <= n; ++i) back_[at(i)] = c[n - i];
  std::copy_n(r, n, row_.data());
  q_ = storage_.data() + n + 1;
  q_[0] = 1;
  pivot_ = c[0];
  delta_ = row_[1];
}

template <class T>
index_t LookaheadRecursion<T>::run() {
  while (k_ < n_) {
    if (pivot_ != T(0) && acceptable(1 / std::abs(pivot_)))
      short_step();
    else if (!long_step())
      return k_ + 1;
    ++steps_;
  }
  return 0;
}

template <class T>
bool LookaheadRecursion<T>::acceptable(double inverse) {
  if (inverse <= worst) return true;
  if (largest_of_f_ < 0) {
    largest_of_f_ = 0;
    for (index_t i = 0; i < k_; ++i) largest_of_f_ = std::max(largest_of_f_, std::abs(f_[at(i)]));
  }
  return inverse <= 8 * largest_of_f_;
}

template <class T>
void LookaheadRecursion<T>::short_step() {
  q_[-1] = 0;
  if (k_ + 1 == n_) delta_ = 0;  // as in take()
  LookaheadPass<T> pass{k_ + 1, f_.data(), q_, -rho_ / pivot_, delta_, back_.data() + n_ - k_ - 1, row_.data() + 1};
  update(pass);
  negative_ += real_part(pivot_) < 0 ? 1 : 0;
  largest_of_f_ = -1;
  ++k_;
  --q_;
  rho_ = pass.sum_f;
  pivot_ -= delta_ * rho_;
  delta_ = pass.sum_z + row_[at(k_ + 1)];  // q(k) = 1
  largest_step_ = std::max<index_t>(largest_step_, 1);
}

template <class T>
bool LookaheadRecursion<T>::long_step() {
  const index_t most = std::min(largest_, n_ - k_);
  block_.ld = k_ + most + 1;
  block_.ld_g = most;
  block_.g.resize(at(most * most));
  block_.delta.clear();
  block_.rho.clear();
  block_.q.assign(q_, q_ + k_ + 1);
  block_.q.resize(at(block_.ld));
  std::vector<std::pair<index_t, double>> tried;  // sizes and ||S^-1||_1
  double best = std::numeric_limits<double>::infinity();
  for (index_t p = 1; p <= most; ++p) {
    if (p > 1) append();
    add_candidate();
    if (p > 32 && p % 8 != 0 && p < most) continue;  // an examination needs p^3 operations
    const double inverse = inverse_norm(p);
    tried.emplace_back(p, inverse);
    best = std::min(best, inverse);
    if (acceptable(inverse)) break;
  }
  if (!(best * std::numeric_limits<double>::epsilon() < 1)) return false;
  const double enough = acceptable(best) ? best : 4 * best;
  take(std::find_if(tried.begin(), tried.end(), [&](const auto& one) { return one.second <= enough; })->first);
  return true;
}

template <class T>
void LookaheadRecursion<T>::append() {
  const auto j = static_cast<index_t>(block_.delta.size()) - 1;
  block_.q.resize(at((j + 2) * block_.ld));
  T* const next = block_.q.data() + (j + 1) * block_.ld;
  const T *const q = block_.column(j), *const f = f_.data();
  const T delta = block_.delta.back();
  next[0] = 0;
  std::copy_n(q, k_ + j + 1, next + 1);
  for (index_t i = 0; i < k_; ++i) next[i] -= delta * f[i];
}

template <class T>
void LookaheadRecursion<T>::add_candidate() {
  const auto m = static_cast<index_t>(block_.delta.size());
  const index_t ld = block_.ld_g;
  const T* const t = back_.data() + n_ - k_ - m;
  block_.rho.push_back(m == 0 ? rho_ : dot(k_, t, f_.data()));
  // G(i, j + 1) = G(i - 1, j) - delta_j rho(i), with G(-1, j) = 0: a new last row, then a new last column.
  T* const g = block_.g.data();
  g[m] = m == 0 ? pivot_ : dot(k_ + 1, t, q_);
  for (index_t j = 0; j + 1 < m; ++j) g[m + (j + 1) * ld] = g[m - 1 + j * ld] - block_.delta[at(j)] * block_.rho[at(m)];
  for (index_t i = 0; m > 0 && i <= m; ++i)
    g[i + m * ld] = (i > 0 ? g[i - 1 + (m - 1) * ld] : T(0)) - block_.delta.back() * block_.rho[at(i)];
  block_.delta.push_back(m == 0 ? delta_ : dot(k_ + m + 1, row_.data() + 1, block_.column(m)));
}

template <class T>
std::vector<T> LookaheadRecursion<T>::schur_complement(index_t p) const {
  std::vector<T> s(at(p * p));
  for (index_t j = 0; j < p; ++j) {  // U(i, j) = u(j - i), u(0) = 1, u(j) = q_{j-1}(k - 1)
    T* const column = s.data() + j * p;
    std::copy_n(block_.g.data() + j * block_.ld_g, p, column);
    for (index_t i = 0; k_ > 0 && i < j; ++i) {
      const T u = block_.column(j - i - 1)[k_ - 1];
      for (index_t a = 0; a < p; ++a) column[a] -= u * s[at(i * p + a)];
    }
  }
  return s;
}

template <class T>
double LookaheadRecursion<T>::inverse_norm(index_t p) const {
  std::vector<T> s = schur_complement(p);
  double norm = 0;
  for (index_t j = 0; j < p; ++j) {
    double sum = 0;
    for (index_t i = 0; i < p; ++i) sum += std::abs(s[at(j * p + i)]);
    if (!(sum <= norm)) norm = sum;
  }
  if (!(norm > 0 && norm <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::infinity();
  std::vector<int> swaps(at(p));
  if (lapack::getrf(p, p, s.data(), p, swaps.data()) != 0) return std::numeric_limits<double>::infinity();
  const double reciprocal = lapack::gecon(p, s.data(), p, norm) * norm;
  return reciprocal > 0 ? 1 / reciprocal : std::numeric_limits<double>::infinity();
}

template <class T>
void LookaheadRecursion<T>::take(index_t p) {
  const index_t rows = k_ + p;
  const bool last = rows == n_;
  std::vector<T> g(at(p * p)), right(block_.rho.begin(), block_.rho.begin() + p), shifted(at(p + 1));
  for (index_t j = 0; j < p; ++j) std::copy_n(block_.g.data() + j * block_.ld_g, p, g.data() + j * p);
  std::copy_n(g.data() + (p - 1) * p, p - 1, shifted.data() + 1);  // G(i - 1, p - 1)
  block_.delta.resize(at(p));
  if (last) {
    // delta is free, because t(-n) is: the least solution of (G rho) (d, delta) = shifted has no part along f, which
    // may be large and inexact.
    std::vector<T> wide = g;
    wide.insert(wide.end(), right.begin(), right.end());
    lapack::gels(p, p + 1, 1, wide.data(), p, shifted.data(), p + 1);
    block_.delta.back() = shifted.back();
    right.insert(right.end(), shifted.begin(), shifted.begin() + p);
  } else {
    for (index_t i = 0; i < p; ++i) right.push_back(shifted[at(i)] - block_.delta.back() * right[at(i)]);
  }
  append();
  std::vector<T> complement = schur_complement(p);
  std::vector<double> eigenvalues(at(p));
  lapack::syevd(p, complement.data(), p, eigenvalues.data(), false);
  negative_ += std::count_if(eigenvalues.begin(), eigenvalues.end(), [](double value) { return value < 0; });
  std::vector<int> swaps(at(p));
  lapack::getrf(p, p, g.data(), p, swaps.data());
  lapack::getrs(p, last ? 1 : 2, g.data(), p, swaps.data(), right.data(), p);
  T *const q = block_.q.data(), *const next = q + p * block_.ld;
  blas::gemv<T>(Op::none, rows, p, -1, q, block_.ld, right.data(), 1, f_.data());
  blas::gemv<T>(Op::none, rows, p, -1, q, block_.ld, right.data() + p, 1, next);
  q_ -= p;
  std::copy_n(next, rows + 1, q_);
  k_ = rows;
  largest_of_f_ = -1;
  largest_step_ = std::max(largest_step_, p);
  if (k_ < n_) start_order();
}

template <class T>
void LookaheadRecursion<T>::start_order() {
  rho_ = dot(k_, back_.data() + n_ - k_, f_.data());
  pivot_ = dot(k_ + 1, back_.data() + n_ - k_, q_);
  delta_ = dot(k_ + 1, row_.data() + 1, q_);
}

template class LookaheadRecursion<double>;
template class LookaheadRecursion<std::complex<double>>;

}  // namespace tesela::kernels
