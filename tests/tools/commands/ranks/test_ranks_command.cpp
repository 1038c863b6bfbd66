#include "tests/support/ranks.hpp"
#include "tests/support/test.hpp"
#include <tesela/runtime/machine/topology.hpp>

#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <tuple>

// Commands under mpirun give the numbers, files and report of one process once.

using namespace tesela::test;

namespace {

Outcome on_ranks(int ranks, const Words& words) { return run_on_ranks(ranks, Words{tesela::test::tesela()} + words); }

}  // namespace

TEST_CASE("R has the same bytes on any number of ranks and for any order of elimination") {
  require_ranks();
  const CoresOnly cores_alone;
  const TemporaryFolder folder;
  const Words problem{"qr", "--m", "500", "--n", "217", "--tile", "96x64", "--tree"};
  for (const char* tree : {"greedy", "column"}) {
    const std::string alone = folder / "alone.npy";
    REQUIRE(run_tesela(problem + Words{tree, "--out-r", alone}).code == 0);
    for (const int ranks : {2, 5}) {
      const std::string together = folder / ("r" + std::to_string(ranks) + ".npy");
      const Outcome all = on_ranks(ranks, problem + Words{tree, "--out-r", together, "--json", "-"});
      INFO(all.err);
      REQUIRE(all.code == 0);
      CHECK(nlohmann::json::parse(all.out)["status"] == "ok");  // one report and no other output
      CHECK(contents(together) == contents(alone));
    }
  }
}

TEST_CASE("other commands run on several ranks") {
  require_ranks();
  const std::vector<Words> commands{{"gemm", "--m", "117", "--n", "89", "--k", "61", "--tile", "64x48", "--op-a", "t"},
                                    {"ols", "--m", "3000", "--n", "12"},
                                    {"tridiag", "--n", "5000", "--random", "uniform", "--periodic"},
                                    {"toeplitz", "eig", "--n", "200"},
                                    {"eig", "--n", "90", "--vectors"},
                                    {"gemm", "--n", "89", "--tile", "48", "--op-a", "c", "-p", "z"},
                                    {"cholesky", "--n", "90", "--tile", "32", "--rhs", "2", "-p", "z"},
                                    {"lu", "--n", "90", "--tile", "32", "--rhs", "2", "-p", "c"},
                                    {"ols", "--m", "300", "--n", "12", "--std-errors", "-p", "z"},
                                    {"qr", "--m", "300", "--n", "600", "--tile", "96", "-p", "c"},
                                    {"qr", "--n", "90", "--method", "givens-chain", "-p", "z"}};
  for (const Words& words : commands) {
    const Outcome all = on_ranks(3, words + Words{"--json", "-"});
    INFO(words[0] << all.err);
    REQUIRE(all.code == 0);
    CHECK(nlohmann::json::parse(all.out)["status"] == "ok");
  }
}

TEST_CASE("a report lists the work of each rank, and --grid arranges the ranks") {
  require_ranks();
  const Words problem{"gemm", "--m", "256", "--n", "256", "--k", "256", "--tile", "64", "--json", "-"};
  for (const char* grid : {"", "1x4", "4x1", "2x2"}) {
    const Outcome all = on_ranks(4, problem + (*grid != 0 ? Words{"--grid", grid} : Words{}));
    INFO(grid << all.err);
    REQUIRE(all.code == 0);
    const nlohmann::json ranks = nlohmann::json::parse(all.out)["ranks"];
    REQUIRE(ranks.size() == 4);
    double sent = 0, received = 0;
    for (const auto& rank : ranks) {
      CHECK(rank["tasks"] == 16);  // a quarter of 64 products
      CHECK(rank["workers"] >= 1);
      CHECK(rank["peak_bytes"] > 1e6);
      sent += rank["bytes_sent"].get<double>();
      received += rank["bytes_received"].get<double>();
    }
    CHECK(sent == received);
    CHECK(sent > 0);
  }
  CHECK(!nlohmann::json::parse(run_tesela(problem).out).contains("ranks"));
  for (const auto& [ranks, grid] : {std::pair{3, "2x2"}, {4, "0x4"}, {4, "4"}}) {
    const Outcome refused = on_ranks(ranks, problem + Words{"--grid", grid});
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, ContainsSubstring("grid"));
  }
  CHECK(run_tesela(problem + Words{"--grid", "2x2"}).code == 2);
}

