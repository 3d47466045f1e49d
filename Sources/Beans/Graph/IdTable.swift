import CBeansRuntime

/// What the ids of one plan stand for.
///
/// The names stand one behind the other in the order in which they came; places, found by an id's hash, say which one
/// it is. Startup asks ahead of time for what it is going to need of either: see `ReadAhead`.
struct IdTable {
  /// What an id stands for. Declarations and definitions are held by the lists of the plan that declares them.
  struct Name {
    let id: String
    /// The first of several.
    var declaration: Unmanaged<BeanDeclaration>?
    var definition: Unmanaged<Definition>?
  }

  fileprivate struct Place {
    var hash: UInt32 = 0
    /// That of a name, counted from 1; 0 where the place is empty.
    var number: UInt32 = 0
  }

  private(set) var names: [Name] = []
  /// A power of two of them, of which at least a quarter is empty; none before the first name.
  private var places: [Place] = []

  /// Makes room for so many names.
  mutating func reserve(_ count: Int) {
    names.reserveCapacity(count)
    var needed = max(places.count, 8)
    while needed / 4 * 3 < count { needed *= 2 }
    if places.count < needed { spread(over: needed) }
  }

  private mutating func spread(over count: Int) {
    let old = places
    places = Array(repeating: Place(), count: count)
    for place in old where place.number > 0 {
      var index = Int(place.hash) & (count - 1)
      while places[index].number > 0 { index = (index + 1) & (count - 1) }
      places[index] = place
    }
  }

  /// Where a name with that id stands, or would; there has to be an empty place.
  @inline(__always)
  private func place(of key: IdKey) -> Int {
    places.withUnsafeBufferPointer { places in
      var index = Int(key.hash) & (places.count - 1)
      while places[index].number > 0 {
        if places[index].hash == key.hash, names[Int(places[index].number) - 1].id == key.id { break }
        index = (index + 1) & (places.count - 1)
      }
      return index
    }
  }

  /// The number of the name with that id.
  func number(of key: IdKey) -> Int? {
    if places.isEmpty { return nil }
    let number = places[place(of: key)].number
    return number == 0 ? nil : Int(number) - 1
  }

  subscript(id: String) -> Name? { number(of: IdKey(id)).map { names[$0] } }

  /// The number of the name with that id, which is made where there is none.
  mutating func enter(_ key: IdKey) -> Int {
    if names.count >= places.count / 4 * 3 { reserve(max(8, 2 * names.count)) }
    let place = place(of: key)
    if places[place].number > 0 { return Int(places[place].number) - 1 }
    names.append(Name(id: key.id))
    // Memory holds fewer than 32 bits can count.
    places[place] = Place(hash: key.hash, number: UInt32(truncatingIfNeeded: names.count))
    return names.count - 1
  }

  subscript(number: Int) -> Name {
    get { names[number] }
    _modify { yield &names[number] }
  }
}

/// Asking ahead of time. What is answered is nearly always right, and no reason to do more than that: no id is compared.
extension IdTable {
  /// The table as it stands, while nothing is entered.
  struct View {
    fileprivate let places: UnsafeBufferPointer<Place>
    fileprivate let names: UnsafeBufferPointer<Name>

    /// Asks for the place where a hash is looked for first.
    @inline(__always)
    func fetchPlace(of hash: UInt32) {
      if let first = places.baseAddress { beans_fetch(first + (Int(hash) & (places.count - 1))) }
    }

    /// Asks for the name that it leads to.
    @inline(__always)
    func fetchName(of hash: UInt32) -> UnsafePointer<Name>? {
      guard !places.isEmpty, let first = places.baseAddress, let name = names.baseAddress else { return nil }
      var index = Int(hash) & (places.count - 1)
      while first[index].number > 0, first[index].hash != hash { index = (index + 1) & (places.count - 1) }
      if first[index].number == 0 { return nil }
      let found = name + (Int(first[index].number) - 1)
      beans_fetch(found)
      return found
    }
  }

  func withView(_ body: (View) -> Void) {
    places.withUnsafeBufferPointer { places in
      names.withUnsafeBufferPointer { body(View(places: places, names: $0)) }
    }
  }
}
