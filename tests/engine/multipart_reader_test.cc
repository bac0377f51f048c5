// SPDX-License-Identifier: Apache-2.0
// A form's body taken apart: whatever the size of the pieces it comes in, the parts are the same.
#include "engine/multipart_reader.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

namespace vitrine::engine::testing {
namespace {

using Catch::Matchers::Contains;

struct Part {
  std::string name, file_name, bytes;
  bool is_over = false;
  bool operator==(const Part&) const = default;
};

// Keeps every part; may refuse at one of them.
class Parts : public MultipartReader::Listener {
 public:
  bool part_begins(const PartHead& head) override {
    parts.push_back({head.name, head.file_name, {}, false});
    return parts.size() <= most;
  }
  bool part_goes_on(std::span<const char> bytes) override {
    REQUIRE_FALSE(bytes.empty());
    parts.back().bytes.append(bytes.data(), bytes.size());
    return true;
  }
  bool part_ends() override {
    REQUIRE_FALSE(parts.back().is_over);
    parts.back().is_over = true;
    return true;
  }

  std::vector<Part> parts;
  std::size_t most = 100;
};

struct Outcome {
  std::vector<Part> parts;
  bool is_whole = false;
  std::string fault;
  bool operator==(const Outcome&) const = default;
};

// Reads the body in pieces that end at the places given, and at its end.
Outcome read(const std::string& body, const std::vector<std::size_t>& cuts = {},
             const std::string& boundary = "edge") {
  Parts parts;
  MultipartReader reader(boundary, parts);
  std::size_t begin = 0;
  bool goes_on = true;
  const auto take_to = [&](std::size_t end) {
    goes_on = goes_on && reader.take({body.data() + begin, end - begin});
    begin = end;
  };
  for (const std::size_t cut : cuts) take_to(cut);
  take_to(body.size());
  const bool is_whole = reader.finish() && goes_on;
  return {parts.parts, is_whole, reader.fault()};
}

std::string part(const std::string& bytes, const std::string& head = "") {
  return "--edge\r\nContent-Disposition: form-data; name=\"witness\"" + head + "\r\n\r\n" + bytes +
         "\r\n";
}

const std::string kEnd = "--edge--\r\n";

// Bytes that look like delimiters, and parts with none.
const std::string kHardBody = part("") + part("\r\n--edg\r\n\r\n--e--edge\r\r\n-") +
                              part(std::string("\0\r\n\xFF--", 6), "; filename=\"w 1.wtns\"") +
                              part("") + part("\r\n") + kEnd;

TEST_CASE("a form cut into two pieces at any byte is the form in one piece") {
  const Outcome whole = read(kHardBody);
  REQUIRE(whole.is_whole);
  REQUIRE(whole.parts.size() == 5);
  CHECK(whole.parts[0] == Part{"witness", "", "", true});
  CHECK(whole.parts[1].bytes == "\r\n--edg\r\n\r\n--e--edge\r\r\n-");
  CHECK(whole.parts[2] == Part{"witness", "w 1.wtns", std::string("\0\r\n\xFF--", 6), true});
  CHECK(whole.parts[3].bytes.empty());
  CHECK(whole.parts[4].bytes == "\r\n");
  for (std::size_t cut = 0; cut <= kHardBody.size(); ++cut) {
    INFO("cut at " << cut);
    CHECK(read(kHardBody, {cut}) == whole);
  }
}

TEST_CASE("a form that comes in pieces of any one size is the form in one piece") {
  const Outcome whole = read(kHardBody);
  for (std::size_t size = 1; size <= 40; ++size) {
    INFO("pieces of " << size);
    std::vector<std::size_t> cuts;
    for (std::size_t cut = size; cut < kHardBody.size(); cut += size) cuts.push_back(cut);
    CHECK(read(kHardBody, cuts) == whole);
  }
}

TEST_CASE("a form cut short at any byte is not whole, and says so") {
  for (std::size_t size = 0; size < kHardBody.size(); ++size) {
    INFO("the first " << size << " bytes");
    const Outcome cut = read(kHardBody.substr(0, size));
    // The line end after the last boundary may be missing, but not half of it.
    CHECK(cut.is_whole == (size == kHardBody.size() - 2));
    CHECK(cut.fault.empty() == cut.is_whole);
  }
}

TEST_CASE("an empty part counts, with and without the line end that belongs to its boundary") {
  const std::string head = "--edge\r\nContent-Disposition: form-data; name=witness\r\n\r\n";
  const std::string bare = head + head + "x\r\n" + head + kEnd;
  const Outcome whole = read(bare);
  REQUIRE(whole.is_whole);
  REQUIRE(whole.parts.size() == 3);
  CHECK(whole.parts[0].bytes.empty());
  CHECK(whole.parts[1].bytes == "x");
  CHECK(whole.parts[2].bytes.empty());
  for (std::size_t cut = 0; cut <= bare.size(); ++cut) CHECK(read(bare, {cut}) == whole);
  CHECK(read(kEnd).is_whole);
  CHECK(read(kEnd).parts.empty());
}

TEST_CASE("what is no form is refused with the rule, cut or not") {
  const std::string witness = "Content-Disposition: form-data; name=\"witness\"";
  const auto with_head = [](const std::string& head) {
    return "--edge\r\n" + head + "\r\n\r\nx\r\n" + kEnd;
  };
  const std::pair<std::string, const char*> wrong[] = {
      {"garbage", "begin with its boundary"},
      {"preamble\r\n" + part("x") + kEnd, "begin with its boundary"},
      {"--edgy\r\n", "begin with its boundary"},
      {"--edge\n" + part("x"), "followed by other bytes"},
      {part("x") + "--edge-\r\n", "followed by other bytes"},
      {part("a\r\n--edged\r\nb") + kEnd, "followed by other bytes"},
      {part("x") + kEnd + "epilogue", "follow its last boundary"},
      {part("x") + kEnd + "\r\n", "follow its last boundary"},
      {with_head(""), "head of a part"},
      {with_head("Content-Type: text/plain"), "head of a part"},
      {with_head(witness + "\r\n" + witness), "head of a part"},
      {with_head(witness + "; name=\"other\""), "head of a part"},
      {with_head(witness + "; filename=\"open"), "head of a part"},
      {with_head("Content-Disposition: attachment; name=\"witness\""), "head of a part"},
      {with_head("Content-Disposition: form-data"), "head of a part"},
      {with_head(witness + "\r\nno colon"), "head of a part"},
      {with_head(witness + "; filename=\"a\nb\""), "head of a part"},
      {with_head(witness + std::string("; filename=\"a\0b\"", 16)), "head of a part"},
      {with_head(witness + "\r\nContent-Transfer-Encoding: base64"), "head of a part"},
      {with_head(witness + "\r\nX: " + std::string(MultipartReader::kHeadBytesMax, 'x')), "longer"},
      {"--edge\r\n" + std::string(100'000, 'x'), "longer"},
      {part("x"), "ends before its last boundary"},
      {"", "ends before its last boundary"},
  };
  for (const auto& [body, rule] : wrong) {
    INFO(body.substr(0, 100));
    const Outcome refused = read(body);
    CHECK_FALSE(refused.is_whole);
    CHECK_THAT(refused.fault, Contains(rule));
    for (std::size_t cut = 0; cut <= std::min<std::size_t>(body.size(), 200); ++cut) {
      CHECK(read(body, {cut}) == refused);
    }
  }
  const auto binary = with_head(
      "X-Other: 1\r\ncontent-disposition:form-data;NAME=witness;\r\n"
      "Content-Transfer-Encoding: binary");
  CHECK(read(binary).is_whole);
}

TEST_CASE("names in quotes come out as they were meant") {
  const auto file_name = [](const std::string& quoted) {
    return read(part("x", "; filename=" + quoted) + kEnd).parts.at(0).file_name;
  };
  CHECK(file_name("\"a;b=c.wtns\"") == "a;b=c.wtns");
  CHECK(file_name("\"a\\\"b\\\\c\"") == "a\"b\\c");
  CHECK(file_name("\"C:\\keys\\w.wtns\"") == "C:\\keys\\w.wtns");
  CHECK(file_name("plain.wtns") == "plain.wtns");
  CHECK(file_name("\"\"").empty());
}

TEST_CASE("a reader that was told to stop hears nothing more and is not whole") {
  Parts parts;
  parts.most = 1;
  MultipartReader reader("edge", parts);
  const std::string body = part("one") + part("two") + part("three") + kEnd;
  CHECK_FALSE(reader.take(body));
  CHECK_FALSE(reader.take(body));
  CHECK_FALSE(reader.finish());
  CHECK(reader.fault().empty());
  CHECK(parts.parts.size() == 2);
}

TEST_CASE("the boundary is what Content-Type says, when it may be one") {
  const auto boundary = &MultipartReader::boundary_of;
  CHECK(boundary("multipart/form-data; boundary=edge") == "edge");
  CHECK(boundary("Multipart/Form-Data;charset=x; BOUNDARY=\"a b?\"") == "a b?");
  CHECK(boundary("multipart/form-data; boundary=" + std::string(70, 'x')) == std::string(70, 'x'));
  for (const std::string& wrong :
       {std::string("multipart/form-data"), std::string("multipart/form-data; boundary="),
        std::string("multipart/form-data; boundary=\"\""),
        std::string("multipart/form-data; boundary=\"a \""),
        std::string("multipart/form-data; boundary=a; boundary=b"),
        std::string("multipart/form-data; boundary=a<b"),
        std::string("multipart/mixed; boundary=edge"),
        "multipart/form-data; boundary=" + std::string(71, 'x')}) {
    INFO(wrong);
    CHECK_FALSE(boundary(wrong));
  }
}

}  // namespace
}  // namespace vitrine::engine::testing
