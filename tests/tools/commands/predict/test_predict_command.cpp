#include "tests/support/commands/command.hpp"
#include "tests/support/files.hpp"
#include <tesela/runtime/machine/machine_times.hpp>

#include <catch2/catch_approx.hpp>

#include <filesystem>

using namespace tesela::test;
using Catch::Approx;

namespace {

const std::string two_cores = TESELA_TEST_DATA "/../../docs/machines/two-cores",
                  eight_gpus = TESELA_TEST_DATA "/../../docs/machines/h200";

bool has_simulator() {
  return std::filesystem::exists(std::filesystem::path(test::tesela()).parent_path() / "tesela-simulated");
}

/// Skips the test in a build without the simulator.
void require_simulator() {
  if (!has_simulator()) SKIP("no tesela-simulated: scripts/setup --simgrid was not run");
}

nlohmann::json runs_of(const Words& options, const Words& command) {
  const auto report = Command{{"predict"}}(options + Words{"--"} + command);
  CHECK(report["status"] == "ok");
  return report["runs"];
}

Words on(const std::string& machine) { return {"--machine", machine}; }

/// Makes a folder of an invented machine: 8 cores and 8 GPUs, on which each kernel of the two cores needs a fiftieth of
/// the time, with links of 25 GB/s to the host and 200 GB/s between GPUs. Each column of a block in host memory adds
/// `column_seconds` to its copy.
void invent_machine(const std::string& folder, const std::string& column_seconds = "0") {
  std::filesystem::create_directories(folder);
  put(folder + "/machine.json", R"({"name": "invented", "cores": 16, "gpus": 8, "gpu_bytes": 8e10})");
  std::vector<KernelTime> times = read_kernel_times(two_cores + "/kernels.csv");
  for (std::size_t i = 0, count = times.size(); i < count; ++i) {
    KernelTime on_gpu = times[i];
    on_gpu.on_gpu = true;
    on_gpu.seconds /= 50;
    times.push_back(on_gpu);
  }
  put(folder + "/kernels.csv", to_csv(times));
  std::string links = "from,to,bytes_per_second,seconds,column_seconds\n";
  for (int from = -1; from < 8; ++from)
    for (int to = -1; to < 8; ++to) {
      const auto name = [](int gpu) { return gpu < 0 ? "RAM" : "GPU" + std::to_string(gpu); };
      if (from == to) continue;
      links += name(from) + ',' + name(to) +
               (from < 0 || to < 0 ? ",25e9,1e-5," + column_seconds + "\n" : ",200e9,8e-6,0\n");
    }
  put(folder + "/links.csv", links);
}

}  // namespace

TEST_CASE("a run on two cores is predicted, twice the same") {
  require_simulator();
  for (const Words& command :
       {Words{"qr", "--n", "2048", "--tile", "256"}, Words{"gemm", "--n", "1024", "--tile", "256"},
        Words{"cholesky", "--n", "2048", "--tile", "256"}, Words{"lu", "--n", "1024", "--tile", "256"},
        Words{"tridiag", "--n", "1048576"}, Words{"ols", "--method", "tall-skinny", "--m", "200000", "--n", "32"}}) {
    CAPTURE(command);
    const Words options = on(two_cores) + Words{"--cores", "1,2"};
    const auto runs = runs_of(options, command);
    REQUIRE(runs.size() == 2);
    const double one = runs[0]["seconds"], two = runs[1]["seconds"], work = runs[0]["task_s"];
    if (command.front() != "tridiag" && command.front() != "ols") {  // their tiles depend on the number of cores
      CHECK(one == Approx(work).epsilon(0.02));
      CHECK(one >= work);
      CHECK(two < 0.75 * one);
      CHECK(two >= 0.5 * work);
    }
    for (const auto& run : runs) {
      CHECK(run["seconds"] >= run["bound"]["seconds"]);
      CHECK(run["bound"]["seconds"] >= run["bound"]["path_s"]);
      CHECK(run["tasks"] > 3);
    }
    CHECK(runs[1]["interpolated_share"] == 0);
    CHECK(runs[1]["speed_up"].get<double>() == Approx(one / two));
    CHECK(runs[1]["efficiency"].get<double>() == Approx(one / two / 2));
    CHECK(runs_of(options, command).dump() == runs.dump());
  }
}

