package import BeansErrors

/// Returns the code of the error that `body` throws; nil if it throws none.
package func code<R>(_ body: () throws -> R) -> EnvironmentError.Code? {
  do {
    _ = try body()
    return nil
  } catch { return (error as? EnvironmentError)?.code }
}
