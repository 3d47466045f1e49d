import TestSupport
import BeansErrors
import Synchronization
import Testing

@testable import BeansReflection

@Suite struct BeanDescriptorInitializerTests {
  @Test func superclassesAreInitializedFirstAndOnce() throws {
    let descriptor = try BeanDescriptor.forClass(Ordered.Child.self)
    #expect(Ordered.journal.entries == ["Ordered.Parent", "Ordered.Child"])
    _ = try BeanDescriptor.forClass(Ordered.Parent.self)
    _ = try BeanDescriptor.forClass(Ordered.Child.self)
    #expect(Ordered.journal.entries.count == 2)
    #expect(try descriptor["own"].injectedId == "child")
    #expect(try descriptor["inherited"].injectedId == "parent")
    #expect(try BeanDescriptor.forClass(Ordered.Parent.self).findProperty("own") == nil)
  }

  @Test func failuresAreThrownEachTime() throws {
    for _ in 0..<2 {
      #expect(code { try BeanDescriptor.forClass(Failing.Parent.self) } == .unknownProperty)
      #expect(code { try BeanDescriptor.forClass(Failing.Child.self) } == .unknownProperty)
      #expect(code { try BeanDescriptor.forClass(Failing.Foreign.self) } == .invalidDeclaration)
    }
    #expect(Failing.calls.value == 2)
    let error = #expect(throws: EnvironmentError.self) { try BeanDescriptor.forClass(Failing.Foreign.self) }
    #expect(error?.underlying.first is Stuck)
  }

  @Test func failingSubclassesDoNotAffectTheirSuperclass() throws {
    class Parent {}
    final class Child: Parent, BeanDescriptorInitializer {
      static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
        try beanDescriptor["missing"].declare(.bean(id: nil))
      }
    }
    #expect(code { try BeanDescriptor.forClass(Child.self) } == .unknownProperty)
    #expect(try BeanDescriptor.forClass(Parent.self).getSubBeans().isEmpty)
  }

  @Test func anInitializerMayRequestItsOwnDescriptor() throws {
    let descriptor = try BeanDescriptor.forClass(Recursive.Parent.self)
    #expect(try descriptor["value"].injectedId == .some(nil))
    #expect(try BeanDescriptor.forClass(Recursive.Child.self)["value"].injectedId == .some(nil))
    #expect(Recursive.calls.value == 2)
  }

  /// The subclass was complete before its superclass failed.
  @Test func aFailureAfterASubclassWasCreatedFailsBoth() throws {
    #expect(code { try BeanDescriptor.forClass(Late.Parent.self) } == .creationFailed)
    #expect(code { try BeanDescriptor.forClass(Late.Child.self) } == .creationFailed)
  }

  @Test func threadsWaitForOneInitializer() throws {
    let descriptors = try onThreads(4) { _ in try BeanDescriptor.forClass(Shared.self) }
    #expect(descriptors.allSatisfy { $0 === descriptors[0] })
    #expect(try descriptors[0]["value"].injectedId == .some(nil))
    #expect(Shared.calls.value == 1)
  }

  /// Two initializers, each on its own thread, ask for each other's descriptor.
  @Test func circlesAcrossThreadsAreResolved() throws {
    let left = BackgroundThread { try BeanDescriptor.forClass(Circle.Left.self) }
    let right = BackgroundThread { try BeanDescriptor.forClass(Circle.Right.self) }
    let both = [try left.value(), try right.value()]
    for descriptor in both { #expect(try descriptor["value"].injectedId == .some(nil)) }
    #expect(try BeanDescriptor.forClass(Circle.Left.self) === both[0])
    #expect(try BeanDescriptor.forClass(Circle.Right.self) === both[1])
  }
}

private enum Ordered {
  static let journal = Journal()
  class Parent: BeanDescriptorInitializer {
    var inherited = 1
    class func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      journal.note("Ordered.\(beanDescriptor.getBeanClass())")
      try beanDescriptor["inherited"].declare(.bean(id: "parent"))
    }
  }
  final class Child: Parent {
    var own = 1
    override static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      journal.note("Ordered.\(beanDescriptor.getBeanClass())")
      try beanDescriptor["own"].declare(.bean(id: "child"))
    }
  }
}

private enum Failing {
  static let calls = Counter()
  class Parent: BeanDescriptorInitializer {
    static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      calls.increment()
      try beanDescriptor["missing"].declare(.bean(id: nil))
    }
  }
  final class Child: Parent {}
  final class Foreign: BeanDescriptorInitializer {
    static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      calls.increment()
      throw Stuck(description: "foreign")
    }
  }
}

private enum Recursive {
  static let calls = Counter()
  class Parent: BeanDescriptorInitializer {
    var value = 1
    static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      calls.increment()
      _ = try BeanDescriptor.forClass(Child.self)
      try BeanDescriptor.forClass(Parent.self)["value"].declare(.bean(id: nil))
    }
  }
  final class Child: Parent {}
}

private enum Late {
  class Parent: BeanDescriptorInitializer {
    class func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      guard try BeanDescriptor.forClass(Child.self).getBeanClass() == Child.self else { return }
      throw EnvironmentError(.creationFailed, "late")
    }
  }
  final class Child: Parent {
    override static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {}
  }
}

private final class Shared: BeanDescriptorInitializer {
  static let calls = Counter()
  var value = 1
  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    calls.increment()
    for _ in 0..<100 { _ = beanDescriptor.getProperties().map { $0.getPropertyType() } }
    try beanDescriptor["value"].declare(.bean(id: nil))
  }
}

private enum Circle {
  static let meeting = [Gate(), Gate()]
  static func meet(_ number: Int, _ other: AnyClass, _ descriptor: BeanDescriptor) throws {
    meeting[number].open()
    try meeting[1 - number].wait()
    guard try BeanDescriptor.forClass(other).findProperty("value") != nil else { return }
    try descriptor["value"].declare(.bean(id: nil))
  }
  final class Left: BeanDescriptorInitializer {
    var value = 1
    static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      try meet(0, Right.self, beanDescriptor)
    }
  }
  final class Right: BeanDescriptorInitializer {
    var value = 1
    static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
      try meet(1, Left.self, beanDescriptor)
    }
  }
}

extension PropertyDescriptor {
  /// The id of the bean that is injected, or nil inside for one of the property's type; nil without an injected bean.
  var injectedId: String?? { if case .bean(let id)? = injection { .some(id) } else { nil } }
}
