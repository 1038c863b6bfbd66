#pragma once

#include <tesela/runtime/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// The elimination of entry (row, column) by a transformation of rows `pivot` and `row`. Rows and columns count from 0,
/// stages from 1. Eliminations of one stage are independent.
struct Elimination {
  index_t row = 0, column = 0, pivot = 0, stage = 0;
  friend bool operator==(const Elimination&, const Elimination&) = default;
};

/// The meaning of a schedule's entries: eliminations, or sums of a factorization without rotations (make_wavefront).
enum class Sums : std::uint8_t {
  none,     ///< eliminations of a QR factorization
  lu,       ///< sums of A = L U
  cholesky  ///< sums of A = L L^T
};

/// An order of elimination for the entries below the diagonal of an m x n matrix, or of its tiles.
struct Schedule {
  std::string order;
  index_t m = 0, n = 0;
  /// For each of the n columns the row that becomes the row of R: column j eliminates the rows below heads[j]. It is
  /// min(j, m - 1) for matrices and square tiles; tall tiles keep one head for several columns. If the column to the
  /// left has the same head, the head is not eliminated there: the two columns use different rows of a tall tile.
  std::vector<index_t> heads;
  std::vector<Elimination> eliminations;  ///< sorted by stage, then by column, then by row
  Sums sums = Sums::none;
  /// Staircase: column j is zero from row ends[j] on and stays zero; ends[j] <= ends[j + 1]. Empty: all m rows.
  std::vector<index_t> ends = {};
  /// Returns the last stage. Earlier stages may be empty (modified-sameh-kuck uses every second stage).
  index_t stages() const { return eliminations.empty() ? 0 : eliminations.back().stage; }
};

/// Returns the names that make_schedule accepts, except `ranks:…`, which combines them. `domain` stands for `domain:D`
/// with any D >= 1.
const std::vector<std::string>& schedule_orders();

/// Returns all names as one text for help and errors: "sameh-kuck, …, domain:D[:greedy|:binary], ranks:…".
const std::string& schedule_order_list();

/// Throws ArgumentError, naming the routine and the argument, unless make_schedule accepts this order.
void require_schedule_order(const std::string& routine, const std::string& argument, std::string_view order);

/// Makes the schedule of this name for m x n, which may be 0. With i and j from 1 and heads on the diagonal:
///
///     sameh-kuck            pivot i - 1   stage (m - i) + 2j - 1     Sameh and Kuck 1978
///     modified-sameh-kuck   pivot i - 1   stage 2(m - i) + 4j - 3
///     pgs1                  pivot i - 1   stage (m - i) + 3j - 2     a pipelined Givens sequence
///     pgs2                  pivot i - 1   stage d (d - 1) / 2 + j with d = m - i + j: one at a time, by d, then by j.
///                           Published for m = 6 with a slip; the rule, which gives rows 5 and 6, is inferred
///     column                pivot i - 1   one at a time, each column bottom-up (Golub and Van Loan)
///     diagonal              pivot j       stage i + j - 2            the flat tree of tile QR
///     binary                each column a binary tree
///     fibonacci             groups of 1, 2, 3, … rows from the top, each against the rows just above it; each column
///                           starts two stages later (Modi and Clarke 1984)
///     greedy                each stage eliminates in each column the lower half of the available rows: the fewest
///                           stages (Cosnard, Muller and Robert 1986)
///     domain:D[:greedy|:binary]   every D rows from the head form a domain: flat inside, the first rows of all domains
///                           by the tree (binary is PLASMA's; domain:1 is greedy or binary, domain:m is diagonal)
///     ranks:P:ACROSS:INSIDE       row i belongs to rank i mod P. Each rank joins its rows by INSIDE (diagonal, binary,
///                           greedy or domain); ACROSS joins their first rows (greedy, binary, or flat: all against
///                           the column's head). Dongarra, Faverge, Herault, Jacquelin, Langou and Robert,
///                           "Hierarchical QR factorization algorithms for multi-core clusters" (2013)
///
/// heads   empty (the diagonal) or n elements: heads[0] = 0, each 0 or 1 more than the previous one, at most m - 1.
///         With other heads than the diagonal each column keeps its rule of pivots, counted from its head, and stages
///         are as early as the rows are free (fibonacci: three stages later than a column with the same head).
/// ends    empty or n elements 0 ... m: column j has zeros from row ends[j] on, which are skipped. If a column ends
///         above the previous one, rotations fill it down to that end. diagonal keeps the stages of its formula, which
///         Ramiro Sánchez 2010, 5.6.3, has for a triangle; stages of other orders are as early as the rows are free.
/// Throws  ArgumentError for other heads or ends, an unknown order, D < 1, m < 0 or n < 0.
/// Method  The trees are from Bouwmeester, Jacquelin, Langou and Robert, "Tiled QR factorization algorithms" (2011),
///         with stages of one unit.
Schedule make_schedule(std::string_view order, index_t m, index_t n, std::vector<index_t> heads = {},
                       std::vector<index_t> ends = {});

/// An order whose stages are a formula, for matrices that are too large for a list. With indices from 1 and heads on
/// the diagonal, stage(i, j) = constant + per_row i + per_column j. The pivot is row i - 1 (adjacent) or row j.
struct ClosedForm {
  index_t constant = 0, per_row = 0, per_column = 0;
  bool adjacent = true;
};

/// Returns the closed form of this order for m rows, if it has one. Throws ArgumentError for an unknown order.
std::optional<ClosedForm> closed_form(std::string_view order, index_t m);

/// Returns in words, with indices from 1, why a schedule is invalid; nothing if it is valid. A valid schedule has these
/// properties:
/// - The list is sorted.
/// - Each (i, j) below its column's head is eliminated exactly once, against another row that is not above the head.
/// - At that stage both rows are zero in every column to the left that eliminates them, the pivot has its entry, and
///   neither row takes part in another elimination of the stage.
///
/// For sums see make_wavefront.
std::optional<std::string> violation(const Schedule& schedule);

/// Returns the names that make_wavefront accepts.
const std::vector<std::string>& wavefront_orders();

/// Returns whether make_wavefront accepts this name.
bool is_wavefront_order(std::string_view order);

/// Makes the order of the final entries of an n x n factorization if each entry is one sum; i and j count from 1:
///
///     lu-wavefront         A = L U, unit L below the diagonal of U    stage i + j - 1
///     cholesky-wavefront   A = L L^T, entries on and below the diagonal    stage 2i - 1 on it, else 2 min(i, j)
///
/// Returns  a Schedule with 2n - 1 stages whose `eliminations` are the entries, with row and column min(i, j) as their
///          pivot. violation() proves that entry (i, j) comes after all (i, k) and (k, j) with k < min(i, j) in its sum
///          (Cholesky: (j, k) instead of (k, j)), and left of the diagonal after its divisor, the pivot (j, j).
/// Throws   ArgumentError for another order or n < 0.
Schedule make_wavefront(std::string_view order, index_t n);

}  // namespace tesela
