// Can be declared by the name of the class.
extension ProcessInfoConfigurationSource: Initializable {}
