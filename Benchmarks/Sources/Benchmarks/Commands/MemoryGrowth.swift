import Beans
import CMeasure
import Dispatch
import Synchronization

/// Checks that a million requests leave the process as large as it was: n against 3n.
struct MemoryGrowth {
  let operations: Int
  /// Forgets to finish every so many-th environment, to show that the check sees it; 0 for none.
  let forget: Int
  /// Resident memory comes in pages and is kept by the allocator; live blocks are exact, but for tables that grow once.
  private static let residentLimit = 1 << 20
  private static let liveLimit = 64 << 10

  /// Prints the measurements; returns false if memory grew.
  func run() throws -> Bool {
    let plain = try ContainerApplication(seed: Int.self)
    let released = Atomic(0)
    let counting = try ContainerApplication(seed: Int.self) { released.add(1, ordering: .relaxed) }
    var isGood = try measure("plain", 1, plain)
    isGood = try measure("with onDestroy", 1, counting) && isGood
    isGood = try measure("two threads", 2, plain) && isGood
    let opened = counting.environment.statistics().first { $0.scope == "request" }?.opened ?? 0
    print("onDestroy ran \(released.load(ordering: .relaxed)) times for \(opened) environments")
    return isGood
  }

  private func measure(_ name: String, _ threads: Int, _ application: ContainerApplication<Int>) throws -> Bool {
    try serve(operations / 10, application, threads)
    var resident = [try ProcessMemory.resident()]
    var live = [measure_live_bytes()]
    for count in [operations / 4, operations * 3 / 4] {
      try serve(count, application, threads)
      resident.append(try ProcessMemory.resident())
      live.append(measure_live_bytes())
    }
    let growth = zip(resident.dropFirst(), resident).map { $0 - $1 }
    let liveGrowth = zip(live.dropFirst(), live).map { Int($0) - Int($1) }
    let isGood =
      growth.allSatisfy { $0 <= Self.residentLimit } && liveGrowth.allSatisfy { $0 <= Self.liveLimit }
    print(
      "\(Text.title(name, 16)) resident after warm-up \(resident[0] >> 10) KiB; \(operations / 4) requests: "
        + "\(growth[0] >> 10) KiB more; \(operations * 3 / 4) requests: \(growth[1] >> 10) KiB more; "
        + "live heap \(live[0]), \(live[1]), \(live[2]) bytes: \(isGood ? "flat" : "GROWS")")
    return isGood
  }

  /// Opens so many request environments, builds their beans and finishes them, on that many threads.
  private func serve(_ count: Int, _ application: ContainerApplication<Int>, _ threads: Int) throws {
    let failure = Mutex<(any Error)?>(nil)
    let requests = application.requests
    let forget = forget
    DispatchQueue.concurrentPerform(iterations: threads) { _ in
      do {
        for number in 0..<count / threads {
          let request = try requests.build(number)
          _ = try request.getBean(R0.self)
          if forget == 0 || number % forget != 0 { request.finish() }
        }
      } catch {
        failure.withLock { $0 = error }
      }
    }
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
