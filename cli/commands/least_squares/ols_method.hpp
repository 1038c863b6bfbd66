#pragma once

#include "cli/commands/qr/qr_methods.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <string>

namespace tesela::cli {

/// "auto" with options that only tiles have means tiles.
void settle_automatic(QrMethod& method);

/// Throws ArgumentError unless it is in [0, 1).
void require_rcond(const char* command, double rcond);

/// Of a method that ols_methods() or givens_methods() names, for an A of this shape and r right-hand sides; never
/// automatic.
OlsOptions ols_options(const QrMethod& method, double rcond, Shape a, index_t r);
/// What a report calls the method of these options.
std::string method_name(const QrMethod& method, const OlsOptions& options);

/// 2 m n^2 - 2 n^3 / 3 for R (m >= n), 4 m n a right-hand side for Q^T b.
double ols_flops(Shape a, index_t r);

/// Whether A may stay in its file, of which rows are read as they are needed.
bool can_stream(const QrMethod& method, const std::string& file, Shape a, index_t r);

}  // namespace tesela::cli
