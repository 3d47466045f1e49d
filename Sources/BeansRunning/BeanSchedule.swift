public import Beans
import BeansErrors
import BeansLogging

/// Times at which the container calls a closure with a bean.
struct BeanSchedule: AttachedWork {
  /// The times of the calls.
  enum Times: Sendable {
    /// So long after the bean has been built, and after the end of each call.
    case every(Duration)
    /// The times of an expression by the wall clock of a zone.
    case at(CronExpression, ScheduleZone)
  }

  let times: Times
  /// The type that the closure expects.
  let owner: Any.Type
  /// The times in reports.
  let text: String
  let call: @Sendable (any BeanTask) async -> WorkCall

  func start(_ task: any BeanTask) {
    guard let clock = task.environment?.clock else { return }
    task.start {
      // Without the context of the creation, which may be part of a request.
      Task.detached { [weak task] in
        var last: Int64?
        while await times.pass(clock, &last), await call(task) {}
        clock.calendar?.settle()
      }
    }
  }

  /// Calls the closure. Returns false where no more calls are to follow.
  private func call(_ task: (any BeanTask)?) async -> Bool {
    guard let task, let environment = task.environment else { return false }
    switch await BeanWork.run(in: environment, { await call(task) }) {
    case .returned: return true
    case .refused, .closed: return false
    case .failed(let error):
      environment.countFailedCall()
      environment.logger.error(
        "\(task.label) in '\(environment.name)': the call that is scheduled \(text) failed: \(error)")
      return true
    }
  }
}

extension TypedBeanDeclaration {
  /// Calls a closure with each instance again and again: an interval after the instance has been built, and an interval
  /// after the end of each call.
  ///
  /// The calls run in a task of their own, never two at a time, from the creation of the bean until its release,
  /// whether or not the environment runs beans. Time comes from the environment's clock. A failure is logged and
  /// counted, and ends nothing. The release cancels a call in flight and awaits it, as `AsyncDisposableBean`. A
  /// declaration may have several schedules. Not for prototypes and beans that a scope object of the user keeps
  /// (`.invalidDeclaration`).
  ///
  /// - Parameters:
  ///   - interval: the time before the first call and between two calls, above zero.
  ///   - body: called with the bean; `Environment.current` is the bean's environment.
  @discardableResult
  public func scheduled(
    every interval: Duration, _ body: @escaping @Sendable (Instance) async throws -> Void
  ) -> Self {
    if interval <= .zero {
      note(fault: "scheduled(every:) needs an interval above zero, and has \(interval)", .malformedSchedule)
    }
    return add(.every(interval), "every \(interval)", body)
  }

  /// Calls a closure with each instance at the times of a cron expression.
  ///
  /// As `scheduled(every:_:)`. The expression has five fields: minute, hour, day of the month, month and day of the
  /// week, each `*`, a number, a range (`8-18`) or a list (`mon,wed-fri`), with an optional step (`*/5`). Sunday is `0`,
  /// `7` or `sun`. If both day fields are restricted, a day that matches one of them is due. Times that pass during a
  /// call, or while the process does not run, are left out. The present time is that of the environment's clock where
  /// this is a `CalendarClock`, or else the system's.
  ///
  /// A time that the change to summer time skips is due at the next minute that exists; one that occurs twice, when it
  /// occurs first. So `*/5 * * * *` pauses in the second of two equal hours, unless its zone is UTC.
  ///
  /// - Parameters:
  ///   - expression: the times, such as `"*/5 8-18 * * mon-fri"`. A malformed one, or one that is never due, is an
  ///     `.invalidDeclaration` that names the field.
  ///   - zone: the time zone of the expression.
  ///   - body: called with the bean; `Environment.current` is the bean's environment.
  @discardableResult
  public func scheduled(
    at expression: String, in zone: ScheduleZone = .utc,
    _ body: @escaping @Sendable (Instance) async throws -> Void
  ) -> Self {
    do throws(CronExpression.Malformed) {
      let times = try CronExpression(expression)
      return add(.at(times, zone), "at '\(expression)'", body)
    } catch {
      return note(fault: "the schedule '\(expression)': \(error)", .malformedSchedule)
    }
  }

  /// Restarts the run of a `RunnableBean` that has failed, after a delay that doubles with each failure.
  ///
  /// Each restart is logged. A run that has lasted longer than the longest delay begins the count anew. A failure beyond
  /// the limit ends the environment, as one without this. Time comes from the environment's clock. Without effect on a
  /// bean that does not run.
  ///
  /// - Parameters:
  ///   - delay: the time before the first restart, above zero.
  ///   - longest: the longest time before a restart, at least `delay`.
  ///   - limit: the maximum number of restarts in a row.
  @discardableResult
  public func restarts(after delay: Duration, upTo longest: Duration, limit: Int) -> Self {
    if delay <= .zero || longest < delay || limit < 0 {
      note(
        fault: "restarts(after:upTo:limit:) needs delays above zero, the second one not below the first, and no "
          + "negative limit, and has \(delay), \(longest) and \(limit)", .malformedSchedule)
    }
    return restart(by: RestartPolicy(delay: delay, longest: longest, limit: limit))
  }

  private func add(
    _ times: BeanSchedule.Times, _ text: String, _ body: @escaping @Sendable (Instance) async throws -> Void
  ) -> Self {
    attach(
      BeanSchedule(times: times, owner: Instance.self, text: text) { task in
        await task.call { (bean: Instance) in try await body(bean) }
      })
  }
}

extension BeanSchedule.Times {
  /// Sleeps until the next call is due.
  ///
  /// - Parameters:
  ///   - clock: the environment's clock.
  ///   - last: the seconds since 1970 of the last call that was due; changed to those of the next one.
  /// - Returns: false if the task has been cancelled.
  fileprivate func pass(_ clock: EnvironmentClock, _ last: inout Int64?) async -> Bool {
    do {
      switch self {
      case .every(let interval): try await clock.sleep(interval)
      case .at(let expression, let zone):
        let now = clock.sinceEpoch.components.seconds
        // A wall clock that is set back a little does not repeat a call.
        let start = last.map { $0 > now && $0 - now < 3_600 ? $0 : now } ?? now
        let due = expression.next(after: start, in: zone)
        last = due
        while case let rest = .seconds(due) - clock.sinceEpoch, rest > .zero {
          // The system's wall clock may be set while a task sleeps.
          let longest: Duration = clock.calendar == nil ? .seconds(60) : rest
          try await clock.sleep(min(longest, rest))
        }
      }
      return !Task.isCancelled
    } catch { return false }
  }
}
