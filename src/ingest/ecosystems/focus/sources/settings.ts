/** What one source of bills is configured with: where they lie, how they are laid out, and who may read them. */
import { type Static, Type } from "@sinclair/typebox";
import { choice, flag, integer, mapping, type Rule, section, text } from "../../../../config/setting.js";
import { parseBaseUrl } from "../../../../config/url.js";
import { parseLocation, readLocation } from "./location.js";

export const LAYOUTS = ["auto", "plain", "aws_data_exports", "azure_exports", "oci"] as const;
export type LayoutName = Exclude<(typeof LAYOUTS)[number], "auto">;

const credential = { secret: true, maxLength: 10_000 };

/** One kind of credentials needs some keys, takes some more, and refuses those of the other kinds. */
function keysRule<Value extends object>(
  by: keyof Value & string,
  needed: Readonly<Record<string, readonly (keyof Value & string)[]>>,
  taken: Readonly<Record<string, readonly (keyof Value & string)[]>>,
  rule: string,
): Rule<Value> {
  const all = [...new Set([...Object.values(needed), ...Object.values(taken)].flat())];
  return {
    rule,
    check(value, report) {
      const kind = value[by];
      if (typeof kind !== "string") return;
      for (const key of all) {
        const given = value[key] !== undefined;
        const wanted = needed[kind]?.includes(key) ?? false;
        if (wanted && !given) report([key], `is required with ${by} ${kind}`);
        if (!wanted && given && !(taken[kind] ?? []).includes(key))
          report([key], `is not used with ${by} ${kind}: remove it`);
      }
    },
  };
}

const s3Properties = {
  region: text({
    description: "The region of the bucket, which is part of each signature.",
    maxLength: 100,
    expected: "a region such as eu-central-1",
    pattern: "^[A-Za-z0-9-]+$",
    default: "us-east-1",
  }),
  endpoint: Type.Optional(
    text({
      description: "The address of another S3 service than Amazon's, such as MinIO or Cloudflare R2.",
      expected: "an address such as https://minio.example.org:9000, without credentials",
      maxLength: 2000,
      parse: parseBaseUrl,
    }),
  ),
  path_style: Type.Optional(
    flag({
      description:
        "Whether the bucket stands in the path of addresses, not in the name of the host. Left out: with an `endpoint` it does.",
    }),
  ),
  credentials: choice(["keys", "environment", "instance_role", "none"], {
    description:
      "`keys`: those written here; `environment`: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; `instance_role`: the role of the EC2 instance, by IMDSv2; `none`: a public bucket.",
    default: "environment",
    inert: true,
  }),
  access_key_id: Type.Optional(
    text({ description: "The id of the key of `keys`.", maxLength: 200, inert: true }),
  ),
  secret_access_key: Type.Optional(text({ ...credential, description: "The secret of the key of `keys`." })),
  session_token: Type.Optional(
    text({ ...credential, description: "The token that goes with a temporary key of `keys`." }),
  ),
};

const httpsProperties = {
  auth_type: choice(["none", "basic", "bearer"], {
    description: "How requests authenticate: `basic` with username and password, `bearer` with a token.",
    default: "none",
    inert: true,
  }),
  username: Type.Optional(text({ description: "The user of `basic`.", maxLength: 10_000, inert: true })),
  password: Type.Optional(text({ ...credential, description: "The password of `basic`." })),
  bearer_token: Type.Optional(text({ ...credential, description: "The token of `bearer`." })),
  query: Type.Optional(
    text({
      ...credential,
      description:
        "What stands after the `?` of the address, when that is a secret: a SAS token or a signature.",
    }),
  ),
};

const s3Settings = mapping(s3Properties, {
  description: "For a location `s3://…`.",
  rules: [
    keysRule<Static<ReturnType<typeof mapping<typeof s3Properties>>>>(
      "credentials",
      { keys: ["access_key_id", "secret_access_key"] },
      { keys: ["session_token"] },
      "`credentials: keys` needs `access_key_id` and `secret_access_key`; the others take no keys.",
    ),
  ],
});

