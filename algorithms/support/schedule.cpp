#include <tesela/algorithms/support/internal/schedule_problems.hpp>
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>
#include <utility>

namespace tesela {

using namespace schedules;

namespace {

/// The parsed name of an order.
struct Order {
  enum class Rule : std::uint8_t { adjacent, pgs2, sequential, fibonacci, tree } rule = Rule::tree;
  index_t gap = 1;      // adjacent: stages between a pivot's last use in a column and its first use in the next
  index_t stretch = 1;  // adjacent: only every stretch-th stage is used
  index_t domain = 1;   // tree: rows that a flat tree joins
  bool binary = false;  // tree: binary across domains; otherwise greedy
  index_t parts = 1;    // tree: number of ranks
  // tree: joins the ranks' first rows
  enum class Across : std::uint8_t { greedy, binary, flat } across = Across::greedy;
};

constexpr index_t whole_column = std::numeric_limits<index_t>::max();

/// Parses "D", "D:greedy" or "D:binary"; domain is 0 for other texts.
Order domain_order(std::string_view text) {
  Order order;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), order.domain);
  const std::string_view tree = text.substr(static_cast<std::size_t>(end - text.data()));
  order.binary = tree == ":binary";
  if (error != std::errc() || !(tree.empty() || tree == ":greedy" || order.binary)) order.domain = 0;
  return order;
}

Order parse(const std::string& routine, const std::string& argument, std::string_view name);

/// Parses "P:ACROSS:INSIDE", the text after "ranks:".
Order order_over_ranks(const std::string& routine, const std::string& argument, std::string_view text) {
  const auto refuse = [&]() -> Order {
    throw ArgumentError(
        routine, argument,
        "'ranks:" + std::string(text) +
            "' is not ranks:P:greedy|binary|flat:INSIDE with P >= 1 and INSIDE one of diagonal, binary, "
            "greedy, domain:D[:greedy|:binary]");
  };
  index_t parts = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts);
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || parts < 1) return refuse();
  for (const auto& [name, across] : {std::pair{":greedy:", Order::Across::greedy},
                                     {":binary:", Order::Across::binary},
                                     {":flat:", Order::Across::flat}}) {
    if (!rest.starts_with(name)) continue;
    rest.remove_prefix(std::string_view(name).size());
    if (rest.starts_with("ranks:")) return refuse();
    Order order = parse(routine, argument, rest);
    if (order.rule != Order::Rule::tree) return refuse();
    order.parts = parts;
    order.across = across;
    return order;
  }
  return refuse();
}

Order parse(const std::string& routine, const std::string& argument, std::string_view name) {
  using Rule = Order::Rule;
  if (name == "sameh-kuck") return {Rule::adjacent};
  if (name == "modified-sameh-kuck") return {Rule::adjacent, 1, 2};
  if (name == "pgs1") return {Rule::adjacent, 2};
  if (name == "pgs2") return {Rule::pgs2};
  if (name == "column") return {Rule::sequential};
  if (name == "diagonal") return {Rule::tree, 1, 1, whole_column};
  if (name == "binary") return {Rule::tree, 1, 1, 1, true};
  if (name == "fibonacci") return {Rule::fibonacci};
  if (name == "greedy") return {Rule::tree};
  constexpr std::string_view prefix = "domain:";
  if (name.starts_with(prefix)) {
    const Order order = domain_order(name.substr(prefix.size()));
    if (order.domain >= 1) return order;
    throw ArgumentError(routine, argument, "'" + std::string(name) + "' is not domain:D[:greedy|:binary] with D >= 1");
  }
  constexpr std::string_view over_ranks = "ranks:";
  if (name.starts_with(over_ranks)) return order_over_ranks(routine, argument, name.substr(over_ranks.size()));
  throw ArgumentError(routine, argument, "'" + std::string(name) + "' is none of " + schedule_order_list());
}

/// Builds the list column by column: in each column a row is used after its last use in the column before.
class Builder {
 public:
  Builder(const Order& order, Schedule& schedule)
      : order_(order), schedule_(schedule), last_(static_cast<std::size_t>(schedule.m)) {}

  void column(index_t j) {
    switch (order_.rule) {
      case Order::Rule::adjacent: return adjacent(j);
      case Order::Rule::pgs2: return pgs2(j);
      case Order::Rule::sequential: return sequential(j);
      case Order::Rule::fibonacci: return fibonacci(j);
      case Order::Rule::tree: return tree(j);
    }
  }

