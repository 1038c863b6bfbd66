#include "tools/checks/qr_parts_error.hpp"

#include "tools/checks/qr_error_sums.hpp"
#include <tesela/algorithms/qr/orthogonalize.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/runtime/ranks.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tesela {

using namespace qr_errors;
namespace {

/// Returns the number of rows to process together, so that their copy in double precision stays small.
index_t rows_at_once(index_t m, index_t n) {
  constexpr index_t elements = index_t{1} << 20;
  return std::clamp<index_t>(elements / std::max<index_t>(n, 128), 64, std::max<index_t>(m, 64));
}

/// Calls f(first, count) for pieces of the rows.
template <class F>
void for_each_piece(index_t rows, index_t at_once, const F& f) {
  for (index_t first = 0; first < rows; first += at_once) f(first, std::min(at_once, rows - first));
}

/// Stores rows first … first + count - 1 of X's product with vectors, given in `x` for the local columns, in `out`,
/// which begins with row `first`. For a trapezoid, elements below its diagonal count as zero.
template <class T, class Wide>
void multiply_rows(const HostMatrix<T>& local, const BlockCyclic& part, index_t first, index_t count, bool trapezoid,
                   Scaling scaled, const std::vector<Wide>& x, index_t vectors, Wide* out, index_t ld) {
  const index_t begin = part.rows.before(first), rows = part.rows.before(first + count) - begin,
                columns = part.columns.count();
  if (rows == 0 || columns == 0) return;
  std::vector<Wide> here(static_cast<std::size_t>(rows * columns)), product(static_cast<std::size_t>(rows * vectors));
  for (index_t j = 0; j < columns; ++j) {
    const index_t column = part.columns.global(j);
    for (index_t i = 0; i < rows; ++i)
      here[static_cast<std::size_t>(i + j * rows)] =
          trapezoid && part.rows.global(begin + i) > column ? Wide(0) : scaled(converted<Wide>(local(begin + i, j)));
  }
  blas::gemm<Wide>(Op::none, Op::none, rows, vectors, columns, 1, here.data(), rows, x.data(), columns, 0,
                   product.data(), rows);
  for (index_t v = 0; v < vectors; ++v)
    for (index_t i = 0; i < rows; ++i)
      out[part.rows.global(begin + i) - first + v * ld] += product[static_cast<std::size_t>(i + v * rows)];
}

/// Returns random signs for the local columns.
template <class Wide>
std::vector<Wide> signs(const CyclicPart& part, index_t vectors, std::uint64_t seed) {
  const index_t rows = part.count();
  std::vector<Wide> x(static_cast<std::size_t>(rows * vectors));
  for (index_t v = 0; v < vectors; ++v)
    for (index_t i = 0; i < rows; ++i) x[static_cast<std::size_t>(i + v * rows)] = sign(seed, part.global(i), v);
  return x;
}

template <class T>
bool all_finite(const HostMatrix<T>& x) {
  return std::all_of(x.data(), x.data() + x.size(), [](T value) { return is_finite(value); });
}

/// Replaces real or complex numbers by their sums over all ranks.
template <class Wide>
void add_over_ranks(const Runtime& runtime, std::vector<Wide>& numbers) {
  sum_over_ranks(runtime, {reinterpret_cast<double*>(numbers.data()), numbers.size() * sizeof(Wide) / sizeof(double)});
}

/// Returns x / |x|, or 1: the sign or the phase that make_diagonal_positive() turns.
template <class T>
T turn_of(T x) {
  HostMatrix<T> r(1, 1), q(1, 1);
  r(0, 0) = x, q(0, 0) = T(1);
  make_diagonal_positive(r, q);
  return q(0, 0);
}

}  // namespace

template <class T>
QrPartsSample<T>::QrPartsSample(const Runtime& runtime, const BlockCyclic& factors, const HostMatrix<T>& local,
                                index_t vectors, std::uint64_t seed)
    : runtime_(runtime), factors_(factors), vectors_(vectors), seed_(seed) {
  const auto [m, n] = factors.whole();
  const index_t k = std::min(m, n);
  double largest = 0;
  for (index_t j = 0; j < local.cols(); ++j)
    for (index_t i = 0; i < local.rows() && factors.rows.global(i) <= factors.columns.global(j); ++i) {
      finite_ = finite_ && is_finite(local(i, j));
      largest = std::max(largest, static_cast<double>(largest_part(local(i, j))));
    }
  finite_ = agree(finite_);
  for (const std::string& said :
       gather_over_ranks(runtime, {reinterpret_cast<const char*>(&largest), sizeof largest})) {
    double other = 0;
    std::memcpy(&other, said.data(), sizeof other);
    largest = std::max(largest, other);
  }
  scale_ = largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
  using Wide = with_parts<T, double>;
  rx_.assign(static_cast<std::size_t>(k * vectors), Wide(0));
  const std::vector<Wide> x = signs<Wide>(factors.columns, vectors, seed);
  for_each_piece(k, rows_at_once(m, n), [&](index_t first, index_t count) {
    multiply_rows(local, factors, first, count, true, Scaling(scale_), x, vectors, rx_.data() + first, k);
  });
  add_over_ranks(runtime, rx_);
}

