#include "tests/support/commands/process.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy_kernels.hpp"
#include "tests/support/variable.hpp"
#include <tesela/host/vector_target.hpp>
#include <tesela/runtime/variable.hpp>

#include <catch2/generators/catch_generators_range.hpp>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

using namespace tesela::test;

namespace {

constexpr const char* nowhere = "/proc/nowhere";  // not even root can create a folder there

/// Runs the command without other variables that name a place for StarPU's files.
Outcome run_at_home(std::map<std::string, std::string> variables) {
  Words command{"/usr/bin/env", "-u", "STARPU_HOME", "-u", "STARPU_PERF_MODEL_DIR", "-u", "XDG_CACHE_HOME"};
  for (const auto& [name, value] : variables) command.push_back(name + "=" + value);
  return run(command + Words{test::tesela(), "gemm", "--n", "40"});
}

bool has_models(const std::string& home) { return std::filesystem::exists(home + "/.starpu/sampling/codelets"); }

}  // namespace

TEST_CASE("with a home directory that cannot be written, a temporary folder is used and a warning printed") {
  const TemporaryFolder folder;
  const std::string place = folder / ("tesela-" + std::to_string(geteuid()));
  const auto variables = GENERATE(std::map<std::string, std::string>{{"HOME", nowhere}},
                                  std::map<std::string, std::string>{{"HOME", "/tmp"}, {"XDG_CACHE_HOME", nowhere}});
  auto with_place = variables;
  with_place["TMPDIR"] = folder.path();
  for (int round = 0; round < 2; ++round) {
    const Outcome outcome = run_at_home(with_place);
    CAPTURE(outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.err, ContainsSubstring(nowhere) && ContainsSubstring(place) && ContainsSubstring("STARPU_HOME"));
    CHECK(has_models(place));
    CHECK(folder.files() == 1);
  }
  SECTION("a folder that others can write to is not used") {
    REQUIRE(chmod(place.c_str(), 0777) == 0);
    const Outcome outcome = run_at_home(with_place);
    CHECK(outcome.code == 0);
    // Another folder's name may start with the same characters.
    CHECK_THAT(outcome.err, !ContainsSubstring(place + ";"));
    CHECK(folder.files() == 2);
  }
  SECTION("a link is not used") {
    std::filesystem::rename(place, folder / "elsewhere");
    std::filesystem::create_directory_symlink(folder / "elsewhere", place);
    const Outcome outcome = run_at_home(with_place);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.err, !ContainsSubstring(place + ";"));
    CHECK(folder.files() == 3);
  }
}

TEST_CASE("a truncated performance model is measured again") {
  const TemporaryFolder folder;
  const std::map<std::string, std::string> home{{"HOME", folder.path()}};
  REQUIRE(run_at_home(home).code == 0);
  int models = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder.path() + "/.starpu/sampling/codelets")) {
    if (!entry.is_regular_file()) continue;
    const std::string whole = contents(entry.path().string());
    const std::size_t last_line = whole.rfind('\n', whole.size() - 2) + 1,
                      middle = whole.find('\n', whole.size() / 2) + 1;
    for (const std::size_t left :
         {std::size_t{1}, std::size_t{40}, whole.size() / 2, whole.size() - 3, middle, last_line}) {
      CAPTURE(entry.path(), left);
      std::ofstream(entry.path()) << whole.substr(0, left);
      const Outcome outcome = run_at_home(home);
      CHECK(outcome.code == 0);
      CHECK(outcome.err.empty());
      CHECK(contents(entry.path().string()).ends_with('\n'));
    }
    ++models;
  }
  CHECK(models > 0);
}

