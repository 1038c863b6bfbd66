#include "tests/support/commands/sem_command.hpp"
#include <tesela/algorithms/econometrics/generated_model.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <cstdio>
#include <fstream>

using namespace tesela::test;

// `tesela sem` with .npy files, which it reads by rows.

TEST_CASE("data in a .npy file have names from a file") {
  const TemporaryFolder folder;
  const Words market = example_files("food_market");
  std::ifstream in(market[1]);
  std::string line;
  std::getline(in, line);
  HostMatrix<double> data(20, 5);
  for (index_t t = 0; t < 20; ++t) {
    std::getline(in, line);
    REQUIRE(std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf,%lf", &data(t, 0), &data(t, 1), &data(t, 2), &data(t, 3),
                        &data(t, 4)) == 5);
  }
  write_matrix(folder / "d.npy", data);
  std::ofstream(folder / "names") << "consump\nprice\nincome\nfarmPrice\ntrend\n";
  std::ofstream(folder / "few") << "consump\nprice\n";
  const Words npy{"--data", folder / "d.npy", "--model", market[3]};
  const auto a = sem(market), b = sem(npy + Words{"--names", folder / "names"});
  CHECK(b["problem"]["streamed"] == true);
  CHECK(a["equations"] == b["equations"]);
  sem.refuses(npy, "--names");
  // A name of two columns is refused if the model uses it; the columns after it keep their places.
  const auto named = [&](const char* names, const char* formula) {
    std::ofstream(folder / "names") << names;
    return Words{"--data", folder / "d.npy", "--names", folder / "names", "--model", formula, "--method", "ols"};
  };
  for (const Words& some : {Words{}, Words{"--cov", "robust"}})
    sem.refuses(named("consump\nprice\nincome\nprice\ntrend\n", "consump ~ price") + some,
                "names: two columns are called price");
  CHECK(sem(named("trend\ntrend\nincome\nfarmPrice\nconsump\n", "consump ~ income"))["equations"] ==
        sem(named("trend\nother\nincome\nfarmPrice\nconsump\n", "consump ~ income"))["equations"]);
  std::ofstream(folder / "names") << "consump\nprice\nincome\nfarmPrice\ntrend\n";
  sem.refuses(npy + Words{"--names", folder / "few"}, "d.npy has no column income");
  sem.refuses(market + Words{"--names", folder / "names"}, "no CSV takes it");
}

