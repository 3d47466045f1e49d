/// Documents after the grammar of `loadXML`, with an error here and there.
struct RandomDocument {
  private var text = ""
  private var ids = 0
  /// One decision in so many is a wrong one.
  private let carelessness: Int

  static let words = [
    "<", ">", "/>", "</", "<bean", "<bean class='Leaf'/>", "</bean>", "<beans>", "</beans>", "<property name='",
    "value='",
    "ref='", " id='a'", " class='Leaf'", " class='", " parent='t0'", " abstract='true'", " lazy='true'",
    " scope='prototype'",
    " depends-on='a'", " target='Leaf'", " primary='true'", "<list>", "</list>", "<set>", "<map>", "</map>",
    "<entry key='",
    "<key>", "<value>", "</value>", "<ref bean='a'/>", "<null/>", "<props>", "<prop key='a'>", "<constructor-arg",
    " index='0'", " index='9223372036854775807'", " index='-1'", " index='99999'", "<import resource='a.xml'/>",
    "<import resource='b.xml'/>", "<import resource='/dev/zero'/>", "<alias name='a' alias='b'/>", "<!--", "-->",
    "<![CDATA[", "]]>", "&amp;", "&#0;",
    "&#x10FFFF;", "&#xD800;", "&lt;", "&x;", "<!DOCTYPE beans>", "<!DOCTYPE a [<!ENTITY x 'y'>]>",
    "<?xml version='1.0'?>",
    "<?xml version='1.0' encoding='UTF-16'?>", "<?xml version='1.0' encoding='latin1'?>", "<?p?>", " xmlns='",
    " xmlns:c='",
    "xmlns:c='http://www.springframework.org/schema/configuration'", "<c:configuration>",
    "<c:define key='k' type='Int' value='1'/>",
    "c:", ":", " xml:space='preserve'", " xsi:x='y'", "'", "\"", "=", "${", "$${", "}", "${k}", "${k=1}", "\u{0}",
    "\u{FFFE}",
    "\u{FEFF}", "é", "👩‍👧", "\r\n", "\t",
  ]

  static let seeds = (0..<24).map { number in
    var random = RandomNumbers(seed: 0, number: number)
    return make(&random, carelessness: 100)
  }

  static func make(_ random: inout RandomNumbers, carelessness: Int) -> String {
    var document = RandomDocument(carelessness: carelessness)
    document.document(&random)
    return document.text
  }

  private init(carelessness: Int) { self.carelessness = carelessness }

  private func slips(_ random: inout RandomNumbers) -> Bool { random.once(in: carelessness) }

