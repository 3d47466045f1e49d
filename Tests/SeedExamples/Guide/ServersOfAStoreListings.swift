// Marked listings stand in the catalogue to the letter: see ListingTests.swift.

// listing
import Beans
import BeansEventLoop
import BeansRedis

// end

struct ServersOfAStoreCatalogue {
  // continued
  func openStore(_ application: Environment, on loops: [EventLoop]) throws -> RedisSessionStore {
    // Reports and faults do not contain the URL, which contains the password.
    application.configurationManager.markSecret(key: "redis.url")
    let url = try application.getConfigurationValue(String.self, key: "redis.url")
    return RedisSessionStore(loops: loops, options: try RedisOptions(url: url))
  }
  // end

  // listing
  func openReplicatedStore(password: String, on loops: [EventLoop]) -> RedisSessionStore {
    var options = RedisOptions()
    options.servers = .sentinels(["sentinel-0", "sentinel-1:26379", "sentinel-2:26379"], primary: "main")
    options.password = password
    options.minimumReplicas = 1
    return RedisSessionStore(loops: loops, options: options)
  }
  // end
}
