#include "codelets/cauchy.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <vector>

namespace tesela {
namespace cauchy {
namespace {

// Sanitizers cannot run before the choice between clones is made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TESELA_CLONES __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define TESELA_CLONES
#endif

template <class T>
struct Vector {
  static constexpr index_t size = 64 / static_cast<index_t>(sizeof(T));
  using type [[gnu::vector_size(64)]] = T;
};

constexpr index_t chunk = 64;  // rows whose largest diagonal entry is remembered

/// One block of C being swept. All columns are padded to whole chunks with zeros, which no pivot changes.
template <class T>
struct Block {
  index_t rows, chunks;
  T *g, *h, *d, *left;          // left: 1 for rows that have not been pivots, 0 for the others and the padding
  T* largest;                   // of |d| left in each chunk
  const T *sums, *differences;  // w(a + o) and w(a), a = 0 the pivot's
};

template <class V, class T>
[[gnu::always_inline]] inline void load(V& v, const T* from) {
  std::memcpy(&v, from, sizeof v);
}

/// Every row but the pivot's, in which w(0) = 0 makes c vanish, takes l = c / d_p times the pivot's row away.
template <class T>
[[gnu::always_inline]] inline void sweep(const Block<T>& b, T gp, T hp, T inverse) {
  using V = typename Vector<T>::type;
  constexpr index_t step = Vector<T>::size;
  for (index_t i = 0, k = 0; k < b.chunks; ++k) {
    V best{};
    for (const index_t end = i + chunk; i < end; i += step) {
      V g, h, d, sum, difference, left;
      load(g, b.g + i);
      load(h, b.h + i);
      load(d, b.d + i);
      load(sum, b.sums + i);
      load(difference, b.differences + i);
      load(left, b.left + i);
      const V c = (g * hp - h * gp) * (sum * difference), l = c * inverse;
      g -= l * gp;
      h -= l * hp;
      d -= l * c;
      std::memcpy(b.g + i, &g, sizeof g);
      std::memcpy(b.h + i, &h, sizeof h);
      std::memcpy(b.d + i, &d, sizeof d);
      const V size = (d < 0 ? -d : d) * left;
      best = size > best ? size : best;
    }
    T most = 0;
    for (index_t e = 0; e < step; ++e) most = std::max(most, best[e]);
    b.largest[k] = most;
  }
}
// target_clones takes no template.
TESELA_CLONES void sweep_rows(const Block<double>& b, double gp, double hp, double inverse) {
  sweep(b, gp, hp, inverse);
}
TESELA_CLONES void sweep_rows(const Block<float>& b, float gp, float hp, float inverse) { sweep(b, gp, hp, inverse); }

template <class T>
index_t padded(index_t rows) {
  return (rows + chunk - 1) / chunk * chunk;
}

/// Sweeps the blocks of C - sigma I, one shift after the other.
template <class T>
class Sweeper {
 public:
  explicit Sweeper(index_t n) : n_(n), w_(static_cast<std::size_t>(2 * n + 2 * chunk + 4)) {
    const index_t rows = padded<T>(cauchy_rows(n, 0));
    columns_.resize(static_cast<std::size_t>(4 * rows));
    largest_.resize(static_cast<std::size_t>(rows / chunk));
    for (index_t k = 1; k <= n; ++k) {
      const double w = 1 / std::sin(static_cast<double>(k) * std::numbers::pi / static_cast<double>(n + 1));
      table(k) = static_cast<T>(w);
      table(-k) = static_cast<T>(-w);
    }
  }

  /// `out`: n x 3, or null.
  void run(const In<T>& c, double sigma, T* out, index_t ld, const Out<double>& report, index_t column) {
    for (int part = 0; part < 2; ++part) {
      const index_t first = part * cauchy_rows(n_, 0);
      Block<T> b = load_block(c, first, cauchy_rows(n_, part), static_cast<T>(sigma));
      eliminate(b, part + 1, &report(0, column + part));
      if (out != nullptr)
        for (index_t a = 0; a < b.rows; ++a) {
          out[first + a] = -b.g[a];
          out[first + a + ld] = b.h[a];
          out[first + a + 2 * ld] = -b.d[a];
        }
    }
  }

