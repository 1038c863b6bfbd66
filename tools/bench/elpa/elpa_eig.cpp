// One eigenproblem by ELPA's two-stage solver on the ranks of an MPI program, as a peer of `tesela bench eig`:
//
//   OPENBLAS_NUM_THREADS=1 mpirun -n 2 tesela-elpa-eig N JOB SEED CHECK
//
// JOB is values or vectors, CHECK 0 or 1. Prints the seconds and with CHECK the largest error over its bound, for
// `tesela bench eig`. The matrix is --random uniform.
#include "tools/checks/eig_error.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <elpa/elpa.h>
#include <mpi.h>
#include <string>
#include <vector>

namespace {

using namespace tesela;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "tesela-elpa-eig: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 3);
  std::exit(3);
}

void check(int status, const char* call) {
  if (status != ELPA_OK) fail(std::string(call) + ": status " + std::to_string(status));
}

/// This rank's part of a matrix in blocks that the ranks of a grid take by turns.
struct Share {
  index_t n, block;
  std::array<int, 2> grid{0, 0}, here{0, 0};

  Share(index_t order, index_t block_size) : n(order), block(block_size) {
    int ranks = 1, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Dims_create(ranks, 2, grid.data());
    here = {rank % grid[0], rank / grid[0]};
  }
  index_t whole(std::size_t side, index_t local) const {
    return (local / block * grid[side] + here[side]) * block + local % block;
  }
  index_t count(std::size_t side) const {
    index_t local = 0;
    while (whole(side, local) < n) ++local;
    return local;
  }
};

HostMatrix<double> fill(const Share& share, const SymmetricMatrix& matrix) {
  HostMatrix<double> a(share.count(0), share.count(1));
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) a(i, j) = matrix.element<double>(share.whole(0, i), share.whole(1, j));
  return a;
}

/// All of it on rank 0.
HostMatrix<double> gathered(const Share& share, const HostMatrix<double>& x) {
  HostMatrix<double> mine = HostMatrix<double>::zeros(share.n, share.n), all(share.n, share.n);
  for (index_t j = 0; j < x.cols(); ++j)
    for (index_t i = 0; i < x.rows(); ++i) mine(share.whole(0, i), share.whole(1, j)) = x(i, j);
  MPI_Reduce(mine.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  return all;
}

elpa_t make_solver(const Share& share) {
  int status = 0;
  elpa_t solver = elpa_allocate(&status);
  check(status, "elpa_allocate");
  const auto set = [&](const char* name, index_t value) {
    elpa_set_integer(solver, name, static_cast<int>(value), &status);
    check(status, name);
  };
  set("na", share.n);
  set("nev", share.n);
  set("local_nrows", share.count(0));
  set("local_ncols", share.count(1));
  set("nblk", share.block);
  set("mpi_comm_parent", MPI_Comm_c2f(MPI_COMM_WORLD));
  set("process_row", share.here[0]);
  set("process_col", share.here[1]);
  check(elpa_setup(solver), "elpa_setup");
  set("solver", ELPA_SOLVER_2STAGE);
  if (const char* const kernel = std::getenv("TESELA_ELPA_KERNEL")) set("real_kernel", std::atoi(kernel));
  return solver;
}

/// The seconds of the slowest rank.
double solve(const Share& share, const SymmetricMatrix& matrix, bool vectors, std::vector<double>& values,
             HostMatrix<double>& x) {
  const elpa_t solver = make_solver(share);
  HostMatrix<double> a = fill(share, matrix);
  x = HostMatrix<double>(a.rows(), a.cols());
  values.assign(static_cast<std::size_t>(share.n), 0);
  int status = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (vectors)
    elpa_eigenvectors_a_h_a_d(solver, a.data(), values.data(), x.data(), &status);
  else
    elpa_eigenvalues_a_h_a_d(solver, a.data(), values.data(), &status);
  check(status, "elpa_eigenvectors");
  double mine = MPI_Wtime() - start, slowest = mine;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  elpa_deallocate(solver, &status);
  return slowest;
}

double error_of(const SymmetricMatrix& matrix, const std::vector<double>& values, const HostMatrix<double>& x,
                bool vectors) {
  const index_t n = matrix.n();
  HostMatrix<double> a(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) a(i, j) = matrix.element<double>(i, j);
  const std::vector<double> known = reference_eigenvalues(a);
  const double norm = std::max(std::abs(known.front()), std::abs(known.back()));
  const EigBounds bounds = eig_bounds<double>(n);
  double worst = eigenvalue_error(values, known, 0, norm) / bounds.value;
  if (!vectors) return worst;
  const EigError e = eig_error(a, values, x, norm, n, 1);
  for (const double one : {e.residual / bounds.value, e.orthogonality / bounds.orthogonality})
    if (!(one <= worst)) worst = one;
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 5) fail("N JOB SEED CHECK");
  if (elpa_init(ELPA_API_VERSION) != ELPA_OK) fail("elpa_init");
  const bool vectors = std::string(argv[2]) == "vectors", checks = std::string(argv[4]) == "1";
  const auto n = static_cast<index_t>(std::atoll(argv[1]));
  const auto seed = static_cast<std::uint64_t>(std::atoll(argv[3]));
  std::vector<double> values;
  HostMatrix<double> x;
  double seconds = 0, error = 0;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const index_t few = std::min<index_t>(n, 256);
  solve(Share(few, 16), {SymmetricKind::uniform, few, 0, seed}, vectors, values, x);  // warms up
  const SymmetricMatrix matrix(SymmetricKind::uniform, n, 0, seed);
  const Share share(n, n >= 1024 ? 64 : 16);
  seconds = solve(share, matrix, vectors, values, x);
  if (checks) {
    const HostMatrix<double> all = vectors ? gathered(share, x) : HostMatrix<double>();
    if (rank == 0) error = error_of(matrix, values, all, vectors);
  }
  if (rank == 0) std::printf("seconds %.6f error %.6g\n", seconds, error);
  int status = 0;
  elpa_uninit(&status);
  MPI_Finalize();
}
