// SPDX-License-Identifier: Apache-2.0
#include "exporters/metric_format.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace vitrine::exporters {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

// Cuts off and returns what stands before the next separator that is in no quoted string.
std::string_view take_part(std::string_view& text, char separator) {
  bool is_quoted = false;
  std::size_t at = 0;
  for (; at < text.size() && (is_quoted || text[at] != separator); ++at) {
    if (text[at] == '"') is_quoted = !is_quoted;
    if (text[at] == '\\' && is_quoted) ++at;
  }
  at = std::min(at, text.size());
  const std::string_view part = trimmed(text.substr(0, at));
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

struct Parameter {
  std::string_view name;
  std::string_view value;
};

Parameter parameter_of(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  std::string_view value = trimmed(text.substr(std::min(equals + 1, text.size())));
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  return {trimmed(text.substr(0, equals)), value};
}

// Thousandths; nothing for what is no quality, whose range then counts for nothing.
std::optional<int> quality_of(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int thousandths = (text[0] - '0') * 1000;
  int weight = 100;
  for (const char digit : text.substr(std::min<std::size_t>(2, text.size()))) {
    if (digit < '0' || digit > '9') return std::nullopt;
    thousandths += (digit - '0') * weight;
    weight /= 10;
  }
  return thousandths <= 1000 ? std::optional(thousandths) : std::nullopt;
}

struct Offer {
  std::string_view type;
  std::string_view subtype;
  std::string_view version;
};
constexpr Offer kText{"text", "plain", "0.0.4"};
constexpr Offer kOpen{"application", "openmetrics-text", "1.0.0"};

// How exactly a range names the offer: 0 not at all, then */*, type/*, and type/subtype with as
// many parameters as it has.
int match_of(std::string_view range, const Offer& offer) {
  const std::size_t slash = std::min(range.find('/'), range.size());
  const std::string_view type = range.substr(0, slash);
  const std::string_view subtype = range.substr(std::min(slash + 1, range.size()));
  if (type == "*" && subtype == "*") return 1;
  if (!equals_ignoring_case(type, offer.type)) return 0;
  if (subtype == "*") return 2;
  return equals_ignoring_case(subtype, offer.subtype) ? 3 : 0;
}

// What one range of an Accept header says of an offer.
struct Wish {
  int match = 0;
  int quality = 0;
};

Wish wish_of(std::string_view range, const Offer& offer) {
  Wish wish{match_of(take_part(range, ';'), offer), 1000};
  while (wish.match > 0 && !range.empty()) {
    const Parameter parameter = parameter_of(take_part(range, ';'));
    if (equals_ignoring_case(parameter.name, "q")) {
      const auto quality = quality_of(parameter.value);
      return quality ? Wish{wish.match, *quality} : Wish{};
    }
    const bool holds =
        (equals_ignoring_case(parameter.name, "version") && parameter.value == offer.version) ||
        (equals_ignoring_case(parameter.name, "charset") &&
         equals_ignoring_case(parameter.value, "utf-8")) ||
        parameter.name.empty();
    wish.match = holds ? wish.match + 1 : 0;
  }
  return wish;
}

int quality_for(const RequestHead& head, const Offer& offer) {
  Wish best;
  for (const Header& header : head.headers) {
    if (!equals_ignoring_case(header.name, "Accept")) continue;
    for (std::string_view rest = header.value; !rest.empty();) {
      const Wish wish = wish_of(take_part(rest, ','), offer);
      const bool is_better =
          wish.match > best.match || (wish.match == best.match && wish.quality > best.quality);
      if (wish.match > 0 && is_better) best = wish;
    }
  }
  return best.quality;
}

}  // namespace

MetricFormat metric_format_for(const RequestHead& head) {
  return quality_for(head, kOpen) > quality_for(head, kText) ? MetricFormat::kOpenMetrics
                                                             : MetricFormat::kPrometheusText;
}

}  // namespace vitrine::exporters
