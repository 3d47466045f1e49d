import CMeasure

/// Keeps the compiler from seeing that the object is unused: it is handed to a function it cannot look into.
@inline(__always)
func use(_ object: AnyObject) { measure_use(Unmanaged.passUnretained(object).toOpaque()) }

/// Uses an object that has to be held, by a reference of one's own, while it is used.
@inline(__always)
func useHeld(_ object: AnyObject) {
  measure_use(Unmanaged.passUnretained(object).toOpaque())
  // Not `withExtendedLifetime`: here that is a call of its own, which would be measured, too.
  _fixLifetime(object)
}

/// Keeps the object to the end of the process, so that its own end is not measured.
func keep(_ object: AnyObject) { use(Unmanaged.passRetained(object).takeUnretainedValue()) }
