#include "tests/support/commands/process.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy_kernels.hpp"
#include "tests/support/variable.hpp"
#include <tesela/runtime/trace.hpp>

#include <nlohmann/json.hpp>

using namespace tesela::test;
using Catch::Matchers::StartsWith;

TEST_CASE("--trace writes a trace for ViTE with the name and colour of each kernel") {
  if (!can_trace()) SKIP("this StarPU records no traces");
  const TemporaryFolder folder;
  const std::string traces = folder / "traces";
  const Outcome traced =
      run_tesela({"gemm", "--n", "300", "--tile", "100", "--beta", "0.5", "--alpha", "2", "--trace", traces});
  CAPTURE(traced.err);
  REQUIRE(traced.code == 0);
  for (const auto& file : std::filesystem::directory_iterator(traces)) {  // documented files alone
    const std::string name = file.path().filename();
    CAPTURE(name);
    CHECK((name.starts_with("prof_file_") || name == "paje.trace" || name == "dag.dot" || name == "tasks.rec" ||
           name == "trace.svg" || name == "trace.json"));
  }
  for (const char* name : {"paje.trace", "dag.dot", "tasks.rec"}) {
    CAPTURE(name);
    REQUIRE(std::filesystem::exists(traces + "/" + name));
    CHECK(std::filesystem::file_size(traces + "/" + name) > 0);
  }

  const Trace trace = read_trace(traces);
  CHECK(trace.colors.at("gemm") == 0x4c72b0);
  int gemms = 0;
  for (const TracedTask& task : trace.tasks) {
    CHECK_THAT(trace.workers.at(task.worker), StartsWith("C"));
    gemms += task.kernel == "gemm" ? 1 : 0;
    CHECK(task.end > task.start);
    CHECK(task.start >= 0);
    CHECK(task.submitted <= task.start);
    if (task.kernel == "gemm") CHECK((task.tiles == "100x100x8 100x100x8 100x100x8" && task.gflop == 0.002));
  }
  CHECK(gemms == 27);

  const std::string paje = contents(traces + "/paje.trace");
  // The state of a worker in a gemm: its name, and 0x4c72b0 in ViTE's format.
  CHECK_THAT(paje, ContainsSubstring("\tgemm\t\"76.000000 114.000000 176.000000\""));

  SECTION("the picture has the same colour") {
    const std::string picture = contents(traces + "/trace.svg");
    CHECK_THAT(picture, ContainsSubstring("<svg") && ContainsSubstring("gemm: 27 tasks") &&
                            ContainsSubstring("fill=\"#4c72b0\"") && ContainsSubstring("</svg>"));
  }
  SECTION("trace.json is valid for Perfetto and browsers") {
    const auto events = nlohmann::json::parse(contents(traces + "/trace.json"))["traceEvents"];
    CHECK(std::count_if(events.begin(), events.end(), [](const auto& e) { return e["name"] == "gemm"; }) == 27);
  }
  SECTION("ViTE reads the trace") {
    if (!installed("vite") || !installed("xvfb-run")) SKIP("vite or xvfb-run is not installed");
    const Outcome vite =
        run({"/bin/sh", "-c", "exec xvfb-run -a vite -e " + traces + "/out.svg " + traces + "/paje.trace 2>&1"});
    CHECK_THAT(vite.out, ContainsSubstring("0 errors"));
    CHECK_THAT(contents(traces + "/out.svg"), ContainsSubstring("<svg") && ContainsSubstring("<rect"));
  }
}

TEST_CASE("--trace records the timed run without the check of its result") {
  if (!can_trace()) SKIP("this StarPU records no traces");
  const TemporaryFolder folder;
  REQUIRE(run_tesela({"qr", "--n", "60", "--tile", "20", "--trace", folder / "t"}).code == 0);
  const Trace trace = read_trace(folder / "t");
  const auto tasks = [&](const std::string& kernel) {
    return std::count_if(trace.tasks.begin(), trace.tasks.end(), [&](const auto& t) { return t.kernel == kernel; });
  };
  CHECK(tasks("geqrt") == 3);
  CHECK(tasks("tpmqrt") == 5);  // forming Q for the check would add eight
  CHECK(tasks("laset") == 0);
}

TEST_CASE("kernels in one graph have distinguishable colours without stripes") {
  if (!can_trace()) SKIP("this StarPU records no traces");
  const TemporaryFolder folder;
  const Words command = GENERATE(Words{"qr", "--n", "60", "--tile", "20"}, Words{"ols", "--m", "90", "--n", "40"},
                                 Words{"toeplitz", "eig", "--n", "60", "--vectors"},
                                 Words{"tridiag", "--n", "900", "--tile", "300", "--precision", "mixed"});
  CAPTURE(command);
  REQUIRE(run_tesela(command + Words{"--ncuda", "0", "--trace", folder / "t"}).code ==
          0);  // on a GPU ols uses two kernels with one colour
  const std::string picture = contents(folder / "t/trace.svg");
  CHECK_THAT(picture, ContainsSubstring("</svg>") && !ContainsSubstring("<pattern"));
  CHECK(read_trace(folder / "t").colors.size() > 2);
}

