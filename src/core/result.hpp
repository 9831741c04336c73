// What a function returns that can fail: a value or an error, never an exception.
#pragma once

#include <boost/system/result.hpp>

#include <string>

namespace weir::core {

// An error for people: what happened and to what, without secrets.
struct Error {
    std::string message;
};

// `value()` of an unchecked result does not compile; test it, then use `*result`.
template <class T, class E = Error>
using Result = boost::system::result<T, E>;

}  // namespace weir::core