TEST_CASE("an entry that is not a file in place of a model is named, and another home is used") {
  const TemporaryFolder folder, other;
  const std::map<std::string, std::string> home{{"HOME", folder.path()}, {"TMPDIR", other.path()}};
  REQUIRE(run_at_home(home).code == 0);
  const std::string models = folder.path() + "/.starpu/sampling/codelets/45";
  const auto told = [&](const std::string& path) {
    CAPTURE(path);
    const Outcome outcome = run_at_home(home);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.err, ContainsSubstring(path));
    std::filesystem::remove_all(path);
  };
  const std::string pipe = models + "/tesela_pipe.here", link = models + "/tesela_link.here";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  told(pipe);
  std::filesystem::create_directory(models + "/tesela_folder.here");
  told(models + "/tesela_folder.here");
  std::filesystem::create_symlink(folder / "nowhere", link);
  told(link);
  std::filesystem::remove_all(models);
  std::ofstream(models) << "45";
  told(models);
}

TEST_CASE("a home directory on a full disk is replaced by a temporary folder") {
  const TemporaryFolder folder, small;
  const std::string mounted = "mount -t tmpfs -o size=8k none " + small.path();
  const auto below_mount = [&](const std::string& command) {
    return run({"/usr/bin/env", "unshare", "-mr", "/bin/sh", "-c", mounted + " && " + command});
  };
  if (below_mount("true").code != 0) SKIP("nothing can be mounted here");
  const Outcome outcome = below_mount("exec env -u STARPU_HOME HOME=" + small.path() + " TMPDIR=" + folder.path() +
                                      " " + test::tesela() + " gemm --n 40 --ncuda 0");
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("No space left") && ContainsSubstring(folder.path()));
}

TEST_CASE("if no folder can be written, or the chosen one cannot, it is named") {
  const Outcome none = run_at_home({{"HOME", nowhere}, {"TMPDIR", nowhere}});
  CHECK(none.code == 3);
  CHECK_THAT(none.err, ContainsSubstring("STARPU_HOME"));
  for (const char* name : {"STARPU_HOME", "STARPU_PERF_MODEL_DIR"}) {
    const Variable variable(name, nowhere), cache("XDG_CACHE_HOME", nullptr);
    CHECK_THROWS_MATCHES(Runtime({.cpus = 1, .gpus = 0}), EnvironmentError,
                         MessageMatches(ContainsSubstring(std::string(name) + "=" + nowhere)));
    const Outcome outcome = run_tesela({"gemm", "--n", "10"});
    CHECK(outcome.code == 3);
    CHECK_THAT(outcome.err, ContainsSubstring(name) && !ContainsSubstring("starpu]"));
  }
}

TEST_CASE("STARPU_PERF_MODEL_DIR replaces a home directory") {
  const TemporaryFolder folder;
  const Outcome outcome = run_at_home({{"HOME", nowhere}, {"STARPU_PERF_MODEL_DIR", folder / "models"}});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, !ContainsSubstring(nowhere));
  CHECK(std::filesystem::exists(folder / "models/codelets"));
}

TEST_CASE("a number on which StarPU aborts is refused in any variable") {
  for (const char* name : {"STARPU_LIMIT_CPU_MEM", "STARPU_LIMIT_CPU_NUMA_MEM", "STARPU_LIMIT_CPU_NUMA_0_MEM",
                           "STARPU_LIMIT_CUDA_0_MEM", "STARPU_NWORKER_PER_CUDA", "STARPU_CALIBRATE", "STARPU_PREFETCH",
                           "STARPU_USE_NUMA", "STARPU_MAX_PRIO", "STARPU_TRACE_BUFFER_SIZE", "STARPU_SCHED_ALPHA",
                           "STARPU_LIMIT_MAX_SUBMITTED_TASKS", "STARPU_WORKERS_CPUID", "STARPU_WORKERS_CUDAID"}) {
    const Variable variable(name, "abc");
    CHECK_THROWS_MATCHES(Runtime({.cpus = 1, .gpus = 0}), EnvironmentError,
                         MessageMatches(ContainsSubstring(std::string(name) + "=abc")));
  }
  const Outcome refused = run_tesela({"gemm", "--n", "10"}, {.environment = {{"STARPU_LIMIT_CPU_MEM", "abc"}}});
  CHECK(refused.code == 3);
  CHECK_THAT(refused.err, ContainsSubstring("STARPU_LIMIT_CPU_MEM=abc"));
}

