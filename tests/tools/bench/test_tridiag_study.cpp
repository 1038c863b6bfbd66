#include "tests/support/process.hpp"
#include "tests/support/test.hpp"
#include "tools/problems/tridiagonal/tridiag_study_data.hpp"
#include <tesela/host/lapack.hpp>

#include <fstream>

using namespace tesela;
using namespace tesela::test;

TEMPLATE_TEST_CASE("bench tridiag-study separates right solutions from wrong ones", "", float, double) {
  using T = TestType;
  Runtime runtime({.cpus = 1, .gpus = 0});
  const index_t n = 300;
  const bench::StudyData<T> data(runtime, n, 3);
  const auto column = [&](index_t j) { return std::vector<T>(data.column(j), data.column(j) + n); };
  std::vector<T> dl = column(0), d = column(1), du = column(2);
  data.copy_b_to_x();
  CHECK_THROWS_AS(data.check("idle"), bench::WrongResult);
  REQUIRE(lapack::gtsv(n, 1, dl.data() + 1, d.data(), du.data(), data.x(), n) == 0);
  CHECK(data.check("lapack") <= 1);
  for (const index_t i : {index_t{0}, index_t{150}, n - 1}) {
    const T right = data.x()[i];
    data.x()[i] += T(sizeof(T) == 8 ? 1e-12 : 1e-4);
    CHECK_THROWS_AS(data.check("off"), bench::WrongResult);
    data.x()[i] = std::numeric_limits<T>::quiet_NaN();
    CHECK_THROWS_AS(data.check("NaN"), bench::WrongResult);
    data.x()[i] = right;
  }
}

TEST_CASE("bench tridiag-study prints the source's figures of GPUs only for runs on a GPU") {
  const TemporaryFolder folder;
  const auto lines_of = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"bench", "tridiag-study", "--repeat", "2",     "--ncpu",
                                       "1",     "--ncuda",       "0",        "--out", folder.path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_tesela(arguments);
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    std::ifstream file(folder / "tridiag-study.csv");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  };
  const auto count = [](const std::vector<std::string>& lines, const std::string& part) {
    return std::count_if(lines.begin(), lines.end(), [&](const auto& l) { return l.find(part) != std::string::npos; });
  };
  const auto all = lines_of({"--n", "1000,524288", "--tile", "65536"});
  CHECK(all.size() == 1 + 2 * 2 * 5);
  CHECK(count(all, ",x,,,,,") == 2 * 2 * 5);
  CHECK(count(all, ",d,host,thomas,") == 2);
  const auto chosen = lines_of({"--n", "1", "--precision", "d", "--peers", "hybrid,coalesced", "--mb", "8"});
  CHECK(chosen.size() == 4);
  CHECK(count(chosen, ",s,host") == 0);
  const auto cuts = lines_of({"--n", "1000", "--precision", "d", "--peers", "hybrid,cores", "--cut", "1,64,1000"});
  CHECK(cuts.size() == 1 + 1 + 3 + 1);
  for (const char* who : {"hybrid 1,", "hybrid 64,", "hybrid 1000,", "\"cr, all cores\","})
    CHECK(count(cuts, who) == 1);
  CHECK(run_tesela({"bench", "tridiag-study", "--peers", "nobody"}).code == 2);
}
