namespace weir::server {}
