#include "tests/support/commands/command.hpp"
#include "tests/support/matrices.hpp"
#include <tesela/tiles/io/file_formats.hpp>

using namespace tesela::test;

using Z = std::complex<double>;

TEST_CASE("qr and least squares rotate complex matrices") {
  for (const std::string precision : {"c", "z"})
    for (const Words& method : {Words{"givens"}, Words{"givens-stages", "--order", "greedy"}, Words{"givens-chain"}})
      for (const Words& problem :
           {Words{"qr", "-m", "90", "-n", "40"}, Words{"qr", "-n", "70", "--random", "band:2"},
            Words{"qr", "-n", "70", "--full-q", "--random", "graded"}, Words{"ols", "-m", "90", "-n", "40"},
            Words{"ols", "-m", "40", "-n", "90"}, Words{"wls", "-m", "90", "-n", "40"},
            Words{"lse", "-m", "90", "-n", "40"}, Words{"glm", "-m", "90", "-n", "40"}}) {
        const auto report = Command{problem + Words{"-p", precision, "--method"} + method}({});
        CAPTURE(problem, precision, method);
        CHECK(report["status"] == "ok");
        if (problem.back() == "band:2") CHECK(report["counts"]["rotations"] == 70 * 2 - 3);
      }
  const TemporaryFolder folder;
  const HostMatrix<Z> a = random<Z>(40, 30, 3);
  write_matrix(folder / "a.npy", a);
  const auto factor = [&](const std::string& method) {
    Command{{"qr"}}({"--a", folder / "a.npy", "-p", "z", "--method", method, "--positive-diagonal", "--out-q",
                     folder / "q.npy", "--out-r", folder / "r.npy"});
    return std::pair{read_matrix<Z>(folder / "q.npy"), read_matrix<Z>(folder / "r.npy")};
  };
  const auto [q, r] = factor("givens-chain");
  const auto [tile_q, tile_r] = factor("tiles");
  CHECK(distance(q, tile_q) <= 1e-13);
  CHECK(distance(r, tile_r) <= 1e-13);
  CHECK(distance(product(Op::none, q, r), a) <= 1e-13);
  for (index_t k = 0; k < 30; ++k) CHECK((r(k, k).real() > 0 && r(k, k).imag() == 0));
  const auto status_of = [&](Z x) {
    write_matrix(folder / "x.npy", filled<Z>({1, 1}, [x](index_t, index_t) { return x; }));
    const Outcome run = run_tesela({"qr", "--a", folder / "x.npy", "-p", "z", "--method", "givens",
                                    "--positive-diagonal", "--out-r", folder / "x-r.npy", "--json", "-"});
    return nlohmann::json::parse(run.out)["status"].get<std::string>();
  };
  CHECK(status_of({1.3e308, 1.3e308}) == "not finite");  // its magnitude is
  CHECK(status_of({1e300, -1e-320}) == "ok");
  CHECK(read_matrix<Z>(folder / "x-r.npy")(0, 0) == Z(1e300));
}
