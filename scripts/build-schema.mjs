// Writes `chargehouse.schema.json`, the JSON Schema of the configuration for editors, with the code in `dist`.
import { writeFileSync } from "node:fs";

const root = new URL("../", import.meta.url);
const built = (file) => import(new URL(`dist/${file}`, root));
const { schemaDocument } = await built("config/documents.js");
const { ecosystems } = await built("ingest/ecosystems/registry.js");
writeFileSync(new URL("chargehouse.schema.json", root), schemaDocument(ecosystems));
