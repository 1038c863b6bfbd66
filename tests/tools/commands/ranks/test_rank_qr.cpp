#include "tests/support/ranks.hpp"
#include "tests/support/test.hpp"
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

#include <fstream>
#include <tuple>

// `tesela qr` of distributed matrices: trees across ranks, files, and the memory of each rank.

using namespace tesela::test;

namespace {

Outcome on_ranks(int ranks, const Words& words) { return run_on_ranks(ranks, Words{tesela::test::tesela()} + words); }

nlohmann::json report_of(const Outcome& all) {
  INFO(all.err);
  REQUIRE(all.code == 0);
  nlohmann::json report = nlohmann::json::parse(all.out);
  CHECK(report["status"] == "ok");
  return report;
}

}  // namespace

TEST_CASE("a tree within ranks and one across them give the R of one process with the same order, byte for byte") {
  require_ranks();
  const CoresOnly cores_alone;
  const TemporaryFolder folder;
  const Words problem{"qr", "--m", "500", "--n", "217", "--tile", "32x64", "--json", "-", "--out-r"};
  struct Case {
    int ranks;
    const char *grid, *tree, *across, *order;
  };
  for (const auto& [ranks, grid, tree, across, order] :
       {Case{4, "2x2", "domain:2", "greedy", "ranks:2:greedy:domain:2"},
        Case{3, "3x1", "diagonal", "binary", "ranks:3:binary:diagonal"},
        Case{7, "7x1", "greedy", "flat", "ranks:7:flat:greedy"},
        Case{2, "1x2", "binary", "greedy", "ranks:1:greedy:binary"}}) {
    const std::string alone = folder / "alone.npy", together = folder / "together.npy";
    const nlohmann::json one = report_of(run_tesela(problem + Words{alone, "--tree", order}));
    const nlohmann::json all =
        report_of(on_ranks(ranks, problem + Words{together, "--tree", tree, "--rank-tree", across, "--grid", grid}));
    CHECK(all["problem"]["tree"] == order);
    CHECK(one["problem"]["tree"] == order);
    CHECK(contents(together) == contents(alone));
  }
  const Outcome refused = on_ranks(2, {"qr", "--n", "60", "--tree", "fibonacci", "--rank-tree", "flat"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("--rank-tree"));
}

TEST_CASE("four ranks write the R and Q of one process for any distribution") {
  require_ranks();
  const CoresOnly cores_alone;
  const TemporaryFolder folder;
  for (const auto& [m, n, more] : {std::tuple{"130", "70", Words{"--full-q"}},
                                   {"70", "130", Words{"--positive-diagonal"}},
                                   {"9", "7", Words{}},
                                   {"50", "30", Words{"--method", "givens-chain"}},
                                   {"130", "70", Words{"-p", "z", "--positive-diagonal"}},
                                   {"70", "90", Words{"-p", "c", "--full-q"}},
                                   {"50", "30", Words{"--method", "givens-chain", "-p", "z", "--positive-diagonal"}}})
    for (const char* extension : {".npy", ".mtx"}) {
      const auto file = [&](const char* name) { return folder / (std::string(name) + extension); };
      if (std::find(more.begin(), more.end(), "-p") != more.end())
        tesela::write_matrix(file("a"),
                             tesela::generate<std::complex<double>>({std::stol(m), std::stol(n)},
                                                                    {.pattern = tesela::Pattern::uniform, .seed = 5}));
      else
        REQUIRE(run_tesela({"generate", "--m", m, "--n", n, "--seed", m, "--out", file("a")}).code == 0);
      const Words problem = Words{"qr", "--a", file("a"), "--tile", "16", "--json", "-"} + more;
      report_of(run_tesela(problem + Words{"--out-r", file("r1"), "--out-q", file("q1")}));
      report_of(on_ranks(4, problem + Words{"--out-r", file("r4"), "--out-q", file("q4")}));
      CHECK(contents(file("r4")) == contents(file("r1")));
      CHECK(contents(file("q4")) == contents(file("q1")));
    }
  for (const auto& [m, n] : {std::pair{"0", "0"}, {"5", "0"}, {"0", "5"}, {"1", "1"}, {"64", "64"}})
    report_of(on_ranks(3, {"qr", "--m", m, "--n", n, "--json", "-"}));
}

TEST_CASE("ranks agree on the staircase of a distributed matrix") {
  require_ranks();
  const CoresOnly cores_alone;
  const TemporaryFolder folder;
  const auto path = folder / "a.mtx";
  {
    std::ofstream out(path);
    out << "%%MatrixMarket matrix coordinate real general\n90 40 129\n";
    for (int j = 1; j <= 40; ++j)
      for (int i = 0; i < 3; ++i) out << 2 * j + i << ' ' << j << ' ' << i + j << "\n";
    for (int i = 0; i < 9; ++i) out << 82 + i << " 40 1\n";
  }
  for (const char* tree : {"greedy", "diagonal"}) {
    const Words problem{"qr", "--a", path, "--tile", "8", "--tree", tree, "--json", "-", "--out-r"};
    report_of(run_tesela(problem + Words{folder / "one.npy"}));
    report_of(on_ranks(4, problem + Words{folder / "four.npy"}));
    CHECK(contents(folder / "one.npy") == contents(folder / "four.npy"));
  }
}

TEST_CASE("a rank uses at most its share of A and its factors, a quarter more and a window") {
  require_ranks();
  const CoresOnly cores_alone;
  ProcessOptions options;
  options.environment["TESELA_RECEIVED_MIB"] = "16";
  options.environment["STARPU_NCPU"] = "1";  // keeps the workers' scratch memory small
  const auto peak_bytes = [&](const Words& words) {
    const nlohmann::json report =
        report_of(run_on_ranks(4, Words{tesela::test::tesela(), "qr", "-p", "s", "--json", "-"} + words, options));
    double most = 0;
    for (const auto& rank : report["ranks"]) most = std::max(most, rank["peak_bytes"].get<double>());
    return most;
  };
  const double before = peak_bytes({"--n", "64"});
  const double size = 3072, share = 2 * size * size * sizeof(float) / 4, window = 32 << 20;
  const double taken = peak_bytes({"--n", "3072", "--tile", "192"}) - before;
  INFO(taken / 1e6 << " MB, a share is " << share / 1e6);
  CHECK(taken <= 1.25 * share + window + (4 << 20));  // and some MiB for threads of libraries
}
