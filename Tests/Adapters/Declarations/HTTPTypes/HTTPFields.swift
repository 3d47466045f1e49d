// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public struct HTTPField: Sendable {
  public struct Name: Sendable, Hashable {
    private let canonicalName: String

    public init?(_ name: String) {
      if name.isEmpty { return nil }
      canonicalName = name.lowercased()
    }

    private init(canonicalName: String) { self.canonicalName = canonicalName }

    public static var cookie: Self { Self(canonicalName: "cookie") }
    public static var setCookie: Self { Self(canonicalName: "set-cookie") }
  }
}

public struct HTTPFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  private var values: [HTTPField.Name: String]

  public init() { values = [:] }

  public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
    values = Dictionary(elements) { first, second in "\(first), \(second)" }
  }

  public subscript(name: HTTPField.Name) -> String? {
    get { values[name] }
    set { values[name] = newValue }
  }
}
