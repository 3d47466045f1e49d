import BeansLogging
import Glibc

/// Feeds the parts that read users' input with a million inputs each; see `Options.usage`.
@main
enum Fuzz {
  static func main() {
    do {
      exit(try run(Options(CommandLine.arguments.dropFirst())) ? EXIT_SUCCESS : EXIT_FAILURE)
    } catch let error as Options.Refused {
      complain("\(error)\n\(Options.usage)")
      exit(EX_USAGE)
    } catch {
      complain("\(error)\n")
      exit(EXIT_FAILURE)
    }
  }

  private static func run(_ options: Options) throws -> Bool {
    // Warnings about values are no faults, and would be a million lines.
    LogManager().registerLogger("", level: .off)
    if let file = options.input {
      print(try options.target.make().run(InputRecord.read(file)))
      return true
    }
    return try Campaign(options: options).run()
  }

  private static func complain(_ text: String) {
    let bytes = Array(text.utf8)
    write(STDERR_FILENO, bytes, bytes.count)
  }
}
