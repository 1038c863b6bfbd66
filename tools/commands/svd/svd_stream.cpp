#include "tools/app/matrix_outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/eig_error.hpp"
#include "tools/checks/svd_error.hpp"
#include "tools/commands/svd/svd_parts.hpp"
#include <tesela/algorithms/svd/streamed_svd.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>
#include <tesela/tiles/io/npy.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

namespace tesela::cli {
namespace {

/// Errors of U that one pass over its rows and A's measures, in double precision, with A scaled to a norm near 1.
template <class T>
class RowErrors {
  using Wide = with_parts<T, double>;

 public:
  RowErrors(const StreamedSvd<T>& found, index_t n)
      : found_(found),
        rank_(found.u.n),
        exponent_(found.norm > 0 && std::isfinite(found.norm) ? std::ilogb(found.norm) : 0),
        gram_(HostMatrix<Wide>::zeros(rank_, rank_)),
        product_(HostMatrix<Wide>::zeros(n, rank_)),
        squares_(static_cast<std::size_t>(rank_)) {}

  /// Adds the same rows of A and U.
  void add(const HostMatrix<T>& a, const HostMatrix<T>& u, index_t rows) {
    if (rank_ == 0) return;
    const index_t n = a.cols();
    HostMatrix<Wide> wide_a(rows, n), wide_u(rows, rank_), rest(rows, rank_), v(n, rank_);
    const auto copy = [](const HostMatrix<T>& from, int exponent, HostMatrix<Wide>& to) {
      for (index_t j = 0; j < to.cols(); ++j)
        for (index_t i = 0; i < to.rows(); ++i) to(i, j) = times_power_of_two(Wide(from(i, j)), -exponent);
    };
    copy(a, exponent_, wide_a), copy(u, 0, wide_u), copy(*found_.v, 0, v);
    for (index_t j = 0; j < rank_; ++j)
      for (index_t i = 0; i < rows; ++i) rest(i, j) = wide_u(i, j) * value(j);
    blas::gemm<Wide>(Op::none, Op::none, rows, rank_, n, 1, wide_a.data(), rows, v.data(), n, -1, rest.data(), rows);
    for (index_t j = 0; j < rank_; ++j)
      for (index_t i = 0; i < rows; ++i) squares_[static_cast<std::size_t>(j)] += square(rest(i, j));
    blas::gemm<Wide>(adjoint<T>, Op::none, rank_, rank_, rows, 1, wide_u.data(), rows, wide_u.data(), rows, 1,
                     gram_.data(), rank_);
    blas::gemm<Wide>(adjoint<T>, Op::none, n, rank_, rows, 1, wide_a.data(), rows, wide_u.data(), rows, 1,
                     product_.data(), n);
  }
  double orthogonality() const {
    double sum = 0;
    for (index_t j = 0; j < rank_; ++j)
      for (index_t i = 0; i < rank_; ++i) sum += square(gram_(i, j) - (i == j ? 1.0 : 0.0));
    return std::sqrt(sum);
  }
  /// Returns max ||A v - s u||_2 and ||A^H u - s v||_2, relative to ||A||_2.
  double residual() const {
    double worst = 0;
    for (index_t j = 0; j < rank_; ++j) {
      const auto at = static_cast<std::size_t>(j);
      double sum = 0;
      for (index_t i = 0; i < product_.rows(); ++i) sum += square(product_(i, j) - Wide((*found_.v)(i, j)) * value(j));
      const double off = std::sqrt(std::max(sum, squares_[at])) / std::ldexp(found_.norm, -exponent_);
      if (!(off <= worst)) worst = off;
    }
    return worst;
  }

 private:
  static double square(Wide x) { return std::norm(x); }
  double value(index_t j) const { return std::ldexp(found_.values[static_cast<std::size_t>(j)], -exponent_); }

