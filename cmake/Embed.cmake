# Text files as strings within the program.

# weir_literals(OUT TEXT): adjacent raw literals, a few kilobytes each, for compilers that bound the
# length of one. Text outside ASCII could be cut in the middle of a character.
function(weir_literals out text)
  string(LENGTH "${text}" length)
  set(literals "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 4000 piece)
    string(APPEND literals "R\"weir(${piece})weir\"\n")
    math(EXPR at "${at} + 4000")
  endwhile()
  set(${out} "${literals}" PARENT_SCOPE)
endfunction()

# weir_embed_providers(TARGET): config/providers.yaml.
function(weir_embed_providers target)
  set(yaml ${PROJECT_SOURCE_DIR}/config/providers.yaml)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${yaml})
  file(READ ${yaml} text)
  weir_literals(WEIR_PROVIDERS_LITERALS "${text}")
  configure_file(${PROJECT_SOURCE_DIR}/src/config/builtin_providers.cpp.in
    ${PROJECT_BINARY_DIR}/generated/builtin_providers.cpp @ONLY)
  target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated/builtin_providers.cpp)
endfunction()

# weir_embed_status_page(TARGET): the page of /status, its style and its script.
function(weir_embed_status_page target)
  set(folder ${PROJECT_SOURCE_DIR}/src/server/status_page)
  foreach(file page.html page.css judge.js page.js)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${file})
    file(READ ${folder}/${file} text)
    string(MAKE_C_IDENTIFIER ${file} name)
    string(TOUPPER ${name} name)
    weir_literals(WEIR_${name} "${text}")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/src/server/status_page/parts.cpp.in
    ${PROJECT_BINARY_DIR}/generated/status_page_parts.cpp @ONLY)
  target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated/status_page_parts.cpp)
endfunction()
