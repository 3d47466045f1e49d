import Beans
import Testing

private protocol Store: Sendable {}
private final class Disk: Store, Initializable {}
private final class Tape: Store, Initializable {}
private enum Fast {}

private final class Catalogue {
  init(stores: [String: any Store]) {}
  init(store: any Store) {}
  init(disk: Qualified<Fast, Disk>) {}
}

/// The reasons that faults give if another reason is near.
@Suite struct FaultReasonSpecification {
  private let environment: Environment

  init() throws { environment = try Environment(name: "shop") }

  @Test("A dictionary of beans without ids reports the missing ids")
  func aDictionaryOfBeansWithoutIdsReportsTheMissingIds() throws {
    try environment
      .define(environment.bean(Disk.self))
      .define(environment.bean(Catalogue.self, factory: Catalogue.init(stores:)))
    let fault = try requireFault(.unknownBean, message: "no bean of type Store has an id") { try environment.startup() }
    #expect(fault.message.contains("Disk (") && !fault.message.contains("can be seen"), "\(fault)")
  }

  @Test("A dictionary without a bean reports that there is none")
  func aDictionaryWithoutABeanReportsThatThereIsNone() throws {
    try environment.define(environment.bean(Catalogue.self, factory: Catalogue.init(stores:)))
    try requireFault(.unknownBean, message: "no bean of type Store can be seen") { try environment.startup() }
  }

  @Test("Ambiguity among qualified beans names the qualifier")
  func ambiguityAmongQualifiedBeansNamesTheQualifier() throws {
    try environment
      .define(environment.bean(Disk.self, id: "one").qualifier(Fast.self))
      .define(environment.bean(Disk.self, id: "two").qualifier(Fast.self))
      .define(environment.bean(Disk.self, id: "three"))
      .define(environment.bean(Catalogue.self, factory: Catalogue.init(disk:)))
    let fault = try requireFault(.ambiguousBean) { try environment.startup() }
    #expect(fault.message.contains("2 beans with qualifier Fast match Disk"), "\(fault)")
    #expect(!fault.message.contains("three"))
  }

  @Test("Several primary beans are reported as such")
  func severalPrimaryBeansAreReportedAsSuch() throws {
    try environment
      .define(environment.bean(Disk.self, id: "one").primary())
      .define(environment.bean(Tape.self, id: "two").primary())
      .define(environment.bean(Tape.self, id: "three"))
      .define(environment.bean(Catalogue.self, factory: Catalogue.init(store:)))
    let fault = try requireFault(.ambiguousBean) { try environment.startup() }
    #expect(fault.message.contains("2 of 3 beans that match Store are primary: Disk 'one' ("), "\(fault)")
    #expect(!fault.message.contains("three") && !fault.message.contains("make one primary"), "\(fault)")
  }
}