TEST_CASE("--json may follow the predicted command's options") {
  const Outcome run = run_tesela(Words{"predict"} + on(two_cores) + Words{"--", "qr", "--n", "2048", "--json", "-"});
  CAPTURE(run.err);
  if (run.code == 3)
    CHECK_THAT(run.err, ContainsSubstring("simulator"));  // this build has none
  else
    CHECK(nlohmann::json::parse(run.out)["predicted"].dump() == R"(["qr","--n","2048"])");
}

TEST_CASE("a matrix of 137 GB is predicted in 2 GB, by interpolated times") {
  require_simulator();
  const Outcome run = run_tesela(Words{"predict", "--json", "-"} + on(two_cores) +
                                 Words{"--", "cholesky", "--n", "131072", "--tile", "4096"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.peak_bytes < 2e9);
  const auto predicted = nlohmann::json::parse(run.out)["runs"][0];
  CHECK(predicted["interpolated_share"] > 0.999);
  CHECK(std::find(predicted["interpolated_kernels"].begin(), predicted["interpolated_kernels"].end(),
                  "tesela_row_update") != predicted["interpolated_kernels"].end());
  const double cubes = 131072.0 * 131072.0 * 131072.0;
  CHECK(predicted["gflops"].get<double>() == Approx(cubes / 3 * 1e-9 / predicted["seconds"].get<double>()));
}

TEST_CASE("a block of a larger matrix takes longer to copy than contiguous memory, by each column") {
  require_simulator();
  const TemporaryFolder folder;
  invent_machine(folder / "contiguous");
  invent_machine(folder / "strided", "1e-6");
  const auto seconds = [&](const std::string& machine, const std::string& tile) -> double {
    return runs_of(on(folder / machine) + Words{"--gpus", "1", "--cores", "0"},
                   {"gemm", "--n", "2048", "--tile", tile})[0]["seconds"];
  };
  const double columns = 2 * 2048 * 8;  // of A, B and C in blocks of 256 rows to the GPU: two of the three come first
  CHECK(seconds("strided", "256") > seconds("contiguous", "256") + columns * 1e-6);
  CHECK(seconds("strided", "2048") == seconds("contiguous", "2048"));
}

TEST_CASE("tasks of later steps take less time than tasks of the first step with the same tiles") {
  require_simulator();
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "made");
  put(folder / "made/machine.json", R"({"name": "made", "cores": 1, "gpus": 0, "gpu_bytes": 0})");
  put(folder / "made/links.csv", "from,to,bytes_per_second,seconds,column_seconds\n");
  std::vector<KernelTime> times;
  for (const char* const kernel : {"getrf", "lu_update"})
    for (const double flops : {1e3, 1e10})  // a nanosecond each
      times.push_back({std::string("tesela_") + kernel, false, 1, 0, flops, 1e-9 * flops, 0, 10});
  for (const char* const kernel : {"laswp", "laset", "lacpy", "fill"})
    times.push_back({std::string("tesela_") + kernel, false, 1, 1e6, 0, 1e-9, 0, 10});
  put(folder / "made/kernels.csv", to_csv(times));
  const auto run = runs_of(on(folder / "made"), {"lu", "--n", "1024", "--tile", "128"})[0];
  const double n = 1024, flops = 2 * n * n * n / 3;
  CHECK(run["task_s"].get<double>() == Approx(1e-9 * flops).epsilon(0.02));
}

