/**
 * Writes the generated documents of the API: `docs/reference/openapi.json`, in which a review sees what a change does to the
 * contract, and `docs/reference/api.md`. Run by `npm run docs:api` after a route or a schema was changed; a test fails while they lag behind.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectRoot } from "../src/config/project.js";
import { apiDocuments } from "../src/http/description/documents.js";

const { openapi, page } = await apiDocuments();
await writeFile(join(projectRoot(), "docs/reference/openapi.json"), openapi);
await writeFile(join(projectRoot(), "docs/reference/api.md"), page);
