// Marked listings stand in the catalogue to the letter: see ListingTests.swift.

// listing
import Beans
import BeansEventLoop
import BeansRedis
import BeansSessions

// end

struct BeansRedisCatalogue {
  // continued
  func keepSessions(_ factory: EnvironmentFactory<SessionState>, on loops: [EventLoop]) -> Sessions<SessionState> {
    Sessions(factory, store: RedisSessionStore(host: "127.0.0.1", port: 6379, loops: loops))
  }
  // end
}
