import BeansErrors
import TestSupport
import Testing

@testable import BeansConfiguration

@Suite struct ByteCountTests {
  private let factory = StandardConversionFactory()

  @Test(arguments: [
    ("0", 0), ("512", 512), ("1B", 1), ("2 kB", 2_000), ("2KB", 2_000), ("64 MiB", 64 << 20), (" 1.5 GiB ", 3 << 29),
    ("0.25KiB", 256), ("3TB", 3_000_000_000_000), ("1 TiB", 1 << 40), ("2\tMB", 2_000_000),
  ])
  func byteCountsAreParsed(text: String, bytes: Int) throws {
    #expect(try factory.convert(text, targetType: ByteCount.self) as? ByteCount == ByteCount(bytes))
    #expect(ByteCount(text)?.bytes == bytes)
  }

  @Test(arguments: [
    "", "MiB", "64 mib", "64 Mb", "-1", "+1", "1.", ".5", "1.2.3 MB", "1.5", "0.0001 kB", "1 2", "99999999 TiB",
    "9223372036854775808", "0.1234567 MB", "64 MiB x",
  ])
  func textsThatAreNoByteCountsAreRefused(text: String) {
    #expect(code { try factory.convert(text, targetType: ByteCount.self) } == .conversionFailed)
  }

  @Test(arguments: [
    (0, "0 B"), (1, "1 B"), (64 << 20, "64 MiB"), (1_500, "1500 B"), (2_000, "2 kB"), (1 << 40, "1 TiB"),
  ])
  func byteCountsAreFormatted(bytes: Int, text: String) throws {
    #expect("\(ByteCount(bytes))" == text)
    #expect(try factory.convert(ByteCount(bytes), targetType: String.self) as? String == text)
    #expect(ByteCount(text)?.bytes == bytes)
  }

  @Test func integersAreConvertedAsBytes() throws {
    #expect(try factory.convert(UInt16(80), targetType: ByteCount.self) as? ByteCount == ByteCount(80))
    #expect(code { try factory.convert(-1, targetType: ByteCount.self) } == .conversionFailed)
    #expect(code { try factory.convert(UInt64.max, targetType: ByteCount.self) } == .conversionFailed)
  }
}
