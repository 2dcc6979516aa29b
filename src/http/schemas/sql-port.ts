/** The port for SQL clients, as a tenant's readers see it. */
import { Type } from "@sinclair/typebox";
import { nullableText } from "./fields.js";

export const sqlPortSchema = Type.Object(
  {
    is_embedded: Type.Boolean({
      description: "Whether the tenant is in the embedded store, which alone has the port.",
      examples: [true],
    }),
    is_open: Type.Boolean({
      description: "Whether the port is open, and some SQL user may read the tenant.",
      examples: [true],
    }),
    host: nullableText({
      description:
        "The address that the port listens on (`0.0.0.0` and `::` are every interface); null if the port is closed.",
      examples: ["127.0.0.1"],
    }),
    port: Type.Unsafe<number | null>({
      type: ["integer", "null"],
      description: "The port's number; null if the port is closed.",
      examples: [8124],
    }),
    tls: Type.Unsafe<boolean | null>({
      type: ["boolean", "null"],
      description: "Whether the port uses HTTPS; null if the port is closed.",
      examples: [false],
    }),
    database: nullableText({
      description: "Database of the tenant; null if the port is closed.",
      examples: ["acme"],
    }),
  },
  { title: "SqlPort", description: "The address at which SQL clients reach the views of the tenant." },
);
