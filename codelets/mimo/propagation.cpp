#include <tesela/codelets/mimo/internal/propagation.hpp>
#include <tesela/codelets/mimo/internal/soft_tree.hpp>
#include <tesela/codelets/mimo/internal/sphere_body.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::kernels::mimo {
namespace {

constexpr int rounds = 10;

/// Least variance, relative to the variance of a column's points.
constexpr double least_variance = 1e-6;

/// Least pivot of H^H H, relative to its diagonal element, that is not only rounding error.
constexpr double lost_pivot = 1e-10, noise_of_dependent = 1e-9;

/// A smaller 1 - N0 spread has lost digits, which a sum without cancellation keeps.
constexpr double small_bias = 1e-5;

constexpr double least_n0 = std::numeric_limits<double>::min();

/// Least pivot of a nonzero column; the inverse of a smaller pivot could overflow.
constexpr double least_pivot = 1e-290;

/// N0 is the variance of both parts.
template <class F>
constexpr double parts = is_complex<F> ? 1 : 2;

/// Returns Re(conj(a) b).
double inner(double a, double b) { return a * b; }
double inner(Complex<double> a, Complex<double> b) { return a.re * b.re + a.im * b.im; }

template <class F>
F value_of(const SearchColumn& column, const SearchPoint* points, int k) {
  if constexpr (is_complex<F>)
    return {points[column.first + k].re, points[column.first + k].im};
  else
    return column.low + k * column.step;
}

}  // namespace

template <class F>
template <class T>
Propagation<F>::Propagation(const ChannelView<T>& view, double n0, const PropagationSteps& steps)
    : streams_(view.streams),
      antennas_(view.antennas),
      n_(view.template cols<F>()),
      given_n0_(n0),
      steps_(steps),
      units_(index(streams_)),
      gram_(index(n_ * n_)),
      inverse_(index(n_ * n_)),
      matched_(index(n_)),
      work_(index(n_)),
      mean_(index(n_)),
      densities_(index(n_)),
      beliefs_(index(n_)) {
  std::vector<double> largest(index(streams_));
  for (index_t c = 0; c < n_; ++c) {
    const SearchColumn& from = view.columns[c];
    Column column{index(from.first), index(from.count)};
    values_.resize(std::max(values_.size(), column.first + column.count));
    for (int k = 0; k < from.count; ++k) column.origin += value_of<F>(from, view.points, k) / double(from.count);
    for (int k = 0; k < from.count; ++k) {
      F& value = values_[index(from.first + k)] = value_of<F>(from, view.points, k) - column.origin;
      double& size = largest[index(c % streams_)];
      size = std::max(size, size_of(value));
    }
    columns_.push_back(column);
  }
  for (index_t j = 0; j < streams_; ++j) units_[index(j)] = exponent_of(largest[index(j)]);
  for (index_t c = 0; c < n_; ++c) {
    Column& column = columns_[index(c)];
    const Scale<double> scale(units_[index(c % streams_)]);
    column.origin = scale(column.origin);
    double square = 0;
    for (std::size_t k = column.first; k < column.first + column.count; ++k)
      values_[k] = scale(values_[k]), square += norm(values_[k]);
    // Equal points have no variance.
    column.least_variance = std::max(least_variance * square / static_cast<double>(column.count), 1e-30);
  }
  metrics_.resize(values_.size());
  weights_.resize(values_.size());
}

