// Sessions without an event loop: `SessionRegistry` and `SessionManager` under one import.
@_exported public import BeansSessionRegistry
