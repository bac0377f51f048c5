// SPDX-License-Identifier: Apache-2.0
// x86-64 instructions for fields of 4 and 6 limbs: what compilers do not make of portable loops.
//
// Sums and differences run on every x86-64, the product needs BMI2 and ADX (cpu_has_adx). Operands
// are below the modulus and so are results; they may be the same object.
// Threads: pure functions.
// Why: a row of a product wants two carry chains at once (adcx, adox), which no C++ expression
//   gives, and compilers turn the final correction into a branch that is mispredicted half the
//   time. Testing cpu_has_adx before a product is predicted always and costs less than 1 % of it,
//   so one build serves every machine. Unoptimised builds are portable: there the compiler holds
//   every operand's address in a register of its own and runs out of them.
// Source: Ozturk, Guilford, Gopal, Feghali, "New instructions supporting large integer arithmetic
// on
//   Intel architecture processors" (2012).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/limbs.h"

#if defined(__x86_64__) && defined(__OPTIMIZE__)
#define VITRINE_X86_FIELDS 1

namespace vitrine::kernels {

// Set before main begins; false until then, which is slower and not wrong.
extern const bool cpu_has_adx;

// clang-format off

// Operands: t the value, b the other value, p the modulus, u a copy of the value.
#define VITRINE_T(t, i) [t##i] "+&r"(t[i])
#define VITRINE_M(b, i) [b##i] "m"(b[i])
#define VITRINE_RM(u, i) [u##i] "rm"(u[i])
#define VITRINE_OP(op, from, to) #op " %[" #from "], %[" #to "]\n"
#define VITRINE_FIRST_4(X, t) X(t, 0), X(t, 1), X(t, 2), X(t, 3)
#define VITRINE_FIRST_6(X, t) VITRINE_FIRST_4(X, t), X(t, 4), X(t, 5)
// op on the lowest limb, then carry_op on the rest.
#define VITRINE_CHAIN_4(op, carry_op, b, t)                                                       \
  VITRINE_OP(op, b##0, t##0) VITRINE_OP(carry_op, b##1, t##1) VITRINE_OP(carry_op, b##2, t##2)    \
  VITRINE_OP(carry_op, b##3, t##3)
#define VITRINE_CHAIN_6(op, carry_op, b, t)                                                       \
  VITRINE_CHAIN_4(op, carry_op, b, t)                                                             \
  VITRINE_OP(carry_op, b##4, t##4) VITRINE_OP(carry_op, b##5, t##5)

// u - p if that does not borrow, else u.
inline LimbArray<4> reduce_once_x86(const LimbArray<4>& u, const LimbArray<4>& p) {
  LimbArray<4> t = u;
  asm(VITRINE_CHAIN_4(subq, sbbq, p, t) VITRINE_CHAIN_4(cmovcq, cmovcq, u, t)
      : VITRINE_FIRST_4(VITRINE_T, t)
      : VITRINE_FIRST_4(VITRINE_RM, u), VITRINE_FIRST_4(VITRINE_M, p)
      : "cc");
  return t;
}
inline LimbArray<6> reduce_once_x86(const LimbArray<6>& u, const LimbArray<6>& p) {
  LimbArray<6> t = u;
  asm(VITRINE_CHAIN_6(subq, sbbq, p, t) VITRINE_CHAIN_6(cmovcq, cmovcq, u, t)
      : VITRINE_FIRST_6(VITRINE_T, t)
      : VITRINE_FIRST_6(VITRINE_RM, u), VITRINE_FIRST_6(VITRINE_M, p)
      : "cc");
  return t;
}

inline LimbArray<4> add_modular_x86(LimbArray<4> t, const LimbArray<4>& b, const LimbArray<4>& p) {
  asm(VITRINE_CHAIN_4(addq, adcq, b, t)
      : VITRINE_FIRST_4(VITRINE_T, t) : VITRINE_FIRST_4(VITRINE_M, b) : "cc");
  return reduce_once_x86(t, p);
}
inline LimbArray<6> add_modular_x86(LimbArray<6> t, const LimbArray<6>& b, const LimbArray<6>& p) {
  asm(VITRINE_CHAIN_6(addq, adcq, b, t)
      : VITRINE_FIRST_6(VITRINE_T, t) : VITRINE_FIRST_6(VITRINE_M, b) : "cc");
  return reduce_once_x86(t, p);
}

// t - b, then plus p if that borrowed, else plus 0.
inline LimbArray<4> subtract_modular_x86(LimbArray<4> t, const LimbArray<4>& b,
                                         const LimbArray<4>& p) {
  std::uint64_t mask;
  asm(VITRINE_CHAIN_4(subq, sbbq, b, t) "sbbq %[mask], %[mask]\n"
      : VITRINE_FIRST_4(VITRINE_T, t), [mask] "=&r"(mask)
      : VITRINE_FIRST_4(VITRINE_M, b) : "cc");
  const std::uint64_t u[4] = {p[0] & mask, p[1] & mask, p[2] & mask, p[3] & mask};
  asm(VITRINE_CHAIN_4(addq, adcq, u, t)
      : VITRINE_FIRST_4(VITRINE_T, t) : VITRINE_FIRST_4(VITRINE_RM, u) : "cc");
  return t;
}
inline LimbArray<6> subtract_modular_x86(LimbArray<6> t, const LimbArray<6>& b,
                                         const LimbArray<6>& p) {
  std::uint64_t mask;
  asm(VITRINE_CHAIN_6(subq, sbbq, b, t) "sbbq %[mask], %[mask]\n"
      : VITRINE_FIRST_6(VITRINE_T, t), [mask] "=&r"(mask)
      : VITRINE_FIRST_6(VITRINE_M, b) : "cc");
  const std::uint64_t u[6] = {p[0] & mask, p[1] & mask, p[2] & mask,
                              p[3] & mask, p[4] & mask, p[5] & mask};
  asm(VITRINE_CHAIN_6(addq, adcq, u, t)
      : VITRINE_FIRST_6(VITRINE_T, t) : VITRINE_FIRST_6(VITRINE_RM, u) : "cc");
  return t;
}

// t += x * rdx: low halves along the carry flag, high halves along the overflow flag; the last
// register takes the top word and the last carry.
#define VITRINE_STEP(x, j, low, high)                                                             \
  "mulxq 8*" #j "(%[" #x "]), %[lo], %[hi]\n"                                                     \
  VITRINE_OP(adcxq, lo, low) VITRINE_OP(adoxq, hi, high)
#define VITRINE_TOP(top) "movl $0, %k[lo]\n" VITRINE_OP(adcxq, lo, top)
#define VITRINE_ROW_4(x, t0, t1, t2, t3, t4)                                                      \
  "xorl %k[lo], %k[lo]\n"                                                                         \
  VITRINE_STEP(x, 0, t0, t1) VITRINE_STEP(x, 1, t1, t2) VITRINE_STEP(x, 2, t2, t3)                \
  VITRINE_STEP(x, 3, t3, t4) VITRINE_TOP(t4)
#define VITRINE_ROW_6(x, t0, t1, t2, t3, t4, t5, t6)                                              \
  "xorl %k[lo], %k[lo]\n"                                                                         \
  VITRINE_STEP(x, 0, t0, t1) VITRINE_STEP(x, 1, t1, t2) VITRINE_STEP(x, 2, t2, t3)                \
  VITRINE_STEP(x, 3, t3, t4) VITRINE_STEP(x, 4, t4, t5) VITRINE_STEP(x, 5, t5, t6)                \
  VITRINE_TOP(t6)
#define VITRINE_LIMB(i) "movq 8*" #i "(%[b]), %%rdx\n"
#define VITRINE_FACTOR(t0) "movq %[inv], %%rdx\n imulq %[" #t0 "], %%rdx\n"

// CIOS for one limb of b: t += a * b_i; t += p * factor, which clears the lowest register, and that
// becomes the top word of the next round.
#define VITRINE_ROUND_4(i, t0, t1, t2, t3, t4)                                                    \
  VITRINE_LIMB(i) VITRINE_ROW_4(a, t0, t1, t2, t3, t4)                                            \
  VITRINE_FACTOR(t0) VITRINE_ROW_4(p, t0, t1, t2, t3, t4)
#define VITRINE_ROUND_6(i, t0, t1, t2, t3, t4, t5, t6)                                            \
  VITRINE_LIMB(i) VITRINE_ROW_6(a, t0, t1, t2, t3, t4, t5, t6)                                    \
  VITRINE_FACTOR(t0) VITRINE_ROW_6(p, t0, t1, t2, t3, t4, t5, t6)

// a b / R mod p; inv is -1 / p mod 2^64.
inline LimbArray<4> multiply_montgomery_adx(const LimbArray<4>& a, const LimbArray<4>& b,
                                            const LimbArray<4>& p, std::uint64_t inv) {
  std::uint64_t t[5] = {}, lo, hi;
  asm(VITRINE_ROUND_4(0, t0, t1, t2, t3, t4)
      VITRINE_ROUND_4(1, t1, t2, t3, t4, t0)
      VITRINE_ROUND_4(2, t2, t3, t4, t0, t1)
      VITRINE_ROUND_4(3, t3, t4, t0, t1, t2)
      : VITRINE_FIRST_4(VITRINE_T, t), VITRINE_T(t, 4), [lo] "=&r"(lo), [hi] "=&r"(hi)
      : [a] "r"(a.data()), [b] "r"(b.data()), [p] "r"(p.data()), [inv] "rm"(inv),
        "m"(a), "m"(b), "m"(p)
      : "rdx", "cc");
  const LimbArray<4> product = {t[4], t[0], t[1], t[2]};
  return reduce_once_x86(product, p);
}
inline LimbArray<6> multiply_montgomery_adx(const LimbArray<6>& a, const LimbArray<6>& b,
                                            const LimbArray<6>& p, std::uint64_t inv) {
  std::uint64_t t[7] = {}, lo, hi;
  asm(VITRINE_ROUND_6(0, t0, t1, t2, t3, t4, t5, t6)
      VITRINE_ROUND_6(1, t1, t2, t3, t4, t5, t6, t0)
      VITRINE_ROUND_6(2, t2, t3, t4, t5, t6, t0, t1)
      VITRINE_ROUND_6(3, t3, t4, t5, t6, t0, t1, t2)
      VITRINE_ROUND_6(4, t4, t5, t6, t0, t1, t2, t3)
      VITRINE_ROUND_6(5, t5, t6, t0, t1, t2, t3, t4)
      : VITRINE_FIRST_6(VITRINE_T, t), VITRINE_T(t, 6), [lo] "=&r"(lo), [hi] "=&r"(hi)
      : [a] "r"(a.data()), [b] "r"(b.data()), [p] "r"(p.data()), [inv] "m"(inv),
        "m"(a), "m"(b), "m"(p)
      : "rdx", "cc");
  const LimbArray<6> product = {t[6], t[0], t[1], t[2], t[3], t[4]};
  return reduce_once_x86(product, p);
}

// clang-format on

#undef VITRINE_T
#undef VITRINE_M
#undef VITRINE_RM
#undef VITRINE_OP
#undef VITRINE_FIRST_4
#undef VITRINE_FIRST_6
#undef VITRINE_CHAIN_4
#undef VITRINE_CHAIN_6
#undef VITRINE_STEP
#undef VITRINE_TOP
#undef VITRINE_ROW_4
#undef VITRINE_ROW_6
#undef VITRINE_LIMB
#undef VITRINE_FACTOR
#undef VITRINE_ROUND_4
#undef VITRINE_ROUND_6

}  // namespace vitrine::kernels

#else
#define VITRINE_X86_FIELDS 0
#endif
