// A JSON document written from front to back; puts the commas.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weir::server {

class JsonWriter {
  public:
    void open(char bracket);
    void close(char bracket);
    void key(std::string_view name);
    void value(std::string_view text);
    void value(std::unsigned_integral auto number) { raw(std::to_string(number)); }
    void value(double number);  // three decimals
    template <typename T>
    void value(const std::optional<T>& number) {
        if (number) {
            value(*number);
        } else {
            null();
        }
    }
    void boolean(bool flag) { raw(flag ? "true" : "false"); }
    void null() { raw("null"); }
    void truth(bool value) { raw(value ? "true" : "false"); }
    std::string take() { return std::move(out_); }

  private:
    void separate();
    void raw(std::string_view json);

    std::string out_;
    bool first_ = true;
};

}  // namespace weir::server