  const StreamedSvd<T>& found_;
  index_t rank_;
  int exponent_;
  HostMatrix<Wide> gram_, product_;
  std::vector<double> squares_;
};

/// Computes U block by block, writes it, and measures its errors.
template <class T>
void pass_over_u(const SvdCommandOptions& o, const RowSource<T>& A, const StreamedSvd<T>& found, Report& report) {
  constexpr index_t block = 8192;
  RowErrors<T> errors(found, A.n);
  std::optional<npy::RowFile<T>> file;
  if (!o.out_u.empty()) file.emplace(o.out_u, Shape{A.m, found.u.n});
  const index_t rows = std::min(block, A.m);
  HostMatrix<T> a(rows, A.n), u(rows, found.u.n);
  for (index_t first = 0; first < A.m; first += block) {
    const index_t count = std::min(rows, A.m - first);
    found.u.read(first, {u.data(), count, u.cols(), rows});
    if (o.common.check) {
      A.read(first, {a.data(), count, a.cols(), rows});
      errors.add(a, u, count);
    }
    if (file) file->append({u.data(), count, u.cols(), rows});
  }
  if (o.common.check) {
    const SvdBounds bounds = svd_bounds<T>(A.m, A.n);
    report.check("residual", Measured{errors.residual(), bounds.value + value_rounding(found.norm)});
    report.check("orthogonality_u", Measured{errors.orthogonality(), bounds.orthogonality});
  }
  if (!file || !report.good()) return;
  file->commit();
  report.wrote(o.out_u, to_string(Shape{A.m, found.u.n}));
}

template <class T>
int run(SvdCommandOptions o) {
  Report report("svd", o.common);
  require(!o.a.empty() && probe_matrix(o.a).format == MatrixFileFormat::npy, "svd", "--stream",
          "needs a .npy file of A");
  require(o.out_u.empty() || format_of_name(o.out_u) == MatrixFileFormat::npy, "svd", "--out-u",
          "with --stream is a .npy file");
  resolve_svd_shape(o);
  require(o.m >= o.n, "svd", "--stream", "needs a matrix with m >= n, not ", to_string(Shape{o.m, o.n}));
  require(!o.values || (o.out_u.empty() && o.out_v.empty()), "svd", "--values", "contradicts --out-u and --out-v");
  describe_svd(o, report);
  report.problem()["method"] = "R of blocks of rows";
  StreamedSvd<T> found;
  std::optional<RowSource<T>> A;
  {
    Runtime runtime(o.common.runtime());
    A = rows_of(std::make_shared<const MatrixRows<T>>(o.a));
    const auto work = [&](Graph& g, bool) {
      found = streamed_svd(g, *A, o.svd());
      return 0.0;
    };
    run_timed(o.common, runtime, report, {[] {}, work, flops_each<T> * svd_flops(o.m, o.n, o.vectors())});
  }
  if (!found.status.ok()) {
    report.fail(to_string(found.status));
    return report.finish();
  }
  report.check("found", static_cast<double>(found.values.size()));
  if (!o.values) {
    if (std::ssize(found.values) == o.n) report.check("rank", static_cast<double>(found.u.n));
    if (o.common.check)
      report.check("orthogonality_v", Measured{eigenvector_orthogonality(*found.v, found.v->cols(), 1),
                                               svd_bounds<T>(o.m, o.n).orthogonality});
    if (o.common.check || !o.out_u.empty()) pass_over_u(o, *A, found, report);
  }
  HostMatrix<double> values(std::ssize(found.values), 1);
  std::copy(found.values.begin(), found.values.end(), values.data());
  const HostMatrix<T> none;
  write_matrices(report,
                 {{"singular values", o.out, values, OneColumn::vector}, {"V", o.out_v, found.v ? *found.v : none}});
  return report.finish();
}

}  // namespace

int run_svd_stream(SvdCommandOptions o) {
  return run_for_number_type(o, []<class T>(SvdCommandOptions& options) { return run<T>(options); });
}

}  // namespace tesela::cli
