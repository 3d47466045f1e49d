import Beans
import Glibc

extension Configuration {
  /// Adds this process's environment variables to an environment, and reads the settings there. If no database is
  /// named, creates its default folder.
  static func ofThisProcess(_ application: Environment) throws -> Configuration {
    var variables: [String: String] = [:]
    for name in Self.variables { variables[name] = variable(name) }
    try application.addConfigurationSource(source(variables))
    let folder = "\(variable("TMPDIR") ?? "/tmp")/storefront-\(getuid())"
    let processors = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let configuration = try Configuration(
      application.configurationManager, processors: processors, temporaryFolder: folder)
    if configuration.database.hasPrefix(folder) { try makePrivateFolder(folder) }
    return configuration
  }

  private static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }

  /// Creates the folder of the database. All users share the folder for temporary files: a file of another user under
  /// the same name is refused.
  private static func makePrivateFolder(_ path: String) throws(ConfigurationFaults) {
    if unsafe mkdir(path, 0o700) == 0 { return }
    var status = stat()
    guard errno == EEXIST, unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == getuid()
    else {
      throw ConfigurationFaults(lines: ["\(path) cannot be used for the database: set DATABASE"])
    }
  }
}
