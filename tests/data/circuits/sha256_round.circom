// SPDX-License-Identifier: Apache-2.0
// A bit-heavy circuit: one round of SHA-256 (FIPS 180-4, section 6.2.2, step 3).
//
// Most witness values are 0 or 1. The words d, h and schedule (K_t + W_t mod 2^32) are public;
// whoever verifies checks that they are 32-bit words. The other six are range-checked by their bits.
pragma circom 2.1.0;

// `in`, which must fit `width` bits, bit by bit.
template Bits(width) {
    signal input in;
    signal output out[width];

    var sum = 0;
    for (var i = 0; i < width; i++) {
        out[i] <-- (in >> i) & 1;
        out[i] * (out[i] - 1) === 0;
        sum += out[i] * (1 << i);
    }
    sum === in;
}

// The xor of three rotations of a word, as the number the result stands for.
template RotationXor(first, second, third) {
    signal input in[32];
    signal output out;

    signal pair[32];
    signal bit[32];
    var sum = 0;
    for (var i = 0; i < 32; i++) {
        var x = in[(i + first) % 32];
        var y = in[(i + second) % 32];
        var z = in[(i + third) % 32];
        pair[i] <== 2 * x * y;
        var xor = x + y - pair[i];
        bit[i] <== 2 * xor * z;
        sum += (xor + z - bit[i]) * (1 << i);
    }
    out <== sum;
}

// For each bit, y where x is set, else z.
template Choose() {
    signal input x[32];
    signal input y[32];
    signal input z[32];
    signal output out;

    signal picked[32];
    var sum = 0;
    for (var i = 0; i < 32; i++) {
        picked[i] <== x[i] * (y[i] - z[i]);
        sum += (picked[i] + z[i]) * (1 << i);
    }
    out <== sum;
}

template Majority() {
    signal input x[32];
    signal input y[32];
    signal input z[32];
    signal output out;

    signal both[32];
    signal either[32];
    var sum = 0;
    for (var i = 0; i < 32; i++) {
        both[i] <== x[i] * y[i];
        either[i] <== z[i] * (x[i] + y[i] - 2 * both[i]);
        sum += (both[i] + either[i]) * (1 << i);
    }
    out <== sum;
}

// `in` modulo 2^32, where `in` fits `width` bits.
template Word(width) {
    signal input in;
    signal output out;

    component bits = Bits(width);
    bits.in <== in;
    var sum = 0;
    for (var i = 0; i < 32; i++) {
        sum += bits.out[i] * (1 << i);
    }
    out <== sum;
}

template Sha256Round() {
    signal input a;
    signal input b;
    signal input c;
    signal input d;
    signal input e;
    signal input f;
    signal input g;
    signal input h;
    signal input schedule;
    signal output next_a;
    signal output next_e;

    component bits[6];
    var words[6] = [a, b, c, e, f, g];
    for (var i = 0; i < 6; i++) {
        bits[i] = Bits(32);
        bits[i].in <== words[i];
    }

    component sigma_0 = RotationXor(2, 13, 22);
    sigma_0.in <== bits[0].out;
    component sigma_1 = RotationXor(6, 11, 25);
    sigma_1.in <== bits[3].out;

    component majority = Majority();
    majority.x <== bits[0].out;
    majority.y <== bits[1].out;
    majority.z <== bits[2].out;

    component choose = Choose();
    choose.x <== bits[3].out;
    choose.y <== bits[4].out;
    choose.z <== bits[5].out;

    // At most seven words added up: 35 bits hold every sum.
    var t1 = h + sigma_1.out + choose.out + schedule;
    var t2 = sigma_0.out + majority.out;
    component new_a = Word(35);
    new_a.in <== t1 + t2;
    component new_e = Word(35);
    new_e.in <== t1 + d;

    next_a <== new_a.out;
    next_e <== new_e.out;
}

component main {public [d, h, schedule]} = Sha256Round();