template <class T>
bool QrPartsSample<T>::agree(bool finite) const {
  const std::vector<std::string> all = gather_over_ranks(runtime_, finite ? "" : "no");
  return std::all_of(all.begin(), all.end(), [](const std::string& said) { return said.empty(); });
}

template <class T>
HostMatrix<T> QrPartsSample<T>::block(const BlockCyclic& part) const {
  const index_t k = std::min(factors_.rows.size, factors_.columns.size);
  HostMatrix<T> block = HostMatrix<T>::zeros(part.local().rows, part.local().cols);
  for (index_t j = 0; j < block.cols(); ++j) {
    const index_t column = part.columns.global(j), v = column % vectors_;
    for (index_t i = 0; i < block.rows() && part.rows.global(i) < k; ++i) {
      const index_t row = part.rows.global(i);
      block(i, j) = converted<T>(
          column < vectors_
              ? rx_[static_cast<std::size_t>(row + v * k)]
              : with_parts<T, double>(sign(seed_ + static_cast<std::uint64_t>(column / vectors_), row, v)));
    }
  }
  return block;
}

/// `rows` adds Q [R X, Y, Z] of `count` rows to m x 3 vectors sums that begin with row `first`; Y and Z have as many
/// rows as Q has columns.
template <class T>
template <class Rows>
QrError QrPartsSample<T>::error(const HostMatrix<T>& a, const HostMatrix<T>& q, index_t columns,
                                const Rows& rows) const {
  const auto [m, n] = factors_.whole();
  QrError result;
  result.finite = agree(finite_ && all_finite(q));
  if (m == 0 || columns == 0) return result;
  using Wide = with_parts<T, double>;
  const std::vector<Wide> x = signs<Wide>(factors_.columns, vectors_, seed_);
  std::vector<Wide> defect(static_cast<std::size_t>(vectors_ * vectors_)), sums, y, z;
  long double distance = 0, norm = 0;
  for_each_piece(m, rows_at_once(m, n), [&](index_t first, index_t count) {
    // A X, and then Q [R X, Y, Z].
    const auto block = static_cast<std::size_t>(count * vectors_);
    sums.assign(4 * block, Wide(0));
    multiply_rows(a, factors_, first, count, false, Scaling(scale_), x, vectors_, sums.data(), count);
    rows(first, count, sums.data() + block);
    add_over_ranks(runtime_, sums);
    norm += sum_of_squares(sums.data(), block);
    for (std::size_t e = 0; e < block; ++e) sums[e] -= sums[block + e];
    distance += sum_of_squares(sums.data(), block);
    blas::gemm<Wide>(adjoint<T>, Op::none, vectors_, vectors_, count, 1, sums.data() + 2 * block, count,
                     sums.data() + 3 * block, count, 1, defect.data(), vectors_);
    const index_t here = std::min(count, columns - first);
    if (here <= 0) return;
    y.resize(static_cast<std::size_t>(here * vectors_));
    z.resize(y.size());
    for (index_t v = 0; v < vectors_; ++v)
      for (index_t i = 0; i < here; ++i) {
        y[static_cast<std::size_t>(i + v * here)] = sign(seed_ + 1, first + i, v);
        z[static_cast<std::size_t>(i + v * here)] = sign(seed_ + 2, first + i, v);
      }
    blas::gemm<Wide>(adjoint<T>, Op::none, vectors_, vectors_, here, -1, y.data(), here, z.data(), here, 1,
                     defect.data(), vectors_);
  });
  set_backward<T>(result, distance, norm, scale_,
                  std::sqrt(static_cast<long double>(vectors_)) * lost<T>(m, n, scale_));
  result.orthogonality = static_cast<double>(std::sqrt(sum_of_squares(defect))) / static_cast<double>(vectors_);
  return result;
}

template <class T>
QrError QrPartsSample<T>::error_of_product(const HostMatrix<T>& a, const HostMatrix<T>& product,
                                           const BlockCyclic& part) const {
  return error(a, product, std::min(factors_.rows.size, factors_.columns.size),
               [&](index_t first, index_t count, auto* sums) {
                 const index_t begin = part.rows.before(first), end = part.rows.before(first + count);
                 for (index_t j = 0; j < product.cols(); ++j)
                   for (index_t i = begin; i < end; ++i)
                     sums[part.rows.global(i) - first + part.columns.global(j) * count] =
                         converted<with_parts<T, double>>(product(i, j));
               });
}

