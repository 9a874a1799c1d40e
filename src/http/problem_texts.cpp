#include "http/problem_pages.hpp"

namespace stet::http {

// What the pages say to whoever writes the client, and now and then to whoever runs the gateway.
const ProblemText& problem_text(Problem problem) {
  static constexpr ProblemText kTexts[] = {
      {"This route takes writes only with an idempotency key, and the request had none. Nothing was sent to "
       "the API.",
       "Yes, with a key. Nothing has happened.",
       "Make one fresh random key (a UUID, say) for each thing you want done, keep it before you send, and "
       "send it in "
       "`Idempotency-Key`. Use the same key for every retry of that one thing."},
      {"The idempotency key cannot be used: it is empty, longer than 255 characters, holds characters other "
       "than "
       "visible ASCII, or was sent in more than one header line. Nothing was sent to the API.",
       "Yes, with a valid key. Nothing has happened.",
       "Send exactly one `Idempotency-Key` line with 1 to 255 visible ASCII characters, bare or in double "
       "quotes. "
       "Check that neither a library nor a proxy adds a second line."},
      {"A key belongs to one caller, and the gateway cannot tell from this request who the caller is without "
       "guessing. "
       "Nothing was sent to the API.",
       "Not before the configuration is settled: the same request gets the same answer.",
       "The `detail` of the answer says what to configure. Whoever runs the gateway sets `scope` for the "
       "route: the "
       "credentials, a header that a trusted ingress sets, a cookie, a claim of the token, or none on "
       "purpose."},
      {"The bytes that came are not one well-formed HTTP/1.1 request: two readers could have understood them "
       "differently. The gateway closed the connection. Nothing of this request was sent to the API.",
       "The same bytes get the same answer. A request sent before it on the same connection is not affected.",
       "The `detail` names the rule that was broken. Look at the client library and at every proxy between "
       "it and the "
       "gateway; a hand-written client often miscounts `Content-Length`."},
      {"The token that the scope of this route depends on is not valid: its signature, its time or its form. "
       "Nothing "
       "was sent to the API.",
       "With a valid token, yes, with the same key.",
       "Get a fresh token for the same caller and send the request again with the key unchanged."},
      {"A request with this key was received before and has not ended yet. This one was not sent to the API.",
       "Yes, with the same key. It can never cause a second effect.",
       "Wait as long as `Retry-After` says and send it again, unchanged. Do not make a new key: the first "
       "request may "
       "succeed, and then there would be two."},
      {"The request was carried out, once. Its answer was larger than the gateway keeps, so it cannot be "
       "shown again.",
       "There is no need to, and it would show this answer again. Nothing is ever carried out twice under "
       "this key.",
       "`original_status` and `original_location` say how it ended and where the result is: fetch it from "
       "there. "
       "Whoever runs the gateway can raise `max_response_body`."},
      {"A request with this key was carried out before, so long ago that its answer is no longer kept.",
       "Not with this key, and not with a new one either before you know what became of the first request.",
       "Look up the result in the API. Only when you mean a new, second effect, make a new key. Retry within "
       "the "
       "retention that the contract page of the gateway promises."},
      {"The body is larger than the gateway takes with a key, because it has to hold the whole body before "
       "it begins. "
       "Nothing was sent to the API.",
       "The same request gets the same answer. An earlier, smaller request under this key is not affected.",
       "Send less, or upload the large part first and refer to it. Whoever runs the gateway can raise "
       "`max_request_body` for the route."},
      {"This key was used before for a request with another method, path, query or body. This request was "
       "not sent to "
       "the API, and the first one is not affected.",
       "No: it will be refused again.",
       "If this is meant as something new, make a new key for it. If it is meant as a retry, send exactly "
       "what was "
       "sent the first time: a timestamp or a counter in the body is the usual reason. Whoever runs the "
       "gateway can "
       "leave such members out with `fingerprint.ignore`."},
      {"The gateway found a record for this key that it cannot read or that does not verify. It neither "
       "shows it nor "
       "runs the request again. This request was not sent to the API.",
       "Not with a new key: the first request may have been carried out.",
       "Tell whoever runs the gateway, with the `instance` of the answer. They find the record by it, look "
       "into the API "
       "for the effect, and settle the record."},
      {"The request went to the API and no complete answer came back: the connection broke, the time was up, "
       "the "
       "answer was malformed, or the gateway itself was stopped midway. It may have been carried out or not.",
       "Where `retryable` is true, yes, with the same key. Where it is false, sending it again is harmless "
       "and gets "
       "this answer until the record is settled. Never with a new key: that could do it twice.",
       "Look up in the API whether the effect is there. An operator settles the record with what they find; "
       "an answer that comes late settles it too. The `detail` says what would avoid this."},
      {"The API could not be reached: nothing of this request was sent to it. Or, where the API joins its "
       "rows to the "
       "key, no answer came and the attempt was kept from committing anything. The key is free again, unless "
       "an earlier "
       "attempt with it ended unknown.",
       "Yes, with the same key.",
       "Send it again after a pause that grows. `new_key_safe` says whether an earlier attempt might have "
       "had an "
       "effect."},
      {"The gateway cannot reach the store where it keeps the keys, or the store has no room. Without it "
       "nothing can be "
       "promised, so the request was not sent to the API now. Whether an earlier one was is not known.",
       "Yes, with the same key.",
       "Wait as long as `Retry-After` says and send it again with the key unchanged."},
      {"The service that tells whose request this is did not answer. Nothing was sent to the API.",
       "Yes, with the same key.",
       "Wait and send it again with the key unchanged. Whoever runs the gateway looks at `auth.url`."},
      {"The gateway is at one of its limits: connections, waiting requests or bytes held. It refused this "
       "request "
       "before it did anything with it.",
       "Yes, with the same key.",
       "Wait as long as `Retry-After` says, then send it again; let the pause grow with each attempt."},
      {"The request went to the API, and no answer came in the time that a caller is kept waiting. The "
       "gateway goes on "
       "listening and will keep the answer.",
       "Yes, with the same key: it never runs twice, and a later retry gets the answer.",
       "Wait as long as `Retry-After` says and send it again, unchanged. Do not make a new key."},
  };
  static_assert(std::size(kTexts) == static_cast<std::size_t>(Problem::still_running) + 1);
  return kTexts[static_cast<std::size_t>(problem)];
}

}  // namespace stet::http
