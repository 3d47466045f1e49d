import Beans
import CMeasure

// A request like that of R0 to R7, but D5 and D6 hold something that has to be given back at its end.

final class D0: Sendable {
  let d1: D1
  let d2: D2
  let d3: D3

  init(_ d1: D1, _ d2: D2, _ d3: D3) {
    self.d1 = d1
    self.d2 = d2
    self.d3 = d3
  }
}

final class D1: Sendable {
  let d4: D4
  let d6: D6
  let d7: D7

  init(_ d4: D4, _ d6: D6, _ d7: D7) {
    self.d4 = d4
    self.d6 = d6
    self.d7 = d7
  }
}

final class D2: Sendable {
  let d4: D4
  let d5: D5

  init(_ d4: D4, _ d5: D5) {
    self.d4 = d4
    self.d5 = d5
  }
}

final class D3: Sendable {
  let d5: D5
  let d6: D6

  init(_ d5: D5, _ d6: D6) {
    self.d5 = d5
    self.d6 = d6
  }
}

final class D4: Sendable {
  let d7: D7
  let s19: S19

  init(_ d7: D7, _ s19: S19) {
    self.d7 = d7
    self.s19 = s19
  }
}

final class D5: DisposableBean, Sendable {
  let d7: D7
  let s18: S18

  init(_ d7: D7, _ s18: S18) {
    self.d7 = d7
    self.s18 = s18
  }

  func preDestroy() { measure_released(Unmanaged.passUnretained(self).toOpaque()) }
}

final class D6: Sendable {
  let d7: D7
  let s17: S17

  init(_ d7: D7, _ s17: S17) {
    self.d7 = d7
    self.s17 = s17
  }

  func close() { measure_released(Unmanaged.passUnretained(self).toOpaque()) }
}

final class D7: Sendable {
  let s16: S16

  init(_ s16: S16) {
    self.s16 = s16
  }
}
