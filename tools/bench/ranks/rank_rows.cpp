// Compares the time of several ranks with one rank, one process with as many workers, and ScaLAPACK, in one run:
//
//   mpirun -np 2 tesela-rank-rows gemm|qr|tall-skinny|tridiag|toeplitz [N [REPEAT [NB]]] [--gpus]
//   tesela-rank-rows insertion [TILES [TREE [RANK-TREE]]]
//
// Prints CSV: row,m,n,ranks,peer,median_s,min_s,max_s,speedup. The speed-up is over one rank. N is the order, or the
// number of rows; NB ScaLAPACK's blocks. A rank has one core, with --gpus one GPU and its share of the cores; data
// begin and end in host memory. The second form inserts a factorization as one of 64 ranks, tasks off.
#include "tools/bench/ranks/rank_rows.hpp"

#include "tools/peers/harness.hpp"
#include <tesela/host/blas.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mpi.h>
#include <optional>
#include <sched.h>
#include <set>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace tesela;
using namespace tesela::bench;

int rank = 0, ranks = 1;
bool gpus = false;

/// Sleeps between its looks: another rank may be measured meanwhile.
void wait_for_all() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

/// Frees this process from the one core that its launcher bound it to; a process measured alone needs all cores.
void use_all_cores() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (unsigned c = 0; c < std::thread::hardware_concurrency(); ++c) CPU_SET(c, &all);
  for (long c = sysconf(_SC_NPROCESSORS_CONF) - 1; c >= 0; --c) CPU_SET(static_cast<std::size_t>(c), &all);
  sched_setaffinity(0, sizeof all, &all);
}

struct Row {
  std::string name;
  RankProblem problem;
  RankRun (*graph)(Runtime&, RankProblem);
  std::array<int, 2> grid;
  int streams = 1;  ///< of a GPU
  RankRun (*scalapack)(RankProblem, int, int, index_t) = nullptr;
};

double checked(const std::string& peer, RankRun run) {
  if (!(run.error <= 1)) throw WrongResult(peer + ": its error is " + std::to_string(run.error) + " times the bound");
  return run.seconds;
}

/// Returns the number of cores or GPUs as words.
RuntimeOptions workers(int count, const Row& row) {
  if (gpus) return {.gpus = count, .streams_per_gpu = row.streams};
  return {.cpus = count, .gpus = 0};
}

/// Runs a smaller problem first, which starts libraries and kernels. A slow check runs once.
double measured(const Row& row, const RuntimeOptions& options, const std::string& peer) {
  static std::set<std::string> right;
  use_all_cores();
  Runtime runtime(options);
  const auto [m, n, check] = row.problem;
  row.graph(runtime, gpus ? RankProblem{m / 4, n == m ? n / 4 : n, false}
                          : RankProblem{std::min<index_t>(m, 1024), std::min<index_t>(n, 512)});
  const double seconds = checked(peer, row.graph(runtime, {m, n, !gpus || right.count(peer) == 0}));
  right.insert(peer);
  return seconds;
}

Peer alone(const Row& row, const std::string& name, int count) {
  return {name, [=] {
            wait_for_all();
            if (rank != 0) return 1.0;
            setenv("TESELA_MPI", "0", 1);
            const double seconds = measured(row, workers(count, row), name);
            unsetenv("TESELA_MPI");
            return seconds;
          }};
}

std::vector<Peer> peers_of(const Row& row, index_t nb) {
  std::vector<Peer> peers{alone(row, "one rank", 1)};
  if (ranks == 1) return peers;
  peers.push_back(alone(row, "one process", ranks));
  peers.push_back({"ranks", [=] {
                     wait_for_all();
                     RuntimeOptions options = workers(1, row);
                     options.grid = row.grid;
                     return measured(row, options, "ranks");
                   }});
#if TESELA_HAVE_SCALAPACK
  if (row.scalapack != nullptr && !gpus)
    peers.push_back({"scalapack", [=] {
                       wait_for_all();
                       cpu_set_t mine;  // a core for each, as ours
                       CPU_ZERO(&mine);
                       CPU_SET(static_cast<std::size_t>(rank) % std::thread::hardware_concurrency(), &mine);
                       use_all_cores();
                       sched_setaffinity(0, sizeof mine, &mine);
                       const blas::Threads threads(1);
                       const int rows = row.grid[0], columns = ranks / rows;
                       const double seconds = checked("scalapack", row.scalapack(row.problem, rows, columns, nb));
                       use_all_cores();
                       return seconds;
                     }});
#else
  static_cast<void>(nb);
#endif
  return peers;
}

void run(const Row& row, int repeat, index_t nb) {
  const std::vector<Timing> timings = alternate(peers_of(row, nb), repeat);
  if (rank != 0) return;
  std::printf("row,m,n,ranks,peer,median_s,min_s,max_s,speedup\n");
  for (const Timing& t : timings)
    std::printf("%s,%lld,%lld,%d,%s,%.4f,%.4f,%.4f,%.2f\n", row.name.c_str(), static_cast<long long>(row.problem.m),
                static_cast<long long>(row.problem.n), ranks, t.peer.c_str(), t.median(), t.min(), t.max(),
                timings.front().median() / t.median());
}

int usage() {
  std::fprintf(stderr,
               "tesela-rank-rows gemm|qr|tall-skinny|tridiag|toeplitz [N [REPEAT [NB]]] [--gpus], under mpirun\n"
               "tesela-rank-rows insertion [TILES [TREE [RANK-TREE]]]\n");
  return 2;
}

}  // namespace

int main(int count, char** words) {
  std::vector<std::string> arguments(words + 1, words + count);
  gpus = std::erase(arguments, "--gpus") > 0;
  const auto number = [&](std::size_t k, index_t otherwise) {
    return k < arguments.size() ? static_cast<index_t>(std::atoll(arguments[k].c_str())) : otherwise;
  };
  const auto word = [&](std::size_t k, const char* otherwise) {
    return k < arguments.size() ? arguments[k] : otherwise;
  };
  if (arguments.empty()) return usage();
  try {
    if (arguments[0] == "insertion") {
      print_insertion(number(1, 256), word(2, "diagonal"), word(3, ""));
      return 0;
    }
    int level = 0;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::optional<Row> row;
    const index_t n = number(1, 0);
    if (arguments[0] == "gemm") row = Row{"gemm", {n > 0 ? n : 4096, n > 0 ? n : 4096}, &rank_gemm, {1, 0}};
    if (arguments[0] == "qr") row = Row{"qr", {n > 0 ? n : 4096, n > 0 ? n : 4096}, &rank_qr, {1, 0}, 2};
    if (arguments[0] == "tall-skinny")
      row = Row{"tall-skinny", {n > 0 ? n : index_t{1} << 22, 16}, &rank_tall_skinny, {0, 1}};
    if (arguments[0] == "tridiag") row = Row{"tridiag", {n > 0 ? n : index_t{1} << 24, 1}, &rank_tridiagonal, {0, 1}};
    if (arguments[0] == "toeplitz") row = Row{"toeplitz", {n > 0 ? n : 4096, 1}, &rank_toeplitz, {1, 0}};
#if TESELA_HAVE_SCALAPACK
    if (arguments[0] == "gemm") row->scalapack = &scalapack_gemm;
    if (arguments[0] == "qr") row->scalapack = &scalapack_qr;
#endif
    if (row) run(*row, static_cast<int>(number(2, 3)), number(3, 64));
    MPI_Finalize();
    return row ? 0 : usage();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tesela-rank-rows: %s\n", error.what());
    if (ranks > 1) MPI_Abort(MPI_COMM_WORLD, 3);
    return 3;
  }
}
