#include <tesela/algorithms/toeplitz/internal/toeplitz_attempt.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace tesela {
namespace {

constexpr std::array<Named<ToeplitzMethod>, 10> all{{
    {ToeplitzMethod::automatic, "auto",
     "the fastest method with refinement, then others while the residual is above a few roundings; keeps the best"},
    {ToeplitzMethod::levinson, "levinson", "Levinson's recursion, 4 n^2 flops"},
    {ToeplitzMethod::gohberg_semencul, "gohberg-semencul",
     "the inverse's first column by Durbin's recursion, 2 n^2 flops, then Fourier transforms and refinement"},
    {ToeplitzMethod::schur, "schur",
     "the inverse's first column by the Schur recursion as tiles on all workers, 2 n^2 flops, then Fourier transforms "
     "and refinement"},
    {ToeplitzMethod::lookahead, "lookahead",
     "the inverse by Levinson's recursion with larger steps over small leading minors, 4 n^2 flops on a core, then "
     "Fourier transforms and refinement; also for matrices that are not symmetric"},
    {ToeplitzMethod::cauchy_inverse, "cauchy-inverse",
     "the inverse in the sine basis by a pivoted elimination, 5.5 n^2 flops, then Fourier transforms and refinement; "
     "singular leading minors are harmless"},
    {ToeplitzMethod::cauchy, "cauchy",
     "L D L' of two half-size blocks in the sine basis, 5.5 n^2 flops and n^2 / 2 numbers, triangular solves and "
     "refinement"},
    {ToeplitzMethod::gradients, "gradients",
     "conjugate gradients with a circulant preconditioner, O(n log n) per step, and refinement; T - sigma I must be "
     "positive definite"},
    {ToeplitzMethod::superfast, "superfast",
     "trees of skeletons of two half-size blocks in the sine basis, O(n log^2 n) on cores, and refinement; for any "
     "nonsingular T - sigma I"},
    {ToeplitzMethod::dense, "dense",
     "LU of the dense matrix by tiles, n^2 numbers in double precision; also for matrices that are not symmetric"},
}};

}  // namespace

std::string detail::short_form(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2g", value);
  return text.data();
}

std::span<const Named<ToeplitzMethod>> toeplitz_methods() { return all; }

const char* toeplitz_method_name(ToeplitzMethod method) { return name_of(toeplitz_methods(), method); }

ToeplitzMethod toeplitz_method(const std::string& name) {
  if (const auto method = find_named(toeplitz_methods(), name)) return *method;
  throw ArgumentError("toeplitz_method", "name", "'" + name + "' is not a method");
}

std::string ToeplitzSolution::status() const {
  if (!failure.empty()) return failure;
  if (ok()) return "ok";
  const bool forward = taken.residual.good();
  const Measured measured = forward ? forward_bound() : taken.residual;
  return std::string("inaccurate: ") + (forward ? "forward_bound " : "residual ") + detail::short_form(measured.error) +
         ", at most " + detail::short_form(measured.bound);
}

template <class T>
double toeplitz_residual_bound(index_t n) {
  const auto eps = static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  return std::min(eps * std::max(32.0, std::sqrt(static_cast<double>(n))), useful_bound);
}

template double toeplitz_residual_bound<float>(index_t);
template double toeplitz_residual_bound<double>(index_t);
template double toeplitz_residual_bound<std::complex<float>>(index_t);
template double toeplitz_residual_bound<std::complex<double>>(index_t);

}  // namespace tesela
