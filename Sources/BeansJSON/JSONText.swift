public import Beans

/// Configuration as JSON, as RFC 8259 defines it.
///
/// Objects within objects become dotted keys, and a key of the outermost object may begin with a namespace: `{"port":
/// 80, "shop:mail": {"host": "…"}}` contains `port`, and `mail.host` in the namespace `shop`. An array of texts, of
/// numbers or of truth values is one value; the elements of any other array have indexed keys, as in
/// `servers.0.host`. A null takes back the value of an earlier source.
///
/// Pass `JSONText.items` as the format of a `WatchedConfigurationSource` of `BeansServer`, which reads the file again
/// whenever it changes.
public enum JSONText {
  /// Returns the values in a file, in order, each with its line. Takes time proportional to the file.
  ///
  /// - Parameters:
  ///   - bytes: the content of the file, as UTF-8, of at most 8 MiB.
  ///   - path: the name of the file in errors.
  /// - Throws: `.conversionFailed` with line and column for text that is not JSON: comments, trailing commas and numbers
  ///   out of range are not; for more than a million values, or values nested more than 256 deep. Also for keys that are
  ///   empty or given twice, and for nulls in arrays: one error for all of these.
  public static func items(from bytes: [UInt8], path: String) throws -> [ConfigurationItem] {
    let file = ConfigurationFile(path: path)
    var parser = JSONParser(bytes, of: file)
    return try file.items(of: parser.parse())
  }
}
