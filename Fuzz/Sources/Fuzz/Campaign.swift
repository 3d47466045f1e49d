import Glibc

/// Many inputs for one target: counts their outcomes, and watches time and memory.
struct Campaign {
  let options: Options

  /// Processor time that no single input may take; inputs have a few kilobytes.
  private static let longest = 1.0
  /// The growth of memory that is allowed between a fifth of the inputs and all of them, beyond the known leaks of
  /// Foundation for malformed documents.
  private static let growth = 16 << 20
  private static let leakPerMalformed = 160

  /// - Returns: whether everything that was promised held.
  func run() throws -> Bool {
    let target = try options.target.make()
    let record = try InputRecord(options.record)
    var outcomes: [String: Int] = [:]
    var slowest = (seconds: 0.0, number: 0)
    var memory = (early: 0, malformed: 0)
    let began = processorTime()
    for number in 0..<options.inputs {
      // Every input has random numbers of its own, so that it can be made again without those before it.
      var random = RandomNumbers(seed: options.seed, number: number)
      let input = target.makeInput(&random)
      record.write(input)
      let start = processorTime()
      do {
        outcomes[try target.run(input), default: 0] += 1
      } catch {
        print("\(options.target.rawValue): input \(number) of seed \(options.seed): \(error)")
        print("  Fuzz \(options.target.rawValue) --input \(options.record)")
        return false
      }
      let seconds = processorTime() - start
      if seconds > slowest.seconds { slowest = (seconds, number) }
      if seconds > Self.longest {
        print("\(options.target.rawValue): input \(number) of seed \(options.seed) takes \(seconds) s")
        return false
      }
      if number == options.inputs / 5 { memory = (try residentMemory(), outcomes["malformed"] ?? 0) }
    }
    let seconds = processorTime() - began
    let perSecond = Int(Double(options.inputs) / max(seconds, 0.001))
    let grown = try residentMemory() - memory.early
    print(
      "\(options.target.rawValue): \(options.inputs) inputs of seed \(options.seed), \(perSecond) per second, "
        + "slowest \(Int(slowest.seconds * 1e6)) µs (input \(slowest.number)), memory grew by \(grown >> 10) KiB")
    for (outcome, count) in outcomes.sorted(by: { $0.value > $1.value }) { print("  \(count) \(outcome)") }
    let malformed = (outcomes["malformed"] ?? 0) - memory.malformed
    return isReached(target, outcomes) && isFlat(grown - malformed * Self.leakPerMalformed)
  }

  private func isReached(_ target: any FuzzTarget, _ outcomes: [String: Int]) -> Bool {
    let missed = target.expected.filter { Double(outcomes[$0.outcome] ?? 0) < $0.share * Double(options.inputs) }
    for (outcome, share) in missed { print("  fewer than \(share * 100) % end as '\(outcome)': bad inputs") }
    return missed.isEmpty
  }

  private func isFlat(_ grown: Int) -> Bool {
    if options.isSanitized || grown <= Self.growth { return true }
    print("  memory grows")
    return false
  }

  private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func residentMemory() throws -> Int {
    let text = String(decoding: try InputRecord.read("/proc/self/statm"), as: UTF8.self)
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { throw Broken(description: "cannot read the memory used") }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
