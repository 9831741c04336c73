namespace weir::routing {}
