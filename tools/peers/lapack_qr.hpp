#pragma once

#include <string>

namespace tesela::bench {

/// LAPACK's QR factorization of one library.
template <class T>
struct LapackQr {
  using Geqrf = void(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);
  using Orgqr = void(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,
                     const int* lwork, int* info);
  Geqrf* geqrf;
  Orgqr* orgqr;
  void (*set_threads)(int);  ///< null: blas::Threads sets the library's threads
};

/// Returns the functions of the LAPACK that Tesela uses.
template <class T>
LapackQr<T> own_lapack_qr();

/// Returns the functions of MKL's library libmkl_rt.so, `file`. It is loaded once, apart from OpenBLAS with functions
/// of the same names. Throws EnvironmentError if MKL cannot be loaded.
template <class T>
LapackQr<T> mkl_qr(const std::string& file);

}  // namespace tesela::bench
