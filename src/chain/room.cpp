namespace weir::chain {}
