#include <tesela/host/internal/fft_ducc.hpp>

#if TESELA_FFT_AVX2
// The whole standard library is compiled for every machine, before the code that needs AVX2: the linker may choose
// either of two copies of a template function.
#include <cmath>

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
