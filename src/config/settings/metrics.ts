/** `metrics`: the Prometheus (or Mimir, Thanos, VictoriaMetrics, …) that a tenant's usage is queried from. */
import { type Static, Type } from "@sinclair/typebox";
import { choice, mapOf, mapping, text } from "../reader/setting.js";
import { parseBaseUrl } from "../reader/url.js";

const CREDENTIALS = ["username", "password", "bearer_token", "bearer_token_file"] as const;

const CREDENTIALS_OF = {
  none: [],
  basic: ["username", "password"],
  bearer: ["bearer_token", "bearer_token_file"],
} as const satisfies Record<string, readonly (typeof CREDENTIALS)[number][]>;

/** Shorter header values are not treated as credentials: masking every `prod` would garble the log. */
const SHORTEST_CREDENTIAL = 12;
/** Headers that the client sets itself. */
const OWN_HEADERS = new Set([
  "accept",
  "accept-encoding",
  "authorization",
  "connection",
  "content-length",
  "content-type",
  "host",
  "transfer-encoding",
  "user-agent",
]);

const credential = { secret: true, maxLength: 10_000 };

export const metricsSettings = mapping(
  {
    type: choice(["prometheus"], {
      description: "The protocol: the HTTP API of Prometheus.",
      default: "prometheus",
    }),
    url: text({
      description: "The base address; `/api/v1/query_range` is appended to it, and a path prefix is kept.",
      expected: "an address such as https://host:9090/prefix, without credentials",
      maxLength: 2000,
      parse: parseBaseUrl,
    }),
    auth_type: choice(["none", "basic", "bearer"], {
      description: "How requests authenticate: `basic` with username and password, `bearer` with a token.",
      default: "none",
      inert: true,
    }),
    username: Type.Optional(text({ description: "The user of `basic`.", maxLength: 10_000, inert: true })),
    password: Type.Optional(text({ ...credential, description: "The password of `basic`." })),
    bearer_token: Type.Optional(text({ ...credential, description: "The token of `bearer`." })),
    bearer_token_file: Type.Optional(
      text({
        description:
          "A file with the token of `bearer`, such as that of a cluster's service account. It is read again when it " +
          "changes.",
        maxLength: 4000,
        inert: true,
      }),
    ),
    headers: mapOf(
      {
        name: "HEADER",
        pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$",
        expected: "the name of an HTTP header, such as X-Scope-OrgID",
      },
      text({
        description: "The value of the header.",
        pattern: "^[\\x20-\\x7e]*$",
        expected: "1 to 10000 printable ASCII characters",
        maxLength: 10_000,
        secret: (value: string) => (value.length < SHORTEST_CREDENTIAL ? [] : [value]),
      }),
      {
        description:
          "Headers of every request, such as `X-Scope-OrgID` for a tenant of Mimir, Cortex or Loki's gateways. Values " +
          "are never shown.",
        maxProperties: 50,
        default: {},
      },
    ),
  },
  {
    description: "The source of metrics. If left out, nothing is read from Prometheus.",
    rules: [
      {
        rule:
          "`auth_type: basic` needs `username` and `password`, `bearer` needs `bearer_token` or `bearer_token_file`, and " +
          "no others are allowed.",
        check(value, report) {
          const { auth_type } = value;
          if (auth_type === undefined) return;
          const { bearer_token: token, bearer_token_file: file } = value;
          if (auth_type === "bearer" && token === undefined && file === undefined)
            report(
              ["bearer_token"],
              "is required with auth_type bearer, unless there is a bearer_token_file",
            );
          if (token !== undefined && file !== undefined)
            report(["bearer_token_file"], "excludes bearer_token: remove one of them");
          for (const key of CREDENTIALS) {
            const wanted = CREDENTIALS_OF[auth_type].some((name) => name === key);
            if (wanted && auth_type !== "bearer" && value[key] === undefined)
              report([key], `is required with auth_type ${auth_type}`);
            if (!wanted && value[key] !== undefined)
              report([key], `is not used with auth_type ${auth_type}: remove it`);
          }
        },
      },
      {
        rule: "`headers` has none of the headers that the service sends itself; for `Authorization` there is `auth_type`.",
        check({ headers = {} }, report) {
          for (const name of Object.keys(headers))
            if (OWN_HEADERS.has(name.toLowerCase()))
              report(
                ["headers", name],
                name.toLowerCase() === "authorization"
                  ? "is sent by the service itself: use auth_type with bearer_token, bearer_token_file, or username and password"
                  : "is sent by the service itself: remove it",
              );
        },
      },
    ],
  },
);

export type MetricsSettings = Static<typeof metricsSettings>;

export type MetricsAuth =
  | { kind: "none" }
  | { kind: "basic"; username: string; password: string }
  | { kind: "bearer"; token: string }
  | { kind: "bearer_file"; file: string };

/** Combines the credentials into one value, so that no request is sent with half of them. */
export function metricsAuth(settings: Omit<MetricsSettings, "headers">): MetricsAuth {
  const { auth_type, username, password, bearer_token, bearer_token_file } = settings;
  if (auth_type === "basic" && username !== undefined && password !== undefined) {
    return { kind: "basic", username, password };
  }
  if (auth_type === "bearer" && bearer_token !== undefined) return { kind: "bearer", token: bearer_token };
  if (auth_type === "bearer" && bearer_token_file !== undefined)
    return { kind: "bearer_file", file: bearer_token_file };
  if (auth_type === "none") return { kind: "none" };
  throw new Error("bug: the metrics settings were not validated");
}
