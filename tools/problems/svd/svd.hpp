#pragma once

#include "tools/checks/svd_error.hpp"
#include "tools/problems/method.hpp"
#include <tesela/algorithms/svd/svd.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>
#include <vector>

namespace tesela::cli {

/// A = U S V^H: the matrix, read or generated, and the memory of a library's run.
template <class T>
struct SvdProblem {
  Shape shape;
  SvdOptions options;
  std::string file;                ///< of A; empty: generated
  std::string random = "uniform";  ///< the text of --random
  double scale = 1;                ///< factor of a generated A
  std::uint64_t seed = 1;
  Runtime* runtime = nullptr;
  bool resident = false;            ///< whether a GPU has A before a run, and U and V after it
  HostMatrix<T> a = {}, work = {};  ///< A, and A in a library's run
  std::vector<double> values = {};  ///< of the first result that was checked, if A is too large for LAPACK

  /// Reads or generates A. Throws ArgumentError for a wrong kind, and if an element overflows.
  void load();
};

/// Returns the table of methods: svd's for the command, and for a benchmark with the calls of LAPACK's gesdd and of
/// cuSOLVER.
template <class T>
std::vector<Method<SvdProblem<T>, Svd<T>>> svd_table(bool benchmark);

/// Checks a benchmark's result: residual and orthogonality, beyond order 4096 of a sample, or values against LAPACK's,
/// beyond it against the first peer's. Returns the largest error relative to its bound; throws WrongResult if it is
/// above 1.
template <class T>
double check_peer(const std::string& peer, SvdProblem<T>& problem, const Svd<T>& found);

}  // namespace tesela::cli
