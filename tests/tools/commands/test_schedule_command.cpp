#include "tests/support/commands/process.hpp"
#include "tests/support/schedules.hpp"
#include "tests/support/test.hpp"
#include <tesela/algorithms/support/critical_path.hpp>

#include <catch2/generators/catch_generators_range.hpp>
#include <nlohmann/json.hpp>

using namespace tesela::test;

TEST_CASE("schedule prints table, stages, rotations, verdict and critical paths") {
  const Outcome run = run_tesela({"schedule", "--order", "diagonal", "--m", "8", "--n", "4"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.out, ContainsSubstring("   1 |  .  .  .  .\n   2 |  1  .  .  .\n   3 |  2  3  .  .\n"));
  CHECK_THAT(run.out, ContainsSubstring("   8 |  7  8  9 10\n"));
  CHECK_THAT(run.out, ContainsSubstring("stages     10\nrotations  22 = 1 + 1 + 2 + 2 + 3 + 3 + 4 + 3 + 2 + 1\n"));
  CHECK_THAT(run.out, ContainsSubstring("legal      yes"));
  CHECK_THAT(run.out, ContainsSubstring("rotations                 10         22\n"));
  CHECK_THAT(run.out, ContainsSubstring("tiles, TS                136        640"));  // 12 8 + 18 4 - 32
  CHECK_THAT(run.out, ContainsSubstring("tiles, TT                 90        640"));  //  6 8 + 16 4 - 22
  CHECK_THAT(run.out, !ContainsSubstring("empty"));

  const Outcome square = run_tesela({"schedule", "--m", "8", "--n", "8"});
  CHECK_THAT(square.out, ContainsSubstring("stages     13\n"));
  CHECK_THAT(square.out, ContainsSubstring("the last stage of the formula, m + n - 2 = 14, is empty"));
}

TEST_CASE("the JSON report of schedule has its documented fields") {
  const std::string order = GENERATE("greedy", "domain:4:binary", "diagonal", "modified-sameh-kuck");
  const auto [m, n] = GENERATE(table<index_t, index_t>({{0, 0}, {0, 3}, {1, 1}, {5, 8}, {32, 8}, {16, 16}}));
  const Outcome run =
      run_tesela({"schedule", "--order", order, "--m", std::to_string(m), "--n", std::to_string(n), "--json", "-"});
  CAPTURE(order, m, n, run.err);
  REQUIRE(run.code == 0);
  const auto report = nlohmann::json::parse(run.out);
  const Schedule s = make_schedule(order, m, n);
  CHECK(report["command"] == "schedule");
  CHECK(report.contains("version"));
  CHECK(report["status"] == "ok");
  CHECK(report["problem"] == nlohmann::json{{"order", order}, {"m", m}, {"n", n}});
  CHECK(report["checks"]["legal"] == true);
  CHECK(report["stages"] == s.stages());
  CHECK(report["rotations"] == s.eliminations.size());
  CHECK(report["rotations_by_stage"] == rotations_of(s));
  CHECK(report["last_stage_empty"] == (order == "diagonal" && m == 16 && n == 16));
  REQUIRE(report["eliminations"].size() == s.eliminations.size());
  for (std::size_t k = 0; k < s.eliminations.size(); ++k) {
    const Elimination& e = s.eliminations[k];
    CHECK(report["eliminations"][k] == std::vector<index_t>{e.row + 1, e.column + 1, e.pivot + 1, e.stage});
  }
  CHECK(report["critical_path"]["rotations"] == critical_path(s));
  CHECK(report["critical_path"]["ts"]["critical_path"] == tile_path(s, false).critical_path);
  CHECK(report["critical_path"]["tt"]["critical_path"] == tile_path(s, true).critical_path);
  CHECK(report["critical_path"]["tt"]["tasks"]["ttmqr"] == tile_path(s, true).ttmqr);
}

TEST_CASE("schedule draws every order") {
  const TemporaryFolder folder;
  const auto occurrences = [](const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
  };
  for (const auto& [m, n] : {std::pair{0, 0}, {1, 1}, {0, 4}, {8, 4}, {3, 9}, {64, 64}, {512, 1}}) {
    CAPTURE(m, n);
    const Outcome run = run_tesela({"schedule", "--order", "greedy", "--m", std::to_string(m), "--n", std::to_string(n),
                                    "--svg", folder / "s.svg"});
    REQUIRE(run.code == 0);
    const std::string svg = contents(folder / "s.svg");
    CHECK_THAT(svg, ContainsSubstring("<svg xmlns") && ContainsSubstring("</svg>\n"));
    CHECK_THAT(svg, !ContainsSubstring("nan") && !ContainsSubstring("inf"));
    if (m == 8) {  // background and entries; the bars of 8 stages over 5 lines
      CHECK(occurrences(svg, "<rect") == 1 + 32 + 8 + 5);
      CHECK_THAT(svg, ContainsSubstring("greedy, 8 x 4: 22 rotations in 8 stages"));
    }
    if (installed("xmllint")) CHECK(test::run({"/bin/sh", "-c", "xmllint --noout " + (folder / "s.svg")}).code == 0);
  }
  CHECK(run_tesela({"schedule", "--m", "513", "--svg", folder / "large.svg"}).code == 2);
  CHECK(run_tesela({"schedule", "--svg", folder / "no/such.svg"}).code == 2);
  CHECK(folder.files() == 1);
}

TEST_CASE("schedule names the constraint that the printed PGS-2 violates") {
  const Outcome run = run_tesela({"schedule", "--order", "pgs2-printed"});
  CAPTURE(run.err);
  CHECK(run.code == 1);
  CHECK_THAT(run.out, ContainsSubstring("   3 |  4 11  .  .  .\n   4 |  3  6 10  .  .\n"));
  CHECK_THAT(run.out, ContainsSubstring("legal      (4,3) at stage 10 needs (3,2), left of its pivot"));
  const Outcome unchecked = run_tesela({"schedule", "--no-check"});
  CHECK(unchecked.code == 0);
  CHECK_THAT(unchecked.out, ContainsSubstring("legal      not checked\n"));
}

TEST_CASE("schedule refuses invalid options") {
  const std::vector<std::vector<std::string>> wrong{{"--order", "foo"}, {"--order", "domain:0"},
                                                    {"--m", "-1"},      {"--n", "x"},
                                                    {"--m", "2000000"}, {"--order", "pgs2-printed", "--m", "7"},
                                                    {"--n", "2000000"}, {"--m", "100000", "--n", "100"}};
  for (std::vector<std::string> arguments : wrong) {
    CAPTURE(arguments);
    arguments.insert(arguments.begin(), "schedule");
    const Outcome run = run_tesela(arguments);
    CHECK(run.code == 2);
    CHECK(!run.err.empty());
    CHECK(run.out.empty());
  }
  CHECK_THAT(run_tesela({"schedule", "--order", "foo"}).err, ContainsSubstring("'foo' is none of sameh-kuck"));
  ProcessOptions options;
  options.limit = 60 * patience;
  CHECK(run_tesela({"schedule", "--m", "1000000", "--n", "1"}, options).code == 0);
}

TEST_CASE("schedule shows, proves and draws wavefronts of factorizations") {
  const TemporaryFolder folder;
  const Outcome lu = run_tesela({"schedule", "--order", "lu-wavefront", "--n", "6", "--svg", folder / "lu.svg"});
  CAPTURE(lu.out, lu.err);
  REQUIRE(lu.code == 0);
  CHECK_THAT(lu.out, ContainsSubstring("   1 |  1  2  3  4  5  6\n   2 |  2  3  4  5  6  7\n"));
  CHECK_THAT(lu.out, ContainsSubstring("stages     11\nentries    36 = 1 + 2 + 3 + 4 + 5 + 6 + 5 + 4 + 3 + 2 + 1\n"));
  CHECK_THAT(lu.out, ContainsSubstring("processors 6, busy 54.5 % of the time\nlegal      yes\n"));
  CHECK_THAT(contents(folder / "lu.svg"), ContainsSubstring("lu-wavefront, 6 x 6: 36 entries in 11 stages"));
  const Outcome cholesky = run_tesela({"schedule", "--order", "cholesky-wavefront", "--n", "6", "--json", "-"});
  REQUIRE(cholesky.code == 0);
  const auto report = nlohmann::json::parse(cholesky.out);
  CHECK(report["stages"] == 11);
  CHECK(report["entries"] == 21);
  CHECK(report["checks"]["legal"] == true);
  CHECK(report["entries_by_stage"] == std::vector<index_t>{1, 5, 1, 4, 1, 3, 1, 2, 1, 1, 1});
  CHECK(run_tesela({"schedule", "--order", "lu-wavefront", "--m", "5", "--n", "6"}).code == 2);
  CHECK(run_tesela({"schedule", "--order", "lu-wavefront", "--n", "1001"}).code == 2);
  CHECK(run_tesela({"schedule", "--order", "lu-wavefront", "--n", "0"}).code == 0);
  CHECK(run_tesela({"qr", "--n", "8", "--tree", "lu-wavefront"}).code == 2);
}

TEST_CASE("schedule writes the dependences of entries") {
  const TemporaryFolder folder;
  const auto dot_of = [&](const std::string& order, const std::string& m, const std::string& n) {
    REQUIRE(run_tesela({"schedule", "--order", order, "--m", m, "--n", n, "--dot", folder / "d.dot"}).code == 0);
    return contents(folder / "d.dot");
  };
  CHECK(dot_of("lu-wavefront", "2", "2") ==
        "digraph \"lu-wavefront\" {\n  rankdir=LR;\n  node [shape=box];\n  { rank=same; \"1,1\"; }\n"
        "  { rank=same; \"2,1\"; \"1,2\"; }\n  { rank=same; \"2,2\"; }\n"
        "  \"1,1\" -> \"2,1\";\n  \"1,2\" -> \"2,2\";\n  \"2,1\" -> \"2,2\";\n}\n");
  CHECK_THAT(dot_of("cholesky-wavefront", "3", "3"), ContainsSubstring("\"3,1\" -> \"3,2\";\n  \"3,2\" -> \"3,3\";"));
  CHECK_THAT(dot_of("diagonal", "3", "2"),
             ContainsSubstring("  \"2,1\" -> \"3,1\";\n  \"2,1\" -> \"3,2\";\n  \"3,1\" -> \"3,2\";\n"));
  CHECK_THAT(dot_of("greedy", "0", "0"), ContainsSubstring("digraph"));
  CHECK(run_tesela({"schedule", "--m", "200", "--n", "200", "--dot", folder / "large.dot"}).code == 2);
}

TEST_CASE("schedule of a staircase counts only its rotations and proves them") {
  const Outcome run = run_tesela({"schedule", "--staircase", "2,4,6,6,6", "--m", "6"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.out, ContainsSubstring("rotations  9 = 1 + 0 + 1 + 1 + 1 + 1 + 2 + 1 + 1\n"));
  CHECK_THAT(run.out, ContainsSubstring("legal      yes"));
  CHECK_THAT(run.out, !ContainsSubstring("tiles"));
  const Outcome greedy = run_tesela({"schedule", "--staircase", "2,4,6,6,6", "--order", "greedy", "--json", "-"});
  REQUIRE(greedy.code == 0);
  const auto report = nlohmann::json::parse(greedy.out);
  CHECK(report["problem"] == nlohmann::json{{"order", "greedy"}, {"m", 6}, {"n", 5}, {"staircase", {2, 4, 6, 6, 6}}});
  CHECK(report["rotations"] == 9);
  CHECK(report["stages"].get<int>() < 9);
  CHECK(run_tesela({"schedule", "--staircase", "2,7", "--m", "6"}).code == 2);
  CHECK(run_tesela({"schedule", "--staircase", "2,x"}).code == 2);
  CHECK(run_tesela({"schedule", "--staircase", "2,3", "--order", "lu-wavefront"}).code == 2);
}
