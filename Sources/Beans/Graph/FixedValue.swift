/// A value that a declaration gives: found, and of the wanted type, once startup has settled it.
///
/// Belongs to the definition, so that all recipes of a bean share one. Written by the thread that starts the environment
/// before it publishes anything; constant afterwards.
final class FixedValue: @unchecked Sendable {  // see above
  enum Given {
    /// As it is, or as something that converts.
    case value(Any)
    /// With placeholders.
    case text(String)
  }

  /// What of the bean it is for: the index of a parameter, or of a property among those of the definition.
  enum Target: Equatable {
    case argument(Int)
    case property(Int)
  }

  private let given: Given
  private let dependency: Dependency
  /// How faults name what the value is for.
  private let place: String
  /// nil until settled.
  @exclusivity(unchecked)
  private(set) var argument: Argument?

  init(_ given: Given, for dependency: Dependency, at place: String) {
    self.given = given
    self.dependency = dependency
    self.place = place
    if case .value(let value) = given { argument = dependency.argument(fixed: value) }
  }

  deinit { argument?.release() }

  /// Whether the value depends on the configuration, and so on sources that may have to be built first.
  var isText: Bool { if case .text = given { true } else { false } }

  /// Converts the value, with its placeholders replaced. Runs conversions that users have registered.
  func settle(in configuration: ConfigurationManager, hints: Bool = true) throws(EnvironmentError) {
    guard argument == nil else { return }
    do throws(EnvironmentError) {
      let value =
        switch given {
        case .value(let value): try configuration.convert(value, to: dependency.wanted)
        case .text(let text): try configuration.resolve(text, as: dependency.wanted, hints: hints)
        }
      argument = dependency.argument(fixed: value)
      if argument == nil {
        throw EnvironmentError(.typeMismatch, "\(type(of: value)) is not a \(dependency.wanted)")
      }
    } catch {
      throw EnvironmentError(error.code, "\(place): \(error.message)", underlying: error.underlying)
    }
  }

  /// The fault of text that no configuration could make right.
  func checkText() throws(EnvironmentError) {
    guard case .text(let text) = given else { return }
    do throws(EnvironmentError) { _ = try PlaceholderText(text) } catch {
      throw EnvironmentError(error.code, "\(place): \(error.message)")
    }
  }

  /// For a bean that is built now.
  func borrowed() throws -> Argument {
    guard let argument else {
      throw EnvironmentError(
        .unresolvedPlaceholder, "\(place) is needed by a configuration source, before the configuration is complete")
    }
    return Argument(object: argument.object, access: argument.access, isOwned: false)
  }
}

extension BeanDeclaration.PinnedArgument {
  /// What the declaration says itself, as opposed to what it refers to.
  var given: FixedValue.Given? {
    switch self {
    case .value(let value): .value(value)
    case .text(let text): .text(text)
    case .reference: nil
    }
  }
}

extension PropertyInjection.Source {
  /// What the declaration says itself, as opposed to what it refers to.
  var given: FixedValue.Given? {
    switch self {
    case .value(let value): .value(value)
    case .text(let text): .text(text)
    case .reference, .byType, .declaration: nil
    }
  }
}
