import Beans
import Foundation
import Testing

/// A startup with all faults that startup can find.
@Suite("Faults of one startup") struct FaultsAtOnceTests {
  private static let single = Fault.all.filter { $0.moment == .checking && $0.code != .startupFailed }

  @Test("Faults of all kinds of declarations are reported together, each with its place")
  func together() throws {
    let census = Census()
    weak var gone: Environment?
    do {
      let shop = try Environment(name: "shop")
      gone = shop
      try shop.define(shop.bean(Witness.self, factory: { Witness(census) }))
      var places: Set<String> = []
      func define(_ declaration: BeanDeclaration) throws { try shop.define(declaration) }
      // In Swift, by type.
      try define(shop.bean(Catalogue.self, id: "catalogue", factory: Catalogue.init))
      try define(shop.bean(Checkout.self, id: "checkout", factory: Checkout.init))
      try define(shop.bean(CardPayment.self))
      try define(shop.bean(CashPayment.self))
      try define(shop.bean(Stock.self, id: "stock", factory: { (_: Order) in Stock() }))
      try define(shop.bean(Order.self, id: "order", factory: { (_: Stock) in Order() }).primary())
      try define(shop.bean(Order.self, id: "order"))
      try define(shop.bean(Order.self, id: "scoped").scope("reqest"))
      try define(shop.bean(Order.self, id: "heir", parent: "nowhere"))
      try define(shop.bean(Order.self, id: "short", factory: { (_: Parcel) in Order() }))
      try define(shop.bean(Parcel.self).scope("request"))
      _ = try shop.childFactory("request", seed: Int.self) { request in
        try request.define(request.bean(Order.self, id: "inner", factory: { (_: Database) in Order() }))
      }
      // By name.
      try define(
        shop.bean(Order.self, id: "named").property("numbr", value: 1).property("quantity", value: 300)
          .property("number", value: Parcel()).property("deadline", resolve: "${deadline}")
          .property("stock", ref: "checkout"))
      // In XML.
      try shop.loadShop(
        """
        <bean id='xml' class='FaultTests.Order'><property name='totl' value='1'/></bean>
        <bean id='text' class='FaultTests.Order'><property name='number' value='twelve'/></bean>
        <alias name='lost' alias='found'/>
        """)
      // Assisted.
      try define(
        shop.bindFactory(Order.self).with(OrderFactory.self).to { (_: Assisted<String>) in Order() })
      let failure = try #require(throws: EnvironmentError.self) { try shop.startup() }
      #expect(failure.code == .startupFailed)
      let faults = failure.underlying.compactMap { $0 as? EnvironmentError }
      for fault in faults {
        places.insert(try #require(fault.origin, "\(fault)").description)
        #expect(!fault.path.isEmpty, "\(fault)")
      }
      // Each is one fault, independent of the number of others.
      let expected: [EnvironmentError.Code: Int] = [
        .unknownBean: 4, .ambiguousBean: 1, .cyclicDependency: 1, .duplicateId: 1, .unknownScope: 1,
        .captiveDependency: 1, .unknownProperty: 2, .conversionFailed: 2, .noConversion: 1,
        .unresolvedPlaceholder: 1, .typeMismatch: 1, .invalidDeclaration: 1,
      ]
      #expect(Dictionary(faults.map { ($0.code, 1) }, uniquingKeysWith: +) == expected, "\(failure)")
      #expect(places.count >= 12)
      for fault in faults { #expect("\(failure)".contains(fault.message)) }
      try Self.compare(FaultTable.withoutPlaces(failure.report) + "\n")
      #expect(census.made == 0, "a bean has been built")
      try? shop.shutdown()
    }
    #expect(gone == nil)
  }

  /// The printed report equals the file; UPDATE_DOCUMENTS=yes writes it.
  private static func compare(_ report: String) throws {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(component: "faults.txt")
    if ProcessInfo.processInfo.environment["UPDATE_DOCUMENTS"] == "yes" {
      try report.write(to: path, atomically: true, encoding: .utf8)
    }
    let expected = try String(contentsOf: path, encoding: .utf8)
    for change in FaultDocument.lines(report).difference(from: FaultDocument.lines(expected)) {
      Issue.record("faults.txt differs from the printed report (UPDATE_DOCUMENTS=yes writes it): \(change)")
    }
  }

  @Test("Faults are found beside each other: none hides another", arguments: single)
  func besideAnother(_ fault: Fault) async throws {
    let alone = try await fault.inject()
    let shop = try Environment(name: "shop")
    try shop.define(shop.bean(Parcel.self, id: "other", factory: { (_: Letter) in Parcel() }))
    let both = try await fault.inject(in: shop)
    try? await shop.shutdown()
    let faults = both.underlying.compactMap { $0 as? EnvironmentError }
    #expect(both.code == .startupFailed)
    #expect(Set(faults.map(\.code)) == [alone.code, .unknownBean], "\(both)")
    #expect(faults.contains { "\($0)" == "\(alone)" }, "\(both)")
  }
}

final class Parcel: Initializable {}

private final class Letter {}
