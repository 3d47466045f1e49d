/// Classes of Spring and Java that documents declare as beans, and their replacements.
enum SpringClass {
  /// Returns the replacement for a class; nil for other classes.
  static func advice(for name: String) -> String? {
    guard name.hasPrefix("org.springframework.") || name.hasPrefix("java") else { return nil }
    let own = name.split(separator: ".").last.map(String.init) ?? name
    return classes[own]
      ?? (name.hasPrefix("org.springframework.") ? "Spring's classes are not part of this container" : nil)
  }

  private static let source = "add a configuration source to the environment in Swift; placeholders need no bean"
  private static let collection = "write the collection in the property: a collection is not a bean"

  private static let classes = [
    "PropertyPlaceholderConfigurer": source, "PropertySourcesPlaceholderConfigurer": source,
    "PreferencesPlaceholderConfigurer": source, "PropertyOverrideConfigurer": source,
    "PropertiesFactoryBean": source, "CommonsConfigurationFactoryBean": source,
    "CustomScopeConfigurer": "declare the scope as a bean: a subclass of AbstractBeanScope",
    "CustomEditorConfigurer": "register the conversion in Swift",
    "ConversionServiceFactoryBean": "register the conversions in Swift",
    "CustomAutowireConfigurer": "declare tags by qualifier(_:) in Swift",
    "MethodInvokingFactoryBean": "declare a factory in Swift, or call the method in a postConstruct()",
    "MethodInvokingBean": "call the method in a postConstruct()",
    "FieldRetrievingFactoryBean": "write the value",
    "PropertyPathFactoryBean": "declare a factory in Swift that reads the property",
    "ObjectFactoryCreatingFactoryBean": "declare the property as a Provider",
    "ServiceLocatorFactoryBean": "declare the property as a Provider",
    "ListFactoryBean": collection, "SetFactoryBean": collection, "MapFactoryBean": collection,
    "ArrayList": collection, "LinkedList": collection, "HashSet": collection, "LinkedHashSet": collection,
    "HashMap": collection, "LinkedHashMap": collection, "TreeMap": collection, "Properties": collection,
    "String": "write the value in the property", "Integer": "write the value in the property",
  ]
}
