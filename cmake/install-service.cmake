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

set(folder "$ENV{DESTDIR}${etc}/weir")
if(NOT EXISTS "${folder}")
  # Whatever the umask of the one who installs: the service runs as a user of its own.
  file(MAKE_DIRECTORY "${folder}")
  file(CHMOD "${folder}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endif()
if(NOT EXISTS "${folder}/weir.yaml")
  file(INSTALL ${WEIR_SOURCE_DIR}/config/minimal.yaml DESTINATION ${etc}/weir RENAME weir.yaml)
endif()
if(NOT EXISTS "${folder}/weir.env")
  file(INSTALL ${WEIR_SOURCE_DIR}/deploy/systemd/weir.env DESTINATION ${etc}/weir
    PERMISSIONS OWNER_READ OWNER_WRITE)
endif()
