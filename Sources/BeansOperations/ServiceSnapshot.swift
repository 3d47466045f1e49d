import Beans
import BeansRunning
import BeansServer

/// The data of one response, read at one moment.
struct ServiceSnapshot: Sendable {
  let scopes: [ScopeStatistics]
  /// The ages by scope; empty if nothing is measured.
  let ages: [String: ScopeAges]
  let sessions: [ScopeStatistics]
  let loops: [LoopLag.Histogram]
  /// The durations and outcomes of environments, if they are observed.
  let durations: [MetricFamily]
  let checks: [HealthSchedule.Report]
  /// The beans that run.
  let runs: [BeanRunReport]
  let failedReleases: Int
  let failedCalls: Int
  let startup: Duration?
  let isAlive: Bool
  let isReady: Bool
  let process: ProcessFigures

  var metrics: [MetricFamily] {
    environmentFamilies + durations + sessionFamilies + [lag, checkFamily] + processFamilies
  }

  private var environmentFamilies: [MetricFamily] {
    var open = MetricFamily(.gauge, "beans_environments_open", "Environments that have not finished, by scope.")
    var opened = MetricFamily(.counter, "beans_environments_opened", "Environments opened, by scope.")
    var finished = MetricFamily(
      .counter, "beans_environments_finished", "Environments finished, their beans released, by scope.")
    var created = MetricFamily(.counter, "beans_created", "Beans created, by the scope of their environment.")
    var released = MetricFamily(.counter, "beans_released", "Beans released, by the scope of their environment.")
    for counts in scopes {
      let scope = ("scope", counts.scope)
      open.add(.integer(counts.open), scope)
      opened.add(.integer(counts.opened), scope)
      finished.add(.integer(counts.finished), scope)
      created.add(.integer(counts.created), scope)
      released.add(.integer(counts.released), scope)
    }
    var families = [open, opened, finished, created, released]
    families.append(
      MetricFamily(
        .counter, "beans_release_failures", "Releases that threw, or were abandoned.", .integer(failedReleases)))
    families.append(
      MetricFamily(.counter, "beans_scheduled_failures", "Scheduled calls that threw.", .integer(failedCalls)))
    if let startup {
      families.append(
        MetricFamily(
          .gauge, "beans_startup", unit: "seconds", "The startup time of the application environment.",
          .number(startup.seconds)))
    }
    families.append(
      MetricFamily(.gauge, "beans_ready", "1 if the service is ready for requests.", .integer(isReady ? 1 : 0)))
    return families
  }

  private var sessionFamilies: [MetricFamily] {
    var open = MetricFamily(.gauge, "beans_sessions_open", "Sessions known by their id.")
    var inUse = MetricFamily(.gauge, "beans_sessions_in_use", "Sessions in use by a call.")
    var opened = MetricFamily(.counter, "beans_sessions_opened", "Sessions opened or adopted.")
    var over = MetricFamily(.counter, "beans_sessions_finished", "Sessions that have ended, by cause.")
    var rotated = MetricFamily(.counter, "beans_sessions_rotated", "Rotations of session ids.")
    var idle = MetricFamily(
      .gauge, "beans_sessions_idle", unit: "seconds", "The idle time of the least recently used session.",
      merging: .largest)
    var oldest = MetricFamily(
      .gauge, "beans_sessions_oldest", unit: "seconds", "The time since the oldest session was opened.",
      merging: .largest)
    for counts in sessions {
      let scope = ("scope", counts.scope)
      open.add(.integer(counts.open), scope)
      inUse.add(.integer(counts.inUse), scope)
      opened.add(.integer(counts.opened), scope)
      over.add(.integer(counts.expired), scope, ("cause", "expired"))
      over.add(.integer(counts.evicted), scope, ("cause", "evicted"))
      over.add(.integer(counts.ended), scope, ("cause", "ended"))
      rotated.add(.integer(counts.rotated), scope)
      idle.add(.number(counts.longestIdle?.seconds ?? 0), scope)
      oldest.add(.number(counts.oldestAge?.seconds ?? 0), scope)
    }
    return [open, inUse, opened, over, rotated, idle, oldest]
  }

  private var lag: MetricFamily {
    var family = MetricFamily(
      .histogram, "beans_loop_lag", unit: "seconds", "The delay of due work on event loops.")
    for (number, loop) in loops.enumerated() {
      family.add(
        loop.counts, bounds: LoopLag.bounds, sum: Double(loop.sum) / 1_000_000_000, ("loop", "\(number)"))
    }
    return family
  }

  private var checkFamily: MetricFamily {
    var family = MetricFamily(.gauge, "beans_health_check_up", "1 if a health check is up.", merging: .smallest)
    for report in checks {
      family.add(.integer(report.state.status == .up ? 1 : 0), ("check", report.check.name))
    }
    return family
  }

  private var processFamilies: [MetricFamily] {
    var families: [MetricFamily] = []
    func add(
      _ kind: MetricFamily.Kind, _ name: String, _ unit: String?, _ help: String, _ value: MetricFamily.Value?
    ) {
      if let value { families.append(MetricFamily(kind, name, unit: unit, help, value)) }
    }
    add(.counter, "process_cpu", "seconds", "Processor time of all threads.", process.cpuTime.map { .number($0) })
    add(
      .gauge, "process_resident_memory", "bytes", "Memory that is in use.", process.residentMemory.map { .integer($0) })
    add(
      .gauge, "process_virtual_memory", "bytes", "Memory that has been mapped.",
      process.virtualMemory.map { .integer($0) })
    add(.gauge, "process_open_fds", nil, "Open file descriptors.", process.openDescriptors.map { .integer($0) })
    add(
      .gauge, "process_max_fds", nil, "How many file descriptors there may be.",
      process.descriptorLimit.map { .integer($0) })
    add(.gauge, "process_threads", nil, "Threads.", process.threads.map { .integer($0) })
    add(
      .gauge, "process_start_time", "seconds", "When the process began, in seconds since 1970.",
      process.startTime.map { .number($0) })
    return families
  }
}

extension Duration {
  /// The duration as a number of seconds.
  var seconds: Double { self / .seconds(1) }
}
