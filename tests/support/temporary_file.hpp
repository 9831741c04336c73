// A file that lives as long as its object.
#pragma once

#include <string>
#include <utility>

namespace weir::test {

class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string& text);
    ~TemporaryFile();
    TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, "")) {}
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace weir::test
