#include "tests/support/commands/process.hpp"
#include "tests/support/machine.hpp"
#include "tools/problems/tridiagonal/tridiag_data.hpp"
#include <tesela/host/lapack/lapack.hpp>

#include <catch2/catch_approx.hpp>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

/// Returns X by LAPACK in the layout of the benchmark.
std::vector<double> solve(const bench::TridiagData<double>& data, SystemsIn systems) {
  const auto [n, batch] = std::pair{data.what().n, data.what().batch};
  std::vector<double> x(static_cast<std::size_t>(n * batch));
  for (index_t s = 0; s < batch; ++s) {
    std::vector<double> dl, d, du, b;
    for (index_t i = 0; i < n; ++i) {
      const TridiagonalRow<double> row = data.bands()(i, s);
      dl.push_back(row.dl);
      d.push_back(row.d);
      du.push_back(row.du);
      b.push_back(systems == SystemsIn::columns ? data.b()(i, s) : data.b()(s, i));
    }
    REQUIRE(lapack::gtsv(n, 1, dl.data() + 1, d.data(), du.data(), b.data(), n) == 0);
    for (index_t i = 0; i < n; ++i)
      x[static_cast<std::size_t>(systems == SystemsIn::columns ? i + s * n : s + i * batch)] =
          b[static_cast<std::size_t>(i)];
  }
  return x;
}

/// Returns the number of rows of each peer in the CSV.
std::map<std::string, int> peers_in(const std::string& path) {
  std::istringstream lines(contents(path));
  std::string line;
  std::map<std::string, int> rows;
  std::getline(lines, line);
  REQUIRE_THAT(line, ContainsSubstring("data,peer,median_s"));
  while (std::getline(lines, line)) {
    line = line.substr(line.find('"', line.find('"') + 1));  // after the case, which contains a comma
    std::istringstream fields(line);
    for (int f = 0; f < 8; ++f) std::getline(fields, line, ',');
    ++rows[line];
  }
  return rows;
}

Outcome run_bench(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"bench", "tridiag", "--out", folder.path(), "--json", "-", "--repeat", "2"});
  return run_tesela(arguments);
}

}  // namespace

TEST_CASE("a tridiag peer with one wrong unknown in one system is found in both layouts") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const auto systems = GENERATE(SystemsIn::columns, SystemsIn::rows);
  const auto [n, batch] = GENERATE(std::pair{1, 1}, std::pair{2, 3}, std::pair{1, 5}, std::pair{257, 1},
                                   std::pair{3000, 1}, std::pair{40, 7});
  const auto kind = GENERATE(TridiagonalKind::dominant, TridiagonalKind::uniform);
  CAPTURE(n, batch, kind == TridiagonalKind::dominant, systems == SystemsIn::rows);
  const bench::TridiagData<double> data(runtime, {.n = n, .batch = batch, .kind = kind, .seed = 3});
  const std::vector<double> x = solve(data, systems);
  CHECK(data.residual(systems, x.data()) <= data.bound());
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  for (const std::size_t e : {std::size_t{0}, x.size() / 2, x.size() - 1}) {
    std::vector<double> wrong = x;
    wrong[e] += 1e-9 * largest;
    CHECK(data.residual(systems, wrong.data()) > data.bound());
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      wrong[e] = bad;
      CHECK_FALSE(data.residual(systems, wrong.data()) <= data.bound());
    }
  }
  CHECK_FALSE(data.residual(systems, std::vector<double>(x.size()).data()) <= data.bound());
}