  private mutating func document(_ random: inout RandomNumbers) {
    if random.once(in: 6) { text += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" }
    if random.once(in: 12) { text += "<!-- \(random.next()) -->" }
    text += "<beans"
    if random.once(in: 3) { text += " xmlns='http://www.springframework.org/schema/beans'" }
    text += " xmlns:c='http://www.springframework.org/schema/configuration'>\n"
    for _ in 0..<random.below(6) + 1 { top(&random) }
    text += "</beans>"
  }

  private mutating func top(_ random: inout RandomNumbers) {
    switch random.below(14) {
    case 0: text += "<alias name='\(id(&random))' alias='other\(random.below(20))'/>"
    case 1: text += "<import resource='\(random.pick(["a.xml", "a.xml", "b.xml", "missing.xml"]))'/>"
    case 2: configuration(&random)
    case 3: text += "<bean id='t\(random.below(3))' abstract='true'/>"
    case 4:
      text += "<bean\(newId()) parent='crate'>"
      for index in 0..<2 { argument(index, &random) }
      text += "</bean>"
    case 5: text += "<bean class='LeafFactory' target='Leaf'/>"
    default: bean(3, &random)
    }
    text += "\n"
  }

  private mutating func configuration(_ random: inout RandomNumbers) {
    text += "<c:configuration\(random.once(in: 3) ? " namespace='n'" : "")>"
    for _ in 0..<random.below(4) {
      let type = random.pick([
        "String", "Int", "Bool", "Double", "UInt8", "Float", slips(&random) ? "Nothing" : "Int64",
      ])
      text += "<c:define key='k\(random.below(5))' type='\(type)' value='\(value(&random))'/>"
    }
    text += "</c:configuration>"
  }

  private mutating func newId() -> String {
    ids += 1
    return " id='b\(ids)'"
  }

  private func id(_ random: inout RandomNumbers) -> String {
    slips(&random) ? "nobody" : "b\(1 + random.below(max(ids, 1)))"
  }

  private mutating func bean(_ depth: Int, _ random: inout RandomNumbers) {
    let isLeaf = depth == 0 || random.once(in: 2)
    text +=
      "<bean\(newId()) class='\(slips(&random) ? random.pick(["Leav", "Nothing", "Duration", "FuzzColor"]) : isLeaf ? "Leaf" : "Branch")'"
    if random.once(in: 8) { text += " lazy='true'" }
    if random.once(in: 12) { text += " scope='\(slips(&random) ? "none" : "prototype")'" }
    if random.once(in: 20) { text += " depends-on='\(id(&random))'" }
    if random.once(in: 30) { text += " primary='\(slips(&random) ? "perhaps" : "true")'" }
    text += ">"
    var names =
      isLeaf
      ? ["text", "number", "small", "real", "flag", "maybe", "duration", "color"]
      : ["leaf", "branch", "leaves", "byName", "names", "numbers", "ages"]
    for _ in 0..<random.below(4) {
      let name = slips(&random) ? random.pick(["txt", "", "Leaf"]) : names.remove(at: random.below(names.count))
      property(name, depth, &random)
    }
    text += "</bean>"
  }

  private mutating func property(_ name: String, _ depth: Int, _ random: inout RandomNumbers) {
    text += "<property name='\(name)'"
    switch name {
    case "leaf", "branch":
      if random.once(in: 2) { return text += " ref='\(id(&random))'/>" }
      text += ">"
      if random.once(in: 5) { text += "<null/>" } else { bean(name == "leaf" ? 0 : max(depth - 1, 0), &random) }
    case "leaves":
      text += "><list>"
      for _ in 0..<random.below(3) { bean(0, &random) }
      text += "</list>"
    case "names", "numbers":
      text += "><\(name == "names" ? "list" : "set")>"
      for _ in 0..<random.below(4) {
        text += "<value>\(name == "names" ? value(&random) : String(random.below(9)))</value>"
      }
      text += "</\(name == "names" ? "list" : "set")>"
    case "ages":
      text += "><map>"
      for key in 0..<random.below(3) { text += "<entry key='\(key)' value='\(random.below(99))'/>" }
      text += "</map>"
    case "byName":
      text += "><map>"
      for key in 0..<random.below(3) {
        text += "<entry key='\(key)'>"
        bean(0, &random)
        text += "</entry>"
      }
      text += "</map>"
    default: return text += " value='\(fitting(name, &random))'/>"
    }
    text += "</property>"
  }

  private mutating func argument(_ index: Int, _ random: inout RandomNumbers) {
    let given = slips(&random) ? Int(truncatingIfNeeded: random.next()) : index
    text += "<constructor-arg\(random.once(in: 2) ? " index='\(given)'" : "")"
    if index == 0 { return text += " value='\(random.below(1000))'/>" }
    text += ">"
    bean(0, &random)
    text += "</constructor-arg>"
  }

  private func fitting(_ name: String, _ random: inout RandomNumbers) -> String {
    if slips(&random) { return value(&random) }
    if random.once(in: 6) { return "${k\(random.below(5))=\(fitting(name, &random))}" }
    return switch name {
    case "number": String(Int32(truncatingIfNeeded: random.next()))
    case "small": String(Int8(truncatingIfNeeded: random.next()))
    case "real": "\(random.below(1000)).5"
    case "flag": random.pick(["true", "no", "1"])
    case "duration": "\(random.below(1000))\(random.pick(["ms", "s", "h"]))"
    case "color": random.pick(["red", "green", "blue"])
    default: String(random.next(), radix: 36)
    }
  }

  private func value(_ random: inout RandomNumbers) -> String {
    // A single character can make a document malformed; such documents come from mutations.
    let text = slips(&random) ? RandomText.make(&random) : random.pick(["1", "x", "true", "2.5", "", "a b"])
    return String(
      text.flatMap { ["<", "&", "'", "\u{0}"].contains($0) ? Array("&#\($0 == "\u{0}" ? "48" : "38");") : [$0] })
  }
}
