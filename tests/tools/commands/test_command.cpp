#include "tests/support/commands/process.hpp"
#include "tests/support/machine.hpp"
#include <tesela/runtime/trace.hpp>

#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

nlohmann::json json_of(const Outcome& outcome) { return nlohmann::json::parse(outcome.out); }

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("the index pattern gives its known product exactly") {
  const TemporaryFolder folder;
  const Outcome run = run_tesela({"gemm", "--n", "10", "--random", "index", "--tile", GENERATE("10", "3x4", "64"),
                                  "--precision", GENERATE("s", "d"), "--out", folder / "c.mtx"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  std::ifstream file(folder / "c.mtx");
  std::string line;
  do std::getline(file, line);
  while (line.starts_with('%'));
  CHECK(line == "10 10");
  double c[10][10];
  for (int j = 0; j < 10; ++j)
    for (auto& row : c) file >> row[j];
  for (int j = 0; j < 10; ++j) {
    CHECK(c[0][j] == 2850 + 45 * j);
    CHECK(c[9][j] == 43350 + 945 * j);
  }
}

TEST_CASE("gemm reports a small measured error under every scheduler") {
  const std::string scheduler = GENERATE("eager", "lws", "dmda", "dmdas", "random", "prio");
  const std::string precision = GENERATE("d", "s");
  const std::string workers = GENERATE("", "1");
  ProcessOptions options;
  options.environment["STARPU_SCHED"] = scheduler;
  if (!workers.empty()) options.environment["STARPU_NCPU"] = workers;
  const Outcome run = run_tesela({"gemm", "--m", "517", "--n", "389", "--k", "611", "--tile", "64x48", "--op-a", "t",
                                  "--seed", "3", "--precision", precision, "--json", "-"},
                                 options);
  CAPTURE(scheduler, precision, workers, run.err);
  REQUIRE(run.code == 0);
  const auto report = json_of(run);
  const double error = report["checks"]["error"];
  CHECK(error <= (precision == "d" ? 1e-14 : 1e-6));
  CHECK(error > 0);  // a product of this size has rounding errors, so 0 would mean that nothing was compared
  CHECK(report["machine"]["scheduler"] == scheduler);
  if (!workers.empty()) CHECK(report["machine"]["cpu_workers"] == 1);
}

TEST_CASE("the JSON report has its documented fields") {
  const Outcome run =
      run_tesela({"gemm", "--n", "300", "--tile", "100", "--repeat", "3", "--beta", "0.5", "--json", "-"});
  REQUIRE(run.code == 0);
  const auto report = json_of(run);
  for (const char* key :
       {"command", "version", "problem", "machine", "workers", "seconds", "gflops", "checks", "status"})
    CHECK(report.contains(key));
  CHECK(report["command"] == "gemm");
  CHECK(report["status"] == "ok");
  CHECK(report["bounds"]["tasks"] == 27);
  CHECK(report["bounds"]["work_flops"] == 2.0 * 300 * 300 * 300);
  CHECK(report["bounds"]["path_flops"] == 2.0 * 100 * 100 * 300);
  int tasks = 0;
  double busy = 0;
  for (const auto& worker : report["workers"]) {
    if (worker["tasks"].contains("gemm")) tasks += worker["tasks"]["gemm"].get<int>();
    busy += worker["busy_s"].get<double>();
  }
  CHECK(tasks == 27);
  CHECK(busy > 0);
  CHECK(report["seconds"]["total"].get<double>() >= report["seconds"]["compute"].get<double>());
}

TEST_CASE("sizes of zero are accepted and give the result of BLAS") {
  const TemporaryFolder folder;
  const auto [m, n, k] = GENERATE(table<std::string, std::string, std::string>(
      {{"0", "5", "3"}, {"5", "0", "3"}, {"5", "4", "0"}, {"0", "0", "0"}}));
  const Outcome run = run_tesela({"gemm", "--m", m, "--n", n, "--k", k, "--out", folder / "c.mtx", "--json", "-"});
  CAPTURE(m, n, k, run.err);
  REQUIRE(run.code == 0);
  CHECK(json_of(run)["checks"]["error"] == 0);
  CHECK_THAT(contents(folder / "c.mtx"), ContainsSubstring("\n" + m + " " + n + "\n"));
}

TEST_CASE("matrices without rows end at once for any number of columns") {
  const TemporaryFolder folder;
  ProcessOptions options;
  options.limit = 60;
  for (const std::string beta : {"0", "1"}) {
    const Outcome run = run_tesela({"gemm", "--m", "0", "--k", "0", "--n", "1000000000000", "--beta", beta, "--out",
                                    folder / "c.mtx", "--json", "-"},
                                   options);
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    CHECK(json_of(run)["checks"]["error"] == 0);
    CHECK_THAT(contents(folder / "c.mtx"), ContainsSubstring("\n0 1000000000000\n"));
  }
}

TEST_CASE("alpha and beta of any size pass if the product is correct") {
  const auto [alpha, beta, precision] = GENERATE(table<std::string, std::string, std::string>({
      {"1e12", "0", "d"},
      {"1e-12", "0", "d"},
      {"1", "1e6", "s"},
      {"1e-12", "1e12", "s"},
      {"1e200", "1e200", "d"},
  }));
  const Outcome run =
      run_tesela({"gemm", "--n", "100", "--alpha", alpha, "--beta", beta, "--precision", precision, "--json", "-"});
  CAPTURE(alpha, beta, precision, run.err, run.out);
  CHECK(run.code == 0);
  CHECK(json_of(run)["status"] == "ok");
}

TEST_CASE("wrong use gives exit code 2 and a message") {
  const TemporaryFolder folder;
  write(folder / "a.mtx", "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n");
  write(folder / "nan.mtx", "%%MatrixMarket matrix array real general\n1 1\nnan\n");
  write(folder / "short.mtx", "%%MatrixMarket matrix array real general\n100 100\n1\n");
  struct Case {
    std::vector<std::string> arguments;
    std::string message;
  };
  const Case cases[] = {
      {{"gemm", "--n", ""}, "--n: '' is not a number"},
      {{"gemm", "--tile", ""}, "--tile: an empty tile"},
      {{"qr", "--tree", ""}, "--tree: an empty word"},
      {{"qr", "--n", "5", "--full-q="}, "nothing follows --full-q="},
      {{"gemm", "--n", "5", "--random="}, "nothing follows --random="},
      {{"qr", "--n", "5", "--sched", ""}, "--sched: an empty word"},
      {{"qr", "--n", "5", "--out-q", ""}, "--out-q: an empty name"},
      {{"gemm", "--n", "-3"}, "--n"},
      {{"gemm", "--m", "4", "--n", "4", "--a", folder / "a.mtx"}, "shapes"},
      {{"gemm", "--a", folder / "a.mtx", "--b", folder / "a.mtx"}, "shapes"},
      {{"gemm", "--n", "4", "--a", folder / "missing.mtx"}, "missing.mtx"},
      {{"gemm", "--n", "4", "--a", folder.path()}, folder.path()},
      {{"gemm", "--n", "4", "--a", folder / "nan.mtx"}, "nan.mtx"},
      {{"gemm", "--n", "4", "--a", folder / "short.mtx"}, "short.mtx"},
      {{"gemm", "--n", "9", "--tile", "0"}, "--tile"},
      {{"gemm", "--n", "9", "--tile", "12x"}, "--tile"},
      {{"gemm", "--kernel", "fast"}, "--kernel"},
      {{"gemm", "--n", "9", "--sched", "nonsense"}, "nonsense"},
      {{"gemm"}, "no input"},
      {{"gemm", "--n", "10", "--out", folder / "none/c.mtx"}, "none"},
      {{"gemm", "--n", "10", "--out", folder / "c.xyz"}, "c.xyz"},
      {{"gemm", "--no-such-option"}, "--no-such-option"},
      {{"nonsense"}, "nonsense"},
      {{}, "a command is missing"},
      {{"mimo"}, "tesela: mimo: a command is missing: "},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome run = run_tesela(arguments);
    CAPTURE(arguments, run.err);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, ContainsSubstring(message));
    CHECK(folder.files() == 3);
  }
}

TEST_CASE("a limit of the machine gives exit code 3 and a message that names the setting") {
  const auto [variables, message] = GENERATE(table<std::map<std::string, std::string>, std::string>({
      {{{"STARPU_NCPU", "0"}, {"STARPU_NCUDA", "0"}}, "set STARPU_NCPU"},
      {{{"STARPU_SCHED", "nonsense"}}, "STARPU_SCHED=nonsense"},
  }));
  ProcessOptions options;
  options.environment = variables;
  const Outcome run = run_tesela({"gemm", "--n", "64"}, options);
  CAPTURE(run.err);
  CHECK(run.code == 3);
  CHECK_THAT(run.err, ContainsSubstring(message));
}

TEST_CASE("matrices that do not fit into memory give exit code 3 and their size") {
  const Outcome run = run_tesela({"gemm", "--n", "3000000", "--beta", "1"});
  CAPTURE(run.err);
  CHECK(run.code == 3);
  CHECK_THAT(run.err, ContainsSubstring("GiB"));
}

TEST_CASE("a full disk gives exit code 3 and leaves no file") {
  const TemporaryFolder folder;
  SECTION("a file-size limit") {
    ProcessOptions options;
    options.largest_file = 20000;
    options.environment["STARPU_HOME"] = folder / "home";  // keep StarPU's own files away from the limit
    const Outcome run = run_tesela({"gemm", "--n", "200", "--out", folder / "c.npy"}, options);
    CAPTURE(run.err);
    CHECK(run.code == 3);
    CHECK_THAT(run.err, ContainsSubstring("c.npy"));
    CHECK_FALSE(std::filesystem::exists(folder / "c.npy"));
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      CHECK(entry.path().filename() == "home");
  }
  SECTION("a device that is always full") {
    const Outcome run = run_tesela({"gemm", "--n", "200", "--json", "/dev/full"});
    CAPTURE(run.err);
    CHECK(run.code == 3);
    CHECK_THAT(run.err, ContainsSubstring("/dev/full"));
  }
  SECTION("a trace on a full file system") {
    if (!tesela::can_trace()) SKIP("built without FxT");
    const auto in_small_folder = [&](const std::string& command) {
      return run({"/usr/bin/env", "unshare", "-mr", "/bin/sh", "-c",
                  "mount -t tmpfs -o size=300k none " + folder.path() + " && " + command});
    };
    if (in_small_folder("true").code != 0) SKIP("nothing can be mounted here");
    const Outcome traced =
        in_small_folder("exec " + tesela::test::tesela() + " qr --n 300 --tile 60 --trace " + (folder / "t"));
    CAPTURE(traced.err);
    CHECK(traced.code == 3);
    CHECK_THAT(traced.err, ContainsSubstring("the trace is incomplete"));
  }
}

TEST_CASE("a result that is not finite gives exit code 1 and is not written") {
  const TemporaryFolder folder;
  const Outcome run = run_tesela({"gemm", "--n", "40", "--alpha", "1e308", "--out", folder / "c.mtx", "--json", "-"});
  CHECK(run.code == 1);
  CHECK(json_of(run)["status"] == "not finite");
  CHECK(folder.files() == 0);
}

TEST_CASE("an element that is not finite is found outside the sampled rows") {
  const TemporaryFolder folder;
  constexpr int rows = 5000;  // too many rows to compare all
  std::string a = "%%MatrixMarket matrix array real general\n" + std::to_string(rows) + " 1\n";
  for (int i = 0; i < rows; ++i) a += i == 2345 ? "1e200\n" : "1\n";
  write(folder / "a.mtx", a);
  write(folder / "b.mtx", "%%MatrixMarket matrix array real general\n1 1\n1e200\n");
  const Outcome run =
      run_tesela({"gemm", "--a", folder / "a.mtx", "--b", folder / "b.mtx", "--out", folder / "c.mtx", "--json", "-"});
  CAPTURE(run.err);
  CHECK(run.code == 1);
  const auto report = json_of(run);
  CHECK(report["status"] == "not finite");
  CHECK(report["checks"]["sampled_rows"] == 64);
  CHECK(report["checks"]["error"] == 0);  // row 2345 is not a sampled row
  CHECK(folder.files() == 2);
}

TEST_CASE("an invalid report file is refused before the computation") {
  const TemporaryFolder folder;
  const Outcome gemm =
      run_tesela({"gemm", "--n", "10", "--out", folder / "c.mtx", "--json", folder / "none/report.json"});
  CHECK(gemm.code == 2);
  CHECK_THAT(gemm.err, ContainsSubstring("none/report.json"));
  const Outcome bench = run_tesela({"bench", "gemm", "--n", "64", "--peers", "tesela", "--repeat", "1", "--out",
                                    folder.path(), "--json", folder / "none/report.json"});
  CHECK(bench.code == 2);
  CHECK_THAT(bench.err, ContainsSubstring("none/report.json"));
  CHECK(folder.files() == 0);
}

TEST_CASE("Ctrl-C stops a long run within two seconds with exit code 130 and no output") {
  const TemporaryFolder folder;
  ProcessOptions options;
  options.interrupt_after = GENERATE(0.7, 2.5);
  const Outcome run = run_tesela({"gemm", "--n", "6000", "--repeat", "1000", "--tile", GENERATE("500", "3000"), "--out",
                                  folder / "c.npy", "--json", folder / "report.json"},
                                 options);
  CHECK(run.code == 130);
  CHECK(run.err == "tesela: interrupted\n");
  CHECK(run.seconds < 2 * patience);
  CHECK(folder.files() == 0);
}

TEST_CASE("trace converts and draws a recording made with StarPU's own variables") {
  if (!tesela::can_trace()) SKIP("this StarPU records no traces");
  const TemporaryFolder folder;
  ProcessOptions recorded;
  recorded.environment = {{"STARPU_FXT_TRACE", "1"}, {"STARPU_FXT_PREFIX", folder.path()}};
  REQUIRE(run_tesela({"gemm", "--n", "200", "--tile", "100", "--k", "0", "--beta", "2"}, recorded).code == 0);
  REQUIRE_FALSE(std::filesystem::exists(folder / "paje.trace"));
  const Outcome trace = run_tesela({"trace", folder.path()});
  CAPTURE(trace.err);
  CHECK(trace.code == 0);
  CHECK_THAT(trace.out, ContainsSubstring("wrote   " + folder.path() + "/trace.svg\n"));
  CHECK_THAT(contents(folder / "paje.trace"), ContainsSubstring("scal"));
  CHECK_THAT(contents(folder / "tasks.rec"), ContainsSubstring("Name: scal\n"));
}

TEST_CASE("the exit code of trace reports that nothing was drawn") {
  const TemporaryFolder folder;
  write(folder / "tasks.rec", "Name: never_ran\n\n");
  const Outcome run = run_tesela({"trace", folder.path()});
  CHECK(run.code == 3);
  CHECK_THAT(run.err, ContainsSubstring("no task"));
  CHECK(folder.files() == 1);
  CHECK(run_tesela({"trace", folder / "none"}).code == 2);
}

TEST_CASE("--quiet prints errors only, also in commands without a report") {
  const TemporaryFolder folder;
  const std::string a = folder / "a.npy";
  std::vector<Words> all{{"generate", "--n", "4", "--out", a},
                         {"info", "--json", folder / "info.json"},
                         {"schedule", "--json", folder / "schedule.json", "--svg", folder / "schedule.svg"}};
  if (tesela::can_trace()) {
    REQUIRE(run_tesela({"gemm", "--n", "40", "--trace", folder / "one", "--quiet"}).code == 0);
    REQUIRE(run_tesela({"gemm", "--n", "40", "--trace", folder / "two", "--quiet"}).code == 0);
    all.insert(all.end(), {{"trace", folder / "one"}, {"trace", folder / "one", folder / "two"}});
  }
  for (const Words& words : all) {
    CAPTURE(words);
    const Outcome loud = run_tesela(words), quiet = run_tesela(words + Words{"--quiet"});
    CHECK(loud.out != "");
    CHECK(quiet.code == 0);
    CHECK(quiet.out + quiet.err == "");
  }
  CHECK(std::filesystem::exists(folder / "info.json"));
  const Outcome failed = run_tesela({"generate", "--n", "4", "--out", folder / "none/a.npy", "--quiet"});
  CHECK(failed.code == 2);
  CHECK_THAT(failed.err, ContainsSubstring("none/a.npy"));
}

TEST_CASE("help and version are printed") {
  const Outcome help = run_tesela({"gemm", "--help"});
  CHECK(help.code == 0);
  CHECK_THAT(help.out, ContainsSubstring("Example:") && ContainsSubstring("--op-a") && ContainsSubstring("--json"));
  CHECK(run_tesela({"--help"}).code == 0);
  CHECK_THAT(run_tesela({"--version"}).out, ContainsSubstring("tesela "));
}

TEST_CASE("info describes the machine") {
  const Outcome run = run_tesela({"info", "--json", "-"});
  REQUIRE(run.code == 0);
  const auto report = json_of(run);
  CHECK(report["machine"]["cores"].get<int>() >= 1);
  CHECK(report["machine"]["memory_bytes"].get<double>() > 1e8);
  CHECK(report["starpu"].get<std::string>().starts_with("1.4"));
  const std::vector<std::string> schedulers = report["schedulers"];
  for (const char* name : {"eager", "lws", "dmda", "dmdas"})
    CHECK(std::find(schedulers.begin(), schedulers.end(), name) != schedulers.end());
  CHECK(report["machine"]["gpus"].size() == static_cast<std::size_t>(tesela::count_cuda_devices()));
}

TEST_CASE("info lists the optional features of a GPU's kernels", "[gpu]") {
  require_gpu();
  for (const auto& gpu : json_of(run_tesela({"info", "--json", "-"}))["machine"]["gpus"]) {
    const auto number = [&](const char* key) { return gpu[key].get<double>(); };
    CAPTURE(gpu.dump());
    CHECK(number("shared_bytes_per_block") >= 48 * 1024);
    CHECK(number("shared_bytes_per_block_most") >= number("shared_bytes_per_block"));
    CHECK(number("shared_bytes_per_multiprocessor") >= number("shared_bytes_per_block_most"));
    CHECK(number("registers_per_block") >= 32768);
    CHECK(number("registers_per_multiprocessor") >= number("registers_per_block"));
    CHECK(number("l2_bytes") >= 1 << 20);
    CHECK(number("memory_bus_bits") >= 64);
    CHECK(number("clock_khz") >= 0);
    CHECK(number("memory_clock_khz") >= 0);
    CHECK(gpu["ecc"].is_boolean());
  }
  CHECK_THAT(run_tesela({"info"}).out,
             ContainsSubstring("shared memory") && ContainsSubstring("bits, ECC o") && ContainsSubstring(" L2 "));
}

TEST_CASE("gemm multiplies the files that generate writes") {
  const TemporaryFolder folder;
  REQUIRE(run_tesela({"generate", "--m", "70", "--n", "50", "--seed", "4", "--out", folder / "a.npy"}).code == 0);
  REQUIRE(run_tesela({"generate", "--m", "90", "--n", "50", "--seed", "5", "--out", folder / "b.mtx"}).code == 0);
  REQUIRE(run_tesela({"generate", "--m", "70", "--n", "90", "--seed", "6", "--out", folder / "c.npy"}).code == 0);
  const Outcome run =
      run_tesela({"gemm", "--a", folder / "a.npy", "--b", folder / "b.mtx", "--op-b", "t", "--c", folder / "c.npy",
                  "--beta", "-2", "--tile", "32", "--out", folder / "d.npy", "--json", folder / "report.json"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  const auto report = nlohmann::json::parse(contents(folder / "report.json"));
  CHECK(report["problem"]["m"] == 70);
  CHECK(report["problem"]["n"] == 90);
  CHECK(report["problem"]["k"] == 50);
  CHECK(report["checks"]["error"].get<double>() <= 1e-15);
  CHECK(std::filesystem::file_size(folder / "d.npy") == 128 + 70 * 90 * sizeof(double));
}

TEST_CASE("every CUDA kernel of gemm can be selected", "[gpu]") {
  require_gpu();
  const std::string kernel = GENERATE("cublas", "naive", "shared", "coarse", "tuned", "int8");
  const std::string precision = GENERATE("d", "s");
  const Outcome run = run_tesela({"gemm",    "--m",      "517",    "--n",    "389",    "--k",    "611",
                                  "--tile",  "64x48",    "--op-a", "t",      "--seed", "3",      "--precision",
                                  precision, "--kernel", kernel,   "--ncpu", "0",      "--json", "-"});
  CAPTURE(kernel, precision, run.err);
  REQUIRE(run.code == 0);
  CHECK(json_of(run)["checks"]["error"].get<double>() <= (precision == "d" ? 1e-14 : 1e-6));
}

TEST_CASE("gemm reports the moduli of componentwise products", "[gpu]") {
  require_gpu();
  const Outcome run = run_tesela({"gemm", "--n", "700", "--tile", "700", "--kernel", "int8", "--accuracy",
                                  "componentwise", "--ncpu", "0", "--json", "-"});
  CAPTURE(run.out, run.err);
  REQUIRE(run.code == 0);
  CHECK(json_of(run)["problem"]["accuracy"] == "componentwise");
  const bool by_residues = json_of(run)["problem"]["kernel"] == "int8";
  CHECK((run.out.find("componentwise: 1 pieces by 14 moduli") != std::string::npos) == by_residues);
}

TEST_CASE("gemm works with less device memory than the matrices and refuses less than a task", "[gpu]") {
  require_gpu();
  ProcessOptions options;
  options.environment["STARPU_LIMIT_CUDA_MEM"] = "100";
  const std::vector<std::string> command{"gemm", "--n", "4000", "--tile", "1000", "--ncpu", "0", "--json", "-"};
  const Outcome fits = run_tesela(command, options);
  CAPTURE(fits.err);
  REQUIRE(fits.code == 0);
  CHECK(json_of(fits)["checks"]["error"].get<double>() <= 1e-14);
  options.environment["STARPU_LIMIT_CUDA_MEM"] = "4";
  const Outcome too_small = run_tesela(command, options);
  CHECK(too_small.code == 3);
  CHECK_THAT(too_small.err, ContainsSubstring("STARPU_LIMIT_CUDA_MEM"));
}
