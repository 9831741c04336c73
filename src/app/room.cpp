namespace weir::app {}