 private:
  index_t head(index_t j) const { return schedule_.heads[static_cast<std::size_t>(j)]; }
  index_t end(index_t j) const { return end_of(schedule_, j); }
  index_t& last(index_t row) { return last_[static_cast<std::size_t>(row)]; }  // stage of its last use; 0: none

  void eliminate(index_t row, index_t j, index_t pivot, index_t stage) {
    schedule_.eliminations.push_back({row, j, pivot, stage});
    last(row) = last(pivot) = stage;
  }
  void eliminate_early(index_t row, index_t j, index_t pivot) {
    eliminate(row, j, pivot, 1 + std::max(last(row), last(pivot)));
  }

  void adjacent(index_t j) {
    const index_t stretch = order_.stretch;
    for (index_t i = end(j) - 1; i > head(j); --i) {
      const index_t above = last(i - 1) > 0 ? last(i - 1) + stretch * order_.gap : 1;
      const index_t below = last(i) > 0 ? last(i) + stretch : 1;
      eliminate(i, j, i - 1, std::max(above, below));
    }
  }

  void pgs2(index_t j) {
    for (index_t i = end(j) - 1; i > head(j); --i) {
      const index_t d = schedule_.m - i + j;
      eliminate(i, j, i - 1, d * (d - 1) / 2 + j + 1);
    }
  }

  void sequential(index_t j) {
    for (index_t i = end(j) - 1; i > head(j); --i)
      eliminate(i, j, i - 1, static_cast<index_t>(schedule_.eliminations.size()) + 1);
  }

  void fibonacci(index_t j) {
    const index_t rows = schedule_.m - 1 - head(j);
    if (j == 0)
      while (groups_ * (groups_ + 1) / 2 < rows) ++groups_;
    else
      delay_ += head(j) > head(j - 1) ? 2 : 3;
    index_t first = 1;  // first row of the group, counted from the head
    for (index_t group = 1; first <= rows; first += group++) {
      const index_t size = std::min(group, rows - first + 1);
      for (index_t i = head(j) + first; i < std::min(head(j) + first + size, end(j)); ++i)
        eliminate(i, j, i - size, groups_ - group + 1 + delay_);
    }
  }

  /// Joins the rows of each rank, then the ranks' first rows.
  void tree(index_t j) {
    std::vector<index_t> left;
    for (index_t first = head(j); first < end(j) && first - head(j) < order_.parts; ++first) {
      inside(j, first);
      left.push_back(first);
    }
    if (order_.across == Order::Across::flat)
      for (std::size_t q = 1; q < left.size(); ++q) eliminate_early(left[q], j, left.front());
    else if (order_.across == Order::Across::binary)
      binary(j, left);
    else
      greedy(j, std::move(left));
  }

  /// Joins the rows of one rank: every parts-th row from `head` on.
  void inside(index_t j, index_t head) {
    const index_t step = std::min(order_.parts, schedule_.m);
    std::vector<index_t> leaders;
    for (index_t first = head; first < end(j);) {
      const index_t next = first + step * std::min(order_.domain, ceil_div(end(j) - first, step));
      for (index_t i = first + step; i < next; i += step) {
        if (order_.domain == whole_column && order_.parts == 1 && !schedule_.ends.empty())
          eliminate(i, j, first, std::max(i + j, 1 + std::max(last(i), last(first))));
        else
          eliminate_early(i, j, first);
      }
      leaders.push_back(first);
      first = next;
    }
    if (order_.binary)
      binary(j, leaders);
    else
      greedy(j, std::move(leaders));
  }

  void binary(index_t j, const std::vector<index_t>& rows) {
    for (std::size_t step = 1; step < rows.size(); step *= 2)
      for (std::size_t q = 0; q + step < rows.size(); q += 2 * step) eliminate_early(rows[q + step], j, rows[q]);
  }

  /// In each stage the upper half of the free rows eliminates the lower half.
  void greedy(index_t j, std::vector<index_t> waiting) {
    const auto later = [this](index_t a, index_t b) { return last(a) > last(b); };
    std::stable_sort(waiting.begin(), waiting.end(), later);
    std::vector<index_t> ready;
    for (index_t stage = 1; ready.size() + waiting.size() > 1; ++stage) {
      if (ready.size() < 2) stage = std::max(stage, last(waiting.back()) + 1);
      const auto arrivals = static_cast<std::ptrdiff_t>(ready.size());
      for (; !waiting.empty() && last(waiting.back()) < stage; waiting.pop_back()) ready.push_back(waiting.back());
      std::sort(ready.begin() + arrivals, ready.end());
      std::inplace_merge(ready.begin(), ready.begin() + arrivals, ready.end());
      const std::size_t half = ready.size() / 2;
      for (std::size_t q = ready.size() - half; q < ready.size(); ++q) eliminate(ready[q], j, ready[q - half], stage);
      ready.resize(ready.size() - half);
    }
  }

