namespace weir::config {}
