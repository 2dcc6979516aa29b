/** `api.tls`, `embedded.sql_tls`: the certificate of a port. */
import { mapping, text } from "../reader/setting.js";

const file = (description: string) =>
  text({ description, expected: "an absolute path of a PEM file", pattern: "^/", maxLength: 4000 });

/** Returns a new schema, because each port has its own description. */
export function tlsSettings(description: string) {
  return mapping(
    {
      certificate_file: file("The certificate, followed by those of intermediate authorities."),
      key_file: file(
        "The private key of the certificate, not encrypted. Refused if all users of the machine can read it: use " +
          "`chmod o= FILE`.",
      ),
    },
    {
      description: `${description} TLS 1.2 or later. Both files are read again when they change, so a certificate can be renewed without a restart.`,
    },
  );
}
