import { hostname } from "node:os";
import t from "tap";
import { hostOf } from "../../src/config/settings/host-names.js";
import { hostCheck } from "../../src/http/plugins/host-and-origin.js";

const loopback = [
  "localhost",
  "LOCALHOST:8080",
  "localhost.",
  "api.localhost",
  "127.0.0.1",
  "127.8.8.8:1",
  "[::1]:8080",
];
const others = [
  "evil.example",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "evil.example:8080",
  "costs.example.org.evil.example",
  "xn--localhost",
];
const unreadable = [
  undefined,
  "",
  " ",
  "localhost, evil.example",
  "localhost/",
  "user@localhost",
  "localhost:port",
  "localhost:123456",
  "[::1",
  "::1]",
  "localhost\t",
  "..",
];

interface Case {
  readonly host: string;
  readonly allowed_hosts: readonly string[];
  readonly taken: readonly string[];
  readonly refused: readonly string[];
}

const cases: readonly Case[] = [
  { host: "127.0.0.1", allowed_hosts: [], taken: [], refused: ["192.168.1.5:8080", "10.0.0.1", hostname()] },
  { host: "localhost", allowed_hosts: [], taken: [], refused: ["192.168.1.5"] },
  { host: "10.1.2.3", allowed_hosts: [], taken: ["10.1.2.3", "10.1.2.3:80"], refused: ["10.1.2.4"] },
  { host: "::1", allowed_hosts: [], taken: ["[0:0::1]"], refused: ["[::2]"] },
  {
    host: "0.0.0.0",
    allowed_hosts: [],
    taken: ["10.1.2.3:9090", "[fd00::1]:8080", hostname(), `${hostname().toUpperCase()}:80`],
    refused: ["costs.example.org"],
  },
  { host: "::", allowed_hosts: [], taken: ["10.1.2.3"], refused: ["costs.example.org"] },
  {
    host: "127.0.0.1",
    allowed_hosts: ["costs.example.org", "10.0.0.1", "fd00::1"],
    taken: ["costs.example.org", "Costs.Example.org.:443", "10.0.0.1:8080", "[FD00:0::1]:1"],
    refused: ["other.example.org", "example.org", "a.costs.example.org", "10.0.0.2"],
  },
];

for (const { host, allowed_hosts, taken, refused } of cases) {
  t.test(`host ${host}, allowed_hosts ${allowed_hosts.join(" ") || "none"}`, async (t) => {
    const isAllowed = hostCheck({ host, allowed_hosts: [...allowed_hosts] });
    t.strictSame(
      [...loopback, ...taken].filter((name) => !isAllowed(name)),
      [],
      "the host is allowed",
    );
    t.strictSame(
      [...others, ...unreadable, ...refused].filter((name) => isAllowed(name)),
      [],
      "the host is refused",
    );
  });
}

t.test("with *, every Host is allowed, and none as well", async (t) => {
  const isAllowed = hostCheck({ host: "127.0.0.1", allowed_hosts: ["*"] });
  t.strictSame(
    [...loopback, ...others, ...unreadable].filter((name) => !isAllowed(name)),
    [],
  );
});

t.test("hosts are compared in one spelling", async (t) => {
  const spelled = ["A.Example.", "[::1]:80", "::1", "0:0:0:0:0:0:0:1", "127.1", "0x7f000001", "a_b:1"].map(
    hostOf,
  );
  t.strictSame(spelled, ["a.example", "::1", "::1", "::1", "127.0.0.1", "127.0.0.1", "a_b"]);
});
