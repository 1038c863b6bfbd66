#include "tools/peers/lapack_qr.hpp"

#include <tesela/host/by_type.hpp>
#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/scalar.hpp>

#include <dlfcn.h>

extern "C" {
void sgeqrf_(const int*, const int*, float*, const int*, float*, float*, const int*, int*);
void dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void sorgqr_(const int*, const int*, const int*, float*, const int*, const float*, float*, const int*, int*);
void dorgqr_(const int*, const int*, const int*, double*, const int*, const double*, double*, const int*, int*);
}

namespace tesela::bench {

template <class T>
LapackQr<T> own_lapack_qr() {
  return {by_type<T, &sgeqrf_, &dgeqrf_>, by_type<T, &sorgqr_, &dorgqr_>, nullptr};
}

template <class T>
LapackQr<T> mkl_qr(const std::string& file) {
  static void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) throw EnvironmentError(file + " cannot be loaded: " + dlerror());
  const auto function = [&](const std::string& name) {
    void* const address = dlsym(library, name.c_str());
    if (address == nullptr) throw EnvironmentError(file + " has no function " + name);
    return address;
  };
  const std::string precision(1, by_type<T, 's', 'd'>);
  return {reinterpret_cast<typename LapackQr<T>::Geqrf*>(function(precision + "geqrf_")),
          reinterpret_cast<typename LapackQr<T>::Orgqr*>(function(precision + "orgqr_")),
          reinterpret_cast<void (*)(int)>(function("MKL_Set_Num_Threads"))};
}

TESELA_FUNCTIONS_FOR_REALS(own_lapack_qr, mkl_qr)

}  // namespace tesela::bench
