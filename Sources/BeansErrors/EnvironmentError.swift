/// Everything that goes wrong in the container.
///
/// Two errors are told apart by `code`; the message is for people. A single fault is thrown as itself, several as one
/// `.startupFailed` (`.destructionFailed`, `.listenerFailed`) that holds all of them in `underlying`. <doc:Faults> lists the causes of each
/// code, and what helps.
public struct EnvironmentError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// What kind of failure it is. Extensible: compare with `==`, never switch exhaustively.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String
    private init(_ name: String) { self.name = name }

    /// No bean of that type or id can be seen from the environment that asked.
    public static let unknownBean = Code("unknownBean")
    /// Several beans answer to one type and none of them is primary.
    public static let ambiguousBean = Code("ambiguousBean")
    /// One environment declares two beans with the same id.
    public static let duplicateId = Code("duplicateId")
    /// No class has that name.
    public static let unknownClass = Code("unknownClass")
    /// The class has no such property.
    public static let unknownProperty = Code("unknownProperty")
    /// A bean or value is not of the type that is asked for.
    public static let typeMismatch = Code("typeMismatch")
    /// No conversion between two types is registered.
    public static let noConversion = Code("noConversion")
    /// A conversion exists but refused the value.
    public static let conversionFailed = Code("conversionFailed")
    /// A placeholder names a configuration value that does not exist.
    public static let unresolvedPlaceholder = Code("unresolvedPlaceholder")
    /// A configuration value is missing and has no default.
    public static let missingConfiguration = Code("missingConfiguration")
    /// Beans need each other in a circle.
    public static let cyclicDependency = Code("cyclicDependency")
    /// A longer-lived bean would hold a shorter-lived one.
    public static let captiveDependency = Code("captiveDependency")
    /// No scope has that name.
    public static let unknownScope = Code("unknownScope")
    /// The bean lives in a scope that is not open here.
    public static let scopeNotActive = Code("scopeNotActive")
    /// The environment has started; declarations are closed.
    public static let frozen = Code("frozen")
    /// The environment, or one above it, has been finished.
    public static let finished = Code("finished")
    /// There are as many as there may be, and all of them are in use.
    public static let exhausted = Code("exhausted")
    /// A factory or a lifecycle callback threw while a bean was built.
    public static let creationFailed = Code("creationFailed")
    /// A release callback threw.
    public static let destructionFailed = Code("destructionFailed")
    /// A bean that listens threw at an event, or could not be built for it.
    public static let listenerFailed = Code("listenerFailed")
    /// The bean is created asynchronously and is not there yet.
    public static let notReady = Code("notReady")
    /// A declaration contradicts itself or the rules.
    public static let invalidDeclaration = Code("invalidDeclaration")
    /// An XML document could not be read.
    public static let invalidXML = Code("invalidXML")
    /// Several faults were found at startup; `underlying` holds them.
    public static let startupFailed = Code("startupFailed")

    /// The name of the code.
    public var description: String { name }
  }

  /// Where a declaration was written.
  public struct Origin: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The file, as the compiler or the XML source names it.
    public var file: String
    /// The line, from 1.
    public var line: Int
    /// The column, from 1, where one is known.
    public var column: Int?
    /// The module that declares it, if one does.
    public var module: String?

    /// Creates an origin.
    ///
    /// - Parameters:
    ///   - file: as the compiler or the XML source names it.
    ///   - line: from 1.
    ///   - column: from 1, where one is known.
    ///   - module: the name of the module that declares it.
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
  public struct Step: Hashable, Sendable, CustomStringConvertible {
    /// The type of the bean and its id, as reports name it; the type or the id alone where no bean was found.
    public var label: String
    /// Where the bean is declared, where that is known.
    public var origin: Origin?

    /// Creates a step.
    public init(_ label: String, origin: Origin? = nil) { (self.label, self.origin) = (label, origin) }

    /// The label, and the place in parentheses.
    public var description: String { label + (origin.map { " (\($0))" } ?? "") }
  }

  /// What kind of failure it is.
  public var code: Code { cause.code }
  /// What happened.
  public package(set) var message: String
  /// What to do about it, as <doc:Faults> has it.
  public var help: String { cause.help }
  /// From the bean that was asked for, inwards to the one at fault.
  public package(set) var steps: [Step]
  /// The labels of `steps`.
  public var path: [String] { steps.map(\.label) }
  /// Where the declaration at fault was written; the call, where no declaration is at fault.
  public package(set) var origin: Origin?
  /// What a factory or a callback threw; for `startupFailed` and for several failed releases, all of them.
  public package(set) var underlying: [any Error]
  /// What it comes of.
  package private(set) var cause: FaultCause
  /// The call that came upon it, where it has an origin of its own.
  private var call: Origin?
  /// The scope that is not open, for `scopeNotActive` found by the linker.
  package var scope: String?
  /// Which bean has to be awaited first, for `notReady`.
  package var missing: (any Sendable)?

  /// Creates an error; scopes and factories of your own may throw it.
  ///
  /// - Parameters:
  ///   - code: what kind of failure it is.
  ///   - message: what happened, and what to do about it where <doc:Faults> does not say it.
  ///   - path: from the bean that was asked for, inwards to the one at fault.
  ///   - origin: where the declaration at fault was written.
  ///   - underlying: what a factory or a callback threw.
  public init(
    _ code: Code, _ message: String, path: [String] = [], origin: Origin? = nil, underlying: [any Error] = []
  ) {
    self.init(code, message, steps: path.map { Step($0) }, origin: origin, underlying: underlying)
  }

  /// Creates an error that says where the beans on its path are declared.
  ///
  /// - Parameters:
  ///   - code: what kind of failure it is.
  ///   - message: what happened, and what to do about it where <doc:Faults> does not say it.
  ///   - steps: from the bean that was asked for, inwards to the one at fault.
  ///   - origin: where the declaration at fault was written.
  ///   - underlying: what a factory or a callback threw, or all failures that are held.
  public init(_ code: Code, _ message: String, steps: [Step], origin: Origin?, underlying: [any Error] = []) {
    self.init(cause: FaultCause(of: code), message, steps: steps, origin: origin, underlying: underlying)
  }

  /// Creates an error of the code that the cause has.
  ///
  /// - Parameters:
  ///   - cause: what it comes of.
  ///   - message: what happened.
  ///   - path: the labels of the steps, where nothing more is known of them.
  ///   - origin: where the declaration at fault was written.
  package init(cause: FaultCause, _ message: String, path: [String] = [], origin: Origin? = nil) {
    self.init(cause: cause, message, steps: path.map { Step($0) }, origin: origin)
  }

  /// Creates an error of the code that the cause has, which says where the beans on its path are declared.
  ///
  /// - Parameters:
  ///   - cause: what it comes of.
  ///   - message: what happened.
  ///   - steps: from the bean that was asked for, inwards to the one at fault.
  ///   - origin: where the declaration at fault was written.
  ///   - underlying: what a factory or a callback threw, or all failures that are held.
  package init(
    cause: FaultCause, _ message: String, steps: [Step], origin: Origin?, underlying: [any Error] = []
  ) {
    self.cause = cause
    self.message = message
    self.steps = steps
    self.origin = origin
    self.underlying = underlying
  }

  /// One line for a single failure; a numbered list where several are held. `report` says more.
  public var description: String {
    var text = "\(code): \(message)"
    if !steps.isEmpty { text += " [\(path.joined(separator: " → "))]" }
    if let origin { text += " (\(origin))" }
    for (number, error) in underlying.enumerated() {
      let whole = "\(error)"
      // The message of a single failure says it, unless there is more to say.
      if underlying.count == 1, message.hasSuffix(whole) { break }
      let inner = whole.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n     ")
      text += "\n  \(number + 1). \(inner)"
    }
    return text
  }

  /// All failures for people, numbered, on several lines: what happened, and where that is written; the call that came upon
  /// it; the beans on its path, and where these are declared; what to do; and the section of <doc:Faults> that shows it.
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

  /// The report: what a program prints that ends with the error.
  public var debugDescription: String { report }

  /// The single failures, however deep they stand in errors that hold several.
  private var failures: [any Error] {
    if underlying.count < 2 { return [self] }
    return underlying.flatMap { ($0 as? EnvironmentError)?.failures ?? [$0] }
  }

  private func block(indent: String) -> String {
    var lines = ["\(code): \(message)"]
    if let origin { lines.append("at \(origin)") }
    if let call { lines.append("asked for at \(call)") }
    for (number, step) in steps.enumerated() {
      // The place of a bean that is alone on its path has been said.
      let isSaid = steps.count == 1 && step.origin == origin
      lines.append((number == 0 ? "for " : "  → ") + (isSaid ? step.label : "\(step)"))
    }
    if let only = underlying.first, underlying.count == 1, !message.hasSuffix("\(only)") {
      lines.append("because \((only as? EnvironmentError)?.block(indent: "  ") ?? "\(only)")")
    }
    lines += advice
    return lines.joined(separator: "\n\(indent)")
  }

  /// What to do, and where more is said about it.
  package var advice: [String] { ["help: \(help)", "see \(cause.link)"] }

  // MARK: other errors made of it

  /// This failure with another message.
  package func saying(_ message: String) -> EnvironmentError { with { $0.message = message } }

  /// This failure, of which more is known than its code.
  package func because(of cause: FaultCause) -> EnvironmentError { with { $0.cause = cause } }

  /// This failure, seen from a bean further out, which is at fault where nothing else is known.
  package func within(_ name: String, declaredAt outer: Origin? = nil) -> EnvironmentError {
    with { error in
      error.steps.insert(Step(name, origin: outer), at: 0)
      error.origin = origin ?? outer
    }
  }

  /// This failure as a call came upon it, which is its origin where it has none. The innermost call counts.
  package func met(by call: Origin) -> EnvironmentError {
    with { error in
      if origin == nil, underlying.count < 2 {
        error.origin = call
      } else if self.call == nil, origin != call {
        error.call = call
      }
    }
  }

  /// This failure, changed.
  package func with(_ change: (inout EnvironmentError) -> Void) -> EnvironmentError {
    var error = self
    change(&error)
    return error
  }

  /// No error for none, the error itself for one, `code` holding all for several.
  package static func combining(_ errors: [any Error], code: Code, _ message: (Int) -> String) -> (any Error)? {
    errors.count < 2 ? errors.first : EnvironmentError(code, message(errors.count), underlying: errors)
  }
}

extension EnvironmentError: Equatable {
  /// Equality of faults is by code.
  public static func == (left: EnvironmentError, right: EnvironmentError) -> Bool { left.code == right.code }
}
