import BeansServer
import TestSupport
import Testing

@Suite struct WatchedPathTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// The places below the directory, each with its names.
  private func places(_ path: String) -> [String] {
    WatchedPath(directory.path(path)).places.filter { $0.path.hasPrefix(directory.path) }.map { place in
      let names = place.names.sorted().joined(separator: ",")
      return "\(place.path.dropFirst(directory.path.count + 1)):\(names)"
    }
  }

  @Test func aPathWithoutLinksWatchesItsDirectory() throws {
    try directory.makeDirectory("a")
    try directory.write("a/app.conf", "")
    #expect(places("a/app.conf") == [":a", "a:app.conf", "a/app.conf:"])
    #expect(places("./a//app.conf") == places("a/app.conf"))
    let whole = WatchedPath(directory.path("a")).places
    #expect(whole.first?.path == "/" && whole.first?.names == ["tmp"])
  }

  @Test func linksAreFollowedAndWatched() throws {
    try directory.makeDirectory("releases")
    try directory.makeDirectory("releases/7")
    try directory.write("releases/7/app.conf", "")
    try directory.link("current", to: "releases/7")
    try directory.link("absolute", to: directory.path("current"))
    try directory.link("app.conf", to: "absolute/../../current/app.conf")
    #expect(
      places("current/app.conf") == [
        ":current,releases", "releases:7", "releases/7:app.conf", "releases/7/app.conf:",
      ])
    #expect(places("absolute/app.conf").first == ":absolute,current,releases")
    let way = [":absolute,app.conf,current,releases", "releases:7", "releases/7:app.conf", "releases/7/app.conf:"]
    #expect(places("app.conf") == way)
  }

  @Test(arguments: [("/..", "/"), ("/tmp/../..", "/"), ("..", "./.."), ("../..", "./../.."), ("", "."), ("/", "/")])
  func parentsOfDirectoriesAreWatched(path: String, last: String) {
    #expect(WatchedPath(path).places.last?.path == last)
  }

  @Test func thePathEndsAtAMissingName() throws {
    try directory.link("dangling", to: "nowhere/app.conf")
    #expect(places("dangling") == [":dangling,nowhere"])
    #expect(places("missing/app.conf") == [":missing"])
    try directory.write("file", "")
    #expect(places("file/app.conf") == [":file", "file:app.conf"])
  }

  @Test func circularLinksEnd() throws {
    try directory.link("a", to: "b")
    try directory.link("b", to: "a")
    #expect(places("a/app.conf") == [":a,b"])
  }

  @Test func anotherDirectoryOfTheSameNameIsAnotherPath() throws {
    try directory.makeDirectory("a")
    try directory.makeDirectory("b")
    for name in ["a", "b"] { try directory.write("\(name)/app.conf", "") }
    let before = WatchedPath(directory.path("a/app.conf"))
    #expect(before == WatchedPath(directory.path("a/app.conf")))
    try directory.rename("a", to: "old")
    try directory.rename("b", to: "a")
    #expect(before != WatchedPath(directory.path("a/app.conf")))
  }

  @Test func changesOfOtherNamesAreIgnored() throws {
    try directory.write("app.conf", "")
    let places = WatchedPath(directory.path("app.conf")).places.suffix(2)
    let (folder, file) = (try #require(places.first), try #require(places.last))
    #expect(folder.isConcerned(by: "app.conf") && folder.isConcerned(by: nil) && !folder.isConcerned(by: "other"))
    // The directory itself was moved.
    #expect(folder.isConcerned(by: directory.path.split(separator: "/").last.map(String.init)))
    #expect(file.isConcerned(by: "app.conf") && file.isConcerned(by: "other"))
  }
}
