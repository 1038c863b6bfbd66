#include "tests/support/commands/command.hpp"
#include "tests/support/files.hpp"

#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

const Command pca{{"pca"}};

std::string table(const TemporaryFolder& folder) {
  std::string text = "height,species,weight,\"odd name\"\n";
  for (int i = 1; i <= 30; ++i) {
    const double x = std::sin(2.0 * i), y = std::cos(3.0 * i);
    text += std::to_string(3 + x) + (i % 2 == 0 ? ",a," : ",b,") + std::to_string(5 + 2 * x + 0.1 * y) + "," +
            std::to_string(y) + "\n";
  }
  return file_in(folder, "data.csv", text + ",a,1,2\n");
}

}  // namespace

TEST_CASE("a table's columns of numbers have principal components with names") {
  const TemporaryFolder folder;
  const std::string svg = folder / "v.svg", scores = folder / "s.npy", loadings = folder / "l.npy";
  for (const bool scale : {false, true})
    for (const char* const precision : {"d", "s"}) {
      Words words{table(folder), "--svg", svg, "--out", scores, "--out-loadings", loadings, "-p", precision};
      if (scale) words.push_back("--scale");
      const auto report = pca(words);
      CAPTURE(report.dump());
      CHECK(report["status"] == "ok");
      CHECK(report["problem"]["dropped_rows"] == 1);
      CHECK(report["columns"].size() == 3);
      CHECK(report["columns"][2]["name"] == "odd name");
      CHECK_THAT(report["notes"].dump(), ContainsSubstring("species"));
      CHECK(std::abs(report["components"][2]["cumulative"].get<double>() - 1) <= 1e-5);
      CHECK(report["components"][0]["share"] > report["components"][1]["share"]);
      CHECK(read_matrix<double>(scores).shape() == Shape{30, 3});
      CHECK(read_matrix<double>(loadings).shape() == Shape{3, 3});
      CHECK(contents(svg).find("</svg>") != std::string::npos);
    }
}

TEST_CASE("a formula selects and transforms columns") {
  const TemporaryFolder folder;
  const auto report = pca({table(folder), "~ height + log(weight)", "--components", "1"});
  CHECK(report["columns"].size() == 2);
  CHECK(report["columns"][1]["name"] == "log(weight)");
  CHECK(report["components"].size() == 1);
  for (const Words& wrong : {Words{"y ~ height"}, {"~ heights"}, {"~ height", "--components", "2"}})
    CHECK(run_tesela(Words{"pca", table(folder)} + wrong).code == 2);
  for (const auto& [formula, place] : {std::pair{"~ heights", "line 1, column 3"},
                                       {"heights", "line 1, column 1"},
                                       {" ~ height + log(weight) + )", "line 1, column 27"}})
    CHECK_THAT(run_tesela({"pca", table(folder), formula}).err, ContainsSubstring(place));
}

TEST_CASE("a file without names, in memory and by rows") {
  const TemporaryFolder folder;
  const std::string npy = folder / "a.npy", mtx = folder / "a.mtx";
  for (const std::string& file : {npy, mtx})
    REQUIRE(run_tesela({"generate", "--m", "2000", "--n", "6", "--out", file}).code == 0);
  const auto rows = pca({"-a", npy, "--out", folder / "s.npy"}), memory = pca({"-a", mtx});
  CHECK(rows["problem"]["streamed"] == true);
  CHECK(!memory["problem"].contains("streamed"));
  for (std::size_t c = 0; c < 6; ++c)
    CHECK(std::abs(rows["components"][c]["deviation"].get<double>() -
                   memory["components"][c]["deviation"].get<double>()) <= 1e-13);
  REQUIRE(run_tesela({"generate", "--m", "5", "--n", "9", "--out", mtx}).code == 0);
  CHECK(pca({"-a", mtx})["components"].size() == 5);
}

TEST_CASE("tables without principal components") {
  const TemporaryFolder folder;
  const std::string constant = file_in(folder, "c.csv", "x,y\n1,2\n1,3\n1,5\n");
  CHECK(pca({constant})["status"] == "ok");
  CHECK_THAT(run_tesela({"pca", constant, "--scale"}).err, ContainsSubstring("column 1 is constant"));
  for (const std::string& text :
       {std::string("x\n1\n"), std::string("x\n"), std::string("x\na\nb\n"), std::string("x\nNA\nNA\n")})
    CHECK(run_tesela({"pca", file_in(folder, "t.csv", text)}).code == 2);
  CHECK(run_tesela({"pca"}).code == 2);
  CHECK(run_tesela({"pca", constant, "-a", constant}).code == 2);
}
