import CSQLite
import Dispatch
import Glibc

@testable import Storefront

/// A disk that does not end a synchronisation of one database before a test releases it.
///
/// Works by a file system of SQLite's own, which is SQLite's default from `install()` on and differs from the ordinary one only
/// in this. Files that were opened before are not held.
final class HeldDisk: Sendable {
  private let path: String
  private let hasBegun = DispatchSemaphore(value: 0)
  private let gate = Gate()

  /// Holds each synchronisation of the database file, and of its log, from now on.
  init(_ path: String) {
    self.path = path
    held.withLock { $0[path] = self }
  }

  /// Waits until a thread has begun a synchronisation, which is held.
  func waitForSynchronisation() throws {
    guard hasBegun.wait(timeout: .now() + patience) == .success else { throw Stuck(description: "no synchronisation") }
  }

  /// True once, after a thread has begun a synchronisation, which is held.
  var hasBegunSynchronisation: Bool { hasBegun.wait(timeout: .now()) == .success }

  /// Releases the held synchronisation, and holds no further one.
  func release() {
    held.withLock { $0[path] = nil }
    gate.open()
  }

  fileprivate func hold() {
    hasBegun.signal()
    try? gate.wait()
  }

  /// Replaces the file system that SQLite uses by default. Once in a process; further calls do nothing.
  static func install() { _ = isInstalled }

  private static let isInstalled: Bool = {
    guard let original = sqlite3_vfs_find(nil) else { return false }
    let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    system.initialize(to: original.pointee)
    system.pointee.pNext = nil
    system.pointee.zName = UnsafePointer(strdup("held"))
    system.pointee.xOpen = { system, name, file, flags, outFlags in
      guard let system, let file, let original = sqlite3_vfs_find("unix") else { return SQLITE_ERROR }
      let code = original.pointee.xOpen(original, name, file, flags, outFlags)
      if code == SQLITE_OK, let name { takeOver(file, String(cString: name)) }
      return code
    }
    return sqlite3_vfs_register(system, 1) == SQLITE_OK
  }()

  private static func takeOver(_ file: UnsafeMutablePointer<sqlite3_file>, _ path: String) {
    guard let methods = file.pointee.pMethods, let synchronise = methods.pointee.xSync else { return }
    files.withLock { $0[UInt(bitPattern: file)] = (path, synchronise) }
    file.pointee.pMethods = holding(methods)
  }

  /// The table of the same functions with a synchronisation that can be held. SQLite has few tables, for all of its files.
  private static func holding(_ methods: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<sqlite3_io_methods>? {
    let original = UInt(bitPattern: methods)
    let address = tables.withLock { tables in
      if let known = tables[original] { return known }
      let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
      copy.initialize(to: methods.pointee)
      copy.pointee.xSync = { file, flags in
        guard let file, let (path, synchronise) = files.withLock({ $0[UInt(bitPattern: file)] }) else {
          return SQLITE_ERROR
        }
        let disk = held.withLock { held in held.first { path.hasPrefix($0.key) }?.value }
        disk?.hold()
        return synchronise(file, flags)
      }
      tables[original] = UInt(bitPattern: copy)
      return UInt(bitPattern: copy)
    }
    return UnsafePointer(bitPattern: address)
  }
}

private typealias Synchronise = @convention(c) (UnsafeMutablePointer<sqlite3_file>?, Int32) -> Int32

/// By the path of the database.
private let held = Guarded<[String: HeldDisk]>([:])
/// The tables with a synchronisation that can be held, by the addresses of SQLite's own.
private let tables = Guarded<[UInt: UInt]>([:])
/// The path of each file and its ordinary synchronisation, by the file's address.
private let files = Guarded<[UInt: (String, Synchronise)]>([:])
