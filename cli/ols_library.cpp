#include "cli/ols_library.hpp"

#include "codelets/blas.hpp"
#include "codelets/cusolver_qr.hpp"
#include "codelets/lapack.hpp"

#include <algorithm>
#include <thread>

namespace tesela::cli {
namespace {

template <class T>
class LapackOls : public OlsLibrary<T> {
 public:
  void solve(HostMatrix<T>& a, HostMatrix<T>& b) override {
    const blas::Threads threads(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
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
std::unique_ptr<OlsLibrary<T>> make_ols_library(const std::string& method, Shape shape) {
  if (method == "lapack") return std::make_unique<LapackOls<T>>();
  if (shape.rows < shape.cols) throw ArgumentError("ols", "--method", "cusolver solves problems with m >= n only");
  return std::make_unique<CusolverOls<T>>(shape);
}

template std::unique_ptr<OlsLibrary<float>> make_ols_library(const std::string&, Shape);
template std::unique_ptr<OlsLibrary<double>> make_ols_library(const std::string&, Shape);

}  // namespace tesela::cli
