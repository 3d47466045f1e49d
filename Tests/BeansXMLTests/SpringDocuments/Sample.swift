import Beans
import Testing

/// A class that the documents of this folder name.
protocol SampleBean: AnyObject {}

/// The classes that the documents of this folder name, in place of those of a Java project.
enum Sample {
  final class Pool: SampleBean, Initializable {
    var url = ""
    var user = ""
    var password = ""
    var maxActive = 0
    var minIdle = 0
    var validates = false
    var settings: [String: String] = [:]
  }

  class Repository: SampleBean, Initializable {
    var pool: Pool?
    var table = ""

    required init() {}
  }

  final class ArchiveRepository: Repository {
    var years = 0
  }

  final class Service: SampleBean, Initializable {
    var repository: Repository?
    var repositories: [Repository] = []
    var mailer: Mailer?
    var name = ""
    var limits: [String: Int] = [:]
    var names: [String] = []
    var enabled = false
    var options: [String: String] = [:]
    var byName: [String: Repository] = [:]
  }

  final class Mailer: SampleBean, Initializable {
    var host = ""
    var port = 25
    var from = ""
    var template: Letter?
    var properties: [String: String] = [:]
  }

  final class Letter: SampleBean, Initializable {
    var subject = ""
    var text = ""
  }

  final class Job: SampleBean, Initializable {
    var service: Service?
    var interval = 0
    var name = ""
    var target = ""
  }

  final class Timetable: SampleBean, Initializable {
    var jobs: [Job] = []
    var active = true
  }

  final class Routes: SampleBean, Initializable {
    var prefix = ""
    var suffix = ""
    var order = 0
    var mappings: [String: String] = [:]
    var handlers: [String: Service] = [:]
    var filters: [Filter] = []
  }

  final class Filter: SampleBean, Initializable {
    var pattern = ""
    var roles: Set<String> = []
  }

  /// Has no `init()`: documents name a template of the tests as its parent.
  final class Endpoint: SampleBean {
    let address: String
    let port: Int
    var pool: Pool?

    init(address: String, port: Int) { (self.address, self.port) = (address, port) }
  }

  final class PoolFactory: SampleBean, Initializable, FactoryBean {
    var url = ""

    func create() throws -> Pool {
      let pool = Pool()
      pool.url = url
      return pool
    }
  }
}

/// A document with constructs as they are found in projects with Spring, and its result.
struct SpringDocument: CustomTestStringConvertible {
  enum Result {
    /// Loads and starts with a number of beans.
    case loads(Int)
    /// Is refused with faults that contain these texts, in order.
    case refused([String])
  }

  let name: String
  let result: Result
  let text: String

  init(_ name: String, _ result: Result, _ text: String) { (self.name, self.result, self.text) = (name, result, text) }

  var testDescription: String { name }

  static func header(_ prefixes: String...) -> String {
    let schema = "http://www.springframework.org/schema/"
    let others = prefixes.map { "\n       xmlns:\($0)=\"\(schema)\($0)\"" }.joined()
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <beans xmlns="\(schema)beans" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"\(others)
             xsi:schemaLocation="\(schema)beans \(schema)beans/spring-beans.xsd">
      """
  }
}
