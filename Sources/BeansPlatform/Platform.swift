// Every other module depends on this one, so that a build on another platform stops here, with a clear message, and not
// with "no such module 'Glibc'" in another file.

#if !(os(Linux) && canImport(Glibc) && (arch(x86_64) || arch(arm64)))
  #error(
    "swift-beans supports Linux with glibc on x86_64 and arm64. It supports neither macOS, Windows nor musl (the static Linux SDK): see the section 'Platforms' of its README."
  )
#endif
