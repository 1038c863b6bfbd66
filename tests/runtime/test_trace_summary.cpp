#include "tests/support/test.hpp"
#include <tesela/runtime/trace/trace_picture.hpp>
#include <tesela/runtime/trace/trace_summary.hpp>

#include <catch2/catch_approx.hpp>

#include <initializer_list>

using namespace tesela::test;
using Catch::Approx;

namespace {

struct Task {
  const char* kernel;
  int worker;
  double start, end, submitted = -1;
  std::vector<std::uint64_t> after = {};
};

/// Returns a trace of these tasks, numbered from 1, on two cores and a GPU.
Trace trace_of(std::initializer_list<Task> tasks) {
  Trace trace;
  trace.workers = {{0, "CPU 0"}, {1, "CPU 1"}, {4, "CUDA 0.1"}};
  for (const Task& task : tasks) {
    TracedTask traced{.kernel = task.kernel,
                      .worker = task.worker,
                      .start = task.start,
                      .end = task.end,
                      .submitted = task.submitted,
                      .tiles = "2x2x8",
                      .depends_on = task.after};
    traced.id = trace.tasks.size() + 1;
    trace.tasks.push_back(traced);
  }
  return trace;
}

}  // namespace

TEST_CASE("an empty trace has an empty summary") {
  const TraceSummary summary = summarize({});
  CHECK(summary.seconds == 0);
  CHECK((summary.kernels.empty() && summary.path.empty()));
  CHECK(summary.lower_bound() == 0);
}

TEST_CASE("kernels are summed by kind of worker") {
  Trace trace = trace_of({{"a", 0, 0, 1}, {"a", 1, 0, 3}, {"b", 4, 0, 8}, {"a", 0, 2, 4}});
  trace.tasks[2].gflop = 16;
  const TraceSummary summary = summarize(trace);
  REQUIRE(summary.kernels.size() == 2);
  const KernelSummary &b = summary.kernels[0], &a = summary.kernels[1];
  CHECK((b.kernel == "b" && b.gpu && b.tasks == 1 && b.seconds == 8 && b.gflops == 2));
  CHECK((a.kernel == "a" && !a.gpu && a.tasks == 3 && a.seconds == 6 && a.median == 2 && a.gflops == 0));
  CHECK(a.share == Approx(6.0 / 14));
  CHECK(summary.seconds == 8);
}

TEST_CASE("idle time has five reasons") {
  SECTION("dependences, and the end of the run") {
    // 2 waits for 1; worker 1 has nothing until 3 s, and nothing after 5 s.
    const TraceSummary s = summarize(trace_of({{"a", 0, 0, 3}, {"b", 1, 3, 5, -1, {1}}, {"c", 0, 3, 9, -1, {1}}}));
    const WorkerSummary& w = s.workers[1];
    CHECK(w.dependences == Approx(3));
    CHECK(w.end == Approx(4));
    CHECK(w.busy == Approx(2));
    CHECK((w.data == 0 && w.ready == 0 && w.insertion == 0));
    CHECK(s.workers[0].busy == Approx(9));
  }
  SECTION("insertion: only the inserting thread was late") {
    const TraceSummary s = summarize(trace_of({{"a", 0, 0, 1, 0}, {"b", 1, 4, 5, 4}}));
    CHECK(s.workers[1].insertion == Approx(4));
    CHECK(s.workers[0].insertion == Approx(3));
    CHECK(s.workers[0].end == Approx(1));
  }
  SECTION("ready: a task waited although the worker was idle") {
    const TraceSummary s = summarize(trace_of({{"a", 0, 0, 4}, {"b", 0, 4, 6}, {"c", 1, 5, 6, 5}}));
    CHECK(s.workers[1].ready == Approx(4));
    CHECK(s.workers[1].insertion == Approx(1));
  }
  SECTION("data: the worker fetched tiles before its task") {
    Trace trace = trace_of({{"a", 0, 0, 2}, {"b", 1, 5, 6}, {"c", 0, 5, 6}});
    trace.tasks[1].fetch_begin = 2;
    trace.tasks[1].fetch_end = 4.5;
    const TraceSummary s = summarize(trace);
    CHECK(s.workers[1].data == Approx(2.5));
    CHECK(s.workers[1].ready == Approx(2.5));
  }
  SECTION("all times of a worker add up, also with overlapping tasks") {
    const TraceSummary s = summarize(
        trace_of({{"a", 4, 0, 2}, {"b", 4, 1, 1.5}, {"c", 4, 1.8, 4}, {"d", 0, 0.5, 7, 0.5}, {"e", 4, 6, 6.5}}));
    for (const WorkerSummary& w : s.workers) {
      CAPTURE(w.name);
      CHECK(w.busy + w.data + w.ready + w.insertion + w.dependences + w.end == Approx(7));
    }
    CHECK(s.workers[2].busy == Approx(4.5));
    CHECK(s.workers[2].tasks == 4);
  }
}

TEST_CASE("bounds use the models, or the medians of the run") {
  Trace trace = trace_of({{"a", 0, 0, 2}, {"a", 1, 0, 4}, {"b", 0, 4, 5, -1, {1, 2}}});
  SECTION("medians") {
    const TraceSummary s = summarize(trace);
    CHECK(s.path_bound == Approx(3 + 1));
    CHECK(s.area_bound == Approx((2 * 3 + 1) / 2.0));
    CHECK(s.unmodelled == 3);
    CHECK(s.path == std::vector<std::size_t>{1, 2});
    CHECK(s.path_seconds == Approx(5));
  }
  SECTION("models") {
    trace.models = {{"a", 0, 1.5, 0.25}, {"b", 0, 0.5, 0}};
    const TraceSummary s = summarize(trace);
    CHECK(s.path_bound == Approx(0.25 + 0.5));
    CHECK(s.area_bound == Approx(0.4375));  // 7/8 of both a on the GPU
    CHECK(s.unmodelled == 0);
    REQUIRE(s.models.size() == 2);
    CHECK((s.models[0].kernel == "a" && s.models[0].model == 1.5 && s.models[0].least == 2 && s.models[0].most == 4));
  }
}

TEST_CASE("the last part of a trace begins at its last mark") {
  Trace trace = trace_of({{"a", 0, 0, 1, 0}, {"b", 0, 3, 4, 2}, {"c", 1, 5, 6, 2}});
  CHECK(last_part(trace).tasks.size() == 3);
  trace.marks = {{0, "run 1"}, {2.5, "run 2"}};
  const Trace last = last_part(trace);
  REQUIRE(last.tasks.size() == 2);
  CHECK((last.tasks[0].start == 0 && last.tasks[1].end == 3 && last.tasks[0].submitted == -1));
  CHECK(last.marks.empty());
}
