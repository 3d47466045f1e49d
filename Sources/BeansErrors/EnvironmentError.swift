/// The error of the container: its declarations, lookups, builds and releases.
///
/// `code` distinguishes errors; the message is for people. A single fault is thrown as itself, several as one
/// `.startupFailed` (`.destructionFailed`, `.listenerFailed`) that holds all of them in `underlying`. <doc:/Beans/Faults>
/// lists the causes and the remedies of each code.
public struct EnvironmentError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// A kind of failure. Extensible: compare with `==`, never switch exhaustively.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The cause of all errors of this code without a cause of their own.
    fileprivate let usual: FaultCause
    fileprivate init(_ usual: FaultCause) { self.usual = usual }

    /// No bean of that type or id is visible from the environment of the lookup.
    public static let unknownBean = Code(.unknownBean)
    /// Several beans match one type and none of them is primary.
    public static let ambiguousBean = Code(.ambiguousBean)
    /// One environment declares two beans with the same id.
    public static let duplicateId = Code(.duplicateId)
    /// No class has that name.
    public static let unknownClass = Code(.unknownClass)
    /// The class has no such property.
    public static let unknownProperty = Code(.unknownProperty)
    /// A bean or value does not have the requested type.
    public static let typeMismatch = Code(.typeMismatch)
    /// No conversion between two types is registered.
    public static let noConversion = Code(.noConversion)
    /// A conversion exists but refused the value.
    public static let conversionFailed = Code(.conversionFailed)
    /// A placeholder names a configuration value that does not exist.
    public static let unresolvedPlaceholder = Code(.unresolvedPlaceholder)
    /// A configuration value is missing and has no default.
    public static let missingConfiguration = Code(.missingConfiguration)
    /// A cycle of beans, each of which depends on the next.
    public static let cyclicDependency = Code(.cyclicDependency)
    /// A longer-lived bean would hold a shorter-lived one.
    public static let captiveDependency = Code(.captiveDependency)
    /// No scope has that name.
    public static let unknownScope = Code(.unknownScope)
    /// The bean belongs to a scope that is not open here.
    public static let scopeNotActive = Code(.scopeNotActive)
    /// The environment has started; declarations are closed.
    public static let frozen = Code(.frozen)
    /// The environment, or one above it, has been finished.
    public static let finished = Code(.finished)
    /// The capacity is reached, and all instances are in use.
    public static let exhausted = Code(.exhausted)
    /// A factory or a lifecycle callback threw while a bean was built.
    public static let creationFailed = Code(.creationFailed)
    /// A release callback threw.
    public static let destructionFailed = Code(.destructionFailed)
    /// A listener threw while it handled an event, or building the listening bean failed.
    public static let listenerFailed = Code(.listenerFailed)
    /// A bean's run failed, so that its environment has ended.
    public static let runFailed = Code(.runFailed)
    /// The bean is created asynchronously and is not ready yet.
    public static let notReady = Code(.notReady)
    /// A declaration contradicts itself or the rules.
    public static let invalidDeclaration = Code(.invalidDeclaration)
    /// An XML document could not be read.
    public static let invalidXML = Code(.invalidXML)
    /// Several faults were found at startup; `underlying` holds them.
    public static let startupFailed = Code(.startupFailed)

    /// The name of the code.
    public var description: String { usual.rawValue }
  }

  /// The place of a declaration in a source file.
  public struct Origin: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The file, as the compiler or the XML source names it.
    public var file: String
    /// The line, from 1.
    public var line: Int
    /// The column, from 1, if known.
    package var column: Int?
    /// The module that contains the declaration, if any.
    package var module: String?

    /// Creates an origin.
    ///
    /// - Parameters:
    ///   - file: the file, as the compiler or the XML source names it.
    ///   - line: the line, from 1.
    ///   - column: the column, from 1, if known.
    ///   - module: the name of the module that contains the declaration.
    public init(file: String, line: Int, column: Int? = nil, module: String? = nil) {
      self.file = file
      self.line = line
      self.column = column
      self.module = module
    }

    /// Creates the origin that `#fileID` and `#line` name.
    package init(_ file: StaticString, _ line: UInt) { self.init(file: "\(file)", line: Int(clamping: line)) }

    /// `file:line` or `file:line:column`, and the module.
    public var description: String {
      "\(file):\(line)" + (column.map { ":\($0)" } ?? "") + (module.map { " in module \($0)" } ?? "")
    }
  }

  /// A bean on the way to a fault.
  package struct Step: Hashable, Sendable, CustomStringConvertible {
    /// The type of the bean and its id, in the form of reports; the type or the id alone if no bean was found.
    package var label: String
    /// The place of the bean's declaration, if known.
    package var origin: Origin?

    /// Creates a step.
    package init(_ label: String, origin: Origin? = nil) { (self.label, self.origin) = (label, origin) }

    /// The label, followed by the origin in parentheses.
    package var description: String { label + (origin.map { " (\($0))" } ?? "") }
  }

  /// The kind of failure.
  public var code: Code { Code(cause.usual) }
  /// A description of the failure, for people.
  public package(set) var message: String
  /// The remedy, as listed in <doc:/Beans/Faults>.
  package var help: String { cause.help }
  /// The beans on the way to the fault, from the requested bean inwards to the faulty one.
  package var steps: [Step]
  /// The beans on the way to the fault, from the requested bean inwards to the faulty one: the type of each and its id,
  /// in the form of reports; the type or the id alone if no bean was found.
  public var path: [String] { steps.map(\.label) }
  /// The origin of the faulty declaration; the origin of the call if no declaration is at fault.
  public package(set) var origin: Origin?
  /// The error that a factory or a callback threw; for `startupFailed` and for several failed releases, all errors.
  public package(set) var underlying: [any Error]
  /// The cause of the fault. Selects its help text.
  package private(set) var cause: FaultCause
  /// The call that met the fault, if the fault has an origin of its own.
  private var call: Origin?
  /// The scope that is not open, for `scopeNotActive` found by the linker.
  package var scope: String?
  /// The bean that has to be awaited first, for `notReady`.
  package var missing: (any Sendable)?

  /// Creates an error; your own scopes and factories may throw it.
  ///
  /// - Parameters:
  ///   - code: the kind of failure.
  ///   - message: a description of the failure, and the remedy if <doc:/Beans/Faults> does not list it.
  ///   - path: the labels from the requested bean inwards to the faulty one.
  ///   - origin: the place of the faulty declaration.
  ///   - underlying: the error that a factory or a callback threw.
  public init(
    _ code: Code, _ message: String, path: [String] = [], origin: Origin? = nil, underlying: [any Error] = []
  ) {
    self.init(code, message, steps: path.map { Step($0) }, origin: origin, underlying: underlying)
  }

  /// Creates an error whose path contains the origins of its beans.
  ///
  /// - Parameters:
  ///   - code: the kind of failure.
  ///   - message: a description of the failure, and the remedy if <doc:/Beans/Faults> does not list it.
  ///   - steps: the beans from the requested one inwards to the faulty one.
  ///   - origin: the place of the faulty declaration.
  ///   - underlying: the error that a factory or a callback threw, or all failures that this error holds.
  package init(_ code: Code, _ message: String, steps: [Step], origin: Origin?, underlying: [any Error] = []) {
    self.init(cause: code.usual, message, steps: steps, origin: origin, underlying: underlying)
  }

  /// Creates an error with the code of the cause.
  ///
  /// - Parameters:
  ///   - cause: the cause of the fault.
  ///   - message: a description of the failure.
  ///   - path: the labels of the steps, if nothing else is known about them.
  ///   - origin: the place of the faulty declaration.
  package init(cause: FaultCause, _ message: String, path: [String] = [], origin: Origin? = nil) {
    self.init(cause: cause, message, steps: path.map { Step($0) }, origin: origin)
  }

  /// Creates an error with the code of the cause, whose path contains the origins of its beans.
  ///
  /// - Parameters:
  ///   - cause: the cause of the fault.
  ///   - message: a description of the failure.
  ///   - steps: the beans from the requested one inwards to the faulty one.
  ///   - origin: the place of the faulty declaration.
  ///   - underlying: the error that a factory or a callback threw, or all failures that this error holds.
  package init(
    cause: FaultCause, _ message: String, steps: [Step], origin: Origin?, underlying: [any Error] = []
  ) {
    self.cause = cause
    self.message = message
    self.steps = steps
    self.origin = origin
    self.underlying = underlying
  }

  /// One line for a single failure; a numbered list for several. `report` contains more detail.
  public var description: String {
    var text = "\(code): \(message)"
    if !steps.isEmpty { text += " [\(path.joined(separator: " → "))]" }
    if let origin { text += " (\(origin))" }
    for (number, error) in underlying.enumerated() {
      let whole = "\(error)"
      // The message of a single failure already ends with its text, unless the error has more detail.
      if underlying.count == 1, message.hasSuffix(whole) { break }
      let inner = whole.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n     ")
      text += "\n  \(number + 1). \(inner)"
    }
    return text
  }

  /// A numbered text for people with all failures, on several lines. Each one contains the message and its origin, the
  /// call that met the failure, the beans on its path with their origins, the remedy, and the matching section of
  /// <doc:/Beans/Faults>.
  public var report: String {
    let faults = failures
    if faults.count == 1 { return block(indent: "") }
    let text = faults.enumerated().map { number, fault in
      let head = "\(number + 1). "
      let rest = String(repeating: " ", count: head.count)
      return head + ((fault as? EnvironmentError)?.block(indent: rest) ?? "\(fault)")
    }
    return "\(code): \(message)\n\n\(text.joined(separator: "\n\n"))"
  }

  /// The report, which a program prints when the error ends it.
  public var debugDescription: String { report }

  /// The single failures, collected recursively from errors that hold several.
  private var failures: [any Error] {
    if underlying.count < 2 { return [self] }
    return underlying.flatMap { ($0 as? EnvironmentError)?.failures ?? [$0] }
  }

  private func block(indent: String) -> String {
    var lines = ["\(code): \(message)"]
    if let origin { lines.append("at \(origin)") }
    if let call { lines.append("asked for at \(call)") }
    for (number, step) in steps.enumerated() {
      // The only bean of a path often has the origin that is already printed.
      let isSaid = steps.count == 1 && step.origin == origin
      lines.append((number == 0 ? "for " : "  → ") + (isSaid ? step.label : "\(step)"))
    }
    if let only = underlying.first, underlying.count == 1, !message.hasSuffix("\(only)") {
      lines.append("because \((only as? EnvironmentError)?.block(indent: "  ") ?? "\(only)")")
    }
    lines += advice
    return lines.joined(separator: "\n\(indent)")
  }

  /// The remedy, and a link to the section with more detail.
  package var advice: [String] { ["help: \(help)", "see \(cause.link)"] }

  /// Returns the first error of a type below this one, at any depth: the error that a factory threw, inside of the
  /// `.creationFailed` of its bean and of the beans that take it, for example.
  ///
  /// ```swift
  /// catch let error as EnvironmentError {
  ///   if let exhausted = error.cause(as: Exhausted.self) { return .serviceUnavailable(retryAfter: exhausted.delay) }
  ///   throw error
  /// }
  /// ```
  ///
  /// - Parameter type: the type of the error.
  /// - Returns: nil if there is none.
  public func cause<Cause: Error>(as type: Cause.Type) -> Cause? {
    for error in underlying {
      if let found = error as? Cause ?? (error as? EnvironmentError)?.cause(as: type) { return found }
    }
    return nil
  }

  // MARK: other errors made of it

  /// Returns this failure with another message.
  package func saying(_ message: String) -> EnvironmentError { with { $0.message = message } }

  /// Returns this failure with a more specific cause than its code implies.
  package func because(of cause: FaultCause) -> EnvironmentError { with { $0.cause = cause } }

  /// Returns this failure with an outer bean at the front of its path. That bean becomes the origin if the failure has
  /// none.
  package func within(_ name: String, declaredAt outer: Origin? = nil) -> EnvironmentError {
    with { error in
      error.steps.insert(Step(name, origin: outer), at: 0)
      error.origin = origin ?? outer
    }
  }

  /// Returns this failure with the call that met it, which becomes the origin if the failure has none. The innermost
  /// call is kept.
  package func met(by call: Origin) -> EnvironmentError {
    with { error in
      if origin == nil, underlying.count < 2 {
        error.origin = call
      } else if self.call == nil, origin != call {
        error.call = call
      }
    }
  }

  /// Returns a changed copy of this failure.
  package func with(_ change: (inout EnvironmentError) -> Void) -> EnvironmentError {
    var error = self
    change(&error)
    return error
  }

  /// Returns nil for no error, the error itself for one, and one error with `code` that holds all for several.
  package static func combining(_ errors: [any Error], code: Code, _ message: (Int) -> String) -> (any Error)? {
    errors.count < 2 ? errors.first : EnvironmentError(code, message(errors.count), underlying: errors)
  }
}

extension EnvironmentError: Equatable {
  /// Compares the codes alone.
  public static func == (left: EnvironmentError, right: EnvironmentError) -> Bool { left.code == right.code }
}
