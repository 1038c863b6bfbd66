// tesela eig --jobs: several problems on one Runtime, some of them invalid.

#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

#include <fstream>

using namespace tesela::test;

namespace {

const Command eig{{"eig"}};

/// A folder with matrices of these orders in 0.npy, 1.npy, … and a list of them.
class Folder {
 public:
  explicit Folder(const std::vector<index_t>& orders) {
    for (std::size_t k = 0; k < orders.size(); ++k) {
      const SymmetricMatrix matrix(SymmetricKind::uniform, orders[k], 0, k + 1);
      add(std::to_string(k),
          filled<double>({orders[k], orders[k]}, [&](index_t i, index_t j) { return matrix.element<double>(i, j); }));
    }
  }
  template <class T>
  void add(const std::string& name, const HostMatrix<T>& a) {
    write_matrix(folder_ / name + ".npy", a);
    list(name + ".npy");
  }
  void list(const std::string& name) { std::ofstream(path("list"), std::ios::app) << folder_ / name << "\n"; }
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("eig --jobs --quiet names the failed jobs") {
  Folder folder({3, 4});
  folder.list("none.npy");
  const Outcome run = run_tesela({"eig", "--jobs", folder.path("list"), "--quiet"});
  CAPTURE(run.err);
  CHECK((run.code == 1 && run.out.empty()));
  CHECK(run.err.starts_with("tesela: eig: 1 of 3 jobs failed\ntesela: eig: " + folder.path("none.npy") + ": "));
  CHECK(run.err.find("0.npy") == std::string::npos);
}

TEST_CASE("eigenvalues are written in the precision of the run") {
  const Folder folder({5});
  const std::string list = folder.path("list"), out = folder.path("values.npy");
  for (const Words& input :
       {Words{"eig", "--a", folder.path("0.npy")}, Words{"eig", "--jobs", list}, Words{"toeplitz", "eig", "--n", "5"}})
    for (const char* const precision : {"s", "d"}) {
      const Outcome run = run_tesela(input + Words{"--precision", precision, "--out", out});
      CAPTURE(input, precision, run.err);
      REQUIRE(run.code == 0);
      CHECK((probe_matrix(out).precision == FilePrecision::single_precision) == (precision[0] == 's'));
      CHECK(probe_matrix(out).vector);
    }
}

TEST_CASE("eig --jobs: a matrix that is not square, a missing file and a NaN do not affect the other jobs") {
  Folder folder({70, 0, 1, 130, 33});
  folder.add("wide", HostMatrix<double>::zeros(2, 3));
  folder.list("none.npy");
  std::ofstream(folder.path("nan.mtx")) << "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\nnan\n";
  folder.list("nan.mtx");
  std::ofstream(folder.path("list"), std::ios::app) << "\n# a remark\n";
  std::filesystem::create_directory(folder.path("out"));
  for (const Words& how : {Words{}, Words{"--method", "two-stage"}, Words{"-p", "s"}, Words{"--ncpu", "1"}}) {
    const auto report = eig(Words{"--jobs", folder.path("list"), "--vectors", "--out", folder.path("out") + "/",
                                  "--out-vectors", folder.path("out/x-{}.npy")} +
                                how,
                            1);
    CHECK(report["status"] == "3 of 8 jobs failed");
    const auto& jobs = report["jobs"];
    REQUIRE(jobs.size() == 8);
    const index_t orders[] = {70, 0, 1, 130, 33};
    for (std::size_t k = 0; k < 5; ++k) {
      const index_t n = orders[k];
      CAPTURE(n, jobs[k].dump());
      CHECK(jobs[k]["status"] == "ok");
      CHECK(jobs[k]["file"] == folder.path(std::to_string(k) + ".npy"));
      CHECK(jobs[k]["seconds"] > 0);
      CHECK(jobs[k]["n"] == n);
      CHECK(jobs[k]["found"] == n);
      const std::string name = std::to_string(k) + ".npy";
      CHECK(read_matrix<double>(folder.path("out/" + name)).rows() == n);
      CHECK(read_matrix<double>(folder.path("out/x-" + name)).shape() == Shape{n, n});
    }
    CHECK_THAT(jobs[5]["status"].get<std::string>(),
               ContainsSubstring("wide.npy: ") && ContainsSubstring("not square") && !ContainsSubstring("--a"));
    CHECK_THAT(jobs[6]["status"].get<std::string>(), ContainsSubstring("none.npy"));
    CHECK_THAT(jobs[7]["status"].get<std::string>(), ContainsSubstring("nan.mtx"));
    CHECK(!std::filesystem::exists(folder.path("out/wide.npy")));
  }
}

TEMPLATE_TEST_CASE("eig --jobs solves Hermitian matrices", "", std::complex<float>, std::complex<double>) {
  using T = TestType;
  Folder folder({});
  HostMatrix<T> a;
  for (const index_t n : {40, 75}) {
    const SymmetricMatrix matrix(SymmetricKind::uniform, n, 0, 3);
    a = filled<T>({n, n}, [&](index_t i, index_t j) { return matrix.element<T>(i, j); });
    folder.add(std::to_string(n), a);
  }
  std::ofstream(folder.path("nan.mtx")) << "%%MatrixMarket matrix array complex general\n1 1\n1 nan\n";
  folder.list("nan.mtx");
  a(9, 2) = a(2, 9);  // symmetric there, not Hermitian
  folder.add("symmetric", a);
  a(9, 2) = conj(a(9, 2));
  const std::string precision = sizeof(T) == 8 ? "c" : "z";
  for (const Words& how : {Words{}, Words{"--method", "two-stage"}}) {
    const auto report = eig(Words{"--jobs", folder.path("list"), "--vectors", "-p", precision, "--out",
                                  folder.path("{}-w.npy"), "--out-vectors", folder.path("{}-x.npy")} +
                                how,
                            1);
    CHECK(report["status"] == "2 of 4 jobs failed");
    for (const int k : {0, 1}) CHECK(report["jobs"][k]["status"] == "ok");
    CHECK_THAT(report["jobs"][2]["status"].get<std::string>(), ContainsSubstring("nan.mtx"));
    CHECK_THAT(report["jobs"][3]["status"].get<std::string>(), ContainsSubstring("not Hermitian: A(10, 3)"));
    const auto w = read_matrix<real_t<T>>(folder.path("75-w.npy"));
    const auto x = read_matrix<T>(folder.path("75-x.npy"));
    double worst = 0;
    for (index_t j = 0; j < 75; ++j)
      for (index_t i = 0; i < 75; ++i) {
        std::complex<double> sum = -static_cast<double>(w(j, 0)) * std::complex<double>(x(i, j));
        for (index_t k = 0; k < 75; ++k) sum += std::complex<double>(a(i, k)) * std::complex<double>(x(k, j));
        worst = std::max(worst, std::abs(sum));
      }
    CHECK(worst <= (precision == "c" ? 1e-4 : 1e-12));
  }
}

TEST_CASE("eig --jobs finds the values of single commands") {
  Folder folder({50, 90, 120});
  const auto report = eig({"--jobs", folder.path("list"), "--smallest", "7", "--out", folder.path("{}-w.mtx")});
  CHECK(report["status"] == "ok");
  for (const char* const name : {"0", "1", "2"}) {
    eig({"--a", folder.path(name) + ".npy", "--smallest", "7", "--method", "lapack", "--out", folder.path("w.npy")});
    const auto together = read_matrix<double>(folder.path(name + std::string("-w.mtx"))),
               alone = read_matrix<double>(folder.path("w.npy"));
    REQUIRE(together.rows() == 7);
    for (index_t i = 0; i < 7; ++i) CHECK(std::abs(together(i, 0) - alone(i, 0)) < 1e-12);
  }
  // The first matrix has fewer eigenvalues.
  const auto some = eig({"--jobs", folder.path("list"), "--smallest", "60", "--ncpu", "2"}, 1);
  CHECK(some["status"] == "1 of 3 jobs failed");
  CHECK_THAT(some["jobs"][0]["status"].get<std::string>(), ContainsSubstring("60"));
  const auto none = eig({"--jobs", folder.path("list"), "--memory", "0.0001"}, 1);
  CHECK(none["status"] == "3 of 3 jobs failed");
  CHECK_THAT(none["jobs"][2]["status"].get<std::string>(), ContainsSubstring("does not fit"));
}

TEST_CASE("a file name that is not UTF-8 does not break the report") {
  Folder folder({3});
  folder.add("\xff\xfe", HostMatrix<double>::zeros(2, 2));
  const auto report = eig({"--jobs", folder.path("list")});
  REQUIRE(report["jobs"].size() == 2);
  CHECK(report["jobs"][1]["status"] == "ok");
  CHECK(eig({"--a", folder.path("\xff\xfe.npy")})["status"] == "ok");
}

TEST_CASE("eig --jobs ignores blanks and a byte order mark before names") {
  Folder folder({3, 4});
  std::ofstream(folder.path("spaced")) << "\xEF\xBB\xBF  " << folder.path("0.npy") << "\r\n\t # a remark\n \n\t"
                                       << folder.path("1.npy") << " \n";
  const auto jobs = eig({"--jobs", folder.path("spaced")})["jobs"];
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0]["file"] == folder.path("0.npy"));
  CHECK(jobs[1]["file"] == folder.path("1.npy"));
}

