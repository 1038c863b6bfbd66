#include "tests/support/commands/temporary_folder.hpp"
#include "tests/support/files.hpp"
#include "tests/support/shared_runtime.hpp"
#include "tests/support/toy_kernels.hpp"
#include <tesela/runtime/graph.hpp>

#include <fcntl.h>
#include <optional>
#include <thread>
#include <unistd.h>

// Graph::wait names the task that waits for a tile which the program holds on the host.

using namespace tesela::test;

namespace {

/// Returns the text that a function writes to standard error.
template <class F>
std::string standard_error(F f) {
  const TemporaryFolder folder;
  const std::string path = folder / "err";
  const int before = dup(2), file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  dup2(file, 2);
  f();
  dup2(before, 2);
  close(file);
  close(before);
  std::ifstream text(path);
  return {std::istreambuf_iterator<char>(text), {}};
}

/// Waits for the graph in a thread, and ends the access after this time.
template <class Access>
std::string wait_beside(Graph& g, std::optional<Access>& access, double seconds) {
  return standard_error([&] {
    std::thread waits([&] { g.wait(); });
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    access.reset();
    waits.join();
  });
}

}  // namespace

CORES_TEST_CASE("wait() names task and tile after a second") {
  const TileMatrix<double> A(runtime, 4, 1, {2, 1});
  Graph g(runtime);
  g.insert<Set<double>>({1}, A(1, 0));
  std::optional<HostAccess<const double>> read(std::in_place, A(1, 0).data(), Mode::in);
  g.insert<Affine<double>>({2, 0}, A(1, 0));
  CHECK_THAT(wait_beside(g, read, 3), ContainsSubstring("task 'test_affine' waits for tile A(1,0)"));
  CHECK(A(1, 0).read()(0, 0) == 2);

  std::optional<HostAccess<double>> write(std::in_place, A(0, 0).data(), Mode::out);
  (*write)(0, 0) = (*write)(1, 0) = 5;
  g.insert<Copy<double>>({}, A(0, 0), A(1, 0));  // reads a tile that the program writes
  CHECK_THAT(wait_beside(g, write, 3), ContainsSubstring("task 'test_copy' waits for tile A(0,0)"));
  CHECK(A(1, 0).read()(0, 0) == 5);
}

CORES_TEST_CASE("wait() is silent if no tile blocks it, or not for a second") {
  const TileMatrix<double> A(runtime, 2, 1, {1, 1});
  Graph g(runtime);
  g.insert<Set<double>>({1}, A(0, 0));
  std::optional<HostAccess<const double>> read(std::in_place, A(0, 0).data(), Mode::in);
  g.insert<Copy<double>>({}, A(0, 0), A(1, 0));  // only reads the tile that is read
  CHECK(wait_beside(g, read, 1.2).empty());

  read.emplace(A(0, 0).data(), Mode::in);
  g.insert<Affine<double>>({2, 0}, A(0, 0));
  CHECK(wait_beside(g, read, 0.05).empty());
  std::atomic<bool> open{false};
  const TileMatrix<int> B(runtime, 1, 1, {1, 1});
  g.insert<Set<int>>({1}, B(0, 0));
  g.insert<Gate>({&open}, B(0, 0));
  CHECK(standard_error([&] {
          std::thread waits([&] { g.wait(); });
          std::this_thread::sleep_for(std::chrono::milliseconds(1200));
          open = true;
          waits.join();
        }).empty());
}
