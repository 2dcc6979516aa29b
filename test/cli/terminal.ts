/** Runs a command on a virtual terminal, with its screen and scrollback. */
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { programArguments } from "../../src/common/program.js";
import { projectRoot } from "../../src/common/project.js";

export interface ScreenSize {
  readonly cols: number;
  readonly rows: number;
}

/** A command that runs on a terminal of its own. */
export interface OnTerminal {
  /**
   * Every line that was written and not cleared, as the screen shows it, without trailing blanks and blank lines at the
   * end.
   */
  lines(): string[];
  /** True if the cursor is visible. */
  cursorShown(): boolean;
  press(keys: string): void;
  /** Screens while the command ran: each frame that differs from the one before. */
  readonly frames: readonly string[][];
  /** Resolves with the exit code when all output is on the screen. */
  readonly ended: Promise<number>;
}

const main = programArguments("../../src/main.js", import.meta.url);

/** Runs `chargehouse ARGS` on a terminal. */
export function onTerminal(args: readonly string[], size: ScreenSize, cwd = projectRoot()): OnTerminal {
  const terminal = new xterm.Terminal({ ...size, scrollback: 5000, allowProposedApi: true });
  const env = { ...process.env, NODE_OPTIONS: "", TERM: "xterm-256color" };
  const child = spawn(process.execPath, [...main, ...args], {
    ...size,
    cwd,
    env,
    name: "xterm-256color",
  });
  let cursor = true;
  for (const [final, shown] of [
    ["h", true],
    ["l", false],
  ] as const) {
    terminal.parser.registerCsiHandler({ prefix: "?", final }, (parameters) => {
      if (parameters.includes(25)) cursor = shown;
      return false;
    });
  }
  const lines = () => {
    const { active } = terminal.buffer;
    const all = Array.from(
      { length: active.length },
      (_, at) => active.getLine(at)?.translateToString(true) ?? "",
    );
    return all.slice(0, all.findLastIndex((line) => line !== "") + 1);
  };
  const frames: string[][] = [];
  const noteFrame = () => {
    const frame = lines();
    if (frame.join("\n") !== frames.at(-1)?.join("\n")) frames.push(frame);
  };
  child.onData((data) => terminal.write(data, noteFrame));
  const exited = new Promise<number>((resolve) => child.onExit(({ exitCode }) => resolve(exitCode)));
  return {
    lines,
    cursorShown: () => cursor,
    press: (keys) => child.write(keys),
    frames,
    ended: exited.then(async (code) => {
      await new Promise<void>((resolve) => terminal.write("", resolve));
      return code;
    }),
  };
}
