#include "tools/app/arguments.hpp"
#include "tools/app/numbers.hpp"
#include "tools/bench/harness/report.hpp"
#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
#include <tesela/algorithms/eigen/reduce_to_band.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>
#include <tesela/codelets/support/fill.hpp>

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace tesela::bench {
namespace {

struct EigStagesOptions : Options {
  std::vector<index_t> n{2048};
  std::vector<std::string> jobs{"values", "vectors"};
  index_t band = 0, block = 0;
};

/// The stages of an eigenproblem one by one, each on the results of the stage before it, where they are. Only A must be
/// restored: a stage's run repeats the earlier stages outside its time.
template <class T>
class Stages {
 public:
  Stages(Runtime& runtime, index_t n, bool vectors, const EigStagesOptions& o)
      : runtime_(runtime),
        n_(n),
        vectors_(vectors),
        block_(o.block),
        seed_(o.common.seed),
        half_width_(
            std::clamp<index_t>(o.band > 0 ? o.band : band_half_width(runtime), 1, std::max<index_t>(n - 1, 1))),
        tile_(eig_tile(runtime, n, {.band = half_width_}).nb) {}

  index_t half_width() const { return half_width_; }
  index_t tile() const { return tile_; }

  double reduce() {
    X_.reset(), to_tridiagonal_.reset(), to_band_.reset(), band_.reset();
    const TileMatrix<T> A(runtime_, n_, n_, {n_, tile_}, "A");
    Graph fill(runtime_);
    A.for_each_tile([&](const Tile<T>& tile, index_t, index_t column) {
      fill.insert<kernels::Fill<T>>(
          on_gpu, {{.pattern = Pattern::uniform, .columns = n_, .seed = seed_, .rows = n_}, 0, column}, tile);
    });
    fill.wait();
    band_.emplace(runtime_, n_, half_width_, band_window(runtime_, n_, half_width_));
    return seconds_of([&] {
      Graph g(runtime_);
      to_band_.emplace(reduce_to_band(g, A, *band_, {.block = block_, .vectors = vectors_}));
      g.wait();
    });
  }

  double chase() {
    reduce();
    return seconds_of([&] {
      Graph g(runtime_);
      to_tridiagonal_.emplace(band_to_tridiagonal(g, *band_, {.vectors = vectors_}));
      g.wait();
    });
  }

  /// Reads d and e on the host.
  void tridiagonal() {
    chase();
    d_ = to_tridiagonal_->diagonal(), e_ = to_tridiagonal_->off_diagonal();
  }
  double values_by(TridiagonalEigMethod method) {
    if (d_.empty()) tridiagonal();
    return seconds_of([&] { values_ = tridiagonal_eigenvalues<T>(runtime_, d_, e_, {.method = method}).values; });
  }
  /// Returns the differences of the sums of the values and of their squares from the sums of T's elements, over the
  /// bound of n roundings.
  double check_values(const std::string& peer) const {
    double sum = 0, squares = 0, least = 0, trace = 0, frobenius = 0;
    for (const T x : values_) sum += x, squares += double(x) * x, least = std::max(least, std::abs(double(x)));
    for (const T x : d_) trace += x, frobenius += double(x) * x;
    for (const T x : e_) frobenius += 2 * double(x) * x;
    const double bound = 16 * static_cast<double>(n_) * std::numeric_limits<T>::epsilon(),
                 error = std::max(std::abs(sum - trace) / least, std::abs(squares - frobenius) / frobenius) / bound;
    if (!(error <= 1))
      throw WrongResult(fmt::format("{}: n = {}: an error is {:.3g} times its bound", peer, n_, error));
    return error;
  }

  double solve() {
    if (d_.empty()) tridiagonal();
    X_.reset();
    X_.emplace(runtime_, n_, n_, TileShape{n_, eigenvectors_tile(runtime_, n_, n_)}, "X");
    return seconds_of([&] { values_ = tridiagonal_eig<T>(runtime_, d_, e_, *X_).values; });
  }
  double apply_second() { return apply(*to_tridiagonal_); }
  double apply_first() { return apply(*to_band_); }

 private:
  template <class Q>
  double apply(const Q& q) {
    if (!X_) solve();
    return seconds_of([&] {
      Graph g(runtime_);
      q.apply(g, Op::none, *X_);
      g.wait();
    });
  }

  Runtime& runtime_;
  index_t n_;
  bool vectors_;
  index_t block_;
  std::uint64_t seed_;
  index_t half_width_, tile_;
  std::optional<SymmetricBand<T>> band_;
  std::optional<BandReduction<T>> to_band_;
  std::optional<BulgeChase<T>> to_tridiagonal_;
  std::vector<T> d_, e_, values_;
  std::optional<TileMatrix<T>> X_;
};

template <class T>
void run(const EigStagesOptions& o) {
  Runtime runtime(o.runtime());
  Report report("eig-stages", o, &runtime);
  const double ceiling = measure_gemm_ceiling<T>(report, runtime);
  for (const index_t n : o.n)
    for (const std::string& job : o.jobs) {
      const bool vectors = job == "vectors";
      Stages<T> stages(runtime, n, vectors, o);
      const auto order = static_cast<double>(n), cube = order * order * order;
      const auto add = [&](const std::string& stage, const std::vector<Peer>& peers, double flops) {
        report.add(Case{fmt::format("n = {}, {}: {}", n, job, stage), n, n, stages.half_width(),
                        fmt::format("{}x{}", n, stages.tile()), "device", "GFLOP/s"},
                   alternate(peers, o.common.repeat), ceiling, [&](double seconds) { return flops / seconds * 1e-9; });
      };
      const auto stage = [](const char* name, auto run) { return std::vector<Peer>{{name, run, {}}}; };
      add("to a band", stage("reduce_to_band", [&] { return stages.reduce(); }), 4.0 / 3 * cube);
      add("to T", stage("band_to_tridiagonal", [&] { return stages.chase(); }),
          6 * static_cast<double>(stages.half_width()) * order * order);
      std::vector<Peer> peers;
      for (const auto& [method, name, what] : tridiagonal_eig_methods())
        if (method == TridiagonalEigMethod::divide_and_conquer || method == TridiagonalEigMethod::bisection)
          peers.push_back({name, [&stages, method = method] { return stages.values_by(method); },
                           [&stages, method = method, name = std::string(name)] {
                             stages.values_by(method);
                             return stages.check_values(name);
                           }});
      add("values of T", peers, 50 * order * order);
      if (!vectors) continue;
      add("vectors of T", stage("tridiagonal_eig", [&] { return stages.solve(); }), 4.0 / 3 * cube);
      add("Q2", stage("BulgeChase::apply", [&] { return stages.apply_second(); }), 2 * cube);
      add("Q1", stage("BandReduction::apply", [&] { return stages.apply_first(); }), 2 * cube);
    }
  report.note("A of uniform elements is made where it is reduced; a stage begins when the one before has ended");
  report.note("rates by 4/3 n^3, 6 b n^2, 50 n^2 pivots, 4/3 n^3 and twice 2 n^3; of the values, sums are checked");
  report.finish();
}

const cli::Command eig_stages_command(
    cli::Command::Group::bench, "eig-stages", "where the time of a dense symmetric eigenproblem goes",
    [](cli::App& app) {
      auto o = std::make_shared<EigStagesOptions>();
      o->common.repeat = 3;
      o->add_to(app, "eig-stages");
      app.add_list("-n,--n", o->n, "orders")->positive()->show_default();
      add_jobs(app, o->jobs);
      app.add_option("--band", o->band, "half-width of the band between the stages")->positive();
      app.add_option("--block", o->block, "columns that are gathered before A takes them")->positive();
      return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
