/**
 * Writes the generated documents of the API: `docs/reference/openapi.json`, which shows changes of the contract in a
 * review, and `docs/reference/api.md`. Run `npm run docs:api` after a change to a route or a schema; a test fails until
 * then.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectRoot } from "../src/config/project.js";
import { apiDocuments } from "../src/http/description/documents.js";

const { openapi, page } = await apiDocuments();
await writeFile(join(projectRoot(), "docs/reference/openapi.json"), openapi);
await writeFile(join(projectRoot(), "docs/reference/api.md"), page);
