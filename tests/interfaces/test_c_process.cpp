#include "tests/support/c_interface.hpp"
#include "tests/support/files.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/variable.hpp"
#include <tesela/algorithms/dense/gemm.hpp>

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

using namespace tesela::test;

namespace {

/// Runs `right` in a child process and returns its exit code, 0 if true. The child ends by exit, so that handlers run.
int child(const std::function<bool()>& right, bool exits = true) {
  std::cout.flush();
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    alarm(60);  // a child that hangs fails
    const int code = right() ? 0 : 1;
    exits ? std::exit(code) : _exit(code);
  }
  int status = -1;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/// A child forked while workers run inherits their memory, which a leak checker would report.
#ifdef __SANITIZE_ADDRESS__
constexpr bool ends_by_exit = false;
#else
constexpr bool ends_by_exit = true;
#endif

bool solves() {
  std::vector<double> a(10, 1.0), b{0, 1, 2, 3, 4};
  return tesela_dgels(5, 2, 1, a.data(), 5, b.data(), 5, nullptr) == 0 && std::abs(b[0] - 1) < 1e-14;
}

}  // namespace

TEST_CASE("C: a process forked before the first call has its own workers", "[c][process]") {
  CHECK_OK(tesela_stop());
  CHECK(child(solves) == 0);
  CHECK(solves());
}

TEST_CASE("C: after a fork a call is an error, and the child can end", "[c][process]") {
  CHECK(solves());
  tesela_matrix* a = nullptr;
  REQUIRE(tesela_dmatrix_create(4, 3, 2, 2, &a) == 0);
  CHECK(child(
            [&] {
              std::vector<double> one{1};
              return tesela_dgemm('N', 'N', 1, 1, 1, 1, one.data(), 1, one.data(), 1, 0, one.data(), 1) ==
                         TESELA_LIFETIME &&
                     std::string(tesela_error()).find("forked") != std::string::npos &&
                     tesela_start(nullptr) == TESELA_LIFETIME && tesela_matrix_free(a) == TESELA_LIFETIME &&
                     tesela_stop() == TESELA_LIFETIME;
            },
            ends_by_exit) == 0);
  CHECK(solves());
  CHECK_OK(tesela_matrix_free(a));
}

TEST_CASE("C: a process can end with live handles and tasks in flight", "[c][process]") {
  if (count_cuda_devices() > 0) SKIP("CUDA that has been used before does not work after a fork");
  CHECK_OK(tesela_stop());
  CHECK(child([] {
          static std::vector<double> memory(400 * 400, 1.0);
          tesela_matrix *a = nullptr, *c = nullptr;
          tesela_graph* g = nullptr;
          tesela_qr* qr = nullptr;
          bool right = tesela_dmatrix_map(400, 400, memory.data(), 400, 100, 100, &a) == 0;
          right = right && tesela_dmatrix_create(400, 400, 100, 100, &c) == 0 && tesela_graph_create(&g) == 0;
          for (int k = 0; right && k < 20; ++k) right = tesela_dgemm_async(g, 'N', 'N', 1, a, a, 0, c) == 0;
          return right && tesela_dgeqrf_async(g, c, &qr) == 0;
        }) == 0);
}

namespace {

/// Runs a hidden test case in a separate process, from main to the last exit handler, with freed memory overwritten.
/// Returns its exit code, or 1000 plus a signal.
int of_its_own(const char* name) {
  std::cout.flush();
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    setenv("MALLOC_PERTURB_", "165", 1);
    alarm(60);
    execl("/proc/self/exe", "test", name, static_cast<char*>(nullptr));
    _exit(126);
  }
  int status = -1;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/// Ends the process with a nonzero code unless calls behave as required at this point of its end.
void call_at_exit(bool works) {
  std::vector<double> a{2}, b{6};
  const std::int64_t info = tesela_dgesv(1, 1, a.data(), 1, nullptr, b.data(), 1);
  const std::string said = tesela_error();
  if (works ? info != 0 || b[0] != 3 : info != TESELA_LIFETIME || said.find("the process ends") == std::string::npos)
    _exit(77);
  std::int64_t below = -1;  // needs no workers
  if (tesela_dtridiagonal_count_below(1, a.data(), nullptr, 3, &below) != 0 || below != 1) _exit(78);
  if (tesela_dgesv(-1, 1, a.data(), 1, nullptr, b.data(), 1) != -1) _exit(79);
}

}  // namespace

