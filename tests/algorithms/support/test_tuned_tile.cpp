#include "tests/support/commands/command.hpp"
#include "tests/support/files.hpp"
#include <tesela/algorithms/support/tuned_tile.hpp>
#include <tesela/runtime/errors.hpp>

using namespace tesela::test;

TEST_CASE("a file of tuned tiles is read as it was written, and a wrong line is named") {
  const TemporaryFolder folder;
  const std::string path = folder / "tuned.csv";
  CHECK(read_tuned_tiles(path).empty());
  put(path, to_csv(std::vector<TunedTile>{{"qr", 2, 0, {300, 200}, {64, 32}}, {"lu", 14, 1, {9, 9}, {9, 8}}}));
  const std::vector<TunedTile> read = read_tuned_tiles(path);
  REQUIRE(read.size() == 2);
  CHECK(read[0].algorithm == "qr");
  CHECK((read[0].shape == Shape{300, 200} && read[0].tile.mb == 64 && read[0].tile.nb == 32 && read[0].cores == 2));
  CHECK((read[1].gpus == 1 && read[1].tile.mb == 9 && read[1].tile.nb == 8));
  for (const char* wrong : {"qr,2,0,300,200,64\n", "qr,2,0,300,200,64,32,1\n", "qr,2,0,300,200,0,32\n", "qr\n"}) {
    put(path, to_csv(std::vector<TunedTile>{}) + wrong);
    CHECK_THROWS_AS(read_tuned_tiles(path), FileError);
  }
  put(path, "qr,2\n");
  CHECK_THROWS_AS(read_tuned_tiles(path), FileError);
  CHECK_THROWS_AS(read_tuned_tiles("/dev/null"), FileError);
}

TEST_CASE("commands cut by the tuned tile of their shape and workers, and --tile wins") {
  const TemporaryFolder folder;
  const std::string path = folder / "tuned.csv";
  put(path, to_csv(std::vector<TunedTile>{{"qr", 1, 0, {300, 200}, {96, 48}},
                                          {"cholesky", 1, 0, {300, 300}, {50, 50}},
                                          {"lu", 1, 0, {300, 300}, {300, 25}}}));
  const ProcessOptions tuned{.environment = {{"TESELA_TUNED", path}}};
  const auto problem = [&](const Words& command, const Words& options = {}) {
    return Command{command}(Words{"--ncuda", "0", "--ncpu", "1"} + options, 0, tuned)["problem"];
  };
  const auto qr = problem({"qr", "--m", "300", "--n", "200"});
  CHECK((qr["mb"] == 96 && qr["nb"] == 48));
  CHECK(problem({"qr", "--m", "300", "--n", "200"}, {"--tile", "64x32"})["nb"] == 32);
  CHECK(problem({"qr", "--m", "301", "--n", "200"})["nb"] != 48);
  CHECK(problem({"cholesky", "--n", "300"})["mb"] == 50);
  CHECK(problem({"lu", "--n", "300"})["nb"] == 25);
  put(path, "wrong\n");
  const Outcome run = run_tesela({"qr", "--n", "100", "--ncuda", "0"}, tuned);
  CHECK(run.code == 2);
  CHECK_THAT(run.err, ContainsSubstring("tuned.csv"));
}