 private:
  T& table(index_t k) { return w_[static_cast<std::size_t>(k + n_)]; }

  Block<T> load_block(const In<T>& c, index_t first, index_t rows, T sigma) {
    std::fill(columns_.begin(), columns_.end(), T(0));
    const index_t all = padded<T>(rows);
    T* const at = columns_.data();
    Block<T> b{rows, all / chunk, at, at + all, at + 2 * all, at + 3 * all, largest_.data(), nullptr, nullptr};
    for (index_t a = 0; a < rows; ++a) {
      b.g[a] = c(first + a, 0);
      b.h[a] = c(first + a, 1);
      b.d[a] = c(first + a, 2) - sigma;
      b.left[a] = 1;
    }
    return b;
  }

  void eliminate(Block<T>& b, int o, double* report) {
    double negative = 0, smallest = std::numeric_limits<double>::infinity(), most = 0;
    report[CauchyReport::breakdown] = 0;
    for (index_t k = 0; k < b.chunks; ++k) {
      b.largest[k] = 0;
      for (index_t a = k * chunk; a < (k + 1) * chunk; ++a) b.largest[k] = std::max(b.largest[k], std::abs(b.d[a]));
    }
    for (index_t done = 0; done < b.rows; ++done) {
      const index_t p = pivot(b);
      const T d = b.d[p], g = b.g[p], h = b.h[p];
      if (b.left[p] == T(0) || !(std::abs(d) > 0) || !std::isfinite(d)) {
        report[CauchyReport::breakdown] = static_cast<double>(done + 1);
        break;
      }
      negative += d < 0;
      smallest = std::min(smallest, static_cast<double>(std::abs(d)));
      most = std::max(most, static_cast<double>(std::abs(d)));
      b.left[p] = 0;
      b.sums = &table(p + o);
      b.differences = &table(-p);
      sweep_rows(b, g, h, T(1) / d);
      b.g[p] = g / d;
      b.h[p] = h / d;
      b.d[p] = T(-1) / d;
    }
    report[CauchyReport::negative] = negative;
    report[CauchyReport::smallest_pivot] = b.rows > 0 ? smallest : 0;
    report[CauchyReport::largest] = most;
  }

  static index_t pivot(const Block<T>& b) {
    index_t k = 0;
    for (index_t j = 1; j < b.chunks; ++j)
      if (b.largest[j] > b.largest[k]) k = j;
    index_t p = k * chunk;
    for (index_t a = p; a < std::min(b.rows, (k + 1) * chunk); ++a)
      if (b.left[a] != T(0) && (b.left[p] == T(0) || std::abs(b.d[a]) > std::abs(b.d[p]))) p = a;
    return p;
  }

  index_t n_;
  std::vector<T> w_, columns_, largest_;
};

template <class T>
void sweep_all(const In<T>& c, const In<double>& sigma, const Out<T>* inverse, const Out<double>& report) {
  Sweeper<T> sweeper(c.rows);
  for (index_t s = 0; s < sigma.rows; ++s)
    sweeper.run(c, sigma(s, 0), inverse != nullptr ? &(*inverse)(0, 3 * s) : nullptr,
                inverse != nullptr ? inverse->ld : 0, report, 2 * s);
}

}  // namespace
}  // namespace cauchy

template <class T>
void CauchyInvert<T>::cpu(const Args&, In<T> c, In<double> sigma, Out<T> inverse, Out<double> report,
                          Scratch<T>) noexcept {
  cauchy::sweep_all(c, sigma, &inverse, report);
}

template <class T>
void CauchyCount<T>::cpu(const Args&, In<T> c, In<double> sigma, Out<double> report, Scratch<T>) noexcept {
  cauchy::sweep_all<T>(c, sigma, nullptr, report);
}

template struct CauchyInvert<float>;
template struct CauchyInvert<double>;
template struct CauchyCount<float>;
template struct CauchyCount<double>;

}  // namespace tesela
