import Beans
import Testing

/// A value injected through a key path arrives at the end of the path, in the first instance and in all later ones.
@Suite struct KeyPathPropertySpecification {
  class Part {}

  final class Plain {
    var part: Part?
    var parts: [Part] = []
  }

  class Observed {
    var changes = 0
    var part: Part? { didSet { changes += 1 } }
  }

  class Overridable {
    var part: Part?
  }

  final class Overriding: Overridable {
    var seen = 0
    override var part: Part? { didSet { seen += 1 } }
  }

  final class Inner {
    var part: Part?
  }

  final class Outer {
    var inner = Inner()
  }

  private func instances<Bean: AnyObject>(
    _ type: Bean.Type, _ make: @escaping @Sendable () -> Bean, _ path: ReferenceWritableKeyPath<Bean, Part?>
  ) throws -> (beans: [Bean], part: Part) {
    let environment = try Environment(name: "paths")
    try environment.define(environment.bean(Part.self, id: "part") { Part() })
    try environment.define(environment.bean(type, factory: make).scope("prototype").property(path, ref: "part"))
    let beans = try (0..<4).map { _ in try environment.getBean(type) }
    let part = try environment.getBean(Part.self)
    try environment.shutdown()
    return (beans, part)
  }

  @Test("A stored property is set in every instance")
  func stored() throws {
    let (beans, part) = try instances(Plain.self, { Plain() }, \.part)
    #expect(beans.allSatisfy { $0.part === part && $0.parts.isEmpty })
  }

  @Test("A property that observes its changes sees one in every instance")
  func observed() throws {
    let (beans, part) = try instances(Observed.self, { Observed() }, \.part)
    #expect(beans.allSatisfy { $0.part === part && $0.changes == 1 })
  }

  @Test("A subclass that overrides the property sees the change, independent of the order of classes")
  func overridden() throws {
    let made = Counter()
    let (beans, part) = try instances(
      Overridable.self, { made.increment() % 2 == 1 ? Overridable() : Overriding() }, \.part)
    #expect(beans.allSatisfy { $0.part === part })
    let overriding = beans.compactMap { $0 as? Overriding }
    #expect(overriding.count == 2)
    #expect(overriding.allSatisfy { $0.seen == 1 })
  }

  @Test("A path through another object leads to that of each instance")
  func nested() throws {
    let (beans, part) = try instances(Outer.self, { Outer() }, \.inner.part)
    #expect(beans.allSatisfy { $0.inner.part === part })
  }

  @Test("The previous value of the property is released")
  func replaced() throws {
    let old = Counter()
    final class Old: Part {
      let ended: Counter
      init(_ ended: Counter) { self.ended = ended }
      deinit { ended.increment() }
    }
    let (beans, part) = try instances(
      Plain.self,
      {
        let plain = Plain()
        plain.part = Old(old)
        return plain
      }, \.part)
    #expect(beans.allSatisfy { $0.part === part })
    #expect(old.value == 4)
  }
}
