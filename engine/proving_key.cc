// SPDX-License-Identifier: Apache-2.0
#include "engine/proving_key.h"

#include <array>
#include <new>
#include <string>
#include <utility>

#include "engine/file_digest.h"
#include "engine/quantities.h"
#include "engine/zkey_coefficients.h"
#include "engine/zkey_file.h"
#include "engine/zkey_points.h"
#include "kernels/subgroup.h"

namespace vitrine::engine {
namespace {

template <class Curve>
struct HeaderPoints {
  kernels::AffinePoint<typename Curve::G1> alpha1, beta1, delta1;
  kernels::AffinePoint<typename Curve::G2> beta2, gamma2, delta2;
};

template <class Group>
Result<void> take_header_point(const ZkeyFile& file, std::string_view name, ByteReader& reader,
                               kernels::AffinePoint<Group>& point) {
  const char* rule = nullptr;
  if (!take_montgomery(reader, point)) {
    rule = " is not below the modulus";
  } else if (point.is_infinity()) {
    rule = " is the point at infinity";
  } else if (!kernels::is_on_curve(point)) {
    rule = " is not on the curve";
  } else if (!kernels::is_in_subgroup(point)) {
    rule = " is not in the subgroup";
  }
  if (rule == nullptr) return {};
  return file.section_error(ZkeySection::kHeader, std::string(name) + rule);
}

template <class Curve>
Result<HeaderPoints<Curve>> read_header_points(const ZkeyFile& file) {
  std::array<std::byte, kZkeyHeaderBytes<Curve> - kZkeyNumbersBytes<Curve>> bytes;
  auto done =
      file.container.read(file.section(ZkeySection::kHeader), kZkeyNumbersBytes<Curve>, bytes);
  if (!done) return done.error();
  ByteReader reader(bytes);
  HeaderPoints<Curve> points;
  Result<void> taken = take_header_point(file, "alpha1", reader, points.alpha1);
  if (taken) taken = take_header_point(file, "beta1", reader, points.beta1);
  if (taken) taken = take_header_point(file, "beta2", reader, points.beta2);
  if (taken) taken = take_header_point(file, "gamma2", reader, points.gamma2);
  if (taken) taken = take_header_point(file, "delta1", reader, points.delta1);
  if (taken) taken = take_header_point(file, "delta2", reader, points.delta2);
  if (!taken) return taken.error();
  return points;
}

template <class Curve>
Result<VerifyingKey> read_verifying_key(const ZkeyFile& file, const HeaderPoints<Curve>& header,
                                        ZkeyPointReader& reader) {
  VerifyingPoints<Curve> key;
  key.alpha1 = header.alpha1;
  key.beta2 = header.beta2;
  key.gamma2 = header.gamma2;
  key.delta2 = header.delta2;
  auto ic = reader.template read<typename Curve::G1>(ZkeySection::kIc,
                                                     std::size_t{file.shape.public_inputs} + 1);
  if (!ic) return ic.error();
  for (std::size_t i = 0; i < ic->size(); ++i) {
    if (kernels::is_in_subgroup((*ic)[i])) continue;
    return file.section_error(ZkeySection::kIc,
                              "point " + std::to_string(i) + " is not in the subgroup");
  }
  key.ic.assign(ic->begin(), ic->end());
  return VerifyingKey(std::move(key));
}

// Reads one section into its array, if all went well so far.
template <class Group>
void read_into(LargeVector<kernels::AffinePoint<Group>>& points, ZkeyPointReader& reader,
               std::pair<ZkeySection, std::size_t> section, Result<void>& outcome) {
  if (!outcome) return;
  auto read = reader.template read<Group>(section.first, section.second);
  if (read) {
    points = std::move(*read);
  } else {
    outcome = read.error();
  }
}

template <class Curve>
Result<ProvingPoints<Curve>> read_points(const KeyShape& shape, const HeaderPoints<Curve>& header,
                                         ZkeyPointReader& reader) {
  const std::size_t variables = shape.variables;
  ProvingPoints<Curve> points;
  points.alpha1 = header.alpha1;
  points.beta1 = header.beta1;
  points.delta1 = header.delta1;
  points.beta2 = header.beta2;
  points.delta2 = header.delta2;
  Result<void> outcome;
  read_into(points.a, reader, {ZkeySection::kA, variables}, outcome);
  read_into(points.b1, reader, {ZkeySection::kB1, variables}, outcome);
  read_into(points.b2, reader, {ZkeySection::kB2, variables}, outcome);
  read_into(points.l, reader, {ZkeySection::kL, variables - shape.public_inputs - 1}, outcome);
  read_into(points.h, reader, {ZkeySection::kH, shape.domain_size}, outcome);
  if (!outcome) return outcome.error();
  return points;
}

template <class Curve>
Result<HeaderPoints<Curve>> read_trusted_header(const ZkeyFile& file, KeyTrust trust) {
  auto header = read_header_points<Curve>(file);
  if (header && header->gamma2 == header->delta2 && trust != KeyTrust::kInsecure) {
    return file.section_error(ZkeySection::kHeader,
                              "gamma2 equals delta2: no phase-2 contribution, anybody can forge "
                              "proofs; for tests set insecure");
  }
  return header;
}

Result<std::string> check_digest(const ZkeyFile& file, const ProvingKeyOptions& options,
                                 FileDigest& digest, const LoadProgress& progress) {
  auto found = digest.await([&progress] { progress.tell(); });
  if (found && !options.digest.empty() && *found != options.digest) {
    return file.container.file_error("its sha256 is " + *found + ", expected the digest " +
                                     options.digest);
  }
  return found;
}

LoadProgress progress_for(const ZkeyFile& file, const ProvingKeyOptions& options) {
  return {options.progress, file.container.size_bytes(),
          file.section(ZkeySection::kCoefficients).length_bytes};
}

KeyTrust trust_of(const ProvingKeyOptions& options) {
  return options.insecure ? KeyTrust::kInsecure : KeyTrust::kContributed;
}

template <class Curve>
Result<std::shared_ptr<const ProvingKey>> load(const ZkeyFile& file,
                                               const ProvingKeyOptions& options,
                                               kernels::ThreadPool& threads) {
  auto header = read_trusted_header<Curve>(file, trust_of(options));
  if (!header) return header.error();
  FileDigest digest(file.container);
  if (!options.digest.empty()) digest.begin();
  LoadProgress progress = progress_for(file, options);
  ZkeyPointReader reader(file, threads, progress);
  auto verifying_key = read_verifying_key<Curve>(file, *header, reader);
  if (!verifying_key) return verifying_key.error();
  auto matrices = ZkeyCoefficientReader<typename Curve::Fr>(file, progress).read();
  if (!matrices) return matrices.error();
  progress.end_constraints();
  auto points = read_points<Curve>(file.shape, *header, reader);
  if (!points) return points.error();
  if (!options.digest.empty()) {
    const auto same = check_digest(file, options, digest, progress);
    if (!same) return same.error();
  }
  return std::make_shared<const ProvingKey>(ProvingKey{
      file.shape, std::move(*verifying_key),
      CurveKey<Curve>{std::move(*points), std::move((*matrices)[0]), std::move((*matrices)[1])}});
}

template <class Curve>
Result<void> check_points(const KeyShape& shape, ZkeyPointReader& reader) {
  using G1 = typename Curve::G1;
  const std::size_t variables = shape.variables;
  auto checked = reader.template check<G1>(ZkeySection::kA, variables);
  if (checked) checked = reader.template check<G1>(ZkeySection::kB1, variables);
  if (checked) checked = reader.template check<typename Curve::G2>(ZkeySection::kB2, variables);
  if (checked) {
    checked = reader.template check<G1>(ZkeySection::kL, variables - shape.public_inputs - 1);
  }
  if (checked) checked = reader.template check<G1>(ZkeySection::kH, shape.domain_size);
  return checked;
}

template <class Curve>
Result<std::string> verify(const ZkeyFile& file, const ProvingKeyOptions& options,
                           kernels::ThreadPool& threads) {
  auto header = read_trusted_header<Curve>(file, trust_of(options));
  if (!header) return header.error();
  FileDigest digest(file.container);
  digest.begin();
  LoadProgress progress = progress_for(file, options);
  ZkeyPointReader reader(file, threads, progress);
  auto verifying_key = read_verifying_key<Curve>(file, *header, reader);
  if (!verifying_key) return verifying_key.error();
  auto checked = ZkeyCoefficientReader<typename Curve::Fr>(file, progress).check();
  if (!checked) return checked.error();
  progress.end_constraints();
  if (auto points = check_points<Curve>(file.shape, reader); !points) return points.error();
  return check_digest(file, options, digest, progress);
}

Error no_memory(const std::filesystem::path& path, std::uint64_t bytes) {
  return {ErrorClass::kOutOfMemory,
          path.string() + ": no memory for a proving key of " + size_text(bytes)};
}

// Calls read(curve, file) with the key's curve.
template <class Value, class Read>
Result<Value> with_key_file(const std::filesystem::path& path, Read read) {
  auto file = ZkeyFile::open(path);
  if (!file) return file.error();
  try {
    return with_curve(file->shape.curve, [&](auto curve) { return read(curve, *file); });
  } catch (const std::bad_alloc&) {
    return no_memory(path, file->shape.points_bytes + file->shape.constraints_bytes);
  }
}

}  // namespace

Result<KeyShape> check_proving_key_header(const std::filesystem::path& path, KeyTrust trust) {
  auto file = ZkeyFile::open(path);
  if (!file) return file.error();
  return with_curve(file->shape.curve, [&](auto curve) -> Result<KeyShape> {
    const auto header = read_trusted_header<typename decltype(curve)::type>(*file, trust);
    if (!header) return header.error();
    return file->shape;
  });
}

Result<std::shared_ptr<const ProvingKey>> load_proving_key(const std::filesystem::path& path,
                                                           const ProvingKeyOptions& options,
                                                           kernels::ThreadPool& threads) {
  return with_key_file<std::shared_ptr<const ProvingKey>>(path, [&](auto curve, ZkeyFile& file) {
    return load<typename decltype(curve)::type>(file, options, threads);
  });
}

Result<std::string> verify_proving_key(const std::filesystem::path& path,
                                       const ProvingKeyOptions& options,
                                       kernels::ThreadPool& threads) {
  return with_key_file<std::string>(path, [&](auto curve, ZkeyFile& file) {
    return verify<typename decltype(curve)::type>(file, options, threads);
  });
}

}  // namespace vitrine::engine
