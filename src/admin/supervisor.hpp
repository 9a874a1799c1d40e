#pragma once
// Tells a supervisor how we are (sd_notify(3)), when NOTIFY_SOCKET names one. Never fails or waits.

#include <string_view>

namespace stet::admin {

// "READY=1", "RELOADING=1", "STOPPING=1", "STATUS=…"; several separated by line breaks.
void notify_supervisor(std::string_view state);

}  // namespace stet::admin