TEST_CASE("numbers in Tesela's own variables are whole numbers or refused") {
  CHECK(variable_or("TESELA_NO_SUCH_VARIABLE", 7) == 7);
  for (const char* const text : {"1.5", "abc", "5x", " 5", "-1", "99999999999999999999"}) {
    const Variable variable("TESELA_BLOCK_COLUMNS", text);
    CHECK_THROWS_MATCHES(variable_or("TESELA_BLOCK_COLUMNS", 0), EnvironmentError,
                         MessageMatches(ContainsSubstring(std::string("TESELA_BLOCK_COLUMNS=") + text)));
    for (const char* const command : {"qr", "gemm"}) {  // gemm has no blocks
      const Outcome refused = run_tesela({command, "--n", "10"}, {.environment = {{"TESELA_BLOCK_COLUMNS", text}}});
      CHECK(refused.code == 3);
      CHECK_THAT(refused.err,
                 ContainsSubstring(std::string("TESELA_BLOCK_COLUMNS=") + text + " is not a whole number"));
    }
  }
  const Variable five("TESELA_BLOCK_COLUMNS", "5"), none("TESELA_RECEIVED_MIB", "");
  CHECK((variable_or("TESELA_BLOCK_COLUMNS", 0) == 5 && variable_or("TESELA_RECEIVED_MIB", 3) == 3));
  CHECK_THROWS_AS(variable_or("TESELA_BLOCK_COLUMNS", 0, 6), EnvironmentError);
  CHECK(run_tesela({"qr", "--n", "10"}, {.environment = {{"TESELA_CHECK", "yes"}}}).code == 3);
}

TEST_CASE("a trace requested by the user's own variables is refused if none can be written") {
  const Variable trace("STARPU_FXT_TRACE", "1"), prefix("STARPU_FXT_PREFIX", nowhere);
  CHECK_THROWS_MATCHES(Runtime({.cpus = 1, .gpus = 0}), EnvironmentError,
                       MessageMatches(ContainsSubstring(std::string("STARPU_FXT_PREFIX=") + nowhere)));
}

TEST_CASE("lists of workers have StarPU's meaning, and lists that StarPU would misread are refused") {
  for (const char* list : {"0", "0-0", " 0", "0,0"}) {
    const Variable variable("STARPU_WORKERS_CPUID", list);
    CHECK(Runtime({.cpus = 1, .gpus = 0}).cpus() == 1);
  }
  for (const char* list : {"0,1", "0-1"}) {  // StarPU would use GPU 0 only
    const Variable variable("STARPU_WORKERS_CUDAID", list);
    CHECK_THROWS_MATCHES(Runtime({.cpus = 1, .gpus = 0}), EnvironmentError,
                         MessageMatches(ContainsSubstring(list) && ContainsSubstring("as 0 1 2")));
  }
}

TEST_CASE("tiles beyond a limit of host memory are refused") {
  const Variable limit("STARPU_LIMIT_CPU_MEM", "3");
  Runtime runtime({.gpus = 0});
  const TileMatrix<double> A(runtime, 600, 600, {100, 100}, "A");  // 2.7 MiB
  Graph g(runtime);
  A.for_each_tile([&](Tile<double> tile, index_t, index_t) { g.insert<Set<double>>({1}, tile); });
  CHECK(g.wait().ok());
  const TileMatrix<double> B(runtime, 300, 300, {300, 300});
  const auto refused = [](const auto& access) {
    CHECK_THROWS_MATCHES(access(), EnvironmentError,
                         MessageMatches(ContainsSubstring("STARPU_LIMIT_CPU_MEM") && ContainsSubstring("3 MiB")));
  };
  refused([&] { g.insert<Set<double>>({1}, B(0, 0)); });
  refused([&] { B(0, 0).write(); });
  refused([&] { g.scratch<double>(300, 300).data().reserve(Mode::scratch); });
  CHECK(g.wait().ok());
  CHECK(value_of(A(5, 5)) == 1);

  std::vector<double> memory(600 * 600, 2);  // the user's own memory does not count
  const auto C = TileMatrix<double>::map(runtime, memory.data(), 600, 600, 600, {100, 100});
  C.for_each_tile([&](Tile<double> tile, index_t, index_t) { g.insert<Affine<double>>({2, 1}, tile); });
  CHECK(g.wait().ok());
  CHECK(value_of(C(0, 0)) == 5);
}