TEST_CASE("an error on all ranks is reported and leaves no files") {
  require_ranks();
  const TemporaryFolder folder;
  const Outcome all = on_ranks(3, {"qr", "--a", folder / "nothing.npy", "--out-r", folder / "r.npy"});
  CHECK(all.code == 2);
  CHECK_THAT(all.err, ContainsSubstring("nothing.npy: cannot read"));
  CHECK(all.seconds < 10 * patience);
  CHECK(folder.files() == 0);
}

TEST_CASE("one trace shows the tasks of all ranks") {
  require_ranks();
  const TemporaryFolder folder;
  const Words problem{"qr", "--n", "300", "--tile", "60", "--trace", folder / "trace"};
  const Outcome traced = on_ranks(2, problem + Words{"--json", folder / "report.json"});
  INFO(traced.err);
  if (traced.err.find("without FxT") != std::string::npos) SKIP("built without FxT");
  REQUIRE(traced.code == 0);
  const std::string events = contents(folder / "trace/trace.json"), paje = contents(folder / "trace/paje.trace");
  for (const char* worker : {"rank 0 CPU", "rank 1 CPU"}) CHECK_THAT(events, ContainsSubstring(worker));
  CHECK_THAT(paje, ContainsSubstring("0_CPU") && ContainsSubstring("1_CPU") && ContainsSubstring("MPI"));
  const Words product{"gemm", "--n", "128", "--tile", "64", "--trace", folder / "product"};
  REQUIRE(on_ranks(2, product).code == 0);
  CHECK_THAT(contents(folder / "product/trace.json"), ContainsSubstring("rank 1 CPU"));
  // A later run of one process does not show tasks of the other rank.
  REQUIRE(run_tesela(problem).code == 0);
  CHECK_THAT(contents(folder / "trace/trace.json"), !ContainsSubstring("rank 1"));
}

TEST_CASE("solutions of tridiagonal systems have the same bytes, and all ranks compute") {
  require_ranks();
  const CoresOnly cores_alone;
  const TemporaryFolder folder;
  for (const Words& kind : {Words{}, {"--periodic"}, {"--batch", "5"}}) {
    const Words problem = Words{"tridiag", "--n", "20001", "--tile", "3000", "--random", "uniform"} + kind;
    REQUIRE(run_tesela(problem + Words{"--out", folder / "alone.npy"}).code == 0);
    const Outcome all = on_ranks(3, problem + Words{"--out", folder / "together.npy", "--json", "-"});
    INFO(all.err);
    REQUIRE(all.code == 0);
    CHECK(contents(folder / "together.npy") == contents(folder / "alone.npy"));
    const auto report = nlohmann::json::parse(all.out);
    for (const auto& rank : report["ranks"]) CHECK(rank["tasks"] > 2);
  }
}

TEST_CASE("all ranks search for eigenvalues of a Toeplitz matrix and find those of one process") {
  require_ranks();
  const CoresOnly cores_alone;
  for (const Words& more : {Words{}, {"--vectors"}}) {
    const Words problem = Words{"toeplitz", "eig", "--n", "700", "--method", "lanczos", "--json", "-"} + more;
    const TemporaryFolder folder;
    REQUIRE(run_tesela(problem + Words{"--out", folder / "alone.npy"}).code == 0);
    const Outcome all = on_ranks(3, problem + Words{"--out", folder / "together.npy"});
    INFO(all.err);
    REQUIRE(all.code == 0);
    const auto report = nlohmann::json::parse(all.out);
    CHECK(report["status"] == "ok");
    CHECK(report["checks"]["found"] == report["checks"]["expected"]);
    for (const auto& rank : report["ranks"]) CHECK(rank["tasks"] > 20);
    CHECK(contents(folder / "together.npy") == contents(folder / "alone.npy"));
  }
}

