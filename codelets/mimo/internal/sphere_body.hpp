#pragma once

#include <tesela/codelets/mimo/internal/tree_body.hpp>

// The nearest H s, depth first, one signal per thread. Internal to codelets/mimo.

namespace tesela::kernels::mimo {

struct SearchLimits {
  double radius = 0;        ///< of the first sphere, 0: no limit
  long long max_nodes = 0;  ///< 0: no limit
  bool plain = false;       ///< children in their stored order, in a fixed sphere
  bool listing = false;     ///< sorted children in a fixed sphere, even if it is empty
};

struct NoListener {
  TESELA_INLINE void operator()(double, const int*) const {}
};

/// A signal's data for its search, in addition to z = Q^H y 2^-exponent.
struct Reception {
  int exponent = 0;
  double size = 0, outside = 0;  ///< ||y||, and the part of ||y||^2 that no s reaches, scaled
};

/// Scales y and writes z, m numbers, which `rotate` multiplies by Q^H.
template <class F, class View, class P, class Y, class Rotate>
TESELA_BOTH __attribute__((noinline)) Reception receive(const View& view, const ChannelFacts& facts, const Y* y, P z,
                                                        const Rotate& rotate) {
  using T = RealOf<F>;
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  T largest = 0;
  for (index_t i = 0; i < view.antennas; ++i) {
    const T size = size_of(y[i]);
    largest = size > largest ? size : largest;
  }
  Reception made;
  made.exponent = exponent_of(largest);
  if (facts.zero == 0 && (facts.exponent > made.exponent || !(largest > 0))) made.exponent = facts.exponent;
  const Scale<T> scale(made.exponent);
  for (index_t i = 0; i < view.antennas; ++i) view.template split<F>(scale(y[i]), i, z);
  T size = 0;
  for (index_t i = 0; i < m; ++i) size += norm(F(z[i]));
  made.size = static_cast<double>(std::sqrt(size));
  rotate(z);
  T outside = 0;
  for (index_t i = n; i < m; ++i) outside += norm(F(z[i]));
  made.outside = static_cast<double>(outside);
  return made;
}

/// Finds s with the least ||y - H s||, step by step; the lowest labels in a tie. Children have Schnorr and Euchner's
/// order, so the first leaf is Babai's point. Distances in the tree have T's rounding errors, so the sphere includes
/// points that could be equally near, and a leaf's own distance is computed from H, in double.
template <class F, class P, class View>
struct Search {
  using T = RealOf<F>;

  Tree<F, P> tree;
  double slack, tie;  ///< bounds of rounding errors of a distance: in T on the way down, in double at a leaf
  double first, outside;
  bool bounded;
  T radius;            ///< of the sphere, squared
  index_t level, top;  ///< the present level, and the number of levels below those decided already
  Found found;
  long long nodes;
  bool uncertified;
  int best[View::most_labels];

  /// a: R, with leading dimension m; z: receive()'s.
  TESELA_BOTH void begin(const View& view, const ChannelFacts& facts, index_t m, P a, const OrderOf& order, P z,
                         const Reception& y, const SearchLimits& limits) {
    const index_t n = view.template cols<F>();
    tree.m = m, tree.n = n, tree.a = a, tree.order = order, tree.z = z;
    tree.columns = view.columns, tree.points = view.points;
    tree.plain = limits.plain, tree.every = limits.listing;
    tree.unit = static_cast<T>(std::ldexp(1.0, facts.zero != 0 ? 0 : facts.exponent - y.exponent));
    const double reach = y.size + static_cast<double>(tree.unit) * facts.reach;
    const double steps = 2.0 * static_cast<double>(n + 4);
    tie = steps * 2.3e-16 * reach;
    slack = steps * (sizeof(T) == 4 ? 1.2e-7 : 2.3e-16) * reach;
    outside = y.outside;
    first = Scale<double>(y.exponent)(limits.radius);
    bounded = limits.radius > 0;
    radius = bounded ? limit() : T(0);
    nodes = 0, uncertified = false, found = {};
    tree.distance[n] = 0;
    tree.open(level = n - 1);
    top = n;
  }

