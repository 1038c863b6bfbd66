#include <tesela/codelets/qr/internal/householder.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela::kernels::internal {
namespace {

/// A panel during its factorization: the reflector of column j changes row j of `head` and the rows of `corner` (a copy
/// of the triangular part, zeros where a reflector does not reach) and of `tall`.
template <class T>
class Panel {
 public:
  Panel(index_t width, T* r, index_t ldr, T* t, index_t ldt, PanelRows<T> tall)
      : width_(width), r_(r), ldr_(ldr), t_(t), ldt_(ldt), tall_(tall) {}

  /// Factors with V's unit lower triangle below R: head and corner coincide.
  void factor_lower() {
    corner_ = {buffer_, width_, panel_width};
    for (index_t c = 0; c < width_; ++c) std::copy_n(r_ + c * ldr_, width_, buffer_ + c * panel_width);
    lower_ = true;
    factor();
    for (index_t c = 0; c < width_; ++c)
      std::copy(buffer_ + c * panel_width + c + 1, buffer_ + c * panel_width + width_, r_ + c * ldr_ + c + 1);
  }

  /// Factors with V's triangle in the upper trapezoid b of some rows; R is stored elsewhere.
  void factor_upper(index_t rows, T* b, index_t ldb) {
    corner_ = {buffer_, rows, panel_width};
    for (index_t c = 0; c < width_; ++c) std::copy_n(b + c * ldb, std::min(c + 1, rows), buffer_ + c * panel_width);
    factor();
    for (index_t c = 0; c < width_; ++c) std::copy_n(buffer_ + c * panel_width, std::min(c + 1, rows), b + c * ldb);
  }

 private:
  T& r(index_t i, index_t j) { return r_[i + j * ldr_]; }
  T& t(index_t i, index_t j) { return t_[i + j * ldt_]; }
  T& corner(index_t i, index_t j) { return buffer_[i + j * panel_width]; }
  T& head(index_t j, index_t i) { return lower_ ? corner(j, i) : r(j, i); }

  void factor() {
    start(0);
    dots(0);
    for (index_t j = 0; j < width_; ++j) {
      const Reflector h = reflector(j);
      r(j, j) = std::ldexp(h.beta, exponents_[j]);
      for (index_t i = j + 1; i < width_; ++i) {
        weights_[i] = h.tau * (head(j, i) + h.scale * sums_[i]);
        head(j, i) -= weights_[i];
        if (exponents_[i] != 0) head(j, i) = std::ldexp(head(j, i), exponents_[i]);  // final
      }
      // LAPACK larft: T(:j, j) = -tau T(:j, :j) V(:, :j)^T v.
      for (index_t i = 0; i < j; ++i) sums_[i] = -h.tau * ((lower_ ? corner(j, i) : T(0)) + h.scale * sums_[i]);
      for (index_t i = 0; i < j; ++i) {
        T sum = 0;
        for (index_t k = i; k < j; ++k) sum += t(i, k) * sums_[k];
        t(i, j) = sum;
      }
      t(j, j) = h.tau;
      apply(j, h.scale);
    }
  }

  /// Moves column j's final part of R out of the reflectors' range.
  void start(index_t j) {
    if (!lower_) return;
    for (index_t i = 0; i <= j; ++i) r(i, j) = std::exchange(corner(i, j), T(0));
  }

  void clear_sums() { std::fill_n(sums_, width_, T(0)); }

  /// Sets sums_ to the products of column x with every column, below the heads.
  void dots(index_t x) {
    clear_sums();
    const PanelPass<T> pass{width_, x - 1, T(1), nullptr, sums_};
    sweep(pass, corner_);
    sweep(pass, tall_);
  }

  /// Computes the dot products of column j again, by the same code as apply(): another loop over the same numbers may
  /// be compiled to other roundings.
  void recompute_dots(index_t j) {
    if (j == 0) return dots(0);
    clear_sums();
    const T nothing[panel_width] = {};
    sweep<T>({width_, j - 1, T(1), nullptr, sums_}, corner_);
    sweep<T>({width_, j - 1, T(1), nothing, sums_}, tall_);
  }

  /// Applies reflector j and computes the dot products of column j + 1.
  void apply(index_t j, T scale) {
    sweep<T>({width_, j, scale, weights_, nullptr}, corner_);
    if (j + 1 == width_) return sweep<T>({width_, j, scale, weights_, nullptr}, tall_);
    start(j + 1);
    clear_sums();
    sweep<T>({width_, j, T(1), nullptr, sums_}, corner_);
    sweep<T>({width_, j, scale, weights_, sums_}, tall_);
  }