template <class F>
template <class T>
void Propagation<F>::channel(const ChannelView<T>& view) {
  constexpr int none = std::numeric_limits<int>::min();
  int largest = none;
  for (index_t j = 0; j < streams_; ++j)
    for (index_t i = 0; i < antennas_; ++i)
      if (const T size = size_of(view.h[i + j * view.ld]); size > 0)
        largest = std::max(largest, exponent_of(size) + units_[index(j)]);
  exponent_ = largest == none ? 0 : largest;
  exponent_ += missing_exponent<double>(given_n0_, exponent_);
  h_.clear();
  for (index_t j = 0; j < streams_; ++j)
    for (index_t i = 0; i < antennas_; ++i) {
      const Complex<T> x = view.h[i + j * view.ld];
      h_.push_back(Scale<double>(exponent_ - units_[index(j)])(Complex<double>{x.re, x.im}));
    }
  double trace = 0;
  for (index_t j = 0; j < streams_; ++j)
    for (index_t i = j; i < streams_; ++i) {
      Complex<double> sum{};
      for (index_t k = 0; k < antennas_; ++k) sum += conj(h_[index(k + i * antennas_)]) * h_[index(k + j * antennas_)];
      if (i == j) sum.im = 0, trace += sum.re;
      if constexpr (is_complex<F>) {
        gram_[at(i, j)] = sum, gram_[at(j, i)] = conj(sum);
      } else {  // [Re, -Im; Im, Re]
        const index_t p = i + streams_, q = j + streams_;
        gram_[at(i, j)] = gram_[at(j, i)] = gram_[at(p, q)] = gram_[at(q, p)] = sum.re;
        gram_[at(p, j)] = gram_[at(j, p)] = sum.im;
        gram_[at(i, q)] = gram_[at(q, i)] = -sum.im;
      }
    }
  n0_ = std::max(scaled_noise<double>(given_n0_, exponent_), least_n0);
  begin({});
  if (invert() < lost_pivot) {
    n0_ = std::max({n0_, noise_of_dependent * trace / static_cast<double>(streams_), least_pivot});
    begin({});
    invert();
  }
  first_inverse_ = inverse_;
}

template <class F>
bool Propagation<F>::detect(std::vector<Complex<double>> y, const std::vector<double>& penalties) {
  for (index_t c = 0; c < n_; ++c) {
    const F x = columns_[index(c)].origin;
    if (size_of(x) == 0) continue;
    const Complex<double> origin = c < streams_ ? Complex<double>{real(x), imag(x)} : Complex<double>{0, real(x)};
    for (index_t i = 0; i < antennas_; ++i) y[index(i)] -= h_[index(i + c % streams_ * antennas_)] * origin;
  }
  for (index_t j = 0; j < streams_; ++j) {
    Complex<double> sum{};
    for (index_t i = 0; i < antennas_; ++i) sum += conj(h_[index(i + j * antennas_)]) * y[index(i)];
    if constexpr (is_complex<F>)
      matched_[index(j)] = sum;
    else
      matched_[index(j)] = sum.re, matched_[index(j + streams_)] = sum.im;
  }
  begin(penalties);
  for (int round = 0; round < rounds; ++round) {
    const double weight = steps_.first * std::pow(steps_.last / steps_.first, round / (rounds - 1.0));
    if (round == 0 && penalties.empty())
      inverse_ = first_inverse_;
    else
      invert();
    find_beliefs();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      Density& density = densities_[c];
      Density next = of_points(columns_[c], beliefs_[c], penalties);
      if (next.precision > beliefs_[c].precision) {
        next.precision -= beliefs_[c].precision;
        next.weighted -= beliefs_[c].weighted;
      } else if (!steps_.moments) {
        continue;
      }
      density.precision += weight * (next.precision - density.precision);
      density.weighted += weight * (next.weighted - density.weighted);
    }
  }
  invert();
  find_beliefs();
  bool finite = true;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    find_metrics(columns_[c], beliefs_[c], penalties);
    for (std::size_t k = columns_[c].first; k < columns_[c].first + columns_[c].count; ++k)
      finite = finite && std::isfinite(metrics_[k]);
  }
  return finite;
}

/// Sets the densities to the points' densities without a signal.
template <class F>
void Propagation<F>::begin(const std::vector<double>& penalties) {
  for (std::size_t c = 0; c < columns_.size(); ++c) densities_[c] = of_points(columns_[c], {}, penalties);
}

template <class F>
int Propagation<F>::likeliest(index_t j) const {
  const auto first = metrics_.begin() + static_cast<std::ptrdiff_t>(columns_[index(j)].first);
  return static_cast<int>(std::min_element(first, first + static_cast<std::ptrdiff_t>(columns_[index(j)].count)) -
                          first);
}

/// Inverts H^H H + the densities' precisions by sweeps (Goodnight, 1979). Returns the least pivot, relative to its
/// diagonal element; 0 if a pivot is below least_pivot.
template <class F>
double Propagation<F>::invert() {
  const auto n = static_cast<std::size_t>(n_);
  F *const a = inverse_.data(), *const w = work_.data();
  double least = 1;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) a[i + j * n] = gram_[i + j * n];
    a[j + j * n] += number<F>(densities_[j].precision);
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = real(a[k + k * n]), inverse = 1 / pivot;
    least = pivot < least_pivot ? 0 : std::min(least, pivot / (real(gram_[k + k * n]) + densities_[k].precision));
    for (std::size_t i = 0; i < k; ++i) w[i] = conj(a[k + i * n]);
    w[k] = {};
    for (std::size_t i = k + 1; i < n; ++i) w[i] = a[i + k * n];
    for (std::size_t j = 0; j < n; ++j) {
      const F factor = inverse * conj(w[j]);
      F* const column = a + j * n;
      for (std::size_t i = j; i < n; ++i) column[i] -= w[i] * factor;
      if (j < k) column[k] = factor;
    }
    for (std::size_t i = k + 1; i < n; ++i) a[i + k * n] = inverse * w[i];
    a[k + k * n] = number<F>(-inverse);
  }
  for (F& x : inverse_) x = -1.0 * x;
  return least;
}

