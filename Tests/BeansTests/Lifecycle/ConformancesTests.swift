import TestSupport
import CBeansRuntime
import Glibc
import Testing

@testable import Beans

/// What is answered without the runtime must be what the runtime would answer.
@Suite struct ConformancesTests {
  private static let types: [Any.Type] = [
    // Classes.
    Nothing.self, Own.self, Inheriting.self, InheritingTwice.self, ByExtension.self, InheritingFromElsewhere.self,
    Refining.self, InheritingRefined.self, Whole.self, Describing.self, Making.self, Isolating.self, local(),
    // Generic ones.
    Generic<Int>.self, Generic<String>.self, Generic<Own>.self, Nested<Int>.Inner.self, InheritingGeneric.self,
    Conditional<Own>.self, Conditional<Nothing>.self, Conditional<Conditional<Value>>.self,
    Conditional<Conditional<Int>>.self, InheritingConditional.self, InheritingUnconditional.self,
    ConditionalByType<Int>.self, ConditionalByType<String>.self, GenericMaking<Int>.self, Pack<Int, Own>.self,
    ManagedBuffer<Int, Int>.self, InheritingRetroactively.self, Unicode.UTF32.self,
    // Actors, structures and enumerations.
    Acting.self, Value.self, Empty.self, Choice.self, GenericValue<Int>.self, GenericValue<Own>.self, Int.self,
    String.self, Set<Int>.self, UnsafeMutablePointer<Int>.self, CommandLine.self,
    // The container's own.
    Environment.self, ConfigurationManager.self, BeanDeclaration.self, Injection.self, EnvironmentFactory<Own>.self,
    AbstractBeanScope.self, Int?.self, Own?.self, [Own].self, Provider<Own>.self, (any Bean)?.self,
    // From C.
    timespec.self, FILE.self, pthread_mutex_t.self, div_t.self, OpaquePointer.self,
    // Without a name.
    (Int, Own).self, Void.self, (() -> Void).self, ((Own) async throws -> Own).self, Own.Type.self, Any.self,
    AnyObject.self, Any.Type.self, (any Bean).self, (any Refined).self, (any Bean & DisposableBean).self,
    (any Own & DisposableBean).self, (any Bean.Type).self, (any Error).self, (any Error & Bean).self,
    (any Error & Sendable).self, (any Sendable).self, (any Keyed<Int>).self, (any BeanScope).self, Never.self,
  ]

  /// Those of the container, of this module, of the standard library.
  private static let protocols: [(wanted: Any.Type, asked: @Sendable (Any.Type) -> Bool)] = [
    ((any EnvironmentAware).self, { $0 is any EnvironmentAware.Type }),
    ((any Bean).self, { $0 is any Bean.Type }),
    ((any DisposableBean).self, { $0 is any DisposableBean.Type }),
    ((any AsyncDisposableBean).self, { $0 is any AsyncDisposableBean.Type }),
    ((any FactoryBean).self, { $0 is any FactoryBean.Type }),
    ((any ConfigurationSource).self, { $0 is any ConfigurationSource.Type }),
    ((any BeanScope).self, { $0 is any BeanScope.Type }),
    ((any BeanPostProcessor).self, { $0 is any BeanPostProcessor.Type }),
    ((any DependencyWrapper).self, { $0 is any DependencyWrapper.Type }),
    ((any BeanDescriptorInitializer).self, { $0 is any BeanDescriptorInitializer.Type }),
    ((any Refined).self, { $0 is any Refined.Type }),
    ((any Keyed).self, { $0 is any Keyed.Type }),
    ((any Unused).self, { $0 is any Unused.Type }),
    ((any Error).self, { $0 is any Error.Type }),
    ((any Equatable).self, { $0 is any Equatable.Type }),
    ((any Hashable).self, { $0 is any Hashable.Type }),
    ((any Actor).self, { $0 is any Actor.Type }),
    ((any Collection).self, { $0 is any Collection.Type }),
    ((any CustomStringConvertible).self, { $0 is any CustomStringConvertible.Type }),
    ((any LosslessStringConvertible).self, { $0 is any LosslessStringConvertible.Type }),
  ]

