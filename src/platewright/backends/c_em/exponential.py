"""The C of exponentials and of largest values, lane by lane: what log-sum-exp needs.

    2^x = 2^n 2^(j / PARTS) 2^r        n + j / PARTS is x rounded to parts of one, so |r| <= 1 / (2 PARTS)

With AVX-512 the 16 roots of two stand in two registers and one instruction looks them up: a polynomial of degree 6 is
left, where it would be 11. Both were fitted to the least largest error (Remez), which is 1.4e-17. Several registers go
abreast, step by step: each step waits for the one before it, and the others fill the time.
"""

from __future__ import annotations

EXPONENTIAL = """
#if LANES == 1
typedef uint64_t whole_lanes;
INLINE whole_lanes bits_of(lanes x)
{
    const union { double real; uint64_t bits; } both = {x};
    return both.bits;
}
INLINE lanes of_bits(whole_lanes bits)
{
    union { double real; uint64_t bits; } both;
    both.bits = bits;
    return both.real;
}
#else
typedef uint64_t whole_lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
#define bits_of(x) ((whole_lanes)(x))
#define of_bits(bits) ((lanes)(bits))
#endif

#if LANES == 8 && !defined(__clang__)
#define PARTS 16
#else
#define PARTS 1
#endif
#define ROUND (6755399441055744.0 / PARTS) /* the low bits of x + ROUND are those of the integer x PARTS */

#if PARTS == 16
/* Roots of two, less j in the bits where the low bits of a rounded number are added. */
static const uint64_t ROOT[16] = {
    0x3ff0000000000000, 0x3fefb5586cf9890f, 0x3fef72b83c7d517b, 0x3fef387a6e756238, 0x3fef06fe0a31b715,
    0x3feedea64c123422, 0x3feebfdad5362a27, 0x3feeab07dd485429, 0x3feea09e667f3bcd, 0x3feea11473eb0187,
    0x3feeace5422aa0db, 0x3feec49182a3f090, 0x3feee89f995ad3ad, 0x3fef199bdd85529c, 0x3fef5818dcfba487,
    0x3fefa4afa2a490da};

INLINE void power(const lanes rounded[WIDE], const lanes r[WIDE], lanes found[WIDE])
{
    lanes near[WIDE];
    ABREAST {
        const whole_lanes bits = (whole_lanes)rounded[v];
        const whole_lanes root = __builtin_shuffle(*(const whole_lanes *)ROOT, *(const whole_lanes *)(ROOT + 8), bits);
        near[v] = (lanes)(root + (bits << 48));
    }
    ABREAST found[v] = 0.00015403788504571653 * r[v] + 0.0013333781576905016;
    ABREAST found[v] = found[v] * r[v] + 0.009618129106131895;
    ABREAST found[v] = found[v] * r[v] + 0.05550410865663929;
    ABREAST found[v] = found[v] * r[v] + 0.24022650695910094;
    ABREAST found[v] = found[v] * r[v] + 0.6931471805599457;
    ABREAST found[v] = near[v] * r[v] * found[v] + near[v];
}
#else
INLINE void power(const lanes rounded[WIDE], const lanes r[WIDE], lanes found[WIDE])
{
    ABREAST found[v] = 4.456676030826705e-10 * r[v] + 7.072586161230777e-09;
    ABREAST found[v] = found[v] * r[v] + 1.0178051724308302e-07;
    ABREAST found[v] = found[v] * r[v] + 1.3215442586728665e-06;
    ABREAST found[v] = found[v] * r[v] + 1.5252733853289477e-05;
    ABREAST found[v] = found[v] * r[v] + 0.00015403530441738291;
    ABREAST found[v] = found[v] * r[v] + 0.0013333558146395995;
    ABREAST found[v] = found[v] * r[v] + 0.009618129107606887;
    ABREAST found[v] = found[v] * r[v] + 0.05550410866482166;
    ABREAST found[v] = found[v] * r[v] + 0.24022650695910097;
    ABREAST found[v] = found[v] * r[v] + 0.6931471805599453;
    ABREAST found[v] = found[v] * r[v] + 1.0;
    ABREAST found[v] = of_bits(bits_of(found[v]) + (bits_of(rounded[v]) << 52));
}
#endif

/* The larger one, lane by lane; the second where one is not a number. */
INLINE lanes larger(lanes one, lanes other)
{
#if LANES == 1
    return one > other ? one : other;
#elif defined(__AVX__)
    lanes found;
    __asm__("vmaxpd %2, %1, %0" : "=v"(found) : "v"(one), "v"(other));
    return found;
#else
    const whole_lanes is_more = (whole_lanes)(one > other);
    return (lanes)(((whole_lanes)one & is_more) | ((whole_lanes)other & ~is_more));
#endif
}

/* 2^x of numbers up to 0, within 2 units in the last place where x > -1022, and 0 from -1023 on: there the bits of the
 * power are those of 0, so a largest value is all it takes. What is not a number stays so. */
INLINE void small_powers(lanes x[WIDE])
{
    lanes rounded[WIDE], r[WIDE];
    ABREAST x[v] = larger(-1023.0 - (lanes){0.0}, x[v]);
    ABREAST {
        rounded[v] = x[v] + ROUND;
        HOLD(rounded[v]);
    }
    ABREAST {
        lanes n = rounded[v] - ROUND;
        HOLD(n);
        r[v] = x[v] - n;
    }
    power(rounded, r, x);
}
"""
