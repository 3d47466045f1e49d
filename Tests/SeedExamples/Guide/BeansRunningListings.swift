// The marked listing is on the page of the module to the letter: see ListingTests.swift.

// listing
import Beans
import BeansRunning

// end

struct BeansRunningPage {
  // continued
  func serve(_ shop: Environment) async throws {
    try await shop.run(until: [.terminate, .interrupt])
  }
  // end
}
