// Marked listings stand in the catalogue to the letter: see ListingTests.swift.

// listing
import BeansEventLoop
import BeansRedis
import BeansTLS

// end

struct BeansTLSCatalogue {
  // continued
  func makeStore(url: String, on loops: [EventLoop]) throws -> RedisSessionStore {
    var tls = TLSOptions()
    tls.roots = .file("/etc/sessions/ca.pem")  // without it, the authorities of the system
    return RedisSessionStore(loops: loops, options: try RedisOptions(url: url, tls: tls))
  }
  // end

  // listing
  func identify(_ tls: inout TLSOptions) {
    tls.certificate = .file("/etc/sessions/client.pem")  // the certificate first, then intermediate authorities
    tls.key = .file("/etc/sessions/client.key")
  }
  // end
}
