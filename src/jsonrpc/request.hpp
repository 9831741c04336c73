// A request body taken apart into calls, without changing a byte that goes on. JSON-RPC 2.0 over
// RFC 8259 JSON; the whole body is checked (UTF-8, numbers, strings, brackets, one value, nothing
// after it) before any part of it may be used.
#pragma once

#include "core/result.hpp"

#include <boost/container/small_vector.hpp>

#include <array>
#include <cstddef>
#include <forward_list>
#include <string>
#include <string_view>

namespace weir::jsonrpc {

// Why a call cannot be served; `none` for a good one.
enum class CallFault {
    none,
    invalid,           // not a call: -32600
    duplicate_member,  // id, method, params or jsonrpc twice: -32600
    bad_method_name,   // a method name of odd characters or over 128 long: -32601
};

struct Call {
    std::string_view id;      // raw bytes as received; empty: none, or none that can be read
    std::string_view method;  // decoded
    std::string_view params;  // raw bytes as received, `null` too; empty: left out
    // The first elements of params, where the scan has told of them.
    std::array<std::string_view, 3> noted = {};
    CallFault fault = CallFault::none;
    const char* reason = "";  // for people, when there is a fault

    // Gets no answer. A faulty call is always answered, with a null id where it has none.
    bool is_notification() const { return id.empty() && fault == CallFault::none; }

    // The raw bytes of an element of params; empty when there is none.
    std::string_view param(std::size_t index) const;
};

// Views point into the body, or into `decoded` for names that were written with escapes.
struct Request {
    bool is_batch = false;
    boost::container::small_vector<Call, 1> calls;
    std::forward_list<std::string> decoded;
};

struct RequestLimits {
    std::size_t max_depth = 512;
    std::size_t max_batch = 1000;
};

enum class RequestFault {
    parse_error,     // not JSON, or too deep: -32700
    empty_batch,     // -32600
    too_many_calls,  // -32600
    not_a_call,      // a JSON scalar: -32600
};

struct RequestError {
    RequestFault fault;
    std::string message;  // for people; holds no byte of the body but a place in it
};

core::Result<Request, RequestError> parse_request(std::string_view body,
                                                  const RequestLimits& limits);

}  // namespace weir::jsonrpc
