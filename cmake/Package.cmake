# `cmake --install` and the Debian package: what goes where.
include(GNUInstallDirs)

install(TARGETS weir RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# As in the repository, so that the links between the documents hold.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs config deploy DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN deploy/debian EXCLUDE)
# Where Debian looks for it.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

# The unit and what it reads depend on the prefix, which is known for certain only at install time.
install(CODE "set(WEIR_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\")
set(WEIR_BINARY_DIR \"${PROJECT_BINARY_DIR}\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install-service.cmake)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weir)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "weir maintainers <maintainers@weir.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "gateway for Ethereum JSON-RPC")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"weir stands between applications and the providers and nodes that they use.
It serves one URL per chain, asks another upstream when the first one fails,
sends a transaction once, and reports every rate limit in the same way.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS ca-certificates)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/deploy/debian/conffiles
  ${PROJECT_SOURCE_DIR}/deploy/debian/postinst
  ${PROJECT_SOURCE_DIR}/deploy/debian/prerm
  ${PROJECT_SOURCE_DIR}/deploy/debian/postrm)
set(CPACK_STRIP_FILES ON)
# Files below /etc: staged by DESTDIR, not by a prefix.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
include(CPack)
