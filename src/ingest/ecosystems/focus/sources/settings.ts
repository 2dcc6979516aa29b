/** Settings of one source of bills: its location, its layout, and its credentials. */
import { type Static, Type } from "@sinclair/typebox";
import { choice, integer, list, mapping, section, text } from "../../../../config/reader/setting.js";
import { keysRule, secretText } from "../../../../config/settings/credential-keys.js";
import { s3Settings } from "../../../../config/settings/s3.js";
import { parseLocation, readLocation } from "./location.js";

export const LAYOUTS = ["auto", "plain", "aws_data_exports", "azure_exports", "oci"] as const;
export type LayoutName = Exclude<(typeof LAYOUTS)[number], "auto">;

const httpsProperties = {
  auth_type: choice(["none", "basic", "bearer"], {
    description: "How requests authenticate: `basic` with username and password, `bearer` with a token.",
    default: "none",
    inert: true,
  }),
  username: Type.Optional(text({ description: "The user of `basic`.", maxLength: 10_000, inert: true })),
  password: Type.Optional(text({ ...secretText, description: "The password of `basic`." })),
  bearer_token: Type.Optional(text({ ...secretText, description: "The token of `bearer`." })),
  query: Type.Optional(
    text({
      ...secretText,
      description:
        "The query after the `?` of the address if it is a secret, such as a SAS token or a signature.",
    }),
  ),
};

const httpsSettings = mapping(httpsProperties, {
  description: "For a location `https://…`.",
  rules: [
    keysRule<Static<ReturnType<typeof mapping<typeof httpsProperties>>>>(
      "auth_type",
      { basic: ["username", "password"], bearer: ["bearer_token"] },
      {},
      "`auth_type: basic` needs `username` and `password`, `bearer` needs `bearer_token`, and no others are allowed.",
    ),
  ],
});

/** 100 GiB: ten times the largest parts that exporters write, and a tenth of what gzip can make of `max_file_mib`. */
export const DEFAULT_UNPACKED_MIB = 102_400;

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
    max_unpacked_mib: integer({
      description:
        "A bill with a file that unpacks to more is refused, and the bill before it counts. If you change it, the bills of the source are read again.",
      unit: "MiB",
      minimum: 1,
      maximum: 16_777_216,
      default: DEFAULT_UNPACKED_MIB,
    }),
    settle_seconds: integer({
      description:
        "A bill waits until none of its files has changed for this long: it may still be incomplete.",
      unit: "seconds",
      minimum: 0,
      maximum: 86_400,
      default: 60,
    }),
  },
  { description: "Limits of the files that are read.", inert: true },
);

const properties = {
  name: text({
    description: "The name of the source. Deliveries are recorded under this name, so do not change it.",
    expected: "a name such as aws-payer: small letters, digits, `-` and `_`, at most 63 characters",
    pattern: "^[a-z][a-z0-9_-]{0,62}$",
  }),
  location: text({
    description:
      "The location of the bills: a folder (`/bills/aws`) or files of it (`/bills/*.csv.gz`), `s3://bucket/prefix`, " +
      "or one file at `https://host/file`. A folder is relative to the folder in which the service is started.",
    expected: "a folder, s3://bucket/prefix or https://host/file",
    maxLength: 2000,
    parse: parseLocation,
  }),
  layout: choice(LAYOUTS, {
    description:
      "How the files are laid out. `auto` recognises the layout by the paths, and reads nothing if they are " +
      "ambiguous. `plain` reads every file as a bill.",
    default: "auto",
  }),
  delivery: Type.Optional(
    choice(["snapshot", "additive"], {
      description:
        "`snapshot`: the files of a month are its complete bill. `additive`: each file adds to the earlier ones. " +
        "Default: `additive` for the layout `oci`, otherwise `snapshot`.",
    }),
  ),
  exclude: list(text({ description: "A glob of names, such as `**/*-draft.csv`.", maxLength: 2000 }), {
    description: "Files that are not read, by their names below `location`. Each run lists them in a note.",
    maxItems: 1000,
    default: [],
  }),
  overlap: choice(["hold", "add"], {
    description:
      "What to do with a bill that has charges of another one. `hold`: it waits until `precedence` or `exclude` " +
      "decides. `add`: both are charged.",
    default: "hold",
    inert: true,
  }),
  s3: Type.Optional(s3Settings),
  https: Type.Optional(httpsSettings),
  limits,
};

export const billSourceSettings = mapping(properties, {
  description: "A location where bills are delivered.",
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
export type HttpsSettings = Static<typeof httpsSettings>;
