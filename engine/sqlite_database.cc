// SPDX-License-Identifier: Apache-2.0
#include "engine/sqlite_database.h"

#include <utility>

namespace vitrine::engine {
namespace {

constexpr int kLockPatienceMs = 1000;

Error error_of(int code, const char* text) {
  const bool is_full = (code & 0xFF) == SQLITE_FULL || (code & 0xFF) == SQLITE_NOMEM;
  return {is_full ? ErrorClass::kOutOfMemory : ErrorClass::kInternal, text};
}

}  // namespace

void SqliteStatement::bind(int parameter, std::int64_t value) {
  note(sqlite3_bind_int64(statement_.get(), parameter, value));
}

void SqliteStatement::bind(int parameter, std::string_view text) {
  note(sqlite3_bind_text64(statement_.get(), parameter, text.data() == nullptr ? "" : text.data(),
                           text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void SqliteStatement::bind_null(int parameter) {
  note(sqlite3_bind_null(statement_.get(), parameter));
}

Result<bool> SqliteStatement::step() {
  if (code_ != SQLITE_OK) return error_of(code_, sqlite3_errstr(code_));
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return error_of(code, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
}

Result<void> SqliteStatement::run() {
  auto more = step();
  while (more && *more) more = step();
  sqlite3_reset(statement_.get());
  code_ = SQLITE_OK;
  if (!more) return more.error();
  return {};
}

std::int64_t SqliteStatement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string SqliteStatement::text(int column) const {
  const auto* bytes = sqlite3_column_text(statement_.get(), column);
  if (bytes == nullptr) return {};
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

Result<SqliteDatabase> SqliteDatabase::open(const std::filesystem::path& path, Access access) {
  sqlite3* connection = nullptr;
  const int flags = access == Access::kWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  const int code = sqlite3_open_v2(path.c_str(), &connection, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteDatabase database(connection);
  if (code != SQLITE_OK) return error_of(code, sqlite3_errstr(code));
  sqlite3_busy_timeout(connection, kLockPatienceMs);
  return database;
}

Error SqliteDatabase::fault() const {
  return error_of(fault_code(), sqlite3_errmsg(connection_.get()));
}

Result<SqliteStatement> SqliteDatabase::prepare(const char* sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(connection_.get(), sql, -1, &statement, nullptr) != SQLITE_OK) {
    return fault();
  }
  return SqliteStatement(statement);
}

Result<void> SqliteDatabase::run(const char* sql) const {
  if (sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return fault();
  return {};
}

Result<std::string> SqliteDatabase::value(const char* sql) const {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const auto row = statement->step();
  if (!row) return row.error();
  return *row ? statement->text(0) : std::string();
}

Result<SqliteTransaction> SqliteTransaction::begin(SqliteDatabase& database) {
  if (auto begun = database.run("BEGIN IMMEDIATE"); !begun) return begun.error();
  return SqliteTransaction(database);
}

SqliteTransaction::SqliteTransaction(SqliteTransaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

SqliteTransaction::~SqliteTransaction() {
  // After some faults the library has gone back by itself, and there is nothing to go back from.
  if (database_ != nullptr) (void)database_->run("ROLLBACK");
}

Result<void> SqliteTransaction::commit() {
  auto committed = database_->run("COMMIT");
  if (committed) database_ = nullptr;
  return committed;
}

}  // namespace vitrine::engine
