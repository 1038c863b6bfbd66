#pragma once

#include "tools/problems/qr/qr.hpp"

#include <string>

namespace tesela::bench {

template <class T>
using QrRow = cli::Method<cli::QrProblem<T>, cli::QrFactors<T>>;

/// Returns the row that factors a band matrix, m = n, in band storage and forms Q.
template <class T>
QrRow<T> band_row();

/// Returns the row of the sequential method on one core, without a graph.
template <class T>
QrRow<T> sequential_row();

/// Times copies of A to the workers and of R and Q to the host, which no row includes.
template <class T>
std::vector<Timing> time_transfers(const cli::QrProblem<T>& problem, TileShape of_a, index_t rows_of_q, int repeat);

}  // namespace tesela::bench
