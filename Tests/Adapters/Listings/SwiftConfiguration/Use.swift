import Beans
import Configuration

struct MailSettings: Decodable, Sendable {
  var host: String
  var port = 25
  var recipients: [String] = []
}

// listing
func declareMail(in shop: Environment, readBy reader: ConfigReader) throws {
  try shop
    .addConfigurationSource(ConfigReaderSource(reader))
    .define(MailSettings.self, configuration: "mail")
}

func makeReader(_ manager: ConfigurationManager) -> ConfigReader {
  ConfigReader(provider: BeansConfigProvider(manager: manager))
}

func declareReader(in shop: Environment) throws {
  try shop.define(shop.bean(ConfigReader.self, factory: makeReader))
}
// end
