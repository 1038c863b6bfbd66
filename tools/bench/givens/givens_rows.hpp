#pragma once

#include "tools/problems/qr/qr.hpp"

#include <string>

namespace tesela::bench {

template <class T>
using QrRow = cli::Method<cli::QrProblem<T>, cli::QrFactors<T>>;

/// Returns the row that factors a band matrix, m = n, in band storage and forms Q.
template <class T>
QrRow<T> band_row();

/// Returns the row that factors by a graph of rotations.
template <class T>
QrRow<T> rotation_row(const GivensOptions& options);

/// Returns the row of the sequential method on one core, without a graph: R, then Q if it is wanted.
template <class T>
QrRow<T> sequential_row();

/// Returns the row of LAPACK's geqrf and orgqr on these threads, over OpenBLAS or over MKL, whose library libmkl_rt.so
/// is `mkl`. Throws EnvironmentError if MKL cannot be loaded.
template <class T>
QrRow<T> threads_row(const std::string& name, int threads, const std::string& mkl = "");

/// Times copies of A to the workers and of R and Q to the host, which no row includes.
template <class T>
std::vector<Timing> time_transfers(const cli::QrProblem<T>& problem, TileShape of_a, index_t rows_of_q, int repeat);

}  // namespace tesela::bench
