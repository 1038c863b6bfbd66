#include <tesela/algorithms/toeplitz/internal/toeplitz_certificate.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

namespace tesela::detail {

using namespace kernels;
namespace {

/// Claims of one part whose intervals meet, and their union within the range.
struct Group {
  double low, high;
  bool to_count;
  std::vector<Claim*> members;
};

/// Returns the groups of a part, ascending.
std::vector<Group> groups_of(std::vector<Claim>& claims, std::size_t part, double margin, double first, double last) {
  std::vector<Claim*> order;
  for (Claim& c : claims)
    if (c.part == part) order.push_back(&c);
  std::sort(order.begin(), order.end(),
            [](const Claim* a, const Claim* b) { return a->value - a->radius < b->value - b->radius; });
  std::vector<Group> groups;
  for (Claim* const c : order) {
    const double low = c->value - c->radius - margin, high = c->value + c->radius + margin;
    if (groups.empty() || low > groups.back().high) groups.push_back({low, high, false, {}});
    Group& group = groups.back();
    group.high = std::max(group.high, high);
    group.to_count = group.to_count || c->by_count || !group.members.empty();
    group.members.push_back(c);
  }
  for (Group& group : groups) {
    group.to_count = group.to_count || group.low < first || group.high > last;
    group.low = std::max(group.low, first);
    group.high = std::min(group.high, last);
  }
  return groups;
}

/// Returns the number of claims in groups whose number of eigenvalues differs from their number of claims.
template <class T>
index_t miscounted(Graph& g, const SineToeplitz<T>& A, const std::vector<Group>& groups, std::size_t part,
                   index_t* counts, const CountOptions& options) {
  const auto outside = [](const Group& group) { return !(group.low < group.high); };
  std::vector<double> ends;
  for (const Group& group : groups)
    if (group.to_count && !outside(group)) ends.insert(ends.end(), {group.low, group.high});
  std::vector<Inertia> counted;
  if (!ends.empty()) counted = count_at<T>(g, A, ends, Nudge::none, options);
  if (counts != nullptr) *counts += static_cast<index_t>(ends.size());
  index_t wrong = 0;
  auto at = counted.begin();
  for (const Group& group : groups) {
    const auto members = static_cast<index_t>(group.members.size());
    if (outside(group)) wrong += members;
    if (!group.to_count || outside(group)) continue;
    const index_t inside = at[1].below[part] - at[0].below[part];
    if (inside != members) wrong += members;
    at += 2;
  }
  return wrong;
}

}  // namespace

template <class T>
index_t certify(Graph& g, const SineToeplitz<T>& A, const CountedRange& range, std::vector<Claim>& claims,
                index_t* counts, const CountOptions& options) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (std::any_of(claims.begin(), claims.end(),
                  [](const Claim& c) { return !std::isfinite(c.value) || !std::isfinite(c.radius); }))
    return static_cast<index_t>(claims.size());
  const double margin = 2 * toeplitz_resolution(A);
  index_t uncertain = 0;
  for (std::size_t part = 0; part < 2; ++part) {
    const double first = range.low ? range.low->shift : -infinity, last = range.high ? range.high->shift : infinity;
    const std::vector<Group> groups = groups_of(claims, part, margin, first, last);
    const index_t wrong = miscounted(g, A, groups, part, counts, options);
    index_t found = 0;
    for (const Group& group : groups) found += static_cast<index_t>(group.members.size());
    const index_t below = range.low ? range.low->below[part] : 0,
                  here = (range.high ? range.high->below[part] : cauchy_rows(A.n(), static_cast<int>(part))) - below;
    uncertain += wrong + std::abs(found - here);
    const bool complete = wrong == 0 && found == here;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const Group& group = groups[i];
      const double before = i > 0 ? groups[i - 1].high : first,
                   after = i + 1 < groups.size() ? groups[i + 1].low : last;
      for (Claim* const c : group.members) {
        c->low = group.low;
        c->high = group.high;
        c->error = group.high - group.low;
        if (group.members.size() > 1 && !c->own) continue;
        c->error = c->radius + margin;
        if (c->own) continue;
        const double gap = std::min(c->value - before, after - c->value);
        if (complete && gap > c->radius) c->error = std::min(c->error, c->radius * c->radius / gap + margin);
      }
    }
  }
  return uncertain;
}

