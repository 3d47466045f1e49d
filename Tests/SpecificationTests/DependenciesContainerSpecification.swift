import Beans
import BeansInject
import Testing

@Suite("The dependencies container") struct DependenciesContainerSpecification {
  @Test("resolve returns the service registered by exactly that type: class, value, protocol")
  func types() {
    let container = DependenciesContainer()
    let bell = Bell()
    container.register(type: Bell.self, service: bell)
    container.register(type: (any Sounding).self, service: bell)
    container.register(type: Int.self, service: 7)
    container.register(type: (() -> String).self, service: { "called" } as () -> String)
    #expect(container.resolve(type: Bell.self) === bell)
    #expect((container.resolve(type: (any Sounding).self) as? Bell) === bell)
    #expect(container.resolve(type: Int.self) == 7)
    #expect(container.resolve(type: (() -> String).self)?() == "called")
  }

  @Test("A subclass, a conforming type or another name is not found")
  func misses() {
    let container = DependenciesContainer()
    container.register(type: LoudBell.self, name: "loud", service: LoudBell())
    #expect(container.resolve(type: Bell.self, name: "loud") == nil)
    #expect(container.resolve(type: (any Sounding).self, name: "loud") == nil)
    #expect(container.resolve(type: LoudBell.self) == nil)
    #expect(container.resolve(type: LoudBell.self, name: "") == nil)
    #expect(container.resolve(type: LoudBell.self, name: "loud") != nil)
  }

  @Test("A service that is not of the type it was registered by is never found")
  func wrongService() {
    let container = DependenciesContainer()
    container.register(type: Bell.self, service: "no bell")
    #expect(container.resolve(type: Bell.self) == nil)
    container.register(type: (any Sounding).self, service: 1)
    #expect(container.resolve(type: (any Sounding).self) == nil)
  }

  @Test("The last registration wins, even one that does not fit, and the earlier one is released")
  func overwriting() {
    let container = DependenciesContainer()
    weak var first: Bell?
    do {
      let bell = Bell()
      first = bell
      container.register(type: Bell.self, service: bell)
    }
    #expect(first != nil)
    let second = Bell()
    container.register(type: Bell.self, service: second)
    #expect(first == nil)
    #expect(container.resolve(type: Bell.self) === second)
    container.register(type: Bell.self, service: 1)
    #expect(container.resolve(type: Bell.self) == nil)
  }

  @Test("A service whose end uses the container finds it unlocked")
  func reentrant() {
    let container = DependenciesContainer()
    container.register(type: Int.self, service: 1)
    container.register(type: Farewell.self, service: Farewell(container))
    container.register(type: Farewell.self, service: 0)
    #expect(container.resolve(type: Int.self) == 2)
  }

  @Test("Containers are independent, and one is shared")
  func apart() {
    let (one, other) = (DependenciesContainer(), DependenciesContainer())
    one.register(type: Int.self, service: 1)
    #expect(other.resolve(type: Int.self) == nil)
    #expect(DependenciesContainer.shared === DependenciesContainer.shared)
  }

  @Test("The container is safe from many threads")
  func threads() async {
    let container = DependenciesContainer()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          for round in 0..<500 {
            container.register(type: Int.self, name: "\(number)", service: round)
            container.register(type: Bell.self, service: Bell())
            #expect(container.resolve(type: Int.self, name: "\(number)") == round)
            #expect(container.resolve(type: Bell.self) != nil)
          }
        }
      }
    }
    for number in 0..<8 { #expect(container.resolve(type: Int.self, name: "\(number)") == 499) }
  }
}

private protocol Sounding {}

private class Bell: Sounding {}

private final class LoudBell: Bell {}

private final class Farewell {
  let container: DependenciesContainer
  init(_ container: DependenciesContainer) { self.container = container }
  deinit { container.register(type: Int.self, service: 2) }
}
