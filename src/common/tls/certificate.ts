/** Reads the certificate and the key of a port from their files, and validates them before they are used. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { createSecureContext, type SecureVersion } from "node:tls";

/** Absolute paths of PEM files. The names are those of the settings, because errors name them. */
export interface TlsFiles {
  readonly certificate_file: string;
  readonly key_file: string;
}

export interface Certificate {
  /** Options for a server and for its `setSecureContext`. */
  readonly options: { readonly cert: string; readonly key: string; readonly minVersion: SecureVersion };
  readonly validUntil: Date;
}

/** Servers close a connection if the client does not complete the handshake in this time. */
export const HANDSHAKE_TIMEOUT_MS = 10_000;

type Field = keyof TlsFiles;

/** A certificate or key file is invalid. The message names the setting. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

/** TLS 1.0 and 1.1 are deprecated by RFC 8996. */
const MIN_VERSION = "TLSv1.2";
/** Certificate chains have a few KiB. */
const MOST_BYTES = 1024 * 1024;
/** Permissions of everybody who is neither the owner nor in the group. */
const OTHERS = 0o007;

/** @param section section of the configuration, for messages, such as `api.tls`. Throws `CertificateError`. */
export async function readCertificate(settings: TlsFiles, section: string): Promise<Certificate> {
  const refused = (field: Field, problem: string) =>
    new CertificateError(`${section}.${field}: ${settings[field]} ${problem}`);
  const read = async (field: Field, othersMayRead: boolean) => {
    const { text, mode } = await contentOf(settings[field]).catch((error: unknown) => {
      throw refused(field, reasonOf(error));
    });
    if (!othersMayRead && (mode & OTHERS) !== 0)
      throw refused(
        field,
        `is accessible by all users of this machine (mode ${octal(mode)}): run chmod o= ${settings[field]}`,
      );
    return text;
  };
  const cert = await read("certificate_file", true);
  const key = await read("key_file", false);
  const [x509, privateKey] = [certificateIn(cert), keyIn(key)];
  if (x509 === undefined) throw refused("certificate_file", "contains no PEM certificate");
  if (typeof privateKey === "string") throw refused("key_file", privateKey);
  if (!x509.checkPrivateKey(privateKey))
    throw refused("key_file", "is not the key of the first certificate in certificate_file");
  const options = { cert, key, minVersion: MIN_VERSION } as const;
  try {
    createSecureContext(options);
  } catch (error) {
    throw refused("certificate_file", `is rejected by TLS: ${reasonOf(error)}`);
  }
  return { options, validUntil: new Date(x509.validTo) };
}

/** Refuses names of pipes and devices, which would never end. */
async function contentOf(path: string): Promise<{ text: string; mode: number }> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error("is not a file");
    if (stat.size > MOST_BYTES) throw new Error("is larger than 1 MiB");
    return { text: await file.readFile("latin1"), mode: stat.mode };
  } finally {
    await file.close();
  }
}

function certificateIn(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** Returns the private key, or the problem with it. */
function keyIn(pem: string): KeyObject | string {
  if (pem.includes("ENCRYPTED"))
    return "is encrypted. The service cannot enter a passphrase: use an unencrypted key";
  try {
    return createPrivateKey(pem);
  } catch {
    return "contains no PEM private key";
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "is not there",
  EACCES: "cannot be read by this user: permission denied",
  ENOTDIR: "is not there: a part of its path is not a folder",
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REASONS[code] ?? (error instanceof Error ? error.message : String(error));
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}
