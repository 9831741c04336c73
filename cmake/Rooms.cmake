# weir_room(NAME [ROOMS room...] [PRIVATE library...] [PUBLIC library...])
# One folder under src/ as one static library. ROOMS are the rooms it may include; a room whose
# folder has no .cpp yet is header-only.
add_library(weir_flags INTERFACE)
target_include_directories(weir_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(weir_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  -Wold-style-cast -Wcast-qual -Wimplicit-fallthrough -fno-omit-frame-pointer)
if(WEIR_SANITIZE)
  target_compile_options(weir_flags INTERFACE
    -fsanitize=${WEIR_SANITIZE} -fno-sanitize-recover=all -g)
  target_link_options(weir_flags INTERFACE -fsanitize=${WEIR_SANITIZE})
endif()

function(weir_room name)
  cmake_parse_arguments(ROOM "" "" "ROOMS;PRIVATE;PUBLIC" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  add_library(weir_${name} STATIC ${sources})
  target_link_libraries(weir_${name} PUBLIC weir_flags ${ROOM_PUBLIC} PRIVATE ${ROOM_PRIVATE})
  foreach(room ${ROOM_ROOMS})
    target_link_libraries(weir_${name} PUBLIC weir_${room})
  endforeach()
endfunction()
