import BeansErrors

extension Environment {
  /// Sets the clock of schedules, restarts and the idle limits of sessions, here and in the environments below.
  ///
  /// A `CalendarClock`, such as the manual clock of `BeansTesting`, also decides the times of cron expressions; with
  /// any other clock, those follow the system's wall clock. The default is the continuous clock of the system.
  ///
  /// - Parameters:
  ///   - clock: the clock.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: `.frozen` once the environment has started; `.invalidDeclaration` in the `configure` of a factory.
  @discardableResult
  public func useClock<C: Clock>(
    _ clock: C, file: StaticString = #fileID, line: UInt = #line
  ) throws -> Self where C.Duration == Duration {
    let location = SourceLocation(file: file, line: line)
    try checkDeclaring("useClock", at: location.origin)
    if core.kind.contains(.template) {
      throw EnvironmentError(
        .invalidDeclaration, "the children of '\(name)' follow the clock of the environment around them",
        path: ["'\(name)'"], origin: location.origin)
    }
    existingExtras?.resources?.use(EnvironmentClock(clock))
    return self
  }
}
