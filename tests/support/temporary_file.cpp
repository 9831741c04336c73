#include "support/temporary_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <unistd.h>

namespace weir::test {

TemporaryFile::TemporaryFile(const std::string& text) {
    path_ = (std::filesystem::temp_directory_path() / "weir-test-XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw std::runtime_error("cannot write " + path_);
    }
    close(file);
}

TemporaryFile::~TemporaryFile() {
    if (!path_.empty()) {
        unlink(path_.c_str());
    }
}

}  // namespace weir::test
