// Answers of an upstream, with their bodies: the same whole and bytewise, and where Beast takes them as well,
// it sees the same status, body and end.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/response_reader.hpp"
#include "second_opinion.hpp"

namespace {

using namespace stet::http;

void check(bool holds) {
  if (!holds) std::abort();
}

struct Read {
  bool refused = false;
  bool done = false;
  WireErrorKind kind{};
  int status = 0;
  int interims = 0;
  std::size_t consumed = 0;
  std::string body;
};

// `step` more bytes are there each time the reader asks.
Read read_answer(std::string_view bytes, std::string_view method, std::size_t step) {
  HeadLimits limits;
  limits.start_line = 256;
  limits.headers = 2048;
  limits.fields = 24;
  ResponseReader reader(method, limits, Switching::refuse);
  Read result;
  std::size_t there = 0;
  while (true) {
    const auto progress = reader.read(bytes.substr(result.consumed, there - result.consumed));
    if (!progress) {
      result.refused = true;
      result.kind = progress.error().kind;
      return result;
    }
    check(progress->consumed <= there - result.consumed);
    result.consumed += progress->consumed;
    result.body += progress->data;
    if (progress->stage == ResponseReader::Stage::interim) ++result.interims;
    if (reader.has_head()) result.status = reader.head().status;
    if (progress->stage == ResponseReader::Stage::done) {
      result.done = true;
      return result;
    }
    if (progress->stage != ResponseReader::Stage::more) continue;
    if (there == bytes.size()) break;
    there = std::min(bytes.size(), there + step);
  }
  const auto end = reader.end_of_stream();
  result.refused = !end.has_value();
  if (!end) result.kind = end.error().kind;
  result.done = end.has_value();
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string_view method : {"POST", "HEAD"}) {
    // Beast refuses a little that we let pass, because no boundary depends on it; it may not read it
    // otherwise.
    const auto difference = stet::wire::disagreement_about_answer(bytes, method);
    if (difference && *difference != "Beast refuses the answer") {
      std::fprintf(stderr, "%s\n", difference->c_str());
      std::abort();
    }
    const Read whole = read_answer(bytes, method, bytes.size() + 1);
    const Read bytewise = read_answer(bytes, method, 1);
    check(whole.refused == bytewise.refused && whole.done == bytewise.done);
    check(whole.status == bytewise.status && whole.interims == bytewise.interims);
    if (whole.refused) check(whole.kind == bytewise.kind);
    if (whole.done) check(whole.body == bytewise.body && whole.consumed == bytewise.consumed);
  }
  return 0;
}
