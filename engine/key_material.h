// SPDX-License-Identifier: Apache-2.0
// A key under construction: all its points, and the step that writes them to a `.zkey`.
#pragma once

#include <filesystem>

#include "engine/error.h"
#include "engine/proof.h"
#include "engine/proving_key.h"
#include "engine/r1cs.h"

namespace vitrine::engine {

template <class Curve>
struct KeyMaterial {
  ProvingPoints<Curve> points;
  VerifyingPoints<Curve> verifying;
};

// The contribution section says that the key is a development key. Errors: kInternal naming the
// file.
template <class Curve>
[[nodiscard]] Result<void> write_zkey(const std::filesystem::path& path,
                                      const KeyMaterial<Curve>& key, const R1csShape& shape,
                                      const R1csMatrices<typename Curve::Fr>& matrices);

}  // namespace vitrine::engine
