@_exported public import BeansConfiguration
@_exported public import BeansErrors
@_exported public import BeansReflection
