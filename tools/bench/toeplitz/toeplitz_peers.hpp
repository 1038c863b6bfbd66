#pragma once

#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tesela::bench {

/// Finds the spectrum, answers the seconds, and leaves the eigenvalues, ascending, in `values`.
struct ToeplitzPeer {
  std::function<double()> run;
  std::shared_ptr<std::vector<double>> values;
  /// If not empty: throws WrongResult if 512 neighbouring eigenvectors of the last run fail their check.
  std::function<void()> check_vectors = {};
};

template <class T>
ToeplitzPeer tesela_spectrum(Runtime& runtime, const HostMatrix<T>& t, const SpectrumOptions& options);
template <class T>
ToeplitzPeer lapack_spectrum(const HostMatrix<T>& t, bool vectors);
template <class T>
ToeplitzPeer lapack_halves(const HostMatrix<T>& t, bool vectors);
template <class T>
ToeplitzPeer cusolver_spectrum(const HostMatrix<T>& t, bool vectors);
template <class T>
ToeplitzPeer cusolver_halves(const HostMatrix<T>& t, bool vectors);

/// The error relative to its bound: all n eigenvalues, their sum T's trace, their squares' sum T's squared Frobenius
/// norm, and each as in `right`, which the first peer fills. Throws WrongResult above the bound.
template <class T>
double check_spectrum(const std::string& peer, const HostMatrix<T>& t, const std::vector<double>& values,
                      std::vector<double>& right);

}  // namespace tesela::bench
