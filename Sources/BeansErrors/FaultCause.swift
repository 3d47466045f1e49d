/// The cause of a fault. Selects the help text and the section of <doc:/Beans/Faults> that `EnvironmentError.report` links.
///
/// The first cause of each code has the name of the code. That cause also covers all errors of the code without a cause
/// of their own.
package enum FaultCause: String, CaseIterable, Sendable {
  case unknownBean, onlyInChildren, inactiveBean, privateBean, onlyTemplate, missingQualifier, noneOfChild
  case nothingToDecorate, unknownId, unknownTemplate, undefinedDeclaration, noIdOfType, unmetOverride
  case ambiguousBean, severalPrimary, ambiguousOverride
  case duplicateId
  case typeMismatch, otherQualifier, nilValue, noCollection, unmetProtocol, otherProduct, otherTemplateFactory
  case otherTemplateCallback, otherTemplateProperty, otherProcessedBean, otherScopedBean
  case unknownClass, ambiguousClass, noClass, genericClass
  case unknownProperty, propertyWithoutClass
  case noConversion
  case conversionFailed, unresolvedText, throwingConversion, malformedFile, malformedSection, refusedSection
  case unresolvedPlaceholder
  case missingConfiguration, otherConfigurationScope, unreadableFile
  case cyclicDependency, circleOfLookups, circleOfTemplates, circleOfAliases, circleOfSessions, circleOfPlaceholders
  case captiveDependency, captiveOfChildren
  case unknownScope
  case scopeNotActive, scopeBeside, misplacedChild, inactiveChildren, lookupInConfigure, noTestEnvironment
  case invalidDeclaration, declaredFurtherOut, keptBeanOwned, awaitedPrototype, awaitedInScope, awaitedInfrastructure
  case notSendable, undeclaredCapability, otherReceiver, noInitializer, notABean, noBeanInside, notCollected
  case typeAsInstance, noClassDeclared, unknownArgument, propertySources, unwritableProperty, throwingCondition
  case malformedProfile, conditionInPlace, incomparableModule, decoratorOptions, decoratedArgument, releaseLimit
  case privateWithoutModule, malformedSchedule, misplacedSchedule, misplacedRun
  case protocolListener, definedTwice, malformedPlaceholder, repeatedKey, misplacedSeed, otherSeed, boundTwice
  case missingTarget, needlessTarget, outlivesChildren, sourceInChildren, unservedInjection
  case scopeNameTaken, otherScopeName
  case sharedScopeObject, repeatedValue, valueWithoutKey, unknownKey, impossibleOverride
  case nothingToOverride
  case finished, releasedByOwner, unknownSession, endedSession
  case notReady, storedSession
  case frozen
  case exhausted
  case creationFailed, forbiddenBean, deepBuild
  case destructionFailed, asynchronousRelease, limitedRelease, limitedShutdown, referencedAfterEnd
  case listenerFailed, endlessEvents
  case runFailed, runTwice
  case invalidXML, unknownName, unhandledNamespace, missingDocument, documentType, noModule
  case startupFailed

  /// The first cause with the same code, which has the name of the code.
  var usual: FaultCause { entry.usual }
  /// The remedy, in a sentence or two.
  package var help: String { entry.help }
  /// Whether this cause covers all errors of its code without a cause of their own.
  package var isUsual: Bool { self == usual }

  private var entry: (usual: FaultCause, help: String) {
    switch self {
    case .unknownBean:
      (.unknownBean, "Define a bean of that type, here or further out, or ask for an optional of it.")
    case .onlyInChildren:
      (.unknownBean, "Look it up in a child or by `Environment.current`, or declare it where you look it up, too.")
    case .inactiveBean:
      (
        .unknownBean,
        "Meet the condition that the message names (`beans.profiles` lists the active profiles), or define a bean for the other case."
      )
    case .privateBean:
      (.unknownBean, "Ask for a public bean of the module, or move the declaration into the module.")
    case .onlyTemplate: (.unknownBean, "Declare a bean that inherits from the template, and ask for that one.")
    case .missingQualifier: (.unknownBean, "Give the tag to a declaration, by `qualifier(_:)`, or ask without it.")
    case .noneOfChild: (.unknownBean, "Declare it for the children of a factory, or take the bean itself.")
    case .nothingToDecorate:
      (
        .unknownBean,
        "Declare the decorator where a bean of that type can be seen, and for exactly the type that others ask for."
      )
    case .unknownId:
      (
        .unknownBean,
        "Spell the id as its declaration does, or define a bean with it. An environment does not see its children's beans."
      )
    case .unknownTemplate:
      (.unknownBean, "Spell the template's id as its declaration does; it may be declared later or further out.")
    case .undefinedDeclaration: (.unknownBean, "Hand it to `define`, in the same environment or one further out.")
    case .noIdOfType:
      (.unknownBean, "Give the bean an id: the one that the property names, or its key in the dictionary.")
    case .unmetOverride:
      (.unknownBean, "Name a type, an id, a qualifier or a scope that a declaration of the program has.")

    case .ambiguousBean:
      (
        .ambiguousBean,
        "Make one of them `.primary()`, ask by id (for a parameter, `.argument(0, ref: …)`) or qualifier, or take all as an array."
      )
    case .severalPrimary: (.ambiguousBean, "Leave `.primary()` at one of them, or ask by id or qualifier.")
    case .ambiguousOverride:
      (.ambiguousBean, "Select one by id, qualifier or scope; make the override produce the requested type.")

    case .duplicateId:
      (.duplicateId, "Rename one of the two. A child may use the id again: there it hides the outer bean.")

    case .typeMismatch:
      (.typeMismatch, "Give or ask for the expected type: the class of the bean, or a superclass or protocol of it.")
    case .otherQualifier: (.typeMismatch, "Give the tag to the bean's declaration, or leave the id out.")
    case .nilValue: (.typeMismatch, "Give a value, or make the property or parameter optional.")
    case .noCollection: (.typeMismatch, "Give a single value, or make the property an array.")
    case .unmetProtocol:
      (.typeMismatch, "Conform to the protocol, or drop `.implements`: conformances are found without it.")
    case .otherProduct:
      (.typeMismatch, "State the type that `create` returns as `.target`, or a superclass or protocol of it.")
    case .otherTemplateFactory:
      (.typeMismatch, "Give the bean a factory of its own, or inherit from another template.")
    case .otherTemplateCallback:
      (.typeMismatch, "Declare the callback or listener for a common superclass or protocol, or for each bean.")
    case .otherTemplateProperty: (.typeMismatch, "Set the property by name, or on each bean.")
    case .otherProcessedBean: (.typeMismatch, "Return an object of the bean's class, or of a subclass of it.")
    case .otherScopedBean: (.typeMismatch, "Return an object that the scope's factory has made for that bean.")

    case .unknownClass:
      (.unknownClass, "Spell the class as Swift does, with its module; link the module that has it.")
    case .ambiguousClass: (.unknownClass, "Spell it with its module and the types around it: `Module.Outer.Inner`.")
    case .noClass: (.unknownClass, "Declare it in Swift, with a factory; only classes can be declared by name.")
    case .genericClass: (.unknownClass, "Name a subclass that is not generic, or declare it in Swift.")

    case .unknownProperty:
      (
        .unknownProperty,
        "Spell a stored property as the class does; or use a key path, which the compiler checks and may lead to any."
      )
    case .propertyWithoutClass:
      (.unknownProperty, "Give the value to its factory; only classes have properties with names.")

    case .noConversion:
      (
        .noConversion,
        "Give or read a value of that type, refer to a bean (`ref`), or convert it: `registerConversion(from:to:)`."
      )

    case .conversionFailed:
      (.conversionFailed, "Correct the value, at the place or in the source that the message names.")
    case .unresolvedText:
      (.conversionFailed, "Give it as `resolve:` instead of `value:`, so that placeholders are replaced.")
    case .throwingConversion:
      (.conversionFailed, "Give a value that it accepts; its error is in `underlying`.")
    case .malformedFile: (.conversionFailed, "Correct the file at the place that the message names.")

    case .malformedSection:
      (.conversionFailed, "Correct each of the values; `underlying` holds all faults of the section.")
    case .refusedSection:
      (.conversionFailed, "Give values that the type accepts; its error is in `underlying`.")

    case .unresolvedPlaceholder:
      (
        .unresolvedPlaceholder,
        "Define the value, spell the key as its source does (`${namespace:key}`), or give a default: `${key=1}`."
      )

    case .missingConfiguration:
      (
        .missingConfiguration,
        "Define the value, spell the key as its source does, give a default, or read an optional."
      )
    case .otherConfigurationScope: (.missingConfiguration, "Define it for that scope, or without a scope.")
    case .unreadableFile:
      (.missingConfiguration, "Correct the path, or create the file; relative paths begin at the current folder.")

    case .cyclicDependency:
      (
        .cyclicDependency,
        "Take a `Provider` in one of them, pin the parameter to another bean, or move their common dependency into a third one."
      )
    case .circleOfLookups:
      (
        .cyclicDependency,
        "Make the looked-up bean a parameter, so that startup sees it; then break the circle with a `Provider` that is called later."
      )
    case .circleOfTemplates: (.cyclicDependency, "Drop one of the `.parent(…)`.")
    case .circleOfAliases: (.cyclicDependency, "Let one of them name a bean.")
    case .circleOfPlaceholders:
      (.cyclicDependency, "Let one of the values do without a placeholder, or write `$${` where none is meant.")
    case .circleOfSessions: (.cyclicDependency, "Compute the seed before, without the sessions.")

    case .captiveDependency:
      (
        .captiveDependency,
        "Take a `Current` or a `Provider` at any step of the path, which find the bean of the current child; or live as short as that."
      )

    case .captiveOfChildren:
      (
        .captiveDependency,
        "Take a `Current` or a `Provider`, which look in the current child, or declare the taker for the children, too."
      )

    case .unknownScope: (.unknownScope, "Spell it as the factory or the scope's `name` does, or register it.")

    case .scopeNotActive:
      (.scopeNotActive, "Ask in a child of that scope, or inside `withChild`, where `Environment.current` is one.")
    case .scopeBeside:
      (
        .scopeNotActive,
        "Declare the inner factory with the one of the other scope, or declare the bean for a scope around it."
      )
    case .misplacedChild:
      (
        .scopeNotActive,
        "Hand `build(_:in:)` an environment that the outer factory has built, or open it inside `withChild` of that one."
      )
    case .inactiveChildren:
      (
        .scopeNotActive,
        "Meet the condition that the message names (`beans.profiles` lists the active profiles), or open the child of another factory."
      )
    case .lookupInConfigure:
      (.scopeNotActive, "Take a parameter in the bean's factory: the bean itself, or an `Environment`.")
    case .noTestEnvironment:
      (.scopeNotActive, "Add the trait `.beans(…)` to the test, or pass its environment to the code that asks.")

    case .invalidDeclaration: (.invalidDeclaration, "Correct the declaration as the message says.")
    case .declaredFurtherOut:
      (.invalidDeclaration, "Call `define` of the argument of the closure, such as `request.define(…)`.")
    case .keptBeanOwned: (.invalidDeclaration, "Declare it as a prototype, or take it as it is.")
    case .awaitedPrototype:
      (
        .invalidDeclaration,
        "Declare it for the scope that it is used in, or take a factory that is asynchronous itself."
      )
    case .awaitedInScope:
      (
        .invalidDeclaration,
        "Let beans of a registered scope take one that is awaited, or declare it for the children of a factory."
      )
    case .awaitedInfrastructure: (.invalidDeclaration, "Let it take a `Provider` of the bean that has to be awaited.")
    case .notSendable:
      (.invalidDeclaration, "Make its type `Sendable`, or add `.assumeSendable(…)`.")
    case .undeclaredCapability:
      (.invalidDeclaration, "Declare the bean as its class; takers of a protocol that it conforms to find it, too.")
    case .noInitializer:
      (
        .invalidDeclaration,
        "Give a factory, as in `bean(Catalogue.self, factory: Catalogue.init)`, or conform to `Initializable`."
      )
    case .notABean:
      (.invalidDeclaration, "Declare or decorate the elements; a parameter `[T]` or `T?` receives them.")
    case .noBeanInside:
      (
        .invalidDeclaration,
        "Put the other one around it: `[Owned<T>]`, `Owned<T>?`, `Provider<Owned<T>>`, and so for `Qualified<Tag, T>`."
      )
    case .notCollected:
      (
        .invalidDeclaration,
        "Put the collection or the optional inside, as in `Provider<[T]>`; or take `Lazy<T>` in it, or the elements."
      )
    case .typeAsInstance: (.invalidDeclaration, "Hand over an instance, or give a factory.")
    case .noClassDeclared: (.invalidDeclaration, "Declare it with a class, or make it abstract.")
    case .unknownArgument: (.invalidDeclaration, "Count the parameters from 0.")
    case .propertySources:
      (.invalidDeclaration, "Give exactly one of `value`, `ref`, `resolve`, `bean` and `inject`.")
    case .unwritableProperty: (.invalidDeclaration, "Make it a stored `var`, or give the value to the factory.")
    case .throwingCondition:
      (.invalidDeclaration, "Return false for a missing value, for example by a default.")
    case .malformedProfile:
      (
        .invalidDeclaration,
        "Write names of profiles, with `!`, `&`, `|` and parentheses between them: `production & (eu | us)`."
      )
    case .conditionInPlace:
      (
        .invalidDeclaration,
        "Give the condition to the enclosing declaration, or define the bean by itself."
      )
    case .incomparableModule:
      (
        .invalidDeclaration,
        "Conform the module to `Hashable`, so that equal ones are included once and different ones each; or include it once."
      )
    case .decoratorOptions:
      (.invalidDeclaration, "Leave it out: a decorator is found through its decorated bean, and lives as long.")
    case .decoratedArgument:
      (.invalidDeclaration, "Count its other parameters from 1: argument 0 is the decorated bean.")
    case .releaseLimit:
      (.invalidDeclaration, "Give a `releaseLimit` above zero, or leave it out: then nothing limits the release.")
    case .malformedSchedule:
      (
        .invalidDeclaration,
        "Give an interval above zero, or five fields of cron of which some time is due, as in `*/5 8-18 * * mon-fri`."
      )
    case .misplacedSchedule:
      (
        .invalidDeclaration,
        "Give the bean a scope whose environment keeps its instances, or schedule a singleton that takes a `Provider`."
      )
    case .misplacedRun:
      (.invalidDeclaration, "Declare it as a singleton of an environment that runs, or start its work yourself.")
    case .privateWithoutModule:
      (.invalidDeclaration, "Make it in the `configure` of a `BeanModule`, or leave `private()` out.")
    case .protocolListener: (.invalidDeclaration, "Listen to each of the types that conform to it.")
    case .otherReceiver:
      (.invalidDeclaration, "Write `define(T.self, factory: …)`, or call `bean` on the environment that defines it.")
    case .definedTwice: (.invalidDeclaration, "Make a declaration for each bean.")
    case .malformedPlaceholder:
      (.invalidDeclaration, "Write `${key}` or `${key=default}`, or `$${` where no placeholder is meant.")
    case .repeatedKey: (.invalidDeclaration, "Drop one of the entries.")
    case .misplacedSeed: (.invalidDeclaration, "Declare it with `bindFactory(…).with(…).to(factory:)`.")
    case .otherSeed: (.invalidDeclaration, "Take `Assisted<Seed>` once, of the tag's own `Seed`.")
    case .boundTwice: (.invalidDeclaration, "Give each a tag of its own.")
    case .missingTarget: (.invalidDeclaration, "Add `.target(Product.self)`.")
    case .needlessTarget: (.invalidDeclaration, "Conform to `FactoryBean`, or drop `.target`.")
    case .outlivesChildren: (.invalidDeclaration, "Declare it in the environment whose scope it has.")
    case .sourceInChildren: (.invalidDeclaration, "Declare it in the environment around them.")
    case .unservedInjection:
      (.invalidDeclaration, "Define a bean that is an `Injection` for that kind of `Inject`.")
    case .scopeNameTaken:
      (
        .invalidDeclaration,
        "Give it another name: each name is used once in a chain of ancestors; `singleton` and `prototype` are built in."
      )
    case .otherScopeName:
      (.invalidDeclaration, "Give the scope object the name of the factory's scope.")
    case .sharedScopeObject:
      (.invalidDeclaration, "Register it further out, or give the factory a scope of its own (`scope:`).")
    case .repeatedValue: (.invalidDeclaration, "Remove one of them, or let the later source overrule.")
    case .valueWithoutKey: (.invalidDeclaration, "Name the key; on the command line, write `--key=value`.")
    case .unknownKey: (.invalidDeclaration, "Remove the value, or spell its key as the property of the type.")
    case .impossibleOverride:
      (.invalidDeclaration, "Override each declaration once, and the product of a factory bean instead of the factory.")
    case .nothingToOverride: (.invalidDeclaration, "Add `.beans(…)` to the test or to a suite around it.")

    case .finished:
      (.finished, "Keep the bean itself, and end the work that uses it before the environment and those around it.")
    case .releasedByOwner: (.finished, "Release it when no code uses it any more.")
    case .unknownSession: (.finished, "Open a session under an id of `newId()`; the client has none.")
    case .endedSession:
      (.finished, "Let the factory make a scope for each session that has not been finished yet.")

    case .notReady: (.notReady, "Call `try await ready()` first, or look it up by `try await getBean(awaiting: …)`.")
    case .storedSession: (.notReady, "Use `await withSession(cookie:)`, which opens sessions under new ids.")
    case .frozen:
      (
        .frozen,
        "Declare it before. For one request, use `childFactory` or a child; for later values, `addConfigurationSource`."
      )

    case .exhausted:
      (
        .exhausted,
        "Ask the client to come back later, as with `503` and `Retry-After`, or raise the capacity."
      )

    case .creationFailed:
      (
        .creationFailed,
        "See `underlying` for the error that the last bean of the path has thrown. A lookup tries again; startup does not."
      )
    case .forbiddenBean: (.creationFailed, "Override the bean that would use it, or allow it in this test.")
    case .deepBuild:
      (.creationFailed, "Let a bean of the chain take a `Provider`, or build on a thread with a larger stack.")

    case .destructionFailed:
      (.destructionFailed, "See `underlying` for the error. All other beans have been released.")
    case .asynchronousRelease:
      (
        .destructionFailed,
        "Use `await shutdown()`, or a scope that is bound to an event loop. In top-level code, call it from a function: there the "
          + "compiler chooses the synchronous form."
      )
    case .limitedRelease:
      (.destructionFailed, "Find out why it waits. All other beans have been released.")
    case .limitedShutdown:
      (
        .destructionFailed,
        "See the beans that are left. They are released as soon as possible, and no call waits for that."
      )
    case .referencedAfterEnd:
      (.destructionFailed, "Drop the reference before the scope ends, or keep a `Provider` of it instead.")

    case .listenerFailed:
      (
        .listenerFailed,
        "See `underlying` for the error of the listener or of its build. All others have received the event."
      )
    case .endlessEvents:
      (.listenerFailed, "Let the listener publish only where something has changed.")

    case .runFailed:
      (
        .runFailed,
        "See `underlying` for the error of the run, followed by the failures of the end. `restarts(after:upTo:limit:)` starts a run again."
      )
    case .runTwice: (.runFailed, "Call `run()` once; `stop()` ends it from any thread.")

    case .invalidXML: (.invalidXML, "Correct the document at that place. Nothing of it has been defined.")
    case .unknownName: (.invalidXML, "Spell the element or the attribute as the article on XML does.")
    case .unhandledNamespace:
      (.invalidXML, "Declare the prefix at `<beans>`, and hand a `NamespaceHandler` for its namespace to the loader.")
    case .missingDocument:
      (.invalidXML, "Correct the path, which begins at the importing document; drop an import that leads back.")
    case .documentType: (.invalidXML, "Remove it; entities are not expanded.")
    case .noModule: (.invalidXML, "Name a class that is a `BeanModule` and `Initializable`.")

    case .startupFailed:
      (.startupFailed, "See `underlying` for each of them; all are found at once, before anything is built.")
    }
  }
}
