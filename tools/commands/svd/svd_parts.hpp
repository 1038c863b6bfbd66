#pragma once

#include "tools/app/command.hpp"
#include <tesela/algorithms/svd/low_rank_svd.hpp>
#include <tesela/algorithms/svd/svd.hpp>

#include <string>

// The parts of `tesela svd`: one matrix, --batch, --rank and --stream.
namespace tesela::cli {

struct SvdCommandOptions {
  CommonOptions common;
  index_t m = -1, n = -1, band = 0, largest = -1, batch = -1, rank = -1, oversampling = 10;
  int power = 2;
  std::string a, random = "uniform", method = "auto", range, out, out_u, out_v;
  double scale = 1;
  bool values = false, full = false, compare = true, stream = false;

  /// Returns which vectors are computed.
  SvdVectors vectors() const { return values ? SvdVectors::none : full ? SvdVectors::all : SvdVectors::economic; }
  /// Returns the options of svd.
  SvdOptions svd() const;
};

/// Largest min(m, n) whose values are compared with LAPACK's.
inline constexpr index_t most_compared = 2048;

/// `tesela svd --batch K`: matrices of seeds seed … seed + K - 1, or side by side in the file of --a.
int run_svd_batch(SvdCommandOptions o);

/// `tesela svd --rank K`: by random vectors.
int run_svd_rank(SvdCommandOptions o);

/// `tesela svd --stream`: a file in blocks of rows, which may be larger than memory.
int run_svd_stream(SvdCommandOptions o);

/// Sets m and n from the options or the file.
void resolve_svd_shape(SvdCommandOptions& o);

/// Adds the problem to the report, except the method.
void describe_svd(const SvdCommandOptions& o, Report& report);

}  // namespace tesela::cli
