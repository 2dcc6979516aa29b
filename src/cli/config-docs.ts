/**
 * Writes the generated documents of the configuration: `chargehouse.schema.json` and `docs/reference/configuration.md`.
 *
 * Run by `npm run docs:config` after a setting was changed; a test fails while they lag behind the definitions. It stands
 * here rather than in `src/config`, because it needs the ecosystems, of which the configuration knows nothing.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { referenceDocument, schemaDocument } from "../config/documents.js";
import { projectRoot } from "../config/project.js";
import { ecosystems } from "../ingest/ecosystems/registry.js";

await writeFile(join(projectRoot(), "chargehouse.schema.json"), schemaDocument(ecosystems));
await writeFile(join(projectRoot(), "docs/reference/configuration.md"), referenceDocument(ecosystems));
