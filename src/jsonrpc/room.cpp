namespace weir::jsonrpc {}
