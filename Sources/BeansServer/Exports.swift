// `SessionRegistry` and its values were types of this module: programs that import `BeansServer` keep them.
@_exported public import BeansSessionRegistry
