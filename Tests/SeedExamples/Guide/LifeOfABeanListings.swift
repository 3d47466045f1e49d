// Marked listings stand in the article to the letter: see ListingTests.swift.

import Synchronization  // for the types around the listings

// listing
import Beans

// end

struct LifeOfABean {
  final class Gateway: Sendable {
    private let connected = Mutex(true)
    var isConnected: Bool { connected.withLock { $0 } }
    func disconnect() throws { connected.withLock { $0 = false } }
  }
}

extension LifeOfABean {
  // continued
  func declareGateway(in shop: Environment) throws {
    try shop.define(
      shop.bean(Gateway.self, factory: Gateway.init)
        .onDestroy { try $0.disconnect() }
        .releaseLimit(.seconds(2)))
  }

  func end(_ shop: Environment) {
    do {
      try shop.shutdown(within: .seconds(5))
    } catch {
      // Names each release that was abandoned, with its environment, its place and its time, and what is left.
      print(error)
    }
  }
  // end
}
