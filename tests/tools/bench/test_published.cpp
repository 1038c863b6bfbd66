#include "tools/bench/harness/published.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <map>
#include <string>

using namespace tesela;
using namespace tesela::bench;

namespace {

struct Sum {
  int figures = 0;
  double sum = 0;
};

bool near(double a, double b, double relative) { return std::abs(a - b) <= relative * std::abs(b); }

}  // namespace

TEST_CASE("each table of the sources has all its figures, with the printed sum") {
  // Sums of the printed cells, from the sources' texts.
  const std::map<std::string, Sum> print{{"cinvestav-2014 1.1", {22, 1411.55 + 2823.13}},
                                         {"cinvestav-2014 6.1", {36, 49501.0726896}},
                                         {"cinvestav-2014 6.2", {46, 1212.2559}},
                                         {"cinvestav-2014 6.3", {46, 1216.0449}},
                                         {"cinvestav-2014 6.4", {46, 1216.2561}},
                                         {"cinvestav-2014 6.5", {40, 1171.5778}},
                                         {"cinvestav-2014 6.6", {40, 1174.7059}},
                                         {"cinvestav-2014 6.7", {40, 1175.3306}},
                                         {"cinvestav-2014 6.8", {4, 4.947 + 4946 + 66.9 + 48859}},
                                         {"cinvestav-2014 6.9", {18, 2739.566501}},
                                         {"cinvestav-2014 6.10", {18, 2746.995407}},
                                         {"cinvestav-2014 6.11", {18, 2754.792912}},
                                         {"cinvestav-2014 6.12", {18, 564.6972026}},
                                         {"cinvestav-2014 6.13", {18, 567.057586}},
                                         {"cinvestav-2014 6.14", {18, 569.7023757}},
                                         {"cinvestav-2014 6.15", {12, 293.9193625}},
                                         {"cinvestav-2014 6.16", {12, 294.2930685}},
                                         {"cinvestav-2014 6.17", {12, 295.190621}},
                                         {"gracia-gil-2010 5", {80, 8567.67 + 7390.35}},
                                         {"caceres-2017 sums", {9, 2819.06 + 2833.67 + 148.25}},
                                         {"caceres-2017 products", {14, 223.072 + 83.868 + 212.836 + 51.181 + 56.487}},
                                         {"caceres-2017 screens", {5, 0.046432 + 8890.048828 + 47597.455078}},
                                         {"caceres-2017 text", {1, 23}},
                                         {"cyclic-reduction-2010 1", {16, 16}},
                                         {"cyclic-reduction-2010 2", {8, 8}},
                                         {"cyclic-reduction-2010 3", {15, 5.713 + 6.380 + 6.995}},
                                         {"cyclic-reduction-2010 text", {1, 256}},
                                         {"ramiro-2010 3.1", {21, 602.233}},
                                         {"ramiro-2010 4.1", {24, 805184440.46}},
                                         {"ramiro-2010 4.2", {20, 439558109.17}},
                                         {"ramiro-2010 4.3", {52, 65.565996}},
                                         {"ramiro-2010 4.4", {44, 171.03}},
                                         {"ramiro-2010 5.1", {10, 56.742 + 89.01}},
                                         {"ramiro-2010 5.2", {12, 160.043 + 208.42}},
                                         {"ramiro-2010 5.3", {36, 1772.236 + 1224.003 + 740.825}}};
  std::map<std::string, Sum> held;
  for (const Figure& f : published_figures()) {
    Sum& table = held[std::string(f.source) + " " + std::string(f.table)];
    ++table.figures;
    table.sum += f.value;
    CAPTURE(f.source, f.table, f.row, f.column, f.n);
    CHECK((f.value > 0 && !f.section.empty() && !f.quantity.empty() && !f.unit.empty()));
  }
  CHECK(held.size() == print.size());
  for (const auto& [table, expected] : print) {
    CAPTURE(table, held[table].figures, held[table].sum);
    CHECK(held[table].figures == expected.figures);
    CHECK(near(held[table].sum, expected.sum, 1e-9));
  }
}

TEST_CASE("single columns of the sources have the printed sums") {
  const auto sum = [](std::string_view source, std::string_view table, std::string_view row, std::string_view column) {
    double total = 0;
    for (const Figure& f : published_figures())
      if (f.source == source && f.table == table && (row.empty() || f.row == row) && f.column == column)
        total += f.value;
    return total;
  };
  const std::string_view gil = "gracia-gil-2010";
  CHECK(near(sum(gil, "5", "2 per interval", "CPU"), 3883.59, 1e-12));
  CHECK(near(sum(gil, "5", "100 per interval", "CPU"), 198.56, 1e-12));
  CHECK(near(sum(gil, "5", "5 per interval", "GPU"), 2031.37, 1e-12));
  CHECK(near(sum(gil, "5", "50 per interval", "GPU"), 269.66, 1e-12));
  CHECK(near(sum("cyclic-reduction-2010", "3", "", "RC-GPU-C"), 6.995, 1e-12));
  CHECK(near(sum("caceres-2017", "sums", "column", "1 thread"), 148.25, 1e-12));
  CHECK(near(sum("ramiro-2010", "5.3", "", "CULA-MES"), 740.825, 1e-12));
}

