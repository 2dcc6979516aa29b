import type { Config } from "../config/config.js";
import { CertificateRefused, readCertificate } from "../tls/certificate.js";

/** Why `serve` could not open its ports: what is wrong with a certificate or a key; undefined when nothing is. */
export async function certificateProblem({ api, embedded }: Config): Promise<string | undefined> {
  try {
    if (api.tls !== undefined) await readCertificate(api.tls, "api.tls");
    if (embedded.sql_tls !== undefined) await readCertificate(embedded.sql_tls, "embedded.sql_tls");
    return undefined;
  } catch (error) {
    if (error instanceof CertificateRefused) return error.message;
    throw error;
  }
}
