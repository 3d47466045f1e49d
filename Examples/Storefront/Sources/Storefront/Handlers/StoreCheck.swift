import BeansOperations

/// A check that the store can be read and written, for `/readyz`.
final class StoreCheck: HealthCheck {
  let name = "store"
  private let handler: HealthHandler

  init(handler: HealthHandler) { self.handler = handler }

  func check() throws { _ = try handler.answer(at: .now) }
}
