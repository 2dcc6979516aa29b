import type { Test } from "tap";
import { addDays } from "../../src/common/days.js";
import { temporaryFolder } from "../stores.js";
import { childProcess } from "./child.js";
import type { StatementPoint } from "./kill-points.js";
import { runDay, shortTenants } from "./runs.js";
import type { StageInput, StageRecovery } from "./stage-process.js";

type Said = {
  recovery?: StageRecovery;
  responded?: string;
  hit?: string;
  schemas?: { killed: unknown; untouched: unknown };
};

/** A tenant whose processes are killed one after another at given points. Each reports what its predecessor left. */
export function stagedTenant(t: Test) {
  const folder = temporaryFolder(t);
  const yaml = `data_dir: ${folder}/data\n${shortTenants(["acme", "untouched"], ["retention_days: 8"])}`;
  const responded: string[] = [];
  let number = 0;
  return {
    /** Returns the output of a process until its end. `tags` are the tags that must exist. */
    async next(t: Test, stage: StageInput["stage"], point?: StatementPoint): Promise<Said> {
      number += 1;
      const input: StageInput = { yaml, folder, number, stage, ...(point !== undefined && { point }) };
      const child = childProcess(t, "./stage-process.js", input);
      const output: Said = {};
      for (let line = await child.message(); line !== undefined; line = await child.message())
        Object.assign(output, JSON.parse(line));
      const [code, signal] = await child.exited;
      t.strictSame([code, signal], point === undefined ? [0, null] : [null, "SIGKILL"]);
      t.equal(output.hit, point?.name, "it died there");
      if (output.recovery !== undefined) isWhole(t, output.recovery, number, responded);
      if (output.responded !== undefined) responded.push(output.responded);
      return output;
    },
  };
}

function isWhole(t: Test, recovery: StageRecovery, number: number, responded: readonly string[]): void {
  const days = Array.from({ length: 7 }, (_, index) => addDays(runDay, number - 8 + index));
  const { tags, files, ...rest } = recovery;
  const sum = 100 + number;
  t.strictSame(rest, {
    pending: [],
    leftUnbalanced: [],
    mirrored: tags,
    waiting: 0,
    errors: [],
    off: [],
    days: days.map((day) => `${day} ${sum}`),
    states: days,
  });
  t.strictSame(
    responded.filter((key) => !tags.includes(key)),
    [],
    "no tag is lost that was confirmed",
  );
  const ofDays = files.filter((file) => days.some((day) => file.startsWith(`acme_${day}.csv `)));
  t.strictSame(
    ofDays,
    days.map((day) => `acme_${day}.csv ${sum}`),
    "files hold what readers see",
  );
  t.strictSame(
    files.filter((file) => !/^acme_\d{4}-\d\d-\d\d\.csv \d+$/.test(file)),
    [],
    "and nothing is left half written",
  );
}
