import Beans
import BeansEventLoop
import Testing

@testable import BeansRedis

@Suite("The URL of a Redis server")
struct RedisURLTests {
  struct Good: Sendable {
    let url: String
    let server: String
    var username: String?
    var password: String?
    var database = 0
  }

  @Test(
    "A URL is read as other clients read it",
    arguments: [
      Good(url: "redis://sessions.example.org", server: "sessions.example.org:6379"),
      Good(url: "redis://sessions.example.org/", server: "sessions.example.org:6379"),
      Good(url: "REDIS://localhost:6380/2", server: "localhost:6380", database: 2),
      Good(url: "redis://localhost?db=3", server: "localhost:6379", database: 3),
      Good(
        url: "redis://user:secret@sessions.example.org:6380/2", server: "sessions.example.org:6380", username: "user",
        password: "secret", database: 2),
      Good(url: "redis://:secret@redis", server: "redis:6379", password: "secret"),
      Good(url: "redis://:@redis", server: "redis:6379"),
      Good(url: "redis://:a:b@c@redis", server: "redis:6379", password: "a:b@c"),
      Good(
        url: "redis://us%65r:%2F%3f%23%40%3A%25%C3%A9@redis", server: "redis:6379", username: "user",
        password: "/?#@:%\u{E9}"),
      Good(url: "redis://10.0.0.1:1/0", server: "10.0.0.1:1"),
      Good(url: "redis://[::1]", server: "[::1]:6379"),
      Good(
        url: "redis://u:p@[fe80::1%eth0]:7000/1", server: "[fe80::1%eth0]:7000", username: "u", password: "p",
        database: 1),
      Good(url: "unix:///run/redis.sock", server: "unix:/run/redis.sock"),
      Good(url: "redis+unix:///run/re%20dis.sock?db=4", server: "unix:/run/re dis.sock", database: 4),
      Good(
        url: "unix://user:secret@/run/redis.sock", server: "unix:/run/redis.sock", username: "user", password: "secret"),
    ])
  func good(_ good: Good) throws {
    let options = try RedisOptions(url: good.url)
    #expect(options.servers.description == good.server)
    #expect(options.username == good.username)
    #expect(options.password == good.password)
    #expect(options.database == good.database)
  }

  @Test(
    "A fault names the part, and contains none of the URL",
    arguments: [
      ("", "redis://"), ("QQsecretQQ", "redis://"), ("http://QQ", "redis://"), ("redis:/QQ", "redis://"),
      ("redis://", "no host"), ("redis://:QQ@", "no host"), ("redis://:QQ@/2", "no host"), ("redis:///2", "no host"),
      ("redis://:QQ@:6379", "no host"), ("redis://u:QQ@re dis", "host is malformed"),
      ("redis://u:QQ@redis\n", "host is malformed"), ("redis://u:QQ@::1", "host is malformed"),
      ("redis://u:QQ@redis:0", "port"), ("redis://u:QQ@redis:65536", "port"), ("redis://u:QQ@redis:port", "port"),
      ("redis://u:QQ/QQ@redis", "port"), ("redis://u:QQ?QQ@redis", "port"), ("redis://u:QQ#QQ@redis", "#"),
      ("redis://u%:QQ@redis", "user name is malformed"), ("redis://u%4:QQ@redis", "user name is malformed"),
      ("redis://u:QQ%zz@redis", "password is malformed"), ("redis://u:QQ%FF@redis", "password is malformed"),
      ("redis://QQ@redis", "no password"), ("redis://QQ:@redis", "no password"),
      ("redis://u:QQ@redis/x", "database"), ("redis://u:QQ@redis/-1", "database"),
      ("redis://u:QQ@redis/1/2", "database"),
      ("redis://u:QQ@redis?db=x", "database"), ("redis://u:QQ@redis?timeout=1", "query"),
      ("redis://u:QQ@redis?db", "query"), ("unix://u:QQ@host/run/redis.sock", "host"), ("unix://u:QQ@", "path"),
      ("unix:///", "path"), ("unix:///run/%", "path"), ("rediss://u:QQ@redis", "TLS"),
    ])
  func bad(url: String, part: String) throws {
    let error = #expect(throws: EnvironmentError.self) { try RedisOptions(url: url) }
    #expect(error?.code == .invalidDeclaration)
    #expect(error?.message.contains(part) == true, "\(String(describing: error))")
    #expect(error?.description.contains("QQ") == false, "\(String(describing: error))")
    #expect(error?.origin?.file.hasSuffix("RedisURLTests.swift") == true)
  }

  @Test("A URL with TLS uses the layer that a module gives, and one without uses none")
  func layer() throws {
    let layer: StreamLayerFactory = { _ throws(StreamLayerError) in throw StreamLayerError("no layer") }
    #expect(try RedisOptions(url: "rediss://redis:6380", layer: layer).layer != nil)
    #expect(try RedisOptions(url: "redis://redis", layer: layer).layer == nil)
  }

  @Test("The addresses of Sentinels have a port, or the usual one")
  func sentinels() {
    let servers = RedisServers.sentinels(["one", "two:7000", "[::1]:7001", "::1", "[::1]", "three:x"], primary: "main")
    guard case .sentinels(let addresses, "main") = servers.kind else { return #expect(Bool(false)) }
    #expect(
      addresses.map(\.description) == [
        "one:26379", "two:7000", "[::1]:7001", "[::1]:26379", "[::1]:26379", "three:-1",
      ])
    #expect(servers.description == "primary main")
  }
}
