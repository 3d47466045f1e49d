// Each marked listing is in the article to the letter: see DeclaringGuideTests.swift.

// listing
import Beans
import Synchronization

// end

struct Events {
  // continued
  struct OrderPlaced: Sendable { let number: Int }

  final class Invoices: EventListener, Sendable {
    let numbers = Mutex<[Int]>([])
    func receive(_ event: OrderPlaced) { numbers.withLock { $0.append(event.number) } }
  }

  final class Archive: Sendable {
    let lines = Mutex<[String]>([])
    func write(_ line: String) { lines.withLock { $0.append(line) } }
  }

  func declareListeners(in shop: Environment) throws {
    try shop
      .define(shop.bean(Invoices.self, factory: Invoices.init))
      .define(
        shop.bean(Archive.self, lazy: true, factory: Archive.init)
          .listens { (archive, event: OrderPlaced) in archive.write("order \(event.number)") })
  }

  func placeOrder(_ number: Int, in request: Environment) throws {
    try request.publish(OrderPlaced(number: number))
  }
  // end
}
