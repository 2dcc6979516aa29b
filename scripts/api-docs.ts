/**
 * Writes `docs/reference/openapi.json`, which shows changes of the API in a review. Run `npm run docs:api` after a
 * change to a route or a schema; a test fails until then.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectRoot } from "../src/common/project.js";
import { openapiDocument } from "../src/http/description/write-documents.js";

await writeFile(join(projectRoot(), "docs/reference/openapi.json"), await openapiDocument());
