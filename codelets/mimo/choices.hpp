#pragma once

#include <cstddef>
#include <cstdint>

// Tables of detectors, of orders of columns and of detectors of bits. A new one is a row here and its kernel.

namespace tesela::kernels {

/// Order of the columns in a search: natural, norm, sqrd, vblast, mmse_sqrd, mmse_vblast, gradient or su_wassell, with
/// their meaning in `column_order_rows`. The last column of the order is decided first.
enum class ColumnOrder : std::uint8_t { natural, norm, sqrd, vblast, mmse_sqrd, mmse_vblast, gradient, su_wassell };

/// An order with its `name` in commands and its meaning.
struct ColumnOrderRow {
  ColumnOrder value;
  const char* name;
  const char* about;        ///< meaning
  bool of_signals = false;  ///< differs from signal to signal: only for detectors that search the sphere
};

/// All orders.
inline constexpr ColumnOrderRow column_order_rows[] = {
    {ColumnOrder::natural, "natural", "the order of H"},
    {ColumnOrder::norm, "norm", "by the norms of columns"},
    {ColumnOrder::sqrd, "sqrd", "sorted QR: the smallest residual column next"},
    {ColumnOrder::vblast, "vblast", "the stream with the least noise last"},
    {ColumnOrder::mmse_sqrd, "mmse-sqrd", "sqrd of [H; sqrt(N0) I]"},
    {ColumnOrder::mmse_vblast, "mmse-vblast", "vblast of [H; sqrt(N0) I]"},
    {ColumnOrder::gradient, "gradient", "by |H^H y|, of each signal", true},
    {ColumnOrder::su_wassell, "su-wassell",
     "the column with the farthest second nearest hyperplane last, of each signal", true},
};

/// Detectors of symbols: sd, sd_plain, brute, babai, mf, zf, mmse, mmse_sic, kbest, nway, ep and bfs_gemm, with their
/// meaning in `mimo_method_rows`.
enum class MimoMethod : std::uint8_t { sd, sd_plain, brute, babai, mf, zf, mmse, mmse_sic, kbest, nway, ep, bfs_gemm };

/// A detector with its `name` in commands, its meaning and its abilities (`can`).
struct MimoMethodRow {
  MimoMethod value;
  const char* name;
  const char* about;  ///< meaning
  struct Can {
    bool exact = false;      ///< finds the nearest H s
    bool sphere = false;     ///< searches the sphere: any order, and a tree to show
    bool real_form = false;  ///< also in real form; every detector has the complex form
    bool gpu = false;        ///< also on a GPU
    bool wide = true;        ///< more streams than antennas
  } can;
  const char* keep = nullptr;  ///< meaning of `keep`, K in "NAME:K"; null without one
  int usual_keep = 0;          ///< default of `keep`; 0: no limit, which `keep` may be
};

/// All detectors.
inline constexpr MimoMethodRow mimo_method_rows[] = {
    {MimoMethod::sd, "sd", "sphere search, exact", {.exact = true, .sphere = true, .real_form = true, .gpu = true}},
    {MimoMethod::sd_plain,
     "sd-plain",
     "the complete sphere, children unsorted: the reference for node counts",
     {.exact = true, .sphere = true, .real_form = true, .gpu = true}},
    {MimoMethod::brute, "brute", "all candidates, in double: the reference", {.exact = true}},
    {MimoMethod::babai, "babai", "the first leaf of sd", {.sphere = true, .real_form = true, .gpu = true}},
    {MimoMethod::mf, "mf", "the matched filter", {.gpu = true}},
    {MimoMethod::zf, "zf", "the least-squares solution, sliced", {.gpu = true, .wide = false}},
    {MimoMethod::mmse, "mmse", "the unbiased linear estimate of least mean square error", {.gpu = true}},
    {MimoMethod::mmse_sic, "mmse-sic", "back-substitution in R of [H; sqrt(N0) I], sliced level by level", {}},
    {MimoMethod::kbest,
     "kbest",
     "the K nearest paths of each level (kbest:K)",
     {.gpu = true},
     "paths of each level",
     16},
    {MimoMethod::nway,
     "nway",
     "each stream enumerated in turn, the others sliced (nway:N: the N weakest)",
     {.gpu = true},
     "enumerated streams, which noise affects most"},
    {MimoMethod::ep, "ep", "expectation propagation: the likeliest point of each column", {.real_form = true}},
    {MimoMethod::bfs_gemm,
     "bfs-gemm",
     "kbest for all signals of a channel together, by products of matrices (bfs-gemm:K)",
     {},
     "paths of each level",
     16},
};

/// Detectors of bits, methods for log-likelihood ratios: sts, max_log, app, mmse, list, kbest, nway and ep, with their
/// meaning in `soft_kind_rows`.
enum class SoftKind : std::uint8_t { sts, max_log, app, mmse, list, kbest, nway, ep };

/// A soft detector with its `name` in commands, its meaning and its abilities (`can`).
struct SoftKindRow {
  SoftKind value;
  const char* name;
  const char* about;  ///< meaning
  struct Can {
    bool exact = false;      ///< computes max-log for every signal
    bool real_form = false;  ///< also in real form
    bool gpu = false;        ///< also on a GPU
    bool priors = true;      ///< uses priors
    bool brute = false;      ///< enumerates all candidates
  } can;
  const char* keep = nullptr;  ///< meaning of `keep`, as in MimoMethodRow
  int usual_keep = 0;          ///< default of `keep`
};

/// All soft detectors.
inline constexpr SoftKindRow soft_kind_rows[] = {
    {SoftKind::sts, "sts", "one tree search, exact max-log", {.exact = true, .real_form = true}},
    {SoftKind::max_log, "max-log", "all candidates, exact max-log", {.exact = true, .brute = true}},
    {SoftKind::app, "app", "sums over all candidates", {.brute = true}},
    {SoftKind::mmse, "mmse", "each stream's linear estimate alone", {.gpu = true, .priors = false}},
    {SoftKind::list, "list", "max-log of the L nearest vectors (list:L)", {.real_form = true}, "vectors", 64},
    {SoftKind::kbest, "kbest", "max-log of the K remaining paths (kbest:K)", {}, "paths of each level", 16},
    {SoftKind::nway, "nway", "max-log of each stream enumerated in turn, the others sliced", {.gpu = true}},
    {SoftKind::ep,
     "ep",
     "each column's points with the noise computed by expectation propagation",
     {.real_form = true}},
};

/// Returns whether the rows are in the order of their values.
template <class Row, std::size_t N>
constexpr bool in_order(const Row (&rows)[N]) {
  for (std::size_t k = 0; k < N; ++k)
    if (static_cast<std::size_t>(rows[k].value) != k) return false;
  return true;
}
static_assert(in_order(column_order_rows) && in_order(mimo_method_rows) && in_order(soft_kind_rows));

/// Returns the row of a choice.
constexpr const ColumnOrderRow& row_of(ColumnOrder order) { return column_order_rows[static_cast<int>(order)]; }
constexpr const MimoMethodRow& row_of(MimoMethod method) { return mimo_method_rows[static_cast<int>(method)]; }
constexpr const SoftKindRow& row_of(SoftKind kind) { return soft_kind_rows[static_cast<int>(kind)]; }

}  // namespace tesela::kernels
