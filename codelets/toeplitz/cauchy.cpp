#include <tesela/codelets/toeplitz/cauchy.hpp>
#include <tesela/codelets/toeplitz/internal/cauchy_rows.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace tesela::kernels {
namespace cauchy {
namespace {

constexpr int at_a_time = 8;  // pivots that one pass over the rows applies

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
    best_.resize(largest_.size());
    for (index_t k = 1; k <= n; ++k) {
      const double w = 1 / std::sin(static_cast<double>(k) * std::numbers::pi / static_cast<double>(n + 1));
      table(k) = static_cast<T>(w);
      table(-k) = static_cast<T>(-w);
    }
  }

  /// Factors one block and keeps its L D L^T.
  void factor(const In<T>& c, double sigma, int part, const CauchyFactors<T>& kept, double* report) {
    Block<T> b = load_block(c, part * cauchy_rows(n_, 0), cauchy_rows(n_, part), static_cast<T>(sigma));
    const index_t all = b.chunks * chunk;
    std::vector<T> l(static_cast<std::size_t>(at_a_time * all));
    eliminate(b, part + 1, report, [&](index_t done, const std::vector<Pivot<T>>& pivots) {
      sweep_rows(b, pivots.data(), static_cast<int>(pivots.size()), l.data());
      for (const T* column = l.data(); const Pivot<T>& p : pivots) {
        std::copy_n(column, b.rows, kept.l + done * kept.ld);
        kept.pivots[done] = p.d;
        kept.order[done++] = static_cast<T>(p.row);
        column += all;
      }
    });
    if (const auto broken = static_cast<index_t>(report[CauchyReport::breakdown]); broken > 0)
      finish(b, broken - 1, kept);
    for (index_t k = 0; k < b.rows; ++k) {
      T* const to = kept.l + k * kept.ld;
      std::copy_n(to, b.rows, l.data());
      std::fill_n(to, k, T(0));
      to[k] = 1;
      for (index_t i = k + 1; i < b.rows; ++i) to[i] = l[static_cast<std::size_t>(kept.order[i])];
    }
  }

  /// Sweeps one block of one shift; `out` has the block's rows, or is null; `report` is CauchyReport::rows numbers.
  void run(const In<T>& c, double sigma, int part, T* out, index_t ld, double* report) {
    Block<T> b = load_block(c, part * cauchy_rows(n_, 0), cauchy_rows(n_, part), static_cast<T>(sigma));
    eliminate(b, part + 1, report, [&b](index_t, const std::vector<Pivot<T>>& pivots) {
      sweep_rows<T>(b, pivots.data(), static_cast<int>(pivots.size()), nullptr);
    });
    if (out == nullptr) return;
    for (index_t a = 0; a < b.rows; ++a) {
      out[a] = -b.g[a];
      out[a + ld] = b.h[a];
      out[a + 2 * ld] = -b.d[a];
    }
  }

 private:
  T& table(index_t k) { return w_[static_cast<std::size_t>(k + n_)]; }

  Block<T> load_block(const In<T>& c, index_t first, index_t rows, T sigma) {
    std::fill(columns_.begin(), columns_.end(), T(0));
    const index_t all = padded<T>(rows);
    T* const at = columns_.data();
    Block<T> b{rows, all / chunk, at, at + all, at + 2 * all, at + 3 * all, largest_.data(), best_.data()};
    for (index_t a = 0; a < rows; ++a) {
      b.g[a] = c(first + a, 0);
      b.h[a] = c(first + a, 1);
      b.d[a] = c(first + a, 2) - sigma;
      b.left[a] = 1;
    }
    return b;
  }

  /// Writes valid numbers for the steps that a breakdown skipped.
  static void finish(const Block<T>& b, index_t done, const CauchyFactors<T>& kept) {
    for (index_t a = 0; a < b.rows; ++a) {
      if (b.left[a] == T(0)) continue;
      std::fill_n(kept.l + done * kept.ld, b.rows, T(0));
      kept.pivots[done] = 1;
      kept.order[done++] = static_cast<T>(a);
    }
  }

  /// Eliminates a block; step(done, pivots) sweeps the rows, after `done` earlier pivots.
  template <class Step>
  void eliminate(Block<T>& b, int o, double* report, const Step& step) {
    double negative = 0, smallest = std::numeric_limits<double>::infinity(), most = 0;
    report[CauchyReport::breakdown] = 0;
    find_largest(b);
    for (index_t done = 0; done < b.rows;) {
      const std::vector<Pivot<T>>& pivots = next_pivots(b, o);
      if (pivots.empty()) {
        report[CauchyReport::breakdown] = static_cast<double>(done + 1);
        break;
      }
      for (const Pivot<T>& p : pivots) {
        negative += p.d < 0;
        smallest = std::min(smallest, static_cast<double>(std::abs(p.d)));
        most = std::max(most, static_cast<double>(std::abs(p.d)));
        b.left[p.row] = 0;
      }
      step(done, pivots);
      for (const Pivot<T>& p : candidates_) {
        if (b.left[p.row] != T(0)) continue;
        b.g[p.row] = p.g;
        b.h[p.row] = p.h;
        b.d[p.row] = p.d;
      }
      done += static_cast<index_t>(pivots.size());
    }
    report[CauchyReport::negative] = negative;
    report[CauchyReport::smallest_pivot] = b.rows > 0 ? smallest : 0;
    report[CauchyReport::largest] = most;
  }

