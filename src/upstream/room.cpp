namespace weir::upstream {}
