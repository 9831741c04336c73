namespace weir::simulator {}
