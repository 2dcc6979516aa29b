/**
 * Chooses the host of a cluster that a client uses: the first one that is reachable and has caught up. It stays in use
 * until it is unreachable. All statements of a run go to one host, so that each finds what the previous ones wrote.
 */
import { errorMessage } from "../../common/error-message.js";

export interface HostChoice {
  /** Returns the address of the host in use. Looks for one if there is none. */
  current(): Promise<string>;
  /** Reports that the host is unreachable. The next call of `current` tries the hosts after it first. */
  leave(url: string): void;
}

export interface HostChoiceOptions {
  /** In the order in which they are tried. */
  readonly urls: readonly string[];
  /** Resolves when the host has everything that the others have written. */
  readonly prepare: (url: string) => Promise<void>;
  /** Called when a different host than the last one is in use. Not called for the first. */
  readonly onChange: (url: string, from: string) => void;
}

/** No host is usable. The code is that of the first host's error. */
export class NoHostError extends Error {
  readonly code: string | undefined;
  constructor(failures: readonly { readonly url: string; readonly error: unknown }[]) {
    const texts = failures.map(({ url, error }) => `${url}: ${errorMessage(error)}`);
    super(`none of the hosts can be used (${texts.join("; ")})`, { cause: failures[0]?.error });
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
