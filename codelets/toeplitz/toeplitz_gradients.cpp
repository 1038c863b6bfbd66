#include <tesela/codelets/toeplitz/internal/refined_solve_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/toeplitz_gradients.hpp>

#include <algorithm>
#include <numeric>

namespace tesela::kernels {
namespace {

template <class T>
double dot(index_t n, const T* x, const T* y) {
  return std::inner_product(x, x + n, y, 0.0);
}

/// One column at a time, in memory of four columns.
template <class T>
class Gradients {
 public:
  Gradients(const ToeplitzGradientsArgs<T>& args, const In<T>& spectrum, const In<T>& eigenvalues, index_t n, T* work)
      : args_(args),
        spectrum_(spectrum),
        eigenvalues_(eigenvalues),
        n_(n),
        rows_(2 * spectrum.rows),
        transformed_(work),
        residual_(work + rows_),
        direction_(residual_ + rows_),
        image_(direction_ + rows_) {}

  /// x = T^-1 b, about; false where T is not positive definite.
  bool solve(const T* b, T* x) {
    std::fill_n(x, n_, T(0));
    std::copy_n(b, n_, residual_);
    const double enough = args_.inner * norm(b);
    double before = 0, left = norm(b);
    for (int step = 0; step < args_.iterations && left > enough; ++step) {
      precondition();
      const double now = dot(n_, residual_, transformed_);
      const T beta = step > 0 ? static_cast<T>(now / before) : T(0);
      for (index_t i = 0; i < n_; ++i) direction_[i] = transformed_[i] + (step > 0 ? beta * direction_[i] : T(0));
      toeplitz::multiply(host_, spectrum_.data, spectrum_.rows, T(1), T(0), T(1), direction_, rows_, T(0), image_,
                         rows_, n_, 1, transformed_);
      const double energy = dot(n_, direction_, image_);
      if (std::isnan(energy)) break;  // b's fault
      if (!(energy > 0)) return false;
      const T alpha = static_cast<T>(now / energy);
      for (index_t i = 0; i < n_; ++i) x[i] += alpha * direction_[i];
      for (index_t i = 0; i < n_; ++i) residual_[i] -= alpha * image_[i];
      before = now;
      left = norm(residual_);
    }
    if (!std::isfinite(left)) std::fill_n(x, n_, std::numeric_limits<T>::quiet_NaN());
    return true;
  }

 private:
  double norm(const T* x) const { return static_cast<double>(blas::nrm2(n_, x)); }

  /// transformed = C^-1 residual.
  void precondition() {
    std::copy_n(residual_, n_, transformed_);
    host_.real_to_complex(n_, 1, transformed_, rows_);
    for (index_t k = 0; k < eigenvalues_.rows; ++k) {
      const T factor = 1 / (static_cast<T>(n_) * eigenvalues_.data[k]);
      transformed_[2 * k] *= factor;
      transformed_[2 * k + 1] *= factor;
    }
    host_.complex_to_real(n_, 1, transformed_, rows_);
  }

  toeplitz::Host host_;
  const ToeplitzGradientsArgs<T>& args_;
  const In<T>&spectrum_, &eigenvalues_;
  index_t n_, rows_;
  T *transformed_, *residual_, *direction_, *image_;
};

}  // namespace

template <class T>
void ToeplitzChan<T>::cpu(const Args&, In<T> t, Out<T> eigenvalues, Out<double> broken, Scratch<T> work) {
  const index_t n = t.rows;
  for (index_t k = 0; k < n; ++k) {
    const T part = static_cast<T>(k) / static_cast<T>(n);
    work.data[k] = k == 0 ? t.data[0] : (1 - part) * t.data[k] + part * t.data[n - k];
  }
  toeplitz::Host{}.real_to_complex(n, 1, work.data, toeplitz_rows(n));
  broken.data[0] = 0;
  for (index_t k = 0; k < eigenvalues.rows; ++k) {
    eigenvalues.data[k] = work.data[2 * k];
    if (!(eigenvalues.data[k] > 0)) broken.data[0] = static_cast<double>(n);
  }
}

template <class T>
void ToeplitzGradientsSolve<T>::cpu(const Args& args, In<T> spectrum, In<T> eigenvalues, In<double> broken, InOut<T> b,
                                    Out<double> outcome, InOut<int> info, Scratch<T> work) {
  toeplitz::Host host;
  const index_t n = b.rows, k = b.cols, rows = 2 * spectrum.rows;
  T *const refined = work.data, *const own = work.data + 4 * rows * k;  // of own's 4 k columns refinement takes k
  Gradients<T> gradients(args, spectrum, eigenvalues, n, own);
  bool definite = broken.data[0] == 0;
  const auto order = [&] { return definite ? index_t{0} : n; };
  toeplitz::refined_solve(host, args, spectrum, order, b, outcome.data, info.data, refined, own,
                          [&](const T* from, T* to) {
                            for (index_t j = 0; j < k && definite; ++j)
                              definite = gradients.solve(from + j * rows, to + j * rows);
                          });
}

template struct ToeplitzChan<float>;
template struct ToeplitzChan<double>;
template struct ToeplitzGradientsSolve<float>;
template struct ToeplitzGradientsSolve<double>;

}  // namespace tesela::kernels
