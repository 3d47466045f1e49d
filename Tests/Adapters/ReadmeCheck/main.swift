// The check of the build, of the declarations of the README without its database: scripts/check-adapters compares the fault.
import BeansGraph
@testable import HummingbirdListings

BeansTool.run { environment in _ = try declareOrders(in: environment) }
