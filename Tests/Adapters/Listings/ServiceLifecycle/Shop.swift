import Beans
import ServiceLifecycle
import Synchronization

/// The lines of the shop, in the order of their events.
final class Journal: Sendable {
  let lines = Mutex<[String]>([])

  func note(_ line: String) { lines.withLock { $0.append(line) } }
}

/// A service of another package: ends by a graceful shutdown.
final class Feed: Service {
  let journal: Journal

  init(journal: Journal) { self.journal = journal }

  func run() async throws {
    journal.note("feed runs")
    do { try await gracefulShutdown() } catch {
      journal.note("feed is cancelled")
      throw error
    }
    journal.note("feed has ended")
  }
}

/// A bean that runs for as long as the feed.
final class Consumer: RunnableBean {
  private let feed: Feed

  init(feed: Feed) { self.feed = feed }

  func run() async throws {
    feed.journal.note("consumer runs")
    try? await Task.sleep(for: .seconds(86_400))
    feed.journal.note("consumer has ended")
  }
}
