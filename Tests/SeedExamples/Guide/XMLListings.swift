// Marked listings stand in the article to the letter: see ListingTests.swift.

// listing
import Beans
import BeansXML
import Foundation

enum Post {
  final class Mailer: Initializable {
    var host = ""
    var port = 0
  }

  final class Newsletter: Initializable {
    private var sender = ""
    private var mailer: Mailer?
    private var lists: [String] = []

    func describe() -> String {
      "\(sender) to \(lists.joined(separator: ", ")) by \(mailer?.host ?? "nobody"):\(mailer?.port ?? 0)"
    }
  }
}
// end

// listing
final class Franking: NSObject, Initializable {
  private(set) var zones: Set<Int> = []
  private(set) var prices: [String: Int] = [:]
  private(set) var changes = 0
  var rate = 0 { didSet { changes += 1 } }
  private var machine = 0 { didSet { changes += 1 } }
}

func declareFranking(in post: Environment) throws {
  try post.define(
    post.bean(Franking.self)
      .property("zones", value: ["1", "2", "2"])
      .property("prices", value: ["letter": "95", "parcel": "549"])
      .property(\.rate, value: 3)  // runs didSet
      .property("machine", value: 7))  // stores the value, and runs nothing
}
// end

// listing
extension Post {
  final class FrankingModule: BeanModule, Initializable {
    func configure(_ environment: Environment) throws {
      try environment.define(
        environment.bean(Franking.self, id: "franking").property(\.rate, resolve: "${post:rate=95}"))
    }
  }
}
// end

// listing
func openPost(document: String, settings: String, variables: [String: String]) throws -> Environment {
  let post = try Environment(name: "post")
  try post.loadXML(path: document)
  try post.addConfigurationSource(JSONConfigurationSource(path: settings))
  try post.addConfigurationSource(ProcessInfoConfigurationSource(variables: variables))
  return try post.startup()
}
// end

// listing
func check(_ document: String) -> String {
  do {
    try Environment(name: "checked").loadXML(Data(document.utf8), source: "post.xml").startup()
    return "nothing is wrong"
  } catch {
    return "\(error)"
  }
}
// end

// listing
final class StampHandler: NamespaceHandler, @unchecked Sendable {  // has no state
  init() { super.init(namespace: "urn:stamps") }

  override func process(_ element: DocumentElement, context: XMLContext) throws {
    guard element.name == "sheet" else { return try super.process(element, context: context) }
    var reader = ElementReader(element, context: context)
    let (id, port) = (reader.required("id"), reader.required("port"))
    reader.finish()  // reports the other attributes
    guard let id, let port else { return }
    context.define(
      context.environment.bean(Post.Mailer.self, id: id).property("port", resolve: port), at: element)
  }
}
// end

// listing
final class Parcel: Initializable {
  private(set) var receiver = ""
  private(set) var items: [Item] = []

  final class Item: Initializable {
    private(set) var name = ""
    private(set) var grams = 0
  }
}

func readParcel(_ document: Data) throws -> Parcel {
  try XMLObjectParser().register(
    XMLObjectParser.mapping(Parcel.self, element: "parcel").property("receiver", xml: "to")
      .property("items", xml: "item"),
    XMLObjectParser.mapping(Parcel.Item.self, element: "item").text("name")
  ).parse(document, source: "parcel.xml", as: Parcel.self)
}
// end
