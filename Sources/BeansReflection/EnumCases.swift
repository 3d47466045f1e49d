/// The cases of enums, by the compiler's records.
package enum EnumCases {
  /// Returns the names of all cases, in an order of the compiler's; none if the type is no enum, or if this runtime lays
  /// records out in another way than expected.
  package static func names(of type: Any.Type) -> [String] {
    RuntimeLayout.hasCaseRecords ? FieldRecords(ofEnum: type)?.names ?? [] : []
  }
}
