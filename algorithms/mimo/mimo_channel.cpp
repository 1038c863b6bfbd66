#include <tesela/algorithms/mimo/mimo_channel.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tesela {
namespace {

using Number = std::complex<double>;

constexpr Named<ChannelKind> kinds[] = {
    {ChannelKind::rayleigh, "rayleigh", "independent normal entries"},
    {ChannelKind::correlated, "correlated:R", "R^|i-j| between antennas, on both sides"},
    {ChannelKind::kappa, "kappa:K", "condition K, geometric singular values"},
    {ChannelKind::rank, "rank:R", "rank R"},
    {ChannelKind::zero, "zero", "all entries are zero"},
};

/// Disjoint streams of random numbers.
enum Stream : std::uint64_t { entries = 0x11, more_entries = 0x12, sent = 0x13, noise = 0x14 };

/// Calls f(k) for 0 … count - 1, on all cores if count is large.
template <class F>
void for_each(index_t count, const F& f) {
  parallel_for(count, 4096, [&](index_t first, index_t end) {
    for (index_t k = first; k < end; ++k) f(k);
  });
}

Generator<double> normals(std::uint64_t seed, Stream stream) {
  return {.pattern = Pattern::normal, .seed = Generator<double>::mix(seed) + stream};
}

/// Returns the k-th matrix of a seed: rows x cols complex normal numbers of variance 1.
std::vector<Number> gaussian(index_t rows, index_t cols, const Generator<double>& generator, index_t k) {
  std::vector<Number> g;
  for (index_t e = 0; e < rows * cols; ++e)
    g.emplace_back(generator.normal(k, 2 * e) * M_SQRT1_2, generator.normal(k, 2 * e + 1) * M_SQRT1_2);
  return g;
}

/// Returns C = A B or A B^H; A is m x k.
std::vector<Number> product(index_t m, index_t n, index_t k, const std::vector<Number>& a, const std::vector<Number>& b,
                            bool adjoint) {
  std::vector<Number> c(static_cast<std::size_t>(m * n));
  for (index_t j = 0; j < n; ++j)
    for (index_t l = 0; l < k; ++l)
      for (index_t i = 0; i < m; ++i)
        c[static_cast<std::size_t>(i + j * m)] +=
            a[static_cast<std::size_t>(i + l * m)] *
            (adjoint ? std::conj(b[static_cast<std::size_t>(j + l * n)]) : b[static_cast<std::size_t>(l + j * k)]);
  return c;
}

/// Returns the Cholesky factor of (rho^|i - j|): rho^i in the first column, rho^(i - j) sqrt(1 - rho^2) in the others.
std::vector<Number> exponential_root(index_t n, double rho) {
  std::vector<Number> l(static_cast<std::size_t>(n * n));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j; i < n; ++i)
      l[static_cast<std::size_t>(i + j * n)] =
          std::pow(rho, static_cast<double>(i - j)) * (j == 0 ? 1 : std::sqrt(1 - rho * rho));
  return l;
}

/// Makes the columns orthonormal by Gram-Schmidt, twice.
void orthonormalize(index_t rows, index_t cols, std::vector<Number>& q) {
  for (index_t j = 0; j < cols; ++j)
    for (int time = 0; time < 2; ++time) {
      Number* const column = q.data() + j * rows;
      for (index_t k = 0; k < j; ++k) {
        const Number* const before = q.data() + k * rows;
        Number dot = 0;
        for (index_t i = 0; i < rows; ++i) dot += std::conj(before[i]) * column[i];
        for (index_t i = 0; i < rows; ++i) column[i] -= dot * before[i];
      }
      double norm = 0;
      for (index_t i = 0; i < rows; ++i) norm += std::norm(column[i]);
      for (index_t i = 0; i < rows; ++i) column[i] /= std::sqrt(norm);
    }
}

