#include "tools/checks/qr_parts_error.hpp"
#include "tools/problems/qr/qr.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::cli {

template <class T>
QrCheck<T>::QrCheck(const QrProblem<T>& p, const QrFactors<T>& f, std::optional<index_t> columns) : a_(&p.a), r_(f.r) {
  if (p.in_parts) {
    const BlockCyclic part(*p.runtime, p.shape, f.tile),
        of_q(*p.runtime, {p.shape.rows, columns.value_or(3 * vectors)}, f.tile);
    const QrPartsSample<T> sample(*p.runtime, part, *f.r, vectors, p.seed);
    q_ = columns ? HostMatrix<T>(of_q.local().rows, of_q.local().cols) : sample.block(of_q);
    (columns ? f.form_q : f.multiply_q)(q_, of_q.columns.size);
    of_parts_ = columns ? sample.error_of_columns(p.a, q_, of_q) : sample.error_of_product(p.a, q_, of_q);
    return;
  }
  if (p.sampled()) {
    sample_columns(p, f);
    return;
  }
  if (!columns && f.multiply_r) {
    sample_.emplace(p.shape, vectors, p.seed, f.multiply_r);
    q_ = sample_->block().clone();
    f.multiply_q(q_, q_.cols());
    return;
  }
  if (r_ == nullptr) {
    read_ = HostMatrix<T>(p.shape.rows, p.shape.cols);
    f.read(0, read_);
    r_ = &read_;
  }
  if (!columns) {
    sample_.emplace(*r_, vectors, p.seed);
    q_ = sample_->block().clone();
    f.multiply_q(q_, q_.cols());
  } else if (f.form_q) {
    q_ = HostMatrix<T>(p.shape.rows, *columns);
    f.form_q(q_, *columns);
  } else {
    q_ = identity<T>(p.shape.rows, *columns);
    f.multiply_q(q_, *columns);
  }
}

/// Reads four groups of four neighbouring columns of R, each group from its quarter of A. Every step contributes to the
/// last columns, which are always among them.
template <class T>
void QrCheck<T>::sample_columns(const QrProblem<T>& p, const QrFactors<T>& f) {
  const auto [m, n] = p.shape;
  constexpr index_t count = QrProblem<T>::sampled_columns, groups = 4, neighbours = count / groups;
  auto r = HostMatrix<T>::zeros(p.order(), count);
  columns_ = HostMatrix<T>(m, count);
  HostMatrix<T> block(m, neighbours);
  const Generator<T> element = p.generator();
  const Generator<double> random{Pattern::uniform, 0, 0, p.seed + 17};
  for (index_t g = 0; g < groups; ++g) {
    const index_t room = n / groups - neighbours;
    const auto within = static_cast<index_t>((random(g, 0) + 1) / 2 * static_cast<double>(room));
    const index_t first = g == groups - 1 ? n - neighbours : g * (n / groups) + within;
    if (f.read)
      f.read(first, block);
    else
      std::copy_n(&(*f.r)(0, first), block.size(), block.data());
    for (index_t j = 0; j < neighbours; ++j) {
      const index_t column = g * neighbours + j;
      std::copy_n(&block(0, j), std::min(first + j + 1, r.rows()), &r(0, column));
      for (index_t i = 0; i < m; ++i) columns_(i, column) = element(i, first + j);
    }
  }
  a_ = &columns_;
  sample_.emplace(p.shape, r, vectors, p.seed);
  q_ = sample_->block().clone();
  f.multiply_q(q_, q_.cols());
}

template <class T>
QrError QrCheck<T>::error() const {
  return of_parts_ ? *of_parts_ : sample_ ? sample_->error(*a_, q_) : qr_error(*a_, *r_, q_);
}

/// Forms all columns of Q and computes C = Q C; the rows of C below Q's columns are zero.
template <class T>
void multiply_by_formed_q(const QrProblem<T>& p, const QrFactors<T>& f, HostMatrix<T>& c, index_t columns) {
  HostMatrix<T> q(p.shape.rows, p.order());
  f.form_q(q, q.cols());
  const HostMatrix<T> right = c.clone();
  const blas::Threads threads(blas::threads_for(q.rows()));
  blas::gemm<T>(Op::none, Op::none, q.rows(), columns, q.cols(), T(1), q.data(), q.ld(), right.data(), right.ld(), T(0),
                c.data(), c.ld());
}

template <class T>
double check_peer(const std::string& peer, const QrProblem<T>& p, const QrFactors<T>& f) {
  if (!f.failure.empty()) throw bench::WrongResult(fmt::format("{}: {}", peer, f.failure));
  const QrBounds most = qr_bounds<T>(p.shape.rows, p.shape.cols);
  if (!f.multiply_q && !f.form_q) {
    const double error = gram_error(p.a, *f.r, p.seed) / (2 * most.backward);
    if (!(error <= 1))
      throw bench::WrongResult(fmt::format("bench: {}: ||R'R - A'A|| is {:.3g} times its bound", peer, error));
    return error;
  }
  QrFactors<T> factors = f;
  if (!f.multiply_q)
    factors.multiply_q = [&](HostMatrix<T>& c, index_t columns) { multiply_by_formed_q(p, f, c, columns); };
  const QrCheck<T> check(p, factors, checked_columns(p.shape));
  const PausedWorkers paused;
  const QrError error = check.error();
  const double backward = error.backward / (most.backward + error.lost),
               orthogonality = error.orthogonality / most.orthogonality;
  if (!error.finite || !(backward <= 1) || !(orthogonality <= 1))
    throw bench::WrongResult(
        fmt::format("bench: {}: ||A - QR|| / ||A|| is {:.3g}, {:.3g} times its bound, and "
                    "||I - Q'Q|| {:.3g}, {:.3g} times",
                    peer, error.backward, backward, error.orthogonality, orthogonality));
  return std::max(backward, orthogonality);
}

TESELA_FUNCTIONS_FOR_NUMBERS(check_peer)
TESELA_CLASSES_FOR_NUMBERS(QrCheck)

}  // namespace tesela::cli