TEST_CASE("data read by rows give the same estimates and fitted values, and options that hold all data are refused") {
  const TemporaryFolder folder;
  const Words sizes{"--samples", "1500", "--endogenous", "4", "--exogenous", "200", "--included", "6"};
  const Words outputs{"--out-fitted", folder / "f.csv", "--out-model", folder / "m.txt"};
  for (const char* method : {"2sls", "3sls", "ols"}) {
    const auto held = sem(sizes + Words{"--method", method});
    const auto rows = sem(sizes + outputs + Words{"--method", method, "--rows-at-once", "400"});
    CHECK(held["problem"]["streamed"] == false);
    CHECK(rows["problem"]["streamed"] == true);
    CHECK(check(rows, "truth_error") > 0);
    for (const char* number : {"estimate", "std_error", "low"}) CHECK(apart(held, rows, number) <= 1e-12);
  }
  sem(sizes + Words{"--out-data", folder / "d.csv"});
  const std::string fitted = contents(folder / "f.csv");
  CHECK(std::count(fitted.begin(), fitted.end(), '\n') == 1501);

  // The same numbers from a file with another order of columns and an unused column.
  const GeneratedModel m = generate_model({1500, 4, 200, 6, 0.1}, 1);
  HostMatrix<double> data(1500, 204);
  std::ofstream names(folder / "names");
  for (index_t c = 0; c < 204; ++c) {
    const index_t from = 203 - c;
    for (index_t t = 0; t < 1500; ++t) data(t, c) = from == 0 ? 7 : m.data(t, from);
    names << (from == 0 ? "unused" : m.names[static_cast<std::size_t>(from)]) << "\n";
  }
  names.close();
  write_matrix(folder / "d.npy", data);
  const Words npy{"--data", folder / "d.npy", "--names", folder / "names", "--model", folder / "m.txt"};
  const auto expected = sem({"--data", folder / "d.csv", "--model", folder / "m.txt"});
  for (const Words& some : {Words{}, Words{"--rows-at-once", "301"}}) {
    const auto found = sem(npy + some);
    CHECK(found["problem"]["streamed"] == true);
    CHECK(apart(found, expected) <= 1e-12);
  }
  CHECK(sem(npy + Words{"--cov", "robust"})["problem"]["streamed"] == false);
  // A selection of columns finds the constant one; a column that is constant only at first does not count.
  for (index_t t = 0; t < 1500; ++t) data(t, 2) = t < 1400 ? 3 : 5, data(t, 5) = 7, data(t, 203) = data(t, 9);
  HostMatrix<double> S = HostMatrix<double>::zeros(4, 204);
  for (index_t i = 0; i < 4; ++i) S(i, 5) = S(i, 2) = S(i, 100 + i) = 1;
  write_matrix(folder / "e.npy", data);
  write_matrix(folder / "s.npy", S);
  const auto selected = sem({"--data", folder / "e.npy", "--select", folder / "s.npy", "--method", "ols"});
  CHECK(selected["problem"]["streamed"] == true);
  std::ofstream(folder / "select.txt") << "x201 ~ x3 + x101\nx202 ~ x3 + x102\nx203 ~ x3 + x103\n";
  std::ofstream numbered(folder / "numbers");
  for (int c = 1; c <= 204; ++c) numbered << 'x' << c << "\n";
  numbered.close();
  const auto formulas = sem(
      {"--data", folder / "e.npy", "--names", folder / "numbers", "--model", folder / "select.txt", "--method", "ols"});
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(std::abs(selected["equations"][i]["r2"].get<double>() - formulas["equations"][i]["r2"].get<double>()) <=
          1e-12);
  sem.refuses(npy + Words{"--rows-at-once", "10", "--cov", "robust"}, "which hold the data");
  sem.refuses(sizes + Words{"--rows-at-once", "10", "--cov", "robust"}, "which hold the data");
  sem.refuses(example_files("food_market") + Words{"--rows-at-once", "10"}, "belongs to a .npy file");
  std::ofstream(folder / "lags.txt") << "y1 ~ lag(y2)\ninstruments: ~ x1\n";
  Words lags = npy + Words{"--rows-at-once", "10"};
  lags[5] = folder / "lags.txt";
  sem.refuses(lags, "goes without functions and products of columns");
}