TEST_CASE("eig --jobs reports an overflow like a single command") {
  Folder folder({3});
  HostMatrix<double> a(2, 2);
  std::fill_n(a.data(), 4, 1.5e308);
  folder.add("large", a);
  for (const Words& how : {Words{}, Words{"--no-check"}, Words{"--method", "two-stage"}}) {
    const auto jobs = eig(Words{"--jobs", folder.path("list")} + how, 1)["jobs"];
    CAPTURE(how, jobs.dump());
    CHECK(jobs[0]["status"] == "ok");
    CHECK_THAT(jobs[1]["status"].get<std::string>(), Catch::Matchers::StartsWith("overflow: "));
  }
}

TEST_CASE("eig --jobs refuses invalid input") {
  Folder folder({5, 6});
  const std::string list = folder.path("list");
  eig.refuses({"--jobs", folder.path("no-list")}, "no-list");
  eig.refuses({"--jobs", list, "--a", list}, "--a");
  eig.refuses({"--jobs", list, "--n", "5"}, "--n");
  eig.refuses({"--jobs", list, "--certify", "5"}, "--certify");
  eig.refuses({"--jobs", list, "--plan"}, "--plan");
  eig.refuses({"--jobs", list, "--method", "cusolver"}, "--method");
  eig.refuses({"--jobs", list, "--out", folder.path("one.npy")}, "{}");
  eig.refuses({"--jobs", list, "--out", folder.path("a-{}.npy"), "--out-vectors", folder.path("a-{}.npy")},
              "in one place");
  folder.list("0.npy");  // the same file twice would give two outputs one name
  eig.refuses({"--jobs", list, "--out", folder.path("a-{}.npy")}, "in one place");
  std::ofstream(folder.path("empty")) << "# nothing\n";
  eig.refuses({"--jobs", folder.path("empty")}, "empty names no file");
  eig.refuses({"--jobs", list, "--out", folder.path("nowhere/")}, "no folder " + folder.path("nowhere/"));
  eig.refuses({"--jobs", list, "--out", folder.path("nowhere/x-{}.npy")}, "no folder " + folder.path("nowhere"));
  eig.refuses({"--jobs", list, "--out", folder.path("nowhere")}, "nowhere is no folder");
}

