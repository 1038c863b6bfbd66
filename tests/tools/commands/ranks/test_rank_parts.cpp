#include "tests/support/ranks.hpp"
#include "tests/support/test.hpp"

#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>

// Matrices distributed over ranks: their files, and the memory of each rank.

using namespace tesela::test;

namespace {

Outcome on_ranks(int ranks, const Words& words) { return run_on_ranks(ranks, Words{tesela::test::tesela()} + words); }

/// Returns the largest memory of a rank in bytes.
double peak_bytes(const Words& words) {
  ProcessOptions options;
  options.environment["TESELA_RECEIVED_MIB"] = "16";
  const Outcome all = run_on_ranks(4, Words{tesela::test::tesela()} + words + Words{"--json", "-"}, options, 150);
  INFO(all.err);
  REQUIRE(all.code == 0);
  const nlohmann::json report = nlohmann::json::parse(all.out);
  CHECK(report["status"] == "ok");
  double most = 0;
  for (const auto& rank : report["ranks"]) most = std::max(most, rank["peak_bytes"].get<double>());
  return most;
}

}  // namespace

TEST_CASE("a rank uses at most its share of a product, a quarter more and a window") {
  require_ranks();
  const CoresOnly cores_alone;
  const double before = peak_bytes({"gemm", "--n", "64", "-p", "s"});
  for (const char* n : {"2560", "5120"}) {
    const double size = std::stod(n), share = 3 * size * size * sizeof(float) / 4, window = 28 << 20;
    const double taken = peak_bytes({"gemm", "--n", n, "-p", "s", "--tile", "256"}) - before;
    INFO(n << ": " << taken / 1e6 << " MB, a share is " << share / 1e6);
    CHECK(taken <= 1.25 * share + window);
  }
}

TEST_CASE("four ranks write the files of one process and read them") {
  require_ranks();
  const CoresOnly cores_alone;
  const TemporaryFolder folder;
  const Words shape{"--m", "117", "--n", "89", "--k", "61", "--tile", "32x24x16"};
  const Words random{"gemm", "--random", "graded", "--beta", "1", "--alpha", "-1"};
  for (const char* extension : {".npy", ".mtx"})
    for (const char* op : {"n", "t"}) {
      const auto file = [&](const char* name) { return folder / (name + std::string(op) + extension); };
      REQUIRE(run_tesela(random + shape + Words{"--op-a", op, "--out", file("alone")}).code == 0);
      for (const int ranks : {3, 4}) {
        const Outcome all = on_ranks(ranks, random + shape + Words{"--op-a", op, "--out", file("together")});
        INFO(all.err);
        REQUIRE(all.code == 0);
        CHECK(contents(file("together")) == contents(file("alone")));
      }
      // The product of the files shows what was read.
      const Words read{"gemm", "--a", file("alone"), "--b", file("together"), "--op-b", "t", "--tile", "20x30x7"};
      REQUIRE(run_tesela(read + Words{"--out", file("product")}).code == 0);
      const Outcome all = on_ranks(4, read + Words{"--out", file("products")});
      INFO(all.err);
      REQUIRE(all.code == 0);
      CHECK(contents(file("products")) == contents(file("product")));
    }
  std::ofstream(folder / "sums.mtx") << "%%MatrixMarket matrix coordinate real symmetric\n5 5 4\n1 1 2\n4 2 0.5\n4 2 "
                                        "0.25\n5 5 -1e-300\n";
  const Words sums{"gemm", "--a", folder / "sums.mtx", "--b", folder / "sums.mtx", "--tile", "2", "--out"};
  REQUIRE(run_tesela(sums + Words{folder / "one.npy"}).code == 0);
  REQUIRE(on_ranks(4, sums + Words{folder / "four.npy"}).code == 0);
  CHECK(contents(folder / "four.npy") == contents(folder / "one.npy"));
  const Words printed{"gemm", "--n", "2", "--tile", "1", "--random", "index", "--out", "-"};
  CHECK(on_ranks(4, printed).out == run_tesela(printed).out);
  const Outcome piped = on_ranks(2, {"gemm", "--a", "-", "--b", folder / "sums.mtx"});
  CHECK(piped.code == 2);
  CHECK_THAT(piped.err, ContainsSubstring("/dev/stdin: cannot read: is not a regular file"));
}

TEST_CASE("a file that ranks cannot read or write gives one message and leaves no output") {
  require_ranks();
  const TemporaryFolder folder;
  REQUIRE(run_tesela({"gemm", "--n", "64", "--out", folder / "a.npy"}).code == 0);
  std::string npy = contents(folder / "a.npy");
  const double nan = std::nan("");
  std::memcpy(npy.data() + npy.size() - 5 * sizeof nan, &nan, sizeof nan);  // in the part of one rank
  std::ofstream(folder / "nan.npy", std::ios::binary) << npy;
  std::ofstream(folder / "cut.mtx") << "%%MatrixMarket matrix array real general\n3 1\n1.5000\n2.5000\n";
  std::ofstream(folder / "sum.mtx") << "%%MatrixMarket matrix coordinate real general\n3 3 2\n3 3 1e308\n3 3 1e308\n";
  const std::filesystem::path left = folder / "out.npy";
  for (const auto& [name, words] : {std::pair{"nan.npy", "is NaN"},
                                    {"cut.mtx", "ends after 2 of 3 entries"},
                                    {"sum.mtx", "not finite"},
                                    {"none.npy", "cannot read"}}) {
    const Outcome all =
        on_ranks(4, {"gemm", "--a", folder / name, "--n", "20", "--op-a", "t", "--tile", "16", "--out", left});
    INFO(name << all.err);
    CHECK(all.code == 2);
    CHECK_THAT(all.err, ContainsSubstring(words));
    CHECK(all.err.find(words, all.err.find(words) + 1) == std::string::npos);  // only once
    CHECK(all.seconds < 10 * patience);
  }
  const Outcome full = on_ranks(4, {"gemm", "--n", "64", "--tile", "16", "--out", "/dev/full"});
  CHECK(full.code == 3);
  CHECK_THAT(full.err, ContainsSubstring("/dev/full"));
  CHECK(folder.files() == 4);
}
