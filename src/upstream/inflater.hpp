// Undoes gzip and deflate content codings (RFC 1950, 1952) with bounded output per step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace weir::upstream {

class Inflater {
  public:
    enum class Format : std::uint8_t { gzip, zlib };

    explicit Inflater(Format format);
    ~Inflater();
    Inflater(Inflater&&) noexcept;
    Inflater& operator=(Inflater&&) noexcept;

    // Takes from the front of `in` and fills `out` from its beginning until one of them is used up;
    // returns how much was written. `good()` turns false on data that is not in the format.
    std::size_t step(std::string_view& in, std::span<char> out);
    bool good() const { return good_; }

    // True where the data may end: nothing was read yet, or the last member is complete.
    bool at_end() const { return at_end_; }

    // True while output is held back for want of room.
    bool has_more_output() const { return held_back_; }

  private:
    struct Stream;
    std::unique_ptr<Stream> stream_;
    Format format_;
    bool good_ = true;
    bool at_end_ = true;
    bool held_back_ = false;
    bool members_ = false;  // at least one member is complete
};

}  // namespace weir::upstream
