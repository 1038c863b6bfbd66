#include "tests/support/commands/process.hpp"
#include "tests/support/test.hpp"
#include "tools/problems/tridiagonal/tridiag_methods.hpp"

#include <fstream>

using namespace tesela::test;

TEMPLATE_TEST_CASE("bench tridiag separates right solutions from wrong ones", "", float, double) {
  using T = TestType;
  Runtime runtime({.cpus = 1, .gpus = 0});
  const index_t n = 300;
  const bench::TridiagData<T> data(runtime, {.n = n, .tiles = 3, .seed = 3});
  bench::TridiagProblem<T> problem{data};
  const auto solver = by_cyclic_reduction(problem, {});
  solver.prepare();
  solver.run(nullptr);
  std::vector<T> x(static_cast<std::size_t>(n));
  solver.result().copy_to(0, x.data());
  const auto check = [&] {
    return check_peer<T>("x", problem,
                         {SystemsIn::columns, 1, [&](index_t, T* to) { std::copy(x.begin(), x.end(), to); }});
  };
  CHECK(check() <= 1);
  for (const std::size_t i : {0, 150, 299}) {
    const T right = x[i];
    x[i] += T(sizeof(T) == 8 ? 1e-12 : 1e-4);
    CHECK_THROWS_AS(check(), bench::WrongResult);
    x[i] = std::numeric_limits<T>::quiet_NaN();
    CHECK_THROWS_AS(check(), bench::WrongResult);
    x[i] = right;
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