  Order order_;
  Schedule& schedule_;
  std::vector<index_t> last_;
  // fibonacci: groups of the first column, and stages by which this column starts later
  index_t groups_ = 0, delay_ = 0;
};

}  // namespace

const std::vector<std::string>& schedule_orders() {
  static const std::vector<std::string> names{
      "sameh-kuck", "modified-sameh-kuck", "pgs1",   "pgs2",  "column", "diagonal",
      "binary",     "fibonacci",           "greedy", "domain"};
  return names;
}

const std::string& schedule_order_list() {
  static const std::string list = [] {
    std::string all;
    for (const std::string& name : schedule_orders())
      all += (all.empty() ? "" : ", ") + (name == "domain" ? "domain:D[:greedy|:binary]" : name);
    return all + ", ranks:P:greedy|binary|flat:INSIDE";
  }();
  return list;
}

void require_schedule_order(const std::string& routine, const std::string& argument, std::string_view order) {
  parse(routine, argument, order);
}

Schedule make_schedule(std::string_view order, index_t m, index_t n, std::vector<index_t> heads,
                       std::vector<index_t> ends) {
  const Order parsed = parse("make_schedule", "order", order);
  require(m >= 0, "make_schedule", "m", m, " is negative");
  require(n >= 0, "make_schedule", "n", n, " is negative");
  if (heads.empty())
    for (index_t j = 0; j < n; ++j) heads.push_back(std::min(j, std::max<index_t>(m - 1, 0)));
  if (const auto problem = heads_problem(m, n, heads)) throw ArgumentError("make_schedule", "heads", *problem);

  if (const auto problem = ends_problem(m, n, ends)) throw ArgumentError("make_schedule", "ends", *problem);
  for (std::size_t j = 1; j < ends.size(); ++j) ends[j] = std::max(ends[j], ends[j - 1]);

  Schedule schedule{std::string(order), m, n, std::move(heads), {}, Sums::none, std::move(ends)};
  Builder builder(parsed, schedule);
  for (index_t j = 0; j < n; ++j) builder.column(j);
  std::sort(schedule.eliminations.begin(), schedule.eliminations.end(), [](const auto& a, const auto& b) {
    return std::tie(a.stage, a.column, a.row) < std::tie(b.stage, b.column, b.row);
  });
  return schedule;
}

std::optional<ClosedForm> closed_form(std::string_view order, index_t m) {
  const Order parsed = parse("closed_form", "order", order);
  if (parsed.rule == Order::Rule::adjacent) {
    const index_t stretch = parsed.stretch;
    return ClosedForm{stretch * (m - 1 - parsed.gap) + 1, -stretch, stretch * (1 + parsed.gap), true};
  }
  if (parsed.rule == Order::Rule::tree && parsed.domain == whole_column && parsed.parts == 1)
    return ClosedForm{-2, 1, 1, false};
  return std::nullopt;
}

const std::vector<std::string>& wavefront_orders() {
  static const std::vector<std::string> names{"lu-wavefront", "cholesky-wavefront"};
  return names;
}

bool is_wavefront_order(std::string_view order) {
  const auto& names = wavefront_orders();
  return std::find(names.begin(), names.end(), order) != names.end();
}

Schedule make_wavefront(std::string_view order, index_t n) {
  require(is_wavefront_order(order), "make_wavefront", "order", "'", std::string(order),
          "' is neither lu-wavefront nor cholesky-wavefront");
  require(n >= 0, "make_wavefront", "n", n, " is negative");
  const bool lu = order == wavefront_orders().front();
  Schedule schedule{
      std::string(order), n, n, std::vector<index_t>(static_cast<std::size_t>(n)), {}, lu ? Sums::lu : Sums::cholesky};
  for (index_t j = 0; j < n; ++j)
    for (index_t i = lu ? 0 : j; i < n; ++i)
      schedule.eliminations.push_back({i, j, std::min(i, j), lu ? i + j + 1 : i == j ? 2 * i + 1 : 2 * j + 2});
  std::sort(schedule.eliminations.begin(), schedule.eliminations.end(), [](const auto& a, const auto& b) {
    return std::tie(a.stage, a.column, a.row) < std::tie(b.stage, b.column, b.row);
  });
  return schedule;
}

}  // namespace tesela