template <class T>
QrError QrPartsSample<T>::error_of_columns(const HostMatrix<T>& a, const HostMatrix<T>& q,
                                           const BlockCyclic& part) const {
  const index_t k = std::min(factors_.rows.size, factors_.columns.size), here = part.columns.count();
  using Wide = with_parts<T, double>;
  std::vector<Wide> with(static_cast<std::size_t>(here * vectors_));
  for (index_t v = 0; v < vectors_; ++v)
    for (index_t i = 0; i < here; ++i)
      if (const index_t row = part.columns.global(i); row < k)
        with[static_cast<std::size_t>(i + v * here)] = rx_[static_cast<std::size_t>(row + v * k)];
  for (const std::uint64_t other : {1, 2}) {
    const std::vector<Wide> more = signs<Wide>(part.columns, vectors_, seed_ + other);
    with.insert(with.end(), more.begin(), more.end());
  }
  return error(a, q, part.columns.size, [&](index_t first, index_t count, Wide* sums) {
    multiply_rows(q, part, first, count, false, Scaling(0), with, 3 * vectors_, sums, count);
  });
}

template <class T>
std::vector<index_t> column_ends(const Runtime& runtime, const HostMatrix<T>& local, const BlockCyclic& part) {
  const auto [m, n] = part.whole();
  if (m == 0) return {};
  std::vector<index_t> ends(static_cast<std::size_t>(n), 0), others(ends.size());
  for (index_t j = 0; j < local.cols(); ++j) {
    index_t end = local.rows();
    while (end > 0 && local(end - 1, j) == T(0)) --end;
    ends[static_cast<std::size_t>(part.columns.global(j))] = end == 0 ? 0 : part.rows.global(end - 1) + 1;
  }
  const std::size_t bytes = ends.size() * sizeof(index_t);
  for (const std::string& said : gather_over_ranks(runtime, {reinterpret_cast<const char*>(ends.data()), bytes})) {
    if (bytes > 0) std::memcpy(others.data(), said.data(), bytes);
    for (std::size_t j = 0; j < ends.size(); ++j) ends[j] = std::max(ends[j], others[j]);
  }
  return std::all_of(ends.begin(), ends.end(), [m = m](index_t end) { return end == m; }) ? std::vector<index_t>{}
                                                                                          : ends;
}

template <class T>
void make_diagonal_positive(const Runtime& runtime, HostMatrix<T>& factors, const BlockCyclic& part, HostMatrix<T>& q,
                            const BlockCyclic& q_part) {
  const auto [m, n] = part.whole();
  std::vector<with_parts<T, double>> turns(static_cast<std::size_t>(std::min(m, n)));
  for (index_t d = 0; d < std::min(m, n); ++d)
    if (part.rows.here(d) && part.columns.here(d))
      turns[static_cast<std::size_t>(d)] =
          converted<with_parts<T, double>>(turn_of(factors(part.rows.before(d), part.columns.before(d))));
  add_over_ranks(runtime, turns);
  const auto turn = [&](index_t d) {
    return d < std::ssize(turns) ? converted<T>(turns[static_cast<std::size_t>(d)]) : T(1);
  };
  for (index_t j = 0; j < factors.cols(); ++j)
    for (index_t i = 0; i < factors.rows() && part.rows.global(i) <= part.columns.global(j); ++i)
      if (const index_t row = part.rows.global(i); row == part.columns.global(j))
        factors(i, j) = std::abs(factors(i, j));
      else if (turn(row) != T(1))
        factors(i, j) = times(conj(turn(row)), factors(i, j));
  for (index_t j = 0; j < q.cols(); ++j)
    if (const T of_column = turn(q_part.columns.global(j)); of_column != T(1))
      for (index_t i = 0; i < q.rows(); ++i) q(i, j) = times(of_column, q(i, j));
}

template <class T>
HostMatrix<T> upper_trapezoid(const HostMatrix<T>& factors, const BlockCyclic& part, index_t rows) {
  HostMatrix<T> r = HostMatrix<T>::zeros(part.rows.before(rows), factors.cols());
  for (index_t j = 0; j < r.cols(); ++j)
    for (index_t i = 0; i < r.rows() && part.rows.global(i) <= part.columns.global(j); ++i) r(i, j) = factors(i, j);
  return r;
}

#define TESELA_INSTANTIATE(T)                                                                              \
  template class QrPartsSample<T>;                                                                         \
  template std::vector<index_t> column_ends(const Runtime&, const HostMatrix<T>&, const BlockCyclic&);     \
  template void make_diagonal_positive(const Runtime&, HostMatrix<T>&, const BlockCyclic&, HostMatrix<T>&, \
                                       const BlockCyclic&);                                                \
  template HostMatrix<T> upper_trapezoid(const HostMatrix<T>&, const BlockCyclic&, index_t);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
