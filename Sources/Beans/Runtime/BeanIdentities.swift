/// The identities of the beans of one environment, as far as they have been asked for.
struct BeanIdentities {
  /// How many entries of the creation log `beans` has.
  private(set) var logged = 0
  /// The beans that slots hold, and those that are being completed.
  private var beans: Set<ObjectIdentifier> = []
  /// Slots that hold another face of a bean. Their objects are released by their owners.
  private(set) var faces: Set<Int32> = []

  func contains(_ identity: ObjectIdentifier) -> Bool { beans.contains(identity) }

  /// Claims an object for the declaration that completes it now; false where it is a bean already.
  mutating func claim(_ identity: ObjectIdentifier) -> Bool { beans.insert(identity).inserted }

  /// Gives up a claim, where the completion has failed.
  mutating func giveUp(_ identity: ObjectIdentifier) { beans.remove(identity) }

  /// Adds the next beans that the creation log names.
  mutating func add(logged objects: [ObjectReference?]) {
    logged += objects.count
    for object in objects { if let identity = object?.beanIdentity { beans.insert(identity) } }
  }

  /// Notes whether the object of a slot is another face of a bean.
  mutating func note(_ slot: Int32, isFace: Bool) {
    if isFace { faces.insert(slot) } else { faces.remove(slot) }
  }
}