TEST_CASE("in a .npy file NaN is missing, and an infinity is refused with its place") {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, int rows, double inserted, const auto& where) {
    std::ofstream npy(folder / name, std::ios::binary);
    std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", 3), }";
    header.resize(117, ' ');
    npy << std::string("\x93NUMPY\x01\0\x76\0", 10) << header << '\n';
    for (int k = 0; k < 3 * rows; ++k) {
      const double x = k % 3 == 1 && where(k / 3) ? inserted : std::sin(0.01 * k * k);
      npy.write(reinterpret_cast<const char*>(&x), sizeof x);
    }
  };
  const auto some_rows = [](int row) { return row % 41 == 31; };
  write("nan.npy", 2000, std::nan(""), some_rows), write("inf.npy", 50, HUGE_VAL, some_rows);
  write("all.npy", 40, std::nan(""), [](int) { return true; });
  std::ofstream(folder / "names") << "a\nb\nc\n";
  std::ofstream(folder / "with.txt") << "a ~ b + c\n";
  std::ofstream(folder / "without.txt") << "a ~ c\n";
  std::ofstream csv(folder / "d.csv");
  csv.precision(17);
  csv << "a,b,c\n";
  for (int k = 0; k < 6000; ++k) {
    if (k % 3 == 1 && some_rows(k / 3))
      csv << ".,";
    else
      csv << std::sin(0.01 * k * k) << (k % 3 == 2 ? "\n" : ",");
  }
  csv.close();
  const Words ols{"--method", "ols", "--out-residuals", folder / "r.csv"},
      npy = ols + Words{"--names", folder / "names"}, data{"--data", folder / "nan.npy"},
      with{"--model", folder / "with.txt"}, without{"--model", folder / "without.txt"};
  const auto expected = sem(ols + with + Words{"--data", folder / "d.csv"});
  CHECK(expected["problem"]["dropped_rows"] == 49);
  const std::string residuals = contents(folder / "r.csv");
  CHECK(std::count(residuals.begin(), residuals.end(), '\n') == 2001);  // one line for each row
  const auto same = [&](const nlohmann::json& found, const char* number) {
    CHECK(found["problem"]["dropped_rows"] == 49);
    CHECK(found["problem"]["observations"] == 1951);
    CHECK(apart(found, expected, number, true) <= 1e-11);
    CHECK(check(found, "normal_residual") <= 1e-14);
    const std::string own = contents(folder / "r.csv");
    CHECK(std::count(own.begin(), own.end(), '\n') == 2001);
    CHECK(std::count(own.begin(), own.end(), 'N') == 49);
  };
  for (const Words& some : {Words{}, Words{"--rows-at-once", "7"}, Words{"--rows-at-once", "1501"}}) {
    const auto found = sem(npy + data + with + some);
    CHECK(found["problem"]["streamed"] == true);
    same(found, "std_error");
    CHECK(sem(npy + data + without + some)["problem"]["dropped_rows"] == 0);
  }
  same(sem(npy + data + with + Words{"--cov", "cluster:c"}), "estimate");  // held in memory
  std::ofstream(folder / "s.mtx") << "%%MatrixMarket matrix array real general\n1 3\n1\n1\n0\n";
  const auto selected = sem(ols + data + Words{"--select", folder / "s.mtx"});
  CHECK(selected["problem"]["dropped_rows"] == 49);
  CHECK(selected["problem"]["observations"] == 1951);
  for (const Words& some : {Words{"--rows-at-once", "7"}, Words{"--cov", "robust"}}) {
    const Words held = some[0] == "--cov" ? Words{} : some, refused{"--missing", "error"};
    sem.refuses(npy + data + with + some + refused,
                some[0] == "--cov" ? "row 32: b is missing" : "[31, 1] (from zero) is NaN");
    sem.refuses(npy + Words{"--data", folder / "inf.npy"} + with + some, "[31, 1] (from zero) is infinite");
    sem(npy + Words{"--data", folder / "inf.npy"} + without + held);
  }
  for (const Words& some : {Words{}, Words{"--cov", "robust"}})
    sem.refuses(npy + Words{"--data", folder / "all.npy"} + with + some, "all.npy: has no row with all values");
}

TEST_CASE("data read by rows need little memory") {
  const TemporaryFolder folder;
  const auto most = [] {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
  };
  const Words sizes{"--endogenous", "4", "--exogenous", "36", "--included", "5", "--rows-at-once", "8192"};
  sem(sizes + Words{"--samples", "1000", "--out-model", folder / "m.txt"});
  const double before = most();
  const index_t D = 250000;  // 80 MB
  sem(sizes + Words{"--samples", std::to_string(D)});
  CHECK(most() - before <= 40e6);
  const GeneratedModel m = generate_model({D, 4, 36, 5, 0.1}, 1);
  write_matrix(folder / "d.npy", m.data);
  std::ofstream names(folder / "names");
  for (const std::string& name : m.names) names << name << "\n";
  names.close();
  sem({"--data", folder / "d.npy", "--names", folder / "names", "--model", folder / "m.txt"});
  CHECK(most() - before <= 40e6 + 8 * static_cast<double>(m.data.size()));  // pages of the file count, too
}
