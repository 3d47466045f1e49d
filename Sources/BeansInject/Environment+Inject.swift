public import Beans
import BeansErrors

extension Environment {
  /// Runs the class-level injections of an object that the container did not build: those of its class's bean
  /// descriptor, and its `@Injected` properties. Runs no post processors and no `postConstruct`; the container does not
  /// release the object.
  ///
  /// Starts the environment if need be. Safe to call from any thread, but from one at a time for each object.
  ///
  /// - Parameters:
  ///   - object: the object whose properties are set.
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: as `getBean` and `getConfigurationValue`; the error of an `Injection` of your own.
  public func inject(_ object: AnyObject, file: StaticString = #fileID, line: UInt = #line) throws {
    do { try using { try injectAll(object) } } catch let error as EnvironmentError {
      throw error.met(by: EnvironmentError.Origin(file, line))
    }
  }
}
