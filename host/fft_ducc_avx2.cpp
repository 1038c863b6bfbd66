#include <tesela/host/internal/fft_ducc.hpp>

#if TESELA_FFT_AVX2
// The whole standard library is compiled for every machine, before the code that needs AVX2: the linker may choose
// either of two copies of a template function.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#pragma GCC target("avx2,fma")
// GCC defines these macros only for options of the command line; <experimental/simd> needs them.
#ifndef __AVX2__
#define __AVX__ 1
#define __AVX2__ 1
#define __FMA__ 1
#endif
#define DUCC0_NO_LOWLEVEL_THREADING
#define DUCC0_NAMESPACE tesela_ducc_avx2
#define TESELA_FFT_ISA avx2
#include <tesela/host/internal/fft_ducc_body.hpp>
#endif
