/// The identities of the beans of one environment, collected on demand.
struct BeanIdentities {
  /// The number of entries of the creation log that `beans` includes.
  private(set) var logged = 0
  /// The beans in slots, and those that are being completed.
  private var beans: Set<ObjectIdentifier> = []
  /// The slots that hold another face of a bean. The owners of these objects release them.
  private(set) var faces: Set<Int32> = []

  func contains(_ identity: ObjectIdentifier) -> Bool { beans.contains(identity) }

  /// Claims an object for the declaration that completes it now; returns false if the object is a bean already.
  mutating func claim(_ identity: ObjectIdentifier) -> Bool { beans.insert(identity).inserted }

  /// Gives up a claim after the completion has failed.
  mutating func giveUp(_ identity: ObjectIdentifier) { beans.remove(identity) }

  /// Adds the next beans of the creation log.
  mutating func add(logged objects: [ObjectReference?]) {
    logged += objects.count
    for object in objects { if let identity = object?.beanIdentity { beans.insert(identity) } }
  }

  /// Notes whether the object of a slot is another face of a bean.
  mutating func note(_ slot: Int32, isFace: Bool) {
    if isFace { faces.insert(slot) } else { faces.remove(slot) }
  }
}
