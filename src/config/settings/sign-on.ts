/** `api.oidc`, `api.proxy`, `api.roles`: single sign-on, and the scopes of its users. */
import { isIP } from "node:net";
import type { Static } from "@sinclair/typebox";
import { scopes } from "../../domain/scopes.js";
import type { Report } from "../reader/reading-context.js";
import { choice, flag, list, mapping, type Parsed, text } from "../reader/setting.js";
import { parseBaseUrl } from "../reader/url.js";
import { isLoopback } from "./host-names.js";

/** Refuses plain HTTP, because anybody on the network could replace the keys. */
function parseKeysUrl(given: string): Parsed {
  const parsed = parseBaseUrl(given);
  if ("problem" in parsed) return parsed;
  const { protocol, hostname } = new URL(parsed.value);
  return protocol === "https:" || isLoopback(hostname.replace(/^\[|\]$/g, ""))
    ? parsed
    : { problem: "must begin with https://, except on loopback" };
}

export const oidcSettings = mapping(
  {
    issuer: text({
      description: "Who issues the tokens: exactly their claim `iss`.",
      expected: "an address such as https://login.example.org/realms/main",
      pattern: "^https?://\\S+$",
      maxLength: 2000,
    }),
    audience: text({
      description: "Whom the tokens are for: what their claim `aud` must have.",
      maxLength: 2000,
    }),
    jwks_url: text({
      description:
        "Where the issuer's public keys are: `jwks_uri` in its `/.well-known/openid-configuration`. They are read again after 10 minutes, and count for a day while the issuer is away.",
      expected: "an address such as https://login.example.org/realms/main/protocol/openid-connect/certs",
      maxLength: 2000,
      parse: parseKeysUrl,
    }),
    name_claim: text({
      description:
        "The claim that names the caller in the audit and in tags. Users must not be able to change it themselves.",
      default: "sub",
    }),
    roles_claim: text({
      description:
        "The claim with the caller's roles: a list of texts, or a text that is split at spaces. A dot leads into a claim that is an object, as in `realm_access.roles`.",
      default: "groups",
    }),
  },
  { description: "The issuer of JWTs that callers send as `Authorization: Bearer`." },
);

const headerName = (description: string, name: string) =>
  text({
    description,
    expected: "the name of a header",
    parse: (given) =>
      /^[a-z0-9-]{1,100}$/i.test(given)
        ? { value: given.toLowerCase() }
        : { problem: "must be the name of a header: letters, digits and -" },
    default: name,
  });

/** Parses an address or network such as `10.0.0.7` or `fd00::/8`. */
function parseNetwork(given: string): Parsed {
  const [address = "", bits, ...more] = given.trim().split("/");
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
  return most > 0 && isPrefix && more.length === 0
    ? { value: given.trim() }
    : { problem: "must be an IP address or a network such as 10.1.0.0/16" };
}

const network = text({
  description: "One address or network.",
  expected: "an IP address or a network such as 10.1.0.0/16",
  parse: parseNetwork,
});

export const trustedProxies = list(network, {
  description:
    "Where the connections of proxies come from that say in `X-Forwarded-For` who calls, besides those in `proxy`. Limits by address and the audit " +
    "take the last address there that is not a proxy's. The proxies must append to this header, or replace it.",
  expected: "a list of at most 100 IP addresses, or networks such as 10.1.0.0/16",
  maxItems: 100,
  default: [],
});

export const proxySettings = mapping(
  {
    addresses: list(network, {
      description:
        "Where the proxy's connections come from. Its headers count from there alone, so nobody else may reach the service from these addresses.",
      expected: "a list of 1 to 100 IP addresses, or networks such as 10.1.0.0/16",
      minItems: 1,
      maxItems: 100,
    }),
    name_header: headerName(
      "The header with the caller's name. The proxy must replace it where a client sends it.",
      "x-forwarded-user",
    ),
    roles_header: headerName(
      "The header with the caller's roles, separated by commas. The proxy must replace or remove it where a client sends it.",
      "x-forwarded-groups",
    ),
  },
  { description: "The proxy that authenticates callers and says who they are." },
);

const role = mapping(
  {
    role: text({ description: "A role, or group, as the issuer or the proxy spells it." }),
    scopes: list(choice(scopes, { description: "One scope." }), {
      description:
        "What it allows: `read`; `tags`, which holds `read`; `run`; `admin`, which holds all others.",
      expected: `a list of ${scopes.join(", ")}`,
      minItems: 1,
      maxItems: scopes.length,
    }),
    tenants: list(text({ description: "The name of one tenant." }), {
      description: "For which tenants.",
      maxItems: 10_000,
      default: [],
    }),
    every_tenant: flag({ description: "For every tenant, those of the future too.", default: false }),
  },
  {
    description: "One role.",
    rules: [
      {
        rule: "A role has either `tenants` or `every_tenant: true`.",
        check({ tenants, every_tenant }, report) {
          if (tenants === undefined || every_tenant === undefined) return;
          if (every_tenant === tenants.length > 0)
            report(["tenants"], "is required, unless every_tenant is true; both cannot be");
        },
      },
    ],
  },
);

export const roleSettings = list(role, {
  description:
    "What callers of `auth: oidc` and `auth: proxy` may do, by their roles. Each role counts by itself: a scope for one tenant " +
    "and another scope for a second are not added up. Whoever has none of them may do nothing.",
  expected: "a list of roles",
  uniqueBy: "role",
  maxItems: 1000,
  default: [],
});

export type OidcSettings = Static<typeof oidcSettings>;
export type ProxySettings = Static<typeof proxySettings>;
export type RoleSettings = Static<typeof roleSettings>;

/** Reports roles with unknown tenants: they would allow nothing, and nobody would notice. */
export function checkRoles(roles: RoleSettings, tenants: object, report: Report): void {
  for (const [index, role] of roles.entries()) {
    for (const [position, name] of role.tenants.entries()) {
      if (!Object.hasOwn(tenants, name)) report([index, "tenants", position], "is not the name of a tenant");
    }
  }
}
