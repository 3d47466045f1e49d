// Marked listings stand in the catalogue to the letter: see ListingTests.swift.

// listing
import BeansEventLoop

// end

struct EventLoopCatalogue {
  // continued
  func greet(on loop: EventLoop) throws -> TCPListener {
    try TCPListener(on: loop) { connection in
      connection.resumeReading()
      connection.write(Array("hello\n".utf8))
      connection.closeAfterWrites()
    }
  }

  func serveGreetings(until isOver: @escaping @Sendable (EventLoop) -> Void) throws {
    let loop = try EventLoop()
    let listener = try greet(on: loop)
    isOver(loop)
    try loop.run()  // returns after `stop()`
    listener.close()
    try loop.close()
  }
  // end
}
