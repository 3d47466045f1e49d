import Beans
import BeansGraph
import Storefront

// The program that BeansCheck runs when the service is built, and that `swift package beans` runs on request.
BeansTool.run(options: [.requireSendable]) { application in try Storefront.declare(application) }
