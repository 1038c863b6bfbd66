#include "tests/support/commands/process.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

using namespace tesela::test;

TEST_CASE("bench givens writes both tables") {
  const TemporaryFolder folder;
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"bench", "givens",      "--repeat", "2", "--ncuda", "0",
                                       "--out", folder.path(), "--name",   "t", "--json",  "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_tesela(arguments);
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(outcome.out);
  };
  const auto stages = run({"--m", "90", "--n", "20,50", "--precision", "s"});
  REQUIRE(stages["peers"].size() == 6);
  CHECK(stages["peers"][0]["peer"] == "diagonal");
  CHECK(stages["peers"][4]["peer"] == "givens, one core");
  const auto chain = run({"--table", "chain", "--n", "60", "--half-width=-1,2", "--precision", "d"});
  REQUIRE(chain["peers"].size() == 5);
  CHECK(chain["peers"][3]["peer"] == "chain, band");
  const auto complex = run({"--table", "chain", "--n", "60", "--half-width=-1,2", "--precision", "z"});
  REQUIRE(complex["peers"].size() == 5);
  const auto complex_stages = run({"--m", "90", "--n", "20", "--precision", "c"});
  REQUIRE(complex_stages["peers"].size() == 3);
  for (const auto& report : {stages, chain, complex, complex_stages})
    for (const auto& [name, error] : report["checks"].items()) {
      CAPTURE(name);
      CHECK(error.get<double>() <= 1);
    }
  // 8192 x 64 is a case of Ramiro Sánchez 2010, Table 3.1: by diagonals on a GPU, and sequential in 0.047 s.
  const Outcome cores = run_tesela(
      {"bench", "givens", "-n", "64", "--peers", "tesela,givens", "-r", "1", "--ncuda", "0", "-o", folder.path()});
  CHECK(cores.code == 0);
  std::ifstream csv(folder / "givens.csv");
  std::vector<std::string> lines;
  for (std::string line; std::getline(csv, line);) lines.push_back(line);
  REQUIRE(lines.size() == 3);
  CHECK((lines[1].find("8192 x 64,8192,64") != std::string::npos && lines[1].find(",0.543,") == std::string::npos));
  CHECK((lines[2].find("givens, one core") != std::string::npos && lines[2].find(",,,0.047,") != std::string::npos));
  const Outcome order = run_tesela({"bench", "givens", "--order", "nonsense"});
  CHECK((order.code == 2 && order.err.find("--order: 'nonsense' is none of") != std::string::npos));
  const Outcome dropped = run_tesela({"bench", "givens", "--table", "chain", "--peers", "tesela,givens"});
  CHECK((dropped.code == 2 && dropped.err.find("--peers: givens forms no Q") != std::string::npos));
}

TEST_CASE("bench givens-study writes a CSV for each table and names the rows that do not run") {
  const TemporaryFolder folder;
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"bench", "givens-study", "--ncuda", "0", "--out", folder.path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tesela(arguments);
  };
  const auto lines_of = [&](const std::string& name) {
    std::ifstream file(folder / name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  };
  const auto count = [](const std::vector<std::string>& lines, const std::string& part) {
    return std::count_if(lines.begin(), lines.end(), [&](const auto& l) { return l.find(part) != std::string::npos; });
  };
  const Outcome two = run({"--table", "6.1,6.6", "--n", "40,70", "--threads", "1"});
  CAPTURE(two.err);
  REQUIRE(two.code == 0);
  const auto dense = lines_of("givens-6.1.csv"), band = lines_of("givens-6.6.csv");
  CHECK((dense.size() == 1 + 2 * 3 && band.size() == 1 + 2 * 4));
  CHECK((count(dense, ",s,cores,") == 6 && count(band, ",d,cores,") == 8));
  CHECK(dense.front().ends_with(",date,C2070_s,GTX_640_s,K20X_s,sequential_s"));
  CHECK(count(band, "pentadiagonal 70") == 4);
  // The second order is expected to take longer than a nanosecond.
  REQUIRE(run({"--table", "6.9", "--n", "30,60", "--peers", "sequential", "--limit", "1e-9"}).code == 0);
  CHECK(count(lines_of("givens-6.9.csv"), "above --limit") == 1);
  // The source's figures, without a run: a matrix of 10^7 fits nowhere.
  REQUIRE(run({"--table", "6.2", "--n", "10000000"}).code == 0);
  CHECK(count(lines_of("givens-6.2.csv"), "of host memory, which has") == 1);
  // Q and R of more than 2560 rows are not read.
  const Outcome large = run({"--table", "6.5", "--n", "2600", "--peers", "chain,band", "--json", "-"});
  REQUIRE(large.code == 0);
  const auto checks = nlohmann::json::parse(large.out)["checks"];
  REQUIRE(checks.size() == 2);
  for (const auto& [name, error] : checks.items()) CHECK((error.get<double>() > 0 && error.get<double>() <= 1));
  CHECK(run({"--table", "6.8"}).code == 2);
  CHECK(run({"--table", "6.1,6.2", "--json", "-"}).code == 2);
  CHECK(run({"--table", "6.2", "--n", "40", "--mkl", folder / "no.so"}).code == 3);
}
