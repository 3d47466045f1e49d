import Beans
import BeansInject
import BeansXML
import Foundation

extension Fault {
  /// Values that are not valid.
  static let conversions: [Fault] = [
    .startup(
      .noConversion, "A property is given a value of another type, and nothing converts it."
    ) { try $0.define($0.bean(Order.self).property("number", value: Stock())) },
    .startup(
      .noConversion, "Text is given to a property of a type that has none."
    ) { try $0.define($0.bean(Order.self).property(\.stock, resolve: "main")) },
    .startup(.noConversion, "The active profiles are neither text nor a list of it.") { shop in
      try shop.define(shop.settings().setValue(key: "beans.profiles", value: Stock()))
      try shop.define(shop.bean(Order.self).profile("production"))
    },
    .call(.noConversion, "A configuration value is read as a type that nothing converts it to.") { shop in
      try shop.define(shop.settings().setValue(key: "port", value: 80))
      _ = try shop.getConfigurationValue(Stock.self, key: "port")
    },

    .startup(
      .conversionFailed, "A number does not fit into the property's type."
    ) { try $0.define($0.bean(Order.self).property("quantity", value: 300)) },
    .startup(
      .conversionFailed, "Text that is no number is given to one."
    ) { try $0.define($0.bean(Order.self).property("number", resolve: "twelve")) },
    .startup(
      .conversionFailed, "Text with a placeholder is given as a value, which is taken as it is."
    ) { try $0.define($0.bean(Order.self).property("number", value: "${port}")) },
    .startup(
      .conversionFailed, "Text that is neither true nor false is given to a Boolean."
    ) { try $0.define($0.bean(Order.self).property("isPaid", resolve: "perhaps")) },
    .startup(
      .conversionFailed, "Text without a unit is given to a duration."
    ) { try $0.define($0.bean(Order.self).property("deadline", resolve: "30")) },
    .startup(
      .conversionFailed, "Text that is none of its cases is given to an enum."
    ) { try $0.define($0.bean(Order.self).property("status", resolve: "lost")) },
    .startup(
      .conversionFailed, "An element of a collection does not convert."
    ) { try $0.define($0.bean(Order.self).property("lines", value: ["1", "two"])) },
    .startup(.conversionFailed, "A conversion of the user's throws.") { shop in
      try shop.registerConversion(from: String.self, to: Stock.self) { _ in throw Outage() }
      try shop.define(shop.bean(Order.self).property("stock", value: "main"))
    },
    .startup(.conversionFailed, "A configuration value that a placeholder stands for has the wrong form.") { shop in
      try shop.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["NUMBER": "12a"]))
      try shop.define(shop.bean(Order.self).property("number", resolve: "${NUMBER}"))
    },
    .startup(
      .conversionFailed, "A value in an XML document has the wrong form."
    ) { try $0.loadShop("<bean class='FaultTests.Order'><property name='number' value='twelve'/></bean>") },
    .call(.conversionFailed, "A configuration value is read as a type it does not fit.") { shop in
      try shop.addConfigurationSource(CommandLineConfigurationSource(arguments: ["shop", "--port=http"]))
      _ = try shop.getConfigurationValue(UInt16.self, key: "port")
    },
    .call(.conversionFailed, "An option of the command line without a value is read as a number.") { shop in
      try shop.addConfigurationSource(CommandLineConfigurationSource(arguments: ["shop", "--port"]))
      _ = try shop.getConfigurationValue(Int.self, key: "port")
    },
    .call(.conversionFailed, "A size is written in a unit that does not exist.") { shop in
      try shop.define(shop.settings().setValue(key: "cache", value: "64 megs"))
      _ = try shop.getConfigurationValue(ByteCount.self, key: "cache")
    },
    .call(.conversionFailed, "A secret does not convert, and is not shown.") { shop in
      try shop.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["DB_PASSWORD": "hunter2"]))
      _ = try shop.getConfigurationValue(Int.self, key: "db.password")
    },
    .call(.conversionFailed, "Several values of a section are missing or have the wrong form.") { shop in
      try shop.addConfigurationSource(
        ProcessInfoConfigurationSource(variables: ["MAIL_PORT": "smtp", "MAIL_HOTS": "example.org"]))
      _ = try shop.configurationManager.getConfiguration(Mail.self, prefix: "mail")
    },
    .startup(.conversionFailed, "A value of a section that is a bean has the wrong form.") { shop in
      try shop.addConfigurationSource(
        ProcessInfoConfigurationSource(variables: ["MAIL_PORT": "smtp", "MAIL_HOST": "example.org"]))
      try shop.define(shop.bean(Mail.self, configuration: "mail"))
    },
    .startup(.conversionFailed, "A section refuses its values.") { shop in
      try shop.addConfigurationSource(
        ProcessInfoConfigurationSource(variables: ["MAIL_PORT": "0", "MAIL_HOST": "example.org"]))
      try shop.define(shop.bean(Mail.self, configuration: "mail"))
    },
    .json("A configuration file is malformed.", "{ \"port\": }"),
    .json("A JSON file has a comment.", "{\n  // of the shop\n  \"port\": 80\n}"),
    .json("A JSON file has a comma too many.", "{\n  \"port\": 80,\n}"),
    .json("A JSON file gives a key twice.", "{\n  \"port\": 80,\n  \"port\": 81\n}"),
    .json(
      "Two paths of a JSON file are the same key.", "{\n  \"mail\": { \"port\": 25 },\n  \"mail.port\": 26\n}"),
    .json("A list in a JSON file contains a null.", "{\n  \"hosts\": [\"a\", null]\n}"),
    .json("A JSON file has several faults.", "{\n  \"hosts\": [null],\n  \"\": 1,\n  \"port\": 1, \"port\": 2\n}"),
  ]

  /// Missing configuration.
  static let configuration: [Fault] = [
    .startup(.unresolvedPlaceholder, "A placeholder names a key that no source has.") { shop in
      try shop.define(shop.settings().setValue(key: "number", value: 1))
      try shop.define(shop.bean(Order.self).property("number", resolve: "${numbr}"))
    },
    .startup(.unresolvedPlaceholder, "A placeholder forgets the namespace of its key.") { shop in
      try shop.define(shop.settings().setValue(namespace: "orders", key: "first", value: 1))
      try shop.define(shop.bean(Order.self).property("number", resolve: "${first}"))
    },
    .startup(
      .unresolvedPlaceholder, "A placeholder in an XML document names a key that no source has."
    ) { try $0.loadShop("<bean class='FaultTests.Order'><property name='number' value='${number}'/></bean>") },
    .startup(.unresolvedPlaceholder, "A placeholder has its default in the notation of Spring.") { shop in
      try shop.define(shop.bean(Order.self).property("number", resolve: "${first.number:1}"))
    },
    .call(.unresolvedPlaceholder, "A configuration value holds a placeholder without a value.") { shop in
      try shop.define(shop.settings().setValue(key: "url", value: "http://${host}/"))
      _ = try shop.getConfigurationValue(String.self, key: "url")
    },
    .call(
      .unresolvedPlaceholder, "Text that is resolved by hand has a placeholder without a value."
    ) { _ = try $0.configurationManager.resolve("http://${host}/") },

    .startup(
      .missingConfiguration, "A class has a property injected from a key that no source has."
    ) { try $0.define($0.bean(Listener.self)) },
    .call(.missingConfiguration, "A value is read that no source has.") { shop in
      try shop.define(shop.settings().setValue(key: "port", value: 80))
      _ = try shop.getConfigurationValue(Int.self, key: "prot")
    },
    .call(.missingConfiguration, "A value is read whose environment variable is spelled in another way.") { shop in
      try shop.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["SERVER_PROT": "80"]))
      _ = try shop.getConfigurationValue(Int.self, key: "server.port")
    },
    .startup(.missingConfiguration, "A section that is a bean has a property without a value.") { shop in
      try shop.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["MAIL_PORT": "25"]))
      try shop.define(shop.bean(Mail.self, configuration: "mail"))
    },
    .call(.missingConfiguration, "A list lacks one of its elements.") { shop in
      try shop.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["HOSTS_0": "a", "HOSTS_2": "c"]))
      _ = try shop.getConfigurationValue([String].self, key: "hosts")
    },
    .call(.missingConfiguration, "A value is read in a scope it is not defined for.") { shop in
      try shop.configurationManager.addSource(Tariff())
      _ = try shop.getConfigurationValue(Int.self, key: "price", scope: "berlin")
    },
    .call(
      .missingConfiguration, "A configuration file does not exist."
    ) { try $0.addConfigurationSource(JSONConfigurationSource(path: "/no/such/shop.json")) },
  ]
}

extension Fault {
  /// A JSON file that cannot be used.
  private static func json(_ cause: String, _ text: String) -> Fault {
    .call(.conversionFailed, cause) { shop in
      let folder = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appending(component: "shop.json")
      try Data(text.utf8).write(to: file)
      try shop.addConfigurationSource(JSONConfigurationSource(path: file.path))
    }
  }
}

private struct Mail: ValidatedConfiguration, Sendable {
  struct Refusal: Error, CustomStringConvertible { let description: String }

  let host: String
  let port: UInt16

  func validate() throws { if port == 0 { throw Refusal(description: "port 0 cannot be reached") } }
}

private final class Listener: Initializable, BeanDescriptorInitializer {
  var port = 0

  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["port"].inject(InjectConfigurationValue(key: "port"))
  }
}

private final class Tariff: ConfigurationSource {
  let url = "tariff"
  let canOverrule = false
  func load(_ manager: ConfigurationManager) throws {
    try manager.configurationAdded(ConfigurationItem(key: "price", value: 3, scope: "hamburg"), source: self)
  }
}
