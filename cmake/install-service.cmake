# Installs the systemd unit, and the configuration that it reads where there is none yet. Run by
# `cmake --install`: under /usr the configuration is in /etc, elsewhere in etc below the prefix.
get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
if(prefix STREQUAL "/usr")
  set(etc /etc)
else()
  set(etc ${prefix}/etc)
endif()

file(READ ${WEIR_SOURCE_DIR}/deploy/systemd/weir.service unit)
string(REPLACE /usr/ ${prefix}/ unit "${unit}")
string(REPLACE /etc/weir/ ${etc}/weir/ unit "${unit}")
file(WRITE ${WEIR_BINARY_DIR}/generated/weir.service "${unit}")
file(INSTALL ${WEIR_BINARY_DIR}/generated/weir.service DESTINATION ${prefix}/lib/systemd/system)

if(NOT EXISTS "$ENV{DESTDIR}${etc}/weir/weir.yaml")
  file(INSTALL ${WEIR_SOURCE_DIR}/config/minimal.yaml DESTINATION ${etc}/weir RENAME weir.yaml)
endif()
if(NOT EXISTS "$ENV{DESTDIR}${etc}/weir/weir.env")
  file(INSTALL ${WEIR_SOURCE_DIR}/deploy/systemd/weir.env DESTINATION ${etc}/weir
    PERMISSIONS OWNER_READ OWNER_WRITE)
endif()
