public import Beans

/// Configuration as YAML: one document with the core schema of YAML 1.2.
///
/// Mappings within mappings become dotted keys, and a key of the outermost mapping may begin with a namespace, in quotes
/// or not: `shop:mail: {host: …}` contains `mail.host` in the namespace `shop`. A sequence of texts, of numbers or of
/// truth values is one value; the elements of any other sequence have indexed keys, as in `servers.0.host`. A null, or
/// a key without a value, takes back the value of an earlier source.
///
/// Plain scalars are nulls (`~`, `null`), truth values (`true`, `false`), numbers (`12`, `0x1F`, `0o17`, `1.5e3`) or else
/// texts, also `no` and `12:30`; scalars in quotes are texts. Aliases and the merge key `<<` are expanded.
///
/// Pass `YAMLText.items` as the format of a `WatchedConfigurationSource` of `BeansServer`, which reads the file again
/// whenever it changes.
public enum YAMLText {
  /// Returns the values in a file, in order, each with its line. Takes time proportional to the file and the values of
  /// its aliases.
  ///
  /// - Parameters:
  ///   - bytes: the content of the file, as UTF-8, of at most 8 MiB.
  ///   - path: the name of the file in errors.
  /// - Throws: `.conversionFailed` with the line, for text that is not YAML, a second document, a key that is no text, an
  ///   alias without an anchor, more than a million values with those of the aliases, and values nested more than 256
  ///   deep. Also for other tags, infinite numbers, keys that are empty or given twice, and nulls in sequences: one error
  ///   for all of these.
  public static func items(from bytes: [UInt8], path: String) throws -> [ConfigurationItem] {
    let file = ConfigurationFile(path: path)
    var parser = try YAMLParser(bytes, of: file)
    return try file.items(of: parser.parse())
  }
}
