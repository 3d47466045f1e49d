// `JSONConfigurationSource` was a type of this module: programs that import `BeansXML` keep it.
@_exported public import BeansJSON
