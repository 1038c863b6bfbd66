#include "tools/commands/eigen/eig_jobs.hpp"

#include "tools/app/matrix_outputs.hpp"
#include "tools/app/report.hpp"
#include "tools/app/runs.hpp"
#include "tools/checks/eig_error.hpp"
#include "tools/commands/eigen/eig_plan.hpp"
#include <tesela/algorithms/support/run_concurrently.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/topology.hpp>
#include <tesela/tiles/io/file_batch.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

namespace tesela::cli {
namespace {

namespace fs = std::filesystem;

constexpr index_t sampled_vectors = 64;  // of a job, for its residual

std::vector<std::string> read_anew(const std::string& path) {
  std::ifstream list(path);
  if (!list || fs::is_directory(path)) throw FileError(path, "cannot be read");
  std::vector<std::string> files;
  bool first = true;
  for (std::string line; std::getline(list, line); first = false) {
    if (first && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // as some editors begin UTF-8
    const auto blank = [](unsigned char c) { return std::isspace(c) != 0; };
    line.erase(line.begin(), std::find_if_not(line.begin(), line.end(), blank));
    while (!line.empty() && blank(line.back())) line.pop_back();
    if (!line.empty() && line.front() != '#') files.push_back(line);
  }
  if (files.empty()) throw ArgumentError("eig", "--jobs", path + " names no file");
  return files;
}

/// Once, since a list may come through a pipe, and all must see the same.
const std::vector<std::string>& read_list(const std::string& path) {
  static std::map<std::string, std::vector<std::string>> lists;
  const auto known = lists.find(path);
  return known != lists.end() ? known->second : lists.emplace(path, read_anew(path)).first->second;
}

/// What became of one.
struct Job {
  std::string file, status = "not begun", method = {};
  index_t n = 0, found = 0;
  double seconds = 0;
  nlohmann::json checks = nlohmann::json::object();
  std::vector<std::string> notes = {};
};

nlohmann::json json_of(const Job& job) {
  nlohmann::json json = {{"file", job.file},   {"status", job.status}, {"seconds", job.seconds}, {"n", job.n},
                         {"found", job.found}, {"method", job.method}, {"checks", job.checks}};
  if (!job.notes.empty()) json["notes"] = job.notes;
  return json;
}

template <class T>
class Jobs {
 public:
  Jobs(const EigJobs& o, Runtime& runtime, int streams) : o_(o), runtime_(runtime), room_(o.plan.room(runtime)) {
    for (const std::string& file : read_list(o.file)) jobs_.emplace_back().file = file;
    values_ = job_outputs("--out", o.file, o.out);
    vectors_ = job_outputs("--out-vectors", o.file, o.vectors_out);
    index_t largest = 0;
    for (Job& job : jobs_) {
      job.n = order_of(job);
      largest = std::max(largest, job.n);
      sizes_.push_back(job.n);
    }
    at_once_ = suitable_concurrent_jobs(runtime, streams, plan_of(largest), room_);
  }

  const std::vector<Job>& jobs() const { return jobs_; }
  int at_once() const { return at_once_; }

  void run(bool last) {
    run_concurrently(sizes_, at_once_, [&](std::size_t number, int thread) {
      Job& job = jobs_[number];
      try {
        solve(number, thread, last);
      } catch (const Cancelled&) {
        throw;
      } catch (const std::bad_alloc&) {
        job.status = "not enough memory";
      } catch (const std::exception& error) {
        job.status = error.what();
      }
    });
  }

 private:
  /// Returns the order, or 0 if the file is not a matrix: the job itself reports that.
  static index_t order_of(const Job& job) {
    try {
      return probe_matrix(job.file).shape.rows;
    } catch (const Error&) {
      return 0;
    }
  }
  SymmetricEigOptions options_of(index_t n) const {
    SymmetricEigOptions options = suitable_job_options(runtime_, n, o_.options);
    if (n > 0) options.positions = o_.selection.positions(n);
    std::tie(options.low, options.high) = o_.selection.interval();
    return options;
  }
  MemoryPlan plan_of(index_t n) const {
    return eig_command_plan(runtime_, n, sizeof(T), suitable_job_options(runtime_, n, o_.options));
  }

  void solve(std::size_t number, int thread, bool last) {
    Job& job = jobs_[number];
    EigInput input = o_.input;
    input.a = input.a_name = job.file;
    input.resolve(0);
    const index_t n = job.n = input.n, ld = std::max<index_t>(n, 1);
    const SymmetricEigOptions options = options_of(n);
    job.method = name_of(eig_methods(), options.method);
    require_fit("eig", plan_of(n), room_);
    EigProblem<T> problem = load<T>(input, 0, true);
    const HostMatrix<T>& a = problem.a;
    job.notes = std::move(problem.notes);
    HostMatrix<T> lost(n, n), x;
    SymmetricEig<T> eig;
    {
      const bool whole = options.method == EigMethod::one_task;
      const auto A = TileMatrix<T>::map(runtime_, lost.data(), n, n, ld,
                                        {ld, whole ? ld : suitable_eig_tile(runtime_, n, options.band)}, "A");
      A.copy_from(a.data(), a.ld());
      const Stopwatch watch;
      Graph g(runtime_, {.gpu = runtime_.gpus() > 0 ? thread % runtime_.gpus() : -1});
      eig = symmetric_eig(g, A, options);
      g.wait();
      if (eig.vectors && eig.status.ok()) {
        x = HostMatrix<T>(n, eig.vectors->n());
        eig.vectors->copy_to(x.data(), x.ld());
      }
      eig.vectors.reset();
      job.seconds = watch.seconds();
    }
    job.found = std::ssize(eig.values);
    job.status = to_string(eig.status);
    if (job.status == "ok" && o_.check) check(job, a, eig, x);
    if (job.status != "ok" || !last) return;
    FileBatch outputs;  // of this job, a separate run
    HostMatrix<double> values(job.found, 1);
    std::copy(eig.values.begin(), eig.values.end(), values.data());
    const std::string failure =
        write_finite({{"eigenvalues", values_.empty() ? std::string() : values_[number], values},
                      {"eigenvectors", vectors_.empty() ? std::string() : vectors_[number], x}});
    if (!failure.empty()) job.status = failure;
    outputs.publish();
  }

  void check(Job& job, const HostMatrix<T>& a, const SymmetricEig<T>& eig, const HostMatrix<T>& x) {
    const std::lock_guard lock(checking_);  // BLAS's threads are set for all
    const index_t n = a.rows();
    const EigBounds bounds = eig_bounds<T>(n);
    const double norm = symmetric_norm(a, eig.norm),
                 rounding = static_cast<double>(std::numeric_limits<T>::denorm_min()) / norm;
    const auto measured = [&](const char* name, const Measured& m) {
      job.checks[name] = m.error;
      if (const std::string wrong = is_wrong(name, m); !wrong.empty() && job.status == "ok") job.status = wrong;
    };
    if (job.found == n) measured("trace_drift", {trace_drift(a, eig.values, norm), trace_bound(bounds, n) + rounding});
    if (!o_.options.vectors) return;
    const EigError error = eig_error(a, eig.values, x, norm, std::min(sampled_vectors, x.cols()), o_.common.seed);
    measured("max_residual", {error.residual, bounds.value + rounding});
    measured("orthogonality", {error.orthogonality, bounds.orthogonality});
  }

  const EigJobs& o_;
  Runtime& runtime_;
  MemoryRoom room_;
  std::vector<Job> jobs_;
  std::vector<index_t> sizes_;
  std::vector<std::string> values_, vectors_;
  int at_once_ = 1;
  std::mutex checking_;
};

template <class T>
int run(const EigJobs& o) {
  Report report("eig", o.common);
  RuntimeOptions options = o.common.runtime();
  if (!options.streams_per_gpu && std::getenv("STARPU_NWORKER_PER_CUDA") == nullptr)
    options.streams_per_gpu = suitable_job_streams(blas::all_cores(), options.gpus.value_or(count_cuda_devices()));
  options.thread_per_stream = options.streams_per_gpu.value_or(1) > 1;
  nlohmann::json all = nlohmann::json::array();
  index_t failed = 0;
  {
    Runtime runtime(options);
    if (runtime.ranks() > 1)
      throw ArgumentError("eig", "--jobs",
                          "on several ranks, which all insert tasks in one order; run it on each alone");
    Jobs<T> jobs(o, runtime, options.streams_per_gpu.value_or(1));
    double flops = 0;  // as LAPACK counts
    for (const Job& job : jobs.jobs())
      flops += (o.options.vectors ? 14.0 : 4.0) / 3 * std::pow(static_cast<double>(job.n), 3);
    report.problem() = {{"jobs", o.file},
                        {"count", jobs.jobs().size()},
                        {"at_once", jobs.at_once()},
                        {"vectors", o.options.vectors},
                        {"precision", o.common.precision}};
    run_timed(o.common, runtime, report,
              {{},
               [&](Graph&, bool last) {
                 jobs.run(last);
                 return 0.0;
               },
               flops});
    for (const Job& job : jobs.jobs()) {
      all.push_back(json_of(job));
      failed += job.status == "ok" ? 0 : 1;
    }
  }
  report.jobs(all);
  if (failed > 0) report.fail(fmt::format("{} of {} jobs failed", failed, all.size()));
  return report.finish();
}

}  // namespace

std::vector<std::string> job_inputs(const std::string& list) { return read_list(list); }

std::vector<std::string> job_outputs(const std::string& option, const std::string& list, const std::string& pattern) {
  if (pattern.empty()) return {};
  const std::vector<std::string> files = read_list(list);
  const bool folder = pattern.ends_with('/') || fs::is_directory(pattern);
  const auto place = folder ? std::string::npos : pattern.find("{}");
  const fs::path where = folder ? fs::path(pattern) : fs::path(pattern).parent_path();
  if (!where.empty() && where.string().find("{}") == std::string::npos && !fs::is_directory(where))
    throw ArgumentError("eig", option, "there is no folder " + where.string());
  if (!folder && place == std::string::npos && files.size() > 1)
    throw ArgumentError("eig", option,
                        pattern + " is no folder, but one file for " + std::to_string(files.size()) +
                            " jobs: name a folder that is there, or let {} stand for each job's name");
  std::vector<std::string> outputs;
  for (const std::string& file : files) {
    const std::string stem = fs::path(file).stem().string();
    outputs.push_back(folder                       ? (fs::path(pattern) / (stem + ".npy")).string()
                      : place == std::string::npos ? pattern
                                                   : std::string(pattern).replace(place, 2, stem));
  }
  return outputs;
}

int run_eig_jobs(const EigJobs& jobs) { return jobs.common.precision == "s" ? run<float>(jobs) : run<double>(jobs); }

}  // namespace tesela::cli
