#include "tests/support/commands/process.hpp"
#include "tools/bench/mimo/mimo_rows.hpp"
#include "tools/checks/mimo/mimo_error.hpp"
#include <tesela/tiles/generator.hpp>

#include <nlohmann/json.hpp>

#include <map>
#include <utility>

using namespace tesela::test;

namespace {

/// Returns a random upper triangle; without full rank if `dependent`.
HostMatrix<double> triangle(index_t n, bool dependent) {
  const Generator<double> normal{.pattern = Pattern::normal, .seed = 5};
  HostMatrix<double> r = HostMatrix<double>::zeros(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) r(i, j) = dependent && i == 1 ? 0 : normal.normal(i, j);
  return r;
}

/// Returns (c, s) of one number (Ramiro Sánchez 2010, Algorithm 4.11).
std::pair<double, double> rotation_of(double p) {
  if (p == 0) return {0, 1};
  if (std::abs(p) < 1) return {std::sqrt(1 - 4 * p * p), 2 * p};
  return {2 / p, std::sqrt(1 - 4 / p / p)};
}

}  // namespace

TEST_CASE("tables of rotations have the triangles of all orders, and their numbers restore H P") {
  for (const index_t n : {2, 4, 6})
    for (const bool dependent : {false, true}) {
      const HostMatrix<double> r = triangle(n, dependent);
      const auto all = static_cast<index_t>(std::tgamma(static_cast<double>(n + 1)) + 0.5);
      std::vector<double> packed(static_cast<std::size_t>(n * n * all));
      bench::rotation_table(r, packed.data());
      const auto at = [&](index_t k, index_t i, index_t j) {
        return packed[static_cast<std::size_t>(k * n * n + i + j * n)];
      };
      CHECK(triangles_error(at, r, all) < 1e-15 * static_cast<double>(n * n));
      CHECK(triangles_error([&](index_t k, index_t i, index_t j) { return at(k, i, j) * (k == all - 1 ? 1.001 : 1); },
                            r, all) > 1e-6);
      if (dependent) continue;  // a zero needs no rotation, and c = 0 has the same number
      // The last order is n - 1 … 0: the rotations backwards, from R.
      std::vector<double> a(static_cast<std::size_t>(n * n));
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i <= j; ++i) a[static_cast<std::size_t>(i + j * n)] = at(all - 1, i, j);
      for (index_t j = n - 1; j >= 0; --j)
        for (index_t i = j + 1; i < n; ++i) {
          const auto [c, s] = rotation_of(at(all - 1, i, j));
          for (index_t k = 0; k < n; ++k) {
            double &up = a[static_cast<std::size_t>(i - 1 + k * n)], &low = a[static_cast<std::size_t>(i + k * n)];
            const double one = c * up + s * low, other = c * low - s * up;
            up = one, low = other;
          }
        }
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < n; ++i)
          CHECK(std::abs(std::abs(a[static_cast<std::size_t>(i + j * n)]) - std::abs(r(i, n - 1 - j))) < 1e-13);
    }
}

TEST_CASE("bench mimo-orderings has each figure of Tables 4.1 to 4.4, with the bytes and times here") {
  const TemporaryFolder folder;
  const Outcome run = run_tesela({"bench", "mimo-orderings", "-n", "2,4", "--signals", "100000", "--repeat", "1",
                                  "--json", "-", "--out", folder.path(), "--ncuda", "0", "--ncpu", "2"});
  CAPTURE(run.out, run.err);
  REQUIRE(run.code == 0);
  std::map<std::string, nlohmann::json> peers;
  const nlohmann::json report = nlohmann::json::parse(run.out);
  for (const auto& row : report["peers"])
    peers[row["case"].get<std::string>() + ": " + row["peer"].get<std::string>()] = row;
  const auto remark = [&](const std::string& name) { return peers.at(name)["remark"].get<std::string>(); };
  CHECK(remark("memory, n = 4, Table 4.1: Qi Ri") == "384 numbers of 8 bytes; by the source's rule 384; source 380");
  CHECK(remark("memory, n = 4, Table 4.1: total").find("by the source's rule 616; source 620") != std::string::npos);
  CHECK(remark("memory, n = 4, Table 4.2: P") == "0 numbers of 8 bytes; by the source's rule 96; source 96");
  const std::string qrs = "all 24 QRs, n = 4, Table 4.3: ", signals = "100000 signals, n = 4, Table 4.4: ";
  for (const char* const peer : {"sequential", "rotations, sequential", "full", "prefix"})
    CHECK(peers.at(qrs + peer)["median_s"] > 0);
  CHECK(remark(qrs + "OpenMP 4 threads") == "source: 4.96 ms");
  CHECK(remark(qrs + "CUDA total") == "source: 0.154 ms");
  for (const char* const peer : {"sequential", "buffer 64", "buffer 128", "buffer 256", "buffer 512", "buffer inf"})
    CHECK(peers.at(signals + peer)["median_s"] > 0);
  const std::string csv = contents(folder / "mimo-orderings.csv");
  for (const char* const figure : {",0.0641,", ",0.13,", ",0.36,"}) CHECK(csv.find(figure) != std::string::npos);
}
