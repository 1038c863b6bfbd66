#pragma once

#include "tools/app/choices.hpp"
#include "tools/app/runs.hpp"
#include "tools/peers/harness.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/runtime/paused_workers.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// A problem is described once: its options, its input, its check and a table of methods, Tesela's own and the peers'. A
// command runs one row of the table and writes the result; a benchmark alternates several.
namespace tesela::cli {

/// A method that is set up for one problem. `prepare` and `run` may be repeated.
template <class Result>
struct Solver {
  std::function<void()> prepare;      ///< restores the input; not timed
  std::function<void(Graph* g)> run;  ///< inserts into g; a library's method solves, and g is null
  std::function<void()> finish = {};  ///< timed, after the graph's wait: brings the result home
  std::function<Result()> result;     ///< the result of the last run; not timed
};

/// One row of the table. The problem must outlive its solver.
template <class Problem, class Result>
struct Method {
  enum class Place : std::uint8_t { graph, cores, gpu };
  std::string name, about;
  Place place = Place::graph;  ///< a task graph, or a library's call on all cores or on GPU 0
  std::function<Solver<Result>(Problem&)> solver = {};
  std::string absent = {};  ///< why this build lacks the method
  bool library() const { return place != Place::graph; }
};

/// The reason why a build without CUDA lacks cuSOLVER's methods.
constexpr const char* no_cusolver = "cuSOLVER: this build has no CUDA: build where nvcc is (cmake --preset cuda)";

/// Adds a method of cuSOLVER on GPU 0. solver(problem) takes the problem as auto&: only a build with CUDA compiles it.
template <class Problem, class Result, class F>
void add_cusolver(std::vector<Method<Problem, Result>>& rows, const std::string& name, const std::string& about,
                  const F& solver) {
  rows.push_back({name, about, Method<Problem, Result>::Place::gpu});
  if constexpr (config::have_cuda)
    rows.back().solver = [solver](Problem& p) { return solver(p); };
  else
    rows.back().absent = no_cusolver;
}

/// Returns the names of the rows with their descriptions, for an option.
template <class Problem, class Result>
Choices choices(const std::vector<Method<Problem, Result>>& rows) {
  Choices all;
  for (const auto& row : rows) all.add(row.name, row.about);
  return all;
}

/// Returns the row of this name. Throws EnvironmentError if this build lacks the method.
template <class Problem, class Result>
Method<Problem, Result> find_method(const std::vector<Method<Problem, Result>>& rows, const std::string& name) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& each) { return each.name == name; });
  require(row != rows.end(), "find_method", "name", name, " is unknown");
  if (!row->absent.empty()) throw EnvironmentError(row->absent);
  return *row;
}

/// Runs a graph's solver as --repeat demands and reports its times, with the rate of these flops or, without a value,
/// of the flops that the tasks declare. Returns the status of the last graph.
template <class Result>
Status run_timed(const CommonOptions& options, Runtime& runtime, Report& report, const Solver<Result>& solver,
                 std::optional<double> flops = {}) {
  Status status;
  const auto run = [&](Graph& g, bool) {
    solver.run(&g);
    status = wait_with_progress(g);
    if (solver.finish) solver.finish();
    return 0.0;
  };
  run_timed(options, runtime, report, {solver.prepare, run, flops});
  return status;
}

/// Times a library's solver before a Runtime exists, whose workers would take its cores. report_library() reports the
/// times after the solver's end.
template <class Problem, class Result>
Timed time_library(const CommonOptions& options, const Method<Problem, Result>& method, const Solver<Result>& solver) {
  const bool gpu = method.place == Method<Problem, Result>::Place::gpu;
  return time_library(
      options, solver.prepare, [&] { solver.run(nullptr); }, gpu ? std::vector{0} : std::vector<int>{});
}

/// Times a library's method, reports its times after its end, and returns its result.
template <class Problem, class Result>
Result solve_by_library(const CommonOptions& options, Report& report, const Method<Problem, Result>& method,
                        Problem& problem, double flops) {
  Timed runs;
  Result result = [&] {
    const Solver<Result> solver = method.solver(problem);
    runs = time_library(options, method, solver);
    return solver.result();
  }();
  report_library(options, report, runs, flops);
  return result;
}

/// Returns the function that runs a method in a benchmark and returns its seconds. Workers sleep while a library runs.
template <class Problem, class Result>
std::function<double()> timed_run(const Method<Problem, Result>& method, Problem& problem,
                                  std::shared_ptr<Solver<Result>> solver) {
  return [&problem, solver, library = method.library()] {
    std::optional<PausedWorkers> paused;
    std::optional<blas::Threads> threads;
    if (library) {
      threads.emplace(blas::all_cores());
      paused.emplace();
    }
    return bench::seconds_after(solver->prepare, [&] {
      if (library) return solver->run(nullptr);
      Graph g(*problem.runtime);
      solver->run(&g);
      g.wait();
      if (solver->finish) solver->finish();
    });
  };
}

/// Returns the peer that runs a method in a benchmark. check_peer(name, problem, result) checks its result and returns
/// the error relative to the bound.
template <class Problem, class Result>
bench::Peer make_peer(const std::string& name, const Method<Problem, Result>& method, Problem& problem) {
  const auto solver = std::make_shared<Solver<Result>>(method.solver(problem));
  return bench::checked(name, timed_run(method, problem, solver),
                        [&problem, solver, name] { return check_peer(name, problem, solver->result()); });
}

/// Returns the names of a benchmark's peers: "tesela" for its default row, then all rows.
template <class Problem, class Result>
std::vector<std::string> peer_names(const std::vector<Method<Problem, Result>>& rows) {
  std::vector<std::string> names{"tesela"};
  for (const auto& row : rows)
    if (row.name != names.front()) names.push_back(row.name);
  return names;
}

/// Returns the peers of these names; "tesela" runs the row `own`.
template <class Problem, class Result>
std::vector<bench::Peer> make_peers(const std::vector<std::string>& names, const std::string& own,
                                    const std::vector<Method<Problem, Result>>& rows, Problem& problem) {
  std::vector<bench::Peer> peers;
  for (const std::string& name : names)
    peers.push_back(make_peer(name, find_method(rows, name == "tesela" ? own : name), problem));
  return peers;
}

}  // namespace tesela::cli
