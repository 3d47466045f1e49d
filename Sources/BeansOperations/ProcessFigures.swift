import BeansServer
import Glibc

/// The figures that the kernel keeps of this process, and its start. Read anew each time; nil where the kernel refuses.
struct ProcessFigures: Sendable {
  /// In seconds, of all threads.
  private(set) var cpuTime: Double?
  /// In bytes.
  private(set) var residentMemory: Int?
  /// In bytes.
  private(set) var virtualMemory: Int?
  private(set) var openDescriptors: Int?
  private(set) var descriptorLimit: Int?
  private(set) var threads: Int?
  /// In seconds since 1970.
  let startTime: Double?

  /// Reads the figures.
  ///
  /// - Parameter startTime: the time at which the service began. The kernel knows only when the process did, which may have run
  ///   another program before this one.
  init(startTime: Timestamp) {
    self.startTime = startTime.seconds
    readStatus()
    openDescriptors = Self.countDescriptors()
    var limit = rlimit()
    if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      descriptorLimit = Int(clamping: limit.rlim_cur)
    }
  }

  private mutating func readStatus() {
    guard let bytes = try? FileContent.read("/proc/self/stat") else { return }
    // The name of the program stands in parentheses, and may hold anything.
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.lastIndex(of: ")") else { return }
    let fields = text[text.index(after: end)...].split(whereSeparator: \.isWhitespace)
    // From the third field of the manual page on.
    func field(_ number: Int) -> Int? { fields.count > number - 3 ? Int(fields[number - 3]) : nil }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    if let user = field(14), let system = field(15) { cpuTime = Double(user + system) / ticks }
    threads = field(20)
    virtualMemory = field(23)
    residentMemory = field(24).map { $0 * Int(getpagesize()) }
  }

  /// Without the one that counting takes.
  private static func countDescriptors() -> Int? {
    guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
    defer { unsafe closedir(folder) }
    var count = 0
    while unsafe readdir(folder) != nil { count += 1 }
    // `.`, `..`, and the folder's own.
    return count - 3
  }
}
