/** `api`: address, authentication, CORS and limits of the HTTP API. */
import { type Static, Type } from "@sinclair/typebox";
import { choice, flag, integer, list, section, text } from "../reader/setting.js";
import { parseOrigin } from "../reader/url.js";
import { hostOf, isLoopback, parseHostName } from "./host-names.js";
import { oidcSettings, proxySettings, roleSettings, sessionSettings, trustedProxies } from "./sign-on.js";
import { tlsSettings } from "./tls.js";

export const authModes = ["none", "tokens", "oidc", "proxy"] as const;

const rateLimit = section(
  {
    max_per_minute: integer({
      description:
        "How many requests a caller may send. A caller is a token, a user of single sign-on, or else an address (for IPv6, its /64 network).",
      unit: "requests",
      minimum: 1,
      maximum: 1_000_000,
      default: 6000,
    }),
    max_failed_sign_ons_per_minute: integer({
      description:
        "How many invalid credentials an address may send. Further credentials from the address are refused until the " +
        "minute is over, except those that were valid before.",
      unit: "requests",
      minimum: 1,
      maximum: 1_000_000,
      default: 30,
    }),
  },
  {
    description:
      "Limits of each process; requests beyond them get 429 with `Retry-After`. `/health`, metrics and the files of the console are not counted. " +
      "Behind a proxy in `trusted_proxies` or `proxy`, the address is the last one in `X-Forwarded-For` that is not a proxy's.",
  },
);

export const apiSettings = section(
  {
    host: text({
      description:
        "The address to listen on (`0.0.0.0` is every interface). With `auth: none` the service refuses to listen on anything but loopback, " +
        "unless `insecure` allows it.",
      expected: "a host name or an IP address",
      pattern: "^[A-Za-z0-9_.:%-]{1,255}$",
      maxLength: 255,
      default: "127.0.0.1",
    }),
    auth: choice(authModes, {
      description:
        "Who may call the API. `none`: everybody, with all scopes. `tokens`: clients with a token of `chargehouse token create`. " +
        "`oidc`: also clients with a JWT of the issuer in `oidc`. `proxy`: also users that a proxy in `proxy` names. `roles` defines what " +
        "the last two may do.",
      default: "none",
    }),
    oidc: Type.Optional(oidcSettings),
    proxy: Type.Optional(proxySettings),
    roles: roleSettings,
    sessions: sessionSettings,
    insecure: flag({
      description:
        "Listen on other addresses than loopback although `auth` is `none`. Everybody who can reach the address can " +
        "then read and change everything. Use it only in networks that only an authenticating proxy can reach.",
      default: false,
    }),
    public: list(
      choice(["docs", "metrics", "readiness"], {
        description:
          "`docs`: `/docs` and `/openapi.json`. `metrics`: `/metrics`, whose labels name the tenants. `readiness`: `/api/v1/readiness`, without " +
          "its tenants.",
      }),
      {
        description:
          "Pages that can be read without credentials, in addition to `/health` and the files of the console, which " +
          "contain no data.",
        expected: "a list of docs, metrics and readiness",
        maxItems: 3,
        default: ["docs"],
      },
    ),
    port: integer({ description: "The TCP port to listen on.", minimum: 1, maximum: 65_535, default: 8080 }),
    worker_port: Type.Optional(
      integer({
        description:
          "The port on which a process in mode `worker` serves `/health`, `/api/v1/readiness` and `/metrics`, and nothing else. " +
          "It listens on `host`. Off when left out.",
        minimum: 1,
        maximum: 65_535,
      }),
    ),
    tls: Type.Optional(
      tlsSettings(
        "The certificate of `port`, and of `worker_port`. Without it they use HTTP, and a proxy in front has to provide TLS.",
      ),
    ),
    allowed_hosts: list(
      text({
        description: "One name or address, without a port.",
        expected: "a host name or an address such as costs.example.org, without a port, or *",
        parse: parseHostName,
      }),
      {
        description:
          "Host names of the API, in addition to `host` and the names of loopback (`localhost`, `127.0.0.1`, `[::1]`). " +
          "Requests with another `Host` get 421, because a web page can make its own name resolve to this service. If " +
          "`host` is every interface, all addresses and the machine's name are accepted, too. The names of proxies and " +
          "containers must be listed. `*` accepts every name.",
        expected:
          "a list of at most 100 host names or addresses such as costs.example.org, without a port, or *",
        maxItems: 100,
        default: [],
      },
    ),
    trusted_proxies: trustedProxies,
    console: flag({ description: "Serve the console, a web page for people, at `/`.", default: true }),
    enable_cors: flag({
      description:
        "Let browsers of the origins in `cors_origins` call the API. Methods: GET, POST, PATCH, DELETE.",
      default: false,
    }),
    cors_origins: list(
      text({
        description: "One origin.",
        expected: "an origin such as https://console.example.org, or *",
        parse: parseOrigin,
      }),
      {
        description: "Origins that may call the API if `enable_cors` is on. An empty list allows none.",
        expected: "a list of at most 100 origins such as https://console.example.org, or *",
        maxItems: 100,
        default: [],
      },
    ),
    request_timeout_seconds: integer({
      description: "A request that takes longer gets 504, and its statement is cancelled in the store.",
      unit: "seconds",
      minimum: 1,
      maximum: 300,
      default: 30,
    }),
    rate_limit: rateLimit,
    max_heavy_reads: integer({
      description:
        "How many heavy reads (aggregations, exports, allocation issues, lists with tag filters, tags by filter) may " +
        "run at once in this process. With several tenants, one gets at most three quarters of them. More reads at " +
        "once make each of them slower.",
      minimum: 1,
      maximum: 64,
      default: 4,
    }),
    max_waiting_reads: integer({
      description:
        "How many more heavy reads may wait, for at most half of `request_timeout_seconds`. Further ones get 503 with " +
        "`Retry-After`. With 0, none waits.",
      minimum: 0,
      maximum: 1000,
      default: 64,
    }),
  },
  {
    description: "The HTTP API.",
    rules: [
      {
        rule:
          "`auth: oidc` needs `oidc` and `roles`, `auth: proxy` needs `proxy` and `roles`, and neither is allowed with " +
          "another `auth`.",
        check({ auth, roles, ...value }, report) {
          if (auth === undefined) return;
          for (const key of ["oidc", "proxy"] as const) {
            if (auth === key && value[key] === undefined) report([key], `is required with auth ${auth}`);
            if (auth !== key && value[key] !== undefined)
              report([key], `is not used with auth ${auth}: remove it`);
          }
          const takesRoles = auth === "oidc" || auth === "proxy";
          if (takesRoles && roles?.length === 0) report(["roles"], `is required with auth ${auth}`);
          if (!takesRoles && roles !== undefined && roles.length > 0)
            report(["roles"], `is not used with auth ${auth}: remove it`);
        },
      },
    ],
  },
);

export type ApiSettings = Static<typeof apiSettings>;

/** Returns why the service must not listen on this address, or undefined if it may. */
export function refusalToListen({
  host,
  auth,
  insecure,
}: Pick<ApiSettings, "host" | "auth" | "insecure">): string | undefined {
  if (auth !== "none" || insecure || isLoopback(hostOf(host) ?? "")) return undefined;
  return (
    `api.host is ${host}, which is not loopback, and api.auth is none: everybody who can reach it could read and change everything. ` +
    "Set api.auth, or api.insecure: true where only an authenticating proxy can reach the address."
  );
}
