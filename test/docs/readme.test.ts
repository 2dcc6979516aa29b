import { readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";
import { needs } from "../programs.js";
import { checkOut } from "./checkout.js";
import { startDatabasesPrometheus } from "./databases-prometheus.js";
import { pageBlocks, programs, readPages, tutorial } from "./reader.js";

t.test("blocks that no test runs have a reason", async (t) => {
  const howTo = readdirSync(join(projectRoot(), "docs/how-to")).map((name) => `docs/how-to/${name}`);
  const pages = ["README.md", tutorial, ...howTo.sort(), "examples/README.md"];
  const unrun = pages.flatMap((page) =>
    pageBlocks(page).flatMap((block) => (block.kind === "unrun" ? [`${page}: ${block.why}`] : [])),
  );
  t.strictSame(unrun, [
    "README.md: suite",
    "docs/how-to/assign-resources.md: tokens",
    "docs/how-to/connect-bi-tools.md: server",
    "docs/how-to/connect-bi-tools.md: server",
    ...["tokens", "tokens", "tokens", "tokens"].map((why) => `docs/how-to/control-access.md: ${why}`),
    "docs/how-to/read-and-export.md: duckdb",
    ...["root", "docker", "docker", "kubernetes", "root", "root"].map(
      (why) => `docs/how-to/run-in-production.md: ${why}`,
    ),
    "docs/how-to/upload-usage.md: bill",
    "examples/README.md: docker",
  ]);
});

t.test("every command of the README works", needs("prometheus", "promtool", ...programs), async (t) => {
  const checkout = await checkOut(t);
  await startDatabasesPrometheus(t, checkout.port["9090"]);
  await readPages(t, ["README.md"], checkout);
});
