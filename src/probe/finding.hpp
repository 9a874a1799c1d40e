#pragma once
// What one check found, and what a whole run found.

#include <string>
#include <vector>

namespace stet::probe {

enum class Result : std::uint8_t { pass, fail, warn, skip };
std::string_view name(Result);

// How bad a failure is for the people behind the API, from bad to worst: the summary names the worst.
enum class Harm : std::uint8_t {
  none,
  form,     // sloppy, dangerous only with a careless client
  stuck,    // the client never learns the outcome
  answer,   // the retry is told something else than the first attempt
  lost,     // the operation did not happen, though the client was told that it did
  leaked,   // one caller or operation is shown another's answer
  doubled,  // it happened twice
};

struct Finding {
  std::string check;
  Result result = Result::skip;
  std::string did;
  std::string expected;
  std::string saw;
  Harm harm = Harm::none;
  std::string worst;                   // the failure as a sentence for anyone
  std::vector<std::string> reproduce;  // curl lines, each with the answer it got

  Finding passed(std::string what) && { return std::move(*this).ended(Result::pass, std::move(what)); }
  Finding warned(std::string what) && { return std::move(*this).ended(Result::warn, std::move(what)); }
  Finding skipped(std::string why) && { return std::move(*this).ended(Result::skip, std::move(why)); }
  Finding failed(Harm how_bad, std::string what, std::string sentence) && {
    harm = how_bad;
    worst = std::move(sentence);
    return std::move(*this).ended(Result::fail, std::move(what));
  }

 private:
  Finding ended(Result with, std::string what) && {
    result = with;
    saw = std::move(what);
    return std::move(*this);
  }
};

enum class Oracle : std::uint8_t { counted, none };

struct Report {
  std::string target;
  std::string started;  // RFC 3339, UTC
  Oracle oracle = Oracle::none;
  std::vector<Finding> findings;
  std::string no_verdict;  // why the run ended early; empty when it did not
  std::vector<std::string> notes;

  int count(Result) const;
  bool has_failed() const { return count(Result::fail) > 0; }
  std::string verdict() const;  // the last line, for anyone
};

// 0 no check failed, 1 one did, 3 there is no verdict (cli.md).
int exit_code(const std::vector<Report>&);

}  // namespace stet::probe