TEST_CASE("bench tridiag writes rates by five numbers for each unknown") {
  const TemporaryFolder folder;
  const std::string precision = GENERATE("s", "d");
  const std::string n = GENERATE("1", "2", "1003");
  const Outcome run = run_bench(folder, {"--n", n, "--data", "host", "--tiles", "3", "--ncuda", "0", "--precision",
                                         precision, "--peers", "tesela,lapack,thomas"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK(peers_in(folder / "tridiag.csv") == std::map<std::string, int>{{"tesela", 2}, {"lapack", 2}, {"thomas", 2}});
  const auto json = nlohmann::json::parse(run.out);
  for (const auto& peer : json["peers"]) {
    const double bytes = 5 * std::stod(n) * (precision == "s" ? 4 : 8);
    CHECK(peer["rate"].get<double>() == Catch::Approx(bytes * 1e-9 / peer["median_s"].get<double>()).epsilon(1e-3));
    CHECK(peer["ceiling"] > 0);
  }
  CHECK(json["checks"].size() == 6);
  for (const auto& [name, error] : json["checks"].items()) CHECK((error >= 0 && error <= 1));
}

TEST_CASE("bench tridiag solves batches in both layouts") {
  const TemporaryFolder folder;
  const Outcome run = run_bench(folder, {"--n", "17,100", "--batch", "23", "--data", "host", "--tiles", "4", "--ncuda",
                                         "0", "--peers", "lapack,tesela,tesela-rows"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK(peers_in(folder / "tridiag.csv") ==
        std::map<std::string, int>{{"tesela", 4}, {"tesela-rows", 4}, {"lapack", 4}});
}

TEST_CASE("a peer that does not solve the systems is named and not timed") {
  const TemporaryFolder folder;
  const Outcome run = run_bench(folder, {"--n", "64", "--batch", "20000", "--random", "uniform", "--precision", "s",
                                         "--data", "host", "--ncuda", "0", "--peers", "lapack,thomas"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK(peers_in(folder / "tridiag.csv") == std::map<std::string, int>{{"lapack", 2}});
  CHECK_THAT(nlohmann::json::parse(run.out)["notes"].dump(),
             ContainsSubstring("20000 x 64: not timed") && ContainsSubstring("thomas: the residual is"));
}

TEST_CASE("bench tridiag times parallel reductions of small systems") {
  const TemporaryFolder folder;
  const std::string precision = GENERATE("s", "d");
  const Outcome run = run_bench(folder, {"--n", "512", "--batch", "20", "--data", "host", "--ncuda", "0", "--precision",
                                         precision, "--peers", "tesela,cr,pcr,rd,cr-pcr,cr-rd"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK(peers_in(folder / "tridiag.csv") ==
        std::map<std::string, int>{{"tesela", 2}, {"cr", 2}, {"pcr", 2}, {"rd", 2}, {"cr-pcr", 2}, {"cr-rd", 2}});
}

TEST_CASE("bench tridiag times refined solves, and notes a system that does not converge") {
  const TemporaryFolder folder;
  const std::vector<std::string> options{"--n",     "1000", "--data",  "host",
                                         "--ncuda", "0",    "--peers", "tesela,refined,mixed"};
  const Outcome run = run_bench(folder, options);
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK(peers_in(folder / "tridiag.csv") == std::map<std::string, int>{{"tesela", 2}, {"refined", 2}, {"mixed", 2}});
  const Outcome hard = run_bench(folder, options + std::vector<std::string>{"--random", "near-singular"});
  CAPTURE(hard.err);
  REQUIRE(hard.code == 0);
  CHECK_THAT(hard.out + hard.err, ContainsSubstring("mixed: not converged"));
}

TEST_CASE("bench tridiag checks and times the solvers of cuSPARSE on a device", "[gpu]") {
  require_gpu();
  const TemporaryFolder folder;
  const std::string precision = GENERATE("s", "d");
  const auto bench = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--precision", precision});
    const Outcome run = run_bench(folder, arguments);
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    return peers_in(folder / "tridiag.csv");
  };
  CHECK(bench({"--n", "3,1000,100003", "--data", "device"}) ==
        std::map<std::string, int>{{"tesela", 6}, {"gtsv2", 6}, {"gtsv2-nopivot", 6}});
  CHECK(bench({"--n", "100", "--batch", "1003", "--data", "device"}) ==
        std::map<std::string, int>{{"tesela", 2},
                                   {"tesela-rows", 2},
                                   {"strided", 2},
                                   {"interleaved-0", 2},
                                   {"interleaved-1", 2},
                                   {"interleaved-2", 2}});
  CHECK(bench({"--n", "100003", "--data", "device", "--tiles", "7", "--peers", "tesela"}) ==
        std::map<std::string, int>{{"tesela", 2}});
  CHECK(bench({"--n", "100003", "--data", "host", "--tiles", "7"}) ==
        std::map<std::string, int>{{"tesela", 2}, {"lapack", 2}, {"thomas", 2}});
}
