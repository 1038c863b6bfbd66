#pragma once

// Products of small blocks by a warp on the FP64 tensor cores, where every product and sum is an IEEE fused
// multiply-add. In lane 4 g + t, c holds rows g (first two elements) and g + 8, columns 2 t and 2 t + 1. a holds rows g
// (even elements) and g + 8, and b holds column g, each at k = t, t + 4, ... sm_80 has only the step of 8 x 8 x 4,
// which uses the same fragments a quarter at a time; sm_90 runs that step at half the rate.

namespace tesela::kernels {

/// Computes c += a b, 8 rows at each of `K` steps of four k.
template <int K>
__device__ inline void multiply_add_by_quarters([[maybe_unused]] double (&c)[4], [[maybe_unused]] const double* a,
                                                [[maybe_unused]] const double* b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#pragma unroll
  for (int k = 0; k < K; ++k) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
          : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
          : "d"(a[half + 2 * k]), "d"(b[k]));
    }
  }
#endif
}

/// Computes c += a b for 16 x 8 times 8 x 8.
__device__ inline void multiply_add(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
  multiply_add_by_quarters<2>(c, a, b);
#endif
}

/// Computes c += a b for 16 x 16 times 16 x 8.
__device__ inline void multiply_add(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
      "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
        "d"(b[2]), "d"(b[3]));
#else
  multiply_add_by_quarters<4>(c, a, b);
#endif
}

}  // namespace tesela::kernels
