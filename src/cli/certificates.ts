import { CertificateError, readCertificate } from "../common/tls/certificate.js";
import type { Config } from "../config/config.js";

/**
 * Returns the problem with a certificate or key that would prevent `serve` from opening its ports; undefined if there
 * is none.
 */
export async function certificateProblem({ api, embedded }: Config): Promise<string | undefined> {
  try {
    if (api.tls !== undefined) await readCertificate(api.tls, "api.tls");
    if (embedded.sql_tls !== undefined) await readCertificate(embedded.sql_tls, "embedded.sql_tls");
    return undefined;
  } catch (error) {
    if (error instanceof CertificateError) return error.message;
    throw error;
  }
}