namespace {

/// An interval with eigenvalues of one part.
struct Piece {
  std::size_t part;
  double low, high;
  index_t below_low, below_high;
};

/// Bisects pieces down to `width`, drops empty ones, and keeps their order.
template <class T>
std::vector<Piece> halved(Graph& g, const SineToeplitz<T>& A, std::vector<Piece> pieces, double width, index_t* counts,
                          const CountOptions& options) {
  for (;;) {
    std::vector<double> middles;
    for (const Piece& p : pieces)
      if (p.high - p.low > width) middles.push_back(p.low + (p.high - p.low) / 2);
    if (middles.empty()) return pieces;
    const std::vector<Inertia> counted = count_at<T>(g, A, middles, Nudge::none, options);
    if (counts != nullptr) *counts += static_cast<index_t>(middles.size());
    std::vector<Piece> finer;
    auto at = counted.begin();
    for (const Piece& p : pieces) {
      if (p.high - p.low <= width) {
        finer.push_back(p);
        continue;
      }
      const index_t below = std::clamp(at->below[p.part], p.below_low, p.below_high);
      if (below > p.below_low) finer.push_back({p.part, p.low, at->shift, p.below_low, below});
      if (below < p.below_high) finer.push_back({p.part, at->shift, p.high, below, p.below_high});
      ++at;
    }
    pieces = std::move(finer);
  }
}

}  // namespace

template <class T>
void pin(Graph& g, const SineToeplitz<T>& A, std::vector<Claim>& claims, double enough, double widest, index_t* counts,
         const CountOptions& options) {
  std::vector<Claim*> vague;
  for (Claim& c : claims) {
    if (c.error > enough)
      vague.push_back(&c);
    else if (c.radius > widest)
      c.radius = c.error;
  }
  if (vague.empty() || vague.size() > most_refined_claims(A.n())) return;
  std::sort(vague.begin(), vague.end(), [](const Claim* a, const Claim* b) {
    return std::tuple(a->part, a->low, a->value) < std::tuple(b->part, b->low, b->value);
  });
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < vague.size(); ++i) {
    const Claim& c = *vague[i];
    if (!pieces.empty() && pieces.back().part == c.part && pieces.back().low == c.low)
      ++pieces.back().below_high;
    else
      pieces.push_back({c.part, c.low, c.high, 0, 1});
  }
  auto of_piece = vague.begin();
  for (Piece& p : pieces) {
    const Claim& c = **of_piece;
    if (p.below_high == 1) p.low = std::max(p.low, c.value - c.error), p.high = std::min(p.high, c.value + c.error);
    of_piece += p.below_high;
  }
  std::vector<double> lows;
  for (const Piece& p : pieces) lows.push_back(p.low);
  const std::vector<Inertia> counted = count_at<T>(g, A, lows, Nudge::none, options);
  if (counts != nullptr) *counts += static_cast<index_t>(lows.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].below_low = counted[i].below[pieces[i].part];
    pieces[i].below_high += pieces[i].below_low;
  }
  const double resolution = toeplitz_resolution(A);
  auto claim = vague.begin();
  const double narrow = std::max(4 * resolution, enough / 2);
  for (const Piece& p : halved(g, A, std::move(pieces), narrow, counts, options))
    for (index_t k = p.below_low; k < p.below_high; ++k) {
      Claim& c = **claim++;
      c.value = p.low + (p.high - p.low) / 2;
      c.radius = p.high - p.low;
      c.error = (p.high - p.low) / 2 + 2 * resolution;
    }
}

TESELA_FUNCTIONS_FOR_REALS(certify)
TESELA_FUNCTIONS_FOR_REALS(pin)

}  // namespace tesela::detail
