# Every third-party library under one name, whatever its version calls its target.
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW) # Boost's own CMake files, where CMake has given up its FindBoost
endif()
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(simdjson REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS core)

# Asio and Beast are compiled once, in src/runtime/asio.cpp and beast.cpp, not in every file.
add_library(weir_asio INTERFACE)
target_link_libraries(weir_asio INTERFACE Boost::headers Threads::Threads OpenSSL::SSL)
target_compile_definitions(weir_asio INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_NO_TS_EXECUTORS)

add_library(weir_yaml INTERFACE)
if(TARGET yaml-cpp::yaml-cpp)
  target_link_libraries(weir_yaml INTERFACE yaml-cpp::yaml-cpp)
else()
  target_link_libraries(weir_yaml INTERFACE yaml-cpp)
endif()

# Keccak-256. Debian's package has no CMake configuration of its own.
find_path(CRYPTOPP_INCLUDE crypto++/keccak.h REQUIRED)
find_library(CRYPTOPP_LIBRARY NAMES crypto++ cryptopp REQUIRED)
add_library(weir_cryptopp INTERFACE)
target_include_directories(weir_cryptopp SYSTEM INTERFACE ${CRYPTOPP_INCLUDE})
target_link_libraries(weir_cryptopp INTERFACE ${CRYPTOPP_LIBRARY})
