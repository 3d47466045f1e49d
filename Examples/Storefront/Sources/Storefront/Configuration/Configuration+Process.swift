import Beans
import Glibc

extension Configuration {
  /// Reads the settings of this process into an environment. If no source names a database, creates its default folder.
  ///
  /// - Throws: `ConfigurationFaults`, all faults at once.
  static func ofThisProcess(_ application: Environment) throws -> Configuration {
    let variables = ProcessInfoConfigurationSource(ignoresEmpty: true)
    let folder = "${TMPDIR=/tmp}/storefront-\(getuid())"
    do {
      let configuration = try read(
        in: application, variables: variables, arguments: CommandLineConfigurationSource(flags: flags),
        processors: Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), temporaryFolder: folder)
      let defaultFolder = try application.configurationManager.resolve(folder)
      if configuration.database.hasPrefix(defaultFolder) { try makePrivateFolder(defaultFolder) }
      return configuration
    } catch let error as EnvironmentError {
      throw ConfigurationFaults(error)
    }
  }

  /// Creates the folder of the database. All users share the folder for temporary files: a file of another user under
  /// the same name is refused.
  private static func makePrivateFolder(_ path: String) throws(ConfigurationFaults) {
    if unsafe mkdir(path, 0o700) == 0 { return }
    var status = stat()
    guard errno == EEXIST, unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == getuid()
    else {
      throw ConfigurationFaults(lines: ["\(path) cannot be used for the database: set database"])
    }
  }
}
