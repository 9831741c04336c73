namespace weir::telemetry {}
