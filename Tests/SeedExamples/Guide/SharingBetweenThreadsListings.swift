import Beans

// Each marked listing is in the article to the letter: see DeclaringGuideTests.swift.

struct SharingBetweenThreads {
  // listing
  final class Till { var coins = 0 }
  final class Ledger { var rows = 0 }

  func checkSharing(of shop: Environment) throws {
    try shop
      .define(shop.bean(Till.self, factory: Till.init).assumeSendable("the cashier's loop uses it"))
      .define(shop.bean(Ledger.self, factory: Ledger.init).assumeSendable("locks by itself"))
      .startup(options: [.requireSendable])
  }
  // end
}
