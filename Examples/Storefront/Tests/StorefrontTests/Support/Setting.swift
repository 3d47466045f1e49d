import Glibc

/// Returns the number in an environment variable with which a test tries more cases, or repeats one case.
func setting<Number: FixedWidthInteger>(_ name: String) -> Number? {
  getenv(name).flatMap { Number(String(cString: $0)) }
}
