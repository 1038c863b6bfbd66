#include "tools/commands/least_squares/ols_library.hpp"

#include "tools/peers/cusolver_qr.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/filled.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace tesela::cli {

using namespace kernels;
namespace {

/// What a library says about the rank of A as it is.
struct LibraryRank {
  index_t rank = 0;
  double condition = 1;  ///< the largest singular value over the smallest
  double cut = 0;        ///< the norm of those that count as zero over the norm of all
};

/// Somebody else's least squares in host memory.
template <class T>
class OlsLibrary {
 public:
  virtual ~OlsLibrary() = default;
  /// A, m x n, is lost; B has max(m, n) rows and becomes X in its first n.
  virtual void solve(HostMatrix<T>& a, HostMatrix<T>& b) = 0;
  /// Of the last solve(); none from those that take A's rank for full.
  virtual std::optional<LibraryRank> rank() const { return std::nullopt; }
  /// The min(m, n) x min(m, n) upper triangle of the last solve(): A's R, or A^T's for m < n. Not of those that
  /// answer a rank.
  virtual HostMatrix<T> triangle(const HostMatrix<T>& a) const = 0;
};

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

template <class T>
std::unique_ptr<OlsLibrary<T>> make_library(const char* command, const std::string& method, Shape shape, double rcond) {
  if (method == "gelsd") return std::make_unique<GelsdOls<T>>(rcond);
  if (method == "lapack") return std::make_unique<LapackOls<T>>();
  if (shape.rows < shape.cols) throw ArgumentError(command, "--method", "cusolver solves problems with m >= n only");
  return std::make_unique<CusolverOls<T>>(shape);
}

}  // namespace

template <class T>
LeastSquares<T> time_ols_library(const char* command, const CommonOptions& common, const QrMethod& method,
                                 const HostMatrix<T>& A, const HostMatrix<T>& B, double rcond, Timed& runs) {
  const index_t m = A.rows(), n = A.cols(), r = B.cols(), k = std::min(m, n);
  if (!(rcond > 0))
    rcond = static_cast<double>(std::max(m, n)) * static_cast<double>(std::numeric_limits<T>::epsilon());
  const auto library = make_library<T>(command, method.name, A.shape(), rcond);
  HostMatrix<T> a, b;
  const auto prepare = [&] {
    a = A.clone();
    b = HostMatrix<T>::zeros(std::max(m, n), r);
    for (index_t j = 0; j < r && m > 0; ++j) std::copy_n(&B(0, j), m, &b(0, j));
  };
  const auto call = [&] {
    if (m > 0 && n > 0) library->solve(a, b);
  };
  runs = time_library(common, prepare, call, method.gpus());
  LeastSquares<T> answer;
  answer.X = HostMatrix<T>(n, r);
  for (index_t j = 0; j < r && n > 0; ++j) std::copy_n(&b(0, j), n, &answer.X(0, j));
  if (!all_finite(answer.X)) answer.status = SolveStatus::not_finite;
  if (const auto found = library->rank()) {
    answer.rank = found->rank;
    answer.condition = found->condition;
    answer.cut = found->cut;
    if (std::isnan(found->condition)) answer.status = SolveStatus::not_finite;
  } else if (const HostMatrix<T> triangle = library->triangle(a); !all_finite(triangle)) {
    answer.status = SolveStatus::not_finite;
  } else if (k > 0) {
    answer.condition = triangle_condition(triangle, m >= n);
    answer.rank = minimum_norm(triangle.clone(), HostMatrix<T>(k, 0), rcond).rank;
  }
  if (answer.status == SolveStatus::ok && answer.rank < k) answer.status = SolveStatus::rank_deficient;
  return answer;
}

template LeastSquares<float> time_ols_library(const char*, const CommonOptions&, const QrMethod&,
                                              const HostMatrix<float>&, const HostMatrix<float>&, double, Timed&);
template LeastSquares<double> time_ols_library(const char*, const CommonOptions&, const QrMethod&,
                                               const HostMatrix<double>&, const HostMatrix<double>&, double, Timed&);

}  // namespace tesela::cli
