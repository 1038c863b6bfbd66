#include "tests/support/commands/process.hpp"
#include "tests/support/machine.hpp"
#include "tools/bench/adi/adi_peers.hpp"

#include <catch2/catch_approx.hpp>
#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

Outcome run_bench(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"bench", "adi", "--out", folder.path(), "--json", "-", "--repeat", "2"});
  return run_tesela(arguments);
}

/// Returns the peers in the report; requires that each was checked and that its rate follows from its time.
std::vector<std::string> checked_peers(const Outcome& run, double bytes) {
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  const auto json = nlohmann::json::parse(run.out);
  std::vector<std::string> peers;
  for (const auto& peer : json["peers"]) {
    peers.push_back(peer["peer"]);
    CHECK(peer["rate"].get<double>() == Catch::Approx(bytes * 1e-9 / peer["median_s"].get<double>()).epsilon(1e-3));
  }
  for (const auto& [name, error] : json["checks"].items()) CHECK((error >= 0 && error <= 1));
  CHECK(json["checks"].size() == peers.size());
  return peers;
}

}  // namespace

TEST_CASE("a step of alternating directions equals the step by dense matrices, and a wrong step is found") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const index_t n = GENERATE(1, 2, 7);
  const bench::AdiData<double> data(runtime, n, 1, false);
  const double c = data.c();
  std::vector<double> u = data.start(), v(u.size());
  const auto at = [n](index_t i, index_t j) { return static_cast<std::size_t>(i + j * n); };
  for (int step = 0; step < 3; ++step)
    for (const bool x_is_implicit : {true, false}) {
      const auto along = [&](bool x, index_t i, index_t j) { return x ? at(i, j) : at(j, i); };
      for (index_t s = 0; s < n; ++s)
        for (index_t e = 0; e < n; ++e)
          v[along(!x_is_implicit, e, s)] =
              (1 - 2 * c) * u[along(!x_is_implicit, e, s)] + c * ((e > 0 ? u[along(!x_is_implicit, e - 1, s)] : 0) +
                                                                  (e + 1 < n ? u[along(!x_is_implicit, e + 1, s)] : 0));
      u = v;
      for (int sweep = 0; sweep < 500; ++sweep)  // Gauss-Seidel iteration, without elimination
        for (index_t s = 0; s < n; ++s)
          for (index_t e = 0; e < n; ++e)
            u[along(x_is_implicit, e, s)] =
                (v[along(x_is_implicit, e, s)] + c * ((e > 0 ? u[along(x_is_implicit, e - 1, s)] : 0) +
                                                      (e + 1 < n ? u[along(x_is_implicit, e + 1, s)] : 0))) /
                (1 + 2 * c);
    }
  CHECK(data.error(u, 3) <= 1);
  CHECK_FALSE(data.error(u, 2) <= 1);
  for (const double bad : {u.back() + 1e-12, std::nan("")}) {
    std::vector<double> wrong = u;
    wrong.back() = bad;
    CHECK_FALSE(data.error(wrong, 3) <= 1);
  }
}

TEST_CASE("bench adi times one step and several at once, and counts eight numbers for each unknown") {
  const TemporaryFolder folder;
  const std::string precision = GENERATE("s", "d"), n = GENERATE("3", "50");
  const double bytes = 8 * std::pow(std::stod(n), 2) * (precision == "s" ? 4 : 8);
  const Outcome run =
      run_bench(folder, {"--n", n, "--data", "host", "--tiles", "3", "--steps", "4", "--precision", precision});
  CHECK(checked_peers(run, bytes) == std::vector<std::string>{"tesela", "thomas", "tesela", "thomas"});
}

TEST_CASE("bench adi checks and times the solvers of cuSPARSE on a device", "[gpu]") {
  require_gpu();
  const TemporaryFolder folder;
  const std::string precision = GENERATE("s", "d");
  const std::vector<std::string> peers{"tesela", "strided-0", "strided-1", "strided-2", "rhs-0", "rhs-1", "rhs-2"};
  std::string names;
  for (const std::string& peer : peers) names += (names.empty() ? "" : ",") + peer;
  const Outcome run =
      run_bench(folder, {"--n", "100", "--data", "device", "--steps", "1", "--peers", names, "--precision", precision});
  CHECK(checked_peers(run, 8e4 * (precision == "s" ? 4 : 8)) == peers);
}