TEST_CASE("GPUs are predicted without one: tasks, transfers and speed-up") {
  require_simulator();
  const TemporaryFolder folder;
  invent_machine(folder / "invented");
  const auto runs =
      runs_of(on(folder / "invented") + Words{"--gpus", "0,1,2,8"}, {"gemm", "--n", "4096", "--tile", "256"});
  REQUIRE(runs.size() == 4);
  CHECK(runs[0]["cores"] == 16);
  CHECK(runs[3]["cores"] == 7);  // eight drive the GPUs, and one inserts the tasks
  CHECK(runs[0]["links"].empty());
  CHECK(runs[1]["seconds"] < runs[0]["seconds"]);
  CHECK(runs[2]["seconds"] < runs[1]["seconds"]);
  CHECK(runs[3]["seconds"] < runs[2]["seconds"]);
  CHECK(runs[3]["scheduler"] == "dmdas");
  double to_gpus = 0;
  bool among_gpus = false;
  for (const auto& link : runs[3]["links"]) {
    const std::string from = link["from"], to = link["to"];
    if (to.find("CUDA") != std::string::npos) to_gpus += link["bytes"].get<double>();
    among_gpus = among_gpus || (from.find("CUDA") != std::string::npos && to.find("CUDA") != std::string::npos);
  }
  CHECK(to_gpus >= 2.0 * 4096 * 4096 * 8);
  CHECK(among_gpus);
}

TEST_CASE("the scheduler knows the time of each transfer, and leaves tiles on their GPU") {
  require_simulator();
  const Words options = on(eight_gpus) + Words{"--gpus", "1,2,4,8"}, qr{"qr", "--n", "32768", "--tile", "32768x1024"};
  const auto runs = runs_of(options, qr);
  REQUIRE(runs.size() == 4);
  double among_two = 0;
  for (const auto& link : runs[1]["links"]) {
    const std::string from = link["from"], to = link["to"];
    if (from.find("CUDA") != std::string::npos && to.find("CUDA") != std::string::npos)
      among_two += link["bytes"].get<double>();
  }
  CHECK(among_two < 4 * 32768.0 * 32768.0 * 8);
  for (const auto& run : runs) {
    CHECK(run["interpolated_share"] == 0);
    CHECK(run["seconds"] >= run["bound"]["seconds"]);
  }
  CHECK(runs_of(options, qr).dump() == runs.dump());
}

namespace {

/// Returns the message of `tesela predict` that fails with this code.
std::string message(const Words& words, int code, const char* command = "predict") {
  return message_of_failure(Words{command} + words, code);
}

const Words qr{"--", "qr", "--n", "512"};

}  // namespace

