// Requests of 1, 2, 4 … 64 beans, for the plot: a binomial tree. G0 to G(n-1) are a request of n beans, whose root is
// the last of them: it depends on those whose number is its own with one of the low ones cleared. Every second bean is
// a leaf, which depends on a singleton.

final class G0: Sendable {
  let s16: S16

  init(_ s16: S16) {
    self.s16 = s16
  }
}

final class G1: Sendable {
  let g0: G0

  init(_ g0: G0) {
    self.g0 = g0
  }
}

final class G2: Sendable {
  let s17: S17

  init(_ s17: S17) {
    self.s17 = s17
  }
}

final class G3: Sendable {
  let g2: G2
  let g1: G1

  init(_ g2: G2, _ g1: G1) {
    self.g2 = g2
    self.g1 = g1
  }
}

final class G4: Sendable {
  let s18: S18

  init(_ s18: S18) {
    self.s18 = s18
  }
}

final class G5: Sendable {
  let g4: G4

  init(_ g4: G4) {
    self.g4 = g4
  }
}

final class G6: Sendable {
  let s19: S19

  init(_ s19: S19) {
    self.s19 = s19
  }
}

final class G7: Sendable {
  let g6: G6
  let g5: G5
  let g3: G3

  init(_ g6: G6, _ g5: G5, _ g3: G3) {
    self.g6 = g6
    self.g5 = g5
    self.g3 = g3
  }
}

final class G8: Sendable {
  let s16: S16

  init(_ s16: S16) {
    self.s16 = s16
  }
}

final class G9: Sendable {
  let g8: G8

  init(_ g8: G8) {
    self.g8 = g8
  }
}

final class G10: Sendable {
  let s17: S17

  init(_ s17: S17) {
    self.s17 = s17
  }
}

final class G11: Sendable {
  let g10: G10
  let g9: G9

  init(_ g10: G10, _ g9: G9) {
    self.g10 = g10
    self.g9 = g9
  }
}

final class G12: Sendable {
  let s18: S18

  init(_ s18: S18) {
    self.s18 = s18
  }
}

final class G13: Sendable {
  let g12: G12

  init(_ g12: G12) {
    self.g12 = g12
  }
}

final class G14: Sendable {
  let s19: S19

  init(_ s19: S19) {
    self.s19 = s19
  }
}

final class G15: Sendable {
  let g14: G14
  let g13: G13
  let g11: G11
  let g7: G7

  init(_ g14: G14, _ g13: G13, _ g11: G11, _ g7: G7) {
    self.g14 = g14
    self.g13 = g13
    self.g11 = g11
    self.g7 = g7
  }
}

final class G16: Sendable {
  let s16: S16

  init(_ s16: S16) {
    self.s16 = s16
  }
}

final class G17: Sendable {
  let g16: G16

  init(_ g16: G16) {
    self.g16 = g16
  }
}

final class G18: Sendable {
  let s17: S17

  init(_ s17: S17) {
    self.s17 = s17
  }
}

final class G19: Sendable {
  let g18: G18
  let g17: G17

  init(_ g18: G18, _ g17: G17) {
    self.g18 = g18
    self.g17 = g17
  }
}

final class G20: Sendable {
  let s18: S18

  init(_ s18: S18) {
    self.s18 = s18
  }
}

final class G21: Sendable {
  let g20: G20

  init(_ g20: G20) {
    self.g20 = g20
  }
}

final class G22: Sendable {
  let s19: S19

  init(_ s19: S19) {
    self.s19 = s19
  }
}

final class G23: Sendable {
  let g22: G22
  let g21: G21
  let g19: G19

  init(_ g22: G22, _ g21: G21, _ g19: G19) {
    self.g22 = g22
    self.g21 = g21
    self.g19 = g19
  }
}

final class G24: Sendable {
  let s16: S16

  init(_ s16: S16) {
    self.s16 = s16
  }
}

final class G25: Sendable {
  let g24: G24

  init(_ g24: G24) {
    self.g24 = g24
  }
}

final class G26: Sendable {
  let s17: S17

  init(_ s17: S17) {
    self.s17 = s17
  }
}

final class G27: Sendable {
  let g26: G26
  let g25: G25

  init(_ g26: G26, _ g25: G25) {
    self.g26 = g26
    self.g25 = g25
  }
}

final class G28: Sendable {
  let s18: S18

  init(_ s18: S18) {
    self.s18 = s18
  }
}

final class G29: Sendable {
  let g28: G28

  init(_ g28: G28) {
    self.g28 = g28
  }
}

final class G30: Sendable {
  let s19: S19

  init(_ s19: S19) {
    self.s19 = s19
  }
}

final class G31: Sendable {
  let g30: G30
  let g29: G29
  let g27: G27
  let g23: G23
  let g15: G15

  init(_ g30: G30, _ g29: G29, _ g27: G27, _ g23: G23, _ g15: G15) {
    self.g30 = g30
    self.g29 = g29
    self.g27 = g27
    self.g23 = g23
    self.g15 = g15
  }
}
