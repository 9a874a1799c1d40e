#include "config/section.hpp"

#include <algorithm>

namespace stet::config {
namespace {

bool may_stand(Where where, Section section) {
  if (section == Section::top) return where == Where::top;
  if (section == Section::defaults) return where == Where::defaults_and_route;
  return where != Where::top;
}

std::string belongs(Where where) {
  switch (where) {
    case Where::top:
      return "at the top level, above the first [table]";
    case Where::defaults_and_route:
      return "in [defaults] or in a [[route]]";
    case Where::route:
      return "in a [[route]]";
  }
  return {};
}

class Walk {
 public:
  Walk(Section section, Findings& findings) : section_(section), findings_(findings), all_(all_keys()) {}

  std::vector<Leaf> run(const Value& table) {
    walk(table, "");
    return std::move(leaves_);
  }

 private:
  void walk(const Value& table, const std::string& prefix) {
    for (const Member& member : table.members) {
      const std::string name = prefix + member.key;
      if (section_ == Section::top && prefix.empty() && (name == "defaults" || name == "route")) continue;
      if (member.key.find('.') == member.key.npos && is_key(name))
        leaves_.push_back({name, member.place, member.value});
      else if (member.value.kind == Value::Kind::table && is_prefix(name))
        walk(member.value, name + ".");
      else
        findings_.error(member.place, unknown(name, member.value));
    }
  }

  bool is_key(std::string_view name) const {
    return std::any_of(all_.begin(), all_.end(),
                       [&](const KeyInfo& k) { return k.name == name && may_stand(k.where, section_); });
  }

  bool is_prefix(const std::string& name) const {
    const std::string dotted = name + ".";
    return std::any_of(all_.begin(), all_.end(),
                       [&](const KeyInfo& k) { return k.name.starts_with(dotted); }) ||
           std::any_of(later_keys().begin(), later_keys().end(),
                       [&](const LaterKey& k) { return k.name.starts_with(dotted); });
  }

  std::string unknown(const std::string& name, const Value& value) const {
    for (const LaterKey& later : later_keys())
      if (later.name == name && (may_stand(later.where, section_) || section_ == Section::defaults))
        return name + ": " + std::string(later.what);
    for (const KeyInfo& key : all_)
      if (key.name == name) return name + " belongs " + belongs(key.where);
    if (value.kind != Value::Kind::table && is_prefix(name)) {
      std::vector<std::string_view> members;
      for (const KeyInfo& key : all_)
        if (key.name.starts_with(name + ".")) members.push_back(key.name);
      if (!members.empty()) return name + " is a table; " + alternatives(members) + " was meant";
    }
    if (section_ != Section::top && (name == "defaults" || name == "route"))
      return name + " belongs at the top level";
    std::vector<std::string_view> here, elsewhere;
    for (const KeyInfo& key : all_) (may_stand(key.where, section_) ? here : elsewhere).push_back(key.name);
    if (section_ == Section::top) here.insert(here.end(), {"defaults", "route"});
    std::string what = "unknown key \"" + name + "\"";
    if (const std::string_view near = nearest(name, here); !near.empty())
      return what + ", did you mean \"" + std::string(near) + "\"?";
    if (const std::string_view near = nearest(name, elsewhere); !near.empty())
      for (const KeyInfo& key : all_)
        if (key.name == near)
          return what + ", did you mean \"" + std::string(near) + "\", " + belongs(key.where) + "?";
    return what;
  }

  Section section_;
  Findings& findings_;
  std::vector<KeyInfo> all_;
  std::vector<Leaf> leaves_;
};

}  // namespace

std::vector<Leaf> leaves(const Value& table, Section section, Findings& findings) {
  return Walk(section, findings).run(table);
}

}  // namespace stet::config