TEST_CASE("temporaries reuse memory under a limit of host memory") {
  const Variable limit("STARPU_LIMIT_CPU_MEM", "3");
  const bool held = GENERATE(false, true);
  Runtime runtime({.gpus = 0});
  const TileMatrix<double> sum(runtime, 1, 1, {1, 1});
  Graph g(runtime, {.longest_path_priorities = held});
  g.insert<Set<double>>({0}, sum(0, 0));
  for (int i = 0; i < 50; ++i) {
    const TileMatrix<double> A(runtime, 360, 360, {360, 360});  // 1 MiB
    g.insert<Set<double>>({1}, A(0, 0));
    g.insert<Affine<double>>({2, 0}, A(0, 0));
    g.insert<Affine<double>>({1, 1}, sum(0, 0));
  }
  CHECK(g.wait().ok());
  CHECK(value_of(sum(0, 0)) == 50);
}

TEST_CASE("a command under a limit of host memory always ends") {
  for (const char* mib : {"1", "2", "4", "8", "20", "0"}) {
    const Outcome outcome =
        run_tesela({"qr", "--n", "700", "--tile", "64", "--ncuda", "0"},  // with GPUs: see the known problems
                   {.environment = {{"STARPU_LIMIT_CPU_MEM", mib}}, .limit = 60});
    CAPTURE(mib, outcome.err);
    CHECK((outcome.code == 0 || outcome.code == 3));
    if (outcome.code == 3) CHECK_THAT(outcome.err, ContainsSubstring("STARPU_LIMIT_CPU_MEM"));
  }
}

TEST_CASE("TESELA_ISA selects only vector units of the machine") {
  for (const std::string& name : vector_targets()) {
    const Outcome info = run({"/usr/bin/env", "TESELA_ISA=" + name, test::tesela(), "info", "--json", "-"});
    REQUIRE(info.code == 0);
    const auto machine = nlohmann::json::parse(info.out)["machine"];
    CHECK(machine["vector_unit"] == name);
    CHECK(machine["vector_units"] == vector_targets());
  }
  const Outcome wrong = run({"/usr/bin/env", "TESELA_ISA=mmx", test::tesela(), "gemm", "--n", "4"});
  CHECK(wrong.code == 3);
  CHECK_THAT(wrong.err, ContainsSubstring("TESELA_ISA=mmx") && ContainsSubstring("scalar"));
}

TEST_CASE("a solution is equally accurate on every vector unit", "[vectors]") {
  const std::string name = GENERATE(from_range(vector_targets()));
  for (const Words& words : {Words{"qr", "--n", "150", "--tile", "40"}, Words{"tridiag", "--n", "3000"},
                             Words{"tridiag", "--batch", "70", "-n", "65"}, Words{"toeplitz", "solve", "-n", "300"}}) {
    const Outcome outcome =
        run(Words{"/usr/bin/env", "TESELA_ISA=" + name, test::tesela()} + words + Words{"--json", "-"});
    REQUIRE(outcome.code == 0);
    const auto report = nlohmann::json::parse(outcome.out);
    CHECK(report["status"] == "ok");
    CHECK(report["machine"]["vector_unit"] == name);
  }
}
