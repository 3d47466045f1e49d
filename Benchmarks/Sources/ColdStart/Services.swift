public import Beans

/// An application of a thousand different classes, declared and found by type; see `scripts/generate-cold-start`.
public enum Services {
  /// How many classes there are, and beans of them.
  public static let count = 1000

  /// Declares a bean of each.
  public static func declare(in environment: Environment) throws {
    for declare in declarations { try declare(environment) }
  }

  /// The objects that the container makes of those declarations, made by hand.
  public static func construct() -> [AnyObject] {
    var built: [AnyObject] = []
    built.reserveCapacity(count)
    construct(into: &built)
    return built
  }

  /// Whether a bean of the last layer has the beans it asks for, by class and by protocol, and nothing else.
  public static func isWired(_ environment: Environment) throws -> Bool {
    let last = try environment.getBean(C970.self)
    let (second, first) = (try environment.getBean(C571.self), try environment.getBean(C308.self))
    let lowest = try environment.getBean((any Port45).self)
    return last.c === second && last.b === first && last.a === lowest
      && environment.statistics().first?.created == count
  }

  /// Whether the objects made by hand are as many and wired in the same way.
  public static func isWired(_ built: [AnyObject]) -> Bool {
    guard built.count == count, let last = built[970] as? C970 else { return false }
    return last.c === built[571] && last.b === built[308] && last.a === built[45]
  }
}