TEST_CASE("C: a process ends after calls", "[.ends]") {
  CHECK(solves());
  std::vector<double> a{2}, b{6};
  CHECK_OK(tesela_dgesv(1, 1, a.data(), 1, nullptr, b.data(), 1));
}

TEST_CASE("C: calls in an exit handler registered before the first call", "[.early]") {
  CHECK(std::atexit([] { call_at_exit(false); }) == 0);
  CHECK(solves());
  CHECK(tesela_dgesv(-1, 1, nullptr, 1, nullptr, nullptr, 1) == -1);  // its message is longer than a short string
}

TEST_CASE("C: calls in an exit handler registered after the first call", "[.late]") {
  CHECK(solves());
  CHECK(std::atexit([] { call_at_exit(true); }) == 0);
}

TEST_CASE("C: the first call in an exit handler", "[.only]") {
  CHECK(std::atexit([] { call_at_exit(true); }) == 0);
}

TEST_CASE("C++: a static Runtime", "[.static]") {
  static Runtime runtime({.cpus = 1, .gpus = 0});
  static std::vector<double> a(16, 1.0), c(16);
  const auto A = TileMatrix<double>::map(runtime, a.data(), 4, 4, 4, {2, 2});
  static const auto C = TileMatrix<double>::map(runtime, c.data(), 4, 4, 4, {2, 2});
  Graph g(runtime);
  gemm(g, Op::none, Op::none, 1.0, A, A, 0.0, C);
  CHECK(g.wait().ok());
}

TEST_CASE("C: a process ends without tesela_stop, and exit handlers may call", "[c][process]") {
  for (const char* name : {"[.ends]", "[.early]", "[.late]", "[.only]", "[.static]"}) {
    CAPTURE(name);
    CHECK(of_its_own(name) == 0);
  }
}

TEST_CASE("C: the workers of C and a Runtime of C++ exclude each other", "[c][process]") {
  CHECK_OK(tesela_stop());
  {
    Runtime mine;
    CHECK(!solves());
    std::vector<double> one{1}, c{0};
    CHECK(tesela_dgemm('N', 'N', 1, 1, 1, 1, one.data(), 1, one.data(), 1, 0, c.data(), 1) == TESELA_LIFETIME);
  }
  CHECK(solves());
  CHECK_THROWS_AS(Runtime(), LifetimeError);
}

TEST_CASE("C: a failed start reports the reason, and a later call can succeed", "[c][process]") {
  CHECK_OK(tesela_stop());
  {
    const Variable none("STARPU_NCPU", "0"), nor("STARPU_NCUDA", "0");
    CHECK(!solves());
    std::vector<double> one{1}, c{0};
    CHECK(tesela_dgemm('N', 'N', 1, 1, 1, 1, one.data(), 1, one.data(), 1, 0, c.data(), 1) == TESELA_ENVIRONMENT);
    CHECK(std::string(tesela_error()).find("STARPU_NCPU") != std::string::npos);
  }
  CHECK(solves());
}

TEST_CASE("C: a home that cannot be written is replaced", "[c][process]") {
  if (count_cuda_devices() > 0) SKIP("CUDA that has been used before does not work after a fork");
  CHECK_OK(tesela_stop());
  CHECK(child([] {
          unsetenv("STARPU_HOME");
          setenv("HOME", "/proc", 1);
          return solves();
        }) == 0);
}

TEST_CASE("C: a cancellation ends running work", "[c][process]") {
  CHECK(solves());
  tesela_graph* g = nullptr;
  CHECK_OK(tesela_graph_create(&g));
  const auto a = Padded<double>::random(600, 600, 1, 0);
  tesela_matrix *A = nullptr, *C = nullptr;
  REQUIRE(tesela_dmatrix_create(600, 600, 100, 100, &A) == 0);
  REQUIRE(tesela_dmatrix_set(A, a.data(), 600) == 0);
  REQUIRE(tesela_dmatrix_create(600, 600, 100, 100, &C) == 0);
  for (int k = 0; k < 5; ++k) CHECK_OK(tesela_dgemm_async(g, 'N', 'N', 1, A, A, 0, C));
  tesela_cancel();
  CHECK(tesela_graph_wait(g) == TESELA_CANCELLED);
  CHECK(std::string(tesela_error()) == "tesela_graph_wait: cancelled");
  CHECK_OK(tesela_graph_wait(g));  // it was already reported
  CHECK_OK(tesela_graph_free(g));
  CHECK_OK(tesela_matrix_free(A));
  CHECK_OK(tesela_matrix_free(C));
  CHECK(solves());
}

