#include <tesela/codelets/toeplitz/internal/levinson_pass.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>
#include <tesela/codelets/toeplitz/lookahead.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

// Each step is one pass over memory (levinson_pass.hpp). t is read backwards, from a reversed copy.

namespace tesela::kernels {
namespace {

/// The recursion of one symmetric or Hermitian matrix. back[n - i] is t(i), for i = 0 ... n - 1, at least for i >= 1; y
/// has room for n - 1 numbers.
template <class T>
class Recursion {
 public:
  Recursion(index_t n, const T* back, T* y) : n_(n), back_(back), y_(y) {}

  /// Solves for the k columns of x, which hold b, with room for k sums. Returns beta(n), the last pivot. Pivots are
  /// doubles: n small factors in a row would lose too much accuracy in single precision.
  double run(double t0, T* x, index_t ld, index_t k, T* sums, double* report) {
    double beta = t0;
    T alpha = 0, sum_y = 0;
    start(beta);
    if (broken_ == 0) {
      if (n_ > 1) y_[0] = alpha = quotient(-t(1), t0), sum_y = t(1) * alpha;
      for (index_t c = 0; c < k; ++c) {
        x[c * ld] = quotient(x[c * ld], t0);
        sums[c] = n_ > 1 ? t(1) * x[c * ld] : T(0);
      }
    }
    for (index_t order = 1; order < n_ && broken_ == 0; ++order) {
      const auto size = static_cast<double>(std::abs(alpha));
      growth_ = std::max(growth_, size);
      if (!is_complex<T> && (n_ - order) % 2 == 1) {
        const auto sign = static_cast<double>(real_part(alpha));
        of_parts_[0] += beta * (1 - sign) < 0 ? 1 : 0;
        of_parts_[1] += beta * (1 + sign) < 0 ? 1 : 0;
      }
      beta *= (1 - size) * (1 + size);
      pivot(beta, order + 1);
      if (broken_ != 0) break;
      const bool last = order + 1 == n_;
      const T next = last ? T(0) : quotient(-(t(order + 1) + sum_y), beta);
      const T* const back = back_ + n_ - order - 1;
      for (index_t c = 0; c < k; ++c) {
        T* const column = x + c * ld;
        const T mu = quotient(column[order] - sums[c], beta);
        LevinsonPass<T> p{order, back, y_, next, column, mu};
        if (c == k - 1 && !last) {  // the last use of the old y
          update_both(p);
          sum_y = p.sum_y;
        } else {
          update_x(p);
        }
        column[order] = mu;
        sums[c] = p.sum_x + t(1) * mu;
        if (!is_finite(mu)) broken_ = order + 1;
      }
      if (last) break;
      if (k == 0) {
        LevinsonPass<T> p{order, back, y_, next};
        update_y(p);
        sum_y = p.sum_y;
      }
      y_[order] = alpha = next;
      sum_y += t(1) * next;
      if (!is_finite(next)) broken_ = order + 1;
    }
    report[levinson_negative] = negative_;
    report[levinson_breakdown] = static_cast<double>(broken_);
    report[levinson_least] = least_;
    report[levinson_growth] = growth_;
    return beta;
  }

  /// Returns the negative pivots of the symmetric and of the skew part.
  const std::array<double, 2>& negative_of_parts() const { return of_parts_; }

 private:
  T t(index_t i) const { return back_[n_ - i]; }

  static T quotient(T a, double b) { return converted<T>(converted<with_parts<T, double>>(a) / b); }

  void start(double beta) {
    negative_ = growth_ = 0;
    of_parts_ = {n_ % 2 == 1 && beta < 0 ? 1.0 : 0.0, 0.0};
    least_ = std::numeric_limits<double>::infinity();
    broken_ = 0;
    pivot(beta, 1);
  }
  void pivot(double beta, index_t order) {
    negative_ += beta < 0 ? 1 : 0;
    least_ = std::min(least_, std::abs(beta));
    if (beta == 0 || !is_finite(beta)) broken_ = order;
  }

