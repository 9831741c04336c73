namespace weir::runtime {}