TEST_CASE("wrong arguments are errors with and without a simulator, and name what to record") {
  const TemporaryFolder folder;
  CHECK_THAT(message(on(folder / "nowhere") + qr, 2), ContainsSubstring("tesela predict record --out"));
  CHECK_THAT(message(on(two_cores) + Words{"--gpus", "1"} + qr, 2),
             ContainsSubstring("--gpus: 1: ") && ContainsSubstring("has 0"));
  CHECK_THAT(message(on(eight_gpus) + Words{"--gpus", "4,16"} + qr, 2),
             ContainsSubstring("--gpus: 16: ") && ContainsSubstring("has 8; record") &&
                 ContainsSubstring("tesela predict record --out FOLDER -- COMMAND"));
  CHECK_THAT(message(on(two_cores) + Words{"--cores", "3"} + qr, 2), ContainsSubstring("has 2"));
  CHECK_THAT(message(on(two_cores) + Words{"--cores", "0"} + qr, 2), ContainsSubstring("no worker"));
  CHECK_THAT(message(on(two_cores) + Words{"--sched", "lws,wrong"} + qr, 2), ContainsSubstring("'wrong'"));
  CHECK_THAT(message(on(two_cores) + Words{"--weak", "--", "qr", "--a", "A.npy"}, 2), ContainsSubstring("--n N"));
  CHECK_THAT(message(on(two_cores) + Words{"--plot", folder / "one.svg"} + qr, 2),
             ContainsSubstring("several numbers"));
  CHECK_THAT(message(on(two_cores) + Words{"--", "eig", "--n", "100"}, 2), ContainsSubstring("depend on values"));
  CHECK_THAT(message(on(two_cores) + Words{"--", "ols", "--m", "100", "--n", "10"}, 2),
             ContainsSubstring("--method tall-skinny alone"));
  CHECK_THAT(message(on(two_cores) + qr + Words{"--sched", "lws"}, 2), ContainsSubstring("write --sched before --"));
  CHECK_THAT(message(on(two_cores) + qr + Words{"--out-r", "R.npy"}, 2), ContainsSubstring("--out-r"));
  invent_machine(folder / "poor");
  put(folder / "poor/links.csv", "from,to,bytes_per_second,seconds,column_seconds\nRAM,GPU0,1e9,1e-6,0\n");
  CHECK_THAT(message(on(folder / "poor") + Words{"--gpus", "1"} + qr, 2),
             ContainsSubstring("from GPU0 to RAM is missing") && ContainsSubstring("predict record --out"));
  put(folder / "poor/kernels.csv", "kernel\n");
  CHECK_THAT(message(on(folder / "poor") + qr, 2), ContainsSubstring("kernels.csv"));
  std::filesystem::create_directories(folder / "damaged");
  for (const auto& [text, reason] :
       {std::pair{R"({"name": "x", "cores)", "is not complete JSON: error at byte 21"},
        {"", "is not complete JSON"},
        {R"({"name": 1, "cores": 16, "gpus": 8, "gpu_bytes": 8e10})", "has no name, gpu_bytes, cores and gpus"},
        {R"({"name": "x", "gpus": 8, "gpu_bytes": 8e10})", "has no name, gpu_bytes, cores and gpus"}}) {
    put(folder / "damaged/machine.json", text);
    CHECK_THAT(message(on(folder / "damaged") + qr, 2), ContainsSubstring("machine.json: ") &&
                                                            ContainsSubstring(reason) &&
                                                            !ContainsSubstring("json.exception"));
  }
  CHECK_THAT(message(on(folder / "nowhere") + qr, 2, "tune"), ContainsSubstring("tesela predict record --out"));
  CHECK_THAT(message(on(two_cores) + Words{"--gpus", "1"} + qr, 2, "tune"), ContainsSubstring("predict record"));
  CHECK_THAT(message(on(two_cores) + Words{"--budget", "0"} + qr, 2, "tune"), ContainsSubstring("--budget"));
  CHECK_THAT(message(on(two_cores) + qr + Words{"--tile", "64"}, 2, "tune"), ContainsSubstring("chooses the tile"));
  CHECK_THAT(message(on(two_cores) + qr + Words{"--sched", "ws"}, 2, "tune"),
             ContainsSubstring("tune: COMMAND: has --sched: tune chooses the scheduler"));
  CHECK_THAT(message(on(two_cores) + Words{"--", "gemm", "--n", "64"}, 2, "tune"),
             ContainsSubstring("tune: COMMAND: 'gemm' cannot be tuned"));
  CHECK_THAT(message(on(folder / "poor") + Words{"--apply"} + qr, 2, "tune"), ContainsSubstring("kernels.csv"));
  invent_machine(folder / "other");
  CHECK_THAT(message(on(folder / "other") + Words{"--apply"} + qr, 2, "tune"), ContainsSubstring("another machine"));
}

TEST_CASE("--help among the words after -- prints the help of that command") {
  const TemporaryFolder folder;
  for (const char* const help : {"--help", "-h", "--help-all"})
    for (const Words& before : {Words{"predict"} + on(two_cores), Words{"tune"} + on(two_cores),
                                Words{"predict", "record", "--out", folder / "here"}}) {
      const Outcome run = run_tesela(before + Words{"--", "qr", "--n", "64", help});
      CAPTURE(before, help, run.err);
      CHECK(run.code == 0);
      CHECK(run.out == run_tesela({"qr", help}).out);
    }
  CHECK_FALSE(std::filesystem::exists(folder / "here"));
  CHECK_THAT(message(on(two_cores) + Words{"--", "wrong", "--help"}, 2), ContainsSubstring("wrong"));
}

