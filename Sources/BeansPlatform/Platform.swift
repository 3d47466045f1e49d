// Every other module depends on this one, so that on another platform a build stops here, with a sentence, and not with "no such module
// 'Glibc'" in some other file.

#if !(os(Linux) && canImport(Glibc) && (arch(x86_64) || arch(arm64)))
  #error(
    "swift-beans supports Linux with glibc on x86_64 and arm64. It supports neither macOS, Windows nor musl (the static Linux SDK): see the section 'Platforms' of its README."
  )
#endif
