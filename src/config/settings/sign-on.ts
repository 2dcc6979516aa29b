/** `api.oidc`, `api.proxy`, `api.roles`, `api.sessions`: single sign-on, the scopes of its users, and sessions. */
import { isIP } from "node:net";
import { type Static, Type } from "@sinclair/typebox";
import { scopes } from "../../domain/scopes.js";
import type { Report } from "../reader/reading-context.js";
import { choice, flag, integer, list, mapping, type Parsed, section, text } from "../reader/setting.js";
import { parseBaseUrl } from "../reader/url.js";
import { secretText } from "./credential-keys.js";
import { isLoopback } from "./host-names.js";

/** Refuses plain HTTP, because anybody on the network could replace the keys. */
function parseKeysUrl(given: string): Parsed {
  const parsed = parseBaseUrl(given);
  return "problem" in parsed || isProtected(parsed.value) ? parsed : { problem: MUST_BE_PROTECTED };
}

const MUST_BE_PROTECTED = "must begin with https://, except on loopback";

function isProtected(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || isLoopback(hostname.replace(/^\[|\]$/g, ""));
}

/** Requests these of the issuer, so `openid` is mandatory. */
function parseRequestedScopes(given: string): Parsed {
  const requested = given.trim().split(/\s+/);
  return requested.includes("openid") && requested.every((each) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(each))
    ? { value: requested.join(" ") }
    : { problem: "must be words that are separated by spaces, and one of them is openid" };
}

/** Keys that concern the sign-in of the console. They need `client_id`. */
const ofSignIn = ["client_secret", "issuer_name"] as const;

export const oidcSettings = mapping(
  {
    issuer: text({
      description: "The issuer of the tokens, exactly as in their claim `iss`.",
      expected: "an address such as https://login.example.org/realms/main",
      pattern: "^https?://\\S+$",
      maxLength: 2000,
    }),
    audience: text({
      description: "The audience of the tokens, which their claim `aud` must contain.",
      maxLength: 2000,
    }),
    jwks_url: text({
      description:
        "The address of the issuer's public keys: `jwks_uri` in its `/.well-known/openid-configuration`. They are read " +
        "again after 10 minutes, and stay valid for a day if the issuer is unreachable.",
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
        "The claim with the caller's roles: a list of strings, or a string that is split at spaces. A dot selects a " +
        "field of a claim that is an object, as in `realm_access.roles`.",
      default: "groups",
    }),
    client_id: Type.Optional(
      text({
        description:
          "The id of this service at the issuer. With it, the console offers to sign in at the issuer, by authorization code and PKCE. " +
          "Register the redirect URI `https://HOST/sign-in/callback` at the issuer for each host name of this service.",
        maxLength: 2000,
      }),
    ),
    client_secret: Type.Optional(
      text({
        ...secretText,
        description: "The secret of `client_id`. Without it, the issuer must accept a public client.",
      }),
    ),
    request_scopes: text({
      description:
        "The scopes that a sign-in in the console requests of the issuer, so that its tokens have the claims of the name and the roles.",
      expected: "words such as openid profile groups",
      parse: parseRequestedScopes,
      default: "openid profile email",
    }),
    issuer_name: Type.Optional(
      text({
        description: "The name of the issuer on the sign-in page. By default, the host name of `issuer`.",
        maxLength: 60,
      }),
    ),
  },
  {
    description:
      "The issuer of JWTs that callers send as `Authorization: Bearer`, and at which users of the console sign in.",
    rules: [
      {
        rule: "`client_secret` and `issuer_name` need `client_id`. With `client_id`, `issuer` must begin with `https://`, except on loopback.",
        check({ client_id, issuer, ...value }, report) {
          if (client_id !== undefined && issuer !== undefined && URL.canParse(issuer) && !isProtected(issuer))
            report(["issuer"], MUST_BE_PROTECTED);
          for (const key of ofSignIn)
            if (client_id === undefined && value[key] !== undefined)
              report([key], "is not used without client_id: remove it");
        },
      },
    ],
  },
);

export const sessionSettings = section(
  {
    idle_minutes: integer({
      description: "A session ends when it was not used for this time.",
      unit: "minutes",
      minimum: 5,
      maximum: 10_080,
      default: 60,
    }),
    max_hours: integer({
      description:
        "A session ends this long after its sign-in. Until then, a user of `oidc` keeps the roles of the sign-in.",
      unit: "hours",
      minimum: 1,
      maximum: 720,
      default: 12,
    }),
  },
  { description: "Sessions of browsers, which begin when a user signs in to the console." },
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
    "Addresses of proxies whose `X-Forwarded-For` is trusted, in addition to those in `proxy`. Limits by address " +
    "and the audit use the last address in the header that does not belong to a proxy. The proxies must append to " +
    "the header, or replace it.",
  expected: "a list of at most 100 IP addresses, or networks such as 10.1.0.0/16",
  maxItems: 100,
  default: [],
});

export const proxySettings = mapping(
  {
    addresses: list(network, {
      description:
        "Addresses of the proxy's connections. Its headers are trusted only from these addresses, so nobody else may " +
        "reach the service from them.",
      expected: "a list of 1 to 100 IP addresses, or networks such as 10.1.0.0/16",
      minItems: 1,
      maxItems: 100,
    }),
    name_header: headerName(
      "The header with the caller's name. The proxy must replace it if a client sends it.",
      "x-forwarded-user",
    ),
    roles_header: headerName(
      "The header with the caller's roles, separated by commas. The proxy must replace or remove it if a client " +
        "sends it.",
      "x-forwarded-groups",
    ),
  },
  { description: "The proxy that authenticates callers and says who they are." },
);

const role = mapping(
  {
    role: text({ description: "A role or group, in the spelling of the issuer or the proxy." }),
    scopes: list(choice(scopes, { description: "One scope." }), {
      description:
        "Scopes of the role: `read`; `tags` and `assign`, which include `read`; `run`; `admin`, which includes all others.",
      expected: `a list of ${scopes.join(", ")}`,
      minItems: 1,
      maxItems: scopes.length,
    }),
    tenants: list(text({ description: "The name of one tenant." }), {
      description: "For which tenants.",
      maxItems: 10_000,
      default: [],
    }),
    every_tenant: flag({
      description: "The role applies to every tenant, also to future ones.",
      default: false,
    }),
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
    "Permissions of callers of `auth: oidc` and `auth: proxy`, by their roles. Each role applies only to its own " +
    "tenants. A caller without any of these roles may do nothing.",
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
