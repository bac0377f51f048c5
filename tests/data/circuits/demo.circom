// SPDX-License-Identifier: Apache-2.0
// A dense circuit: every witness value is a full-size field element.
//
// An x^5 permutation chain in the manner of MiMC, keyed by a public salt. x^5 is a permutation of
// both scalar fields used here. The round constants are for testing and carry no security claim.
pragma circom 2.1.0;

function round_constant(round) {
    var constant = 7;
    for (var i = 0; i <= round; i++) {
        constant = constant * constant * constant + 3 * i + 1;
    }
    return constant;
}

template Demo(rounds) {
    signal input preimage;
    signal input salt;
    signal output digest;

    signal state[rounds + 1];
    signal square[rounds];
    signal fourth[rounds];

    state[0] <== preimage;
    for (var i = 0; i < rounds; i++) {
        var constant = round_constant(i);
        square[i] <== (state[i] + salt + constant) * (state[i] + salt + constant);
        fourth[i] <== square[i] * square[i];
        state[i + 1] <== fourth[i] * (state[i] + salt + constant);
    }
    digest <== state[rounds] + salt;
}

component main {public [salt]} = Demo(80);
