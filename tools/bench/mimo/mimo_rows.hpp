#pragma once

#include "tools/bench/harness/report.hpp"
#include <tesela/tiles/host_matrix.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

struct MimoBench : Options {
  std::vector<std::string> rows;                                      ///< of mimo_rows; empty: all
  index_t matrices = 1000000, signals = 100000, many = 0, slots = 0;  ///< many: 0 for what suits the machine
  long long max_nodes = 0;                                            ///< of the slots, besides a search without an end
};

/// Seconds that kernels of this name took since the last reset, on GPUs where they ran there, else on cores.
double kernel_seconds(Runtime& runtime, const std::string& kernel);

/// Many small QRs, complex: ours and cuBLAS's geqrfBatched, data on the device where there is one.
template <class T>
void add_qr_rows(Report& report, Runtime& runtime, const MimoBench& o);

/// Measures exact search from host to host, and the seconds of the kernel alone.
template <class T>
void add_search_rows(Report& report, Runtime& runtime, const MimoBench& o, const std::string& rows);

/// Measures likelihoods of a slot, by mmse and nway: on a GPU between events of the device with the data there, on
/// cores by the kernel's seconds. Checks them against SoftDetector on cores; notes the information per bit of each.
template <class T>
void add_soft_rows(Report& report, Runtime& runtime, const MimoBench& o, const std::string& rows);

/// Measures hard decisions of a slot by mmse and kbest in the same way, with their rate of wrong symbols.
template <class T>
void add_hard_rows(Report& report, Runtime& runtime, const MimoBench& o, const std::string& rows);

/// The QR factorizations of R P for all orders of 8 and 10 columns, in double, between events of a GPU.
void add_table_rows(Report& report, Runtime& runtime, const MimoBench& o);

/// Factors R P for all orders P in lexicographic order by plane rotations, as Ramiro Sánchez 2010, Algorithms 4.7 and
/// 4.20, on the calling thread. The n^2 numbers of each are R, and below its diagonal one number per rotation
/// (Algorithm 4.10). r: n x n, upper triangular, n = 2, 4, 6, 8 or 10. packed: n^2 n!.
void rotation_table(const HostMatrix<double>& r, double* packed);

}  // namespace tesela::bench
