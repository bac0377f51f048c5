// SPDX-License-Identifier: Apache-2.0
// An SQLite connection and its statements, with errors as values.
//
// Threads  a connection and its statements belong to one thread at a time.
// Why      what is not looked at after a call to the library is lost with the next call; here the
//          first fault of a statement is kept until step() tells it.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/error.h"

namespace vitrine::engine {

class SqliteStatement {
 public:
  // Values for the parameters ?1, ?2, ...
  void bind(int parameter, std::int64_t value);
  void bind(int parameter, std::string_view text);  // which is copied
  void bind_null(int parameter);
  // True when there is a row to be read, false at the end.
  [[nodiscard]] Result<bool> step();
  // Runs to the end and is ready for other values.
  [[nodiscard]] Result<void> run();

  // Of the row, by column from 0; null reads as 0 and empty.
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string text(int column) const;

 private:
  friend class SqliteDatabase;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}
  void note(int code) {
    if (code_ == SQLITE_OK) code_ = code;
  }

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int code_ = SQLITE_OK;
};

class SqliteDatabase {
 public:
  enum class Access { kWrite, kRead };
  // The file must be there. It is not looked into.
  [[nodiscard]] static Result<SqliteDatabase> open(const std::filesystem::path& path,
                                                   Access access);

  [[nodiscard]] Result<SqliteStatement> prepare(const char* sql) const;
  // Any number of statements whose rows nobody wants.
  [[nodiscard]] Result<void> run(const char* sql) const;
  // The first column of the first row of a query.
  [[nodiscard]] Result<std::string> value(const char* sql) const;
  // Rows that the last statement changed.
  [[nodiscard]] int changed_rows() const { return sqlite3_changes(connection_.get()); }
  // The library's code of what went wrong last.
  [[nodiscard]] int fault_code() const { return sqlite3_errcode(connection_.get()); }

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };

  explicit SqliteDatabase(sqlite3* connection) : connection_(connection) {}
  [[nodiscard]] Error fault() const;

  std::unique_ptr<sqlite3, Close> connection_;
};

// All that happens between its construction and commit() is there together or not at all.
class SqliteTransaction {
 public:
  [[nodiscard]] static Result<SqliteTransaction> begin(SqliteDatabase& database);
  SqliteTransaction(SqliteTransaction&& other) noexcept;
  SqliteTransaction& operator=(SqliteTransaction&&) = delete;
  // Without commit() nothing has happened.
  ~SqliteTransaction();

  [[nodiscard]] Result<void> commit();

 private:
  explicit SqliteTransaction(SqliteDatabase& database) : database_(&database) {}

  SqliteDatabase* database_;
};

}  // namespace vitrine::engine
