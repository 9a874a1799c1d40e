#pragma once
// Asio under short names. One io_context per thread, so every executor here is the plain one of an io_context
// (no type erasure), and whatever belongs to a connection is touched by that one thread only.

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

namespace stet::gateway {

namespace asio = boost::asio;
using boost::system::error_code;
using asio::ip::tcp;

using Executor = asio::io_context::executor_type;
template <class T>
using Task = asio::awaitable<T, Executor>;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

// Results as tuples: a broken connection is an ordinary answer here, not an exception.
inline constexpr asio::as_tuple_t<asio::use_awaitable_t<Executor>> as_result{};
inline constexpr asio::use_awaitable_t<Executor> as_task{};

}  // namespace stet::gateway
