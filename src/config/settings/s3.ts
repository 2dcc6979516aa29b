/** Settings of an S3 service: Amazon's, or another one with the same protocol. */
import { type Static, Type } from "@sinclair/typebox";
import { choice, flag, mapping, text } from "../reader/setting.js";
import { parseBaseUrl } from "../reader/url.js";
import { keysRule, secretText } from "./credential-keys.js";

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
        "If true, the bucket is in the path of addresses, and not in the host name. Default: true if there is an " +
        "`endpoint`.",
    }),
  ),
  credentials: choice(["keys", "environment", "instance_role", "none"], {
    description:
      "`keys`: the keys in this file; `environment`: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; " +
      "`instance_role`: the role of the EC2 instance, by IMDSv2; `none`: a public bucket.",
    default: "environment",
    inert: true,
  }),
  access_key_id: Type.Optional(
    text({ description: "The access key id of `keys`.", maxLength: 200, inert: true }),
  ),
  secret_access_key: Type.Optional(text({ ...secretText, description: "The secret access key of `keys`." })),
  session_token: Type.Optional(
    text({ ...secretText, description: "The session token of `keys`, for a temporary key." }),
  ),
};

export const s3Settings = mapping(s3Properties, {
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

export type S3Settings = Static<typeof s3Settings>;

export const defaultS3: S3Settings = { region: "us-east-1", credentials: "environment" };

/** Bucket names that S3 allows. They become part of a host name. */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

export function splitS3(location: string): [bucket: string, key: string] {
  const [, bucket = "", key = ""] = /^s3:\/\/([^/]*)\/?(.*)$/s.exec(location) ?? [];
  return [bucket, key];
}

/** Returns the problem with an `s3://…` location, or undefined. */
export function s3Problem(location: string): string | undefined {
  const [bucket, key] = splitS3(location);
  if (!BUCKET.test(bucket) || bucket.includes("..")) return "must name a bucket: s3://bucket/prefix";
  if (key.split("/").some((part) => part === "." || part === ".."))
    return "must not contain the parts `.` or `..`";
  return undefined;
}
