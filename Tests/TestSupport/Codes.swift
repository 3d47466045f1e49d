package import BeansErrors

/// The code of what `body` throws; nil where it throws nothing.
package func code<R>(_ body: () throws -> R) -> EnvironmentError.Code? {
  do {
    _ = try body()
    return nil
  } catch { return (error as? EnvironmentError)?.code }
}
