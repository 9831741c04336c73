namespace weir::proxy {}
