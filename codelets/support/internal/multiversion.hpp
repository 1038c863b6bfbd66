#pragma once

// Internal to codelets/.

/// A function that is compiled for several generations of vector units, of which one is chosen when the program starts;
/// what it inlines is compiled with it. It cannot be a template. Sanitizers cannot run before that choice is made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TESELA_MULTIVERSION __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define TESELA_MULTIVERSION
#endif