  /// Descends to the path of this number among all paths of the last levels, from level `until` up, whose subtree is to
  /// be searched. Returns false if it leaves the sphere.
  TESELA_BOTH bool descend(index_t until, index_t number) {
    for (index_t i = tree.n - 1; i >= until; --i) {
      tree.open(i);
      const int count = tree.children(i), k = static_cast<int>(number % count);
      number /= count;
      if (tree.only[i] == Tree<F, P>::not_free)
        tree.at[i] = k, tree.step[i] = tree.away(i, k);
      else
        tree.at[i] = tree.only[i], tree.step[i] = norm(tree.e[i]);
      const T distance = tree.distance[i + 1] + tree.step[i];
      if (bounded && !(distance <= radius)) return false;
      tree.distance[i] = distance;
      ++nodes;
    }
    top = until;
    if (until > 0) tree.open(level = until - 1);
    return true;
  }

  /// Visits one child. Returns false when the search is complete. Calls listen(||y - H s||, labels) for each leaf.
  template <class Y, class Listener = NoListener>
  TESELA_BOTH bool step(const View& view, const Y* y, const Reception& reception, const SearchLimits& limits,
                        const Listener& listen = {}) {
    const bool there = tree.next(level);
    const T distance = tree.distance[level + 1] + (there ? tree.step[level] : T(0));
    if (!there || (bounded && !(distance <= radius))) {
      if (there && tree.plain) return true;  // a later child may be nearer
      if (++level < top) return true;
      if (found.any || top < tree.n || limits.listing) return false;
      first *= 2;  // the sphere was empty
      radius = limit();
      bounded = first > 0 && first < 1e15;
      tree.open(level = tree.n - 1);
      return true;
    }
    tree.distance[level] = distance;
    ++nodes;
    if (level > 0) {
      tree.open(--level);
    } else {
      int leaf[View::most_labels];
      const double exact = leaf_of(view, tree, y, Scale<double>(reception.exponent), leaf);
      listen(exact, leaf);
      const bool nearer = update_best(found, exact, tie, view.label_count(), leaf, best);
      if (nearer && (!(tree.plain || limits.listing) || !bounded)) {
        const T smaller = sphere(std::sqrt(static_cast<double>(distance)));
        radius = bounded && radius < smaller ? radius : smaller;
        bounded = true;
      }
    }
    uncertified = limits.max_nodes > 0 && nodes >= limits.max_nodes && found.any;
    return !uncertified;
  }

  TESELA_BOTH SearchReport end(const View& view, const Reception& reception, int* labels) const {
    SearchReport report;
    report.nodes = nodes;
    for (index_t j = 0; j < view.label_count(); ++j) labels[j] = best[j];
    bool same = found.tie;
    for (index_t k = 0; k < tree.n && !same; ++k)
      same = tree.column(k).count > 1 && size_of(tree.r(k, k)) == 0 && tree.free(k);
    report.flags = (uncertified ? SearchReport::uncertified : 0) | (same ? SearchReport::tie : 0);
    report.distance = std::ldexp(found.distance, reception.exponent);
    return report;
  }

  TESELA_BOTH T sphere(double root) const {
    const double wide = root + 2 * slack + tie;
    return static_cast<T>(wide * wide);
  }
  TESELA_BOTH T limit() const {
    const double inside = first * first - outside;
    return sphere(inside > 0 ? std::sqrt(inside) : 0.0);
  }
};

/// Runs a complete search.
template <class F, class P, class T>
TESELA_BOTH __attribute__((noinline)) SearchReport search(const ChannelView<T>& view, const ChannelFacts& facts, P a,
                                                          P tau, const OrderOf& order, const Complex<T>* y, P z,
                                                          const SearchLimits& limits, int* labels) {
  const index_t m = view.template rows<F>(), n = view.template cols<F>();
  const Reception reception = receive<F>(view, facts, y, z, [&](P x) { apply_adjoint(m, n, a, tau, x); });
  Search<F, P, ChannelView<T>> one;
  one.begin(view, facts, m, a, order, z, reception, limits);
  while (one.step(view, y, reception, limits)) {
  }
  return one.end(view, reception, labels);
}

}  // namespace tesela::kernels::mimo
