// The second half of the largest request.

final class G32: Sendable {
  let s16: S16

  init(_ s16: S16) {
    self.s16 = s16
  }
}

final class G33: Sendable {
  let g32: G32

  init(_ g32: G32) {
    self.g32 = g32
  }
}

final class G34: Sendable {
  let s17: S17

  init(_ s17: S17) {
    self.s17 = s17
  }
}

final class G35: Sendable {
  let g34: G34
  let g33: G33

  init(_ g34: G34, _ g33: G33) {
    self.g34 = g34
    self.g33 = g33
  }
}

final class G36: Sendable {
  let s18: S18

  init(_ s18: S18) {
    self.s18 = s18
  }
}

final class G37: Sendable {
  let g36: G36

  init(_ g36: G36) {
    self.g36 = g36
  }
}

final class G38: Sendable {
  let s19: S19

  init(_ s19: S19) {
    self.s19 = s19
  }
}

final class G39: Sendable {
  let g38: G38
  let g37: G37
  let g35: G35

  init(_ g38: G38, _ g37: G37, _ g35: G35) {
    self.g38 = g38
    self.g37 = g37
    self.g35 = g35
  }
}

final class G40: Sendable {
  let s16: S16

  init(_ s16: S16) {
    self.s16 = s16
  }
}

final class G41: Sendable {
  let g40: G40

  init(_ g40: G40) {
    self.g40 = g40
  }
}

final class G42: Sendable {
  let s17: S17

  init(_ s17: S17) {
    self.s17 = s17
  }
}

final class G43: Sendable {
  let g42: G42
  let g41: G41

  init(_ g42: G42, _ g41: G41) {
    self.g42 = g42
    self.g41 = g41
  }
}

final class G44: Sendable {
  let s18: S18

  init(_ s18: S18) {
    self.s18 = s18
  }
}

final class G45: Sendable {
  let g44: G44

  init(_ g44: G44) {
    self.g44 = g44
  }
}

final class G46: Sendable {
  let s19: S19

  init(_ s19: S19) {
    self.s19 = s19
  }
}

final class G47: Sendable {
  let g46: G46
  let g45: G45
  let g43: G43
  let g39: G39

  init(_ g46: G46, _ g45: G45, _ g43: G43, _ g39: G39) {
    self.g46 = g46
    self.g45 = g45
    self.g43 = g43
    self.g39 = g39
  }
}

final class G48: Sendable {
  let s16: S16

  init(_ s16: S16) {
    self.s16 = s16
  }
}

final class G49: Sendable {
  let g48: G48

  init(_ g48: G48) {
    self.g48 = g48
  }
}

final class G50: Sendable {
  let s17: S17

  init(_ s17: S17) {
    self.s17 = s17
  }
}

final class G51: Sendable {
  let g50: G50
  let g49: G49

  init(_ g50: G50, _ g49: G49) {
    self.g50 = g50
    self.g49 = g49
  }
}

final class G52: Sendable {
  let s18: S18

  init(_ s18: S18) {
    self.s18 = s18
  }
}

final class G53: Sendable {
  let g52: G52

  init(_ g52: G52) {
    self.g52 = g52
  }
}

final class G54: Sendable {
  let s19: S19

  init(_ s19: S19) {
    self.s19 = s19
  }
}

final class G55: Sendable {
  let g54: G54
  let g53: G53
  let g51: G51

  init(_ g54: G54, _ g53: G53, _ g51: G51) {
    self.g54 = g54
    self.g53 = g53
    self.g51 = g51
  }
}

final class G56: Sendable {
  let s16: S16

  init(_ s16: S16) {
    self.s16 = s16
  }
}

final class G57: Sendable {
  let g56: G56

  init(_ g56: G56) {
    self.g56 = g56
  }
}

final class G58: Sendable {
  let s17: S17

  init(_ s17: S17) {
    self.s17 = s17
  }
}

final class G59: Sendable {
  let g58: G58
  let g57: G57

  init(_ g58: G58, _ g57: G57) {
    self.g58 = g58
    self.g57 = g57
  }
}

final class G60: Sendable {
  let s18: S18

  init(_ s18: S18) {
    self.s18 = s18
  }
}

final class G61: Sendable {
  let g60: G60

  init(_ g60: G60) {
    self.g60 = g60
  }
}

final class G62: Sendable {
  let s19: S19

  init(_ s19: S19) {
    self.s19 = s19
  }
}

final class G63: Sendable {
  let g62: G62
  let g61: G61
  let g59: G59
  let g55: G55
  let g47: G47
  let g31: G31

  init(_ g62: G62, _ g61: G61, _ g59: G59, _ g55: G55, _ g47: G47, _ g31: G31) {
    self.g62 = g62
    self.g61 = g61
    self.g59 = g59
    self.g55 = g55
    self.g47 = g47
    self.g31 = g31
  }
}
