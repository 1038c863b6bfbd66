#include "tests/support/commands/process.hpp"
#include "tests/support/test.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/trace.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

using namespace tesela::test;

namespace {

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

/// Returns one record of tasks.rec in StarPU's format; times in milliseconds.
std::string task(const std::string& kernel, int worker, double start, double end, const std::string& further = "") {
  return "Name: " + kernel + "\nJobId: 7\nWorkerId: " + std::to_string(worker) +
         "\nSubmitTime: 1\nStartTime: " + std::to_string(start) + "\nEndTime: " + std::to_string(end) + "\n" + further +
         "\n";
}

std::string worker(int id, const std::string& name) {
  return "7\t1.0\tw" + std::to_string(id) + "\tW\tt99\t" + name + "\n";
}

std::string color(const std::string& kernel, const std::string& rgb) {
  return "6\t" + kernel + "\tWS\t" + kernel + "\t\"" + rgb + "\" \n6\t" + kernel + "_1\tCtx1\t" + kernel +
         "\t\"1 2 3\" \n";
}

/// The output of `tesela trace` for these two files.
struct Drawn {
  Drawn(const std::string& tasks, const std::string& paje, const Words& further = {}) {
    write(folder / "tasks.rec", tasks);
    write(folder / "paje.trace", paje);
    run = run_tesela(Words{"trace", folder.path()} + further);
    if (run.code != 0) return;
    svg = contents(folder / "trace.svg");
    events = nlohmann::json::parse(contents(folder / "trace.json"))["traceEvents"];
  }
  TemporaryFolder folder;
  Outcome run;
  std::string svg;
  nlohmann::json events;
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace

TEST_CASE("a trace has the names of workers and the declared colours of kernels") {
  // StarPU's own states are in the same file, separated by blanks; "" in an ordinary program.
  const std::string paje = "6       I       WS       Idle         \".9 .1 .0\"\n" + worker(0, "CPU0") +
                           worker(1, "CUDA0_0") + worker(2, "CUDA0_1") + worker(3, "CUDA1_0") +
                           color("gemm", "76.000000 114.000000 176.000000") + color("black", "0.0 0.0 0.0");
  const Drawn drawn(task("gemm", 0, 5, 9) + task("gemm", 1, 5, 6) + task("black", 2, 5, 7) + task("gemm", 3, 5, 8) +
                        task("<&>", 3, 8, 9),
                    paje);
  REQUIRE(drawn.run.code == 0);
  for (const char* text : {">CPU 0, 100 %<", ">CUDA 0.0, 25 %<", ">CUDA 0.1, 50 %<", ">CUDA 1, 100 %<",
                           "5 tasks in 4 ms on 4 workers", "gemm: 3 tasks, 8 ms", "fill=\"#4c72b0\"",
                           "fill=\"#000000\"", "fill=\"#8c8c8c\"", "&lt;&amp;&gt;: 1 task, 1 ms", "time (ms)"})
    CHECK_THAT(drawn.svg, ContainsSubstring(text));
  CHECK_THAT(drawn.svg, !ContainsSubstring("pattern") && !ContainsSubstring("nan") && !ContainsSubstring("inf"));
  if (installed("xmllint")) CHECK(run({"/bin/sh", "-c", "xmllint --noout " + (drawn.folder / "trace.svg")}).code == 0);
}

TEST_CASE("kernels with similar colours are distinguished by stripes") {
  const Drawn drawn(
      task("a", 0, 0, 1) + task("b", 0, 1, 2) + task("c", 0, 2, 3) + task("d", 0, 3, 4),
      color("a", "196 78 82") + color("b", "200 80 90") + color("c", "196 78 82") + color("d", "76 114 176"));
  REQUIRE(drawn.run.code == 0);
  CHECK(count(drawn.svg, "<pattern") == 2);
  CHECK(count(drawn.svg, "stroke-width=\"1.6\"") == 2);
  std::set<std::string> shapes;
  for (std::size_t at = 0;
       (at = drawn.svg.find("<path d=\"M", at)) != std::string::npos && at < drawn.svg.find("</defs>"); ++at)
    shapes.insert(drawn.svg.substr(at, 24));
  CHECK(shapes.size() == 2);
}

TEST_CASE("the size of an SVG does not grow with short tasks, and --from and --to select a part") {
  std::string tasks;
  for (int t = 0; t < 100000; ++t) tasks += task("dot", 0, 0.01 * t, 0.01 * t + 0.0095);
  tasks += task("last", 0, 1000, 1100);
  const Drawn whole(tasks, worker(0, "CPU0"));
  REQUIRE(whole.run.code == 0);
  CHECK(whole.svg.size() < 60000);
  CHECK_THAT(whole.svg, ContainsSubstring("dot: 100000 tasks"));

  const Drawn part(tasks, worker(0, "CPU0"), {"--from", "0.2", "--to", "0.3"});
  REQUIRE(part.run.code == 0);
  CHECK_THAT(part.svg, ContainsSubstring("10000 tasks in 100 ms on 1 worker,") && !ContainsSubstring("last"));
  CHECK_THAT(part.svg, ContainsSubstring(">200</text>") && ContainsSubstring(">300</text>"));
  CHECK(part.events.size() == whole.events.size());
  CHECK(Drawn(tasks, "", {"--from", "2"}).run.code == 2);
  CHECK(Drawn(tasks, "", {"--from", "0.2", "--to", "0.1"}).run.code == 2);
}

TEST_CASE("trace.json has a named thread for each worker and an event for each task, in microseconds") {
  const Drawn drawn(
      task("gemm", 1, 3, 5.5, "Priority: 4\nGFlop: 0.5\nParameters: M256x64x8 M64x64x8\n") + task("gemm", 4, 2, 2.25),
      worker(1, "CPU1") + worker(4, "CUDA0_0"));
  REQUIRE(drawn.run.code == 0);
  std::map<int, std::string> names;
  std::vector<nlohmann::json> tasks;
  for (const auto& event : drawn.events) {
    if (event["ph"] == "M" && event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
    if (event["ph"] == "X") tasks.push_back(event);
  }
  REQUIRE(tasks.size() == 2);
  CHECK((names.at(tasks[0]["tid"]) == "CUDA 0" && names.at(tasks[1]["tid"]) == "CPU 1"));
  CHECK((tasks[0]["ts"] == 0 && tasks[0]["dur"] == 250 && tasks[1]["ts"] == 1000 && tasks[1]["dur"] == 2500));
  const auto args = tasks[1]["args"];
  CHECK((args["id"] == 7 && args["priority"] == 4 && args["gflop"] == 0.5));
  CHECK(std::abs(args["gflop_per_s"].get<double>() - 200) < 1e-9);
  CHECK((args["tiles"] == "256x64x8 64x64x8" && args["waited_us"] == 2000));
}

TEST_CASE("events of one thread never overlap even if tasks of one worker do") {
  const Drawn drawn(
      task("a", 0, 0, 2) + task("b", 0, 1, 3) + task("c", 0, 2, 4) + task("d", 0, 2.5, 3) + task("e", 1, 0, 9),
      worker(0, "CUDA0_0") + worker(1, "CPU0"));
  REQUIRE(drawn.run.code == 0);
  std::map<int, double> end;
  std::map<int, std::string> names;
  for (const auto& event : drawn.events) {
    if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
    if (event["ph"] != "X") continue;
    const int thread = event["tid"];
    if (end.contains(thread)) CHECK(event["ts"] >= end[thread]);
    end[thread] = event["ts"].get<double>() + event["dur"].get<double>();
  }
  CHECK(end.size() == 4);
  for (const auto& [thread, last] : end) CHECK(names.contains(thread));
}

namespace {

/// Returns a record of tasks.rec with a number and the numbers of the tasks before it.
std::string numbered(int job, int worker, double start, double end, const std::string& after = "") {
  std::string record = task("t" + std::to_string(job), worker, start, end);
  record.replace(record.find("JobId: 7"), 8, "JobId: " + std::to_string(job));
  return after.empty() ? record : record.insert(record.size() - 1, "DependsOn: " + after + "\n");
}

std::string mark(double milliseconds, const std::string& name) {
  return "9\t" + std::to_string(milliseconds) + "\tprog_event\tp\t\"mark " + name + "\"\n";
}

}  // namespace

TEST_CASE("the picture has tooltips and the longest chain of dependent tasks") {
  // Chains: 1 2 5 takes 2 + 3 + 1 ms, 1 3 5 takes 2 + 4 + 1 ms, and 4 alone 6 ms.
  const std::string tasks = numbered(1, 0, 0, 2) + numbered(2, 0, 2, 5, "1") + numbered(3, 1, 2, 6, "1") +
                            numbered(4, 2, 0, 6) + numbered(5, 0, 7, 8, "2 3");
  const std::string names = worker(0, "CPU0") + worker(1, "CPU1") + worker(2, "CPU2");
  const Drawn drawn(tasks, names);
  REQUIRE(drawn.run.code == 0);
  CHECK_THAT(drawn.svg,
             ContainsSubstring("critical path 7 ms</text>") && ContainsSubstring("t3, task 3\n4 ms from 2 ms"));
  CHECK(count(drawn.svg, "<title>critical path</title>") == 3);
  CHECK(count(drawn.svg, "<polyline") == 1);
  const std::vector<tesela::TracedTask> read = tesela::read_trace(drawn.folder.path()).tasks;
  for (const auto& t : read)
    if (t.id == 5) CHECK(t.depends_on == std::vector<std::uint64_t>{2, 3});

  SECTION("marks separate the paths of runs, and the first names the beginning") {
    const Drawn runs(tasks, names + mark(-1, "run 1") + mark(6.5, "run 2") + "9\t1\tprog_event\tp\t\"stop\"\n");
    CHECK_THAT(runs.svg, ContainsSubstring(">run 1</text>") && ContainsSubstring(">run 2</text>") &&
                             ContainsSubstring("critical path 6 ms</text>") && !ContainsSubstring("stop"));
    CHECK(count(runs.svg, "stroke-dasharray") == 2);
    const Drawn late(tasks, names + mark(-1, "run 1") + mark(6.5, "run 2"), {"--from", "0.007"});
    CHECK_THAT(late.svg, !ContainsSubstring("run 1") && ContainsSubstring("run 2"));
  }
}

TEST_CASE("several traces are drawn with one time axis") {
  const TemporaryFolder folder;
  for (const auto& [name, end] : {std::pair{"short", 10.0}, std::pair{"long_one", 40.0}}) {
    std::filesystem::create_directory(folder / name);
    write(folder / (std::string(name) + "/tasks.rec"), task("a", 0, 0, 5) + task("b", 0, 5, end));
    write(folder / (std::string(name) + "/paje.trace"),
          worker(0, "CPU0") + color("a", "196 78 82") + color("b", "196 78 82"));
  }
  const std::string both = folder / "both.svg";
  REQUIRE(run_tesela({"trace", folder / "short", folder / "long_one", "--out", both}).code == 0);
  const std::string svg = contents(both);
  CHECK_THAT(svg, ContainsSubstring("/short: 2 tasks in 10 ms") && ContainsSubstring("/long_one: 2 tasks in 40 ms") &&
                      ContainsSubstring("id=\"k0.1\"") && ContainsSubstring("id=\"k1.1\""));
  CHECK(count(svg, ">40</text>") == 2);  // both axes end at 40 ms
  // A task of 5 ms has the same width in both.
  const std::size_t first = svg.find("<rect x", svg.find("time (ms)")),
                    second = svg.find("<rect x", svg.rfind("time (ms)"));
  const auto width = [&](std::size_t at) { return svg.substr(svg.find("width", at), 16); };
  CHECK(width(first) == width(second));
  if (installed("xmllint")) CHECK(run({"/bin/sh", "-c", "xmllint --noout " + both}).code == 0);

  REQUIRE(run_tesela({"trace", folder / "short", folder / "long_one"}).code == 0);
  CHECK(std::filesystem::exists(folder / "short/traces.svg"));
  CHECK(run_tesela({"trace", folder / "short", "--out", both}).code == 2);
  CHECK(run_tesela({"trace", folder / "short", folder / "absent"}).code == 2);
  CHECK(run_tesela({"trace", folder / "short", folder / "long_one", "--from", "1"}).code == 2);
}

TEST_CASE("a truncated or malformed record is refused") {
  const std::string whole = task("gemm", 0, 5, 9) + task("gemm", 1, 6, 8),
                    names = worker(0, "CPU0") + worker(1, "CPU1");
  const TemporaryFolder folder;
  write(folder / "paje.trace", names);
  const auto refuses = [&](const std::string& tasks, const std::string& why) {
    write(folder / "tasks.rec", tasks);
    CAPTURE(tasks);
    CHECK_THROWS_MATCHES(tesela::read_trace(folder.path()), tesela::EnvironmentError,
                         MessageMatches(ContainsSubstring("tasks.rec: ") && ContainsSubstring(why)));
  };
  REQUIRE(Drawn(whole, names).run.code == 0);
  const std::size_t second = whole.find("Name", 1);
  for (std::size_t size = second + 1; size < whole.size(); ++size) {
    refuses(whole.substr(0, size), "line ");
  }
  refuses(whole.substr(0, whole.size() - 1), "is cut short");
  const Drawn half(whole.substr(0, whole.size() - 9), names);
  CHECK(half.run.code == 3);
  CHECK(half.folder.files() == 2);
  const std::string good = task("gemm", 0, 5, 9);
  for (const std::string bad : {"nan", "-nan", "inf", "1e999", "12x", "", "--1"})
    for (const std::string key : {"StartTime", "EndTime", "SubmitTime"}) {
      std::string text = good;
      const std::size_t at = text.find(key) + key.size() + 2;
      text.replace(at, text.find('\n', at) - at, bad);
      refuses(text, key + " is '" + bad + "', not a finite number");
    }
  refuses(task("gemm", 0, 9, 5), "before it starts");
  for (const std::string bad : {"-1", "4096", "99999999999", "0.5", "x"}) {
    std::string text = good;
    text.replace(text.find("WorkerId: 0"), 11, "WorkerId: " + bad);
    refuses(text, "WorkerId is ");
  }
  refuses(task("gemm", 7, 5, 9), "ran on worker 7, which paje.trace does not name");
  std::string nobody = good;
  nobody.erase(nobody.find("WorkerId"), 12);
  refuses(nobody, "has no WorkerId");
}

TEST_CASE("tasks that were running at the start or end of the recording are left out and counted") {
  std::string begun = task("late", 0, 5, 9), ended = task("early", 0, 5, 9);
  begun.erase(begun.find("EndTime"), begun.find("\n\n") + 1 - begun.find("EndTime"));
  ended.erase(ended.find("StartTime"), ended.find("EndTime") - ended.find("StartTime"));
  const Drawn drawn(task("gemm", 0, 5, 9) + begun + ended, worker(0, "CPU0"));
  REQUIRE(drawn.run.code == 0);
  CHECK_THAT(drawn.run.err, ContainsSubstring("left out: 2 tasks that ran when the recording began or ended"));
  CHECK_THAT(drawn.svg, ContainsSubstring("1 task in 4 ms") && !ContainsSubstring("late"));
}

TEST_CASE("tasks too short to draw have a tooltip with their number and time for each worker") {
  std::string tasks = task("gemm", 0, 5, 1e4);
  for (const double start : {1e4, 1.1e4, 1.2e4}) tasks += task("lacpy", 0, start, start + 0.002);
  tasks += task("lacpy", 1, 5, 5.001);
  const Drawn drawn(tasks, worker(0, "CPU0") + worker(1, "CPU1"));
  REQUIRE(drawn.run.code == 0);
  CHECK_THAT(drawn.svg,
             ContainsSubstring("<title>lacpy, 3 tasks of this worker too short to draw\n6 µs together, 2 µs each") &&
                 ContainsSubstring("<title>lacpy, 1 task of this worker too short to draw\n1 µs together"));
}

TEST_CASE("a part of a trace is selected by finite seconds") {
  const std::string tasks = task("gemm", 0, 5, 9);
  for (const char* option : {"--from", "--to"})
    for (const char* bad : {"nan", "inf", "-1", "-inf", "1e999", "x"}) {
      const Drawn drawn(tasks, "", {option, bad});
      CAPTURE(option, bad, drawn.run.err);
      CHECK(drawn.run.code == 2);
      CHECK_THAT(drawn.run.err, ContainsSubstring(option) && ContainsSubstring(bad));
      CHECK(drawn.run.err.size() < 120);
      CHECK(drawn.folder.files() == 2);
    }
}
