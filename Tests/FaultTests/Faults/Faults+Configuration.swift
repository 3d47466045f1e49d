import Beans
import BeansXML
import Foundation

extension Fault {
  /// Values that are not what they should be.
  static let conversions: [Fault] = [
    .startup(
      .noConversion, "A property is given a value of another type, and nothing converts it.",
      fix: "Give a value of the property's type, or `registerConversion(from:to:)`."
    ) { try $0.define($0.bean(Order.self).property("number", value: Stock())) },
    .startup(
      .noConversion, "Text is given to a property of a type that has none.",
      fix: "Refer to a bean (`ref`), or `registerConversion(from: String.self, to: …)`."
    ) { try $0.define($0.bean(Order.self).property(\.stock, resolve: "main")) },
    .startup(
      .noConversion, "The active profiles are neither text nor a list of it.",
      fix: "List their names in `beans.profiles`, separated by commas."
    ) { shop in
      try shop.define(shop.settings().setValue(key: "beans.profiles", value: Stock()))
      try shop.define(shop.bean(Order.self).profile("production"))
    },
    .call(
      .noConversion, "A configuration value is read as a type that nothing converts it to.",
      fix: "Read it as the type it has, or `registerConversion(from:to:)`."
    ) { shop in
      try shop.define(shop.settings().setValue(key: "port", value: 80))
      _ = try shop.getConfigurationValue(Stock.self, key: "port")
    },

    .startup(
      .conversionFailed, "A number does not fit into the property's type.",
      fix: "Give a number within the range, or widen the property."
    ) { try $0.define($0.bean(Order.self).property("quantity", value: 300)) },
    .startup(
      .conversionFailed, "Text that is no number is given to one.",
      fix: "Write the number in digits."
    ) { try $0.define($0.bean(Order.self).property("number", resolve: "twelve")) },
    .startup(
      .conversionFailed, "Text that is neither true nor false is given to a Boolean.",
      fix: "Write true or false, yes or no, on or off, 1 or 0."
    ) { try $0.define($0.bean(Order.self).property("isPaid", resolve: "perhaps")) },
    .startup(
      .conversionFailed, "Text without a unit is given to a duration.",
      fix: "Add the unit: 250ms, 30s, 5m."
    ) { try $0.define($0.bean(Order.self).property("deadline", resolve: "30")) },
    .startup(
      .conversionFailed, "Text that is none of its cases is given to an enum.",
      fix: "Write the raw value of a case."
    ) { try $0.define($0.bean(Order.self).property("status", resolve: "lost")) },
    .startup(
      .conversionFailed, "An element of a collection does not convert.",
      fix: "Correct the element that the message names by its index, or by its key."
    ) { try $0.define($0.bean(Order.self).property("lines", value: ["1", "two"])) },
    .startup(
      .conversionFailed, "A conversion of the user's throws.",
      fix: "Give a value that it accepts; what it threw is in `underlying`."
    ) { shop in
      try shop.registerConversion(from: String.self, to: Stock.self) { _ in throw Outage() }
      try shop.define(shop.bean(Order.self).property("stock", value: "main"))
    },
    .startup(
      .conversionFailed, "A configuration value that a placeholder stands for has the wrong form.",
      fix: "Correct the value in the source that the message names."
    ) { shop in
      try shop.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["NUMBER": "12a"]))
      try shop.define(shop.bean(Order.self).property("number", resolve: "${NUMBER}"))
    },
    .startup(
      .conversionFailed, "A value in an XML document has the wrong form.",
      fix: "Correct the value at the place that the message names."
    ) { try $0.loadShop("<bean class='FaultTests.Order'><property name='number' value='twelve'/></bean>") },
    .call(
      .conversionFailed, "A configuration value is read as a type it does not fit.",
      fix: "Correct the value in the source that the message names."
    ) { shop in
      try shop.addConfigurationSource(CommandLineConfigurationSource(arguments: ["shop", "--port=http"]))
      _ = try shop.getConfigurationValue(UInt16.self, key: "port")
    },
    .call(
      .conversionFailed, "A configuration file is malformed.",
      fix: "Correct the file at the place that the message names."
    ) { shop in
      let folder = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appending(component: "shop.json")
      try Data("{ \"port\": }".utf8).write(to: file)
      try shop.addConfigurationSource(JSONConfigurationSource(path: file.path))
    },
  ]

  /// Configuration that is not there.
  static let configuration: [Fault] = [
    .startup(
      .unresolvedPlaceholder, "A placeholder names a key that no source has.",
      fix: "Define the value, spell the key as its source does, or give a default: `${number=1}`."
    ) { shop in
      try shop.define(shop.settings().setValue(key: "number", value: 1))
      try shop.define(shop.bean(Order.self).property("number", resolve: "${numbr}"))
    },
    .startup(
      .unresolvedPlaceholder, "A placeholder forgets the namespace of its key.",
      fix: "Write `${namespace:key}`."
    ) { shop in
      try shop.define(shop.settings().setValue(namespace: "orders", key: "first", value: 1))
      try shop.define(shop.bean(Order.self).property("number", resolve: "${first}"))
    },
    .startup(
      .unresolvedPlaceholder, "A placeholder in an XML document names a key that no source has.",
      fix: "Define the value, there or in Swift, or give a default."
    ) { try $0.loadShop("<bean class='FaultTests.Order'><property name='number' value='${number}'/></bean>") },
    .call(
      .unresolvedPlaceholder, "Text that is resolved by hand has a placeholder without a value.",
      fix: "Define the value, or give a default."
    ) { _ = try $0.configurationManager.resolve("http://${host}/") },

    .startup(
      .missingConfiguration, "A class has a property injected from a key that no source has.",
      fix: "Define the value, or give `InjectConfigurationValue` a default."
    ) { try $0.define($0.bean(Listener.self)) },
    .call(
      .missingConfiguration, "A value is read that no source has.",
      fix: "Define the value, give `defaultValue`, or read an optional."
    ) { shop in
      try shop.define(shop.settings().setValue(key: "port", value: 80))
      _ = try shop.getConfigurationValue(Int.self, key: "prot")
    },
    .call(
      .missingConfiguration, "A value is read in a scope it is not defined for.",
      fix: "Define it for that scope, or without a scope."
    ) { shop in
      try shop.configurationManager.addSource(Tariff())
      _ = try shop.getConfigurationValue(Int.self, key: "price", scope: "berlin")
    },
    .call(
      .missingConfiguration, "A configuration file does not exist.",
      fix: "Correct the path, or create the file; relative paths begin at the current folder."
    ) { try $0.addConfigurationSource(JSONConfigurationSource(path: "/no/such/shop.json")) },
  ]
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
