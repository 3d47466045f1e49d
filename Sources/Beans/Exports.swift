@_exported public import BeansConfiguration
@_exported public import BeansReflection
@_exported public import BeansSupport