TEST_CASE("C: a second copy of the library reports that the first has the workers", "[c][process]") {
  CHECK(solves());
  Dl_info here{};
  REQUIRE(dladdr(reinterpret_cast<const void*>(&tesela_version), &here) != 0);
  if (std::string(here.dli_fname).find(".so") == std::string::npos) SKIP("the library is static");
  const TemporaryFolder folder;
  const std::string copy = folder / "libsecond.so";
  std::filesystem::copy_file(here.dli_fname, copy);
  void* const second = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  INFO(dlerror());
  REQUIRE(second != nullptr);
  const auto workers = reinterpret_cast<decltype(&tesela_workers)>(dlsym(second, "tesela_workers"));
  const auto error = reinterpret_cast<decltype(&tesela_error)>(dlsym(second, "tesela_error"));
  const auto stop = reinterpret_cast<decltype(&tesela_stop)>(dlsym(second, "tesela_stop"));
  REQUIRE((workers != nullptr && error != nullptr && stop != nullptr && workers != &tesela_workers));
  std::int64_t cpus = 0, gpus = 0;
  CHECK(workers(&cpus, &gpus) == TESELA_LIFETIME);
  CHECK(std::string(error()).find("another Runtime is alive") != std::string::npos);
  CHECK_OK(tesela_stop());
  CHECK(workers(&cpus, &gpus) == 0);
  CHECK(stop() == 0);
  CHECK(solves());
  dlclose(second);
}

TEST_CASE("C: ten thousand calls do not increase the memory", "[c][process]") {
#ifdef __SANITIZE_ADDRESS__
  SKIP("the sanitizer keeps freed memory");
#endif
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    long size = 0, pages = 0;
    file >> size >> pages;
    return pages * sysconf(_SC_PAGESIZE);
  };
  const auto calls = [](int count) {
    bool right = true;
    std::vector<double> a(16, 1.0), b(16, 1.0), c(16);
    for (int k = 0; k < count; ++k) {
      tesela_matrix* tiles = nullptr;
      right = right && tesela_dgemm('N', 'N', 4, 4, 4, 1, a.data(), 4, b.data(), 4, 0, c.data(), 4) == 0;
      right = right && tesela_dmatrix_create(4, 4, 2, 2, &tiles) == 0 && tesela_matrix_free(tiles) == 0;
      right = right && tesela_dgemm('N', 'N', 4, 4, 4, 1, a.data(), 4, b.data(), 4, 0, c.data(), 3) == -13;
    }
    return right;
  };
  CHECK_OK(tesela_stop());
  tesela_options options = {};
  options.size = sizeof options;
  options.cpus = 1;
  options.gpus = TESELA_NONE;
  CHECK_OK(tesela_start(&options));
  CHECK(calls(3000));
  const long before = resident();
  CHECK(calls(10000));
  const long grown = resident() - before;
  INFO(grown << " bytes more");
  CHECK(grown < 2'000'000);
}

TEST_CASE("C: every function works on a GPU alone", "[c][gpu][sanitize]") {
  if (count_cuda_devices() == 0) SKIP("no CUDA device here");
  CHECK_OK(tesela_stop());
  tesela_options options = {};
  options.size = sizeof options;
  options.cpus = TESELA_NONE;
  options.gpus = 1;
  options.gpu_megabytes = 500;
  CHECK_OK(tesela_start(&options));
  const index_t m = 70, n = 20;
  const auto a = Padded<double>::random(m, n, 1);
  const auto b = Padded<double>::random(n, m, 2);
  Padded<double> c(m, m);
  CHECK_OK(tesela_dgemm('N', 'N', m, m, n, 1, a.data(), a.ld, b.data(), b.ld, 0, c.data(), c.ld));
  CHECK(c.intact());
  CHECK(product_error(a, false, b, c, m, n) < 1e-11);
  auto factors = a;
  tesela_qr* qr = nullptr;
  CHECK_OK(tesela_dgeqrf(m, n, factors.data(), factors.ld, &qr));
  Padded<double> q(m, n), r(n, n);
  CHECK_OK(tesela_dorgqr(m, n, qr, q.data(), q.ld));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) r(i, j) = i <= j ? factors(i, j) : 0;
  CHECK(product_error(q, false, r, a, m, n) < 1e-12);
  auto left = a;
  auto right = Padded<double>::random(m, 1, 3);
  CHECK_OK(tesela_dgels(m, n, 1, left.data(), left.ld, right.data(), right.ld, nullptr));
  CHECK_OK(tesela_stop());  // with a live factorization
}
