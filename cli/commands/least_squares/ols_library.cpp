#include "cli/commands/least_squares/ols_library.hpp"

#include "bench/peers/cusolver_qr.hpp"
#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/codelets/libraries/lapack.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::cli {
namespace {

template <class T>
class LapackOls : public OlsLibrary<T> {
 public:
  void solve(HostMatrix<T>& a, HostMatrix<T>& b) override {
    const blas::Threads threads(blas::all_cores());
    lapack::gels(a.rows(), a.cols(), b.cols(), a.data(), a.ld(), b.data(), b.ld());
  }
  HostMatrix<T> triangle(const HostMatrix<T>& a) const override {
    const index_t k = std::min(a.rows(), a.cols());
    HostMatrix<T> r = HostMatrix<T>::zeros(k, k);
    for (index_t j = 0; j < k; ++j)
      for (index_t i = 0; i <= j; ++i) r(i, j) = a.rows() >= a.cols() ? a(i, j) : a(j, i);  // R, or L^T
    return r;
  }
};

template <class T>
class GelsdOls : public OlsLibrary<T> {
 public:
  explicit GelsdOls(double rcond) : rcond_(rcond) {}
  void solve(HostMatrix<T>& a, HostMatrix<T>& b) override {
    const blas::Threads threads(blas::all_cores());
    found_ = lapack::gelsd(a.rows(), a.cols(), b.cols(), a.data(), a.ld(), b.data(), b.ld(), rcond_);
  }
  HostMatrix<T> triangle(const HostMatrix<T>&) const override { return {}; }
  std::optional<LibraryRank> rank() const override {
    LibraryRank result;
    const auto& s = found_.singular_values;
    if (s.empty()) return result;
    result.rank = found_.rank;
    if (found_.info != 0) {
      result.condition = std::numeric_limits<double>::quiet_NaN();
      return result;
    }
    const double largest = static_cast<double>(s.front()), smallest = static_cast<double>(s.back());
    result.condition = smallest > 0 ? largest / smallest : std::numeric_limits<double>::infinity();
    if (largest == 0) return result;
    double all = 0, cut = 0;  // of ratios, whose squares stay in range
    for (std::size_t i = 0; i < s.size(); ++i) {
      const double ratio = static_cast<double>(s[i]) / largest;
      (static_cast<index_t>(i) < found_.rank ? all : cut) += ratio * ratio;
    }
    result.cut = std::sqrt(cut / (all + cut));
    return result;
  }

 private:
  double rcond_;
  lapack::Gelsd<T> found_;
};

template <class T>
class CusolverOls : public OlsLibrary<T> {
 public:
  explicit CusolverOls(Shape shape) : device_(shape.rows, shape.cols) {}
  void solve(HostMatrix<T>& a, HostMatrix<T>& b) override {
    device_.upload(a.data());
    device_.factor();
    device_.solve(b.data(), b.cols());
  }
  HostMatrix<T> triangle(const HostMatrix<T>& a) const override {
    HostMatrix<T> factors(a.rows(), a.cols());
    device_.download(factors.data());
    return LapackOls<T>().triangle(factors);
  }

 private:
  CusolverQr<T> device_;
};

}  // namespace

template <class T>
std::unique_ptr<OlsLibrary<T>> make_ols_library(const std::string& method, Shape shape, double rcond) {
  if (method == "gelsd") return std::make_unique<GelsdOls<T>>(rcond);
  if (method == "lapack") return std::make_unique<LapackOls<T>>();
  if (shape.rows < shape.cols) throw ArgumentError("ols", "--method", "cusolver solves problems with m >= n only");
  return std::make_unique<CusolverOls<T>>(shape);
}

template std::unique_ptr<OlsLibrary<float>> make_ols_library(const std::string&, Shape, double);
template std::unique_ptr<OlsLibrary<double>> make_ols_library(const std::string&, Shape, double);

}  // namespace tesela::cli
