import { readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";
import { needs } from "../programs.js";
import { programs, readPages } from "./reader.js";

const pages = readdirSync(join(projectRoot(), "docs/how-to")).map((name) => `docs/how-to/${name}`);

t.test("every command of the how-to pages works", needs(...programs), async (t) =>
  readPages(t, pages.sort()),
);
