// Chunked bodies: the same whole and bytewise, what is accepted is what a written chunked body holds, and
// Beast reads the same behind a head.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/body_decoder.hpp"
#include "http/serialize.hpp"
#include "second_opinion.hpp"

namespace {

using namespace stet::http;

void check(bool holds) {
  if (!holds) std::abort();
}

struct Decoded {
  bool refused = false;
  bool done = false;
  WireErrorKind kind{};
  std::size_t consumed = 0;
  std::string body;
};

Decoded decode(std::string_view bytes, Trailers trailers, std::size_t step) {
  BodyDecoder decoder(BodyFraming::chunked, 0, trailers);
  Decoded result;
  while (!decoder.done() && result.consumed < bytes.size()) {
    const auto consumed = decoder.decode(bytes.substr(result.consumed, step), result.body);
    if (!consumed) {
      result.refused = true;
      result.kind = consumed.error().kind;
      return result;
    }
    check(*consumed > 0);  // a decoder that is not done takes every byte there is
    result.consumed += *consumed;
  }
  check(decoder.received() == result.body.size());
  result.done = decoder.done();
  return result;
}

void check_written(std::string_view body) {
  std::string wire;
  if (!body.empty()) {
    append_chunk_head(wire, body.size());
    wire.append(body).append(kChunkEnd);
  }
  wire.append(kLastChunk);
  const Decoded again = decode(wire, Trailers::refuse, wire.size());
  check(again.done && again.consumed == wire.size() && again.body == body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string request =
      std::string("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n").append(bytes);
  if (const auto difference = stet::wire::disagreement_about_requests(request)) {
    std::fprintf(stderr, "%s\n", difference->c_str());
    std::abort();
  }
  for (const Trailers trailers : {Trailers::drop, Trailers::refuse}) {
    const Decoded whole = decode(bytes, trailers, bytes.size());
    const Decoded bytewise = decode(bytes, trailers, 1);
    check(whole.refused == bytewise.refused && whole.done == bytewise.done);
    if (whole.refused) {
      check(whole.kind == bytewise.kind);
      continue;
    }
    check(whole.consumed == bytewise.consumed && whole.body == bytewise.body);
    if (whole.done) check_written(whole.body);
  }
  return 0;
}
