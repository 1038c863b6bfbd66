#include "tests/support/commands/process.hpp"
#include "tests/support/test.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/row_chart.hpp"

#include <set>

using namespace tesela::test;
using bench::Chart;
using bench::Row;

namespace {

Row row(const std::string& title, index_t n, const std::string& peer, double rate, int gpus = 1) {
  Row r;
  r.what = {title, 0, n, 0, "", "device", "GFLOP/s", "d"};
  r.timing.peer = peer;
  r.rate = rate;
  r.rate_low = rate * 0.9;
  r.rate_high = rate * 1.1;
  r.gpus = gpus;
  return r;
}

const Chart::Series& series(const Chart& chart, const std::string& name) {
  for (const Chart::Series& s : chart.series)
    if (s.name == name) return s;
  FAIL("no series " << name);
  return chart.series.front();
}

/// Returns the texts of an SVG drawn by gnuplot in their order: title, axes, key.
std::vector<std::string> texts(const std::string& svg) {
  std::vector<std::string> all;
  for (std::size_t at = 0; (at = svg.find("<text", at)) != std::string::npos;) {
    const std::size_t begin = svg.find('>', at) + 1, end = svg.find('<', begin);
    all.push_back(svg.substr(begin, end - begin));
    at = end;
  }
  return all;
}

}  // namespace

TEST_CASE("a plot redrawn from the CSV has the title, axes, scale and key of the first") {
  if (!installed("gnuplot")) SKIP("gnuplot is not installed");
  const TemporaryFolder folder;
  const Words benchmark =
      GENERATE(Words{"toeplitz", "--n", "20,40", "--peers", "tesela,lapack"}, Words{"overhead", "--tasks", "50"},
               Words{"gemm", "--n", "32,48,64", "--tile", "16"});
  const std::string name = benchmark.front();
  const Words options{"--repeat", "2", "--ncpu", "1", "--ncuda", "0", "--out", folder.path()};
  REQUIRE(run_tesela(Words{"bench"} + benchmark + options).code == 0);
  const std::string drawn = contents(folder / (name + ".svg"));
  std::filesystem::remove(folder / (name + ".svg"));
  const std::string csv = contents(folder / (name + ".csv"));
  std::ofstream(folder / (name + ".csv")) << "# tesela bench " << name << '\n' << csv;
  const Outcome again = run_tesela({"bench", "plot", folder / (name + ".csv")});
  CAPTURE(again.err);
  REQUIRE(again.code == 0);
  const std::vector<std::string> expected = texts(drawn);
  REQUIRE(expected.size() > 5);
  CHECK(texts(contents(folder / (name + ".svg"))) == expected);
}

TEST_CASE("two sizes are drawn as bars, three as a line, and numbers of GPUs as a line with a proportional one") {
  std::vector<Row> rows{row("n = 100", 100, "tesela", 5), row("n = 100", 100, "cublas", 4),
                        row("n = 200", 200, "tesela", 6), row("n = 200", 200, "cublas", 7)};
  Chart chart = bench::chart_of("gemm", rows, "1 NVIDIA H200");
  CHECK((chart.x.empty() && chart.categories == std::vector<std::string>{"n = 100", "n = 200"}));
  CHECK_THAT(chart.title, ContainsSubstring("dgemm") && ContainsSubstring("\n1 NVIDIA H200"));
  CHECK((chart.y_label == "GFLOP/s (median, min to max)" && !chart.logarithmic));
  CHECK((series(chart, "cublas").value == std::vector{4.0, 7.0} && series(chart, "cublas").low[1] == 7 * 0.9));

  rows.push_back(row("n = 1048576", 1048576, "tesela", 8));
  chart = bench::chart_of("gemm", rows, "");
  CHECK((chart.x == std::vector{100.0, 200.0, 1048576.0} && chart.x_label == "n" && !chart.ideal));
  CHECK(chart.categories.back() == "2²⁰");
  CHECK(std::isnan(series(chart, "cublas").value[2]));
  CHECK_THAT(bench::gnuplot_script(chart), ContainsSubstring("yerrorlines") && ContainsSubstring("set logscale x"));

  chart = bench::chart_of("toeplitz", {row("n = 9", 9, "tesela", 1, 4), row("n = 9", 9, "tesela", 0.4, 1)}, "");
  CHECK((chart.x == std::vector{1.0, 4.0} && chart.x_label == "GPUs" && chart.ideal && !chart.logarithmic));
  CHECK(series(chart, "tesela").value == std::vector{0.4, 1.0});
}