TEST_CASE("speed-ups and sizes that the sources print agree with their times and orders") {
  int ratios = 0, sizes = 0;
  for (const Figure& f : published_figures()) {
    CAPTURE(f.source, f.table, f.row, f.column, f.n);
    if (f.quantity == "speed-up") {
      const double alone = published_value({f.source, f.table, f.row, "sequential", f.n}),
                   time = published_value({f.source, f.table, f.row, f.column, f.n});
      CHECK(std::abs(f.value - alone / time) <= 0.02 + 0.015 * f.value);
      ++ratios;
    }
    if (f.table == "1.1") {  // digits after the second are cut off
      const double bytes = static_cast<double>(f.n) * static_cast<double>(f.n) * (f.precision == "s" ? 4 : 8);
      CHECK(std::floor(100 * bytes / (f.unit == "MB" ? 1 << 20 : 1 << 30)) == std::round(100 * f.value));
      ++sizes;
    }
  }
  CHECK((ratios == 7 + 20 + 20 && sizes == 22));
}

TEST_CASE("a figure is found by its names and only where it compares") {
  CHECK(published_value({.source = "caceres-2017", .table = "products", .row = "naive 32", .n = 8000}) == 31.243);
  CHECK(published_value({.source = "caceres-2017", .table = "products", .row = "shared 32", .n = 10000}) == 0);
  CHECK(published_value({.source = "caceres-2017", .table = "nothing"}) == 0);
  CHECK(published_value({.table = "6.8", .n = 100, .quantity = "iterations"}) == 48859);
  CHECK(published_value({.table = "6.15", .column = "C2070 and GTX 640", .n = 12000, .precision = "d"}) == 27.5913185);
  const std::string_view column = "RC-GPU-S";
  CHECK(published_value({.table = "3", .column = column, .n = 524288, .quantity = "ratio"}) == 1.193);
  CHECK(published_value({.table = "3", .column = column, .n = 1000, .quantity = "ratio"}) == 0);

  CHECK(published_chain_seconds("s", "dense", 8000, "chain 128", 1) == 43.24792);
  CHECK(published_chain_seconds("s", "tridiagonal", 8000, "chain 32", 1) == 14.5967);
  CHECK(published_chain_seconds("d", "tridiagonal", 5000, "chain 128", 1) == 7.8342);
  CHECK(published_chain_seconds("d", "heptadiagonal", 5000, "chain 128", 1) == 7.8865);
  CHECK(published_chain_seconds("s", "tridiagonal", 20000, "lapack", 1) == 96.9515);
  // Two GPUs are compared with two, and a precision with the same one.
  CHECK(published_chain_seconds("s", "tridiagonal", 10000, "chain 128", 2) == 38.045183);
  CHECK(published_chain_seconds("s", "tridiagonal", 20000, "chain 128", 2) == 148.3730815);
  CHECK(published_chain_seconds("s", "dense", 10000, "chain 128", 2) == 0);
  CHECK(published_chain_seconds("d", "tridiagonal", 10000, "chain 128", 2) == 0);
  CHECK(published_chain_seconds("s", "tridiagonal", 10000, "chain 128", 4) == 0);
  CHECK(published_chain_seconds("d", "dense", 8000, "chain 128", 1) == 0);
  // Transfers and band storage have no figure.
  CHECK(published_chain_seconds("s", "dense", 8000, "chain 128, in", 1) == 0);
  CHECK(published_chain_seconds("s", "tridiagonal", 8000, "chain, band", 1) == 0);
  CHECK(published_chain_seconds("s", "tridiagonal", 8000, "cusolver", 1) == 0);
}

TEST_CASE("Equation 8 of Graciá Gil 2010: its sum is 9 n / 2 less than its closed form") {
  for (const long n : {2L, 3L, 600L, 2000L}) {
    long accesses = 0;  // in step k: 2 k and 3 k numbers for x, 2 k twice for y
    for (long k = 1; k < n; ++k) accesses += 5 * k + 4 * k;
    accesses += -4 * (n - 1) + 6 * n;  // no y in the last step; scaling, and the cached numbers
    CHECK(2 * accesses == 9 * n * n - 5 * n + 8);
    const long printed = 9 * n * n + 4 * n + 8;
    CHECK(printed - 2 * accesses == 9 * n);
  }
}
