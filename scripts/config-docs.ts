/** Writes `docs/reference/configuration.md`. Run `npm run docs:config` after a change to a setting; a test fails until then. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectRoot } from "../src/common/project.js";
import { referenceDocument } from "../src/config/documents.js";
import { ecosystems } from "../src/ingest/ecosystems/registry.js";

await writeFile(join(projectRoot(), "docs/reference/configuration.md"), referenceDocument(ecosystems));
