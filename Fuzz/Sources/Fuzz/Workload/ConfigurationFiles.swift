/// Configuration files, and the words of their languages.
enum ConfigurationFiles {
  static let json = [
    "{}", "{\"a\": 1}", "{\"server\": {\"port\": 80, \"tls\": {\"on\": true}}, \"shop:mail\": {\"host\": \"h\"}}",
    "{\"l\": [1, 2.5], \"s\": [\"a\", \"b\"], \"o\": [{\"x\": 1}, {\"x\": [null]}], \"m\": [1, \"a\", [true]], \"n\": null}",
    "{\n  \"t\": \"\\u00e4\\uD83D\\uDE00\\n\\\\\\\"\",\r\n\t\"n\": -1.5e-3, \"big\": 18446744073709551615, \"e\": []\n}",
    "{\"a\": {\"b\": 1}, \"a.b\": 2}", "{\"a\": 1, \"a\": 2}", "\u{FEFF}{\"a\": \"é👩‍👧\"}",
    "{\"a\":" + String(repeating: "[", count: 250) + "1" + String(repeating: "]", count: 250) + "}",
    "{" + (0..<200).map { "\"k\($0)\": \($0)" }.joined(separator: ",\n") + "}",
  ]
  static let jsonWords = [
    "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u", "\\uD83D", "\\u0000", "null", "true", "false", "0", "-", "1e",
    "1e999",
    "12345678901234567890", ".", "E+", "\n", "\r", "\t", " ", "//", "/*", "#", "'", "\"a\": 1,", "[[", "{\"a\":",
    "\u{0}", "\u{1}",
    "é", "\u{FEFF}", "NaN", "01",
  ]
  static let yaml = [
    "", "a: 1\n", "server:\n  port: 80\n  hosts: [a, b]\nshop:mail:\n  host: h\n", "- 1\n- 2\n",
    "mirrors:\n  - url: one\n    w: {x: 1}\n  - url: \"two\"\nn: ~\nt: no\nh: 0x1F\no: 0o17\nf: -1.5e3\n",
    "base: &b {x: 1, y: [1, 2]}\none: {<<: *b, z: 3}\ntwo: {<<: [*b, {q: 1}]}\nthree: *b\n",
    "text: |\n  a\n  b\nfold: >-\n  a\n  b\nq: 'it''s'\nd: \"\\u00e4\\n\"\n",
    "%YAML 1.2\n---\na: !!str 1\nb: !!int '2'\n...\n",
    "a: &a [1, 2, 3]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\nd: [*c, *c]\n", "a: 1\n---\nb: 2\n",
    "? a\n: b\n? [c]\n: d\n",
    "a: " + String(repeating: "[", count: 250) + "1" + String(repeating: "]", count: 250),
    (0..<200).map { "k\($0): \($0)\n" }.joined(),
  ]
  static let yamlWords = [
    "{", "}", "[", "]", ": ", ", ", "- ", "? ", "&a ", "*a", "<<: ", "|", ">", "'", "\"", "\\", "\\x", "!!", "!",
    "!<x>", "%", "---",
    "...", "#", "\n", "\n  ", "\t", " ", "~", "null", ".inf", "0x", "1e999", "@", "`", "a: ", "\u{0}", "\u{85}",
    "\u{2028}", "é",
    "\u{FEFF}", "12345678901234567890", "*b, ",
  ]
}
