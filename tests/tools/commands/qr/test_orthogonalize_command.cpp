#include "tests/support/commands/command.hpp"
#include <tesela/tiles/io/file_formats.hpp>

using namespace tesela::test;

namespace {

const Command qr{{"qr"}};

}  // namespace

TEST_CASE("qr: the orthogonality of explicit Q follows theory for each method") {
  for (const char* const method : {"gram-schmidt", "mgs", "cgs2", "cholesky-qr2", "householder"})
    for (const char* const precision : {"d", "s"}) {
      const auto report =
          qr({"-m", "120", "-n", "30", "--method", method, "-p", precision, "--random", "kappa:10"}, -1);
      CHECK(check(report, "backward_error") <= (precision[0] == 's' ? 1e-5 : 1e-14));
    }
  const auto off = [](const char* method, const char* kappa) {
    return check(qr({"-m", "200", "-n", "40", "--method", method, "--random", kappa}, -1), "orthogonality");
  };
  CHECK((off("mgs", "kappa:1e8") > 1e-11 && off("mgs", "kappa:1e8") < 1e-6));
  CHECK(off("gram-schmidt", "kappa:1e8") > 1e-4);
  for (const char* const good : {"cgs2", "cholesky-qr2", "householder"}) CHECK(off(good, "kappa:1e12") < 1e-13);
  const auto bad = qr({"-m", "200", "-n", "40", "--method", "gram-schmidt", "--random", "kappa:1e8"}, 1);
  CHECK_THAT(bad["status"].get<std::string>(), ContainsSubstring("inaccurate: orthogonality"));
  CHECK(qr({"-m", "200", "-n", "40", "--method", "cholesky-qr2", "--random", "kappa:1e12"})["problem"]["shifted"] ==
        true);
  CHECK_THAT(qr({"-m", "20", "-n", "4", "--method", "mgs", "--random", "zero"}, 1)["status"].get<std::string>(),
             ContainsSubstring("dependent column: 1"));
}

TEST_CASE("qr --positive-diagonal gives the same factors with all methods") {
  TemporaryFolder folder;
  const std::string r = folder / "r.npy", q = folder / "q.npy";
  HostMatrix<double> first;
  for (const char* const method : {"tiles", "lapack", "givens", "mgs", "cholesky-qr2", "householder"}) {
    qr({"-m", "40", "-n", "12", "--method", method, "--positive-diagonal", "--out-r", r, "--out-q", q});
    HostMatrix<double> now = read_matrix<double>(r);
    for (index_t i = 0; i < 12; ++i) CHECK(now(i, i) > 0);
    CHECK(read_matrix<double>(q).shape() == Shape{40, 12});
    for (index_t i = 0; first.size() > 0 && i < now.size(); ++i)
      CHECK(std::abs(now.data()[i] - first.data()[i]) <= 1e-13);
    first = std::move(now);
  }
}

TEST_CASE("qr refuses options that these methods do not support") {
  qr.refuses({"-m", "3", "-n", "4", "--method", "mgs"}, "--m");
  qr.refuses({"-n", "4", "--method", "cgs2", "--full-q"}, "--full-q");
  qr.refuses({"-n", "4", "--method", "cgs2", "--tree", "binary"}, "--tree");
  CHECK(qr({"-n", "0", "--method", "cgs2"})["status"] == "ok");
}
