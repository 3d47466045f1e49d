import Glibc

/// The number in an environment variable by which a test can be told to try more, or to try one case again.
package func setting<Number: FixedWidthInteger>(_ name: String) -> Number? {
  getenv(name).flatMap { Number(String(cString: $0)) }
}
