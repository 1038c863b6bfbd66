#include "tools/problems/least_squares/ols.hpp"

#include "tools/app/sizes.hpp"
#include "tools/peers/cusolver_qr.hpp"
#include "tools/peers/device.hpp"
#include <tesela/algorithms/qr/tall_skinny.hpp>
#include <tesela/algorithms/support/column_ends.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/host/range_exponent.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/simulation/simulation.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tesela::cli {

using namespace kernels;

void choose_tiles_for_options(QrMethod& method) {
  const QrMethod automatic;
  const bool of_tiles = !method.tree.empty() || method.ib != automatic.ib || method.kernels != automatic.kernels ||
                        method.copy_vectors != automatic.copy_vectors;
  if (method.name == "auto" && of_tiles) method.name = "tiles";
}

void require_rcond(const char* command, double rcond) {
  require(rcond >= 0 && rcond < 1, command, "--rcond", "must be at least 0 and less than 1");
}

namespace {

/// Returns the options of a method that ols_methods() or givens_methods() names, for an A of this shape, of numbers of
/// type T, and r right-hand sides. The method is never automatic; for a library it is Tesela's method for the shape,
/// which checks the library's result.
template <class T>
OlsOptions ols_options(const QrMethod& method, double rcond, Shape a, index_t r) {
  OlsOptions options;
  options.rcond = rcond;
  if (givens_method(method.name)) {
    options.method = OlsMethod::givens;
    options.givens = givens_options(method);
  } else if (!method.library()) {
    options.method = *find_named(ols_methods(), method.name);
  }
  options.method = ols_method<T>(options.method, a, r);
  if (options.method == OlsMethod::tiles) options.qr = qr_options(method);
  return options;
}

}  // namespace

std::string method_name(const QrMethod& method, const OlsOptions& options) {
  return options.method == OlsMethod::givens ? method.name : std::string(name_of(ols_methods(), options.method));
}

void note_least_norm(bool unique, bool original_units, Report& report) {
  if (!report.good() || unique) return;
  report.problem()["least_norm_of"] = original_units ? "unknowns" : "unknowns times column norms";
  report.note(
      original_units
          ? "x is not unique: of all solutions it has the least ||x||"
          : "x is not unique: of all solutions it has the least ||D x||, D the norms of A's columns, which differ "
            "too much for ||x||");
}

bool can_stream(const QrMethod& method, const std::string& file, Shape a, index_t r) {
  const bool tall_skinny =
      method.name == "tall-skinny" ||
      (method.name == "auto" && ols_method<double>(OlsMethod::automatic, a, r) == OlsMethod::tall_skinny);
  return tall_skinny && probe_matrix(file).format == MatrixFileFormat::npy && a.rows > 0 && a.cols > 0;
}

template <class T>
void OlsProblem<T>::generate_uniform(bool on_workers) {
  resident = on_workers;
  a = generate<T>(shape, a_generator());
  b = generate<T>({shape.rows, rhs}, b_generator());
  if (resident) return;
  allocate();
  for (HostMatrix<T>* const work : {&work_a, &work_b})
    pinned.emplace_back(*runtime, work->data(), static_cast<std::size_t>(work->size()) * sizeof(T));
}

template <class T>
OlsOptions OlsProblem<T>::options(const std::string& name) const {
  QrMethod named = method;
  named.name = name;
  OlsOptions result = ols_options<T>(named, rcond, shape, rhs);
  result.keep_triangle = keep_triangle;
  result.multipliers = multipliers;
  if (rows == nullptr && shape.rows >= shape.cols &&
      (result.method == OlsMethod::givens || (!is_complex<T> && result.method != OlsMethod::tall_skinny)))
    result.column_ends = column_ends(a);
  return result;
}

template <class T>
TileShape OlsProblem<T>::tiles(const OlsOptions& options) const {
  const auto [m, n] = shape;
  return ols_tile(*runtime, options.method, {m, n}, parse_tile(tile, ols_tile(*runtime, options.method, {m, n})));
}

template <class T>
void OlsProblem<T>::describe(const std::string& name, nlohmann::json& report) const {
  const OlsOptions chosen = options(name);
  report["method"] = method_name(method, chosen);
  if (rows != nullptr) return;
  const TileShape cut = tiles(chosen);
  report.update({{"mb", cut.mb}, {"nb", cut.nb}});
}

template <class T>
void OlsProblem<T>::allocate() {
  if (work_a.shape() != shape) work_a = HostMatrix<T>(shape.rows, shape.cols);
  const Shape of_b{std::max(shape.rows, shape.cols), rhs};
  if (work_b.shape() != of_b) work_b = HostMatrix<T>(of_b.rows, of_b.cols);
}