template <class F>
void Propagation<F>::find_beliefs() {
  const auto n = static_cast<std::size_t>(n_);
  const F* const a = inverse_.data();
  for (std::size_t j = 0; j < n; ++j) mean_[j] = {}, work_[j] = matched_[j] + densities_[j].weighted;
  for (std::size_t j = 0; j < n; ++j) {
    F sum = a[j + j * n] * work_[j];
    for (std::size_t i = j + 1; i < n; ++i) {
      mean_[i] += a[i + j * n] * work_[j];
      sum += conj(a[i + j * n]) * work_[i];
    }
    mean_[j] += sum;
  }
  for (std::size_t j = 0; j < n; ++j) {
    const Density& density = densities_[j];
    const double spread = real(a[j + j * n]);
    double bias = 1 - spread * density.precision;
    F weighted = mean_[j] - spread * density.weighted;
    if (!(bias > small_bias)) {
      bias = 0, weighted = {};
      for (std::size_t i = 0; i < n; ++i) {
        const F x = i < j ? a[j + i * n] : conj(a[i + j * n]);  // (j, i)
        bias += inner(conj(x), gram_[i + j * n]);
        weighted += x * (i == j ? matched_[i] : work_[i]);
      }
    }
    beliefs_[j] = {std::max(bias, 0.0) / spread, weighted / spread};
  }
}

template <class F>
void Propagation<F>::find_metrics(const Column& column, const Density& belief, const std::vector<double>& penalties) {
  const F first = values_[column.first];
  for (std::size_t k = column.first; k < column.first + column.count; ++k) {
    const F s = values_[k];
    // |x - s|^2 - |x - first|^2, without cancellation.
    metrics_[k] = inner(s - first, belief.precision * (s + first) - 2.0 * belief.weighted);
    if (!penalties.empty()) metrics_[k] += penalties[k];
  }
}

/// Returns the normal density with the mean and the variance of the points weighted by a belief.
template <class F>
auto Propagation<F>::of_points(const Column& column, const Density& belief, const std::vector<double>& penalties)
    -> Density {
  find_metrics(column, belief, penalties);
  const std::size_t first = column.first, end = first + column.count;
  double least = metrics_[first], sum = 0, square = 0;
  for (std::size_t k = first; k < end; ++k) least = std::min(least, metrics_[k]);
  F mean{};
  for (std::size_t k = first; k < end; ++k) {
    weights_[k] = std::exp((least - metrics_[k]) / n0_);
    sum += weights_[k], mean += weights_[k] * values_[k];
  }
  mean = mean / sum;
  for (std::size_t k = first; k < end; ++k) square += weights_[k] * norm(values_[k] - mean);
  const double precision = n0_ / (parts<F> * std::max(square / sum, column.least_variance));
  return {precision, precision * mean};
}

