import type { FocusReport } from "../focus/check/index.js";
import { checkFile, clean, openScratchEngine } from "../focus/check/index.js";
import { type FocusVersion, focusVersions, UnreadableFileError } from "../focus/index.js";
import { type Command, type Options, parseFiles, UsageError } from "./command.js";
import { writeFocusReport } from "./focus-report-text.js";
import { createLogger } from "./logger.js";

const options = {
  "focus-version": {
    type: "string",
    value: "VERSION",
    help: `check as this version of FOCUS: ${focusVersions.join(", ")}; by default detected from the columns`,
  },
  json: { type: "boolean", default: false, help: "print the reports as JSON" },
} as const satisfies Options;

/** The output of `--json`: reports of checked files, and files that could not be read. */
interface FocusReports {
  readonly files: FocusReport[];
  readonly unreadable: { readonly file: string; readonly problem: string }[];
}

/** Checks FOCUS files before they are used as bills. It needs no configuration and leaves nothing behind. */
export const focusCheck: Command = {
  usage: "focus-check FILE... [--focus-version VERSION] [--json]",
  options,
  async run(args, { stdout, stderr, signal }) {
    const { values: given, files } = parseFiles(args, options);
    if (files.length === 0) throw new UsageError("name at least one FILE to check");
    const version = versionOption(given["focus-version"]);
    const reports: FocusReports = { files: [], unreadable: [] };
    // The log of the engine's start only matters with an error.
    const engine = await openScratchEngine(createLogger({ format: "json", level: "fatal" }));
    try {
      for (const file of files) {
        try {
          const report = await checkFile(engine, file, { version, signal });
          // Several files may take long, so each report is printed when it is ready.
          if (!given.json) writeFocusReport(stdout, report, { first: reports.files.length === 0 });
          reports.files.push(report);
        } catch (error) {
          if (!(error instanceof UnreadableFileError)) throw error;
          reports.unreadable.push({ file, problem: error.message });
          stderr.write(`${clean(file, 200)} ${error.message}.\n`);
        }
      }
    } finally {
      await engine.close();
    }
    if (given.json) stdout.write(`${JSON.stringify(reports, null, 2)}\n`);
    if (reports.unreadable.length > 0) return 2;
    return reports.files.some(({ errors }) => errors > 0) ? 1 : 0;
  },
};

function versionOption(text: string | undefined): FocusVersion | undefined {
  if (text === undefined) return undefined;
  const version = focusVersions.find((each) => each === text);
  if (version !== undefined) return version;
  throw new UsageError(`--focus-version must be one of ${focusVersions.join(", ")}, not "${text}"`);
}
