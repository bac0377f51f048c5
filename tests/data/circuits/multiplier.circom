// SPDX-License-Identifier: Apache-2.0
// The smallest circuit that means something: two factors of a public product.
pragma circom 2.1.0;

template Multiplier() {
    signal input a;
    signal input b;
    signal output product;

    product <== a * b;
}

component main = Multiplier();