TEST_CASE("a recording checks its folder before it runs a program") {
  const TemporaryFolder folder;
  const auto recorded = [](const std::string& out, int code) {
    return message({"record", "--out", out, "--program", "--", "no-such-program"}, code);
  };
  CHECK_THAT(recorded(folder / "new/below", 3), ContainsSubstring("cannot run no-such-program"));
  CHECK_FALSE(std::filesystem::exists(folder / "new"));
  put(folder / "file", "");
  CHECK_THAT(recorded(folder / "file", 2), ContainsSubstring("file: is no folder"));
  CHECK_THAT(recorded(folder / "file/below", 2), ContainsSubstring("Not a directory"));
  CHECK_THAT(recorded("/proc/here", 2), ContainsSubstring("/proc/here: cannot create"));
  std::filesystem::create_directories(folder / "used/kernels.csv");
  CHECK_THAT(recorded(folder / "used", 2), ContainsSubstring("kernels.csv: cannot write: is a directory"));
  invent_machine(folder / "other");
  for (const std::string part : {"processor", "gpu"}) {
    put(folder / "other/machine.json",
        R"({"name": "o", "cores": 16, "gpus": 8, "gpu_bytes": 8e10, ")" + part + R"(": "another"})");
    CHECK_THAT(recorded(folder / "other", 3),
               ContainsSubstring("the " + part + " 'another'") && ContainsSubstring("choose another --out"));
  }
}

TEST_CASE("without the simulator right arguments end with the commands that build it") {
  if (has_simulator()) SKIP("this build has the simulator");
  for (const char* command : {"predict", "tune"})
    CHECK_THAT(message(on(two_cores) + qr, 3, command), ContainsSubstring("scripts/setup --simgrid"));
}

TEST_CASE("a command that depends on values, and a kernel without times, are errors of the simulation") {
  require_simulator();
  const TemporaryFolder folder;
  CHECK_THAT(message(on(two_cores) + Words{"--", "qr", "--n", "0"}, 2, "tune"), ContainsSubstring("no task"));
  CHECK_THAT(message(on(two_cores) + Words{"--", "lu", "--n", "1024", "--tile", "256", "--rhs", "1"}, 3),
             ContainsSubstring("depends on the values") && ContainsSubstring("simulation"));
  invent_machine(folder / "poor");
  put(folder / "poor/kernels.csv", to_csv({{"tesela_gemm", false, 1, 1e6, 1e6, 1e-3, 0, 10}}));
  CHECK_THAT(message(on(folder / "poor") + Words{"--gpus", "0"} + qr, 3),
             ContainsSubstring("has no times of kernel 'geqrt'") && ContainsSubstring("predict record"));
}

TEST_CASE("strong and weak scaling are predicted and drawn") {
  require_simulator();
  const TemporaryFolder folder;
  invent_machine(folder / "invented");
  const std::string picture = folder / "scaling.svg";
  const auto runs = runs_of(on(folder / "invented") + Words{"--gpus", "1,2,8", "--weak", "--plot", picture},
                            {"gemm", "--n", "2048", "--tile", "256"});
  REQUIRE(runs.size() == 6);
  CHECK(runs[2]["command"] == nlohmann::json{"gemm", "--n", "2048", "--tile", "256"});
  CHECK(runs[5]["command"] == nlohmann::json{"gemm", "--n", "4096", "--tile", "256"});  // eight times the work
  CHECK(runs[3]["seconds"] == runs[0]["seconds"]);
  CHECK(runs[5]["efficiency"].get<double>() ==
        Approx(runs[5]["gflops"].get<double>() / runs[0]["gflops"].get<double>() / 8));
  CHECK(runs[5]["efficiency"] > runs[2]["efficiency"]);
  const std::string drawn = contents(picture);
  for (const char* text : {"strong scaling", "weak scaling, bound", "proportional", "GPUs", "GFLOP/s"})
    CHECK_THAT(drawn, ContainsSubstring(text));
}

