#include "config/finding.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace stet::config {

std::string Place::text() const {
  if (line == 0) return source;
  return source + ":" + std::to_string(line) + ":" + std::to_string(column);
}

std::string Finding::text() const {
  return place.text() + (severity == Severity::warning ? ": warning: " : ": ") + what;
}

void Findings::error(const Place& place, std::string what) {
  all_.push_back({Severity::error, place, std::move(what)});
}

void Findings::warning(const Place& place, std::string what) {
  all_.push_back({Severity::warning, place, std::move(what)});
}

bool Findings::any_error() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const Finding& f) { return f.severity == Severity::error; });
}

std::vector<Finding> Findings::take() {
  std::map<std::string, std::size_t> sources;
  for (const Finding& finding : all_) sources.emplace(finding.place.source, sources.size());
  using Rank = std::tuple<std::size_t, std::uint32_t, std::uint32_t, std::size_t>;
  std::map<Rank, Finding> sorted;
  for (Finding& finding : all_) {
    const Place& place = finding.place;
    const Rank rank{sources[place.source], place.line, place.column, sorted.size()};
    sorted.emplace(rank, std::move(finding));
  }
  all_.clear();
  std::vector<Finding> result;
  for (auto& [rank, finding] : sorted) result.push_back(std::move(finding));
  return result;
}

}  // namespace stet::config
