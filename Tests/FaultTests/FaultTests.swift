import Beans
import Glibc
import Testing

/// Each fault by itself.
@Suite("Faults") struct FaultTests {
  @Test("A fault has the code of the document, a message, and a bean or a place", arguments: Fault.all)
  func aFaultIsComplete(_ fault: Fault) async throws {
    let error = try await fault.inject()
    #expect(error.code == fault.code, "\(error)")
    #expect(!error.message.isEmpty && !error.message.contains("unknown context"), "\(error)")
    let parts = error.underlying.isEmpty ? [error] : [error] + error.underlying.compactMap { $0 as? EnvironmentError }
    #expect(parts.contains { !$0.path.isEmpty || $0.origin != nil }, "names no bean and no place: \(error)")
    if fault.hasOrigin {
      #expect(parts.contains { $0.origin.map { !$0.file.isEmpty && $0.line > 0 } ?? false }, "no origin: \(error)")
    }
  }

  @Test("A fault of startup retains nothing, and the environment throws it from then on", arguments: Fault.all)
  func aFaultRetainsNothing(_ fault: Fault) async throws {
    let census = Census()
    weak var gone: Environment?
    do {
      let shop = try Environment(name: "shop")
      gone = shop
      // The witness is defined before all else, so that it exists whenever any bean is built.
      if fault.isOfStartup { try shop.define(shop.bean(Witness.self, factory: { Witness(census) })) }
      let error = try await fault.inject(in: shop)
      if fault.isOfStartup {
        #expect(census.made == (fault.moment == .building ? 1 : 0), "\(error)")
        #expect(census.alive == 0, "\(error)")
        for _ in 0..<2 {
          let again = #expect(throws: EnvironmentError.self) { try shop.startup() }
          #expect(again.map { "\($0)" } == "\(error)")
          let lookup = #expect(throws: EnvironmentError.self) { try shop.getBean(Witness.self) }
          #expect(lookup.map { "\($0)" } == "\(error)")
          let definition = #expect(throws: EnvironmentError.self) { try shop.define(shop.bean(Order.self)) }
          #expect(definition.map { "\($0)" } == "\(error)")
        }
      }
      try? await shop.shutdown()
      if fault.isOfStartup {
        let after = #expect(throws: EnvironmentError.self) { try shop.getBean(Witness.self) }
        #expect(after.map { "\($0)" } == "\(error)")
      }
    }
    #expect(census.alive == 0)
    // An abandoned release holds the environment until it returns.
    for _ in 0..<60_000 where gone != nil { usleep(1_000) }
    #expect(gone == nil, "the environment is still alive")
  }

  @Test("Each code has a fault")
  func everyCode() {
    let codes: Set<EnvironmentError.Code> = [
      .unknownBean, .ambiguousBean, .duplicateId, .unknownClass, .unknownProperty, .typeMismatch, .noConversion,
      .conversionFailed, .unresolvedPlaceholder, .missingConfiguration, .cyclicDependency, .captiveDependency,
      .unknownScope, .scopeNotActive, .frozen, .finished, .exhausted, .creationFailed, .destructionFailed,
      .listenerFailed, .runFailed, .notReady, .invalidDeclaration, .invalidXML, .startupFailed,
    ]
    #expect(Set(Fault.all.map(\.code)) == codes)
    #expect(Set(Fault.all.map(\.testDescription)).count == Fault.all.count, "a cause occurs twice")
  }
}
