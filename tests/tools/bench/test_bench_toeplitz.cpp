#include "tests/support/commands/process.hpp"
#include "tests/support/machine.hpp"

#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

nlohmann::json bench(const TemporaryFolder& folder, Words words, const Words& workers = {"--ncuda", "0"}) {
  words.insert(words.end(), {"--repeat", "1", "--json", "-", "--out", folder.path()});
  words.insert(words.end(), workers.begin(), workers.end());
  words.insert(words.begin(), "bench");
  const Outcome run = run_tesela(words);
  CAPTURE(words, run.out, run.err);
  REQUIRE(run.code == 0);
  return nlohmann::json::parse(run.out);
}

/// Returns the number of lines after the heading.
long rows(const std::string& csv) {
  const std::string text = contents(csv);
  return std::count(text.begin(), text.end(), '\n') - 1;
}

double roundings(const std::string& precision) {
  return precision == "s" ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
}

/// Runs bench toeplitz-solve for these orders and requires the expected peers with residuals at rounding level
/// (Levinson: at its square root).
void check_solves(const Words& kind, const std::string& precision, const std::vector<std::string>& orders,
                  const Words& peers, const Words& expected, const Words& workers = {"--ncuda", "0"}) {
  const TemporaryFolder folder;
  std::string names, sizes;
  for (const auto& name : peers) names += (names.empty() ? "" : ",") + name;
  for (const auto& n : orders) sizes += (sizes.empty() ? "" : ",") + n;
  Words words{"toeplitz-solve", "--n", sizes, "--peers", names, "--precision", precision};
  words.insert(words.end(), kind.begin(), kind.end());
  const auto report = bench(folder, words, workers);
  CAPTURE(report.dump());
  CHECK(rows(folder / "toeplitz-solve.csv") == static_cast<long>(orders.size() * expected.size()));
  const bool indefinite = std::find(kind.begin(), kind.end(), "random") != kind.end();
  const double eps = roundings(precision);
  for (const auto& n : orders)
    for (const auto& name : peers) {
      const std::string check = "residual of " + name + ", n = " + n;
      CAPTURE(check);
      const bool solves = std::find(expected.begin(), expected.end(), name) != expected.end();
      REQUIRE(report["checks"].contains(check) == solves);
      if (solves) CHECK(report["checks"][check] <= (indefinite && name == "levinson" ? std::sqrt(eps) : 32 * eps));
      std::string notes;
      for (const auto& note : report["notes"]) notes += note.get<std::string>() + "\n";
      CHECK((notes.find("n = " + n + ": " + name + " is left out: ") != std::string::npos) != solves);
    }
  for (const auto& peer : report["peers"]) CHECK(peer["median_s"] > 0);
}

const Words ours{"levinson", "gohberg-semencul", "gohberg-semencul-again",
                 "schur",    "cauchy-inverse",   "cauchy-inverse-again",
                 "cauchy",   "cauchy-again"};
