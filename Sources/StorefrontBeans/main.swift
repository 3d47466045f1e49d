import Beans
import BeansTool
import Storefront

// What BeansCheck runs when the service is built, and `swift package beans` when it is asked.
BeansTool.run(options: .requireSendable) { application in try Storefront.declare(application) }
