extension ConfigurationItem {
  /// Returns the item as one that its source may change later.
  package var asDynamic: ConfigurationItem {
    ConfigurationItem(
      namespace: namespace, key: key, value: value, scope: scope, dynamic: true, isSecret: isSecret, line: line
    ).spelled(as: spelled)
  }
}
