import Foundation
import Testing

/// The rules of DESIGN for the folders of `Beans`, read from the text of the sources.
@Suite struct RepositoryTests {
  /// Each folder names only types and members of those before it.
  private static let order = ["Memory", "Declaration", "Plan", "Compiler", "Runtime", "Environment"]

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static let maintainers = root.appendingPathComponent("Documents/Maintainers")

  /// Each row of the document ends in the name of a file or a target of tests, and of a test in it.
  @Test func everyPromiseNamesATestThatExists() throws {
    let root = Self.root
    let article = try String(
      contentsOf: Self.maintainers.appendingPathComponent("TestsOfPromises.md"), encoding: .utf8)
    var count = 0
    for line in article.split(separator: "\n") where line.hasPrefix("| ") && !line.hasPrefix("| Promise") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let parts = try #require(cells.last).split(separator: ": ", maxSplits: 1).map(String.init)
      try #require(parts.count == 2, "\(line)")
      let isSentence = parts[1].hasPrefix("“")
      let name = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "“”`"))
      let folder = parts[0] == "StorefrontTests" ? "Examples/Storefront/Tests" : "Tests"
      let place = root.appendingPathComponent(
        isSentence ? "Tests/SpecificationTests/\(parts[0])Specification.swift" : "\(folder)/\(parts[0])")
      let files =
        isSentence
        ? [place]
        : FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
      let wanted = isSentence ? "\"\(name)\"" : "func \(name)("
      let isThere = files.contains { (try? String(contentsOf: $0, encoding: .utf8).contains(wanted)) == true }
      #expect(isThere, "no such test: \(parts[1]) in \(parts[0])")
      count += 1
    }
    #expect(count >= 40)
  }

  /// Each promise of the article for users is a row of the document that names its test.
  @Test func everyPromiseHasATest() throws {
    let article = try String(
      contentsOf: Self.folder.appendingPathComponent("Beans/Beans.docc/WhatYouCanRelyOn.md"), encoding: .utf8)
    let document = try String(
      contentsOf: Self.maintainers.appendingPathComponent("TestsOfPromises.md"), encoding: .utf8)
    let tested = Set(
      document.split(separator: "\n").filter { $0.hasPrefix("| ") }.compactMap { $0.split(separator: "|").first }
        .map { $0.trimmingCharacters(in: .whitespaces) })
    let promises = article.split(separator: "\n").filter { $0.hasPrefix("- ") }.map { String($0.dropFirst(2)) }
    #expect(promises.count >= 40)
    for promise in promises { #expect(tested.contains(promise), "no test of: \(promise)") }
  }

  private static let folder = root.appendingPathComponent("Sources")

  /// Returns the tables of a document for maintainers that have this header: of each row, the code in each cell.
  private static func tables(of document: String, header: String) throws -> [[[[String]]]] {
    let text = try String(contentsOf: maintainers.appendingPathComponent("\(document).md"), encoding: .utf8)
    var tables: [[[[String]]]] = []
    var isInside = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == header { tables.append([]) }
      isInside = line == header || isInside && line.hasPrefix("|")
      if !isInside || line == header || line.hasPrefix("|---") { continue }
      tables[tables.count - 1].append(
        line.split(separator: "|").map { $0.matches(of: /`([^`]+)`/).map { String($0.1) } })
    }
    return tables
  }

  /// Each row of the table in the article names files, and declarations of which each is in one of them.
  @Test func everyPlaceOfAPromiseExists() throws {
    let tables = try Self.tables(of: "WhereEachPromiseIsKept", header: "| promise | file | function or type |")
    var count = 0
    for cells in try #require(tables.first) {
      try #require(cells.count == 3, "\(cells)")
      var text = ""
      for place in cells[1] {
        // A module, or a file of Beans.
        let url = Self.folder.appendingPathComponent(place.contains("/") ? "Beans/\(place)" : place)
        let files =
          place.contains("/")
          ? [url]
          : FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        let texts = files.compactMap { try? String(contentsOf: $0, encoding: .utf8) }
        #expect(!texts.isEmpty, "no such file or module: \(place)")
        text += texts.joined()
      }
      for name in cells[2] {
        let last = try #require(name.prefix { $0 != "(" }.split(separator: ".").last)
        let declaration = last == "init" ? "init(" : "(func|struct|class|enum|protocol|var|let|case) \(last)\\b"
        let isThere =
          last == "init"
          ? text.contains(declaration) : text.firstMatch(of: try Regex<(Substring, Substring)>(declaration)) != nil
        #expect(isThere, "\(name) is not declared in \(cells[1].joined(separator: ", "))")
        count += 1
      }
    }
    #expect(count >= 70)
  }

  /// Each function of a walk in the article is in its file, and a function above it in the walk names it.
  @Test func everyStepOfAWalkCallsTheNext() throws {
    let walks = try Self.tables(of: "LifeOfABean", header: "| step | file | function |")
    #expect(walks.count >= 5)
    for walk in walks {
      var bodies: [String] = []
      for cells in walk {
        try #require(cells.count == 3, "\(cells)")
        let file = try #require(cells[1].first)
        let text = try String(contentsOf: Self.folder.appendingPathComponent("Beans/\(file)"), encoding: .utf8)
        for name in cells[2] {
          let found = try Self.bodies(of: name, in: text)
          #expect(!found.isEmpty, "\(name) is not declared in \(file)")
          // Simple, because a point between two words is none of the usual boundaries.
          let call = try Regex<Substring>("\\b\(name)\\b").wordBoundaryKind(.simple)
          let isCalled = bodies.isEmpty || bodies.contains { $0.firstMatch(of: call) != nil }
          #expect(isCalled, "no function above \(name) of \(file) names it")
          bodies += found
        }
      }
    }
  }

  /// Returns the bodies of all functions of a name, without their first lines.
  private static func bodies(of name: String, in text: String) throws -> [String] {
    let declaration = try Regex<Substring>("func \(name)\\b")
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.indices.filter { lines[$0].firstMatch(of: declaration) != nil }.map { first in
      let line = lines[first]
      // A body in the line of the declaration.
      if line.hasSuffix("}") { return String(line.drop { $0 != "{" }) }
      let end = line.prefix { $0 == " " } + "}"
      return lines[(first + 1)...].prefix { $0 != end }.joined(separator: "\n")
    }
  }

  @Test func everyFolderIsInTheOrder() throws {
    let sources = try SwiftSource.beans.get()
    #expect(sources.count > 20)
    #expect(Set(sources.compactMap { $0.folders.first }) == Set(Self.order))
    // Next to the folders is only the file of re-exports.
    #expect(sources.filter { $0.folders.isEmpty }.map(\.path) == ["Exports.swift"])
  }

  @Test func foldersNameOnlyEarlierOnes() throws {
    let sources = try SwiftSource.beans.get()
    /// The files that declare each type; only a type of a single file is identified by its name.
    var homes: [String: [SwiftSource]] = [:]
    for source in sources {
      for name in source.declared { homes[name, default: []].append(source) }
    }
    var violations: [String] = []
    for source in sources {
      guard let place = source.folders.first.flatMap(Self.order.firstIndex) else { continue }
      for name in source.words.sorted() {
        guard let files = homes[name], files.count == 1,
          let home = files[0].folders.first.flatMap(Self.order.firstIndex)
        else { continue }
        if home > place { violations.append("\(source.path) names \(name) of \(files[0].path)") }
      }
    }
    #expect(violations.isEmpty, "\n\(violations.joined(separator: "\n"))")
  }

  /// A member of a single file is identified by its name. Extensions of `Environment` are in several folders.
  @Test func foldersUseOnlyMembersOfEarlierOnes() throws {
    let sources = try SwiftSource.beans.get()
    var homes: [String: [SwiftSource]] = [:]
    for source in sources {
      for name in source.members { homes[name, default: []].append(source) }
    }
    #expect(homes.count > 500)
    // The standard library has members of these names, and functions have variables of others.
    let ambiguous = sources.reduce(into: ["insert", "private"] as Set) { $0.formUnion($1.inner) }
    var violations: [String] = []
    for source in sources {
      guard let place = source.folders.first.flatMap(Self.order.firstIndex) else { continue }
      for name in source.used.sorted() {
        guard let files = homes[name], files.count == 1, !ambiguous.contains(name),
          let home = files[0].folders.first.flatMap(Self.order.firstIndex)
        else { continue }
        if home > place { violations.append("\(source.path) uses \(name) of \(files[0].path)") }
      }
    }
    #expect(violations.isEmpty, "\n\(violations.joined(separator: "\n"))")
  }

  /// The folder inside of such a module is below the rest of it.
  @Test(arguments: ["BeansConfiguration", "BeansReflection"])
  func innerFoldersNameNoTypeAroundThem(_ module: String) throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let sources = try SwiftSource.all(in: root.appendingPathComponent("Sources/\(module)"))
    let inner = sources.filter { !$0.folders.isEmpty }
    #expect(inner.count > 5)
    let around = Set(sources.filter { $0.folders.isEmpty }.flatMap(\.declared)).subtracting(inner.flatMap(\.declared))
    let violations = inner.flatMap { source in
      source.words.intersection(around).sorted().map { "\(source.path) names \($0)" }
    }
    #expect(violations.isEmpty, "\n\(violations.joined(separator: "\n"))")
  }

  @Test func unsafeCodeIsInMemoryOnly() throws {
    let files = try SwiftSource.beans.get().filter { !$0.unsafe.isEmpty }
    #expect(files.count <= 5)
    let outside = files.filter { $0.folders.first != "Memory" }
    let list = outside.map { "\($0.path): \($0.unsafe.joined(separator: ", "))" }
    #expect(list.isEmpty, "\n\(list.joined(separator: "\n"))")
  }

  // MARK: the reader of sources

  @Test func commentsAndStringsAreNotRead() {
    let source = SwiftSource(
      path: "A/B.swift",
      text: #"""
        /// A struct Hidden.
        struct Shown<Value>: Sendable { /* class Gone /* enum Nested */ actor Gone */ }
        final class Inner { let text = "struct Quoted \(Used.self, "and \(Deep.self) \" Not")" }
        let unmanaged = "Unmanaged"  // Unmanaged
        let lines = """
          enum Quoted "\(Inside(1).value)"
          """
        func call() { withUnsafePointer(to: 1) { $0 } }
        class func Method() {}
        unowned(unsafe) var reference: UnsafeRawPointer
        """#)
    #expect(source.declared == ["Shown", "Inner"])
    #expect(source.words.isSuperset(of: ["Used", "Deep", "Inside", "Sendable", "Method"]))
    #expect(source.words.isDisjoint(with: ["Hidden", "Gone", "Nested", "Quoted", "Not", "Unmanaged"]))
    #expect(source.unsafe == ["withUnsafePointer", "UnsafeRawPointer", "unowned(unsafe)"])
    #expect(source.folders == ["A"])
    #expect(source.lines == 9)
  }
}
