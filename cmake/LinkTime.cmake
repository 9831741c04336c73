# With WEIR_LTO the compiler sees the whole program once more when it is linked: calls from file to
# file and from room to room are then as cheap as within one. For what is shipped; each link takes
# its time. clang's objects are bitcode then, which `ar` understands by clang's own plugin.
if(WEIR_LTO)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "WEIR_LTO needs clang")
  endif()
  find_program(WEIR_AR ar REQUIRED)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=LLVMgold.so
    OUTPUT_VARIABLE plugin OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(CMAKE_CXX_ARCHIVE_CREATE "${WEIR_AR} qcs --plugin ${plugin} <TARGET> <OBJECTS>")
  set(CMAKE_CXX_ARCHIVE_FINISH "")
  add_compile_options(-flto=thin)
  add_link_options(-flto=thin)
endif()