template <class T>
void OlsProblem<T>::restore() {
  allocate();
  bench::RestoredMatrix<T>::release(work_a.data());
  bench::RestoredMatrix<T>::release(work_b.data());
  if (is_simulated()) return;
  copy_elements(a, work_a);
  for (index_t j = 0; j < rhs && work_b.rows() > 0; ++j) {
    std::copy_n(b.data() + j * b.ld(), b.rows(), &work_b(0, j));
    std::fill_n(&work_b(0, j) + b.rows(), work_b.rows() - b.rows(), T(0));
  }
  static_cast<void>(scale_in_memory(MatrixView<T>(work_a), -unit_a));
  static_cast<void>(scale_in_memory(MatrixView<T>(work_b), -unit_b));
}

template <class T>
void OlsProblem<T>::restore(bench::RestoredMatrix<T>& A, bench::RestoredMatrix<T>& B, TileShape tiles) {
  if (resident) {
    restore_on_devices(*runtime, A, shape, tiles, a_generator());
    restore_on_devices(*runtime, B, {shape.rows, rhs}, tiles, b_generator());
    return;
  }
  restore();
  A.on_host(*runtime, work_a.data(), shape, tiles, work_a.ld());
  B.on_host(*runtime, work_b.data(), {shape.rows, rhs}, tiles, work_b.ld());
}

namespace {

template <class T>
using OlsSolver = Solver<LeastSquares<T>>;

template <class T>
OlsSolver<T> by_graph(OlsProblem<T>& p, const std::string& name) {
  const OlsOptions options = p.options(name);
  const auto solve = [options](Graph& g, const auto& A, const auto& B) {
    if (is_simulated() && options.method == OlsMethod::tall_skinny) {
      QrUpdater<T> rows(g.runtime(), A.n(), B.n());  // the rest depends on R's values, and is short
      rows.append(g, A, B);
      g.wait();
      return LeastSquares<T>{};
    }
    return ols(g, A, B, options);
  };
  OlsSolver<T> solver = graph_solver<LeastSquares<T>>(p, options, solve,
                                                      [&p, options](auto& g) { return ols(g, *p.rows, p.b, options); });
  solver.result = [&p, result = solver.result] {
    LeastSquares<T> answer = result();
    scale_back(answer, p.unit_a, p.unit_b);
    return answer;
  };
  return solver;
}

/// solve() leaves X in the first n rows of work_b; judge(answer) sets rank and condition.
template <class T, class Solve, class Judge>
OlsSolver<T> by_library(OlsProblem<T>& p, const Solve& solve, const Judge& judge) {
  const auto run = [&p, solve](Graph*) {
    if (p.shape.rows > 0 && p.shape.cols > 0) solve();
  };
  const auto result = [&p, judge] {
    const auto [m, n] = p.shape;
    LeastSquares<T> answer;
    judge(answer);
    answer.X = HostMatrix<T>(n, p.rhs);
    for (index_t j = 0; j < p.rhs && n > 0; ++j) std::copy_n(&p.work_b(0, j), n, &answer.X(0, j));
    if (!all_finite(answer.X)) answer.status = SolveStatus::not_finite;
    if (answer.status == SolveStatus::ok && answer.rank < std::min(m, n)) answer.status = SolveStatus::rank_deficient;
    return answer;
  };
  return {[&p] { p.restore(); }, run, {}, result};
}

template <class T>
double rcond_of(const OlsProblem<T>& p) {
  if (p.rcond > 0) return p.rcond;
  return static_cast<double>(std::max(p.shape.rows, p.shape.cols)) *
         static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
}

/// Decides the rank on the triangle in work_a: A's R, or L of A = L Q for m < n.
template <class T>
void judge_triangle(const OlsProblem<T>& p, LeastSquares<T>& answer) {
  const auto [m, n] = p.shape;
  const index_t k = std::min(m, n);
  HostMatrix<T> r = HostMatrix<T>::zeros(k, k);
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i <= j; ++i) r(i, j) = m >= n ? p.work_a(i, j) : conj(p.work_a(j, i));
  if (!all_finite(r)) {
    answer.status = SolveStatus::not_finite;
  } else if (k > 0) {
    answer.condition = triangle_condition(r, m >= n);
    answer.rank = minimum_norm(std::move(r), HostMatrix<T>(k, 0), rcond_of(p)).rank;
  }
}

template <class T>
OlsSolver<T> by_gels(OlsProblem<T>& p) {
  const auto solve = [&p] {
    const blas::Threads threads(blas::all_cores());
    lapack::gels(p.shape.rows, p.shape.cols, p.rhs, p.work_a.data(), p.work_a.ld(), p.work_b.data(), p.work_b.ld());
  };
  return by_library(p, solve, [&p](LeastSquares<T>& answer) { judge_triangle(p, answer); });
}

