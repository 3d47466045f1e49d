import Glibc
import Testing

/// `Tests/Adapters` compiles and runs the first listing of the README.
@Suite("The README") struct ReadmeSpecification {
  @Test("The first listing is the file that Tests/Adapters compiles, to the letter, and short")
  func isCompiled() throws {
    let example = try content("Tests/Adapters/Listings/Hummingbird/Readme.swift")
    let readme = try content("README.md")
    let listing = try #require(readme.split(separator: "```swift\n").dropFirst().first?.split(separator: "```\n").first)
    #expect(listing == example)
    #expect(lines(of: example) <= 45)
  }

  @Test("The README has at most 160 lines, 20 links and one picture")
  func isShort() throws {
    let readme = try content("README.md")
    #expect(lines(of: readme) <= 160)
    #expect(readme.matches(of: /\]\(/).count <= 20)
    #expect(readme.matches(of: /!\[/).count == 1)
  }

  @Test("Each link of the README leads to a file of the repository")
  func hasFiles() throws {
    let links = try content("README.md").matches(of: /\]\(([^)#]*)/).map { String($0.output.1) }
    #expect(!links.isEmpty)
    for link in links where !link.hasPrefix("https://") { _ = try content(link) }
  }

  private func lines(of text: String) -> Int { text.split(separator: "\n", omittingEmptySubsequences: false).count - 1 }

  /// Returns the text of a file of the repository.
  private func content(_ path: String) throws -> String {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    let file = try #require(fopen("\(root.joined(separator: "/"))/\(path)", "r"), "\(path)")
    defer { fclose(file) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer[..<count] }
    return String(decoding: text, as: UTF8.self)
  }
}