TEST_CASE("each rank reads its rows of a tall and skinny matrix from a file") {
  require_ranks();
  const TemporaryFolder folder;
  for (const auto& [n, name] : {std::pair{"30", "a.npy"}, {"1", "b.npy"}})
    REQUIRE(run_tesela({"generate", "--m", "150000", "--n", n, "--seed", n, "--out", folder / name}).code == 0);
  const Words problem{"ols", "--a", folder / "a.npy", "--b", folder / "b.npy", "--json", "-"};
  const auto alone = nlohmann::json::parse(run_tesela(problem).out);
  const Outcome all = on_ranks(3, problem);
  INFO(all.err);
  REQUIRE(all.code == 0);
  const auto together = nlohmann::json::parse(all.out);
  for (const auto& rank : together["ranks"]) CHECK(rank["tasks"] >= 1);
  CHECK(together["problem"]["streamed"] == true);
  for (const char* check : {"residual_norm", "condition", "solution_norm"})
    CHECK(std::abs(together["checks"][check].get<double>() / alone["checks"][check].get<double>() - 1) < 1e-9);

  std::fstream file(folder / "a.npy", std::ios::in | std::ios::out | std::ios::binary);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  file.seekp(-8, std::ios::end).write(reinterpret_cast<const char*>(&nan), sizeof nan);
  file.close();
  const Outcome one = run_tesela(problem), wrong = on_ranks(3, problem);  // only one rank reads the NaN
  INFO(one.out << one.err << wrong.out << wrong.err);
  CHECK(wrong.code == one.code);
  CHECK_THAT(wrong.err, ContainsSubstring("rank 2") && ContainsSubstring("a.npy") && ContainsSubstring("NaN"));
}

TEST_CASE("ranks of one host share its cores without overlap, with and without binding") {
  require_ranks();
  const std::size_t cores = tesela::describe_machine().cores;
  for (const char* nobind : {"0", "1"})
    for (const int ranks : {2, 4}) {
      ProcessOptions options;
      options.environment["STARPU_WORKERS_NOBIND"] = nobind;
      const Words words{tesela::test::tesela(), "gemm", "--n", "96", "--tile", "32", "--ncuda", "0", "--json", "-"};
      const Outcome all = run_on_ranks(ranks, words, options);
      INFO(all.err);
      REQUIRE(all.code == 0);
      const auto report = nlohmann::json::parse(all.out);
      std::size_t workers = 0;
      for (const auto& rank : report["ranks"]) workers += rank["workers"].get<std::size_t>();
      CHECK(workers == std::max(cores, static_cast<std::size_t>(ranks)));
    }
}

TEST_CASE("ranks share the GPUs of their host, and a message reports ranks without a GPU", "[gpu]") {
  const int gpus = tesela::count_cuda_devices();
  if (gpus == 0) SKIP("no GPU");
  require_ranks();
  for (const auto& [ranks, nobind, copies] :
       {std::tuple{1, "0", "1"}, {2, "0", "1"}, {2, "1", "host"}, {2, "0", "0"}, {3, "0", "1"}, {4, "0", "1"}}) {
    ProcessOptions options;
    options.environment["STARPU_WORKERS_NOBIND"] = nobind;
    options.environment["TESELA_LOCAL_COPIES"] = copies;
    for (const Words& words :
         {Words{"gemm", "--n", "1500", "--tile", "200"}, {"qr", "--m", "1100", "--n", "900", "--tile", "200x100"}}) {
      const Outcome all = run_on_ranks(ranks, Words{tesela::test::tesela()} + words + Words{"--json", "-"}, options);
      INFO(ranks << " ranks, copies " << copies << ": " << all.err);
      REQUIRE(all.code == 0);
      const auto report = nlohmann::json::parse(all.out);
      CHECK(report["status"] == "ok");
      CHECK((all.err.find("compute on cores alone") != std::string::npos) == (ranks > gpus));
      std::set<std::string> devices;  // of rank 0
      for (const auto& worker : report["workers"]) {
        const auto name = worker["name"].get<std::string>();
        if (name.starts_with("CUDA")) devices.insert(name.substr(0, name.find('.')));
      }
      CHECK(std::ssize(devices) == std::max(gpus / ranks, 1));
    }
  }
  const Outcome none = run_on_ranks(gpus + 1, {tesela::test::tesela(), "gemm", "--n", "300", "--ncuda", "0"});
  CHECK(none.code == 0);
  CHECK(none.err.find("compute on cores alone") == std::string::npos);
}

TEST_CASE("commands that cannot run on several ranks are refused") {
  require_ranks();
  const TemporaryFolder folder;
  REQUIRE(run_tesela({"generate", "--m", "9", "--n", "9", "--random", "zero", "--out", folder / "a.npy"}).code == 0);
  std::ofstream(folder / "jobs") << "a.npy\n";
  const Outcome jobs = on_ranks(2, {"eig", "--jobs", folder / "jobs"});
  CHECK(jobs.code == 2);
  CHECK_THAT(jobs.err, ContainsSubstring("several ranks"));
}