std::vector<Number> of_condition(index_t m, index_t n, double kappa, std::uint64_t seed, index_t k) {
  const index_t r = std::min(m, n);
  std::vector<Number> u = gaussian(m, r, normals(seed, entries), k), v = gaussian(n, r, normals(seed, more_entries), k);
  orthonormalize(m, r, u);
  orthonormalize(n, r, v);
  double sum = 0;
  std::vector<double> sigma;
  for (index_t i = 0; i < r; ++i) {
    sigma.push_back(r == 1 ? 1 : std::pow(kappa, -static_cast<double>(i) / static_cast<double>(r - 1)));
    sum += sigma.back() * sigma.back();
  }
  const double scale = std::sqrt(static_cast<double>(m * n) / sum);
  for (index_t i = 0; i < r; ++i)
    for (index_t row = 0; row < m; ++row)
      u[static_cast<std::size_t>(row + i * m)] *= scale * sigma[static_cast<std::size_t>(i)];
  return product(m, n, r, u, v, true);
}

std::vector<Number> channel(index_t m, index_t n, const ChannelChoice& choice, std::uint64_t seed, index_t k) {
  const std::vector<Number> g = gaussian(m, n, normals(seed, entries), k);
  switch (choice.kind) {
    case ChannelKind::rayleigh: return g;
    case ChannelKind::correlated:
      return product(m, n, n, product(m, n, m, exponential_root(m, choice.parameter), g, false),
                     exponential_root(n, choice.parameter), true);
    case ChannelKind::kappa: return of_condition(m, n, choice.parameter, seed, k);
    case ChannelKind::rank: {
      const auto r = static_cast<index_t>(choice.parameter);
      std::vector<Number> left = gaussian(m, r, normals(seed, entries), k);
      for (Number& x : left) x /= std::sqrt(choice.parameter);
      return product(m, n, r, left, gaussian(n, r, normals(seed, more_entries), k), true);
    }
    case ChannelKind::zero: break;
  }
  return std::vector<Number>(static_cast<std::size_t>(m * n));
}

}  // namespace

std::span<const Named<ChannelKind>> channel_kinds() { return kinds; }

ChannelChoice parse_channel(const std::string& routine, const std::string& text) {
  const auto colon = text.find(':');
  const std::string name = text.substr(0, colon), value = colon == std::string::npos ? "" : text.substr(colon + 1);
  const auto refuse = [&](const std::string& why) {
    throw ArgumentError(routine, "--channel", "'" + text + "' " + why);
  };
  for (const auto& kind : kinds) {
    const std::string form = kind.name;
    if (form.substr(0, form.find(':')) != name) continue;
    const bool wants = form.find(':') != std::string::npos;
    if (wants == value.empty()) refuse(wants ? "needs a number, as in " + form : "accepts no number");
    ChannelChoice choice{kind.value, 0};
    if (!wants) return choice;
    char* end = nullptr;
    choice.parameter = std::strtod(value.c_str(), &end);
    const double p = choice.parameter;
    const bool good = kind.value == ChannelKind::correlated ? p >= 0 && p < 1
                      : kind.value == ChannelKind::kappa    ? p >= 1
                                                            : p >= 1 && p == std::floor(p);
    if (*end != '\0' || !std::isfinite(p) || !good)
      refuse("is out of range: correlated needs 0 <= R < 1, kappa K >= 1, rank R >= 1");
    return choice;
  }
  refuse("is none of rayleigh, correlated:R, kappa:K, rank:R, zero");
  return {};
}

template <class T>
HostMatrix<std::complex<T>> random_channels(const MimoShape& shape, const ChannelChoice& choice, std::uint64_t seed) {
  const index_t m = shape.antennas, n = shape.streams, count = shape.channels();
  HostMatrix<std::complex<T>> h(m, n * count);
  for_each(count, [&](index_t k) {
    const std::vector<Number> one = channel(m, n, choice, seed, k);
    for (index_t e = 0; e < m * n; ++e) h.data()[k * m * n + e] = std::complex<T>(one[static_cast<std::size_t>(e)]);
  });
  return h;
}

HostMatrix<int> random_labels(const MimoShape& shape, const std::vector<Constellation>& alphabets, std::uint64_t seed) {
  const Generator<double> bits{.seed = Generator<double>::mix(seed) + sent};
  HostMatrix<int> labels(shape.streams, shape.signals);
  for_each(shape.signals, [&](index_t k) {
    for (index_t j = 0; j < shape.streams; ++j)
      labels(j, k) =
          static_cast<int>(bits.bits(k, j) >> 20) & static_cast<int>(alphabets[static_cast<std::size_t>(j)].size() - 1);
  });
  return labels;
}

