#include "tests/support/commands/process.hpp"
#include "tests/support/machine.hpp"
#include <tesela/algorithms/support/schedule.hpp>

#include <catch2/catch_approx.hpp>
#include <nlohmann/json.hpp>

#include <array>

using namespace tesela::test;

namespace {

using Table = std::vector<std::map<std::string, std::string>>;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields{""};
  bool quoted = false;
  for (const char c : line)
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  return fields;
}

Table read_csv(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = split(line);
  Table table;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = split(line);
    REQUIRE(fields.size() == header.size());
    table.emplace_back();
    for (std::size_t f = 0; f < fields.size(); ++f) table.back()[header[f]] = fields[f];
  }
  return table;
}

double number(const std::string& text) { return std::stod(text); }

}  // namespace

TEST_CASE("bench qr writes its rows with rates by the usual count of flops") {
  const TemporaryFolder folder;
  const std::string precision = GENERATE("s", "d");
  const Outcome run = run_tesela({"bench",   "qr",          "--n",      "96,65",     "--m",
                                  "130",     "--tile",      "32x16",    "--tree",    "greedy",
                                  "--ib",    "8",           "--repeat", "2",         "--precision",
                                  precision, "--ncuda",     "0",        "--methods", "lapack,tesela,givens-chain",
                                  "--out",   folder.path(), "--name",   "q",         "--json",
                                  "-"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  const Table table = read_csv(folder / "q.csv");
  REQUIRE(table.size() == 6);
  for (std::size_t r = 0; r < table.size(); ++r) {
    auto row = table[r];
    CHECK((row["benchmark"] == "qr" && row["m"] == "130" && row["tile"] == "32x16"));
    CHECK(row["peer"] == std::array{"lapack", "tesela", "givens-chain"}[r % 3]);
    const double n = number(row["n"]);
    CHECK(number(row["rate"]) ==
          Catch::Approx((2 * 130 * n * n - 2 * n * n * n / 3) * 1e-9 / number(row["median_s"])).epsilon(1e-3));
    CHECK(number(row["ceiling"]) > 0);
  }
  const auto checks = nlohmann::json::parse(run.out)["checks"];
  CHECK(checks.size() == 6);
  for (const auto& [name, error] : checks.items()) CHECK((error > 0 && error <= 1));
}

TEST_CASE("bench ols writes its rows") {
  const TemporaryFolder folder;
  const std::string precision = GENERATE("s", "d");
  const Outcome run =
      run_tesela({"bench",   "ols",           "--m",      "300,200",     "--n",         "65",      "--rhs",   "3",
                  "--tile",  "32x16",         "--repeat", "2",           "--precision", precision, "--ncuda", "0",
                  "--peers", "tesela,lapack", "--out",    folder.path(), "--json",      "-"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK(read_csv(folder / "ols.csv").size() == 4);
  const auto checks = nlohmann::json::parse(run.out)["checks"];
  CHECK(checks.size() == 4);
  for (const auto& [name, error] : checks.items()) CHECK((error > 0 && error <= 1));
}

TEST_CASE("bench glm, wls and lse check every peer") {
  const TemporaryFolder folder;
  const std::string precision = GENERATE("s", "d");
  const auto bench = [&](std::vector<std::string> arguments, std::size_t rows) {
    arguments.insert(arguments.begin(), "bench");
    for (const std::string& word :
         Words{"--repeat", "1", "--precision", precision, "--ncuda", "0", "--out", folder.path(), "--json", "-"})
      arguments.push_back(word);
    const Outcome run = run_tesela(arguments);
    CAPTURE(arguments, run.err);
    REQUIRE(run.code == 0);
    const auto checks = nlohmann::json::parse(run.out)["checks"];
    CHECK(checks.size() == rows);
    for (const auto& [name, error] : checks.items()) CHECK((error > 0 && error <= 1));
  };
  bench({"glm", "--m", "90", "--n", "20,40", "--columns-b", "120", "--peers", "tesela,gqr,lapack"}, 6);
  bench({"wls", "--m", "90", "--n", "20", "--rhs", "2", "--peers", "tesela,factor,gqr,lapack"}, 4);
  bench({"wls", "--by", "weights", "--m", "5003", "--n", "7"}, 2);
  bench({"lse", "--m", "500", "--n", "40", "--rows-c", "10", "--rhs", "3", "--peers", "tesela,lapack"}, 2);
}

TEST_CASE("bench tall-skinny writes the rate of reading A") {
  const TemporaryFolder folder;
  const std::string precision = GENERATE("s", "d");
  const Outcome run = run_tesela({"bench",   "tall-skinny",   "--m",   "5003",        "--n",     "7",       "--tile",
                                  "700",     "--repeat",      "2",     "--precision", precision, "--ncuda", "0",
                                  "--peers", "tesela,lapack", "--out", folder.path(), "--json",  "-"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  const Table table = read_csv(folder / "tall-skinny.csv");
  REQUIRE(table.size() == 2);
  for (auto row : table) {
    CHECK((row["m"] == "5003" && row["n"] == "7" && row["tile"] == "700x7" && row["rate_unit"] == "GB/s"));
    const double bytes = 5003 * 7 * (precision == "s" ? 4 : 8);
    CHECK(number(row["rate"]) == Catch::Approx(bytes * 1e-9 / number(row["median_s"])).epsilon(1e-3));
    CHECK(number(row["fraction"]) ==
          Catch::Approx(number(row["rate"]) / number(row["ceiling"])).epsilon(1e-2).margin(1e-4));
  }
  const auto report = nlohmann::json::parse(run.out);
  for (const auto& [name, error] : report["checks"].items()) CHECK((error > 0 && error <= 1));
}

TEST_CASE("bench qr-trees compares every tree with its bound") {
  const TemporaryFolder folder;
  const std::string kernels = GENERATE("auto", "tt");
  const Outcome run =
      run_tesela({"bench",    "qr-trees", "--mt",   "9", "--nt",      "3",     "--nb",  "24",          "--ib",   "8",
                  "--repeat", "2",        "--ncpu", "1", "--kernels", kernels, "--out", folder.path(), "--json", "-"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  const Table table = read_csv(folder / "qr-trees.csv");
  REQUIRE(table.size() == 2 * schedule_orders().size());
  for (std::size_t r = 0; r < table.size(); ++r) {
    auto row = table[r];
    const std::string order = schedule_orders()[r / 2];
    CHECK(row["case"] == (order == "domain" ? "domain:4" : order));
    CHECK((row["peer"] == (r % 2 == 0 ? "bound" : "tesela") && row["tile"] == "24x24" && row["gpus"] == "0"));
    const double m = 216, n = 72;
    CHECK(number(row["rate"]) ==
          Catch::Approx((2 * m * n * n - 2 * n * n * n / 3) * 1e-9 / number(row["median_s"])).epsilon(1e-3));
    // On one worker the bound is its time in kernels, which no run can beat; other load can make the ratio large.
    if (r % 2 == 1) CHECK((number(row["ratio"]) > 1 && number(row["ratio"]) < 1e4));
  }
  const auto checks = nlohmann::json::parse(run.out)["checks"];
  CHECK(checks.size() == table.size());
  for (const auto& [name, error] : checks.items())
    if (name.find("tesela") != std::string::npos) CHECK((error > 0 && error <= 1));
}

TEST_CASE("bench gemm writes its rows with ratio and provenance, and a chart") {
  const TemporaryFolder folder;
  const std::string precision = GENERATE("s", "d");
  const Outcome run = run_tesela({"bench",       "gemm",
                                  "--n",         "96,65",
                                  "--m",         "70",
                                  "--k",         "33",
                                  "--tile",      "32x16x24",
                                  "--repeat",    "3",
                                  "--seed",      "7",
                                  "--precision", precision,
                                  "--ncuda",     "0",
                                  "--sched",     "eager",
                                  "--peers",     "openblas,tesela,starpu",
                                  "--out",       folder.path(),
                                  "--name",      "g",
                                  "--json",      "-"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  const Table table = read_csv(folder / "g.csv");
  REQUIRE(table.size() == 6);
  for (std::size_t r = 0; r < table.size(); ++r) {
    auto row = table[r];
    auto first = table[r / 3 * 3];
    CHECK(row["benchmark"] == "gemm");
    CHECK(row["peer"] == std::array{"openblas", "tesela", "starpu"}[r % 3]);
    CHECK(row["n"] == (r < 3 ? "96" : "65"));
    CHECK((row["m"] == "70" && row["k"] == "33" && row["tile"] == "32x16x24"));
    CHECK(number(row["ratio"]) ==
          Catch::Approx(number(row["median_s"]) / number(first["median_s"])).epsilon(2e-3).margin(1e-4));
    CHECK(number(row["min_s"]) <= number(row["median_s"]));
    CHECK(number(row["median_s"]) <= number(row["max_s"]));
    CHECK(number(row["rate"]) ==
          Catch::Approx(2e-9 * 70 * number(row["n"]) * 33 / number(row["median_s"])).epsilon(1e-4));
    CHECK(
        (row["seed"] == "7" && row["repeats"] == "3" && row["precision"] == precision && row["scheduler"] == "eager"));
    for (const char* column : {"machine", "vector_unit", "tesela", "starpu", "openblas", "date"})
      CHECK(!row[column].empty());
  }
  if (installed("gnuplot"))
    CHECK_THAT(contents(folder / "g.svg"), ContainsSubstring("</svg>") && ContainsSubstring("openblas"));
  else
    CHECK_THAT(run.err, ContainsSubstring("gnuplot"));

  const nlohmann::json json = nlohmann::json::parse(run.out);
  CHECK(json["command"] == "bench gemm");
  CHECK(json["status"] == "ok");
  CHECK(json["peers"].size() == 6);
  CHECK(json["checks"].size() == 6);
  for (const auto& [name, error] : json["checks"].items()) CHECK((error > 0 && error <= 1));
}

TEST_CASE("bench overhead counts its tasks and reports microseconds per task") {
  const TemporaryFolder folder;
  const Outcome run =
      run_tesela({"bench", "overhead", "--tasks", "500", "--repeat", "2", "--ncpu", "1", "--out", folder.path()});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  const Table table = read_csv(folder / "overhead.csv");
  REQUIRE(table.size() == 12);
  for (std::size_t r = 0; r < table.size(); ++r) {
    auto row = table[r];
    CHECK(row["peer"] == (r % 2 == 0 ? "starpu" : "tesela"));
    CHECK(row["rate_unit"] == "us/task");
    CHECK(number(row["rate"]) == Catch::Approx(number(row["median_s"]) * 1e6 / 500).epsilon(1e-4));
    CHECK(number(row["rate"]) > 0.01);
  }
}

TEST_CASE("without gnuplot the CSV is kept and a message names gnuplot") {
  const TemporaryFolder folder;
  const Outcome run = run_tesela(
      {"bench", "gemm", "--n", "32", "--tile", "32", "--repeat", "1", "--ncuda", "0", "--out", folder.path()},
      {.environment = {{"PATH", "/dev/null"}}});
  CHECK(run.code == 0);
  CHECK_THAT(run.err, ContainsSubstring("gnuplot is not installed"));
  CHECK(read_csv(folder / "gemm.csv").size() == 3);
  CHECK(folder.files() == 1);
}

TEST_CASE("an invalid measurement is refused with exit code and reason, and leaves no file") {
  const TemporaryFolder folder;
  struct Refusal {
    std::vector<std::string> arguments;
    int code;
    std::string reason;
  };
  const Refusal refusal = GENERATE(
      Refusal{{"gemm", "--peers", "atlas"}, 2, "atlas"}, Refusal{{"gemm", "--tile", "8x"}, 2, "'8x'"},
      Refusal{{"gemm", "--tile", "0"}, 2, "'0'"}, Refusal{{"gemm", "--tile", "8x8x8x8"}, 2, "'8x8x8x8'"},
      Refusal{{"gemm", "--n", "0"}, 2, "less than 1"}, Refusal{{"gemm", "--trace", "t"}, 2, "--trace"},
      Refusal{{"gemm", "--data", "device", "--peers", "openblas"}, 2, "openblas"},
      Refusal{{"qr", "--tree", "willow"}, 2, "willow"}, Refusal{{"qr", "--tile", "8x8x8"}, 2, "'8x8x8'"},
      Refusal{{"qr", "--n", "0"}, 2, "less than 1"}, Refusal{{"qr", "--peers", "mkl"}, 2, "mkl"},
      Refusal{{"qr", "--data", "device", "--peers", "lapack"}, 2, "lapack"},
      Refusal{{"qr", "--data", "device"}, 3, "CUDA device"}, Refusal{{"qr", "--peers", "cusolver"}, 3, "CUDA device"},
      Refusal{{"ols", "--m", "10", "--n", "20"}, 2, "less than n"}, Refusal{{"ols", "--tile", "8x8x8"}, 2, "'8x8x8'"},
      Refusal{{"ols", "--data", "device", "--peers", "lapack"}, 2, "lapack"},
      Refusal{{"ols", "--peers", "cusolver"}, 3, "CUDA device"},
      Refusal{{"gemm-kernels", "--peers", "magic"}, 2, "magic"}, Refusal{{"gemm-kernels", "--tile", "24"}, 2, "24"},
      Refusal{{"memory-access", "--block", "2048"}, 2, "2048"}, Refusal{{"overhead", "--tasks", "0"}, 2, "tasks"},
      Refusal{{"overhead", "--ncpu", "0"}, 3, "--ncpu 0"}, Refusal{{"gemm", "--data", "device"}, 3, "CUDA device"},
      Refusal{{"tall-skinny", "--m", "15"}, 2, "more than 15 rows"},
      Refusal{{"tall-skinny", "--data", "device", "--peers", "lapack"}, 2, "lapack"},
      Refusal{{"tall-skinny", "--peers", "cusolver"}, 3, "CUDA device"},
      Refusal{{"qr-trees", "--trees", "willow"}, 2, "willow"},
      Refusal{{"qr-trees", "--mt", "3", "--nt", "4"}, 2, "more than --mt"},
      Refusal{{"qr-trees", "--ncpu", "0"}, 3, "--ncpu 0"},
      Refusal{{"gemm", "--peers", "tesela,cublas"}, 3, "CUDA device"},
      Refusal{{"gemm", "--peers", "cublasxt"}, 3, "CUDA device"}, Refusal{{"gemm-kernels"}, 3, "CUDA device"},
      Refusal{{"memory-access"}, 3, "CUDA device"}, Refusal{{"adi", "--n", "2"}, 2, "cuSPARSE's 3"},
      Refusal{{"adi", "--n", "50000"}, 2, "integers"}, Refusal{{"adi", "--peers", "mkl"}, 2, "mkl"},
      Refusal{{"adi", "--peers", "rhs-0", "--data", "host"}, 2, "--data device"},
      Refusal{{"adi", "--data", "device"}, 3, "CUDA device"},
      Refusal{{"adi", "--peers", "strided-1"}, 3, "CUDA device"}, Refusal{{"tridiag", "--n", "0"}, 2, "less than 1"},
      Refusal{{"tridiag", "--batch", "0"}, 2, "batch"}, Refusal{{"tridiag", "--peers", "mkl"}, 2, "mkl"},
      Refusal{{"tridiag", "--data", "device", "--peers", "lapack"}, 2, "--data host"},
      Refusal{{"tridiag", "--data", "host", "--peers", "gtsv2"}, 2, "--data device"},
      Refusal{{"tridiag", "--peers", "mixed", "--precision", "s"}, 2, "--precision d"},
      Refusal{{"tridiag", "--batch", "3", "--peers", "gtsv2"}, 2, "one system"},
      Refusal{{"tridiag", "--peers", "strided"}, 2, "batches"},
      Refusal{{"tridiag", "--peers", "pcr"}, 2, "small systems"},
      Refusal{{"tridiag", "--n", "2", "--peers", "gtsv2"}, 2, "cuSPARSE's 3"},
      Refusal{{"tridiag", "--n", "3000000000", "--peers", "lapack"}, 2, "integers"},
      Refusal{{"tridiag", "--data", "device"}, 3, "CUDA device"},
      Refusal{{"tridiag", "--peers", "gtsv2"}, 3, "CUDA device"});
  std::vector<std::string> arguments{"bench"};
  arguments.insert(arguments.end(), refusal.arguments.begin(), refusal.arguments.end());
  arguments.insert(arguments.end(), {"--out", folder.path()});
  // The process must see no device on any machine.
  const Outcome run = run_tesela(arguments, {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}});
  CAPTURE(arguments, run.err);
  CHECK(run.code == refusal.code);
  CHECK_THAT(run.err, ContainsSubstring(refusal.reason));
  CHECK(folder.files() == 0);

  const Outcome nowhere = run_tesela({"bench", "gemm", "--ncuda", "0", "--out", folder / "missing"});
  CHECK(nowhere.code == 2);
  CHECK_THAT(nowhere.err, ContainsSubstring("missing"));
}

TEST_CASE("GPU benchmarks check and time their peers on a device", "[gpu]") {
  require_gpu();
  const TemporaryFolder folder;
  const auto bench = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bench");
    arguments.insert(arguments.end(), {"--repeat", "2", "--out", folder.path()});
    const Outcome run = run_tesela(arguments);
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
  };
  for (const auto& [precision, data] : {std::pair{"s", "host"}, {"d", "device"}}) {
    bench({"gemm-kernels", "--n", "512,517", "--precision", precision});
    CHECK(read_csv(folder / "gemm-kernels.csv").size() == 16);
    bench({"memory-access", "--n", "500", "--precision", precision});
    CHECK(read_csv(folder / "memory-access.csv").size() == 3);
    for (auto& row : read_csv(folder / "memory-access.csv")) CHECK(number(row["fraction"]) > 0);
    bench({"gemm", "--n", "1000", "--tile", "256", "--data", "device", "--precision", precision});
    CHECK(read_csv(folder / "gemm.csv").size() == 3);
    bench({"gemm", "--n", "1000", "--tile", "256", "--ncpu", "0", "--precision", precision});
    CHECK(read_csv(folder / "gemm.csv").size() == 4);
    for (auto& row : read_csv(folder / "gemm.csv")) CHECK(number(row["ceiling"]) > 0);
    bench({"qr", "--n", "1000", "--m", "1500", "--tile", "1500x128", "--data", data, "--ncpu", "0", "--precision",
           precision});
    CHECK(read_csv(folder / "qr.csv").size() == 2);
    bench({"ols", "--m", "3000", "--n", "500", "--data", data, "--ncpu", "0", "--precision", precision});
    CHECK(read_csv(folder / "ols.csv").size() == 2);
    bench({"glm", "--m", "600", "--n", "100,300", "--columns-b", "900", "--data", data, "--ncpu", "0", "--peers",
           "tesela,gqr,cusolver,cusolver-part", "--precision", precision});
    CHECK(read_csv(folder / "glm.csv").size() == 8);
    bench({"wls", "--m", "600", "--n", "100", "--data", data, "--ncpu", "0", "--peers",
           "tesela,factor,cusolver,cusolver-part", "--precision", precision});
    CHECK(read_csv(folder / "wls.csv").size() == 4);
    bench({"wls", "--by", "weights", "--m", "300007", "--n", "13", "--data", data, "--ncpu", "0", "--precision",
           precision});
    CHECK(read_csv(folder / "wls.csv").size() == 2);
    bench({"lse", "--m", "3000", "--n", "300", "--rows-c", "80", "--rhs", "3", "--data", data, "--ncpu", "0",
           "--precision", precision});
    CHECK(read_csv(folder / "lse.csv").size() == 2);
    bench({"tall-skinny", "--m", "300007", "--n", "13", "--tile", "100000", "--data", data, "--ncpu", "0",
           "--precision", precision});
    CHECK(read_csv(folder / "tall-skinny.csv").size() == 2);
  }
}

TEST_CASE("an interrupted bench leaves the rows that it has measured") {
  const TemporaryFolder folder;
  ProcessOptions options;
  options.interrupt_after = 9;
  const Outcome run = run_tesela({"bench", "qr", "-n", "64,4000", "--repeat", "20", "--ncuda", "0", "--methods",
                                  "tesela", "--out", folder.path(), "--name", "q"},
                                 options);
  CHECK(run.code == 130);
  CHECK_FALSE(std::filesystem::exists(folder / "q.csv"));
  const Table table = read_csv(folder / "q.csv.part");
  REQUIRE(table.size() == 1);
  CHECK(table.front().at("n") == "64");
  CHECK(number(table.front().at("median_s")) > 0);
}