Words ours_and(const Words& others) {
  Words all = ours;
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace

TEST_CASE("bench toeplitz times every peer, and their eigenvalues agree") {
  for (const bool vectors : {false, true})
    for (const std::string precision : {"s", "d"}) {
      const TemporaryFolder folder;
      Words words{"toeplitz", "--n", "1,64", "--peers", "tesela,lapack,lapack-halves", "--precision", precision};
      if (vectors) words.emplace_back("--vectors");
      const auto report = bench(folder, words);
      CAPTURE(report.dump());
      CHECK(rows(folder / "toeplitz.csv") == 6);
      CHECK(report["peers"].size() == 6);
      for (const auto& peer : report["peers"]) CHECK(peer["median_s"] > 0);
      CHECK(report["checks"].size() == 6);
      for (const auto& [name, error] : report["checks"].items()) CHECK((error >= 0 && error <= 1));
    }
}

TEST_CASE("bench toeplitz compares spectra of Hermitian matrices with heevd") {
  for (const bool vectors : {false, true})
    for (const std::string precision : {"c", "z"}) {
      const TemporaryFolder folder;
      Words words{"toeplitz", "--n", "1,64", "--peers", "tesela,lapack", "--precision", precision};
      if (vectors) words.emplace_back("--vectors");
      const auto report = bench(folder, words);
      CAPTURE(report.dump());
      CHECK(report["peers"].size() == 4);
      REQUIRE(report["checks"].size() == 4);
      for (const auto& [name, error] : report["checks"].items()) CHECK((error >= 0 && error <= 1));
    }
}

TEST_CASE("bench toeplitz-solve times every peer, and their residuals are small") {
  const Words all = ours_and({"lapack-cholesky", "lapack-lu"});
  for (const std::string precision : {"s", "d"}) {
    check_solves({}, precision, {"1", "2", "65"}, all, all);
    check_solves({"--random", "kms:0.5", "--sigma=-0.25", "--seed", "3"}, precision, {"1", "64"}, all, all);
  }
}

TEST_CASE("bench toeplitz-solve leaves out peers that cannot solve a system and reports them") {
  const Words all = ours_and({"lapack-cholesky", "lapack-lu"});
  check_solves({"--random", "random", "--sigma", "0.3"}, "d", {"2", "65"}, all, ours_and({"lapack-lu"}));
  check_solves({"--random", "kms:0.9"}, "d", {"1", "2", "65"}, {"gradients", "gradients-again", "levinson"},
               {"gradients", "gradients-again", "levinson"});
  check_solves({"--random", "random"}, "d", {"65", "300"},
               {"gradients", "cauchy-inverse", "superfast", "superfast-again"},
               {"cauchy-inverse", "superfast", "superfast-again"});
  check_solves({"--random", "singular-minors"}, "d", {"2", "64"}, all,
               {"cauchy-inverse", "cauchy-inverse-again", "cauchy", "cauchy-again", "lapack-lu"});
}

TEST_CASE("bench toeplitz-solve times cuSOLVER's factorizations on a GPU", "[gpu]") {
  require_gpu();
  const Words workers{"--ncpu", "0", "--ncuda", "1"};
  const Words all = ours_and({"cusolver-cholesky", "cusolver-lu"});
  for (const std::string precision : {"s", "d"})
    check_solves({}, precision, {"1", "2", "65", "1000"}, all, all, workers);
  check_solves({"--random", "random", "--sigma", "0.3"}, "d", {"2", "65"}, all, ours_and({"cusolver-lu"}), workers);
}

TEST_CASE("bench toeplitz-study reports percentages found by the choices of Graciá Gil 2010 and by ours") {
  const TemporaryFolder folder;
  const auto report = bench(folder, {"toeplitz-study", "--n", "60", "--per-interval", "5,10"});
  CAPTURE(report.dump());
  CHECK(rows(folder / "toeplitz-study.csv") == 12);  // two interval sizes, three ways, two precisions
  CHECK(report["peers"].size() == 12);
  for (const auto& peer : report["peers"]) {
    CHECK(peer["rate"] > 0);
    CHECK(peer["rate"] <= 100);
    const std::string name = peer["peer"];
    const bool ours = name.find("ours") != std::string::npos && name.find("solver") == std::string::npos;
    const auto& more = peer["more"];
    if (ours) CHECK((peer["rate"] == 100 && more["right_percent"] == 100 && more["max_error"] <= 1e-4));
    CHECK(more["tolerance"] == (ours ? (peer["case"].get<std::string>().ends_with("single") ? 2e-6 : 1e-10) : 0.1));
    CHECK(more["mean_attempts"] >= 1);
    CHECK(more["relaunched"] <= more["intervals"]);
    CHECK(more["converged"] <= more["intervals"]);
  }
  const std::string csv = contents(folder / "toeplitz-study.csv");
  CHECK_THAT(csv, ContainsSubstring(",date,tolerance,right_percent,max_error,intervals,converged,relaunched,"));
}

TEST_CASE("bench toeplitz-study prints the time of Table 5 next to its order and size of intervals") {
  const TemporaryFolder folder;
  bench(folder, {"toeplitz-study", "--no-gpu", "--n", "600", "--per-interval", "50", "--peers", "published,ours"});
  std::istringstream csv(contents(folder / "toeplitz-study.csv"));
  int printed = 0;
  for (std::string line; std::getline(csv, line);) {
    CAPTURE(line);
    const bool from_table_5 = line.find(",3.81,") != std::string::npos;
    printed += from_table_5 ? 1 : 0;
    if (from_table_5)
      CHECK((line.find("single") != std::string::npos && line.find("as in the source") != std::string::npos));
  }
  CHECK(printed == 1);
}

TEST_CASE("bench toeplitz-study compares tolerances for both solvers") {
  const TemporaryFolder folder;
  const auto report = bench(folder, {"toeplitz-study", "--table", "tolerance", "--n", "40", "--precision", "d"});
  CAPTURE(report.dump());
  CHECK(report["peers"].size() == 30);  // ten tolerances, three ways
  double last = 1;
  for (const auto& peer : report["peers"])
    if (peer["peer"] == "cores, levinson") {
      CHECK(peer["more"]["tolerance"] < last);
      last = peer["more"]["tolerance"];
    }
  CHECK(last == 1e-10);
}

TEST_CASE("bench toeplitz-tiles finds the same eigenvalues by all kinds of tasks") {
  const TemporaryFolder folder;
  const auto report = bench(folder, {"toeplitz-tiles", "--n", "200", "--wanted", "5,30"});
  CAPTURE(report.dump());
  REQUIRE(report["peers"].size() == 6);
  for (const auto& peer : report["peers"]) {
    CHECK(peer["more"]["intervals"] == 1);
    CHECK(peer["more"]["found"] > (peer["case"].get<std::string>().find("30") == std::string::npos ? 0 : 15));
  }
}

TEST_CASE("bench toeplitz refuses invalid measurements") {
  const auto refused = [](const Words& words, int code, const std::string& why) {
    const Outcome run = run_tesela(words, {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}});
    CAPTURE(words, run.err);
    CHECK(run.code == code);
    CHECK_THAT(run.err, ContainsSubstring(why));
  };
  refused({"bench", "toeplitz", "--n", "0"}, 2, "--n");
  refused({"bench", "toeplitz", "--peers", "mkl"}, 2, "mkl");
  refused({"bench", "toeplitz", "--n", "8", "--peers", "cusolver"}, 3, "CUDA device");
  refused({"bench", "toeplitz-solve", "--n", "0"}, 2, "--n");
  refused({"bench", "toeplitz-solve", "--random", "hilbert"}, 2, "--random");
  refused({"bench", "toeplitz-solve", "--sigma", "nan"}, 2, "--sigma");
  refused({"bench", "toeplitz-solve", "--peers", "lapack"}, 2, "lapack");
  refused({"bench", "toeplitz-solve", "--n", "8", "--peers", "cusolver-lu"}, 3, "CUDA device");
  refused({"bench", "toeplitz-solve", "--n", "8", "--random", "random", "--peers", "lapack-cholesky"}, 1,
          "not positive definite");
  refused({"bench", "toeplitz-solve", "--n", "1000000", "--peers", "lapack-lu"}, 1, "8000.0 GB of host memory");
  refused({"bench", "toeplitz-study", "--per-interval", "0"}, 2, "--per-interval");
}