/// Sets rank, condition and cut from the singular values of A, whose columns are not scaled.
template <class T>
void judge_singular_values(const lapack::Gelsd<T>& found, LeastSquares<T>& answer) {
  const auto& s = found.singular_values;
  if (s.empty()) return;
  answer.rank = found.rank;
  if (found.info != 0) {
    answer.condition = std::numeric_limits<double>::quiet_NaN();
    answer.status = SolveStatus::not_finite;
    return;
  }
  const double largest = static_cast<double>(s.front()), smallest = static_cast<double>(s.back());
  answer.condition = smallest > 0 ? largest / smallest : std::numeric_limits<double>::infinity();
  if (largest == 0) return;
  double all = 0, cut = 0;  // of ratios, whose squares stay in range
  for (std::size_t i = 0; i < s.size(); ++i) {
    const double ratio = static_cast<double>(s[i]) / largest;
    (static_cast<index_t>(i) < found.rank ? all : cut) += ratio * ratio;
  }
  answer.cut = std::sqrt(cut / (all + cut));
}

template <class T>
OlsSolver<T> by_gelsd(OlsProblem<T>& p) {
  const auto found = std::make_shared<lapack::Gelsd<T>>();
  const auto solve = [&p, found] {
    const blas::Threads threads(blas::all_cores());
    *found = lapack::gelsd(p.shape.rows, p.shape.cols, p.rhs, p.work_a.data(), p.work_a.ld(), p.work_b.data(),
                           p.work_b.ld(), rcond_of(p));
  };
  return by_library(p, solve, [found](LeastSquares<T>& answer) { judge_singular_values(*found, answer); });
}

template <class T>
OlsSolver<T> by_cusolver(OlsProblem<T>& p) {
  const auto [m, n] = p.shape;
  require(m >= n, p.command, "--method", "cusolver solves problems with m >= n only");
  const auto of_a = std::make_shared<CusolverQr<T>>(m, n);
  const std::size_t bytes = static_cast<std::size_t>(m * p.rhs) * sizeof(T);
  const auto of_b = std::make_shared<bench::DeviceMemory>(p.resident ? bytes : 0);
  const auto solve = [&p, of_a, of_b] {
    if (!p.resident) of_a->upload(p.work_a.data());
    of_a->factor();
    of_a->solve(p.resident ? of_b->template as<T>() : p.work_b.data(), p.rhs);
  };
  const auto judge = [&p, of_a, of_b, bytes](LeastSquares<T>& answer) {
    p.allocate();
    of_a->download(p.work_a.data());
    if (p.resident) bench::copy_memory(p.work_b.data(), of_b->template as<T>(), bytes);
    judge_triangle(p, answer);
  };
  OlsSolver<T> solver = by_library(p, solve, judge);
  if (p.resident)
    solver.prepare = [&p, of_a, of_b] {
      bench::generate(of_a->a(), p.shape.rows, p.shape.cols, p.a_generator());
      bench::generate(of_b->template as<T>(), p.shape.rows, p.rhs, p.b_generator());
    };
  return solver;
}

}  // namespace

template <class T>
std::vector<Method<OlsProblem<T>, LeastSquares<T>>> ols_table() {
  using Row = Method<OlsProblem<T>, LeastSquares<T>>;
  using Place = typename Row::Place;
  std::vector<Row> rows = graph_rows(ols_methods(), by_graph<T>);
  rows.push_back({"gelsd", "LAPACK's, by singular values, any rank", Place::cores, by_gelsd<T>});
  rows.push_back({"lapack", "gels, full rank only", Place::cores, by_gels<T>});
  add_cusolver(rows, "cusolver", "geqrf, ormqr and trsm on a GPU, full rank only, transfers timed",
               [](auto& p) { return by_cusolver(p); });
  return rows;
}

template <class T>
OlsErrors<T> measure_ols(const OlsProblem<T>& p, const std::string& method, const LeastSquares<T>& answer) {
  const blas::Threads threads(blas::all_cores());
  NormalResidual<T> sums(answer.X);
  p.for_each_block([&](index_t first, const Block<const T>& rows) {
    sums.add(rows.rows, rows.data, rows.ld, p.b.data() + first, p.b.ld());
  });
  const auto residual = sums.result();
  return {residual, ols_error<T>(residual, p.shape, method == "gelsd" ? -1 : answer.rank, answer.cut)};
}

template <class T>
double check_peer(const std::string& peer, const OlsProblem<T>& p, const LeastSquares<T>& answer) {
  if (answer.status != SolveStatus::ok)
    throw bench::WrongResult(fmt::format("bench {}: {}: {}", p.command, peer, description(answer.status)));
  const PausedWorkers paused;
  const Measured backward = measure_ols(p, peer, answer).backward;
  if (!backward.good())
    throw bench::WrongResult(fmt::format("bench {}: {}: the backward error is {:.3g}, above {:.3g}", p.command, peer,
                                         backward.error, backward.limit()));
  return backward.error / backward.limit();
}

TESELA_FUNCTIONS_FOR_NUMBERS(ols_table, measure_ols, check_peer)
TESELA_STRUCTS_FOR_NUMBERS(OlsProblem)

}  // namespace tesela::cli