const httpsSettings = mapping(httpsProperties, {
  description: "For a location `https://…`.",
  rules: [
    keysRule<Static<ReturnType<typeof mapping<typeof httpsProperties>>>>(
      "auth_type",
      { basic: ["username", "password"], bearer: ["bearer_token"] },
      {},
      "`auth_type: basic` needs `username` and `password`, `bearer` needs `bearer_token`, and no others are taken.",
    ),
  ],
});

const limits = section(
  {
    max_files: integer({
      description: "A location with more files is not read at all.",
      unit: "files",
      minimum: 1,
      maximum: 1_000_000,
      default: 100_000,
    }),
    max_file_mib: integer({
      description: "A bill with a larger file waits.",
      unit: "MiB",
      minimum: 1,
      maximum: 1_048_576,
      default: 51_200,
    }),
    settle_seconds: integer({
      description:
        "A bill waits until none of its files has changed for this long: it may still be being copied.",
      unit: "seconds",
      minimum: 0,
      maximum: 86_400,
      default: 60,
    }),
  },
  { description: "What is taken.", inert: true },
);

const properties = {
  name: text({
    description: "The name of the source. Deliveries are recorded under it: keep it.",
    expected: "a name such as aws-payer: small letters, digits, `-` and `_`, at most 63 characters",
    pattern: "^[a-z][a-z0-9_-]{0,62}$",
  }),
  location: text({
    description:
      "Where the bills lie: a folder (`/bills/aws`) or files of it (`/bills/*.csv.gz`), `s3://bucket/prefix`, or one file at `https://host/file`. A folder is relative to the one the service is started in.",
    expected: "a folder, s3://bucket/prefix or https://host/file",
    maxLength: 2000,
    parse: parseLocation,
  }),
  layout: choice(LAYOUTS, {
    description:
      "How the files are laid out. `auto` goes by their paths, and takes nothing when these do not agree; `plain` takes every file as it is.",
    default: "auto",
  }),
  delivery: Type.Optional(
    choice(["snapshot", "additive"], {
      description:
        "Whether the files of a month are its whole bill, or each file adds to what was there. Left out: `additive` in the layout `oci`, else `snapshot`.",
    }),
  ),
  s3: Type.Optional(s3Settings),
  https: Type.Optional(httpsSettings),
  limits,
};

export const billSourceSettings = mapping(properties, {
  description: "A place where bills are delivered.",
  rules: [
    {
      rule: "`s3` goes with a location `s3://…`, `https` with `https://…`.",
      check({ location, s3, https }, report) {
        if (location === undefined) return;
        const { kind } = readLocation(location);
        if (s3 !== undefined && kind !== "s3")
          report(["s3"], "is used with a location s3://… alone: remove it");
        if (https !== undefined && kind !== "https")
          report(["https"], "is used with a location https://… alone: remove it");
      },
    },
    {
      rule: "`aws_data_exports` and `azure_exports` deliver snapshots, `oci` additions, and one address is `plain`.",
      check({ location, layout, delivery }, report) {
        if (layout === undefined) return;
        const manifests = layout === "aws_data_exports" || layout === "azure_exports";
        if (manifests && delivery === "additive")
          report(["delivery"], `must be snapshot with layout ${layout}`);
        if (layout === "oci" && delivery === "snapshot")
          report(["delivery"], "must be additive with layout oci");
        if (location === undefined || readLocation(location).kind !== "https") return;
        if (layout !== "plain" && layout !== "auto")
          report(["layout"], "must be plain with a location https://…, which is one file");
      },
    },
  ],
});

export type BillSourceSettings = Static<typeof billSourceSettings>;
export type S3Settings = Static<typeof s3Settings>;
export type HttpsSettings = Static<typeof httpsSettings>;
