import Testing

/// Tests that deliver signals, which reach every service group of the process.
@Suite("Signals", .serialized) enum SignalTests {}
