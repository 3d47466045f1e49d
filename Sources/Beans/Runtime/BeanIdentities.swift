/// The identities of the beans of one environment, collected on demand.
struct BeanIdentities {
  /// The number of entries of the creation log that `beans` includes.
  var logged = 0
  /// The beans in slots, and those that their declarations are completing now, which have claimed them.
  var beans: Set<ObjectIdentifier> = []
  /// The slots that hold another face of a bean. The owners of these objects release them.
  private(set) var faces: Set<Int32> = []

  /// Notes whether the object of a slot is another face of a bean.
  mutating func note(_ slot: Int32, isFace: Bool) {
    if isFace { faces.insert(slot) } else { faces.remove(slot) }
  }
}
