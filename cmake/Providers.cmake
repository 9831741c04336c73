# weir_embed_providers(TARGET): config/providers.yaml as a string within the program. One raw literal
# a few kilobytes long each, for compilers that bound the length of one.
function(weir_embed_providers target)
  set(yaml ${PROJECT_SOURCE_DIR}/config/providers.yaml)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${yaml})
  file(READ ${yaml} text)
  string(LENGTH "${text}" length)
  set(literals "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 4000 piece)
    string(APPEND literals "R\"weir(${piece})weir\"\n")
    math(EXPR at "${at} + 4000")
  endwhile()
  set(WEIR_PROVIDERS_LITERALS "${literals}")
  configure_file(${PROJECT_SOURCE_DIR}/src/config/builtin_providers.cpp.in
    ${PROJECT_BINARY_DIR}/generated/builtin_providers.cpp @ONLY)
  target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated/builtin_providers.cpp)
endfunction()
