#include "tools/app/matrix_outputs.hpp"
#include "tools/app/report.hpp"
#include "tools/app/runs.hpp"
#include "tools/commands/eigen/eig_parts.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/shortest.hpp>
#include <tesela/tiles/io/file_batch.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

namespace tesela::cli {
namespace {

namespace fs = std::filesystem;

constexpr index_t sampled_vectors = 64;  // per job, for its residual

std::vector<std::string> read_file(const std::string& path) {
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
  require(!files.empty(), "eig", "--jobs", path, " names no file");
  return files;
}

/// Returns the files of a list, which is read once, since it may come through a pipe.
const std::vector<std::string>& read_list(const std::string& path) {
  static std::map<std::string, std::vector<std::string>> lists;
  const auto known = lists.find(path);
  return known != lists.end() ? known->second : lists.emplace(path, read_file(path)).first->second;
}

/// A problem with its outcome.
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
  Jobs(const EigOptions& o, Runtime& runtime, int streams)
      : o_(o),
        runtime_(runtime),
        workers_(is_complex<T> ? WorkerCounts(runtime.cpus(), 0) : WorkerCounts(runtime)),
        room_(o.plan.room(runtime)) {
    for (const std::string& file : read_list(o.jobs)) jobs_.emplace_back().file = file;
    values_ = job_outputs("--out", o.jobs, o.out);
    vectors_ = job_outputs("--out-vectors", o.jobs, o.vectors_out);
    index_t largest = 0;
    for (Job& job : jobs_) {
      job.n = order_of(job);
      largest = std::max(largest, job.n);
      sizes_.push_back(job.n);
    }
    at_once_ = eig_jobs_at_once(workers_, streams, plan_of(largest), room_);
  }

  const std::vector<Job>& jobs() const { return jobs_; }
  int at_once() const { return at_once_; }

  void run(bool last) {
    run_eig_jobs(runtime_, sizes_, at_once_, [&](std::size_t number, const GraphOptions& graph) {
      Job& job = jobs_[number];
      try {
        solve(number, graph, last);
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
  MemoryPlan plan_of(index_t n) const {
    return eig_command_plan(workers_, n, sizeof(T), eig_job_options(workers_, n, o_.eig()));
  }

  void solve(std::size_t number, const GraphOptions& graph, bool last) {
    Job& job = jobs_[number];
    EigProblem<T> problem{.input = o_.input, .seed = o_.common.seed, .runtime = &runtime_, .whole = sampled_vectors};
    problem.input.a = problem.input.a_name = job.file;
    problem.input.resolve(0);
    const index_t n = job.n = problem.n();
    problem.options = eig_job_options(workers_, n, o_.eig());
    if (n > 0) problem.options.positions = o_.selection.positions(n);
    job.method = name_of(eig_methods(), problem.options.method);
    require_fit("eig", plan_of(n), room_);
    problem.load();
    job.notes = std::move(problem.notes);
    EigFound<T> found;
    {
      const Solver<EigFound<T>> solver = find_method(table_, job.method).solver(problem);
      solver.prepare();
      const Stopwatch watch;
      Graph g(runtime_, graph);
      solver.run(&g);
      g.wait();
      found = solver.result();
      job.seconds = watch.seconds();
    }
    const SymmetricEig<T>& eig = found.eig;
    job.found = std::ssize(eig.values);
    job.status = to_string(eig.status);
    if (job.status == "ok" && o_.check) check(job, problem, found);
    if (job.status != "ok" || !last) return;
    FileBatch outputs;  // of this job, a separate run
    HostMatrix<real_t<T>> values(job.found, 1);
    std::ranges::transform(eig.values, values.data(), [](double value) { return static_cast<real_t<T>>(value); });
    const std::string failure =
        write_finite({{"eigenvalues", values_.empty() ? std::string() : values_[number], values, OneColumn::vector},
                      {"eigenvectors", vectors_.empty() ? std::string() : vectors_[number], found.vectors}});
    if (!failure.empty()) job.status = failure;
    outputs.publish();
  }

  void check(Job& job, EigProblem<T>& problem, const EigFound<T>& found) {
    const std::lock_guard lock(checking_);  // BLAS's threads are set for all
    eig_errors(problem, found, false).for_each([&](const char* name, const Measured& m) {
      job.checks[name] = m.error;
      if (const std::string wrong = is_wrong(name, m); !wrong.empty() && job.status == "ok") job.status = wrong;
    });
  }

  const EigOptions& o_;
  const std::vector<Method<EigProblem<T>, EigFound<T>>> table_ = eig_table<T>(EigRows::command);
  Runtime& runtime_;
  WorkerCounts workers_;  // that have kernels for T
  MemoryRoom room_;
  std::vector<Job> jobs_;
  std::vector<index_t> sizes_;
  std::vector<std::string> values_, vectors_;
  int at_once_ = 1;
  std::mutex checking_;
};

template <class T>
int run(const EigOptions& o) {
  Report report("eig", o.common);
  RuntimeOptions options = o.common.runtime();
  if constexpr (!is_complex<T>) set_eig_job_streams(options, blas::all_cores());
  nlohmann::json all = nlohmann::json::array();
  index_t failed = 0;
  {
    Runtime runtime(options);
    require(runtime.ranks() <= 1, "eig", "--jobs",
            "on several ranks, which all insert tasks in one order; run it on each alone");
    Jobs<T> jobs(o, runtime, options.streams_per_gpu.value_or(1));
    double flops = 0;
    for (const Job& job : jobs.jobs()) flops += flops_each<T> * eig_flops(job.n, o.vectors, job.n);
    report.problem() = {{"jobs", o.jobs},
                        {"count", jobs.jobs().size()},
                        {"at_once", jobs.at_once()},
                        {"vectors", o.vectors},
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
  if (failed > 0) report.fail(fmt::format("{} of {} failed", failed, counted(std::ssize(all), "job")));
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
  require(where.empty() || where.string().find("{}") != std::string::npos || fs::is_directory(where), "eig", option,
          "there is no folder ", where.string());
  require(folder || place != std::string::npos || files.size() <= 1, "eig", option, pattern,
          " is no folder, but one file for ", files.size(),
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

int run_eig_jobs(const EigOptions& o) {
  if (o.common.complex()) return o.common.precision == "c" ? run<std::complex<float>>(o) : run<std::complex<double>>(o);
  return o.common.precision == "s" ? run<float>(o) : run<double>(o);
}

}  // namespace tesela::cli
