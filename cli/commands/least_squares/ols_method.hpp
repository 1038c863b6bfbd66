#pragma once

#include "cli/app/report.hpp"
#include "cli/commands/qr/qr_methods.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <string>

namespace tesela::cli {

/// "auto" with options that only tiles have means tiles.
void settle_automatic(QrMethod& method);

/// Throws ArgumentError unless it is in [0, 1).
void require_rcond(const char* command, double rcond);

/// Returns the options of a method that ols_methods() or givens_methods() names, for an A of this shape and r
/// right-hand sides. The method is never automatic; a library's is our own by shape, which checks the library's answer.
OlsOptions ols_options(const QrMethod& method, double rcond, Shape a, index_t r);
/// What a report calls the method of these options.
std::string method_name(const QrMethod& method, const OlsOptions& options);

/// 2 m n^2 - 2 n^3 / 3 for R (m >= n), 4 m n a right-hand side for Q^T b.
double ols_flops(Shape a, index_t r);

/// Notes which norm of x is least if A's rank leaves x undetermined.
void note_least_norm(bool unique, bool original_units, Report& report);

/// Whether A may stay in its file, of which rows are read as they are needed.
bool can_stream(const QrMethod& method, const std::string& file, Shape a, index_t r);

}  // namespace tesela::cli
