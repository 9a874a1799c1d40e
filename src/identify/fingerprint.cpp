// The fingerprint: SHA-256, or HMAC-SHA-256, over what makes a request the same request.

#include "core/digest.hpp"
#include "identify/hmac.hpp"
#include "identify/identify.hpp"
#include "identify/json_canonical.hpp"
#include "identify/key_field.hpp"
#include "identify/media_type.hpp"
#include "identify/multipart.hpp"
#include "identify/netstring.hpp"
#include "identify/recipe.hpp"

namespace stet::identify {
namespace {

constexpr std::string_view kTag = "stet fingerprint";

// Which form of the body was hashed. Part of what is hashed, so that no body can pose as another's canonical
// form.
constexpr std::string_view kJson = "json";
constexpr std::string_view kMultipart = "multipart";
constexpr std::string_view kBytes = "bytes";

bool append_json(std::string& out, const RecipeParts& parts, std::string_view body) {
  thread_local JsonDocument document;
  return document.parse(body) && append_canonical(out, document, parts.ignore, parts.only);
}

// The form's name; its text is in `form`, or for bytes the body itself.
std::string_view body_form(const RecipeParts& parts, const Subject& subject, std::string& form) {
  form.clear();
  // A body in some encoding is never decoded here, and of two types the upstream picks the one we do not
  // know.
  if (subject.fields.count("Content-Encoding") != 0) return kBytes;
  const auto types = subject.fields.all("Content-Type");
  if (types.size() != 1) return kBytes;
  const std::string type = essence(types.front());
  if (is_json(type)) return append_json(form, parts, subject.body) ? kJson : kBytes;
  if (type != "multipart/form-data") return kBytes;
  const auto boundary = parameter(types.front(), "boundary");
  return boundary && append_canonical_multipart(form, subject.body, *boundary) ? kMultipart : kBytes;
}

void append_field(std::string& out, const http::Fields& fields, std::string_view name) {
  const auto values = fields.all(name);
  append_netstring(out, name);
  append_netstring(out, std::to_string(values.size()));
  for (const auto value : values) append_netstring(out, trim(value));
}

Digest digest_of(const RecipeParts& parts, std::string_view recipe, const std::string* secret,
                 const Subject& subject) {
  thread_local std::string fields;
  fields.clear();
  const auto types = subject.fields.all("Content-Type");
  append_netstring(fields, std::to_string(types.size()));
  for (const auto type : types) append_netstring(fields, essence(type));
  append_field(fields, subject.fields, "content-encoding");
  for (const auto& name : parts.headers) append_field(fields, subject.fields, name);

  thread_local std::string form;
  const std::string_view form_name = body_form(parts, subject, form);
  const std::string_view body = form_name == kBytes ? subject.body : std::string_view(form);
  const auto all = {kTag, recipe, subject.method, subject.target, std::string_view(fields), form_name, body};
  const Digest digest = secret == nullptr ? sha256_parts(all) : hmac_sha256(*secret, all);
  // One large body must not hold its memory for ever.
  if (form.capacity() > (std::size_t{64} << 10)) form = std::string();
  return digest;
}

}  // namespace

Fingerprint make_fingerprint(const config::FingerprintSettings& settings, const Subject& subject) {
  const RecipeParts parts = recipe_parts(settings);
  Fingerprint made;
  made.recipe = write_recipe(parts);
  made.digest =
      digest_of(parts, made.recipe, settings.secrets.empty() ? nullptr : &settings.secrets.front(), subject);
  return made;
}

std::optional<Fingerprint> remake_fingerprint(const config::FingerprintSettings& settings,
                                              const Recipe& recipe, const Subject& subject) {
  const auto parts = read_recipe(recipe);
  if (!parts) return std::nullopt;
  const std::string* secret = nullptr;
  if (!parts->key_id.empty()) {
    for (const auto& candidate : settings.secrets) {
      if (key_id(candidate) == parts->key_id) secret = &candidate;
    }
    if (secret == nullptr) return std::nullopt;
  }
  return Fingerprint{digest_of(*parts, recipe, secret, subject), recipe};
}

}  // namespace stet::identify
