import Beans
import Glibc

/// The kernel's figures of this process, and its start time. Read anew each time; nil if the kernel refuses.
struct ProcessFigures: Sendable {
  /// The processor time of all threads in seconds.
  private(set) var cpuTime: Double?
  /// The resident memory in bytes.
  private(set) var residentMemory: Int?
  /// The virtual memory in bytes.
  private(set) var virtualMemory: Int?
  private(set) var openDescriptors: Int?
  private(set) var descriptorLimit: Int?
  private(set) var threads: Int?
  /// The start time in seconds since 1970.
  let startTime: Double?

  /// Reads the figures.
  ///
  /// - Parameter startTime: the start time of the service. The kernel has only that of the process, which may have run
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
    // The name of the program is in parentheses, and may contain any character.
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.lastIndex(of: ")") else { return }
    let fields = text[text.index(after: end)...].split(whereSeparator: \.isWhitespace)
    // The fields by their numbers in the manual page, from the third one.
    func field(_ number: Int) -> Int? { fields.count > number - 3 ? Int(fields[number - 3]) : nil }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    if let user = field(14), let system = field(15) { cpuTime = Double(user + system) / ticks }
    threads = field(20)
    virtualMemory = field(23)
    residentMemory = field(24).map { $0 * Int(getpagesize()) }
  }

  /// Counts the open descriptors, without the one that counting takes.
  private static func countDescriptors() -> Int? {
    guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
    defer { unsafe closedir(folder) }
    var count = 0
    while unsafe readdir(folder) != nil { count += 1 }
    // Excludes `.`, `..`, and the folder's own descriptor.
    return count - 3
  }
}
