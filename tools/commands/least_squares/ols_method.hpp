#pragma once

#include "tools/app/report.hpp"
#include "tools/problems/qr/qr_method.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>

#include <string>

namespace tesela::cli {

/// Replaces "auto" by tiles if an option of tiles alone is given.
void settle_automatic(QrMethod& method);

/// Throws ArgumentError unless it is in [0, 1).
void require_rcond(const char* command, double rcond);

/// Returns the options of a method that ols_methods() or givens_methods() names, for an A of this shape and r
/// right-hand sides. The method is never automatic; for a library it is Tesela's method for the shape, which checks the
/// library's result.
OlsOptions ols_options(const QrMethod& method, double rcond, Shape a, index_t r);
/// Returns the name in reports of the method of these options.
std::string method_name(const QrMethod& method, const OlsOptions& options);

/// Returns 2 m n^2 - 2 n^3 / 3 for R (m >= n), plus 4 m n per right-hand side for Q^T b.
double ols_flops(Shape a, index_t r);

/// Notes which norm of x is least if A's rank leaves x undetermined.
void note_least_norm(bool unique, bool original_units, Report& report);

/// Returns whether A may stay in its file and be read by rows.
bool can_stream(const QrMethod& method, const std::string& file, Shape a, index_t r);

}  // namespace tesela::cli
