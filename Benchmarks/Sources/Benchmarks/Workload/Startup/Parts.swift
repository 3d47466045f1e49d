import Beans

// A thousand classes without a thousand lines: one for each three of ten digits. Each depends, by type, on the class
// whose first digit is one higher.

protocol Digit: Sendable {
  associatedtype Next: Digit
  static var isLast: Bool { get }
}

extension Digit {
  static var isLast: Bool { false }
}

enum Digit0: Digit { typealias Next = Digit1 }
enum Digit1: Digit { typealias Next = Digit2 }
enum Digit2: Digit { typealias Next = Digit3 }
enum Digit3: Digit { typealias Next = Digit4 }
enum Digit4: Digit { typealias Next = Digit5 }
enum Digit5: Digit { typealias Next = Digit6 }
enum Digit6: Digit { typealias Next = Digit7 }
enum Digit7: Digit { typealias Next = Digit8 }
enum Digit8: Digit { typealias Next = Digit9 }
enum Digit9: Digit {
  typealias Next = Digit9
  static var isLast: Bool { true }
}

final class Part<A: Digit, B: Digit, C: Digit>: Sendable {
  let next: Part<A.Next, B, C>?

  init(_ next: Part<A.Next, B, C>?) { self.next = next }
}

enum Parts {
  private static let digits: [any Digit.Type] = [
    Digit0.self, Digit1.self, Digit2.self, Digit3.self, Digit4.self, Digit5.self, Digit6.self, Digit7.self,
    Digit8.self, Digit9.self,
  ]

  static func declare(in environment: Environment) throws {
    for a in digits { for b in digits { for c in digits { try declare(a, b, c, in: environment) } } }
  }

  private static func declare<A: Digit, B: Digit, C: Digit>(
    _: A.Type, _: B.Type, _: C.Type, in environment: Environment
  ) throws {
    if A.isLast {
      try environment.define(environment.bean(Part<A, B, C>.self, factory: { Part<A, B, C>(nil) }))
    } else {
      try environment.define(
        environment.bean(Part<A, B, C>.self, factory: { (next: Part<A.Next, B, C>) in Part<A, B, C>(next) }))
    }
  }

  /// Equal objects by hand: a hundred chains of ten.
  static func build() -> [AnyObject] {
    var built: [AnyObject] = []
    built.reserveCapacity(1000)
    for b in digits { for c in digits { build(b, c, &built) } }
    return built
  }

  private static func build<B: Digit, C: Digit>(_: B.Type, _: C.Type, _ built: inout [AnyObject]) {
    let p9 = Part<Digit9, B, C>(nil)
    let p8 = Part<Digit8, B, C>(p9)
    let p7 = Part<Digit7, B, C>(p8)
    let p6 = Part<Digit6, B, C>(p7)
    let p5 = Part<Digit5, B, C>(p6)
    let p4 = Part<Digit4, B, C>(p5)
    let p3 = Part<Digit3, B, C>(p4)
    let p2 = Part<Digit2, B, C>(p3)
    let p1 = Part<Digit1, B, C>(p2)
    let p0 = Part<Digit0, B, C>(p1)
    built += [p9, p8, p7, p6, p5, p4, p3, p2, p1, p0] as [AnyObject]
  }
}
