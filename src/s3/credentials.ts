/** Who asks an S3 service: a key that is written down, in the environment, or lent to the machine. */
import type { S3Settings } from "../config/s3.js";
import { type AttemptRequest, attempt } from "../upstream-http/attempt.js";
import { openConnections } from "../upstream-http/connections.js";

export interface S3Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The key for a request; undefined to ask without one. Throws a sentence that names what is missing. */
export type KeySource = (signal: AbortSignal) => Promise<S3Key | undefined>;

const METADATA = "http://169.254.169.254";
/** The service answers at once or, where there is none, never. */
const METADATA_TIMEOUT_MS = 2000;
const METADATA_ATTEMPTS = 2;
const MOST_METADATA_BYTES = 65_536;
/** A lent key is not used in its last minutes: a request must end before it does. */
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
      return lentKey(env.AWS_EC2_METADATA_SERVICE_ENDPOINT || METADATA, now);
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

/** The role of the EC2 instance, by version 2 of its metadata service: a token first, then what it opens. */
function lentKey(base: string, now: () => number): KeySource {
  let lent: { readonly key: S3Key; readonly until: number } | undefined;
  return async (signal) => {
    if (lent !== undefined && now() < lent.until) return lent.key;
    try {
      lent = await askMetadata(base, signal);
      return lent.key;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NoRole) throw new Error(error.message);
      throw new Error(
        "the metadata service of the machine lends no key (s3.credentials instance_role): is this an EC2 instance with a role?",
      );
    }
  };
}

class NoRole extends Error {}

async function askMetadata(base: string, signal: AbortSignal) {
  const root = `${base.replace(/\/+$/, "")}/latest`;
  const connections = openConnections(METADATA_TIMEOUT_MS);
  const ask = async (url: string, asked: Pick<AttemptRequest, "method" | "headers">): Promise<string> => {
    const request = { ...asked, url: new URL(url), connections, timeoutMs: METADATA_TIMEOUT_MS };
    for (let attempts = 1; ; attempts += 1) {
      const outcome = await attempt({ ...request, maxBytes: MOST_METADATA_BYTES }, signal);
      if (outcome.kind === "answer" && outcome.status === 200) return outcome.body.toString("utf8");
      if (attempts === METADATA_ATTEMPTS) throw new Error("the metadata service does not say it");
    }
  };
  try {
    const token = await ask(`${root}/api/token`, {
      method: "PUT",
      headers: { "x-aws-ec2-metadata-token-ttl-seconds": "300" },
    });
    const asked = { method: "GET", headers: { "x-aws-ec2-metadata-token": token } } as const;
    const roles = `${root}/meta-data/iam/security-credentials/`;
    const [role = ""] = (await ask(roles, asked)).trim().split("\n");
    if (role === "") throw new NoRole("the machine has no role (s3.credentials instance_role)");
    const lent: unknown = JSON.parse(await ask(`${roles}${encodeURIComponent(role)}`, asked));
    return readLent(lent);
  } finally {
    void connections.destroy();
  }
}

function readLent(lent: unknown) {
  const field = (name: string): string => {
    const value: unknown = lent !== null && typeof lent === "object" ? Reflect.get(lent, name) : undefined;
    return typeof value === "string" ? value : "";
  };
  const code = field("Code");
  if (code !== "" && code !== "Success") throw new NoRole("the role of the machine cannot be taken");
  const expires = Date.parse(field("Expiration"));
  const key = keyOf(field("AccessKeyId"), field("SecretAccessKey"), field("Token"), "the keys of the role");
  return { key, until: Number.isNaN(expires) ? 0 : expires - BEFORE_EXPIRY_MS };
}
