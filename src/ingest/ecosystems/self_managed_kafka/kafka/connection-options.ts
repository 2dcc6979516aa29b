/** Translates `resource_source` to options of the Kafka client. */
import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "@platformatic/kafka";
import type { ResourceSource } from "../resource-source.js";

const CONNECT_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** Throws what reading a certificate file throws. */
export async function connectionOptions(source: ResourceSource): Promise<ConnectionOptions> {
  const protocol = source.security_protocol ?? "PLAINTEXT";
  return {
    connectTimeout: CONNECT_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    ...(protocol.endsWith("SSL") ? await tlsOptions(source) : {}),
    ...(protocol.startsWith("SASL_") ? { sasl: saslOptions(source) } : {}),
  };
}

function saslOptions({ sasl_mechanism, sasl_username, sasl_password }: ResourceSource) {
  if (sasl_mechanism === undefined || sasl_username === undefined || sasl_password === undefined) {
    throw new Error("bug: the SASL settings were not validated");
  }
  return { mechanism: sasl_mechanism, username: sasl_username, password: sasl_password };
}

/** The server's certificate and its name are always checked. A configured CA file replaces the default authorities. */
async function tlsOptions(source: ResourceSource): Promise<Pick<ConnectionOptions, "tls" | "tlsServerName">> {
  const { ssl_ca_file: ca, ssl_certificate_file: cert, ssl_key_file: key } = source;
  return {
    tls: {
      ...(ca === undefined ? {} : { ca: await readFile(ca) }),
      ...(cert === undefined ? {} : { cert: await readFile(cert) }),
      ...(key === undefined ? {} : { key: await readFile(key) }),
    },
  };
}