namespace {

/// Returns y 2^-exponent, of these antennas.
template <class T>
std::vector<Complex<double>> scaled_signal(const Complex<T>* y, index_t antennas, int exponent) {
  const Scale<double> scale(exponent);
  std::vector<Complex<double>> made;
  for (index_t i = 0; i < antennas; ++i)
    made.push_back(scale(Complex<double>{static_cast<double>(y[i].re), static_cast<double>(y[i].im)}));
  return made;
}

template <class F, class T>
void symbols_of(const typename Detector<T>::Args& args, const Block<const std::complex<T>>& h,
                const Block<const std::complex<T>>& y, ChannelView<T> view, const Block<int>& labels,
                const Block<SearchReport>& reports) {
  Propagation<F> propagation(view, args.n0, steps_of_symbols);
  int exponent = 0;
  for (index_t k = 0; k < y.cols; ++k) {
    if (k % args.coherence == 0) {
      view.h = reinterpret_cast<const Complex<T>*>(&h(0, k / args.coherence * args.streams));
      propagation.channel(view);
      T largest = 0;
      for (index_t j = 0; j < view.streams; ++j)
        for (index_t i = 0; i < view.antennas; ++i) largest = std::max(largest, size_of(view.h[i + j * view.ld]));
      exponent = exponent_of(largest);
    }
    SearchReport& report = reports(0, k) = {};
    const auto* const signal = reinterpret_cast<const Complex<T>*>(&y(0, k));
    if (!propagation.detect(scaled_signal(signal, view.antennas, propagation.exponent()), {})) {
      std::fill_n(&labels(0, k), args.streams, -1);
      report.flags = SearchReport::failed;
      continue;
    }
    Complex<double> s[most_streams] = {};
    for (index_t j = 0; j < args.streams; ++j) {
      const auto of = [&](index_t column) {
        const SearchColumn& c = view.columns[column];
        const int place = propagation.likeliest(column);
        labels(j, k) |= view.points[c.first + place].label;
        return value_of<F>(c, view.points, place);
      };
      labels(j, k) = 0;
      if constexpr (is_complex<F>)
        s[j] = of(j);
      else
        s[j].re = of(j), s[j].im = of(j + args.streams);
    }
    report.distance = std::ldexp(distance_of(view, signal, Scale<double>(exponent), s), exponent);
    report.nodes = args.streams;
  }
}

template <class F, class T>
void bits_of(const typename SoftDetector<T>::Args& args, const Block<const std::complex<T>>& h,
             const Block<const std::complex<T>>& y, ChannelView<T> view, const std::vector<int>& widths,
             const Block<T>& llrs, const Block<double>& nodes) {
  Propagation<F> propagation(view, args.n0, steps_of_bits);
  const index_t columns = view.template cols<F>();
  Penalties<T> penalties(view, widths, columns);
  for (index_t k = 0; k < y.cols; ++k) {
    if (k % args.coherence == 0) {
      view.h = reinterpret_cast<const Complex<T>*>(&h(0, k / args.coherence * args.streams));
      propagation.channel(view);
    }
    const auto* const signal = reinterpret_cast<const Complex<T>*>(&y(0, k));
    penalties.receive(&llrs(0, k), propagation.n0());
    const bool known =
        propagation.detect(scaled_signal(signal, view.antennas, propagation.exponent()), penalties.of_points());
    nodes(0, k) = known ? static_cast<double>(args.streams) : SoftDetector<T>::no_answer;
    std::fill_n(&llrs(0, k), llrs.rows, T(0));
    if (!known) continue;
    index_t place = 0;
    for (index_t j = 0; j < args.streams; ++j)
      for (int bit = widths[static_cast<std::size_t>(j)]; bit-- > 0; ++place)
        for (index_t c = j; c < columns; c += args.streams) {
          LogSum sums[2];
          const SearchColumn& column = view.columns[c];
          for (int p = column.first; p < column.first + column.count; ++p)
            sums[view.points[p].label >> bit & 1].add(propagation.metrics()[static_cast<std::size_t>(p)],
                                                      propagation.n0());
          if (sums[1].sum == 0) continue;  // the other axis has this bit
          llrs(place, k) = cut_likelihood<T>(likelihood_of(sums[0], sums[1], propagation.n0()), args.clip);
        }
  }
}

}  // namespace

template <class T>
void propagate_symbols(const typename Detector<T>::Args& args, const Block<const std::complex<T>>& h,
                       const Block<const std::complex<T>>& y, ChannelView<T> view, bool real_form,
                       const Block<int>& labels, const Block<SearchReport>& reports) {
  return real_form ? symbols_of<double>(args, h, y, view, labels, reports)
                   : symbols_of<Complex<double>>(args, h, y, view, labels, reports);
}

template <class T>
void propagate_bits(const typename SoftDetector<T>::Args& args, const Block<const std::complex<T>>& h,
                    const Block<const std::complex<T>>& y, ChannelView<T> view, const std::vector<int>& widths,
                    const Block<T>& llrs, const Block<double>& nodes) {
  return args.real_form ? bits_of<double>(args, h, y, view, widths, llrs, nodes)
                        : bits_of<Complex<double>>(args, h, y, view, widths, llrs, nodes);
}

TESELA_FUNCTIONS_FOR_REALS(propagate_symbols, propagate_bits)

}  // namespace tesela::kernels::mimo
