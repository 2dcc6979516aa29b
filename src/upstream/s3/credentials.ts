/** Keys for requests to an S3 service: from the settings, from the environment, or from the machine's role. */
import type { S3Settings } from "../../config/settings/s3.js";
import { type AttemptRequest, attempt } from "../http/attempt.js";
import { openConnections } from "../http/connections.js";

export interface S3Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Returns the key for a request, or undefined to send it unsigned. Throws a sentence that names what is missing. */
export type KeySource = (signal: AbortSignal) => Promise<S3Key | undefined>;

const METADATA = "http://169.254.169.254";
/** The metadata service responds at once or, if there is none, never. */
const METADATA_TIMEOUT_MS = 2000;
const METADATA_ATTEMPTS = 2;
const MAX_METADATA_BYTES = 65_536;
/** A temporary key is not used in its last minutes, because a request must end before the key expires. */
const BEFORE_EXPIRY_MS = 5 * 60_000;

export function keySource(settings: S3Settings, env: NodeJS.ProcessEnv, now: () => number): KeySource {
  switch (settings.credentials) {
    case "none":
      return async () => undefined;
    case "keys": {
      const { access_key_id: id, secret_access_key: secret, session_token: token } = settings;
      return async () => keyOf(id, secret, token, "s3.access_key_id and s3.secret_access_key");
    }
    case "environment":
      return async () =>
        keyOf(
          env.AWS_ACCESS_KEY_ID,
          env.AWS_SECRET_ACCESS_KEY,
          env.AWS_SESSION_TOKEN,
          "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, which s3.credentials environment needs,",
        );
    case "instance_role":
      return roleKey(env.AWS_EC2_METADATA_SERVICE_ENDPOINT || METADATA, now);
  }
}

function keyOf(
  accessKeyId: string | undefined,
  secretAccessKey: string | undefined,
  sessionToken: string | undefined,
  names: string,
): S3Key {
  if (!accessKeyId || !secretAccessKey) throw new Error(`${names} must be set`);
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
}

/** Gets the key of the EC2 instance's role from version 2 of the metadata service, which requires a token first. */
function roleKey(base: string, now: () => number): KeySource {
  let cached: { readonly key: S3Key; readonly until: number } | undefined;
  return async (signal) => {
    if (cached !== undefined && now() < cached.until) return cached.key;
    try {
      cached = await readMetadata(base, signal);
      return cached.key;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NoRoleError) throw new Error(error.message);
      throw new Error(
        "the metadata service of the machine lends no key (s3.credentials instance_role): is this an EC2 instance with a role?",
      );
    }
  };
}

class NoRoleError extends Error {}

async function readMetadata(base: string, signal: AbortSignal) {
  const root = `${base.replace(/\/+$/, "")}/latest`;
  const connections = openConnections(METADATA_TIMEOUT_MS);
  const read = async (url: string, options: Pick<AttemptRequest, "method" | "headers">): Promise<string> => {
    const request = { ...options, url: new URL(url), connections, timeoutMs: METADATA_TIMEOUT_MS };
    for (let attempts = 1; ; attempts += 1) {
      const outcome = await attempt({ ...request, maxBytes: MAX_METADATA_BYTES }, signal);
      if (outcome.kind === "response" && outcome.status === 200) return outcome.body.toString("utf8");
      if (attempts === METADATA_ATTEMPTS) throw new Error("the metadata service did not respond");
    }
  };
  try {
    const token = await read(`${root}/api/token`, {
      method: "PUT",
      headers: { "x-aws-ec2-metadata-token-ttl-seconds": "300" },
    });
    const options = { method: "GET", headers: { "x-aws-ec2-metadata-token": token } } as const;
    const roles = `${root}/meta-data/iam/security-credentials/`;
    const [role = ""] = (await read(roles, options)).trim().split("\n");
    if (role === "") throw new NoRoleError("the machine has no role (s3.credentials instance_role)");
    const credentials: unknown = JSON.parse(await read(`${roles}${encodeURIComponent(role)}`, options));
    return readRoleKey(credentials);
  } finally {
    void connections.destroy();
  }
}

function readRoleKey(credentials: unknown) {
  const field = (name: string): string => {
    const value: unknown =
      credentials !== null && typeof credentials === "object" ? Reflect.get(credentials, name) : undefined;
    return typeof value === "string" ? value : "";
  };
  const code = field("Code");
  if (code !== "" && code !== "Success") throw new NoRoleError("the role of the machine cannot be taken");
  const expires = Date.parse(field("Expiration"));
  const key = keyOf(field("AccessKeyId"), field("SecretAccessKey"), field("Token"), "the keys of the role");
  return { key, until: Number.isNaN(expires) ? 0 : expires - BEFORE_EXPIRY_MS };
}