TEST_CASE("rows with the same place on a line are drawn as bars") {
  std::vector<Row> rows;
  for (const index_t n : {10, 20, 30})
    for (const char* interval : {"2 an interval", "5 an interval"})
      rows.push_back(row("n = " + std::to_string(n) + ", " + interval, n, "tesela", 1));
  const Chart chart = bench::chart_of("toeplitz-study", rows, "");
  CHECK((chart.x.empty() && chart.categories.size() == 6));
}

TEST_CASE("a single run is not labelled as a median") {
  Row one = row("n = 1", 1, "tesela", 5);
  one.rate_low = one.rate_high = one.rate;
  CHECK(bench::chart_of("givens", {one}, "").y_label == "Melement/s (one run)");
  one.what.rate_unit = "ms";
  const Chart times = bench::chart_of("givens", {one}, "");
  CHECK((times.y_label == "ms (one run)" && times.logarithmic));
}

TEST_CASE("a peer has one colour in all charts, and no two peers of a chart look the same") {
  for (const char* ours : {"tesela", "tuned", "chain 128", "diagonal 64"})
    CHECK(bench::color_of_peer(ours) == "#4c72b0");
  for (const char* theirs : {"cublas", "cusolver", "gtsv2"}) CHECK(bench::color_of_peer(theirs) == "#c44e52");
  for (const char* cores : {"openblas", "lapack"}) CHECK(bench::color_of_peer(cores) == "#55a868");
  CHECK(bench::color_of_peer("somebody").empty());

  std::vector<Row> rows;
  for (const char* peer : {"chain 128", "chain 128, in", "chain 128, out", "chain, band", "somebody", "cusolver"})
    rows.push_back(row("dense", 5, peer, 1));
  const Chart bars = bench::chart_of("givens", rows, "");
  std::set<std::string> colors;
  for (const Chart::Series& s : bars.series) colors.insert(s.color);
  CHECK(colors.size() == rows.size());
  CHECK(series(bars, "cusolver").color == "#c44e52");
}

TEST_CASE("labels that would overlap are slanted") {
  std::vector<Row> rows{row("heptadiagonal 5000", 1, "tesela", 1), row("dense 5000", 1, "tesela", 2)};
  CHECK_THAT(bench::gnuplot_script(bench::chart_of("givens", rows, "")), !ContainsSubstring("rotate"));
  for (const char* title :
       {"a matrix of many diagonals", "another one like it", "yet another of them", "the fourth here"})
    rows.push_back(row(title, 1, "tesela", 1));
  CHECK_THAT(bench::gnuplot_script(bench::chart_of("givens", rows, "")), ContainsSubstring("rotate"));
}

TEST_CASE("a CSV of no benchmark is refused with its place") {
  const TemporaryFolder folder;
  const auto plot = [&](const std::string& text) {
    std::ofstream(folder / "x.csv") << text;
    return run_tesela({"bench", "plot", folder / "x.csv"});
  };
  CHECK(plot("").code == 2);
  CHECK(plot("benchmark,case,peer,rate,median_s,min_s,max_s,n\n").code == 2);
  const Outcome cut = plot("benchmark,case,peer,rate,median_s,min_s,max_s,n\ngemm,n = 1,tesela,5\n");
  CHECK((cut.code == 2 && cut.err.find("line 2") != std::string::npos));
  CHECK(plot("# tesela bench gemm\n").code == 2);
  const Outcome below =
      plot("# tesela bench gemm\nbenchmark,case,peer,rate,median_s,min_s,max_s,n\ngemm,n = 1,tesela,5\n");
  CHECK((below.code == 2 && below.err.find("line 3") != std::string::npos));
  const Outcome bad = plot("benchmark,case,peer,rate,median_s,min_s,max_s,n\ngemm,n = 1,tesela,fast,1,1,1,1\n");
  CHECK((bad.code == 2 && bad.err.find("rate") != std::string::npos));
}

