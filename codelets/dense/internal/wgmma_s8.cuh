#pragma once

// The tensor cores' product of bytes on compute capability 9.0: a warpgroup adds 64 x 256 integers.
// Internal to codelets/.

#define TESELA_8_SUMS(i)                                                                                      \
  "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), "+r"(d[i + 6]), \
      "+r"(d[i + 7])
#define TESELA_64_SUMS(i)                                                                                      \
  TESELA_8_SUMS(i), TESELA_8_SUMS(i + 8), TESELA_8_SUMS(i + 16), TESELA_8_SUMS(i + 24), TESELA_8_SUMS(i + 32), \
      TESELA_8_SUMS(i + 40), TESELA_8_SUMS(i + 48), TESELA_8_SUMS(i + 56)

namespace tesela::kernels {

/// Adds A B to sums: A is 64 x 32 and B 32 x 256 bytes in shared memory, both with k contiguous, described by `a` and
/// `b`. The sums are replaced if `add` is 0.
__device__ __forceinline__ void multiply_bytes(int (&d)[128], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %130, 0;"
      "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, p; }"
      : TESELA_64_SUMS(0), TESELA_64_SUMS(64)
      : "l"(a), "l"(b), "r"(add));
}

}  // namespace tesela::kernels
