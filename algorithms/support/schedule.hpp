#pragma once

#include <tesela/runtime/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// One entry (row, column) that becomes zero by a transformation of rows `pivot` and `row`. Rows and columns count from
/// 0, stages from 1; those of one stage are independent.
struct Elimination {
  index_t row = 0, column = 0, pivot = 0, stage = 0;
  friend bool operator==(const Elimination&, const Elimination&) = default;
};

/// Whether a schedule's entries become zero, or final: sums of a factorization without rotations (make_wavefront).
enum class Sums : std::uint8_t { none, lu, cholesky };

/// An order in which the entries of an m x n matrix (or its tiles) below the diagonal become zero.
struct Schedule {
  std::string order;
  index_t m = 0, n = 0;
  /// The row that ends as row of R of each of the n columns: column j eliminates the rows below heads[j]. min(j, m - 1)
  /// for matrices and square tiles; tall tiles keep one head for several columns. A head that the column to the left
  /// has as well is not eliminated there: in a tall tile the two columns use different rows of it.
  std::vector<index_t> heads;
  std::vector<Elimination> eliminations;  ///< by stage, then by column, then by row
  Sums sums = Sums::none;
  /// Of a staircase: column j is zero from row ends[j] on, and stays so; ends[j] <= ends[j + 1]. Empty: all m rows.
  std::vector<index_t> ends = {};
  /// The last stage. Stages before it may be empty (modified-sameh-kuck uses every second).
  index_t stages() const { return eliminations.empty() ? 0 : eliminations.back().stage; }
};

/// The names that make_schedule takes, but for `ranks:…`, which is made of them; `domain` stands for `domain:D` with
/// any D >= 1.
const std::vector<std::string>& schedule_orders();

/// All of them as a help text or an error lists them: "sameh-kuck, …, domain:D[:greedy|:binary], ranks:…".
const std::string& schedule_order_list();

/// Throws ArgumentError, which names the routine and the argument, unless make_schedule takes this order.
void require_schedule_order(const std::string& routine, const std::string& argument, std::string_view order);

/// The schedule of this name for m x n, any of them 0. With i and j from 1 and heads on the diagonal:
///
///     sameh-kuck            pivot i - 1   stage (m - i) + 2j - 1     Sameh and Kuck 1978
///     modified-sameh-kuck   pivot i - 1   stage 2(m - i) + 4j - 3
///     pgs1                  pivot i - 1   stage (m - i) + 3j - 2     a pipelined Givens sequence
///     pgs2                  pivot i - 1   stage d (d - 1) / 2 + j with d = m - i + j: one at a time, by d, then by j.
///                           Published for m = 6 with a slip; the rule, which gives rows 5 and 6, is inferred
///     column                pivot i - 1   one at a time, each column bottom-up (Golub and Van Loan)
///     diagonal              pivot j       stage i + j - 2            tile QR calls it a flat tree
///     binary                each column a binary tree
///     fibonacci             groups of 1, 2, 3, … rows from the top, each against the rows just above it, two stages a
///                           column later (Modi and Clarke 1984)
///     greedy                each stage and column eliminates half of the rows that can be, the lower ones: the fewest
///                           stages there can be (Cosnard, Muller and Robert 1986)
///     domain:D[:greedy|:binary]   every D rows from the head are a domain: flat inside it, its first rows by that tree
///                           (binary is PLASMA's; domain:1 is greedy or binary, domain:m is diagonal)
///     ranks:P:ACROSS:INSIDE       rows are dealt to P ranks, i to i mod P: each joins its own by INSIDE (diagonal,
///     binary,
///                           greedy or domain), their first rows are joined by ACROSS (greedy, binary, or flat: all
///                           against the column's head). Dongarra, Faverge, Herault, Jacquelin, Langou and Robert,
///                           "Hierarchical QR factorization algorithms for multi-core clusters" (2013)
///
/// The trees are those of Bouwmeester, Jacquelin, Langou and Robert, "Tiled QR factorization algorithms" (2011), with
/// stages of one unit. With other heads each column keeps its rule of pivots, counted from its head, and stages come as
/// early as the rows are free (fibonacci: three stages later than a column of the same head).
/// heads is empty (the diagonal) or has n elements: heads[0] = 0, each 0 or 1 more than the one before, none above
/// m - 1. Throws ArgumentError for other heads, an unknown order, D < 1, m < 0 or n < 0.
///
/// ends is empty or has n elements, 0 ... m: column j has zeros from row ends[j] on, which are skipped. Where a column
/// ends above the one before it, rotations fill it down to that one's end. diagonal keeps the stages of its formula, as
/// published for the columns of a triangle; the others' come as early as rows are free. Throws for other ends.
Schedule make_schedule(std::string_view order, index_t m, index_t n, std::vector<index_t> heads = {},
                       std::vector<index_t> ends = {});

/// An order whose stages are a formula, for matrices too large for a list: with indices from 1 and heads on the
/// diagonal, stage(i, j) = constant + per_row i + per_column j, and the pivot is row i - 1 (adjacent) or row j.
struct ClosedForm {
  index_t constant = 0, per_row = 0, per_column = 0;
  bool adjacent = true;
};

/// The closed form of this order for m rows, if it has one. Throws ArgumentError for an unknown order.
std::optional<ClosedForm> closed_form(std::string_view order, index_t m);

/// What is illegal about a schedule, in words with indices from 1; nothing when it is legal. Legal means: the list is
/// sorted as it says; each (i, j) below its column's head is eliminated exactly once, against another row that is not
/// above the head; at that stage both rows are zero in every column to the left that eliminates them, the pivot still
/// has its entry, and neither row has another part in the stage. Of sums see make_wavefront.
std::optional<std::string> violation(const Schedule& schedule);

}  // namespace tesela