  @Test func whatIsKnownIsWhatTheRuntimeSays() {
    for type in Self.types {
      let known = Conformances(of: type)
      for (index, entry) in Self.protocols.prefix(10).enumerated() {
        let bit = Conformances.Protocols(rawValue: 1 << index)
        let isInPlace = Conformances.Protocols.types[index] == entry.wanted
        #expect(isInPlace)
        let isAsked = entry.asked(type)
        #expect(known.contains(bit, entry.asked(type)) == isAsked, "\(type) as \(entry.wanted)")
        if known.certain.contains(bit) { #expect(isAsked, "\(type) is certainly no \(entry.wanted)") }
        if isAsked { #expect(!known.certain.union(known.possible).isDisjoint(with: bit)) }
      }
    }
  }

  @Test func witnessTables() throws {
    typealias Question = @convention(c) (UnsafeRawPointer, UnsafeRawPointer?) -> UnsafeRawPointer?
    let runtime = unsafeBitCast(try #require(dlsym(nil, "swift_conformsToProtocol")), to: Question.self)
    for type in Self.types {
      for entry in Self.protocols {
        let (metadata, wanted) = (Self.metadata(type), Self.descriptor(entry.wanted))
        let found = beans_conformance(metadata, wanted)
        #expect(found == runtime(metadata, wanted), "\(type) as \(entry.wanted)")
        #expect((found != nil) == entry.asked(type) || type == Isolating.self, "\(type) as \(entry.wanted)")
      }
    }
  }

  /// The runtime is asked about what only it knows, and about nothing else.
  @Test func questions() {
    func known(_ type: Any.Type) -> (certain: Conformances.Protocols, possible: Conformances.Protocols) {
      let known = Conformances(of: type)
      return (known.certain, known.possible)
    }
    #expect(known(Nothing.self) == ([], []))
    #expect(known(Own.self) == ([.bean], []))
    #expect(known(InheritingTwice.self) == ([.bean, .disposable], []))
    #expect(known(Whole.self) == ([.aware, .bean, .disposable, .asyncDisposable, .processor, .source], []))
    #expect(known(Refining.self) == ([.bean, .disposable], []))
    #expect(known(Generic<Int>.self) == ([.bean], []))
    #expect(known(Conditional<Own>.self) == ([.disposable], [.bean]))
    #expect(known(Conditional<Int>.self) == ([.disposable], [.bean]))
    #expect(known(InheritingConditional.self) == ([.disposable], [.bean]))
    #expect(known(Value.self) == ([.bean], []))
    #expect(known(Int.self) == ([], []))
    #expect(known(InheritingRetroactively.self) == ([.wrapper], []))
    #expect(known(Own?.self) == ([.wrapper], []))
    #expect(known((any Bean).self) == ([], []))
    #expect(known(timespec.self).possible == known((Int, Int).self).possible)
    #expect(known((Int, Int).self).possible.rawValue == (1 << UInt32(Conformances.Protocols.types.count)) - 1)
  }

  @Test func everyProtocolHasADescriptor() {
    for type in Conformances.Protocols.types { #expect(TypeRelation.protocols(of: type).count == 1) }
  }

  @Test func wrappers() {
    for type in Self.types {
      #expect(Dependency.isWrapper(type) == type is any DependencyWrapper.Type, "\(type)")
    }
    let elements = [Dependency.of([Own].self).element, Dependency.of(Provider<Own?>.self).element]
    #expect(elements.allSatisfy { $0 == Own.self })
  }

  @Test func fromManyThreads() throws {
    let expected = Self.types.map { Conformances(of: $0).certain.rawValue }
    let found = try onThreads(4) { _ in (0..<20).map { _ in Self.types.map { Conformances(of: $0).certain.rawValue } } }
    #expect(found.allSatisfy { $0.allSatisfy { $0 == expected } })
  }

  /// Nothing here links it; where it is not installed, there is nothing to load.
  @Test func aLibraryThatIsLoadedLater() throws {
    let float = Self.metadata(Float.self)
    #expect(beans_conformance(float, Self.descriptor((any Bean).self)) == nil)
    guard let library = dlopen("libswift_Differentiation.so", RTLD_NOW) else { return }
    let wanted = try #require(dlsym(library, "$s16_Differentiation14DifferentiableMp"))
    #expect(beans_conformance(float, wanted) != nil)
    #expect(beans_conformance(Self.metadata(Own.self), wanted) == nil)
  }

  private static func metadata(_ type: Any.Type) -> UnsafeRawPointer { unsafeBitCast(type, to: UnsafeRawPointer.self) }
  private static func descriptor(_ type: Any.Type) -> UnsafeRawPointer? { TypeRelation.protocols(of: type).first }

  private static func local() -> Any.Type {
    final class Local: Own, AsyncDisposableBean {
      func preDestroy() async {}
    }
    return Local.self
  }
}

private protocol Refined: Bean, DisposableBean {}
private protocol Unused {}
private protocol Keyed<Key> {
  associatedtype Key
}

private class Nothing {}
private class Own: Bean {
  func postConstruct() {}
}
private class Inheriting: Own, DisposableBean {
  func preDestroy() {}
}
private final class InheritingTwice: Inheriting {}
private final class ByExtension {}
extension ByExtension: Bean {
  func postConstruct() {}
}
private class Refining: Refined, Keyed {
  typealias Key = Int
  func postConstruct() {}
  func preDestroy() {}
}
private final class InheritingRefined: Refining {}
private class Whole: EnvironmentAware, Bean, DisposableBean, AsyncDisposableBean, BeanPostProcessor,
  ConfigurationSource,
  @unchecked Sendable  // used by one test, and never written
{
  var environment: Environment?
  func postConstruct() {}
  func preDestroy() throws {}
  func preDestroy() async throws {}
  func process(_ bean: AnyObject) -> AnyObject { bean }
  let url = "", canOverrule = false
  func load(_ manager: ConfigurationManager) {}
}

private class Generic<Element>: Bean {
  func postConstruct() {}
}
private enum Nested<Element> {
  final class Inner: Generic<[Element]>, DisposableBean {
    func preDestroy() {}
  }
}
private final class InheritingGeneric: Generic<Int> {}
private class Conditional<Element>: DisposableBean {
  func preDestroy() {}
}
extension Conditional: Bean where Element: Bean {
  func postConstruct() {}
}
private final class InheritingConditional: Conditional<Own> {}
private final class InheritingUnconditional: Conditional<Int> {}
private final class ConditionalByType<Element> {}
extension ConditionalByType: Keyed where Element == Int { typealias Key = Int }
extension ConditionalByType: Error, @unchecked Sendable where Element == String {}  // never made, only asked about
private final class Pack<each Element>: Keyed { typealias Key = (repeat each Element) }
private struct Value: Bean {
  func postConstruct() {}
}
private struct Empty: Hashable {}
private enum Choice: Error, CustomStringConvertible {
  case one, other(Int)
  var description: String { "" }
}
extension Choice: DisposableBean {
  func preDestroy() {}
}
private struct GenericValue<Element> {}
extension GenericValue: Bean where Element: AnyObject {
  func postConstruct() {}
}
private actor Acting: AsyncDisposableBean {
  func preDestroy() async {}
}
extension ManagedBuffer: DependencyWrapper {
  static var dependency: Dependency { Dependency.Surroundings() }
}
private final class InheritingRetroactively: ManagedBuffer<Int, String> {}
extension Unicode.UTF32: Keyed { typealias Key = Int }
private final class InheritingFromElsewhere: AbstractBeanScope, @unchecked Sendable {}  // adds no state
private final class Describing: Own, BeanDescriptorInitializer {
  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) {}
}
private final class Making: FactoryBean {
  func create() -> Own { Own() }
}
private final class GenericMaking<Product>: FactoryBean {
  func create() throws -> Product { throw Choice.one }
}
@MainActor private final class Isolating: @MainActor Bean {
  func postConstruct() {}
}