  /// Returns the next pivots: the best rows of the chunks with the largest entries, while the elimination by the
  /// earlier ones leaves them large. `candidates_` holds these rows after all of these pivots. Empty if no divisor is
  /// left.
  const std::vector<Pivot<T>>& next_pivots(const Block<T>& b, int o) {
    candidates_.clear();
    pivots_.clear();
    for (index_t k = 0; k < b.chunks; ++k) {
      const T size = b.largest[k];
      if (!(size > 0) || !std::isfinite(size)) continue;
      const auto smaller = [&](const Pivot<T>& p) { return std::abs(p.d) < size; };
      const auto at = std::find_if(candidates_.begin(), candidates_.end(), smaller);
      if (at == candidates_.end() && candidates_.size() == at_a_time) continue;
      const index_t row = b.best[k];
      candidates_.insert(at, Pivot<T>{row, b.g[row], b.h[row], b.d[row], T(0), &table(row + o), &table(-row)});
      if (candidates_.size() > at_a_time) candidates_.pop_back();
    }
    for (std::size_t q = 0; q < candidates_.size(); ++q) {
      // Moves the largest of the remaining candidates to position q.
      const auto next = std::max_element(candidates_.begin() + static_cast<std::ptrdiff_t>(q), candidates_.end(),
                                         [](const auto& x, const auto& y) { return std::abs(x.d) < std::abs(y.d); });
      std::iter_swap(candidates_.begin() + static_cast<std::ptrdiff_t>(q), next);
      Pivot<T>& p = candidates_[q];
      if (!std::isfinite(p.d) || (q > 0 && !(4 * std::abs(p.d) >= std::abs(pivots_.front().d)))) break;
      p.inverse = 1 / p.d;
      pivots_.push_back(p);
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (i == q) continue;
        Pivot<T>& x = candidates_[i];
        const T c = (x.g * p.h - x.h * p.g) * (table(x.row + p.row + o) * table(x.row - p.row)), l = c * p.inverse;
        x.g -= l * p.g;
        x.h -= l * p.h;
        x.d -= l * c;
      }
      p.g *= p.inverse;
      p.h *= p.inverse;
      p.d = -p.inverse;
    }
    return pivots_;
  }

  index_t n_;
  std::vector<T> w_, columns_, largest_;
  std::vector<index_t> best_;
  std::vector<Pivot<T>> candidates_, pivots_;
};

template <class T>
void sweep_all(const In<T>& c, const In<double>& sigma, const Out<T>* inverse, const Out<double>& report) {
  Sweeper<T> sweeper(c.rows);
  for (index_t s = 0; s < sigma.rows; ++s)
    for (int part = 0; part < 2; ++part)
      sweeper.run(c, sigma(s, 0), part,
                  inverse != nullptr ? &(*inverse)(part * cauchy_rows(c.rows, 0), 3 * s) : nullptr,
                  inverse != nullptr ? inverse->ld : 0, &report(0, 2 * s + part));
}

}  // namespace

template <class T>
void factor(const In<T>& c, double sigma, int part, const CauchyFactors<T>& kept, double* report) {
  Sweeper<T>(c.rows).factor(c, sigma, part, kept, report);
}
template <class T>
void invert_part(const In<T>& c, double sigma, int part, const Out<T>& inverse, double* report) {
  Sweeper<T>(c.rows).run(c, sigma, part, inverse.data, inverse.ld, report);
}
TESELA_FUNCTIONS_FOR_REALS(invert_part)

TESELA_FUNCTIONS_FOR_REALS(factor)

}  // namespace cauchy

template <class T>
void CauchyInvert<T>::cpu(const Args&, In<T> c, In<double> sigma, Out<T> inverse, Out<double> report, Scratch<T>) {
  cauchy::sweep_all(c, sigma, &inverse, report);
}

template <class T>
void CauchyCount<T>::cpu(const Args&, In<T> c, In<double> sigma, Out<double> report, Scratch<T>) {
  cauchy::sweep_all<T>(c, sigma, nullptr, report);
}

template <class T>
void CauchyCountPart<T>::cpu(const Args& args, In<T> c, In<double> sigma, Out<double> report) {
  cauchy::Sweeper<T>(c.rows).run(c, sigma(0, 0), args.part, nullptr, 0, report.data);
}

TESELA_STRUCTS_FOR_REALS(CauchyInvert, CauchyCount, CauchyCountPart)

}  // namespace tesela::kernels
