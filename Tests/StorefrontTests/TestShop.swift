import Beans

@testable import Storefront

/// The store and the goods of the shop, on a database that is removed at the end, with requests that need no loop.
enum TestShop {
  @Sendable static func declare(_ application: Environment) throws {
    let database = try TemporaryDatabase()
    try application
      // First, so that it is released last.
      .define(application.bean(database))
      .define(application.settings().setValue(key: "beans.profiles", value: "test"))
      .include(StoreModule(configuration: database.configuration))
      .include(ShopModule())
    try application.define(application.bean(application.childFactory("request", seed: HTTPRequest.self)))
  }
}