  /// Reflector H = I - tau [1; v] [1; v]^T that maps [alpha; x] to [beta; 0], with v = scale x.
  struct Reflector {
    T beta, tau, scale;
  };

  static Reflector reflector_of(T alpha, T squares) {
    const T beta = -std::copysign(std::sqrt(alpha * alpha + squares), alpha);
    return {beta, (beta - alpha) / beta, T(1) / (alpha - beta)};
  }

  Reflector reflector(index_t j) {
    using Limits = std::numeric_limits<T>;
    // Between these, terms of a sum that underflow are below its rounding error.
    constexpr T least = Limits::min() / Limits::epsilon(), most = Limits::max() / 16;
    const T alpha = r(j, j);
    bool safe = sums_[j] >= least && alpha * alpha + sums_[j] <= most;
    for (index_t i = j + 1; i < width_; ++i) safe = safe && std::abs(sums_[i]) >= least && std::abs(sums_[i]) <= most;
    return safe ? reflector_of(alpha, sums_[j]) : scaled_reflector(j);
  }

  /// Computes the reflector if squares or products overflow, underflow or vanish: the remaining rows of every column
  /// are multiplied by a power of two that scales them to about 1, which changes no bit of the later results.
  Reflector scaled_reflector(index_t j) {
    for (index_t i = j; i < width_; ++i) {
      int exponent = std::numeric_limits<int>::min();
      each_part(j, i, [&](index_t count, const T* x) {
        const int part = largest_exponent(count, x);
        if (part != 0 || std::any_of(x, x + count, [](T y) { return y != T(0); })) exponent = std::max(exponent, part);
      });
      if (exponent == std::numeric_limits<int>::min() || exponent == 0) continue;
      each_part(j, i, [&](index_t count, T* x) {
        scale_by_power_of_two(std::span(x, static_cast<std::size_t>(count)), -exponent);
      });
      exponents_[i] += exponent;
    }
    bool zero = true;
    for (const PanelRows<T>& part : {corner_, tall_})
      for (index_t i = 0; i < part.rows; ++i) zero = zero && part.data[i + j * part.ld] == T(0);
    recompute_dots(j);
    return zero ? Reflector{r(j, j), 0, 1} : reflector_of(r(j, j), sums_[j]);
  }

  /// Calls f(count, elements) for the pieces of column i that reflector j and the later ones change.
  template <class F>
  void each_part(index_t j, index_t i, const F& f) {
    const index_t below = lower_ ? j + (i == j ? 1 : 0) : 0;
    f(corner_.rows - below, corner_.data + below + i * corner_.ld);
    f(tall_.rows, tall_.data + i * tall_.ld);
    if (lower_) {
      if (i == j) f(index_t{1}, &r(j, j));
    } else {
      f(i + 1 - j, &r(j, i));
    }
  }

  index_t width_;
  T* r_;
  index_t ldr_;
  T* t_;
  index_t ldt_;
  PanelRows<T> tall_, corner_{};
  bool lower_ = false;
  int exponents_[panel_width] = {};  // column i equals 2^exponents_[i] times its rows, except those of R
  T buffer_[panel_width * panel_width] = {}, sums_[panel_width] = {}, weights_[panel_width] = {};
};

}  // namespace

template <class T>
void geqrt_panel(index_t m, index_t width, T* a, index_t lda, T* t, index_t ldt) {
  if constexpr (is_complex<T>)
    lapack::geqrt2(m, width, a, lda, t, ldt);
  else
    Panel<T>(width, a, lda, t, ldt, {a + width, m - width, lda}).factor_lower();
}

template <class T>
void tpqrt_panel(index_t full, index_t trapezoid, index_t width, T* r, index_t ldr, T* b, index_t ldb, T* t,
                 index_t ldt) {
  if constexpr (is_complex<T>)
    lapack::tpqrt2(full + trapezoid, width, trapezoid, r, ldr, b, ldb, t, ldt);
  else
    Panel<T>(width, r, ldr, t, ldt, {b, full, ldb}).factor_upper(trapezoid, b + full, ldb);
}

TESELA_FUNCTIONS_FOR_NUMBERS(geqrt_panel, tpqrt_panel)

}  // namespace tesela::kernels::internal
