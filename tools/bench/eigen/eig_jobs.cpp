#include "tools/app/choices.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/options.hpp"
#include "tools/bench/harness/noted_ceiling.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/checks/eig_error.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/algorithms/eigen/symmetric_eig_plan.hpp>
#include <tesela/algorithms/support/run_concurrently.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/runtime/memory.hpp>
#include <tesela/runtime/topology.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tesela::bench {
namespace {

struct EigJobsOptions : Options {
  std::vector<index_t> n{2048};
  index_t count = 16, at_once = 0;
  std::string method = "auto", random = "uniform";
  bool vectors = true;
};

/// The problems, in page-locked memory: transfers are timed.
template <class T>
class Problems {
 public:
  Problems(Runtime& runtime, const EigJobsOptions& o, index_t n)
      : runtime_(runtime), o_(o), n_(n), sizes_(static_cast<std::size_t>(o.count), n) {
    const SymmetricChoice kind = parse_symmetric_kind(o.random);
    const PausedWorkers paused;
    for (index_t k = 0; k < o.count; ++k) {
      const SymmetricMatrix matrix(kind.kind, n, kind.parameter, o.common.seed + static_cast<std::uint64_t>(k));
      original_.push_back(filled<T>({n, n}, [&](index_t i, index_t j) { return matrix.element<T>(i, j); }));
      a_.push_back(std::make_unique<HostBuffer>(runtime, bytes()));
      x_.push_back(std::make_unique<HostBuffer>(runtime, bytes()));
    }
    found_.resize(sizes_.size());
  }

  /// Answers the seconds of all.
  double run(int at_once, const SymmetricEigOptions& options) {
    for (std::size_t k = 0; k < sizes_.size(); ++k) std::memcpy(a_[k]->data(), original_[k].data(), bytes());
    wait_for_idle_threads();
    return seconds_of([&] {
      run_concurrently(sizes_, at_once, [&](std::size_t k, int thread) {
        const bool whole = options.method == EigMethod::one_task;
        const auto A = TileMatrix<T>::map(runtime_, static_cast<T*>(a_[k]->data()), n_, n_, n_,
                                          {n_, whole ? n_ : suitable_eig_tile(runtime_, n_)}, "A");
        Graph g(runtime_, {.gpu = at_once > 1 && runtime_.gpus() > 0 ? thread % runtime_.gpus() : -1});
        SymmetricEig<T> eig = symmetric_eig(g, A, options);
        g.wait();
        if (eig.vectors && eig.status.ok()) eig.vectors->copy_to(static_cast<T*>(x_[k]->data()), n_);
        eig.vectors.reset();
        found_[k] = std::move(eig);
      });
    });
  }

  /// The largest error over its bound, of each problem's sum of values and some pairs.
  double check(const std::string& peer) const {
    const PausedWorkers paused;
    const EigBounds bounds = eig_bounds<T>(n_);
    double worst = 0;
    const auto take = [&](double error) { worst = error <= worst ? worst : error; };  // NaN stays
    for (std::size_t k = 0; k < sizes_.size(); ++k) {
      const SymmetricEig<T>& eig = found_[k];
      if (!eig.status.ok()) throw WrongResult(fmt::format("{}: problem {}: {}", peer, k + 1, to_string(eig.status)));
      const double norm = symmetric_norm(original_[k], eig.norm);
      take(trace_drift(original_[k], eig.values, norm) / bounds.value / std::sqrt(static_cast<double>(n_)));
      if (!o_.vectors) continue;
      HostMatrix<T> x(n_, n_);
      std::memcpy(x.data(), x_[k]->data(), bytes());
      const EigError e = eig_error(original_[k], eig.values, x, norm, 64, o_.common.seed);
      take(e.residual / bounds.value);
      take(e.orthogonality / bounds.orthogonality);
    }
    if (!(worst <= 1))
      throw WrongResult(fmt::format("{}: n = {}: an error is {:.3g} times its bound", peer, n_, worst));
    return worst;
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(n_ * n_) * sizeof(T); }

  Runtime& runtime_;
  const EigJobsOptions& o_;
  index_t n_;
  std::vector<index_t> sizes_;
  std::vector<HostMatrix<T>> original_;
  std::vector<std::unique_ptr<HostBuffer>> a_, x_;
  std::vector<SymmetricEig<T>> found_;
};

template <class T>
void run(const EigJobsOptions& o) {
  RuntimeOptions options = o.runtime();
  const int streams = options.streams_per_gpu.value_or(
      suitable_job_streams(blas::all_cores(), options.gpus.value_or(count_cuda_devices())));
  options.streams_per_gpu = streams;
  options.thread_per_stream = streams > 1;
  Runtime runtime(options);
  Report report("eig-jobs", o, &runtime);
  const double ceiling = measure_gemm_ceiling<T>(report, runtime);
  for (const index_t n : o.n) {
    const SymmetricEigOptions alone{.method = *find_named(eig_methods(), o.method), .vectors = o.vectors},
        among_others = suitable_job_options(runtime, n, alone);
    const MemoryRoom room{usable_host_bytes(),
                          static_cast<double>(runtime.device_bytes()) / std::max(runtime.gpus(), 1)};
    const int at_once =
        o.at_once > 0
            ? static_cast<int>(o.at_once)
            : suitable_concurrent_jobs(runtime, streams, plan_symmetric_eig(runtime, n, sizeof(T), among_others), room);
    Problems<T> problems(runtime, o, n);
    const auto peer = [&](const char* name, int together, const SymmetricEigOptions& how) {
      return checked(
          name, [&problems, together, how] { return problems.run(together, how); },
          [&problems, name] { return problems.check(name); });
    };
    const auto order = static_cast<double>(n),
               flops = static_cast<double>(o.count) * (o.vectors ? 14.0 : 4.0) / 3 * order * order * order;
    report.add(Case{fmt::format("{} of n = {}, {} at a time", o.count, n, at_once), n, n, o.count,
                    name_of(eig_methods(), among_others.method), "host", "GFLOP/s"},
               alternate({peer("jobs", at_once, among_others), peer("one-by-one", 1, alone),
                          peer("one-by-one, same method", 1, among_others)},
                         o.common.repeat),
               ceiling, [&](double seconds) { return flops / seconds * 1e-9; });
  }
  report.note(fmt::format("{}, {}; rates by LAPACK's flops; A and X in host memory, transfers timed", o.random,
                          o.vectors ? "all pairs" : "values"));
  report.finish();
}

const cli::Command eig_jobs_command(
    cli::Command::Group::bench, "eig-jobs", "several symmetric eigenproblems at a time against one by one",
    [](CLI::App& app) {
      auto o = std::make_shared<EigJobsOptions>();
      o->common.repeat = 3;
      o->add_to(app, "eig-jobs");
      app.add_option("-n,--n", o->n, "orders; several: a case each")
          ->delimiter(',')
          ->transform(cli::positive())
          ->capture_default_str();
      app.add_option("--count", o->count, "problems")->transform(cli::positive())->capture_default_str();
      app.add_option("--at-once", o->at_once, "at a time (default: what suits)")->transform(cli::positive());
      cli::Choices().add(eig_methods()).add_option(app, "--method", o->method);
      app.add_flag("--vectors,!--no-vectors", o->vectors, "all pairs (default), or values alone");
      cli::add_random(app, o->random, symmetric_kinds());
      return std::function<int()>(
          [o] { return guarded([&] { o->common.precision == "s" ? run<float>(*o) : run<double>(*o); }); });
    });

}  // namespace
}  // namespace tesela::bench
