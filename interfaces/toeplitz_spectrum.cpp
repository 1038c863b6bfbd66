#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

namespace tesela::c {

/// Eigenvalues of the symmetric Toeplitz matrix with first column t (n numbers), ascending, into w (n numbers); with
/// jobz 'V' z (n x n) takes the eigenvectors, a column each. info > 0: fewer were found than counted, or they are not
/// as accurate as they should be; w and z are of no use then.
template <class T>
Code toeplitz_eig(char jobz, index_t n, const T* t, T* w, T* z, index_t ldz) {
  const bool vectors = choice("jobz", jobz, 'V', 'N');
  require_sizes({{"n", n}});
  const Array<const T> column("t", t, n);
  const Array<T> values("w", w, n);
  const auto array = Array<T>::if_wanted(vectors, "z", z, {n, n}, "ldz", ldz);
  require_apart({values, array}, {column});
  require_finite("t", t, n);
  if (n == 0) return 0;
  const Session session;
  Graph g(session);
  SpectrumOptions options;
  options.vectors = vectors;
  const Spectrum<T> found = tesela::toeplitz_spectrum<T>(g, {t, static_cast<std::size_t>(n)}, options);
  if (static_cast<index_t>(found.values.size()) != n || !found.good())
    return failed(TESELA_INACCURATE, std::to_string(found.values.size()) + " of " + std::to_string(n) +
                                         " eigenvalues found, " + std::to_string(found.uncertain) +
                                         " of them uncertain");
  std::transform(found.values.begin(), found.values.end(), w, [](double value) { return static_cast<T>(value); });
  if (vectors && found.vectors) found.vectors->copy_to(z, array.ld);
  return 0;
}

}  // namespace tesela::c
