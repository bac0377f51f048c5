// SPDX-License-Identifier: Apache-2.0
#include <boost/json/parse.hpp>
#include <memory>

#include "shm/schema_text.h"
#include "tools/command.h"
#include "tools/schema_table.h"
#include "tools/terminal.h"

namespace vitrine::tools {
namespace {

struct SchemaFlags {
  bool json = false;
};

Result<ExitCode> run_schema(const CommandContext& context, const SchemaFlags& flags) {
  const std::string schema = shm::schema_text();
  const TextStyle style = text_style_of(context.output.descriptor());
  const std::string text =
      flags.json ? schema + "\n" : schema_table(boost::json::parse(schema), style);
  if (const Result<void> written = context.output.write(text); !written) return written.error();
  return ExitCode::kOk;
}

}  // namespace

Command schema_command() {
  const auto flags = std::make_shared<SchemaFlags>();
  return {"schema", "Every value that a segment can hold: name, type, place, meaning",
          "0 shown, 1 output not writable, 2 usage",
          [flags](FlagSet& set) {
            set.toggle("--json", flags->json, "One JSON document and nothing else");
          },
          [flags](const CommandContext& context) { return run_schema(context, *flags); }};
}

}  // namespace vitrine::tools
