/** Runs every command of a page in order, like a reader. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { projectRoot } from "../../src/common/project.js";
import { until } from "../until.js";
import { type Block, blocksOf } from "./blocks.js";
import { type Checkout, checkOut } from "./checkout.js";
import { openShell, type Shell } from "./shell.js";

export const tutorial = "docs/tutorial/first-tenant.md";
export const billTutorial = "docs/tutorial/aws-bill.md";

export function pageBlocks(page: string): Block[] {
  return blocksOf(readFileSync(join(projectRoot(), page), "utf8"));
}

/** Programs that every page may use. */
export const programs = ["curl", "jq"] as const;

/** Commands that open the store, which only one process can: a reader stops the server first. */
const needsTheStore = /main\.js (run|reconcile|rules)\b/;
/** Commands that run until Ctrl-C: a reader leaves them running and opens another terminal. */
const goesOn = /^(npm ci && )?npm run demo$|main\.js (serve|simulate)\b/;

/** Output that shows that an example refers to something that does not exist. */
const findsNothing =
  /"(items|groups|buckets|dates)":\[\]|"created_count":0,"updated_count":0,"skipped_count":0/;

/** Runs each page in a folder of its own that starts with the tutorial's configuration. */
export async function readPages(t: Test, pages: readonly string[], given?: Checkout): Promise<void> {
  const checkout = given ?? (await checkOut(t));
  for (const page of pages) {
    const blocks = pageBlocks(page);
    if (!blocks.some(({ kind }) => kind === "run")) continue;
    await t.test(page, async (t) => {
      const folder = checkout.folder();
      const shell = openShell(t, folder, checkout.env);
      const first = pageBlocks(tutorial).find((block) => block.kind === "file");
      const reader = { checkout, folder, shell, isServing: false };
      for (const block of first === undefined ? blocks : [first, ...blocks]) await follow(t, block, reader);
      t.ok(
        [0, undefined].includes(await shell.stop()),
        "a process that is still running ends cleanly at Ctrl-C",
      );
    });
  }
}

async function isReady(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/readiness`);
  return JSON.parse(await response.text()).status !== "initializing";
}

interface Reader {
  readonly checkout: Checkout;
  readonly folder: string;
  readonly shell: Shell;
  isServing: boolean;
}

async function follow(t: Test, block: Block, reader: Reader): Promise<void> {
  const { checkout, folder, shell } = reader;
  if (block.kind === "file") {
    const file = join(folder, block.name);
    const text = checkout.withPorts(block.text);
    if (block.add) appendFileSync(file, text);
    else writeFileSync(file, `${text}api: { port: ${checkout.port["8080"]} }\n`);
  }
  if (block.kind !== "run") return;
  for (const written of block.commands) {
    const command = checkout.withPorts(written);
    if (goesOn.test(command)) {
      await shell.start(command);
      reader.isServing = /main\.js serve/.test(command);
      if (/serve/.test(command)) await until("its stores are open", () => isReady(checkout.port["8080"]));
      t.pass(`listens: ${written}`);
    } else {
      if (reader.isServing && needsTheStore.test(command)) {
        t.equal(await shell.stop(), 0, "the server ends cleanly at Ctrl-C");
        reader.isServing = false;
      }
      const { code, output } = await shell.run(command);
      t.equal(code, 0, `${written}\n${output.slice(-2000)}`);
      t.equal(findsNothing.exec(output)?.[0], undefined, `finds something: ${written}`);
      const [, table] = / -o (\S+\.csv)\b/.exec(command) ?? [];
      if (table !== undefined)
        t.ok(readFileSync(join(folder, table), "utf8").split("\n").length > 2, `has rows: ${table}`);
    }
  }
}
