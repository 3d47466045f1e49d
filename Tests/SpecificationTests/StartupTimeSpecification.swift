import Beans
import Testing

@Suite("Times of a startup") struct StartupTimeSpecification {
  @FreshEnvironment("application") private var application

  private struct NotRecorded: Error {}

  @Test("The startup records each bean with its time, in the order of creation, and the taker of a lazy one")
  func startup() throws {
    final class Store: Sendable {}
    final class Index: Sendable { init(store: Store) {} }
    final class Page: Sendable { init(index: Index) {} }
    try application
      .define(application.bean(Page.self, factory: Page.init))
      .define(application.bean(Index.self, factory: Index.init).lazy())
      .define(application.bean(Store.self, id: "store", factory: { Store() }))
      .define(application.bean(Int.self, factory: { 1 }).lazy())
      .define(
        application.bean(String.self, factory: { (environment: Environment) in "\(try environment.getBean(Int.self))" })
      )
    try application.startup(options: [.recordTimes])
    let times = application.startupTimes
    #expect(Set(times.map(\.bean)) == ["Store 'store'", "Index", "Page", "Int", "String"])
    func time(_ bean: String) throws -> (place: Int, time: StartupTime) {
      guard let place = times.firstIndex(where: { $0.bean == bean }) else { throw NotRecorded() }
      return (place, times[place])
    }
    #expect(try time("Store 'store'").place < time("Index").place)
    #expect(try time("Index").place < time("Page").place)
    #expect(try time("Index").time.parent == "Page")
    #expect(try time("Page").time.parent == nil)
    // The lookup in the factory was not known before the build.
    #expect(try time("Int").time.parent == "String")
    #expect(try time("Int").time.duration == nil)
    for bean in ["Store 'store'", "Index", "Page", "String"] {
      #expect(try #require(time(bean).time.duration) >= .zero)
      #expect(try time(bean).time.origin.file.hasSuffix("StartupTimeSpecification.swift"))
    }
    #expect(try #require(application.startupDuration) > .zero)
  }

  @Test("Awaited beans have their times, too")
  func awaitedStartup() async throws {
    try application
      .define(
        application.bean(
          Int.self,
          async: { () async in
            await Task.yield()
            return 7
          })
      )
      .define(application.bean(String.self, factory: { (number: Int) in "\(number)" }))
    try await application.ready(options: [.recordTimes])
    #expect(application.startupTimes.map(\.bean) == ["Int", "String"])
    #expect(application.startupTimes.allSatisfy { $0.duration != nil && $0.parent == nil })
    try await application.shutdown()
  }

  @Test("Times are not recorded without the option")
  func nothingRecorded() throws {
    try application.define(application.bean(7)).startup()
    #expect(application.startupTimes.isEmpty)
    #expect(application.startupDuration == nil)
    // The option comes too late.
    try application.startup(options: [.recordTimes])
    #expect(application.startupDuration == nil)
  }
}