template <class T>
HostMatrix<std::complex<T>> received(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                                     const std::vector<Constellation>& alphabets, const HostMatrix<int>& labels,
                                     double n0, std::uint64_t seed) {
  const Generator<double> normal = normals(seed, noise);
  const double scale = std::sqrt(n0 / 2);
  const bool turns = alternates(alphabets);
  HostMatrix<std::complex<T>> y(shape.antennas, shape.signals);
  for_each(shape.signals, [&](index_t k) {
    for (index_t i = 0; i < shape.antennas; ++i) {
      Number sum = scale * Number(normal.normal(k, 2 * i), normal.normal(k, 2 * i + 1));
      for (index_t j = 0; j < shape.streams; ++j)
        sum += Number(channels(i, shape.channel_of(k) * shape.streams + j)) *
               alphabets[static_cast<std::size_t>(j)].points[static_cast<std::size_t>(labels(j, k))];
      y(i, k) = std::complex<T>(turns && k % 2 != 0 ? Number(-sum.imag(), sum.real()) : sum);
    }
  });
  return y;
}

bool alternates(const std::vector<Constellation>& alphabets) {
  const auto count = std::ranges::count_if(alphabets, &Constellation::alternating);
  if (count != 0 && count != std::ssize(alphabets))
    throw ArgumentError("mimo", "alphabets", "pi/2-bpsk is for all streams or for none");
  return count != 0;
}

std::vector<Constellation> constant_of(std::vector<Constellation> alphabets) {
  for (Constellation& c : alphabets) c.alternating = false;
  return alphabets;
}

template <class T>
HostMatrix<std::complex<T>> turned_back(const HostMatrix<std::complex<T>>& y, index_t first) {
  auto turned = y.clone();
  for (index_t k = 1 - first % 2; k < y.cols(); k += 2)
    for (index_t i = 0; i < y.rows(); ++i) turned(i, k) = {y(i, k).imag(), -y(i, k).real()};
  return turned;
}

RealSignals random_real_signals(index_t n, index_t signals, const Constellation& alphabet, double n0,
                                std::uint64_t seed) {
  const auto product = alphabet.product();
  if (product.empty()) throw ArgumentError("mimo", "alphabet", alphabet.name + " is not square QAM");
  const Constellation::Axis& axis = product.front().re;
  const index_t half = ceil_div(n, 2);
  const HostMatrix<Number> g = random_channels<double>({half, half, 1, 0}, {}, seed);
  const Generator<double> bits{.seed = Generator<double>::mix(seed) + sent}, normal = normals(seed, noise);
  RealSignals made{HostMatrix<double>(n, n), HostMatrix<double>(n, signals), HostMatrix<int>(n, signals)};
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      const Number x = g(i % half, j % half);
      made.h(i, j) = (i < half) == (j < half) ? x.real() : i < half ? -x.imag() : x.imag();
    }
  for (index_t k = 0; k < signals; ++k) {
    for (index_t j = 0; j < n; ++j)
      made.sent(j, k) = static_cast<int>(bits.bits(k, j) >> 20) & static_cast<int>(axis.labels.size() - 1);
    for (index_t i = 0; i < n; ++i) {
      double sum = std::sqrt(n0 / 2) * normal.normal(k, i);
      for (index_t j = 0; j < n; ++j) sum += made.h(i, j) * (axis.low + axis.step * made.sent(j, k));
      made.x(i, k) = sum;
    }
  }
  return made;
}

double noise_variance(double ebn0_db, const std::vector<Constellation>& alphabets) {
  double bits = 0;
  for (const Constellation& c : alphabets) bits += c.bits();
  return std::pow(10.0, -ebn0_db / 10) * static_cast<double>(alphabets.size()) / bits;
}

TESELA_FUNCTIONS_FOR_REALS(random_channels, received, turned_back)

}  // namespace tesela