TEST_CASE("a user's program is traced with StarPU's variables, with every kernel") {
  if (!can_trace()) SKIP("this StarPU records no traces");
  const std::filesystem::path here = std::filesystem::path(test::tesela()).parent_path();
  std::string example = (here / "examples/reduction").string();
  if (!std::filesystem::exists(example)) example = (here / "reduction").string();  // in a bundle
  const TemporaryFolder folder;
  ProcessOptions options;
  options.environment = {{"STARPU_FXT_TRACE", "1"}, {"STARPU_FXT_PREFIX", folder.path()}};
  REQUIRE(run({example}, options).code == 0);
  const Outcome converted = run_tesela({"trace", folder.path()});
  CAPTURE(converted.err);
  CHECK(converted.code == 0);
  const std::string paje = contents(folder / "paje.trace");
  for (const char* state : {"\tsum_powers\t", "\tzero\t", "\tlargest\t"})  // add runs only if two workers contributed
    CHECK_THAT(paje, ContainsSubstring(state));
  if (!installed("vite") || !installed("xvfb-run")) SKIP("vite or xvfb-run is not installed");
  const Outcome vite =
      run({"/bin/sh", "-c", "cd " + folder.path() + " && exec xvfb-run -a vite -e out.svg paje.trace 2>&1"});
  CHECK_THAT(vite.out, ContainsSubstring("0 errors"));
  CHECK_THAT(contents(folder / "out.svg"), ContainsSubstring("<rect"));
}

TEST_CASE("a trace is found with any STARPU_FXT_SUFFIX") {
  if (!can_trace()) SKIP("this StarPU records no traces");
  const Variable suffix("STARPU_FXT_SUFFIX", "mine");
  const TemporaryFolder folder;
  {
    Runtime runtime({.cpus = 1, .gpus = 0, .trace_dir = folder.path()});
    CHECK(std::string(std::getenv("STARPU_FXT_SUFFIX")) == "mine");
    const TileMatrix<int> A(runtime, 1, 1, {1, 1});
    Graph g(runtime);
    g.insert<Set<int>>({1}, A(0, 0));
    CHECK(g.wait().ok());
  }
  CHECK_NOTHROW(convert_trace(folder.path()));
  REQUIRE(read_trace(folder.path()).tasks.size() == 1);
  CHECK(read_trace(folder.path()).tasks.front().kernel == "test_set");
}

TEST_CASE("a second runtime does not overwrite the first one's trace") {
  if (!can_trace()) SKIP("this StarPU records no traces");
  const TemporaryFolder folder;
  const RuntimeOptions traced{.cpus = 1, .gpus = 0, .trace_dir = folder.path()};
  { const Runtime first(traced); }
  CHECK_THROWS_MATCHES(Runtime(traced), EnvironmentError,
                       MessageMatches(ContainsSubstring("earlier Runtime") && ContainsSubstring(folder.path())));
  convert_trace(folder.path());
  { const Runtime second(traced); }
  convert_trace(folder.path());
  const Variable on("STARPU_FXT_TRACE", "1"), prefix("STARPU_FXT_PREFIX", folder.path().c_str());
  { const Runtime first({.cpus = 1, .gpus = 0}); }
  CHECK_THROWS_AS(Runtime({.cpus = 1, .gpus = 0}), EnvironmentError);
}

TEST_CASE("only one process at a time records into a folder, and a second one reports it") {
  if (!can_trace()) SKIP("this StarPU records no traces");
  const TemporaryFolder folder;
  const auto record = [&] { return run_tesela({"gemm", "--n", "50", "--trace", folder.path()}); };
  {
    const Runtime runtime({.cpus = 1, .gpus = 0, .trace_dir = folder.path()});
    const Outcome second = record();
    CHECK(second.code == 3);
    CHECK_THAT(second.err, ContainsSubstring("another process") && ContainsSubstring(folder.path()));
  }
  CHECK(run_tesela({"trace", folder.path()}).code == 3);  // recorded, and still to be converted by its owner
  convert_trace(folder.path());
  CHECK(record().code == 0);
}

TEST_CASE("a recording that StarPU cannot convert is not a numerical failure") {
  if (!can_trace()) SKIP("this StarPU records no traces");
  const TemporaryFolder folder;
  const Variable user("USER", "somebody");
  const std::string record = folder / "prof_file_somebody_0";
  std::ofstream(record) << "no events";
  CHECK_THROWS_AS(convert_trace(folder.path()), EnvironmentError);
  const Outcome outcome = run_tesela({"trace", folder.path()});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 3);
  CHECK_THAT(outcome.err, ContainsSubstring(record));
}

TEST_CASE("a trace folder that cannot be created is an error") {
  const Outcome traced = run_tesela({"gemm", "--n", "50", "--trace", "/proc/nowhere"});
  CHECK((traced.code == 2 || traced.code == 3));
  CHECK_THAT(traced.err, ContainsSubstring("/proc/nowhere"));
}
