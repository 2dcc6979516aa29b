/**
 * Which of a cluster's hosts a client speaks to: the first that can be reached and has caught up, and then the same one until it cannot be
 * reached. Statements of one run follow each other on one host, where each finds what the one before it wrote.
 */
import { errorMessage } from "../../error-message.js";

export interface HostChoice {
  /** Address of the host in use. One is looked for when there is none. */
  current(): Promise<string>;
  /** The host cannot be reached: the next call of `current` looks at the ones behind it first. */
  leave(url: string): void;
}

export interface HostChoiceOptions {
  /** In the order in which they are tried. */
  readonly urls: readonly string[];
  /** Resolves when the host has all that the others have written. */
  readonly prepare: (url: string) => Promise<void>;
  /** Another host than the last one is in use. Not called for the first. */
  readonly onChange: (url: string, from: string) => void;
}

/** No host could be used. The code is that of the first one tried. */
export class NoHostError extends Error {
  readonly code: string | undefined;
  constructor(failures: readonly { readonly url: string; readonly error: unknown }[]) {
    const told = failures.map(({ url, error }) => `${url}: ${errorMessage(error)}`);
    super(`none of the hosts can be used (${told.join("; ")})`, { cause: failures[0]?.error });
    this.name = "NoHostError";
    const [first] = failures;
    const isCoded = first?.error instanceof Error && "code" in first.error;
    this.code = isCoded ? String(Reflect.get(first.error, "code")) : undefined;
  }
}

export function createHostChoice({ urls, prepare, onChange }: HostChoiceOptions): HostChoice {
  let chosen: Promise<string> | undefined;
  let used: string | undefined;
  let next = 0;

  const find = async (): Promise<string> => {
    const failures: { url: string; error: unknown }[] = [];
    for (const url of [...urls.slice(next), ...urls.slice(0, next)]) {
      try {
        await prepare(url);
      } catch (error) {
        failures.push({ url, error });
        continue;
      }
      if (used !== undefined && used !== url) onChange(url, used);
      used = url;
      return url;
    }
    chosen = undefined;
    throw new NoHostError(failures);
  };

  return {
    current() {
      chosen ??= find();
      return chosen;
    },
    leave(url) {
      if (url !== used) return;
      chosen = undefined;
      next = (urls.indexOf(url) + 1) % urls.length;
    },
  };
}
