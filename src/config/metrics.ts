/** `metrics`: the Prometheus (or Mimir, Thanos, VictoriaMetrics, …) that a tenant's usage is read from. */
import { type Static, Type } from "@sinclair/typebox";
import { choice, mapping, text } from "./setting.js";
import { parseBaseUrl } from "./url.js";

const CREDENTIALS = ["username", "password", "bearer_token"] as const;

const CREDENTIALS_OF = {
  none: [],
  basic: ["username", "password"],
  bearer: ["bearer_token"],
} as const satisfies Record<string, readonly (typeof CREDENTIALS)[number][]>;

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
  },
  {
    description: "The source of metrics. Left out, nothing is read from Prometheus.",
    rules: [
      {
        rule: "`auth_type: basic` needs `username` and `password`, `bearer` needs `bearer_token`, and no others are taken.",
        check(value, report) {
          const { auth_type } = value;
          if (auth_type === undefined) return;
          for (const key of CREDENTIALS) {
            const wanted = CREDENTIALS_OF[auth_type].some((name) => name === key);
            if (wanted && value[key] === undefined) report([key], `is required with auth_type ${auth_type}`);
            if (!wanted && value[key] !== undefined)
              report([key], `is not used with auth_type ${auth_type}: remove it`);
          }
        },
      },
    ],
  },
);

export type MetricsSettings = Static<typeof metricsSettings>;

export type MetricsAuth =
  | { kind: "none" }
  | { kind: "basic"; username: string; password: string }
  | { kind: "bearer"; token: string };

/** The credentials as one value, so that a request cannot be sent with half of them. */
export function metricsAuth({ auth_type, username, password, bearer_token }: MetricsSettings): MetricsAuth {
  if (auth_type === "basic" && username !== undefined && password !== undefined) {
    return { kind: "basic", username, password };
  }
  if (auth_type === "bearer" && bearer_token !== undefined) return { kind: "bearer", token: bearer_token };
  if (auth_type === "none") return { kind: "none" };
  throw new Error("metrics settings that were not checked");
}
