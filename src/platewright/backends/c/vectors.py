"""Vectors of doubles in C: what every emitted loop that works on several rows at once builds on."""

from __future__ import annotations

VECTORS = """
/* Vectors of doubles; their lanes hold different rows. */
#if defined(__GNUC__) && !defined(PLATEWRIGHT_PLAIN)
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif
typedef double lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
#define AT(pointer) (*(lanes *)(pointer))
#define LANE(x, lane) (x)[lane]
#define FETCH(pointer) __builtin_prefetch(pointer, 0, 2)
#define INLINE static inline __attribute__((always_inline))
/* What is held here is in a register, computed as it is written: -fassociative-math may not see through it. */
#if defined(__x86_64__) || defined(__i386__)
#define HOLD(x) __asm__("" : "+v"(x))
#elif defined(__aarch64__)
#define HOLD(x) __asm__("" : "+w"(x))
#else
#define HOLD(x) do { volatile lanes held_x = x; x = held_x; } while (0)
#endif
#else
#define LANES 1
typedef double lanes;
#define AT(pointer) (*(double *)(pointer))
#define LANE(x, lane) (x)
#define FETCH(pointer) (void)(pointer)
#define INLINE static inline
#define HOLD(x) (void)(x)
#endif
/* From one column of a block to the next: not a power of two, or all would fall on the same few cache lines. */
#define STRIDE (BLOCK + 8)
"""