TEST_CASE("rows of the Toeplitz study become Figures 11 to 14 of their source") {
  const auto measured = [](index_t n, index_t interval, const std::string& peer, double seconds, double tolerance) {
    Row r = row("n = " + std::to_string(n), n, peer, 100);
    r.what.k = interval;
    r.what.precision = "s";
    r.timing.seconds = {seconds};
    r.more = {{"tolerance", tolerance}, {"right_percent", 60}, {"intervals", 50},
              {"converged", 40},        {"relaunched", 10},    {"mean_attempts", 1.5}};
    return r;
  };
  std::vector<Row> rows;
  for (const index_t n : {600, 2000}) {
    rows.push_back(measured(n, 2, "cores, as in the source", 6, 0.1));
    rows.push_back(measured(n, 2, "GPU, as in the source", 2, 0.1));
    for (const double tolerance : {1e-1, 1e-4}) rows.push_back(measured(n, 2, "GPU, levinson", 2, tolerance));
  }
  const auto figures = bench::source_figures("toeplitz-study", rows);
  REQUIRE(figures.size() == 4);
  const Chart &speed_up = figures[0].chart, &found = figures[1].chart, &intervals = figures[2].chart,
              &attempts = figures[3].chart;
  CHECK((figures[0].name == "figure-11" && figures[3].name == "figure-14"));
  CHECK(speed_up.x == std::vector<double>{600, 800, 1000, 1200, 1400, 1600, 1800, 2000});
  CHECK(speed_up.series.size() == 6);  // five of Table 5, and ours
  CHECK(std::abs(series(speed_up, "2, the source").value.back() - 1653.63 / 1409.37) < 1e-12);
  CHECK(std::abs(series(speed_up, "50, the source").value.front() - 3.81 / 3.22) < 1e-12);
  CHECK((series(speed_up, "2, ours").value.front() == 3 && std::isnan(series(speed_up, "2, ours").value[1])));
  CHECK((found.x == std::vector<double>{1, 4} && series(found, "n = 2000").value == std::vector<double>{60, 60}));
  CHECK(series(intervals, "2, converged").value == std::vector<double>{80, 80});
  CHECK(series(intervals, "2, searched again").value == std::vector<double>{20, 20});
  CHECK(series(attempts, "2").value == std::vector<double>{1.5, 1.5});
  CHECK(bench::source_figures("gemm", rows).empty());
  rows.push_back(measured(1000, 2, "cores, as in the source", 6, 0.1));  // one order more than on the GPU
  CHECK(bench::source_figures("toeplitz-study", rows)[3].chart.x == std::vector<double>{600, 1000, 2000});
  rows.resize(1);
  CHECK(bench::source_figures("toeplitz-study", rows).empty());
}

TEST_CASE("rows of the tables of rotations become Figures 6.1 to 6.16 of their source") {
  const auto measured = [](const std::string& title, index_t n, const std::string& peer, double seconds) {
    Row r = row(title, n, peer, 100);
    r.timing.seconds = {seconds};
    return r;
  };
  const std::vector<Row> rows{measured("Table 6.2: tridiagonal 5000", 5000, "chain", 0.5),
                              measured("Table 6.2: tridiagonal 700", 700, "chain", 0.1),
                              measured("Table 6.17: heptadiagonal 6000", 6000, "chain", 0.7)};
  const auto figures = bench::source_figures("givens-study", rows);
  REQUIRE(figures.size() == 2);
  CHECK((figures[0].name == "figure-6.2" && figures[1].name == "figure-6.16"));  // Table 6.8 has no figure
  const Chart& chart = figures[0].chart;
  CHECK(chart.x == std::vector<double>{700, 5000, 6000, 7000, 8000, 9000, 10000, 12000, 15000, 18000, 20000});
  CHECK(chart.series.size() == 6);  // five columns of the table, and ours
  CHECK((series(chart, "K20X").dashed && series(chart, "K20X").value[1] == 7.6315));
  CHECK((std::isnan(series(chart, "K20X").value[0]) && std::isnan(series(chart, "GTX 640").value.back())));
  CHECK((!series(chart, "chain").dashed && series(chart, "chain").value[1] == 0.5));
  CHECK(figures[1].chart.x == std::vector<double>{6000, 8000, 10000, 12000});
}

TEST_CASE("rows of the tridiagonal study become Figure 10 of the cyclic reduction paper") {
  std::vector<Row> rows;
  for (const char* const peer : {"thomas", "cr", "cr, on device"})
    for (const index_t n : {1024, 524288}) {
      rows.push_back(row("Ki", n, peer, 1));
      rows.back().what.precision = "s";
      rows.back().timing.seconds = {1e-6 * static_cast<double>(n)};
    }
  const auto figures = bench::source_figures("tridiag-study", rows);
  REQUIRE(figures.size() == 1);
  CHECK(figures[0].name == "figure-10");
  CHECK(figures[0].chart.x == std::vector<double>{1, 512});
  CHECK(figures[0].chart.series.size() == 2);
  CHECK(std::abs(series(figures[0].chart, "thomas").value.back() - 524.288) < 1e-9);
}
