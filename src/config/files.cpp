#include "config/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weir::config {
namespace {

class File {
  public:
    // Opening never waits for the other end of a pipe, unless any kind of file will do.
    File(const std::string& path, FileKind kind)
        : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY |
                                           (kind == FileKind::regular ? O_NONBLOCK : 0))) {}
    ~File() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    int number() const { return number_; }

  private:
    const int number_;
};

core::Error unreadable(int cause) {
    return {"cannot be read: " + std::generic_category().message(cause)};
}

}  // namespace

core::Result<std::string> read_file(const std::string& path, FileKind kind, std::size_t most) {
    constexpr std::size_t kChunk = std::size_t{16} * 1024;
    const File file(path, kind);
    if (file.number() < 0) {
        return unreadable(errno);
    }
    struct stat what{};
    if (::fstat(file.number(), &what) != 0) {
        return unreadable(errno);
    }
    if (kind == FileKind::regular && !S_ISREG(what.st_mode) && !S_ISDIR(what.st_mode)) {
        return core::Error{"is not a regular file (a pipe, a device or a socket)"};
    }
    std::string text;
    std::array<char, kChunk> chunk{};
    while (text.size() <= most) {
        const std::size_t wanted = std::min(chunk.size(), most + 1 - text.size());
        const ssize_t count = ::read(file.number(), chunk.data(), wanted);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return unreadable(errno);
        }
        if (count == 0) {
            break;
        }
        text.append(chunk.data(), static_cast<std::size_t>(count));
    }
    return {boost::system::in_place_value, std::move(text)};
}

std::string trouble_with_file(const std::string& path) {
    const core::Result<std::string> first = read_file(path, FileKind::regular, 0);
    if (!first) {
        return first.error().message;
    }
    return first->empty() ? "is empty" : "";
}

}  // namespace weir::config
