// Both substitutions of TridiagonalFactoredSolve. Included in a namespace that has in_all<N>: once for numbers, and for
// vectors once per vector unit. So it has no guard.

/// Forward substitution of one system, or of several in a vector N, some rows at a time.
template <class T, class N>
struct Down {
  FactorRow<T> row{};  ///< the last row
  N current{};         ///< its right-hand side after the elimination of the earlier rows

  /// Processes rows from `first` on. at(i) is the right-hand side of row first + i, and becomes U's right-hand side in
  /// row first + i - 1; undefined for row -1.
  template <class At>
  TESELA_INLINE void operator()(const Factors<const T>& factors, index_t first, index_t count, const At& at) {
    for (index_t i = 0; i < count; ++i) {
      const FactorRow<T> own = factors(first + i);
      N& value = at(i);
      const N next = value * in_all<N>(own.scale);
      value = row.swapped ? next : current;
      const N l = in_all<N>(row.l);
      current = row.swapped ? current - l * next : next - l * current;
      row = own;
    }
  }
};

/// The back substitution, from the last rows to the first.
template <class T, class N>
struct Up {
  N next{}, after{};  ///< x(i+1), x(i+2)

  /// Processes rows from `first` on. at(i) is U's right-hand side in row first + i, and becomes x(first + i). Returns 0
  /// for systems with finite x.
  template <class At>
  TESELA_INLINE N operator()(const Factors<const T>& factors, index_t first, index_t count, const At& at) {
    N strange = in_all<N>(T(0));
    for (index_t i = count - 1; i >= 0; --i) {
      const FactorRow<T> row = factors(first + i);
      N& value = at(i);
      const N x = (value - in_all<N>(row.du) * next - in_all<N>(row.du2) * after) * in_all<N>(row.inverse);
      after = next;
      next = x;
      value = x;
      strange = strange + x * in_all<N>(T(0));  // NaN if x is not finite
    }
    return strange;
  }
};
