// Stand-ins for the few things of UIKit that the documents' listings use.

class UIViewController {
  private(set) var presented: [UIViewController] = []

  func present(_ viewController: UIViewController, animated: Bool) { presented.append(viewController) }
}
