/** Setting `resource_source`: where brokers and topics come from, and how to connect to a Kafka cluster. */
import { type Static, Type } from "@sinclair/typebox";
import { choice, type Parsed, type Rule, section, text } from "../../../config/reader/setting.js";

const file = (description: string) =>
  Type.Optional(
    text({
      description: `${description} Read at each gathering.`,
      expected: "an absolute path of a PEM file",
      pattern: "^/",
      maxLength: 4000,
    }),
  );

const properties = {
  source: choice(["prometheus", "admin_api"], {
    description:
      "The source of brokers and topics: labels of the discovery query, or the cluster itself, through its admin " +
      "protocol.",
    default: "prometheus",
  }),
  bootstrap_servers: Type.Optional(
    text({
      description: "For `admin_api`: bootstrap brokers, tried in this order.",
      expected: "host:port, several separated by commas",
      maxLength: 2000,
      parse: parseServers,
    }),
  ),
  security_protocol: Type.Optional(
    choice(["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"], {
      description:
        "For `admin_api`: whether the connection is encrypted and authenticated. Default `PLAINTEXT`.",
    }),
  ),
  sasl_mechanism: Type.Optional(
    choice(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"], {
      description: "For the `SASL_` protocols: how the user is authenticated.",
    }),
  ),
  sasl_username: Type.Optional(
    text({ description: "For the `SASL_` protocols: the user.", maxLength: 1000, inert: true }),
  ),
  sasl_password: Type.Optional(
    text({ description: "For the `SASL_` protocols: the password.", maxLength: 10_000, secret: true }),
  ),
  ssl_ca_file: file(
    "For `SSL` and `SASL_SSL`: the certificate authorities to trust instead of the usual ones.",
  ),
  ssl_certificate_file: file("For `SSL` and `SASL_SSL`: the client's certificate, if brokers require one."),
  ssl_key_file: file("For `SSL` and `SASL_SSL`: the private key of `ssl_certificate_file`, not encrypted."),
  kafka_cluster_id: Type.Optional(
    text({
      description:
        "For `admin_api`: the cluster's own id. A cluster with another id is refused, so that a wrong address is " +
        "noticed.",
    }),
  ),
};

export type ResourceSource = Static<typeof written>;
const written = Type.Object(properties);
type Key = keyof typeof properties;

const SASL = ["sasl_mechanism", "sasl_username", "sasl_password"] as const satisfies readonly Key[];
const SSL = ["ssl_ca_file", "ssl_certificate_file", "ssl_key_file"] as const satisfies readonly Key[];
const ADMIN = ["bootstrap_servers", "security_protocol", ...SASL, ...SSL, "kafka_cluster_id"] as const;

const rules: Rule<ResourceSource>[] = [
  {
    rule: "`source: admin_api` needs `bootstrap_servers`; `prometheus` allows no other keys.",
    check(value, report) {
      if (value.source === "admin_api" && value.bootstrap_servers === undefined) {
        report(["bootstrap_servers"], "is required with source admin_api");
      }
      if (value.source === "prometheus") refuseGiven(value, ADMIN, "source prometheus", report);
    },
  },
  {
    rule:
      "The `SASL_` protocols need `sasl_mechanism`, `sasl_username` and `sasl_password`; the others allow none of " +
      "them.",
    check(value, report) {
      if (value.source !== "admin_api") return;
      const protocol = value.security_protocol ?? "PLAINTEXT";
      if (!protocol.startsWith("SASL_")) refuseGiven(value, SASL, `security_protocol ${protocol}`, report);
      else {
        for (const key of SASL) {
          if (value[key] === undefined) report([key], `is required with security_protocol ${protocol}`);
        }
      }
    },
  },
  {
    rule: "The `ssl_` files are allowed with `SSL` and `SASL_SSL`. A certificate and its key belong together.",
    check(value, report) {
      if (value.source !== "admin_api") return;
      const protocol = value.security_protocol ?? "PLAINTEXT";
      if (!protocol.endsWith("SSL")) {
        refuseGiven(value, SSL, `security_protocol ${protocol}`, report);
        return;
      }
      if (value.ssl_certificate_file !== undefined && value.ssl_key_file === undefined)
        report(["ssl_key_file"], "is required with ssl_certificate_file");
      if (value.ssl_key_file !== undefined && value.ssl_certificate_file === undefined)
        report(["ssl_certificate_file"], "is required with ssl_key_file");
    },
  },
];

function refuseGiven(
  value: Partial<ResourceSource>,
  keys: readonly Key[],
  why: string,
  report: (path: string[], message: string) => void,
): void {
  for (const key of keys) {
    if (value[key] !== undefined) report([key], `is not used with ${why}: remove it`);
  }
}

export const resourceSource = section(properties, {
  description: "The source of brokers and topics.",
  rules,
});

export interface Server {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 9092;

/** Parses `a:9092, b,[::1]:9093`. Undefined if the text is invalid. */
export function serversOf(servers: string): Server[] | undefined {
  const found: Server[] = [];
  for (const entry of servers.split(",")) {
    const [, bracketed, name, digits] =
      /^\s*(?:\[([0-9a-fA-F:.]+)\]|([a-zA-Z0-9._-]+))(?::(\d{1,5}))?\s*$/.exec(entry) ?? [];
    const host = bracketed ?? name;
    const port = digits === undefined ? DEFAULT_PORT : Number(digits);
    if (host === undefined || port < 1 || port > 65_535) return undefined;
    found.push({ host, port });
  }
  return found;
}

function parseServers(servers: string): Parsed {
  const found = serversOf(servers);
  if (found === undefined) return { problem: "must be host:port, several separated by commas" };
  return {
    value: found
      .map(({ host, port }) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`))
      .join(","),
  };
}