TEST_CASE("eig --jobs: an output never replaces an input, by any name and of any job") {
  Folder folder({5, 6, 7});
  const std::string list = folder.path("list"), first = folder.path("0.npy"), last = folder.path("2.npy");
  const std::string before = contents(last);
  const auto refused = [&](const Words& words, const std::string& output, const std::string& input) {
    eig.refuses(words, output + " would replace " + input);
  };
  const std::string here = folder.path("");
  refused({"--jobs", list, "--out", here}, first, first);
  std::filesystem::create_directory_symlink(here, folder.path("alias"));
  refused({"--jobs", list, "--out", folder.path("alias/")}, folder.path("alias/0.npy"), first);
  refused({"--jobs", list, "--out-vectors", folder.path("./{}.npy")}, folder.path("./0.npy"), first);
  std::ofstream(folder.path("one")) << first << "\n";
  refused({"--jobs", folder.path("one"), "--json", folder.path("one")}, folder.path("one"), folder.path("one"));
  refused({"--jobs", list, "--json", last}, last, last);
  std::filesystem::create_symlink("2.npy", folder.path("link.npy"));
  refused({"--a", last, "--out", last}, last, last);
  refused({"--a", folder.path("link.npy"), "--out-vectors", last}, last, folder.path("link.npy"));
  refused({"--a", first, "--b", last, "--out", last}, last, last);
  refused({"--a", last, "--json", folder.path("link.npy")}, folder.path("link.npy"), last);
  CHECK(contents(last) == before);
  // The list is a pipe, which can be read only once.
  const Outcome piped = run(Words{"/bin/sh", "-c", "cat " + list + " | \"$0\" \"$@\"", tesela::test::tesela(), "eig",
                                  "--jobs", "/dev/stdin", "--out", folder.path("{}-w.npy")});
  CAPTURE(piped.err);
  CHECK(piped.code == 0);
  CHECK(read_matrix<double>(folder.path("2-w.npy")).rows() == 7);
}

TEST_CASE("Ctrl-C ends jobs and leaves no partial output") {
  Folder folder(std::vector<index_t>(6, 300));
  std::filesystem::create_directory(folder.path("out"));
  ProcessOptions options;
  options.interrupt_after = 1;
  const Outcome outcome = run_tesela(
      {"eig", "--jobs", folder.path("list"), "--vectors", "--repeat", "10000", "--out", folder.path("out")}, options);
  CAPTURE(outcome.err);
  CHECK(outcome.code == 130);
  CHECK(outcome.seconds < 1 * patience);
  CHECK(std::filesystem::is_empty(folder.path("out")));
}

TEST_CASE("eig --jobs works on a GPU", "[gpu]") {
  require_gpu();
  Folder folder({70, 0, 1, 700, 33, 64, 65, 300, 300, 300});
  for (const Words& how : {Words{}, Words{"--streams", "1"}, Words{"--method", "two-stage"}, Words{"-p", "s"}}) {
    const auto report = eig(Words{"--jobs", folder.path("list"), "--vectors"} + how);
    for (const auto& job : report["jobs"]) {
      CAPTURE(job.dump());
      CHECK(job["status"] == "ok");
    }
  }
}