TEST_CASE("this machine is recorded into a folder that predicts it") {
  const TemporaryFolder folder;
  const std::string machine = folder / "here";
  const Words gemm{"gemm", "--n", "512", "--tile", "128", "--ncuda", "0"};
  const Outcome first = run_tesela(Words{"predict", "record", "--out", machine, "--name", "mine", "--"} + gemm);
  CAPTURE(first.out, first.err);
  REQUIRE(first.code == 0);
  const std::vector<KernelTime> times = read_kernel_times(machine + "/kernels.csv");
  const auto product =
      std::find_if(times.begin(), times.end(), [](const KernelTime& t) { return t.kernel == "tesela_gemm"; });
  REQUIRE(product != times.end());
  CHECK(product->samples >= 10);
  CHECK(product->flops == 2.0 * 128 * 128 * 128);
  CHECK(product->seconds > 0);
  const Outcome second = run_tesela(
      {"predict", "record", "--out", machine, "--", "cholesky", "--n", "512", "--tile", "128", "--ncuda", "0"});
  CHECK(second.code == 0);
  CHECK(read_kernel_times(machine + "/kernels.csv").size() > times.size());
  const auto about = nlohmann::json::parse(std::ifstream(machine + "/machine.json"));
  CHECK(about["name"] == "mine");
  CHECK(about["measured"].size() == 2);
  CHECK(run_tesela({"predict", "record", "--", "gemm"}).code == 2);
  CHECK(run_tesela({"predict", "record", "--out", machine, "--program", "--", "no-such-program"}).code == 3);
  const Outcome program =  // any program: the kernels of its tasks, without a measured time of the run
      run_tesela(Words{"predict", "record", "--out", folder / "program", "--program", "--", test::tesela()} + gemm);
  CAPTURE(program.out, program.err);
  REQUIRE(program.code == 0);
  const std::vector<KernelTime> of_program = read_kernel_times(folder / "program/kernels.csv");
  CHECK(std::any_of(of_program.begin(), of_program.end(), [&](const KernelTime& t) {
    return t.kernel == "tesela_gemm" && t.shape == product->shape && t.samples >= 10;
  }));
  CHECK_FALSE(nlohmann::json::parse(std::ifstream(folder / "program/machine.json")).contains("measured"));
  require_simulator();
  const auto run = runs_of(on(machine) + Words{"--gpus", "0"}, {"gemm", "--n", "512", "--tile", "128"})[0];
  CHECK(run["measured_s"] == about["measured"][1]["seconds"]);
  CHECK(run["interpolated_share"] == 0);
  CHECK(run["seconds"] > 0);
}

TEST_CASE("tune prefers neither interpolated times nor streams that share a GPU") {
  require_simulator();
  const auto best = Command{{"tune"}}({"--machine", TESELA_TEST_DATA "/../../docs/machines/h200", "--gpus", "1",
                                       "--cores", "14", "--budget", "10", "--", "qr", "--n", "8192"})["best"];
  for (const auto& candidate : best) {
    CHECK(candidate["interpolated_share"].get<double>() <= 0.25);
    CHECK_THAT(candidate["options"].get<std::string>(), !ContainsSubstring("--streams"));
  }
}

TEST_CASE("the tile that tune finds becomes the default tile") {
  require_simulator();
  const TemporaryFolder folder;
  const std::string machine = folder / "here";
  const ProcessOptions tuned{.environment = {{"TESELA_TUNED", folder / "tuned.csv"}}};
  for (const char* tile : {"64", "512"})
    REQUIRE(run_tesela(
                {"predict", "record", "--out", machine, "--", "cholesky", "--n", "512", "--tile", tile, "--ncuda", "0"})
                .code == 0);
  const auto found = Command{{"tune"}}(
      {"--machine", machine, "--gpus", "0", "--budget", "8", "--apply", "--", "cholesky", "--n", "512"}, 0, tuned);
  REQUIRE(found["best"].size() >= 3);
  bool has_default = false;
  for (std::size_t i = 0; i < found["best"].size(); ++i) {
    has_default = has_default || found["best"][i]["options"] == "default";
    CHECK(found["best"][i]["measured_s"] >= found["best"][0]["measured_s"]);
  }
  CHECK(has_default);
  const std::string options = found["best"][0]["options"];
  const std::string applied = found["applied"];  // empty also if the options name the default tile
  if (applied.empty()) return;
  CHECK(applied == folder / "tuned.csv");
  const auto cut = Command{{"cholesky"}}({"--n", "512", "--ncuda", "0", "--no-check"}, 0, tuned)["problem"];
  CHECK_THAT(options, ContainsSubstring(cut["mb"].dump() + 'x' + cut["nb"].dump()));
}
