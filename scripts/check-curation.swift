import Foundation

// Finds symbols that the pages of an archive leave to automatic groups. `check-curation` documents the rule.

/// The parts of a page that the check reads.
private struct Page: Decodable {
  struct Metadata: Decodable {
    struct Module: Decodable { let name: String }
    let title: String?
    let symbolKind: String?
    let roleHeading: String?
    let modules: [Module]?
  }

  struct Group: Decodable {
    let title: String?
    let identifiers: [String]
    let generated: Bool?
  }

  struct Reference: Decodable { let title: String? }

  let metadata: Metadata
  let topicSections: [Group]?
  let references: [String: Reference]?
}

extension Page {
  /// The groups that DocC has added, without those of implementations.
  fileprivate var automaticGroups: [Group] {
    (topicSections ?? []).filter { $0.generated == true && $0.title != "Default Implementations" }
  }

  /// Whether the page has a group that is written in a catalogue.
  fileprivate var hasGroups: Bool { topicSections?.contains { $0.generated != true } ?? false }

  /// Whether the page describes another module, or a type of it, that this module extends.
  fileprivate var isExtended: Bool { metadata.roleHeading?.hasPrefix("Extended ") ?? false }

  /// The other modules in groups: those whose identifier is doc://Module/documentation/Module.
  fileprivate var modules: [String] {
    (topicSections ?? []).flatMap(\.identifiers).compactMap { identifier in
      let parts = identifier.split(separator: "/").map(String.init)
      return parts.count == 4 && parts[1] == parts[3] ? parts[1] : nil
    }
  }

  /// The titles of symbols in automatic groups.
  fileprivate var left: [String] {
    automaticGroups.flatMap(\.identifiers).map { references?[$0]?.title ?? $0 }
  }
}

/// The number of members that a type may have without groups.
let limit = 10

private func complaints(about page: Page) -> [String] {
  let modules = page.modules.map { "\(page.metadata.title ?? ""): a group contains the module \($0)" }
  return modules + complaintsAboutMembers(of: page)
}

private func complaintsAboutMembers(of page: Page) -> [String] {
  guard let title = page.metadata.title, let kind = page.metadata.symbolKind, !page.isExtended else { return [] }
  let left = page.left
  if left.isEmpty { return [] }
  let module = page.metadata.modules?.first?.name ?? title
  let name = kind == "module" ? module : "\(module).\(title)"
  if kind == "module" || page.hasGroups { return left.map { "\(name): in no group: \($0)" } }
  return left.count > limit ? ["\(name): \(left.count) members need groups"] : []
}

private func jsonFiles(in folder: URL) -> [URL] {
  let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
  return files?.compactMap { $0 as? URL }.filter { $0.pathExtension == "json" } ?? []
}

var found: Set<String> = []
var count = 0
for archive in CommandLine.arguments.dropFirst() {
  let pages = URL(fileURLWithPath: archive).appendingPathComponent("data/documentation")
  for file in jsonFiles(in: pages) {
    count += 1
    found.formUnion(complaints(about: try JSONDecoder().decode(Page.self, from: Data(contentsOf: file))))
  }
}
guard found.isEmpty, count > 0 else {
  for complaint in found.sorted() { print(complaint) }
  print("curation: \(found.count) complaints about \(count) pages")
  exit(1)
}
print("curation: \(count) pages have their symbols in groups")