  index_t n_;
  const T* back_;
  T* y_;
  double negative_ = 0, least_ = 0, growth_ = 0;
  std::array<double, 2> of_parts_{};
  index_t broken_ = 0;
};

/// Returns t(0) - sigma for a t(0) that was multiplied by 2^-exponent.
template <class T, class S>
double difference(T a, S sigma, int exponent = 0) {
  return static_cast<double>(a) - std::ldexp(static_cast<double>(sigma), -exponent);
}

/// Returns t(n - 1) ... t(1) after an element that is not used.
template <class T>
void reverse(index_t n, const T* t, T* back) {
  for (index_t i = 1; i < n; ++i) back[n - i] = t[i];
}

/// Returns whether all columns are finite; if not, or if the order `broken` is not 0, they become zero.
template <class T>
void clear_unless_finite(T* x, index_t n, index_t ld, index_t columns, double* report) {
  bool fine = report[levinson_breakdown] == 0;
  for (index_t c = 0; fine && c < columns; ++c)
    fine = std::all_of(x + c * ld, x + c * ld + n, [](T value) { return is_finite(value); });
  if (fine) return;
  if (report[levinson_breakdown] == 0) report[levinson_breakdown] = static_cast<double>(n);
  for (index_t c = 0; c < columns; ++c) std::fill_n(x + c * ld, n, T(0));
}

}  // namespace

template <class T>
void Levinson<T>::cpu(const Args& args, In<T> t, In<T> shifts, InOut<T> x, Out<double> report, Scratch<T> work) {
  const index_t n = t.rows, k = x.cols / shifts.rows;
  T *const back = work.data, *const y = back + n, *const sums = y + n;
  const toeplitz::Host machine;
  std::vector<T> exponents(static_cast<std::size_t>(k));
  reverse(n, t.data, back);
  for (index_t s = 0; s < shifts.rows; ++s) {
    T* const columns = x.data + s * k * x.ld;
    double* const to = report.data + s * report.ld;
    machine.to_unit(n, k, columns, x.ld, exponents.data(), 1);
    Recursion<T>(n, back, y).run(difference(t.data[0], shifts.data[s], args.exponent), columns, x.ld, k, sums, to);
    clear_unless_finite(columns, n, x.ld, k, to);
    machine.times_powers(n, k, columns, x.ld, exponents.data(), 1, -args.exponent);
    to[levinson_least] = std::ldexp(to[levinson_least], args.exponent);
  }
}

template <class T>
void Durbin<T>::cpu(const Args& args, In<T> t, In<T> shifts, Out<T> inverse, Out<double> report, Scratch<T> work) {
  const index_t n = t.rows;
  const toeplitz::Host machine;
  const T unit = 0;
  reverse(n, t.data, work.data);
  for (index_t s = 0; s < shifts.rows; ++s) {
    T* const column = inverse.data + s * inverse.ld;
    double* const to = report.data + s * report.ld;
    const double beta = Recursion<T>(n, work.data, column + 1)
                            .run(difference(t.data[0], shifts.data[s], args.exponent), nullptr, 0, 0, nullptr, to);
    column[0] = 1;
    for (index_t i = 0; i < n; ++i) column[i] = static_cast<T>(static_cast<double>(column[i]) / beta);
    clear_unless_finite(column, n, inverse.ld, 1, to);
    machine.times_powers(n, 1, column, n, &unit, 1, -args.exponent);
    to[levinson_least] = std::ldexp(to[levinson_least], args.exponent);
  }
}

template <class T>
void HermitianFactor<T>::cpu(const Args&, In<T> t, Out<T> generator, Out<double> report, Out<double> recursion) {
  const index_t n = t.rows;
  std::vector<T> back(static_cast<std::size_t>(n)), y(static_cast<std::size_t>(n));
  reverse(n, t.data, back.data());
  // The column of the inverse is (1, y) / beta.
  const double beta =
      Recursion<T>(n, back.data(), y.data()).run(real_part(t.data[0]), nullptr, 0, 0, nullptr, recursion.data);
  T* const x = generator.data;
  for (index_t i = 0; i < n; ++i) x[i] = (i == 0 ? T(1) : y[static_cast<std::size_t>(i - 1)]) / beta;
  clear_unless_finite(x, n, n, 1, recursion.data);
  finish_generator(n, generator, recursion.data, report);
}

template <class T>
void LevinsonCount<T>::cpu(const Args&, In<T> t, In<double> sigma, Out<double> report, Scratch<T> work) {
  const index_t n = t.rows;
  reverse(n, t.data, work.data);
  std::array<double, levinson_report_rows> seen{};
  for (index_t s = 0; s < sigma.rows; ++s) {
    Recursion<T> recursion(n, work.data, work.data + n);
    const double last = recursion.run(difference(t.data[0], sigma(s, 0)), nullptr, 0, 0, nullptr, seen.data());
    for (index_t part = 0; part < 2; ++part) {
      const index_t column = 2 * s + part;
      report(CauchyReport::negative, column) = recursion.negative_of_parts()[static_cast<std::size_t>(part)];
      report(CauchyReport::breakdown, column) = seen[levinson_breakdown];
      report(CauchyReport::smallest_pivot, column) = std::abs(last);
      report(CauchyReport::largest, column) = seen[levinson_growth];
    }
  }
}

template <class T>
bool levinson_solve(index_t n, const T* t, double sigma, T* x, T* work) {
  reverse(n, t, work);
  T sum = 0;
  std::array<double, levinson_report_rows> report{};
  Recursion<T>(n, work, work + n).run(difference(t[0], sigma), x, n, 1, &sum, report.data());
  clear_unless_finite(x, n, n, 1, report.data());
  return report[levinson_breakdown] == 0;
}

template bool levinson_solve(index_t, const float*, double, float*, float*);
template bool levinson_solve(index_t, const double*, double, double*, double*);
TESELA_STRUCTS_FOR_REALS(LevinsonCount, Levinson, Durbin)
template struct HermitianFactor<std::complex<double>>;

}  // namespace tesela::kernels
